from __future__ import annotations

import random
import sys
from dataclasses import dataclass, field
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from round_kit import (
    PRICES,
    START,
    A,
    B,
    HeldClock,
    ScriptedClient,
    make_round_plan,
    make_suite,
    of_kind,
    reply,
    right,
)

from resit.core.calling.client import Client
from resit.core.calling.faults import RetryPolicy
from resit.core.config import ModelEntry, ModelsFile
from resit.core.pool_entry import PoolEntry
from resit.core.records import AgentRun, Fault, QuotaReading, Reply, Request, Setting
from resit.core.rounds.events import Event, PoolsHeld, RoundEnded, RunKept
from resit.core.rounds.live import read_live
from resit.core.rounds.outfit import Outfit
from resit.core.rounds.plan import PlannedSetting, make_plan
from resit.core.rounds.pool_gate import PoolGate
from resit.core.rounds.runner import Runner
from resit.core.rounds.session import prepare_round
from resit.core.rounds.store import RoundStore
from resit.core.spend.budget import Budget
from resit.core.spend.ledger import Ledger
from resit.core.spend.readings import Reading, Readings

C = Setting(model="model-c")


def models(shared: tuple[str, ...] = ("model-a",), **pool: Any) -> ModelsFile:
    """`models.toml` with one pool, and who shares it."""
    entry = PoolEntry.model_validate({"window": "5h", **pool})
    return ModelsFile(
        models={name: ModelEntry(pool="max") for name in shared}, prices=PRICES.prices, pools={"max": entry}
    )


@dataclass
class Desk:
    """Rounds on a desk, one after the other, with one ledger."""

    folder: Path
    client: ScriptedClient = field(default_factory=ScriptedClient)
    others: dict[str, Client] = field(default_factory=dict)
    clock: HeldClock = field(default_factory=HeldClock)
    events: list[Event] = field(default_factory=list)
    store: RoundStore | None = None
    placed: tuple[PlannedSetting, ...] = ()
    """Stands in for the round's settings."""

    async def run(
        self, models_file: ModelsFile, settings: tuple[Setting, ...] = (A,), count: int = 20, **more: Any
    ) -> RoundEnded:
        """A round of its own each time, whose questions have the right answers."""
        suite = make_suite(count)
        plan = make_round_plan(suite, settings, **more)
        if self.placed:
            plan = plan.model_copy(update={"settings": self.placed})
        self.store = RoundStore.create(self.folder / "rounds", plan, suite)
        self.store.lock()
        self.events.clear()
        labels = {setting.label: setting for setting in settings}
        outfit = Outfit(
            make_plan(suite, plan, {}),
            self.store,
            {label: self.others.get(label, self.client) for label in labels},
            Budget(None),
            self.ledger,
            self.events.append,
            policy=RetryPolicy(),
            clock=self.clock,
            rng=random.Random(1),
            gate=PoolGate(models_file, labels, self.ledger, self.clock),
        )
        return await Runner(outfit).run()

    @property
    def ledger(self) -> Ledger:
        return Ledger(self.folder / "ledger.jsonl")

    @property
    def readings(self) -> Readings:
        return Readings(self.folder / "pool-readings.jsonl")

    def say(self, percent: str, minutes_ago: float = 1.0) -> None:
        """A reading by hand."""
        at = self.clock.now() - timedelta(minutes=minutes_ago)
        self.readings.add(Reading(at=at, pool="max", used_percent=Decimal(percent), by="hand"))

    @property
    def kept(self) -> list[str]:
        return [event.row.setting for event in of_kind(self.events, RunKept)]


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


# --- by count


async def test_a_pool_starts_nothing_at_its_reserve_and_the_round_ends_as_paused_until_when(
    desk: Desk,
) -> None:
    ended = await desk.run(models(runs=10))
    assert (len(desk.client.asked), ended.reason, ended.owed) == (9, "quota", 11)
    assert "pool max: 9 of 10 runs in 5 hours are used and 10% is kept in reserve" in ended.said
    assert "it goes on 30 Nov 14:00 UTC" in ended.said


@pytest.mark.parametrize("concurrency", [1, 3, 50])
async def test_calls_at_a_time_cannot_pass_the_reserve_together(desk: Desk, concurrency: int) -> None:
    # At worst a call is 4 bytes of prompt, 100 of framing and 50 of reply; in fact it takes 110 tokens.
    await desk.run(models(tokens=1000), concurrency=concurrency)
    assert len(desk.client.asked) * 110 <= 900
    assert len(desk.client.asked) == (900 - 154) // 110 + 1


async def test_dollars_are_counted_as_well(desk: Desk) -> None:
    # 0.0002 dollars a call, at worst 0.000604.
    ended = await desk.run(models(usd="0.002"), count=40)
    assert len(desk.client.asked) * Decimal("0.0002") <= Decimal("0.0018")
    assert ended.reason == "quota"


