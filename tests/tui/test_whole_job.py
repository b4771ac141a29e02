"""The main job from the first screen to the last, on the demo's recorded replies, by keyboard alone."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from resit.core import paths
from resit.tui.app import ResitApp
from resit.tui.messages import Start
from resit.tui.screens.confirm import PreviewScreen
from resit.tui.screens.live import LiveScreen
from resit.tui.screens.miss import MissScreen
from resit.tui.screens.results import ResultsScreen
from resit.tui.screens.setup import SetupScreen
from resit.tui.screens.suites import SuitesScreen
from seen import press, seen, until, until_gone, until_seen

EDITS = "easy-questions.edits.toml"


def edits_file() -> Path:
    return paths.data_dir() / "demo" / EDITS


def score_in(screen: str) -> int:
    """The points of the strict rule, as the headline says them."""
    return int(screen.split("strict ")[1].split("/")[0])


@pytest.mark.parametrize("size", [(80, 24), (120, 40)], ids=["80x24", "120x40"])
async def test_suites_set_up_live_results_accept_undo(size: tuple[int, int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("resit.tui.demo.LASTS_S", 8.0)
    monkeypatch.setattr("resit.tui.starting.DEMO_PACE", 0.05)
    app = ResitApp(Start(demo=True))
    async with app.run_test(size=size, notifications=False) as pilot:
        # The demo plays at once; it is stopped in the middle, and nothing that came is lost.
        await until(pilot, lambda: isinstance(app.screen, LiveScreen))
        await until_seen(pilot, "replies/s")
        await press(pilot, "x", "x")
        await until_seen(pilot, "all that came is kept")
        assert not app.session.running
        await press(pilot, "escape")

        # Suites: the demo's copy is the first, with the stopped round under it.
        assert isinstance(app.screen, SuitesScreen)
        await until_seen(pilot, "Easy questions", "still to do")

        # Set up: what was recorded is picked, and the plan says what is left.
        await press(pilot, "enter")
        await until(pilot, lambda: isinstance(app.screen, SetupScreen))
        shown = await until_seen(pilot, "goes on: round of", "recorded:demo")
        assert "of 80 done" in shown

        # Live: only the rest is asked, and misses come in.
        await press(pilot, "enter")
        await until(pilot, lambda: isinstance(app.screen, LiveScreen))
        await until(pilot, lambda: app.session.ended is not None and not app.session.running)
        await until_seen(pilot, "Misses as they come", "g results")
        await press(pilot, "home", "enter")
        assert isinstance(app.screen, MissScreen)
        await press(pilot, "escape")

        # Results: a right answer that the rule refused is accepted, with the preview first.
        await press(pilot, "g")
        await until(pilot, lambda: isinstance(app.screen, ResultsScreen))
        before = score_in(await until_seen(pilot, "strict "))
        await press(pilot, "a")
        await until(pilot, lambda: isinstance(app.screen, PreviewScreen))
        await until_seen(pilot, "Accept this reply for", "graded again")
        assert not edits_file().exists()
        await press(pilot, "enter")
        await until(pilot, edits_file().exists)
        await until(pilot, lambda: score_in(seen(app)) > before)
        assert len(tomllib.loads(edits_file().read_text(encoding="utf-8"))["edits"]) == 1

        # Undo takes it back, the score with it.
        await press(pilot, "z")
        await until_seen(pilot, "Take the last edit back?")
        await press(pilot, "enter")
        await until(pilot, lambda: isinstance(app.screen, ResultsScreen) and score_in(seen(app)) == before)
        await press(pilot, "escape", "escape", "escape")
        await until(pilot, lambda: isinstance(app.screen, SuitesScreen))
        await until_gone(pilot, "still to do")
