"""A suite over its rounds, on the screen."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest

from resit.core.suite import Suite
from resit.tui.app import ResitApp
from resit.tui.screens.history import HistoryScreen
from resit.tui.screens.results import ResultsScreen
from resit.tui.screens.suites import SuitesScreen
from resit.tui.widgets.chart import Chart
from saved_round import ANSWERS, BEGAN, HAIKU, keep_round, screen_lines
from seen import press, until_seen

AppOn = Callable[[object], ResitApp]
LATER = {**ANSWERS, ("product", "haiku"): ("no", "no")}


@pytest.fixture
def screen(suite: Suite) -> HistoryScreen:
    keep_round(suite, ANSWERS, name="20261128-1")
    keep_round(suite, LATER, settings=(HAIKU,), name="20261129-1", at=BEGAN + timedelta(days=1))
    return HistoryScreen(suite)


@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
async def test_settings_over_time_stand_in_a_plot_and_a_table(
    app_on: AppOn, screen: HistoryScreen, size: tuple[int, int]
) -> None:
    app = app_on(screen)
    async with app.run_test(size=size) as pilot:
        await until_seen(pilot, "2 rounds · 1 question broke")
        await until_seen(pilot, "100%┤")
        lines = screen_lines(app)
        assert any("lowest score over the rounds" in line for line in lines)
        assert sum("A·" in line or "·A" in line for line in lines) >= 1
        (newest,) = (line for line in lines if "haiku-5-5 low" in line and "29 Nov" in line)
        assert "1/4" in newest
        assert "41.7%" in newest


async def test_what_became_of_the_questions_is_one_key_away(app_on: AppOn, screen: HistoryScreen) -> None:
    app = app_on(screen)
    async with app.run_test(size=(120, 40)) as pilot:
        await until_seen(pilot, "2 rounds")
        await press(pilot, "t")
        (product,) = (line for line in screen_lines(app) if "│ product " in line)
        assert "✗ 1" in product
        assert "20261128-1 → 20261129-1" in product
        (leap,) = (line for line in screen_lines(app) if "│ leap-year " in line)
        assert "~ yes" in leap


async def test_costs_are_plotted_in_place_of_scores(app_on: AppOn, screen: HistoryScreen) -> None:
    app = app_on(screen)
    async with app.run_test(size=(120, 40)) as pilot:
        await until_seen(pilot, "100%┤")
        await press(pilot, "c")
        await until_seen(pilot, "cost of one run of each question")
        await until_seen(pilot, "$0.0004┤")


async def test_a_round_is_opened_from_its_row(app_on: AppOn, screen: HistoryScreen) -> None:
    app = app_on(screen)
    async with app.run_test(size=(120, 40)) as pilot:
        await until_seen(pilot, "2 rounds")
        await press(pilot, "down", "enter")
        assert isinstance(app.screen, ResultsScreen)
        assert app.screen.view.store.id == "20261128-1"


async def test_a_round_that_cannot_be_read_is_named_and_the_others_are_told(
    app_on: AppOn, screen: HistoryScreen, suite: Suite
) -> None:
    path = keep_round(suite, ANSWERS, name="20261130-1", at=BEGAN + timedelta(days=2))
    (path / "suite.toml").write_text("no", encoding="utf-8")
    app = app_on(screen)
    async with app.run_test(size=(120, 40)) as pilot:
        await until_seen(pilot, "2 rounds", "not in it:")


async def test_without_a_round_there_is_no_plot_and_a_way_on(app_on: AppOn, suite: Suite) -> None:
    app = app_on(HistoryScreen(suite))
    async with app.run_test(size=(80, 24)) as pilot:
        await until_seen(pilot, "No round yet")
        assert not app.screen.query_one(Chart).display


async def test_the_history_is_opened_from_the_suites(app_on: AppOn, screen: HistoryScreen, suite: Suite) -> None:
    app = app_on(SuitesScreen((str(suite.path),)))
    async with app.run_test(size=(120, 40)) as pilot:
        await until_seen(pilot, "Facts and small sums")
        await press(pilot, "H")
        await until_seen(pilot, "2 rounds · 1 question broke")
