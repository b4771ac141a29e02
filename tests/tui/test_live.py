from __future__ import annotations

from datetime import timedelta
from decimal import Decimal
from pathlib import Path

import pytest

from live_round import NOW, StubRunner, after, ended, feed, kept, row, sent, started
from resit.core.records import Fault, RunRecord, Setting, run_key
from resit.core.rounds.events import (
    AttemptFailed,
    Event,
    PauseChanged,
    RoundEnded,
    RunKept,
    SettingStopped,
    Spent,
    Streamed,
)
from resit.core.rounds.progress import Progress
from resit.core.rounds.store import RoundStore
from resit.core.suite import Suite
from resit.tui.app import ResitApp
from resit.tui.live_words import clock, end_line, money_line, status_line, waiting_lines
from resit.tui.messages import SuiteChanged
from resit.tui.screens.confirm import ChoiceScreen
from resit.tui.screens.live import LiveScreen
from resit.tui.screens.miss import MissScreen
from resit.tui.screens.results import ResultsScreen
from resit.tui.starting import Begun, follow
from resit.tui.widgets.live_log import LiveLog
from saved_round import ANSWERS, HAIKU, SONNET, keep_round
from seen import press, seen, until, until_gone, until_seen

SIZE = (120, 36)
GONE = Setting(model="gone-model")


@pytest.fixture
def runner() -> StubRunner:
    return StubRunner()


@pytest.fixture
def app(suite: Suite, runner: StubRunner, round_path: Path) -> ResitApp:
    """An app in which a round runs that does what the test says."""
    live = ResitApp(first=LiveScreen(now=lambda: NOW))
    live.session.begin(runner, suite, round_path)
    return live


def log(app: ResitApp) -> LiveLog:
    return app.screen.query_one(LiveLog)


async def test_each_setting_has_a_row_with_its_marks_cost_and_seconds(app: ResitApp) -> None:
    async with app.run_test(size=SIZE) as pilot:
        feed(
            app, started(HAIKU, SONNET), *(kept(n) for n in range(9)), kept(9, HAIKU, "miss"), kept(10, SONNET, "empty")
        )
        shown = await until_seen(pilot, "10/40")
        haiku = next(line for line in shown.splitlines() if "10/40" in line)
        assert "✓ 9" in haiku
        assert "✗ 1" in haiku
        assert "$0.0010" in haiku
        assert "0.8 s" in haiku
        assert "? 1" in next(line for line in shown.splitlines() if " 1/40" in line)


async def test_misses_come_with_reply_and_what_is_accepted(app: ResitApp) -> None:
    async with app.run_test(size=SIZE) as pilot:
        miss = RunKept(
            NOW,
            RunRecord(question="minutes", setting=SONNET, run=1, prompt="p", attempts=()),
            row("minutes", SONNET, 1, "miss", "210 minutes"),
        )
        feed(app, started(SONNET), kept(1, SONNET), miss)
        shown = await until_seen(pilot, "Misses as they come · 1", "210 minutes")
        line = next(line for line in shown.splitlines() if "210 minutes" in line)
        assert "✗ format" in line
        assert line.rstrip(" │").endswith("210")
        assert f"{NOW.astimezone():%H:%M:%S}" in line
        await press(pilot, "a")
        assert "Every run · 2" in await until_seen(pilot, "Every run")


async def test_a_setting_that_cannot_go_on_is_one_line_with_the_reason_while_others_run(app: ResitApp) -> None:
    async with app.run_test(size=SIZE) as pilot:
        fault = Fault(kind="model", said="no model gone-model here: resit models lists them")
        feed(app, started(HAIKU, GONE), SettingStopped(NOW, GONE, fault), kept(1))
        shown = await until_seen(pilot, "✗ stopped", "1/40")
        assert "resit models lists them" in shown


async def test_retries_say_until_when_and_a_silent_call_is_named(app: ResitApp) -> None:
    async with app.run_test(size=SIZE) as pilot:
        again = NOW + timedelta(seconds=31)
        fault = Fault(kind="limit", said="rate limit: 50 calls a minute")
        feed(
            app,
            started(HAIKU),
            sent("slow", ago_s=120),
            sent("busy"),
            AttemptFailed(NOW, run_key("busy", HAIKU, 1), fault, 1, again),
        )
        shown = await until_seen(pilot, "1 in flight · 1 retry", "no news for 120 s: slow")
        assert f"waits until {again.astimezone():%H:%M:%S} for attempt 2: rate limit" in shown


