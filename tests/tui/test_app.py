from __future__ import annotations

import asyncio
import os
import pty
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest
from textual.app import ComposeResult

from resit.core import paths
from resit.core.rounds.events import RoundEnded
from resit.tui.app import ResitApp, run_app
from resit.tui.commands import APP
from resit.tui.looks import THEME_ORDER
from resit.tui.preferences import Preferences
from resit.tui.screens.base import ResitScreen
from resit.tui.screens.confirm import QuitScreen
from resit.tui.screens.help import HelpScreen
from resit.tui.widgets.plain import PlainStatic
from saved_round import screen_text

AppOn = Callable[[object], ResitApp]


class Plain(ResitScreen):
    GROUP = "results"

    def compose_body(self) -> ComposeResult:
        yield PlainStatic("body [/]")

    def action_break(self) -> None:
        secret = "sk-planted"
        raise RuntimeError(f"defect near {len(secret)}")


class SlowRunner:
    """Runs until it is stopped, then takes a moment to save."""

    def __init__(self) -> None:
        self.stopped = asyncio.Event()
        self.saved = False
        self.paused: list[bool] = []

    async def run(self) -> RoundEnded:
        await self.stopped.wait()
        await asyncio.sleep(0.05)
        self.saved = True
        return RoundEnded(at=datetime.now(UTC), reason="stopped", said="stopped", owed=3)

    def stop(self, grace_s: float = 5.0) -> None:
        self.stopped.set()

    def pause(self) -> None:
        self.paused.append(True)

    def resume(self) -> None:
        self.paused.append(False)

    def watch(self, key: str | None) -> None:
        pass


class Begun:
    def __init__(self) -> None:
        self.runner = SlowRunner()


async def test_quitting_during_a_round_asks_then_saves_before_it_leaves(app_on: AppOn) -> None:
    app, begun = app_on(Plain()), Begun()
    async with app.run_test(size=(80, 24)) as pilot:
        app.start_round(begun)
        await pilot.press("q")
        await pilot.pause()
        assert isinstance(app.screen, QuitScreen)
        await pilot.press("k")
        await pilot.pause()
        assert app.session.running
        await pilot.press("ctrl+q")
        await pilot.pause()
        await pilot.press("s")
        await pilot.pause(0.3)
    assert begun.runner.saved
    assert app.return_code == 0


async def test_leaving_a_screen_stops_no_round(app_on: AppOn) -> None:
    app, begun = app_on(Plain()), Begun()
    async with app.run_test(size=(80, 24)) as pilot:
        await app.push_screen(Plain())
        app.start_round(begun)
        await pilot.press("escape")
        await pilot.pause()
        assert app.session.running
        begun.runner.stop()
        await pilot.pause(0.2)
        assert begun.runner.saved
        assert app.session.ended is not None


async def test_a_round_that_breaks_says_so_and_the_app_stays(app_on: AppOn) -> None:
    class Broken(SlowRunner):
        async def run(self) -> RoundEnded:
            raise OSError("the disk [/] is gone")

    begun = Begun()
    begun.runner = Broken()
    app = app_on(Plain())
    async with app.run_test(size=(80, 24), notifications=True) as pilot:
        app.start_round(begun)
        await pilot.pause(0.2)
        assert "the disk [/] is gone" in screen_text(app)
        assert not app.session.running


async def test_the_theme_is_stepped_through_and_remembered(tmp_path: Path) -> None:
    app = ResitApp(first=Plain(), preferences=Preferences(tmp_path))
    async with app.run_test(size=(80, 24)) as pilot:
        seen = [app.theme]
        for _ in THEME_ORDER[1:]:
            await pilot.press("ctrl+t")
            await pilot.pause()
            seen.append(app.theme)
            assert "body [/]" in screen_text(app)
    assert tuple(seen) == THEME_ORDER
    again = ResitApp(first=Plain(), preferences=Preferences(tmp_path))
    async with again.run_test(size=(80, 24)):
        assert again.theme == THEME_ORDER[-1]


