from __future__ import annotations

import socket
from collections.abc import Iterator
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from round_kit import PRICES, A, B, HeldClock, ScriptedClient, clients, make_suite, of_kind, reply, right

from mock_server import MockServer
from resit.core.calling.faults import RetryPolicy
from resit.core.config import ModelEntry, ModelsFile
from resit.core.errors import KeyMissing, RoundBusy, RoundError, Unpriced, UsageError
from resit.core.records import Fault, Reply, Request, Setting, run_key
from resit.core.rounds.events import Event, RoundEnded, RunKept, SettingStopped
from resit.core.rounds.graded import GradedRound
from resit.core.rounds.reviews import set_review
from resit.core.rounds.session import NEW, Prepared, list_rounds, open_round, prepare_round
from resit.core.suite import Suite

SUITE = make_suite(3)


class Bench:
    """One person's rounds folder, and the command they type."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.client = ScriptedClient()
        self.clock = HeldClock()
        self.events: list[Event] = []

    def prepare(self, suite: Suite = SUITE, settings: tuple[Setting, ...] = (A,), *args: Any, **more: Any) -> Prepared:
        self.clock.passed_s += 1.0
        fields: dict[str, Any] = {
            "rounds_dir": self.folder / "rounds",
            "clients": clients(self.client),
            "models_file": PRICES,
            "environ": {},
            "clock": self.clock,
            "cwd": self.folder,
        }
        return prepare_round(suite, settings, *args, **(fields | more))

    async def run(
        self, suite: Suite = SUITE, settings: tuple[Setting, ...] = (A,), *args: Any, **more: Any
    ) -> RoundEnded:
        return await self.prepare(suite, settings, *args, **more).start(self.events.append).run()

    @property
    def rounds(self) -> list[str]:
        return [path.name for path in sorted((self.folder / "rounds").glob("*/*"))]

    def calls(self) -> int:
        """Calls since this was last asked."""
        count = len(self.client.asked)
        self.client.asked.clear()
        return count


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


async def test_the_second_run_of_a_finished_plan_makes_no_call(bench: Bench) -> None:
    await bench.run()
    assert bench.calls() == 3
    prepared = bench.prepare()
    assert prepared.plan.said == "3 of 3 done, 0 to do"
    assert any("--round new asks everything again" in note for note in prepared.notes)
    ended = await prepared.start(bench.events.append).run()
    assert (ended.reason, ended.owed, bench.calls()) == ("done", 0, 0)
    assert len(bench.rounds) == 1


def test_preparing_writes_nothing_and_calls_nobody(bench: Bench) -> None:
    prepared = bench.prepare()
    assert (prepared.plan.planned, bench.calls()) == (3, 0)
    assert not (bench.folder / "rounds").exists()


async def test_more_repeats_or_one_more_model_ask_only_what_is_missing(bench: Bench) -> None:
    await bench.run()
    bench.calls()
    assert bench.prepare(SUITE, (A,), 3).plan.reasons == {"repeat added": 6}
    assert bench.prepare(SUITE, (A, B)).plan.reasons == {"new": 3}
    await bench.run(SUITE, (A, B), 3)
    assert bench.calls() == 15
    assert len(bench.rounds) == 1
    assert len(open_round("last", rounds_dir=bench.folder / "rounds").rows) == 18


async def test_fewer_repeats_or_other_models_are_a_round_of_their_own(bench: Bench) -> None:
    await bench.run(SUITE, (A,), 2)
    await bench.run(SUITE, (A,), 1)
    await bench.run(SUITE, (B,), 1)
    assert len(bench.rounds) == 3


async def test_a_new_round_can_be_asked_for_by_name(bench: Bench) -> None:
    await bench.run()
    await bench.run(round=NEW)
    assert len(bench.rounds) == 2
    assert bench.calls() == 6


async def test_a_setting_is_added_to_a_named_round_and_the_former_ones_stay(bench: Bench) -> None:
    await bench.run()
    bench.calls()
    prepared = bench.prepare(SUITE, (B,), round=bench.rounds[0])
    assert prepared.round.labels == (A.label, B.label)
    await prepared.start(bench.events.append).run()
    assert {r.model for r in bench.client.asked} == {"model-b"}
    assert bench.prepare(SUITE, (), round="last").plan.jobs == ()


async def test_errors_are_owed_on_the_next_start_and_good_replies_are_not(bench: Bench) -> None:
    bench.client.script = lambda r: Fault(kind="request", said="no") if r.prompt == "2+2?" else right(r)
    ended = await bench.run()
    assert ended.owed == 1
    bench.calls()
    bench.client.script = right
    assert bench.prepare().plan.reasons == {"last outcome unusable": 1}
    assert (await bench.run()).owed == 0
    assert bench.calls() == 1
    record = open_round("last", rounds_dir=bench.folder / "rounds").store.read(run_key("q2", A, 1))
    assert record is not None
    assert [attempt.number for attempt in record.attempts] == [1, 2]


async def test_totals_after_a_resume_equal_those_of_an_uninterrupted_round(bench: Bench, tmp_path: Path) -> None:
    suite, other = make_suite(8), Bench(tmp_path / "other")
    prepared = bench.prepare(suite, (A, B), 2, concurrency=2)
    runner = prepared.start(lambda event: runner.stop(0.0) if isinstance(event, RunKept) else None)
    await runner.run()
    await bench.run(suite, (A, B), 2)
    await other.run(suite, (A, B), 2)
    rows = [
        [(r.question, r.setting, r.run, r.outcome, r.score) for r in open_round("last", rounds_dir=folder).rows]
        for folder in (bench.folder / "rounds", other.folder / "rounds")
    ]
    assert rows[0] == rows[1]
    assert len(rows[0]) == 32


async def test_a_rerun_keeps_the_former_reply_as_an_earlier_attempt_and_shows_the_new_one(bench: Bench) -> None:
    await bench.run()
    bench.calls()
    bench.client.script = lambda request: reply("another answer")
    key = run_key("q1", A, 1)
    await bench.run(again=[key])
    assert bench.calls() == 1
    opened = open_round("last", rounds_dir=bench.folder / "rounds")
    record = opened.store.read(key)
    assert record is not None
    assert [a.reply.text if a.reply else None for a in record.attempts] == ["2", "another answer"]
    assert opened.rows[0].reply == "another answer"
    assert opened.rows[1].reply == "4"


async def test_each_repeat_is_a_call_of_its_own_though_the_replies_are_alike(bench: Bench) -> None:
    await bench.run(SUITE, (A,), 4)
    assert bench.calls() == 12


async def test_a_suite_edited_in_mid_round_is_asked_as_it_was_and_its_changed_prompts_are_owed_after(
    bench: Bench,
) -> None:
    await bench.run(make_suite(3))
    bench.calls()
    suite = make_suite(3)
    edited = suite.replaced(questions=(suite.questions[0].replaced(prompt="5+5?"), *suite.questions[1:]))
    prepared = bench.prepare(edited)
    assert prepared.plan.reasons == {"prompt changed": 1}
    await prepared.start(bench.events.append).run()
    assert [r.prompt for r in bench.client.asked] == ["5+5?"]
    assert open_round("last", rounds_dir=bench.folder / "rounds").asked.questions[0].prompt == "5+5?"


async def test_what_is_planned_is_written_before_the_first_call(bench: Bench) -> None:
    seen = []

    def script(request: Request) -> Reply:
        seen.append(open_round("last", rounds_dir=bench.folder / "rounds").plan)
        return right(request)

    bench.client.script = script
    await bench.run(SUITE, (A,), cap_usd=Decimal("0.5"), serial=True)
    plan = seen[0]
    assert plan.rule_digest == SUITE.rule_digest
    assert (plan.cap_usd, plan.serial) == (Decimal("0.5"), True)
    assert plan.settings[0].price is not None
    assert plan.settings[0].price.source == "models.toml"
    assert plan.settings[0].endpoint == "https://api.anthropic.com"
    assert {"resit", "python", "anthropic", "genai-prices"} <= set(plan.versions)
    assert plan.rule_set_at <= plan.created_at


async def test_the_rules_time_stays_that_of_the_first_start(bench: Bench) -> None:
    await bench.run()
    first = open_round("last", rounds_dir=bench.folder / "rounds").plan
    bench.clock.passed_s += 3600
    await bench.run(SUITE, (A,), 2)
    later = open_round("last", rounds_dir=bench.folder / "rounds").plan
    assert (later.rule_set_at, later.created_at) == (first.rule_set_at, first.created_at)


# --- damaged files


async def test_a_damaged_result_is_named_set_aside_and_asked_again(bench: Bench) -> None:
    await bench.run()
    bench.calls()
    store = open_round("last", rounds_dir=bench.folder / "rounds").store
    path = store.results / f"{run_key('q2', A, 1)}.json"
    path.write_bytes(path.read_bytes()[:50])
    opened = open_round("last", rounds_dir=bench.folder / "rounds")
    assert len(opened.damaged) == 1
    assert path.exists()
    prepared = bench.prepare()
    assert prepared.plan.reasons == {"damaged file": 1}
    assert any("q2" in note and "set aside" in note for note in prepared.notes)
    await prepared.start(bench.events.append).run()
    assert bench.calls() == 1
    assert len(list((store.path / "damaged").iterdir())) == 1
    assert bench.prepare().plan.jobs == ()


# --- money


async def test_a_round_at_its_cap_goes_on_under_a_higher_one(bench: Bench) -> None:
    suite = make_suite(10)
    ended = await bench.run(suite, cap_usd=Decimal("0.0015"))
    first = bench.calls()
    assert (ended.reason, ended.owed) == ("cap", 10 - first)
    assert 0 < first < 10
    again = await bench.run(suite, cap_usd=Decimal("0.0015"))
    assert (again.reason, bench.calls()) == ("cap", 0)
    kept_cap = await bench.run(suite)
    assert (kept_cap.reason, bench.calls()) == ("cap", 0)
    ended = await bench.run(suite, cap_usd=Decimal("1"))
    assert (ended.reason, bench.calls()) == ("done", 10 - first)


async def test_a_model_without_a_price_does_not_start_under_a_cap_and_others_do(bench: Bench) -> None:
    unpriced = Setting(model="nobody-knows-it")
    with pytest.raises(Unpriced):
        bench.prepare(SUITE, (unpriced,), cap_usd=Decimal(1)).start(bench.events.append)
    assert bench.rounds == []
    prepared = bench.prepare(SUITE, (A, unpriced), cap_usd=Decimal(1))
    assert [problem.setting for problem in prepared.problems] == [unpriced]
    ended = await prepared.start(bench.events.append).run()
    assert {r.model for r in bench.client.asked} == {"model-a"}
    assert [event.setting for event in of_kind(bench.events, SettingStopped)] == [unpriced]
    assert (ended.reason, ended.owed) == ("settings", 3)


async def test_the_estimate_has_no_history_at_first_and_then_that_of_the_suite(bench: Bench) -> None:
    first = bench.prepare().estimate
    assert (first.calls, first.history) == (3, False)
    assert first.low_usd <= first.high_usd <= first.worst_usd
    await bench.run()
    later = bench.prepare(round=NEW).estimate
    assert later.history
    assert later.low_usd == later.high_usd == Decimal("0.0006")
    assert later.low_seconds == pytest.approx(1.5)


# --- what cannot start


def test_a_missing_key_is_said_before_any_call_and_nothing_is_written(bench: Bench) -> None:
    prepared = bench.prepare(clients=None)
    assert not prepared.startable
    assert "ANTHROPIC_API_KEY" in prepared.problems[0].said
    with pytest.raises(KeyMissing):
        prepared.start(bench.events.append)
    assert bench.rounds == []


@pytest.mark.parametrize(
    ("settings", "more", "said"),
    [
        ((), {}, "no model"),
        ((A,), {"only": ("q9",)}, "q9"),
        ((Setting(model="m", variant="nope"),), {}, "nope"),
        ((A,), {"repeats": 0}, "0 runs"),
    ],
)
def test_a_wish_for_what_is_not_there_is_refused_with_its_mend(
    bench: Bench, settings: tuple[Setting, ...], more: dict[str, Any], said: str
) -> None:
    with pytest.raises(UsageError, match=said) as caught:
        bench.prepare(SUITE, settings, **more)
    assert caught.value.hint


def test_a_base_url_is_never_silent(bench: Bench) -> None:
    prepared = bench.prepare(base_url="http://127.0.0.1:9/v1")
    assert prepared.endpoints == ("http://127.0.0.1:9 (from --base-url)",)
    assert prepared.round.settings[0].endpoint == "http://127.0.0.1:9"


async def test_another_server_makes_the_replies_of_the_first_unusable(bench: Bench) -> None:
    await bench.run()
    assert bench.prepare(base_url="http://127.0.0.1:9").plan.reasons == {"setting changed": 3}


async def test_two_runners_on_one_round_the_second_is_told_and_can_look(bench: Bench) -> None:
    first = bench.prepare().start(bench.events.append)
    assert bench.prepare().round.id == first.store.id
    with pytest.raises(RoundBusy, match="process"):
        bench.prepare().start(bench.events.append)
    assert open_round("last", rounds_dir=bench.folder / "rounds").rows == ()
    await first.run()
    assert bench.calls() == 3
    assert bench.prepare().plan.jobs == ()


async def test_what_another_process_finished_between_preparing_and_starting_is_not_asked_again(bench: Bench) -> None:
    await bench.run(make_suite(2))
    slow = bench.prepare(make_suite(2), (A,), 2)
    await bench.run(make_suite(2), (A,), 2)
    bench.calls()
    await slow.start(bench.events.append).run()
    assert bench.calls() == 0


def test_a_round_of_another_suite_is_not_gone_on_with(bench: Bench) -> None:
    prepared = bench.prepare(make_suite(1, name="other"))
    runner = prepared.start(bench.events.append)
    runner.store.unlock()
    with pytest.raises(UsageError, match="other"):
        bench.prepare(SUITE, (A,), round=runner.store.id)
    with pytest.raises(RoundError):
        bench.prepare(SUITE, (A,), round="nothing-like-it")


# --- verdicts


async def test_a_verdict_settles_a_refusal_and_setup_leaves_it_owed(bench: Bench) -> None:
    bench.client.script = lambda request: reply("no", stop="refused")
    await bench.run(make_suite(2))
    store = open_round("last", rounds_dir=bench.folder / "rounds").store
    set_review(store, run_key("q1", A, 1), bench.clock.now(), "model")
    set_review(store, run_key("q2", A, 1), bench.clock.now(), "setup")
    assert [job.question.id for job in bench.prepare(make_suite(2)).plan.jobs] == ["q2"]


# --- looking


async def test_rounds_are_listed_newest_first_with_what_they_hold(bench: Bench) -> None:
    await bench.run(SUITE, (A,))
    bench.clock.passed_s += timedelta(days=1).total_seconds()
    await bench.run(make_suite(2, name="other"), (B,))
    listed = list_rounds(rounds_dir=bench.folder / "rounds")
    assert [summary.suite for summary in listed] == ["other", "sums"]
    assert [(s.setting, s.points, s.graded) for s in listed[1].scores] == [(A.label, 3.0, 3)]
    assert (listed[1].cost_usd, listed[1].cost_at_least) == (Decimal("0.0006"), False)
    assert [s.suite for s in list_rounds("sums", rounds_dir=bench.folder / "rounds")] == ["sums"]


async def test_a_round_that_cannot_be_read_is_listed_and_says_why(bench: Bench) -> None:
    await bench.run()
    (bench.folder / "rounds" / "sums" / bench.rounds[0] / "round.toml").write_text("[")
    summary = list_rounds(rounds_dir=bench.folder / "rounds")[0]
    assert "cannot be read" in summary.problem
    assert summary.plan is None


async def test_a_round_that_cannot_be_read_is_never_asked_anew_in_silence(bench: Bench) -> None:
    await bench.run()
    (bench.folder / "rounds" / "sums" / bench.rounds[0] / "round.toml").write_text("[")
    with pytest.raises(RoundError, match="start anew with --round new"):
        await bench.run()
    await bench.run(round="new")
    await bench.run()
    assert len(bench.rounds) == 2


async def test_a_round_is_opened_and_regraded_with_no_key_and_no_connection(bench: Bench, no_network: None) -> None:
    await bench.run()
    opened = open_round("last", rounds_dir=bench.folder / "rounds")
    assert [row.outcome for row in opened.rows] == ["pass"] * 3
    assert len(GradedRound(opened.store).grade(opened.suite, afresh=True).rows) == 3


async def test_a_round_can_be_opened_though_its_suite_is_gone(bench: Bench) -> None:
    await bench.run(SUITE.replaced(path=Path("/nowhere/at/all.toml")))
    opened = open_round("last", rounds_dir=bench.folder / "rounds")
    assert len(opened.rows) == 3
    assert "graded by the rules it was asked with" in opened.note


@pytest.fixture
def no_network(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    def refuse(*_: object) -> None:
        raise AssertionError("a connection was opened")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    return iter(())


# --- over a real connection


async def test_every_question_ends_with_a_reply_though_one_call_in_four_fails(bench: Bench) -> None:
    shares = {"p429": 0.10, "p529": 0.05, "p500": 0.05, "reset": 0.03, "cut": 0.02}
    suite = make_suite(60)
    async with MockServer(answers={q.prompt: q.accept[0] for q in suite.questions}, shares=shares) as server:
        ended = await bench.run(suite, (A,), 2, clients=None, base_url=server.url, environ={"ANTHROPIC_API_KEY": "k"})
        assert sum(server.stats.faults.values()) > 10
    assert (ended.reason, ended.owed) == ("done", 0)
    rows = open_round("last", rounds_dir=bench.folder / "rounds").rows
    assert {row.outcome for row in rows} == {"pass"}
    assert len(rows) == 120


async def test_a_wrong_key_on_one_of_two_settings_stops_that_one_alone(bench: Bench) -> None:
    async with MockServer(keys={"right"}, answers={q.prompt: q.accept[0] for q in SUITE.questions}) as server:
        entries = {"model-a": "KEY_A", "model-b": "KEY_B"}
        models = {name: ModelEntry(base_url=server.url, key=key) for name, key in entries.items()}
        ended = await bench.run(
            SUITE,
            (A, B),
            clients=None,
            models_file=ModelsFile(models=models),
            environ={"KEY_A": "wrong-key-material", "KEY_B": "right"},
        )
    assert (ended.reason, ended.owed) == ("settings", 3)
    assert len(of_kind(bench.events, SettingStopped)) == 1
    everything = b"".join(path.read_bytes() for path in bench.folder.rglob("*") if path.is_file())
    assert b"wrong-key-material" not in everything


async def test_what_a_dropped_call_may_have_cost_counts_against_the_cap_on_the_next_start_too(bench: Bench) -> None:
    bench.client.script = lambda request: Fault(kind="dropped", said="connection lost")
    policy = RetryPolicy(max_attempts=1)
    ended = await bench.run(cap_usd=Decimal("0.0009"), policy=policy)
    assert (ended.reason, bench.calls()) == ("cap", 1)
    bench.client.script = right
    ended = await bench.run(cap_usd=Decimal("0.0009"))
    assert (ended.reason, bench.calls()) == ("cap", 0)


async def test_a_file_of_the_same_name_in_another_folder_is_another_suite(bench: Bench) -> None:
    here, there = bench.folder / "here" / "sums.toml", bench.folder / "there" / "sums.toml"
    for path in (here, there):
        path.parent.mkdir()
        path.write_text("")
    await bench.run(SUITE.replaced(path=here))
    await bench.run(SUITE.replaced(path=there))
    assert (len(bench.rounds), bench.calls()) == (2, 6)
    await bench.run(SUITE.replaced(path=there.parent / ".." / "here" / "sums.toml"))
    assert (len(bench.rounds), bench.calls()) == (2, 0)


async def test_a_suite_that_was_moved_goes_on_with_its_round_from_its_new_place(bench: Bench) -> None:
    old, new = bench.folder / "old" / "sums.toml", bench.folder / "new" / "sums.toml"
    for path in (old, new):
        path.parent.mkdir()
    old.write_text("")
    await bench.run(SUITE.replaced(path=old))
    old.rename(new)
    prepared = bench.prepare(SUITE.replaced(path=new))
    assert (len(prepared.plan.jobs), prepared.round.suite_path) == (0, str(new))


async def test_a_cap_stays_until_another_one_or_none_is_wished(bench: Bench) -> None:
    await bench.run(SUITE, (A,), cap_usd=Decimal("0.5"))
    assert bench.prepare(SUITE, (A,)).plan.round.cap_usd == Decimal("0.5")
    assert bench.prepare(SUITE, (A,), cap_usd=Decimal("0.7")).plan.round.cap_usd == Decimal("0.7")
    assert bench.prepare(SUITE, (A,), no_cap=True).plan.round.cap_usd is None
