"""Pictures of screens over fixed data. `RESIT_NEW_LOOKS=1 pytest tests/looks` makes them anew; look at the diff."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Iterator
from importlib.metadata import version
from pathlib import Path

import pytest

from resit.tui import figures
from resit.tui.app import ResitApp
from resit.tui.round_view import RoundView
from resit.tui.screens.miss import MissScreen
from resit.tui.screens.results import ResultsScreen

AppOn = Callable[[object], ResitApp]
PICTURES = Path(__file__).with_name("pictures")
DRAWN_WITH = PICTURES / "drawn_with.txt"
VERSIONS = f"textual {version('textual')}, rich {version('rich')}\n"
NEW = bool(os.environ.get("RESIT_NEW_LOOKS"))


@pytest.fixture(autouse=True)
def _one_time_and_place(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    monkeypatch.setattr(figures, "this_year", lambda: 2026)
    yield
    monkeypatch.undo()
    time.tzset()


def assert_looks(app: ResitApp, name: str) -> None:
    """Compare the screen with its picture; a new one is written beside it where they differ."""
    svg = re.sub(r"terminal-\d+-", "terminal-", app.export_screenshot(title=name))
    known = PICTURES / f"{name}.svg"
    if NEW:
        PICTURES.mkdir(exist_ok=True)
        known.write_text(svg, encoding="utf-8")
        DRAWN_WITH.write_text(VERSIONS, encoding="utf-8")
        return
    if DRAWN_WITH.read_text(encoding="utf-8") != VERSIONS:
        pytest.skip(f"the pictures were drawn with {DRAWN_WITH.read_text().strip()}")
    if svg != known.read_text(encoding="utf-8"):
        received = known.with_suffix(".received.svg")
        received.write_text(svg, encoding="utf-8")
        pytest.fail(f"{name} looks otherwise: compare {known} with {received}")


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
