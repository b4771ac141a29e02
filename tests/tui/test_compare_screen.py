"""Two rounds, or two settings of one, held against each other on the screen."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

from textual.screen import ModalScreen

from resit.core.records import Setting, run_key
from resit.core.suite import Suite
from resit.tui.app import ResitApp
from resit.tui.round_view import RoundView
from resit.tui.screens.compare import CompareScreen
from resit.tui.screens.results import ResultsScreen
from saved_round import ANSWERS, BEGAN, HAIKU, SONNET, keep_round, screen_lines, screen_text
from seen import press, until_seen

AppOn = Callable[[object], ResitApp]
SIZE = (120, 40)


async def test_two_settings_of_a_round_are_held_against_each_other(app_on: AppOn, view: RoundView) -> None:
    app = app_on(ResultsScreen(view, key=run_key("product", SONNET, 2)))
    async with app.run_test(size=SIZE) as pilot:
        await pilot.pause()
        await press(pilot, "C")
        await until_seen(pilot, "haiku-5-5 low → sonnet-5-5 low:")
        shown = screen_lines(app)
        (product,) = (line for line in shown if "│ product " in line)
        assert "~ noise" in product
        (leap,) = (line for line in shown if "│ leap-year " in line)
        assert "✓ fixed" in leap or "~ noise" in leap


async def test_of_more_than_two_settings_the_other_one_is_chosen(app_on: AppOn, suite: Suite) -> None:
    opus = Setting(model="claude-opus-5-5", effort="high")
    answers = {**ANSWERS, ("product", "opus"): ("408", "408")}
    view = RoundView.at(keep_round(suite, answers, settings=(HAIKU, SONNET, opus)))
    app = app_on(ResultsScreen(view, key=run_key("product", opus, 1)))
    async with app.run_test(size=SIZE) as pilot:
        await pilot.pause()
        await press(pilot, "C")
        assert "Hold opus-5-5 high against" in screen_text(app)
        await press(pilot, "b")
        await until_seen(pilot, "sonnet-5-5 low → opus-5-5 high:")


async def test_both_replies_of_a_question_stand_side_by_side_in_full(app_on: AppOn, suite: Suite) -> None:
    before = keep_round(suite, {("product", "haiku"): ("408", "408")}, settings=(HAIKU,), name="20261128-1")
    attack = "\x1b[2J[/] four hundred\nand eight"
    now = keep_round(
        suite,
        {("product", "haiku"): ("no", attack)},
        settings=(HAIKU,),
        name="20261129-1",
        at=BEGAN + timedelta(days=1),
    )
    app = app_on(CompareScreen(suite, before, now))
    async with app.run_test(size=(80, 24)) as pilot:
        await until_seen(pilot, "1 broken")
        await press(pilot, "enter")
        shown = screen_text(app)
        assert "product: broken" in shown
        assert "accepts 408" in shown
        (heads,) = (line for line in screen_lines(app) if "20261128-1" in line)
        assert heads.index("20261128-1") < heads.index("20261129-1")
        (line,) = (line for line in screen_lines(app) if "✓ run 2" in line)
        assert "✗ run 1" in line or "✗ run 2" in line
        assert "␛[2J[/] four hundred" in shown
        await press(pilot, "tab", "escape")
        assert not isinstance(app.screen, ModalScreen)
