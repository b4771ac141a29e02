"""A pseudo-terminal of 120 by 40 with a program in it, and a clock beside it."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

COLUMNS, LINES = 120, 40
LIMIT_S = 120.0


class Terminal:
    """A Python program with the terminal as its standard streams."""

    def __init__(self, args: Sequence[str], folder: Path, env: Mapping[str, str] | None = None) -> None:
        """Start `python ARGS` in `folder`, which is also its home, with `env` besides."""
        self._main, side = pty.openpty()
        fcntl.ioctl(side, termios.TIOCSWINSZ, struct.pack("HHHH", LINES, COLUMNS, 0, 0))
        self._drawn = b""
        self.bytes_drawn = 0
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("RESIT_", "TEXTUAL_"))}
        self.started = time.perf_counter()
        self.process = subprocess.Popen(
            [sys.executable, *args],
            cwd=folder,
            stdin=side,
            stdout=side,
            stderr=side,
            env={
                **kept,
                "TERM": "xterm-256color",
                "COLORTERM": "truecolor",
                "RESIT_HOME": str(folder / "home"),
                **(env or {}),
            },
            start_new_session=True,
        )
        os.close(side)

    def _read(self, wait_s: float) -> bool:
        """Take what was drawn within `wait_s`; whether there was any."""
        if not select.select([self._main], [], [], wait_s)[0]:
            return False
        try:
            data = os.read(self._main, 65_536)
        except OSError as gone:  # Linux's word for the end of a pseudo-terminal
            raise AssertionError(f"the program ended: {self._drawn[-2000:]!r}") from gone
        self._drawn += data
        self.bytes_drawn += len(data)
        return True

    def until(self, text: str, since: float | None = None) -> float:
        """Seconds until `text` is drawn, since the process began or `since`."""
        since = self.started if since is None else since
        pattern = re.compile(re.escape(text.encode()))
        while not pattern.search(self._drawn):
            assert time.perf_counter() - since < LIMIT_S, f"{text!r} never came: {self._drawn[-2000:]!r}"
            self._read(0.05)
        return time.perf_counter() - since

    def settle(self, quiet_s: float = 0.15) -> float:
        """Wait until nothing is drawn for `quiet_s`; when the last byte came, or now."""
        last = time.perf_counter()
        while self._read(quiet_s):
            last = time.perf_counter()
        return last

    def send(self, key: str) -> float:
        """Type a key, forgetting what was drawn before it; when."""
        while self._read(0.0):
            pass
        self._drawn = b""
        at = time.perf_counter()
        os.write(self._main, key.encode())
        return at

    def press(self, key: str, quiet_s: float = 0.15) -> float:
        """Seconds from a key to the last byte of what it made the program draw."""
        at = self.send(key)
        while not self._read(0.05):
            assert time.perf_counter() - at < LIMIT_S, f"{key!r} drew nothing"
        return self.settle(quiet_s) - at

    def listen(self, seconds: float) -> None:
        """Take what is drawn for so long."""
        end = time.perf_counter() + seconds
        while (left := end - time.perf_counter()) > 0:
            self._read(left)

    def cpu_s(self) -> float:
        """Processor seconds of the program so far, to the nanosecond."""
        tasks = Path(f"/proc/{self.process.pid}/task").iterdir()
        return sum(int((task / "schedstat").read_text(encoding="utf-8").split()[0]) for task in tasks) / 1e9

    def memory_mb(self, name: str = "VmRSS") -> float:
        """Memory of the program: now, or at most with `VmHWM`."""
        status = Path(f"/proc/{self.process.pid}/status").read_text(encoding="utf-8")
        found = re.search(rf"{name}:\s+(\d+) kB", status)
        assert found is not None
        return int(found[1]) / 1024

    def close(self) -> None:
        """End it."""
        self.process.kill()
        self.process.wait()
        os.close(self._main)
