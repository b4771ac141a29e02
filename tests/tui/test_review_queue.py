"""The queue of misses: what is left to read is in sight, and a verdict does what it says."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest
from textual.pilot import Pilot

from resit.core.judging.review_queue import count_states, grader_said, state_of
from resit.core.records import Attempt, RunRecord, run_key
from resit.core.rounds.plan import build_request
from resit.core.rounds.reviews import read_reviews
from resit.core.rounds.store import RoundStore
from resit.tui.app import ResitApp
from resit.tui.history import past_rounds
from resit.tui.miss_text import pane_text
from resit.tui.round_view import RoundView
from resit.tui.screens.confirm import ChoiceScreen
from resit.tui.screens.results import ResultsScreen
from saved_round import ENDPOINT, HAIKU, SONNET, reply, screen_text
from seen import until_seen

AppOn = Callable[[object], ResitApp]
SIZE = (120, 40)
MINUTES = run_key("minutes", SONNET, 1)
PRODUCT = run_key("product", SONNET, 2)
LIMIT = run_key("sign-off", SONNET, 2)


async def press(pilot: Pilot[int], *keys: str) -> None:
    for key in keys:
        await pilot.press(key)
        await pilot.pause()


def test_a_run_goes_from_queued_to_reviewed(view: RoundView) -> None:
    evidence = view.evidence
    assert state_of(None, evidence) == "queued"
    assert state_of(view.row(run_key("minutes", HAIKU, 1)), evidence) == "graded"
    assert state_of(view.row(LIMIT), evidence) == "result"
    assert state_of(view.row(MINUTES), evidence) == "review"
    view.settle(MINUTES, "model", "")
    assert state_of(view.row(MINUTES), view.evidence) == "reviewed"
    assert view.states == {"result": 2, "graded": 10, "review": 3, "reviewed": 1}
    assert count_states(view.rows, 20, view.evidence)["queued"] == 4


def test_the_grader_cannot_be_blamed_without_a_reason_or_a_changed_rule(view: RoundView) -> None:
    left = view.unread
    view.settle(MINUTES, "grader", "")
    assert view.waits_for_grader(MINUTES)
    assert view.unread == left
    assert "a rule must change or n say why not" in pane_text(view.miss(MINUTES), 120).plain
    view.settle(MINUTES, "grader", "the unit does no harm")
    assert not view.waits_for_grader(MINUTES)
    assert view.unread == left - 1


def test_a_question_that_is_left_out_needs_no_more_reading(view: RoundView) -> None:
    view.settle(run_key("leap-year", HAIKU, 1), "question", "")
    assert run_key("leap-year", SONNET, 2) not in view.open_misses
    assert view.states["reviewed"] == 2


def test_misses_of_the_grader_are_counted_with_those_that_a_rule_has_mended(view: RoundView) -> None:
    assert grader_said(view.rows) == ""
    view.settle(MINUTES, "grader", "a unit is fine")
    assert view.grader_said == "1 of 6 misses were the grader's"


def test_the_next_unread_miss_comes_round_again(view: RoundView) -> None:
    first, *rest = view.open_misses
    assert view.next_open(None) == first
    assert view.next_open(rest[-1]) == first
    for key in rest:
        view.settle(key, "model", "")
    assert view.next_open(first) == first
    view.settle(first, "model", "")
    assert view.next_open(first) is None


async def test_what_is_left_to_read_and_every_state_are_in_sight(app_on: AppOn, view: RoundView) -> None:
    app = app_on(ResultsScreen(view))
    async with app.run_test(size=SIZE) as pilot:
        await pilot.pause()
        shown = screen_text(app)
        assert "6 misses left to read" in shown
        assert "2 without a fair answer · 10 graded · 4 to review" in shown
        await press(pilot, "v", "m")
        assert "5 misses left to read" in screen_text(app)
        assert "1 reviewed" in screen_text(app)


async def test_m_goes_to_the_next_miss_that_is_left_to_read(app_on: AppOn, view: RoundView) -> None:
    waiting = list(view.open_misses)
    view.settle(waiting[1], "model", "")
    screen = ResultsScreen(view, key=waiting[0])
    app = app_on(screen)
    async with app.run_test(size=SIZE) as pilot:
        await pilot.pause()
        await press(pilot, "m")
        assert screen.key == waiting[2]


async def test_the_grader_is_blamed_only_with_what_is_to_change(app_on: AppOn, view: RoundView) -> None:
    screen = ResultsScreen(view, key=PRODUCT)
    app = app_on(screen)
    async with app.run_test(size=SIZE, notifications=True) as pilot:
        await pilot.pause()
        await press(pilot, "v", "g")
        assert isinstance(app.screen, ChoiceScreen)
        await press(pilot, "escape")
        assert "It stays open" in screen_text(app)
        assert "6 misses left to read" in screen_text(app)
        await press(pilot, "v", "g", "w")
        await press(pilot, *"fine", "enter")
        assert "5 misses left to read" in screen_text(app)
        assert "1 of 6 misses were the grader's" in screen_text(app)
    assert read_reviews(view.store)[PRODUCT].note == "fine"


async def test_the_grader_is_answered_by_accepting_the_reply(app_on: AppOn, view: RoundView) -> None:
    screen = ResultsScreen(view, key=PRODUCT)
    app = app_on(screen)
    async with app.run_test(size=SIZE, notifications=True) as pilot:
        await pilot.pause()
        await press(pilot, "v", "g", "a")
        await until_seen(pilot, "Accept this reply for product?")
        await press(pilot, "enter")
        await until_seen(pilot, "5 misses left to read")
        assert "1 of 6 misses were the grader's" in screen_text(app)
        screen.show_key(PRODUCT)
        await pilot.pause()
        shown = screen_text(app)
        assert "before the edit of" in shown
        assert "miss (format), rule" in shown


async def test_a_run_without_a_fair_chance_is_left_out_and_asked_again_on_request(
    app_on: AppOn, view: RoundView, monkeypatch: pytest.MonkeyPatch
) -> None:
    screen = ResultsScreen(view, key=LIMIT)
    app = app_on(screen)
    asked: list[str] = []
    monkeypatch.setattr(screen, "ask_again", lambda view, key: asked.append(key))
    async with app.run_test(size=SIZE) as pilot:
        await pilot.pause()
        await press(pilot, "v", "s")
        await until_seen(pilot, "is left out of the score")
        await press(pilot, "r")
    assert asked == [LIMIT]
    assert [row.question for row in view.evidence.runs_out] == ["sign-off"]


def test_a_verdict_on_a_reply_says_nothing_of_a_later_one(view: RoundView) -> None:
    view.settle(PRODUCT, "question", "which product?")
    assert view.left_out(view.row(PRODUCT))
    ask_again(view.store, PRODUCT, "408")
    for again in (RoundView(view.store, view.current), RoundView(view.store, view.current)):
        assert (again.row(PRODUCT).score, again.row(PRODUCT).verdict) == (1.0, None)
        assert not again.left_out(again.row(PRODUCT))
        assert "on an earlier reply: question – which product?" in pane_text(again.miss(PRODUCT), 120).plain
    assert view.current is not None
    (past,) = past_rounds(view.current)
    assert {mark.setting: (mark.full, mark.of) for mark in past.marks}[SONNET.label] == (3, 4)


def ask_again(store: RoundStore, key: str, text: str) -> None:
    """Keep one more attempt of a run, sent after everything else."""
    before = store.read(key)
    assert before is not None
    suite = store.suite()
    request = build_request(suite, suite.by_id[before.question], before.setting, ENDPOINT)
    later = Attempt(
        number=2,
        at=datetime.now(UTC) + timedelta(minutes=1),
        asked=request.digest(),
        reply=reply(text),
        cost_usd=Decimal("0.0001"),
    )
    store.put(
        RunRecord(
            question=before.question,
            setting=before.setting,
            run=before.run,
            prompt=before.prompt,
            attempts=(*before.attempts, later),
        )
    )
