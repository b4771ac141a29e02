"""A terminal that goes away under the app: a closed window, a dropped ssh connection."""

from __future__ import annotations

import os
import pty
import select
import signal
import sys
import time
from pathlib import Path

import pytest

ENDS_WITHIN_S = 20.0


def read_until(terminal: int, wanted: bytes, within_s: float) -> None:
    seen, end = b"", time.monotonic() + within_s
    while wanted not in seen and time.monotonic() < end:
        if select.select([terminal], [], [], 0.2)[0]:
            seen += os.read(terminal, 1 << 16)
    assert wanted in seen


def ended(pid: int) -> int | None:
    end = time.monotonic() + ENDS_WITHIN_S
    while time.monotonic() < end:
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.1)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    return None


def test_a_terminal_that_goes_away_ends_the_app_and_keeps_what_came(tmp_path: Path) -> None:
    environment = {**os.environ, "RESIT_HOME": str(tmp_path), "TERM": "xterm-256color"}
    pid, terminal = pty.fork()
    if pid == 0:  # pragma: no cover - another process
        os.execve(sys.executable, [sys.executable, "-m", "resit", "demo"], environment)
    try:
        read_until(terminal, b"canada", 40.0)
    finally:
        os.close(terminal)
    code = ended(pid)
    if code is None:
        pytest.fail(f"the app still ran {ENDS_WITHIN_S:.0f} s after its terminal was gone")
    assert code == 128 + signal.SIGHUP
    assert list(tmp_path.glob("rounds/easy-questions/*/results/*.json"))
