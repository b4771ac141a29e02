from __future__ import annotations

import asyncio
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any, Literal

import pytest
from batch_kit import COST, QUESTIONS, SUITE, Desk, serving
from round_kit import PRICES, A, make_suite

from mock_answers import Answer, Failure
from mock_batches import Turn
from mock_server import Call, MockServer
from resit.core.errors import UsageError
from resit.core.records import Setting, run_key
from resit.core.rounds import batch_outbox
from resit.core.rounds.batch_book import open_batches
from resit.core.rounds.events import BatchesChanged, Event, RunKept
from resit.core.rounds.live import read_live
from resit.core.rounds.session import open_round

PLANNED = 2 * QUESTIONS


@pytest.fixture
def server() -> Iterator[MockServer]:
    with serving() as server:
        yield server


@pytest.fixture
def desk(tmp_path: Path, server: MockServer) -> Desk:
    return Desk(tmp_path, server)


async def test_a_whole_round_comes_back_from_a_batch_graded_at_half_the_price_and_without_seconds(desk: Desk) -> None:
    desk.server.batches.stay_s = 0.05
    ended = await desk.run()
    assert (ended.reason, ended.owed) == ("done", 0)
    assert desk.server.stats.requests == 0
    assert (len(desk.server.batches.made), desk.server.batches.requests) == (1, PLANNED)
    assert set(desk.outcomes.values()) == {"pass"}
    assert desk.said == ["submitting", "submitted", "coming in", "done"]
    rows = open_round("last", rounds_dir=desk.folder / "rounds").rows
    assert {(row.seconds, row.cost_usd, row.attempts) for row in rows} == {(None, COST, 1)}
    record = desk.store.read(run_key("q1", A, 1))
    assert record is not None
    assert record.attempts[0].reply is not None
    assert record.attempts[0].reply.service_tier == "batch"
    assert len(desk.ledger) == PLANNED
    assert {entry.cost_usd for entry in desk.ledger} == {COST}


async def test_the_second_start_of_a_finished_round_makes_no_batch(desk: Desk) -> None:
    await desk.run()
    ended = await desk.run()
    assert (ended.reason, ended.said) == ("done", "nothing was owed")
    assert len(desk.server.batches.made) == 1


async def test_replies_from_a_batch_serve_a_round_of_single_calls_and_the_other_way_round(desk: Desk) -> None:
    await desk.run()
    await desk.prepare(batch=False, repeats=2).start(desk.emit).run()
    assert desk.server.stats.requests == PLANNED
    assert (await desk.run(batch=True, repeats=3)).owed == 0
    assert desk.server.batches.requests == 2 * PLANNED
    plan = desk.store.plan()
    assert [p.price.batch for p in plan.settings if p.price] == [True, True]


async def test_a_round_is_submitted_in_chunks_each_for_its_own_server(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batch_outbox, "MAX_REQUESTS", 7)
    assert (await desk.run()).owed == 0
    assert [len(batch.requests) for batch in desk.server.batches.made.values()] == [7, 7, 6]


async def test_a_chunk_ends_where_its_bytes_would_be_too_many(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batch_outbox, "MAX_BYTES", 5 * batch_outbox._FRAME_BYTES)
    assert (await desk.run()).owed == 0
    assert max(len(batch.requests) for batch in desk.server.batches.made.values()) == 5


