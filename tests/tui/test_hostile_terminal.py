"""Hostile replies in a real terminal: what reaches it is the app's own drawing and nothing else."""

from __future__ import annotations

import os
import pty
import re
import select
import sys
import time
from pathlib import Path

from test_hostile_screens import TEXTS, hostile_round

LIMIT_S = 60.0
OPERATING_SYSTEM_COMMAND = re.compile(r"\x1b\]([^\x07\x1b]*)")
OURS = re.compile(r"2;resit.*|22;[a-z-]*")
"""The window's title, and the pointer's shape, which Textual sets."""
ONE_BYTE_CONTROLS = re.compile("[\x80-\x9f]")
SHOW = """
import sys
from pathlib import Path
from resit.tui.app import ResitApp
from resit.tui.round_view import RoundView
from resit.tui.screens.results import ResultsScreen
ResitApp(first=ResultsScreen(RoundView.at(Path(sys.argv[1])))).run()
"""


def drawn_over(folder: Path, keys: list[str]) -> str:
    """All bytes that the terminal got while `keys` were pressed over the results of a round, one screen a key."""
    pid, terminal = pty.fork()
    if pid == 0:  # pragma: no cover - another process
        environment = {**os.environ, "TERM": "xterm-256color"}
        os.execve(sys.executable, [sys.executable, "-c", SHOW, str(folder)], environment)
    raw, end = b"", time.monotonic() + LIMIT_S
    waiting = list(keys)
    while time.monotonic() < end:
        if not select.select([terminal], [], [], 0.15)[0]:
            if b"left to read" not in raw:
                continue
            if not waiting:
                break
            os.write(terminal, waiting.pop(0).encode())
            continue
        try:
            raw += os.read(terminal, 1 << 16)
        except OSError:
            break
    done = time.monotonic() + LIMIT_S
    while os.waitpid(pid, os.WNOHANG) == (0, 0):
        assert time.monotonic() < done, "the app did not quit"
        if select.select([terminal], [], [], 0.1)[0]:
            try:
                raw += os.read(terminal, 1 << 16)
            except OSError:
                time.sleep(0.05)
    os.close(terminal)
    return raw.decode("utf-8", "replace")


def test_no_reply_reaches_title_clipboard_or_cursor_of_a_real_terminal(tmp_path: Path) -> None:
    attacks = [name for name, text in TEXTS.items() if "\x1b" in text or ONE_BYTE_CONTROLS.search(text)]
    assert len(attacks) >= 10
    view = hostile_round(tmp_path, attacks)
    raw = drawn_over(view.store.path, ["]", "\r", *("]" * (2 * len(attacks))), "\x1b", "t", "\x11"])
    assert "␛" in raw, "the replies were never on the screen"
    for command in OPERATING_SYSTEM_COMMAND.findall(raw):
        assert OURS.fullmatch(command), f"not ours: {command!r}"
    assert not ONE_BYTE_CONTROLS.search(raw)