async def test_leaving_the_live_screen_cancels_nothing(suite: Suite, runner: StubRunner, round_path: Path) -> None:
    app = ResitApp()
    async with app.run_test(size=SIZE) as pilot:
        app.start_round(Begun(runner), suite, round_path)
        app.open("live")
        await pilot.pause()
        feed(app, started(HAIKU), kept(1))
        await until_seen(pilot, "1/40")
        await press(pilot, "escape")
        feed(app, kept(2))
        assert app.session.running
        assert runner.told == ["watch None"]
        await press(pilot, "ctrl+l")
        await until_seen(pilot, "2/40")


async def test_p_pauses_and_goes_on(app: ResitApp, runner: StubRunner) -> None:
    async with app.run_test(size=SIZE) as pilot:
        feed(app, started(HAIKU), sent("one"))
        await press(pilot, "p")
        feed(app, PauseChanged(NOW, True))
        await until_seen(pilot, "PAUSED")
        await press(pilot, "p")
        assert runner.told[-2:] == ["pause", "resume"]


async def test_x_asks_then_stops_and_the_end_says_what_is_next(
    suite: Suite, runner: StubRunner, round_path: Path
) -> None:
    app = ResitApp(first=LiveScreen(now=lambda: NOW))
    async with app.run_test(size=SIZE) as pilot:
        app.start_round(Begun(runner), suite, round_path)
        feed(app, started(HAIKU), kept(1, HAIKU, "miss"))
        await until_seen(pilot, "1/40")
        await press(pilot, "x")
        assert isinstance(app.screen, ChoiceScreen)
        await press(pilot, "c")
        assert "stop" not in runner.told
        await pilot.press("x", "x", "x")
        shown = await until_seen(pilot, "all that came is kept")
        assert len(app.screen_stack) == 1
        assert "r asks the 3 owed" in shown
        assert "1 miss to read" in shown
        assert "g results" in shown


async def test_new_lines_never_move_the_cursor_that_the_reader_set(app: ResitApp) -> None:
    async with app.run_test(size=SIZE) as pilot:
        feed(app, started(HAIKU), *(kept(n, HAIKU, "miss") for n in range(50)))
        await until_seen(pilot, "following the newest")
        await press(pilot, "up", "up", "up")
        await until_seen(pilot, "staying here")
        cursor, top = log(app).cursor_row, log(app).scroll_offset.y
        feed(app, *(kept(n, HAIKU, "miss") for n in range(50, 90)))
        await until_seen(pilot, "43 newer")
        assert (log(app).cursor_row, log(app).scroll_offset.y) == (cursor, top)
        await press(pilot, "f")
        await until_seen(pilot, "following the newest")
        assert log(app).cursor_row == 89
        feed(app, kept(90, HAIKU, "miss"))
        await until(pilot, lambda: log(app).cursor_row == 90)
        await press(pilot, "f")
        feed(app, kept(91, HAIKU, "miss"))
        await until_seen(pilot, "1 newer")


async def test_following_survives_a_resize(app: ResitApp) -> None:
    async with app.run_test(size=SIZE) as pilot:
        feed(app, started(HAIKU), *(kept(n, HAIKU, "miss") for n in range(50)))
        await until_seen(pilot, "q49")
        for size in ((80, 24), (60, 15), (20, 5), (250, 70), (80, 24)):
            await pilot.resize_terminal(*size)
            await pilot.pause()
        feed(app, *(kept(n, HAIKU, "miss") for n in range(50, 60)))
        await until_seen(pilot, "q59", "following the newest")