async def test_several_settings_share_a_pool_and_another_goes_on(desk: Desk) -> None:
    ended = await desk.run(models(("model-a", "model-b"), runs=10), (A, B, C))
    assert (desk.kept.count(C.label), len(desk.kept)) == (20, 29)
    assert (ended.reason, ended.owed) == ("quota", 31)
    held = of_kind(desk.events, PoolsHeld)
    assert [hold.pool for hold in held[0].holds] == ["max"]
    live = read_live(desk.store) if desk.store else None
    assert live is not None
    assert [hold.pool for hold in live.holds] == ["max"]


async def test_use_is_kept_across_rounds_and_passes_with_the_window(desk: Desk) -> None:
    await desk.run(models(runs=10), count=6)
    assert len(desk.client.asked) == 6
    await desk.run(models(runs=10), count=6)
    assert len(desk.client.asked) == 9
    desk.clock.passed_s += 5 * 3600
    ended = await desk.run(models(runs=10), count=6)
    assert (ended.reason, len(desk.client.asked)) == ("done", 15)


async def test_what_another_process_uses_meanwhile_counts(desk: Desk) -> None:
    other = Desk(desk.folder / "other")
    await other.run(models(runs=100), count=5)
    theirs = other.ledger.read().entries

    def script(request: Request) -> Reply:
        if len(desk.client.asked) == 2:
            for entry in theirs:
                desk.ledger.append(entry)
        return right(request)

    desk.client = ScriptedClient(script)
    await desk.run(models(runs=10), concurrency=1)
    assert len(desk.client.asked) == 4


async def test_a_hold_that_ends_soon_is_waited_for(desk: Desk) -> None:
    entry = models(runs=10, resets_at=START + timedelta(seconds=60))
    ended = await desk.run(entry, count=15)
    assert (ended.reason, len(desk.client.asked)) == ("done", 15)
    assert desk.clock.passed_s >= 60
    assert [len(event.holds) for event in of_kind(desk.events, PoolsHeld)] == [1, 0]


async def test_refused_calls_use_nothing(desk: Desk) -> None:
    busy = Fault(kind="overloaded", said="busy", status=529)
    desk.client = ScriptedClient(first={"1+1?": [busy] * 3})
    ended = await desk.run(models(runs=10), count=9)
    assert (ended.reason, len(desk.client.asked)) == ("done", 12)


async def test_calls_that_nothing_bounds_go_one_at_a_time_until_one_was_seen(desk: Desk) -> None:
    agent = make_round_plan(make_suite(1), (A,)).settings[0].model_copy(update={"endpoint": "command:agent"})
    desk.placed = (agent,)
    ended = await desk.run(models(tokens=2000), count=30)
    assert desk.client.most_out > 1
    assert len(desk.client.asked) == 1800 // 110
    assert ended.reason == "quota"


# --- by readings


async def test_a_reading_by_hand_at_the_reserve_holds_the_pool(desk: Desk) -> None:
    desk.say("90")
    ended = await desk.run(models())
    assert (desk.client.asked, ended.reason) == ([], "quota")
    assert "pool max: 90% is used and 10% is kept in reserve" in ended.said


async def test_a_reading_above_the_reserve_or_of_an_earlier_window_holds_nothing(desk: Desk) -> None:
    desk.say("89")
    desk.say("99", minutes_ago=301)
    assert (await desk.run(models())).reason == "done"


async def test_what_an_agent_says_of_its_plan_is_a_reading(desk: Desk) -> None:
    quota = (
        QuotaReading(window_minutes=300, used_percent=93.0),
        QuotaReading(window_minutes=10_080, used_percent=12.0),
    )
    agent = AgentRun(isolation="none", quota=quota)
    desk.client = ScriptedClient(lambda request: reply(right(request).text, agent=agent))
    ended = await desk.run(models(), concurrency=1)
    assert (len(desk.client.asked), ended.reason) == (1, "quota")
    assert [(r.by, r.used_percent) for r in desk.readings.of("max")] == [("agent", Decimal(93))]


# --- by a command


def command(folder: Path, text: str) -> list[str]:
    """A command whose output depends on how often it was run (`n`, from 0)."""
    script = folder / "quota.py"
    script.write_text(
        "import pathlib, sys\n"
        f"seen = pathlib.Path({str(folder / 'seen')!r})\n"
        "n = len(seen.read_text()) if seen.exists() else 0\n"
        "seen.write_text('x' * (n + 1))\n"
        f"{text}\n"
    )
    return [sys.executable, str(script)]


def asked_command(folder: Path) -> int:
    path = folder / "seen"
    return len(path.read_text()) if path.exists() else 0