async def test_what_a_server_finds_too_large_is_submitted_in_smaller_chunks(desk: Desk) -> None:
    desk.server.batches.creates.append(Failure(413, "request_too_large", "too large"))
    runner = desk.runner()
    runner._outbox._most = PLANNED
    assert (await runner.run()).owed == 0
    assert [len(batch.requests) for batch in desk.server.batches.made.values()] == [PLANNED // 2] * 2


# --- what fails in a batch


def fail(desk: Desk, turn: Turn, times: int = 1) -> None:
    """The first requests of `1+1?` of model-a meet `turn`."""
    left = times

    def turns(call: Call) -> Turn | None:
        nonlocal left
        if (call.model, call.prompt) != ("model-a", "1+1?") or not left:
            return None
        left -= 1
        return turn

    desk.server.batch_turns = turns


@pytest.mark.parametrize(
    "turn",
    ["expired", Failure(529, "overloaded_error", "Overloaded"), Failure(500, "api_error", "failed"), "unsaid", "noise"],
)
async def test_what_expired_or_failed_goes_into_the_next_batch_and_nothing_else(desk: Desk, turn: Turn) -> None:
    fail(desk, turn)
    assert (await desk.run()).owed == 0
    assert [len(batch.requests) for batch in desk.server.batches.made.values()] == [PLANNED, 1]
    record = desk.store.read(run_key("q1", A, 1))
    assert record is not None
    assert [attempt.reply is not None for attempt in record.attempts] == [False, True]
    assert len({attempt.batch for attempt in record.attempts}) == 2
    # What the server never worked on costs nothing; what it said nothing of is not known.
    assert record.attempts[0].cost_usd == (None if turn in ("unsaid", "noise") else Decimal(0))


async def test_a_run_is_in_three_batches_at_most_and_stays_owed(desk: Desk) -> None:
    fail(desk, "expired", times=9)
    ended = await desk.run()
    assert (ended.reason, ended.owed) == ("done", 1)
    assert [len(batch.requests) for batch in desk.server.batches.made.values()] == [PLANNED, 1, 1]
    assert desk.outcomes["q1", A.label] == "timeout"


async def test_a_request_that_can_never_work_is_tried_once_and_named(desk: Desk) -> None:
    fail(desk, Failure(400, "invalid_request_error", "no such thing"), times=9)
    ended = await desk.run()
    assert (ended.owed, len(desk.server.batches.made)) == (1, 1)
    record = desk.store.read(run_key("q1", A, 1))
    assert record is not None
    assert record.attempts[0].fault is not None
    assert "no such thing" in record.attempts[0].fault.said


@pytest.mark.parametrize(("turn", "outcome"), [("empty", "empty"), ("cut_off", "cut_off")])
async def test_a_reply_without_a_fair_answer_is_told_apart_as_ever(
    desk: Desk, turn: Literal["empty", "cut_off"], outcome: str
) -> None:
    fail(desk, turn)
    assert (await desk.run()).owed == 1
    assert desk.outcomes["q1", A.label] == outcome


async def test_a_reply_that_was_not_served_as_a_batch_costs_the_full_price(desk: Desk) -> None:
    fail(desk, Answer("2", usage={"service_tier": "standard"}))
    await desk.run()
    costs = {(e.row.question, e.row.setting): e.row.cost_usd for e in desk.events if isinstance(e, RunKept)}
    assert costs["q1", A.label] == 2 * COST
    assert costs["q2", A.label] == COST


async def test_hostile_results_are_placed_nowhere_and_break_nothing(desk: Desk) -> None:
    desk.server.batches.stay_s = 60.0

    def spoil(event: Event) -> None:
        if not (isinstance(event, BatchesChanged) and event.batches[0].state == "submitted"):
            return
        made = desk.server.batches.made["msgbatch_0001"]
        if not made.ended:
            desk.server.batches.end_all()
            desk.server.batches._work(made)
            first = made.lines[0]
            mark = made.requests[0]["custom_id"].rpartition("-")[0].encode()
            made.lines[:0] = [
                b"\xff\xfe", b"[]", b"{}", b'{"custom_id": 5}', b"[" * 100_000, first,
                b'{"custom_id": "' + mark + b'-999999", "result": {}}',
                b'{"custom_id": "' + mark + b'-\xd9\xa1", "result": {}}',
                b'{"custom_id": "../../etc/passwd-0", "result": {"type": "succeeded"}}',
            ]  # fmt: skip

    desk.on_event = spoil
    assert (await desk.run()).owed == 0
    assert len(desk.ledger) == PLANNED


# --- what fails around a batch


async def test_results_that_break_off_are_fetched_again(desk: Desk) -> None:
    desk.server.batches.cut_results = 2
    assert (await desk.run()).owed == 0
    assert len(desk.ledger) == PLANNED


async def test_looks_at_a_batch_that_fail_are_repeated(desk: Desk) -> None:
    desk.server.batches.polls += [Failure(500), "reset", Failure(529, "overloaded_error")]
    assert (await desk.run()).owed == 0
    assert len(desk.server.batches.made) == 1


async def test_a_batch_that_was_refused_for_a_moment_is_submitted_again(desk: Desk) -> None:
    desk.server.batches.creates.append(Failure(429, "rate_limit_error", "slow down"))
    assert (await desk.run()).owed == 0
    assert len(desk.server.batches.made) == 1


async def test_a_batch_that_was_made_though_the_answer_was_lost_is_found_and_not_made_twice(desk: Desk) -> None:
    desk.server.batches.creates.append("lost")
    assert (await desk.run()).owed == 0
    assert "looked for" in desk.said
    assert len(desk.server.batches.made) == 1
    assert desk.server.stats.repeats == 0


async def test_a_batch_that_was_never_made_is_looked_for_and_then_submitted(desk: Desk) -> None:
    desk.server.batches.creates.append("reset")
    assert (await desk.run()).owed == 0
    assert desk.said[:3] == ["submitting", "looked for", "lost"]
    assert len(desk.server.batches.made) == 1


async def test_a_batch_of_somebody_else_is_not_taken_for_a_lost_one(desk: Desk, tmp_path: Path) -> None:
    other = Desk(tmp_path / "other", desk.server)
    await other.run()
    desk.server.batches.creates.append("reset")
    assert (await desk.run()).owed == 0
    assert len(desk.server.batches.made) == 2
    assert len(desk.ledger) == PLANNED


async def test_a_batch_that_may_be_the_lost_one_is_waited_for_before_anything_is_asked_again(desk: Desk) -> None:
    desk.server.batches.stay_s = 0.3
    desk.server.batches.creates.append("lost")
    assert (await desk.run()).owed == 0
    assert len(desk.server.batches.made) == 1


async def test_a_wrong_key_stops_before_anything_is_made_and_is_shown_nowhere(desk: Desk) -> None:
    desk.server.keys = {"another"}
    ended = await desk.run()
    assert (ended.reason, ended.owed, desk.server.batches.made) == ("settings", PLANNED, {})
    assert open_batches(desk.store) == ()
    kept = "".join(path.read_text(errors="replace") for path in desk.folder.rglob("*") if path.is_file())
    assert "planted" not in kept + ended.said


async def test_a_key_that_ends_while_a_batch_is_out_leaves_it_to_be_collected(desk: Desk) -> None:
    desk.server.batches.stay_s = 60.0
    desk.on_event = lambda event: (
        setattr(desk.server, "keys", {"another"})
        if isinstance(event, BatchesChanged) and event.batches[0].state == "submitted"
        else None
    )
    ended = await desk.run()
    assert ended.reason == "settings"
    assert "cannot be reached" in ended.said
    desk.server.keys, desk.on_event = None, lambda event: None
    desk.server.batches.end_all()
    assert (await desk.run()).owed == 0
    assert len(desk.server.batches.made) == 1


async def test_a_server_without_batches_is_named_and_nothing_waits_for_it(desk: Desk) -> None:
    desk.server.batches.creates.append(Failure(404, "not_found_error", "nothing here"))
    ended = await desk.run()
    assert ended.reason == "settings"
    assert "knows no such batch, or takes none" in ended.said


async def test_results_that_the_server_keeps_no_longer_are_asked_again_and_their_worst_case_stays_taken(
    desk: Desk,
) -> None:
    desk.server.batches.stay_s = 60.0
    await stop_when_submitted(desk)
    desk.server.batches.made["msgbatch_0001"].archived = True
    runner = desk.runner(cap_usd=Decimal(1))
    desk.server.batches.stay_s = 0.0
    ended = await runner.run()
    assert (ended.owed, len(desk.server.batches.made)) == (0, 2)
    assert runner.budget.doubtful_usd > 0


# --- ending early, and going on


async def stop_when_submitted(desk: Desk, **more: Any) -> None:
    """Start the round, and stop it once its batch is submitted."""
    runner = desk.runner(**more)
    desk.on_event = lambda event: (
        runner.stop(0.0) if isinstance(event, BatchesChanged) and event.batches[-1].state == "submitted" else None
    )
    ended = await runner.run()
    desk.on_event = lambda event: None
    assert ended.reason == "stopped"
    assert "go on at the server, and the same command collects them" in ended.said


async def test_a_stop_leaves_the_batch_at_the_server_and_the_same_command_collects_it(desk: Desk) -> None:
    desk.server.batches.stay_s = 60.0
    await stop_when_submitted(desk)
    assert [note.state for note in open_batches(desk.store)] == ["submitted"]
    desk.server.batches.end_all()
    prepared = desk.prepare()
    assert any(f"{PLANNED} requests out in a batch" in note for note in prepared.notes)
    assert (await desk.run()).owed == 0
    assert len(desk.server.batches.made) == 1
    assert len(desk.ledger) == PLANNED
    assert open_batches(desk.store) == ()


async def test_while_a_batch_is_out_the_round_does_not_go_on_without_it(desk: Desk) -> None:
    desk.server.batches.stay_s = 60.0
    await stop_when_submitted(desk)
    with pytest.raises(UsageError, match="20 requests out in a batch"):
        desk.prepare(batch=False)


async def test_canceling_keeps_what_was_done_and_owes_the_rest(desk: Desk) -> None:
    desk.server.batches.stay_s = 60.0
    await stop_when_submitted(desk)

    runner = desk.runner()
    runner.cancel()
    ended = await runner.run()
    assert (ended.reason, ended.owed) == ("stopped", PLANNED)
    assert "canceled" in ended.said
    assert desk.server.batches.made["msgbatch_0001"].canceled
    assert open_batches(desk.store) == ()
    assert desk.server.stats.answered == 0
    desk.server.batches.stay_s = 0.0
    assert (await desk.run()).owed == 0


async def test_a_batch_canceled_elsewhere_is_not_submitted_again_by_itself(desk: Desk) -> None:
    desk.server.batches.stay_s = 60.0
    await stop_when_submitted(desk)
    desk.server.batches.made["msgbatch_0001"].canceled = True
    desk.server.batches.end_all()
    ended = await desk.run()
    assert (ended.reason, ended.owed, len(desk.server.batches.made)) == ("done", PLANNED, 1)


async def test_a_reply_to_a_former_wording_is_kept_and_the_new_one_asked_beside_it(desk: Desk) -> None:
    desk.server.batches.stay_s = 60.0
    await stop_when_submitted(desk)
    desk.server.batches.end_all()
    desk.server.batches.stay_s = 0.0
    first = SUITE.questions[0].model_copy(update={"prompt": "What is 1+1?"})
    changed = make_suite(questions=(first, *SUITE.questions[2:]))
    desk.server.answers = {q.prompt: q.accept[0] for q in (*SUITE.questions, first)}
    assert (await desk.run(changed)).owed == 0
    assert [len(batch.requests) for batch in desk.server.batches.made.values()] == [PLANNED, 2]
    record = desk.store.read(run_key("q1", A, 1))
    assert record is not None
    assert [a.reply.text for a in record.attempts if a.reply] == ["2", "2"]
    assert record.prompt == "What is 1+1?"
    gone = desk.store.read(run_key("q2", A, 1))
    assert gone is not None
    assert (gone.prompt, len(gone.attempts)) == ("2+2?", 1)
    assert len(desk.ledger) == PLANNED + 2


async def test_a_paused_round_submits_nothing_and_can_be_stopped(desk: Desk) -> None:
    runner = desk.runner()
    runner.pause()
    task = asyncio.create_task(runner.run())
    for _ in range(20):
        await asyncio.sleep(0)
    assert desk.server.batches.made == {}
    runner.resume()
    assert (await task).owed == 0


async def test_other_processes_see_what_is_out(desk: Desk) -> None:
    desk.server.batches.stay_s = 0.7
    seen: list[int] = []

    def look(event: Event) -> None:
        live = read_live(desk.store)
        if live is not None and isinstance(event, BatchesChanged):
            seen.append(sum(batch.requests for batch in live.batches))

    desk.on_event = look
    await desk.run()
    assert PLANNED in seen


# --- money


async def test_what_is_out_is_held_under_the_cap_at_its_worst_and_the_rest_follows_as_results_settle(
    desk: Desk,
) -> None:
    # At worst a request costs (prompt 4 + framing 100) * 0.5 + 50 * 5 = 302 millionths of a dollar.
    most = [Decimal(0)]
    desk.on_event = lambda event: most.append(runner.budget.spent_usd + runner.budget.in_flight_usd)
    runner = desk.runner(cap_usd=Decimal("0.002"))
    ended = await runner.run()
    assert (ended.reason, ended.owed) == ("done", 0)
    assert max(most) <= Decimal("0.002")
    assert next(len(batch.requests) for batch in desk.server.batches.made.values()) == 6


async def test_a_cap_that_allows_no_further_batch_ends_the_round(desk: Desk) -> None:
    ended = await desk.run(cap_usd=Decimal("0.00032"))
    assert ended.reason == "cap"
    assert desk.server.stats.answered * COST <= Decimal("0.00032")
    assert ended.owed == PLANNED - desk.server.stats.answered


async def test_a_batch_of_an_earlier_start_counts_against_the_cap(desk: Desk) -> None:
    desk.server.batches.stay_s = 60.0
    await stop_when_submitted(desk, cap_usd=Decimal("0.002"))
    runner = desk.runner(cap_usd=Decimal("0.002"))
    held: list[Decimal] = []
    desk.on_event = lambda event: held.append(runner.budget.in_flight_usd)
    desk.server.batches.end_all()
    desk.server.batches.stay_s = 0.0
    assert (await runner.run()).owed == 0
    assert max(held) >= 6 * Decimal("0.000302")


async def test_an_estimate_and_the_plan_say_the_batch_price(desk: Desk) -> None:
    batch, single = desk.prepare(), desk.prepare(batch=False)
    assert batch.estimate.worst_usd * 2 == single.estimate.worst_usd
    assert {p.price.label for p in batch.round.settings if p.price} == {"models.toml, batch half price (no date)"}


async def test_only_anthropics_models_are_asked_in_batches(desk: Desk) -> None:
    other = Setting(model="model-a", provider="openai")
    problems = desk.prepare(settings=(A, other), models_file=PRICES).problems
    assert [problem.setting for problem in problems] == [other]


async def test_a_full_disk_ends_the_round_and_loses_nothing(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    runner = desk.runner()
    write = runner.store._write
    left = 5

    def full(path: Path, data: bytes) -> None:
        nonlocal left
        if path.parent.name == "results":
            if left == 0:
                raise OSError(28, "No space left on device")
            left -= 1
        write(path, data)

    runner.store._write = full
    ended = await runner.run()
    assert ended.reason == "disk"
    assert [note.state for note in open_batches(desk.store)] == ["collecting"]
    assert (await desk.run()).owed == 0
    assert len(desk.server.batches.made) == 1
    assert desk.server.stats.repeats == 0


async def test_a_book_that_cannot_be_read_stops_everything_before_it_costs(desk: Desk) -> None:
    await desk.run()
    (desk.store.path / "batches.toml").write_text("batches = 3")
    with pytest.raises(Exception, match="nobody knows which batches are out"):
        desk.prepare(repeats=2)
    assert len(desk.server.batches.made) == 1


async def test_the_ids_of_requests_are_safe_for_any_question(desk: Desk) -> None:
    odd = make_suite(questions=(SUITE.questions[0].model_copy(update={"id": "Frage №1 / ü" * 9}),))
    assert (await desk.run(odd)).owed == 0
    assert desk.server.batches.requests == 2