async def test_one_reply_is_watched_as_it_streams_the_newest_or_this_one(app: ResitApp, runner: StubRunner) -> None:
    async with app.run_test(size=SIZE) as pilot:
        key = run_key("minutes", HAIKU, 1)
        feed(app, started(HAIKU), sent("minutes", ago_s=2.0))
        await press(pilot, "w")
        assert runner.told[-1] == f"watch {key}"
        feed(app, Streamed(key, "thinking", "3.5 times 60 "), Streamed(key, "text", "It is [/] 210"))
        shown = await until_seen(pilot, "It is [/] 210", "thinking: 3.5 times 60")
        assert "How many minutes are in 3.5 h?" in shown
        assert "first token 2.00 s" in shown
        feed(app, kept(1), sent("product", SONNET, ago_s=0.1))
        await press(pilot, "w")
        await until_seen(pilot, "staying on this one")
        feed(app, Streamed(key, "text", " minutes"))
        await until_seen(pilot, "It is [/] 210 minutes")
        await press(pilot, "w")
        assert runner.told[-1] == "watch None"
        await until_gone(pilot, "One reply as it comes")


async def test_on_the_newest_the_next_call_follows_when_one_has_ended(app: ResitApp, runner: StubRunner) -> None:
    async with app.run_test(size=SIZE) as pilot:
        feed(app, started(HAIKU), sent("q1"))
        await press(pilot, "w")
        feed(app, sent("q2"), kept(1))
        await until(pilot, lambda: runner.told[-1] == f"watch {run_key('q2', HAIKU, 1)}")
        await until_seen(pilot, "q2 · claude-haiku-5-5 low")


async def test_a_miss_is_read_and_the_round_goes_on(app: ResitApp) -> None:
    async with app.run_test(size=SIZE) as pilot:
        record = RunRecord(question="minutes", setting=SONNET, run=1, prompt="p", attempts=())
        feed(app, started(HAIKU, SONNET), RunKept(NOW, record, row("minutes", SONNET, 1, "miss", "210 minutes")))
        await until_seen(pilot, "210 minutes")
        await press(pilot, "enter")
        assert isinstance(app.screen, MissScreen)
        await until_seen(pilot, "210 ≠ 210 minutes")
        feed(app, kept(5))
        assert app.session.running
        await press(pilot, "escape")
        await until_seen(pilot, "1/40")
        await press(pilot, "g")
        await until(pilot, lambda: isinstance(app.screen, ResultsScreen))


async def test_what_is_in_flight_is_listed_with_its_state_and_age(app: ResitApp) -> None:
    async with app.run_test(size=SIZE) as pilot:
        fault = Fault(kind="overloaded", said="overloaded")
        feed(app, started(HAIKU), sent("old", ago_s=33), sent("busy"))
        feed(app, AttemptFailed(NOW, run_key("busy", HAIKU, 1), fault, 1, NOW + timedelta(seconds=9)))
        await press(pilot, "a", "a")
        shown = await until_seen(pilot, "In flight now · 2", "sending for 33 s")
        assert "for attempt 2: overloaded" in shown
        await press(pilot, "a")
        await until_seen(pilot, "Misses as they come · 0", "following the newest")


async def test_a_rule_changed_meanwhile_is_said(app: ResitApp) -> None:
    async with app.run_test(size=SIZE) as pilot:
        feed(app, started(HAIKU), kept(1, HAIKU, "miss"))
        app.screen.post_message(SuiteChanged("x"))
        await until_seen(pilot, "a rule changed since")


async def test_every_reply_of_a_fast_round_is_shown_and_counted(app: ResitApp) -> None:
    async with app.run_test(size=SIZE) as pilot:
        feed(app, started(HAIKU, planned=5000))
        await press(pilot, "a")
        for start in range(0, 5000, 100):
            feed(app, *(kept(n) for n in range(start, start + 100)))
            await pilot.pause(0)
        await until_seen(pilot, "5000/5000", "Every run · 5,000", "q4999")


async def test_a_round_of_another_process_is_followed_but_not_steered(suite: Suite) -> None:
    words = {place: said[:1] for place, said in ANSWERS.items() if place[0] != "product"}
    store = RoundStore.open(keep_round(suite, words))
    app = ResitApp()
    async with app.run_test(size=SIZE, notifications=True) as pilot:
        store.lock()
        follow(app, store.path)
        await until_seen(pilot, "3/4")
        await press(pilot, "p")
        await until_seen(pilot, "Another process runs this round")
        assert not app.session.running
        request = keep_round(suite, {("product", "haiku"): ("400",)}, settings=(HAIKU,), name="other")
        record = RoundStore.open(request).read(run_key("product", HAIKU, 1))
        assert record is not None
        store.put(record)
        await until_seen(pilot, "4/4", "product")
        store.unlock()
        await until_seen(pilot, "ended")


