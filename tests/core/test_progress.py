from __future__ import annotations

from datetime import timedelta
from decimal import Decimal

import pytest
from round_kit import ENDPOINT, START, A, B, make_suite, record, reply, right

from resit.core.records import Fault, Reply, Setting
from resit.core.rounds.events import (
    AttemptFailed,
    AttemptSent,
    Event,
    PauseChanged,
    RoundEnded,
    RoundStarted,
    RunKept,
    SettingStopped,
    Spent,
    Streamed,
)
from resit.core.rounds.plan import build_request
from resit.core.rounds.progress import RECENT, Progress, fold
from resit.core.scoring.grid import make_row

SUITE = make_suite(300)
STARTED = RoundStarted(START, planned=8, done=0, rows=(), round_id="r", settings=((A, 4), (B, 4)), cap_usd=Decimal(1))
LIMIT = Fault(kind="limit", said="slow down", status=429)


def at(seconds: float) -> timedelta:
    return timedelta(seconds=seconds)


def sent(question: str = "q1", setting: Setting = A, attempt: int = 1, seconds: float = 0.0) -> AttemptSent:
    return AttemptSent(START + at(seconds), f"{question} {setting.label}", question, setting, 1, attempt)


def kept(
    question: str = "q1", setting: Setting = A, answer: Reply | Fault | None = None, seconds: float = 1.0
) -> RunKept:
    request = build_request(SUITE, SUITE.by_id[question], setting, ENDPOINT)
    made = record(request, answer or right(request), question=question, setting=setting)
    return RunKept(START + at(seconds), made, make_row(SUITE.by_id[question], made))


def picture(*events: Event) -> Progress:
    progress = Progress()
    for event in events:
        progress = fold(progress, event)
    return progress


def test_marks_and_money_so_far_are_kept_for_each_setting() -> None:
    progress = picture(
        STARTED,
        kept("q1"),
        kept("q2", answer=reply("wrong")),
        kept("q3", answer=reply("", stop="refused")),
        kept("q1", B),
        Spent(Decimal("0.0008"), Decimal("0.01"), False),
    )
    a, b = progress.settings[A.label], progress.settings[B.label]
    assert (a.done, a.planned, a.passed, a.missed, a.unsettled, a.graded, a.score_sum) == (3, 4, 1, 1, 1, 2, 1.0)
    assert (b.done, b.passed, b.cost_usd, b.seconds_mean) == (1, 1, Decimal("0.0002"), 0.5)
    assert (progress.done, progress.planned, progress.left) == (4, 8, 4)
    assert (progress.spent_usd, progress.in_flight_usd, progress.cap_usd) == (
        Decimal("0.0008"), Decimal("0.01"), Decimal(1),
    )  # fmt: skip


def test_an_error_never_counts_as_a_miss() -> None:
    progress = picture(STARTED, kept("q1", answer=LIMIT))
    assert (progress.settings[A.label].missed, progress.unsettled, progress.graded) == (0, 1, 0)


def test_each_running_job_shows_its_state_attempt_and_age() -> None:
    waiting = AttemptFailed(START + at(2), f"q1 {A.label}", LIMIT, 1, START + at(62))
    progress = picture(STARTED, sent(), sent("q2", seconds=1), waiting)
    now = START + at(10)
    first, second = progress.flights.values()
    assert first.said(now) == "waiting after limit until 09:01:02 UTC, attempt 1 failed"
    assert second.said(now) == "sending for 9 s"
    assert (progress.sending, progress.waiting) == (1, 1)
    again = fold(progress, sent(attempt=2, seconds=62))
    assert next(iter(again.flights.values())).said(START + at(65)) == "sending for 3 s, attempt 2"


def test_a_call_without_news_past_its_limit_is_named() -> None:
    progress = picture(STARTED, sent(), sent("q2", seconds=50))
    assert [flight.question for flight in progress.overdue(START + at(70), 60.0)] == ["q1"]


def test_a_kept_run_is_no_longer_in_flight() -> None:
    event = kept("q1")
    progress = picture(STARTED, AttemptSent(START, event.record.key, "q1", A, 1, 1), event)
    assert progress.flights == {}


def test_the_time_left_comes_from_the_jobs_still_open_and_the_present_speed() -> None:
    progress = picture(STARTED, *(kept(f"q{n}", seconds=n * 2.0) for n in range(1, 5)))
    now = START + at(8)
    assert progress.runs_per_s(now) == pytest.approx(0.5)
    assert progress.left_s(now) == pytest.approx(8.0)
    assert picture(STARTED).left_s(now) is None
    assert picture(STARTED, kept()).left_s(now) is None


def test_a_picture_never_changes_after_it_was_taken() -> None:
    first = picture(STARTED, kept("q1"))
    second = fold(first, kept("q2"))
    branch = fold(first, kept("q3"))
    assert [row.question for row in first.rows] == ["q1"]
    assert [row.question for row in second.rows] == ["q1", "q2"]
    assert [row.question for row in branch.rows] == ["q1", "q3"]
    assert first.rows[-1].question == "q1"
    with pytest.raises(IndexError):
        first.rows[1]
    with pytest.raises(TypeError):
        first.settings["x"] = None  # type: ignore[index]


def test_a_run_asked_again_counts_once_among_the_latest_rows() -> None:
    progress = picture(STARTED, kept("q1", answer=reply("wrong")), kept("q1"))
    assert [row.outcome for row in progress.latest_rows()] == ["pass"]


def test_what_was_there_at_the_start_is_in_the_figures() -> None:
    rows = (kept("q1").row, kept("q2").row)
    progress = picture(RoundStarted(START, planned=4, done=2, rows=rows, settings=((A, 4),)))
    assert (progress.done, progress.begun_with, progress.settings[A.label].passed) == (2, 2, 2)


def test_a_stopped_setting_says_why_and_the_end_says_how() -> None:
    progress = picture(
        STARTED,
        sent(),
        SettingStopped(START, B, Fault(kind="key", said="refused")),
        PauseChanged(START, True),
        RoundEnded(START, "stopped", "stopped; all that came is kept", 8),
    )
    stopped = progress.settings[B.label].stopped
    assert stopped is not None
    assert stopped.said == "refused"
    assert progress.paused
    assert progress.ended is not None
    assert progress.flights == {}


def test_the_watched_reply_is_the_text_so_far_and_a_new_attempt_begins_anew() -> None:
    key = f"q1 {A.label}"
    progress = picture(
        STARTED, sent(), Streamed(key, "thinking", "hm"), Streamed(key, "text", "4"), Streamed(key, "text", "2")
    )
    assert (progress.watched, progress.streamed) == (key, "42")
    assert fold(progress, sent(attempt=2)).streamed == ""
    assert fold(progress, Streamed("another", "text", "x")).streamed == "x"


def test_only_the_last_runs_are_held_for_the_speed() -> None:
    progress = picture(STARTED, *(kept(f"q{n}", seconds=float(n)) for n in range(1, 301)))
    assert len(progress.recent) == RECENT
    assert progress.recent[-1][0] == START + at(300)
