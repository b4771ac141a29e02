"""Pictures of results, misses and edits over fixed data. `RESIT_NEW_LOOKS=1 pytest tests/looks` makes them anew."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from kept_pictures import assert_looks, one_time_and_place  # noqa: F401 - a fixture for all of them

from resit.tui.app import ResitApp
from resit.tui.round_view import RoundView
from resit.tui.screens.miss import MissScreen
from resit.tui.screens.results import ResultsScreen

AppOn = Callable[[object], ResitApp]


@pytest.mark.parametrize(
    ("name", "size", "theme"),
    [
        ("results-80x24-dark", (80, 24), "resit-dark"),
        ("results-120x40-dark", (120, 40), "resit-dark"),
        ("results-120x40-light", (120, 40), "resit-light"),
        ("results-120x40-ansi", (120, 40), "ansi-dark"),
    ],
)
async def test_results(app_on: AppOn, view: RoundView, name: str, size: tuple[int, int], theme: str) -> None:
    app = app_on(ResultsScreen(view))
    async with app.run_test(size=size) as pilot:
        app.theme = theme
        await pilot.pause()
        await pilot.pause()
        assert_looks(app, name)


async def test_miss(app_on: AppOn, view: RoundView) -> None:
    app = app_on(MissScreen(view, view.misses[0]))
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        assert_looks(app, "miss-80x24-dark")


async def test_accept(app_on: AppOn, view: RoundView, monkeypatch: pytest.MonkeyPatch) -> None:
    from resit.tui import reviewing

    monkeypatch.setattr(reviewing, "_now", lambda: view.plan.created_at)
    assert view.current is not None
    monkeypatch.setattr(RoundView, "edits_file", lambda self: Path("~/exams/short-answers.edits.toml"))
    app = app_on(ResultsScreen(view))
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.press("a")
        await pilot.pause()
        assert_looks(app, "accept-120x40-dark")
