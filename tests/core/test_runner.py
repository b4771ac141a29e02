from __future__ import annotations

import asyncio
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path

import pytest
from round_kit import (
    PRICE,
    USAGE,
    A,
    B,
    Full,
    HeldClock,
    ScriptedClient,
    make_round_plan,
    make_suite,
    of_kind,
    reply,
    right,
)

from resit.core.calling.client import Client, Listener
from resit.core.calling.faults import RetryPolicy
from resit.core.records import Fault, Reply, Request, Setting, run_key
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
from resit.core.rounds.live import read_live
from resit.core.rounds.outfit import Outfit
from resit.core.rounds.plan import make_plan
from resit.core.rounds.runner import Runner
from resit.core.rounds.store import RoundStore, write_whole
from resit.core.spend.budget import Budget
from resit.core.spend.ledger import Ledger
from resit.core.spend.prices import Price
from resit.core.suite import Suite

LIMIT = Fault(kind="limit", said="rate limit", status=429, retry_after_s=5.0)
DROPPED = Fault(kind="dropped", said="connection lost")


@dataclass
class Desk:
    """A round on a desk: everything a runner needs, and what it said."""

    folder: Path
    client: ScriptedClient = field(default_factory=ScriptedClient)
    clock: HeldClock = field(default_factory=HeldClock)
    events: list[Event] = field(default_factory=list)
    others: dict[str, Client] = field(default_factory=dict)
    policy: RetryPolicy = field(default_factory=RetryPolicy)
    write: Callable[[Path, bytes], None] = write_whole
    on_event: Callable[[Event], None] = lambda event: None

    def runner(
        self,
        suite: Suite,
        settings: tuple[Setting, ...] = (A,),
        *,
        repeats: int = 1,
        cap: str | None = None,
        spent: str = "0",
        price: Price | None = PRICE,
        free: Setting | None = None,
        **more: object,
    ) -> Runner:
        round_plan = make_round_plan(suite, settings, repeats=repeats, price=price, **more)
        if free is not None:
            nothing = Price(input=Decimal(0), output=Decimal(0), source="test")
            priced = (p.model_copy(update={"price": nothing}) if p.setting == free else p for p in round_plan.settings)
            round_plan = round_plan.model_copy(update={"settings": tuple(priced)})
        store = RoundStore.create(self.folder, round_plan, suite, write=self.write)
        store.lock()
        outfit = Outfit(
            make_plan(suite, round_plan, {}),
            store,
            {s.label: self.others.get(s.label, self.client) for s in settings},
            Budget(Decimal(cap) if cap else None, spent_usd=Decimal(spent)),
            self.ledger,
            self.emit,
            policy=self.policy,
            clock=self.clock,
            rng=random.Random(1),
        )
        return Runner(outfit, call_limit_s=100.0)

    @property
    def ledger(self) -> Ledger:
        return Ledger(self.folder / "ledger.jsonl")

    def emit(self, event: Event) -> None:
        self.events.append(event)
        self.on_event(event)

    @property
    def kept(self) -> list[str]:
        return [event.record.key for event in of_kind(self.events, RunKept)]


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


async def test_every_owed_run_is_asked_once_and_kept(desk: Desk) -> None:
    runner = desk.runner(make_suite(3), (A, B), repeats=2)
    ended = await runner.run()
    assert (ended.reason, ended.owed) == ("done", 0)
    assert set(desk.client.counts.values()) == {2}
    assert len(runner.store.keys()) == len(desk.kept) == 12
    assert {event.row.outcome for event in of_kind(desk.events, RunKept)} == {"pass"}


async def test_events_begin_with_the_start_and_end_with_the_end(desk: Desk) -> None:
    await desk.runner(make_suite(2), (A, B)).run()
    assert isinstance(desk.events[0], RoundStarted)
    assert desk.events[0].settings == ((A, 2), (B, 2))
    assert isinstance(desk.events[-1], RoundEnded)
    assert len(of_kind(desk.events, AttemptSent)) == len(of_kind(desk.events, Spent)) == 4