def test_the_time_left_is_said_as_a_clock() -> None:
    assert [clock(s) for s in (0, 42, 61.6, 3723)] == ["0:00", "0:42", "1:02", "1:02:03"]


def test_money_is_held_against_the_cap_and_an_unknown_price_is_at_least() -> None:
    progress = after(started(HAIKU), sent("one"), Spent(Decimal("0.0015"), Decimal("0.01"), True))
    line = money_line(progress, NOW, [0.0, 0.01]).plain
    assert "spent ≥ $0.0015 of cap $0.50" in line
    assert "$0.0100 set aside" in line
    assert "▁█ $0.0100/min" in line
    assert "nothing waiting" in line


def test_the_status_names_what_is_out_what_waits_and_the_time_left() -> None:
    assert status_line(after(started(HAIKU), sent("one"), sent("two")), NOW).plain == "2 in flight · ETA –"
    progress = after(started(HAIKU, planned=10), *(kept(n) for n in range(5)))
    assert "ETA 0:" in status_line(progress, NOW).plain
    assert status_line(after(started(HAIKU), ended("done", "all asked")), NOW).plain == "ended · 0 of 40"


def test_many_waiting_calls_are_three_lines_and_a_count() -> None:
    events: list[Event] = [started(HAIKU)]
    for number in range(9):
        key = run_key(f"w{number}", HAIKU, 1)
        fault = Fault(kind="overloaded", said="busy")
        events += [sent(f"w{number}"), AttemptFailed(NOW, key, fault, 1, NOW + timedelta(seconds=9))]
    lines = waiting_lines(after(*events), NOW).plain.splitlines()
    assert len(lines) == 4
    assert "and 6 more wait" in lines[-1]


@pytest.mark.parametrize(
    ("end", "problem", "said"),
    [
        (ended("done", "all 40 runs have a reply"), "", "✓ all 40 runs have a reply · g results"),
        (ended("cap", "the cap is reached", 12), "", "? the cap is reached · r asks the 12 owed · g results"),
        (None, "the disk is full", "✗ the disk is full What is finished is saved. r goes on."),
    ],
)
def test_the_end_is_one_calm_line(end: RoundEnded | None, problem: str, said: str) -> None:
    assert end_line(Progress(), end, problem, 0).plain.strip() == said


async def test_live_fits_80_by_24_with_its_keys_behind_help(app: ResitApp) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        feed(app, started(HAIKU, SONNET), *(kept(n, SONNET, "miss", "210 minutes " * 40) for n in range(40)))
        shown = await until_seen(pilot, "40/40", "q39")
        assert "p pause" in shown
        assert "? help" in shown
        await press(pilot, "question_mark")
        await until_seen(pilot, "Watch one reply as it streams in")


def footer(app: ResitApp) -> str:
    return seen(app).splitlines()[-1]


async def test_the_bottom_line_offers_what_can_be_done_now(app: ResitApp, runner: StubRunner) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        feed(app, started(HAIKU), kept(0, HAIKU, "miss"))
        await until_seen(pilot, "1/40")
        for word in ("p pause", "enter read", "x stop", "g results", "a all runs", "w watch", "f follow", "? help"):
            assert word in footer(app)
        assert "ask what is owed" not in footer(app)
        feed(app, PauseChanged(NOW, True))
        await until_seen(pilot, "p go on")
        feed(app, ended("stopped", "stopped: 39 runs are left", 39))
        app.session.ended = ended("stopped", "stopped: 39 runs are left", 39)
        app.session._runner = None
        await until_seen(pilot, "r ask what is owed")
        for word in ("p go on", "p pause", "x stop", "w watch"):
            assert word not in footer(app)
        assert "g results" in footer(app)


async def test_no_round_is_said_not_broken() -> None:
    app = ResitApp(first=LiveScreen())
    async with app.run_test(size=SIZE, notifications=True) as pilot:
        await until_seen(pilot, "Waiting for the round to begin")
        await press(pilot, "p", "x", "w", "w", "w", "a", "f", "enter", "g", "r")
        await until_seen(pilot, "The round has ended.")
        assert seen(app)
