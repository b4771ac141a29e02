"""The app in a pseudo-terminal, as a person's shell starts it: what it does to files, scores and the terminal."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time
import tomllib
from collections.abc import Callable, Iterator
from contextlib import suppress

import pytest

from resit.core import paths
from resit.core.records import run_key
from resit.core.rounds.shelf import open_round

LIMIT_S = 60.0
_ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])")
RESTORED = {
    "the normal screen": "\x1b[?1049l",
    "the cursor": "\x1b[?25h",
    "the mouse": "\x1b[?1000l",
    "the mouse's moves": "\x1b[?1003l",
    "bracketed paste": "\x1b[?2004l",
}


class Terminal:
    """A terminal of 100 by 30 with resit in it."""

    def __init__(self, *args: str, env: dict[str, str] | None = None) -> None:
        self._main, self._side = pty.openpty()
        fcntl.ioctl(self._side, termios.TIOCSWINSZ, struct.pack("HHHH", 30, 100, 0, 0))
        self.before = termios.tcgetattr(self._side)
        self.raw = ""
        self._mark = 0
        self.process = subprocess.Popen(
            [sys.executable, "-m", "resit", *args],
            stdin=self._side,
            stdout=self._side,
            stderr=self._side,
            env={**os.environ, "TERM": "xterm-256color", **(env or {})},
            start_new_session=True,
        )

    def read(self, wait_s: float = 0.05) -> None:
        """Take what was drawn."""
        while select.select([self._main], [], [], wait_s)[0]:
            with suppress(OSError):
                self.raw += os.read(self._main, 65_536).decode("utf-8", "replace")
            wait_s = 0.0

    def press(self, keys: str) -> None:
        """Type; what is waited for next must be drawn after it."""
        self.read(0.0)
        self._mark = len(self.raw)
        os.write(self._main, keys.encode())

    def until(self, done: Callable[[], bool], what: str) -> None:
        """Wait for `done`."""
        end = time.monotonic() + LIMIT_S
        while not done():
            assert time.monotonic() < end, f"{what} never came; drawn: {self.drawn[-3000:]}"
            assert self.process.poll() is None, f"ended before {what}: {self.drawn[-3000:]}"
            self.read()

    def until_drawn(self, text: str) -> None:
        """Wait until `text` is drawn, since the last key."""
        self.until(lambda: text in self.drawn, text)

    @property
    def drawn(self) -> str:
        """What was drawn since the last key, without its escapes."""
        return _ESCAPES.sub("", self.raw[self._mark :])

    def end(self) -> int:
        """Wait for the process's end; its exit code."""
        end = time.monotonic() + LIMIT_S
        while self.process.poll() is None:
            assert time.monotonic() < end, self.drawn[-3000:]
            self.read()
        self.read()
        return self.process.returncode

    def assert_restored(self) -> None:
        """The terminal is as it was found."""
        assert termios.tcgetattr(self._side) == self.before
        for what, sequence in RESTORED.items():
            assert sequence in self.raw, what
            on = sequence[:-1] + ("l" if sequence.endswith("h") else "h")
            assert self.raw.rfind(sequence) > self.raw.rfind(on), what

    def close(self) -> None:
        """End what is left of it."""
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        os.close(self._main)
        os.close(self._side)


@pytest.fixture
def terminals() -> Iterator[Callable[..., Terminal]]:
    """Opens terminals, and closes them whatever happens."""
    opened: list[Terminal] = []

    def make(*args: str, env: dict[str, str] | None = None) -> Terminal:
        opened.append(Terminal(*args, env=env))
        return opened[-1]

    yield make
    for terminal in opened:
        terminal.close()


def leave(terminal: Terminal) -> None:
    """Quit; where the round is not over yet, say that it shall be stopped."""
    terminal.press("\x11")
    end = time.monotonic() + LIMIT_S
    while terminal.process.poll() is None and "A round is running." not in terminal.drawn:
        assert time.monotonic() < end, terminal.drawn[-3000:]
        terminal.read()
    if terminal.process.poll() is None:
        terminal.press("s")


def test_the_demo_is_read_and_mended_while_it_runs_and_the_terminal_given_back(
    terminals: Callable[..., Terminal],
) -> None:
    terminal = terminals("demo")
    terminal.until_drawn("✗ format")
    terminal.press("g")
    terminal.until_drawn("left to read")
    terminal.press("a")
    terminal.until_drawn("enter writes it")
    terminal.press("\r")
    terminal.until_drawn("1 edit since")
    leave(terminal)
    assert terminal.end() == 0
    terminal.assert_restored()
    written = paths.data_dir() / "demo" / "easy-questions.edits.toml"
    edit = tomllib.loads(written.read_text(encoding="utf-8"))["edits"][-1]
    assert edit["what"] == "accept"
    opened = open_round("last")
    keys = {p.setting.label: p.setting for p in opened.plan.settings}
    row = next(r for r in opened.rows if run_key(r.question, keys[r.setting], r.run) == edit["run"])
    assert row.outcome == "pass"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_kill_of_the_demo_keeps_what_is_finished_and_gives_the_terminal_back(
    terminals: Callable[..., Terminal], number: signal.Signals
) -> None:
    terminal = terminals("demo")
    terminal.until_drawn("✗ format")
    terminal.process.send_signal(number)
    assert terminal.end() == 128 + number
    terminal.assert_restored()
    assert open_round("last").rows