async def test_a_run_is_on_disk_before_it_is_said_to_be_kept(desk: Desk) -> None:
    runner = desk.runner(make_suite(5))
    seen = []
    desk.on_event = lambda event: (
        seen.append(runner.store.read(event.record.key) == event.record) if isinstance(event, RunKept) else None
    )
    await runner.run()
    assert seen == [True] * 5


async def test_no_more_calls_are_out_than_the_concurrency_allows_and_the_pool_is_used_fully(desk: Desk) -> None:
    await desk.runner(make_suite(20), (A, B), concurrency=5).run()
    assert desk.client.most_out == 5


async def test_each_provider_is_a_pool_of_its_own(desk: Desk) -> None:
    other = Setting(model="model-b", provider="elsewhere")
    desk.others[other.label] = second = ScriptedClient()
    await desk.runner(make_suite(20), (A, other), concurrency=3).run()
    assert (desk.client.most_out, second.most_out) == (3, 3)


async def test_serial_asks_one_at_a_time_over_all_settings(desk: Desk) -> None:
    runner = desk.runner(make_suite(4), (A, B), serial=True)
    await runner.run()
    assert desk.client.most_out == 1
    assert [(r.model, r.prompt) for r in desk.client.asked[:3]] == [
        ("model-a", "1+1?"),
        ("model-b", "1+1?"),
        ("model-a", "2+2?"),
    ]


async def test_a_failed_call_is_tried_again_not_sooner_than_the_server_asked(desk: Desk) -> None:
    desk.client = ScriptedClient(first={"1+1?": [LIMIT, Fault(kind="overloaded", said="busy", status=529)]})
    runner = desk.runner(make_suite(1))
    ended = await runner.run()
    record = runner.store.read(run_key("q1", A, 1))
    assert record is not None
    assert ended.owed == 0
    assert [a.fault.kind if a.fault else "reply" for a in record.attempts] == ["limit", "overloaded", "reply"]
    assert [a.number for a in record.attempts] == [1, 2, 3]
    assert record.attempts[1].waited_s >= 5.0
    assert (record.attempts[1].at - record.attempts[0].at).total_seconds() >= 5.0
    assert of_kind(desk.events, AttemptFailed)[0].next_at > record.attempts[0].at


async def test_a_run_that_waits_holds_no_place(desk: Desk) -> None:
    slow = Fault(kind="limit", said="wait", status=429, retry_after_s=100.0)
    desk.client = ScriptedClient(first={"1+1?": [slow]})
    await desk.runner(make_suite(5), concurrency=1).run()
    assert [r.prompt for r in desk.client.asked] == ["1+1?", "2+2?", "3+3?", "4+4?", "5+5?", "1+1?"]


async def test_two_limits_in_a_row_hold_the_whole_model_so_that_its_runs_keep_their_attempts(desk: Desk) -> None:
    wall_ends_s = 60.0

    def script(request: Request) -> Reply | Fault:
        if desk.clock.passed_s < wall_ends_s:
            left = wall_ends_s - desk.clock.passed_s
            return Fault(kind="limit", said="wall", status=429, retry_after_s=left)
        return right(request)

    desk.client = ScriptedClient(script)
    ended = await desk.runner(make_suite(50), concurrency=4).run()
    assert ended.reason == "done"
    assert len(desk.client.asked) <= 50 + 4


async def test_a_limit_of_one_model_does_not_hold_another(desk: Desk) -> None:
    desk.others[A.label] = walled = ScriptedClient(lambda request: LIMIT)
    desk.policy = RetryPolicy(max_attempts=3)
    ended = await desk.runner(make_suite(5), (A, B), concurrency=2).run()
    assert ended.owed == 5
    assert sum(key.startswith("q") and B.slug in key for key in desk.kept) == 5
    assert len(walled.asked) == 15