async def test_a_resit_toml_rebinds_keys_and_the_footer_says_so(tmp_path: Path) -> None:
    (tmp_path / "resit.toml").write_text('[keys]\n"app.help" = "f1"\n"results.accept" = "o"\n')
    app = ResitApp(first=Plain(), preferences=Preferences(tmp_path))
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        assert "o accept" in screen_text(app)
        assert "f1 help" in screen_text(app)
        await pilot.press("f1")
        await pilot.pause()
        assert isinstance(app.screen, HelpScreen)


async def test_a_key_in_the_footer_can_be_clicked(app_on: AppOn) -> None:
    app = app_on(Plain())
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        at = screen_text(app).split("\n")[-1].index("? help")
        await pilot.click(offset=(at + 1, 23))
        await pilot.pause()
        assert isinstance(app.screen, HelpScreen)


async def test_a_window_that_is_too_small_says_so_and_comes_back(app_on: AppOn) -> None:
    app = app_on(Plain())
    async with app.run_test(size=(80, 24)) as pilot:
        for size in ((40, 10), (20, 5), (2, 1)):
            await pilot.resize_terminal(*size)
            await pilot.pause()
            assert "body" not in screen_text(app)
        await pilot.resize_terminal(59, 20)
        await pilot.pause()
        assert "resit needs a window of 60 × 15" in screen_text(app)
        await pilot.resize_terminal(80, 24)
        await pilot.pause()
        assert "body [/]" in screen_text(app)


async def test_every_action_is_in_the_palette_by_name(app_on: AppOn) -> None:
    app = app_on(Plain())
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        names = {command.title for command in app.get_system_commands(app.screen)}
        assert len(names) >= len(APP) + 10
        await pilot.press("ctrl+p", *"next theme", "enter")
        await pilot.pause(0.3)
        assert app.theme == THEME_ORDER[1]


def saved_pictures(folder: Path) -> int:
    return len(list(folder.glob("*.svg")))


async def test_a_picture_of_the_screen_is_saved(app_on: AppOn, tmp_path: Path) -> None:
    app = app_on(Plain())
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("ctrl+s")
        await pilot.pause()
    assert saved_pictures(tmp_path) == 1


async def test_a_defect_leaves_two_lines_and_a_log_without_local_values(app_on: AppOn) -> None:
    app, screen = app_on(Plain()), Plain()

    async def break_it() -> None:
        async with app.run_test(size=(80, 24)) as pilot:
            await app.push_screen(screen)
            app.call_later(screen.action_break)
            await pilot.pause(0.2)

    with pytest.raises(RuntimeError):
        await break_it()
    logs = sorted((paths.data_dir() / "logs").glob("*.log"))
    assert len(logs) == 1
    written = logs[0].read_text()
    assert "defect near 10" in written
    assert written.count("sk-planted") <= 1  # the line of source, never the value beside it
    assert app.return_code == 1


def test_the_app_does_not_start_without_a_terminal() -> None:
    assert run_app() == 2


CHILD = """
import sys
from resit.tui.app import ResitApp, run_app
from resit.tui.screens.base import ResitScreen
from resit.tui import app
app.make_screen = lambda name, *a, **k: ResitScreen()
sys.exit(run_app())
"""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_a_signal_restores_the_terminal(number: signal.Signals) -> None:
    master, slave = pty.openpty()
    child = subprocess.Popen(
        [sys.executable, "-c", CHILD],
        stdin=slave,
        stdout=slave,
        stderr=slave,
        env=os.environ | {"TERM": "xterm-256color"},
    )
    os.close(slave)
    seen = b""
    deadline = time.monotonic() + 30
    while b"\x1b[?1000h" not in seen and time.monotonic() < deadline:
        seen += os.read(master, 65_536)
    time.sleep(0.5)
    child.send_signal(number)
    try:
        while chunk := os.read(master, 65_536):
            seen += chunk
    except OSError:
        pass
    assert child.wait(20) == 128 + number
    os.close(master)
    assert seen.rindex(b"\x1b[?1049l") > seen.rindex(b"\x1b[?1049h")
    assert seen.rindex(b"\x1b[?1000l") > seen.rindex(b"\x1b[?1000h")
    assert seen.rindex(b"\x1b[?25h") > seen.rindex(b"\x1b[?25l")