@pytest.mark.parametrize("concurrency", [1, 8])
async def test_a_command_is_asked_before_the_first_call_and_again_before_the_reserve_could_be_passed(
    desk: Desk, concurrency: int
) -> None:
    # Each call takes two points, as a plan might that counts by the request.
    ledger = desk.folder / "ledger.jsonl"
    calls = "p.read_text().count(chr(10)) if p.exists() else 0"
    text = f"p = pathlib.Path({str(ledger)!r})\nprint(50 + 2 * ({calls}), '% used')"
    ended = await desk.run(models(command=command(desk.folder, text)), count=60, concurrency=concurrency)
    assert ended.reason == "quota"
    assert 50 + 2 * len(desk.client.asked) <= 90
    assert len(desk.client.asked) >= 15
    assert desk.client.most_out <= concurrency
    assert asked_command(desk.folder) >= 3
    assert {r.by for r in desk.readings.of("max")} == {"command"}


async def test_the_first_call_goes_alone_for_nobody_knows_what_one_takes(desk: Desk) -> None:
    await desk.run(models(command=command(desk.folder, "print(10)")), count=2, concurrency=2)
    assert desk.client.most_out == 1
    assert asked_command(desk.folder) == 2


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("sys.exit(3)", "failed (3)"),
        ("print('none of it')", "printed no number"),
        ("import os, time; os.fork(); time.sleep(60)", "said nothing within"),
    ],
)
async def test_a_command_that_says_nothing_holds_its_pool_and_is_named(
    desk: Desk, text: str, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("resit.core.spend.readings.COMMAND_S", 3.0)
    ended = await desk.run(models(command=command(desk.folder, text)))
    assert (desk.client.asked, ended.reason) == ([], "quota")
    assert said in ended.said


async def test_a_command_that_is_not_there_is_named(desk: Desk) -> None:
    ended = await desk.run(models(command=["/nowhere/quota"]))
    assert "/nowhere/quota cannot be run" in ended.said


# --- what the provider says


async def test_a_refusal_above_the_reserve_pauses_the_whole_pool_with_its_message(desk: Desk) -> None:
    wall = Fault(kind="quota", said="weekly limit reached", status=429, retry_after_s=7200.0)
    desk.client = ScriptedClient(lambda request: wall if request.model == "model-a" else right(request))
    desk.others[C.label] = others = ScriptedClient()
    ended = await desk.run(models(("model-a", "model-b"), runs=1000), (A, B, C), concurrency=1)
    assert len(others.asked) == 20
    assert sum(request.model == "model-a" for request in desk.client.asked) == 1
    assert sum(request.model == "model-b" for request in desk.client.asked) <= 1
    assert ended.reason == "quota"
    assert "pool max: weekly limit reached; it goes on 30 Nov 11:00 UTC" in ended.said


async def test_a_refusal_of_the_last_run_ends_the_round_as_paused_too(desk: Desk) -> None:
    wall = Fault(kind="quota", said="weekly limit reached", status=429)
    desk.client = ScriptedClient(lambda request: wall)
    ended = await desk.run(models(runs=1000), count=1)
    assert (ended.reason, ended.owed) == ("quota", 1)
    assert "weekly limit reached" in ended.said


# --- from the command line on


async def test_the_same_command_goes_on_when_the_pool_does(tmp_path: Path) -> None:
    clock, client = HeldClock(), ScriptedClient()

    async def run() -> RoundEnded:
        prepared = prepare_round(
            make_suite(12),
            (A,),
            1,
            models_file=models(runs=10),
            clients={"anthropic": client},
            rounds_dir=tmp_path / "rounds",
            ledger=Ledger(tmp_path / "ledger.jsonl"),
            environ={},
            clock=clock,
        )
        return await prepared.start(lambda event: None).run()

    first = await run()
    assert (first.reason, first.owed, len(client.asked)) == ("quota", 3, 9)
    again = await run()
    assert (again.reason, again.owed, len(client.asked)) == ("quota", 3, 9)
    clock.passed_s += 5 * 3600 + 1
    last = await run()
    assert (last.reason, last.owed, len(client.asked)) == ("done", 0, 12)


def test_a_model_without_a_price_does_not_start_in_a_pool_of_dollars(tmp_path: Path) -> None:
    prepared = prepare_round(
        make_suite(2),
        (Setting(model="unpriced"),),
        1,
        models_file=models(("unpriced",), usd=5),
        clients={"anthropic": ScriptedClient()},
        rounds_dir=tmp_path / "rounds",
        ledger=Ledger(tmp_path / "ledger.jsonl"),
        environ={},
        clock=HeldClock(),
    )
    assert "no price, so pool max cannot hold it" in prepared.problems[0].said