async def test_attempts_are_bounded_and_a_run_without_a_reply_stays_owed(desk: Desk) -> None:
    desk.policy = RetryPolicy(max_attempts=4)
    desk.client = ScriptedClient(lambda request: DROPPED)
    runner = desk.runner(make_suite(1))
    ended = await runner.run()
    record = runner.store.read(run_key("q1", A, 1))
    assert record is not None
    assert len(record.attempts) == 4
    assert (ended.reason, ended.owed) == ("done", 1)


async def test_a_wrong_key_stops_its_setting_at_once_and_leaves_the_other_running(desk: Desk) -> None:
    refused = ScriptedClient(lambda request: Fault(kind="key", said="the server refuses the key", status=401))
    desk.others[A.label] = refused
    ended = await desk.runner(make_suite(30), (A, B), concurrency=3).run()
    assert len(refused.asked) <= 3
    assert len(desk.client.asked) == 30
    assert [event.setting for event in of_kind(desk.events, SettingStopped)] == [A]
    assert (ended.reason, ended.owed) == ("settings", 30)
    assert "refuses the key" in ended.said


async def test_a_quota_ends_the_round_as_such(desk: Desk) -> None:
    desk.client = ScriptedClient(lambda request: Fault(kind="quota", said="free again at 14:00 UTC", status=429))
    ended = await desk.runner(make_suite(9), concurrency=2).run()
    assert ended.reason == "quota"
    assert "14:00" in ended.said
    assert len(desk.client.asked) <= 2


async def test_a_wait_longer_than_the_policy_allows_stops_the_setting_instead_of_burning_calls(desk: Desk) -> None:
    desk.client = ScriptedClient(lambda r: Fault(kind="limit", said="later", status=429, retry_after_s=600.0))
    ended = await desk.runner(make_suite(50), concurrency=2).run()
    assert ended.reason == "quota"
    assert len(desk.client.asked) <= 2


async def test_an_empty_reply_is_kept_as_what_it_is_and_not_tried_again(desk: Desk) -> None:
    desk.client = ScriptedClient(first={"1+1?": [reply("")]})
    ended = await desk.runner(make_suite(2)).run()
    outcomes = {event.row.question: event.row.outcome for event in of_kind(desk.events, RunKept)}
    assert outcomes == {"q1": "empty", "q2": "pass"}
    assert (ended.owed, len(desk.client.asked)) == (1, 2)


# --- money


async def test_the_cap_is_never_passed_whatever_is_in_flight(desk: Desk) -> None:
    # At worst a call costs (prompt 4 + framing 100) * 1 + 50 * 10 = 604 millionths of a dollar; 200 when answered.
    most: list[Decimal] = []
    runner = desk.runner(make_suite(40), cap="0.002", concurrency=16)
    desk.on_event = lambda event: (
        most.append(event.spent_usd + event.in_flight_usd) if isinstance(event, Spent) else None
    )
    ended = await runner.run()
    assert ended.reason == "cap"
    assert max(most) <= Decimal("0.002")
    assert desk.client.most_out == 3
    assert len(desk.kept) == (2000 - 604) // 200 + 1
    assert ended.owed == 40 - len(desk.kept)
    assert f"{ended.owed} calls skipped" in ended.said


async def test_what_earlier_starts_spent_counts_against_the_cap(desk: Desk) -> None:
    ended = await desk.runner(make_suite(3), cap="0.002", spent="0.0019").run()
    assert (ended.reason, desk.client.asked) == ("cap", [])


async def test_a_cheaper_setting_goes_on_when_the_dear_one_no_longer_fits_under_the_cap(desk: Desk) -> None:
    ended = await desk.runner(make_suite(3), (A, B), cap="0.0001", free=B).run()
    assert ended.reason == "cap"
    assert {r.model for r in desk.client.asked} == {"model-b"}
    assert ended.owed == 3


