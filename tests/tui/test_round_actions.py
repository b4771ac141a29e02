"""What is done with a whole round from its results: the note, and the comparison with the round before."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

from resit.core.judging.compare import compare_rounds
from resit.core.judging.evidence import gather
from resit.core.judging.note import NOTE, note_text
from resit.core.judging.sheet import make_sheet
from resit.core.records import run_key
from resit.core.rounds.shelf import open_round
from resit.core.suite import Suite
from resit.tui.app import ResitApp
from resit.tui.round_view import RoundView
from resit.tui.screens.compare import CompareScreen
from resit.tui.screens.results import ResultsScreen
from saved_round import ANSWERS, BEGAN, SONNET, keep_round
from seen import press, seen, until, until_gone, until_seen

AppOn = Callable[[object], ResitApp]
SIZE = (140, 40)
BEFORE = {**ANSWERS, ("minutes", "sonnet"): ("210", "210"), ("product", "haiku"): ("409", "409")}


async def test_w_writes_the_note_that_resit_note_writes_and_says_where(app_on: AppOn, view: RoundView) -> None:
    view.settle(run_key("product", SONNET, 2), "setup", "the line broke off")
    app = app_on(ResultsScreen(view))
    async with app.run_test(size=SIZE, notifications=True) as pilot:
        await press(pilot, "w")
        await until_seen(pilot, "Written to")
    assert (view.store.path / NOTE).read_text(encoding="utf-8") == note_text(make_sheet(open_round(view.store.path)))


async def test_a_note_that_was_changed_outside_its_marks_is_kept_beside(app_on: AppOn, view: RoundView) -> None:
    app = app_on(ResultsScreen(view))
    async with app.run_test(size=SIZE, notifications=True) as pilot:
        await press(pilot, "w")
        await until_seen(pilot, "Written to")
        path = view.store.path / NOTE
        path.write_text(f"mine\n{path.read_text(encoding='utf-8')}", encoding="utf-8")
        await press(pilot, "w")
        await until(pilot, (view.store.path / "note-before-1.md").exists)
        told = "The note was changed outside of its marks; as it was, it is in note-before-1.md."
        await until(pilot, lambda: any(told in notice.message for notice in app._notifications))


async def test_c_compares_with_the_round_before_as_resit_compare_does(
    app_on: AppOn, view: RoundView, suite: Suite
) -> None:
    earlier = keep_round(suite, BEFORE, name="20261127-0900", at=BEGAN - timedelta(days=1))
    found = compare_rounds(gather(open_round(earlier)), gather(open_round(view.store.path)))
    app = app_on(ResultsScreen(view))
    async with app.run_test(size=SIZE) as pilot:
        await press(pilot, "c")
        await until(pilot, lambda: isinstance(app.screen, CompareScreen))
        shown = await until_seen(pilot, "1 fixed", "1 noise")
        for comparison in found:
            assert " ".join(comparison.said.split()[:7]) in shown
        noise = next(line for line in shown.splitlines() if "~ noise" in line)
        assert "minutes" in noise
        fixed = next(line for line in shown.splitlines() if "✓ fixed" in line)
        assert "product" in fixed
        assert "409" in fixed
        await press(pilot, "f")
        await until_gone(pilot, "✓ held")
        await press(pilot, "escape")
        assert isinstance(app.screen, ResultsScreen)


async def test_a_question_that_a_verdict_leaves_out_is_not_compared_and_that_is_said(
    app_on: AppOn, view: RoundView, suite: Suite
) -> None:
    keep_round(suite, BEFORE, name="20261127-0900", at=BEGAN - timedelta(days=1))
    view.settle(run_key("product", SONNET, 2), "question", "")
    app = app_on(ResultsScreen(view))
    async with app.run_test(size=SIZE) as pilot:
        await press(pilot, "c")
        shown = await until_seen(pilot, "left out by a verdict (product)")
        assert "fixed" not in shown


async def test_two_rounds_of_one_setting_each_are_compared_though_the_settings_differ(
    app_on: AppOn, suite: Suite
) -> None:
    from saved_round import HAIKU

    keep_round(suite, ANSWERS, settings=(HAIKU,), name="20261127-0900", at=BEGAN - timedelta(days=1))
    later = keep_round(suite, ANSWERS, settings=(SONNET,))
    app = app_on(ResultsScreen(later))
    async with app.run_test(size=SIZE) as pilot:
        await press(pilot, "c")
        await until_seen(pilot, "haiku-5-5 low → sonnet-5-5 low")


async def test_the_first_round_has_none_before_it(app_on: AppOn, view: RoundView) -> None:
    app = app_on(ResultsScreen(view))
    async with app.run_test(size=SIZE, notifications=True) as pilot:
        await press(pilot, "c")
        await until_seen(pilot, "This is the first round of the suite")
        assert "strict 4/8" in seen(app)