async def test_a_call_that_ended_without_a_bill_keeps_its_worst_case_taken(desk: Desk) -> None:
    desk.client = ScriptedClient(first={"1+1?": [DROPPED]})
    runner = desk.runner(make_suite(10), cap="0.0013", concurrency=1)
    ended = await runner.run()
    assert ended.reason == "cap"
    assert runner.budget.spent_usd + Decimal("0.000604") <= Decimal("0.0013")
    assert runner.budget.at_least


async def test_a_refused_call_costs_nothing_and_a_billed_failure_is_counted(desk: Desk) -> None:
    billed = Fault(kind="dropped", said="cut in mid-stream", usage=USAGE)
    desk.client = ScriptedClient(first={"1+1?": [LIMIT], "2+2?": [billed]})
    runner = desk.runner(make_suite(2))
    await runner.run()
    assert runner.budget.spent_usd == Decimal("0.0006")
    assert not runner.budget.at_least


async def test_every_call_is_in_the_ledger_errors_included(desk: Desk) -> None:
    desk.client = ScriptedClient(first={"1+1?": [LIMIT, Fault(kind="dropped", said="cut", usage=USAGE)]})
    await desk.runner(make_suite(2)).run()
    entries = desk.ledger.read().entries
    assert sorted((e.question, e.attempt, e.ended, e.cost_usd) for e in entries) == [
        ("q1", 1, "limit", Decimal(0)),
        ("q1", 2, "dropped", Decimal("0.0002")),
        ("q1", 3, "end", Decimal("0.0002")),
        ("q2", 1, "end", Decimal("0.0002")),
    ]


async def test_the_cost_of_an_unpriced_model_stays_unknown(desk: Desk) -> None:
    runner = desk.runner(make_suite(1), price=None)
    await runner.run()
    assert of_kind(desk.events, RunKept)[0].row.cost_usd is None
    assert runner.budget.at_least


# --- ending early


async def test_a_stop_starts_nothing_more_and_keeps_what_comes_within_the_grace(desk: Desk) -> None:
    runner = desk.runner(make_suite(10), concurrency=3)
    desk.on_event = lambda event: runner.stop(5.0) if len(desk.client.asked) == 3 else None
    ended = await runner.run()
    assert ended.reason == "stopped"
    assert len(desk.client.asked) == len(desk.kept) == 10 - ended.owed
    assert desk.client.closed


async def test_calls_that_outlast_the_grace_are_cancelled_and_owed(desk: Desk) -> None:
    desk.client.gate = asyncio.Event()
    runner = desk.runner(make_suite(5), concurrency=2)
    task = asyncio.create_task(runner.run())
    await until(lambda: desk.client.out == 2)
    runner.stop(3.0)
    ended = await task
    assert ended.owed == 5
    assert desk.client.out == 0
    record = runner.store.read(run_key("q1", A, 1))
    assert record is not None
    assert record.attempts[0].fault is not None
    assert record.attempts[0].cost_usd is None


async def test_a_stop_keeps_the_attempts_of_runs_that_wait(desk: Desk) -> None:
    desk.client = ScriptedClient(first={"1+1?": [LIMIT]})
    runner = desk.runner(make_suite(1))
    desk.on_event = lambda event: runner.stop(0.0) if isinstance(event, AttemptFailed) else None
    ended = await runner.run()
    record = runner.store.read(run_key("q1", A, 1))
    assert record is not None
    assert (ended.owed, len(record.attempts)) == (1, 1)


async def test_a_paused_round_starts_nothing_until_it_goes_on(desk: Desk) -> None:
    runner = desk.runner(make_suite(6), concurrency=2)
    runner.pause()
    task = asyncio.create_task(runner.run())
    await until(lambda: desk.clock.passed_s > 60)
    assert desk.client.asked == []
    runner.resume()
    ended = await task
    assert (ended.reason, len(desk.kept)) == ("done", 6)
    assert [event.paused for event in of_kind(desk.events, PauseChanged)] == [True, False]


async def test_a_paused_round_can_be_stopped(desk: Desk) -> None:
    runner = desk.runner(make_suite(6))
    runner.pause()
    runner.stop(0.0)
    assert (await runner.run()).reason == "stopped"


async def test_a_full_disk_ends_the_round_with_a_sentence_and_what_is_kept_is_whole(desk: Desk) -> None:
    desk.write = Full(write_whole, 4)
    runner = desk.runner(make_suite(20), concurrency=3)
    ended = await runner.run()
    assert ended.reason == "disk"
    assert "no room" in ended.said
    assert len(runner.store.keys()) == len(desk.kept) == 4
    assert ended.owed == 16
    assert all(runner.store.read(key) is not None for key in sorted(runner.store.keys()))
    assert len(desk.client.asked) <= 4 + 3


async def test_a_reply_that_found_no_room_is_kept_after_all_when_there_is_room_at_the_end(desk: Desk) -> None:
    desk.write = full = Full(write_whole, 4)

    def make_room(event: Event) -> None:
        if isinstance(event, Spent) and len(of_kind(desk.events, Spent)) == 5:
            full.left = 1

    desk.on_event = make_room
    runner = desk.runner(make_suite(20), concurrency=1)
    ended = await runner.run()
    assert len(desk.client.asked) == 5
    assert (ended.reason, ended.owed) == ("disk", 15)
    assert len(runner.store.keys()) == len(desk.kept) == 5


async def test_a_call_without_an_end_is_given_up_as_a_timeout_though_its_client_will_not_let_go(desk: Desk) -> None:
    class Stubborn(ScriptedClient):
        async def ask(self, request: Request, listen: Listener | None = None) -> Reply | Fault:
            if request.prompt != "1+1?":
                return await super().ask(request, listen)
            self.asked.append(request)
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                return right(request)
            raise AssertionError

    desk.client = Stubborn()
    desk.policy = RetryPolicy(max_attempts=1)
    runner = desk.runner(make_suite(3), concurrency=1)
    ended = await runner.run()
    outcomes = {event.row.question: event.row.outcome for event in of_kind(desk.events, RunKept)}
    assert outcomes == {"q1": "timeout", "q2": "pass", "q3": "pass"}
    assert ended.owed == 1


async def test_a_defect_of_a_client_ends_the_round_and_loses_nothing_that_came(desk: Desk) -> None:
    def script(request: Request) -> Reply:
        if request.prompt == "3+3?":
            raise ZeroDivisionError
        return right(request)

    desk.client = ScriptedClient(script)
    runner = desk.runner(make_suite(6), concurrency=1)
    with pytest.raises(ZeroDivisionError):
        await runner.run()
    assert len(runner.store.keys()) == 2
    assert desk.client.closed
    assert not runner.store.locked


async def test_nothing_is_left_locked_or_open_at_the_end(desk: Desk) -> None:
    runner = desk.runner(make_suite(1))
    await runner.run()
    assert desk.client.closed
    assert runner.store.runner_pid() is None


# --- what can be seen meanwhile


async def test_the_watched_reply_streams_and_no_other(desk: Desk) -> None:
    runner = desk.runner(make_suite(3))
    runner.watch(run_key("q2", A, 1))
    await runner.run()
    assert [(event.key, event.text) for event in of_kind(desk.events, Streamed)] == [(run_key("q2", A, 1), "4")]


async def test_live_says_what_is_out_and_what_waits_and_at_the_end_how_it_ended(desk: Desk) -> None:
    desk.client = ScriptedClient(first={"1+1?": [LIMIT]})
    runner = desk.runner(make_suite(1))
    states = []
    desk.on_event = lambda event: states.append(read_live(runner.store))
    await runner.run()
    waiting = [f for live in states if live for f in live.flights if f.state == "waiting"]
    assert waiting == [] or waiting[0].fault == LIMIT
    last = read_live(runner.store)
    assert last is not None
    assert last.ended is not None
    assert (last.ended.reason, last.flights) == ("done", ())


async def until(condition: Callable[[], bool]) -> None:
    for _ in range(10_000):
        if condition():
            return
        await asyncio.sleep(0)
    raise AssertionError("it never came to that")
