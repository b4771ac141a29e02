from __future__ import annotations

import random
import time
from datetime import UTC, datetime
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from row_kit import HIGH, LOW, row

from resit.core.records import Attempt, Fault, FaultKind, Reply, Row, RunRecord, Setting, Usage
from resit.core.scoring.grid import Grid, Rate, build_grid, make_row, rate, update_grid
from resit.core.suite import Question

QUESTIONS = tuple(Question(id=name, prompt="?", accept=("1",)) for name in ("b", "a", "c"))


def grid(*rows: Row, repeats: int | None = None) -> Grid:
    return build_grid(rows, QUESTIONS, [LOW, HIGH], repeats=repeats)


def test_the_cell_looks_at_the_lowest_and_says_over_how_many() -> None:
    cell = grid(row("a", 1.0, 1), row("a", 0.5, 2), row("a", 0.0, 3)).cells["a", LOW.label]
    assert (cell.lowest, cell.mean, cell.spread, cell.count) == (0.0, 0.5, 1.0, 3)


def test_an_unsettled_run_is_counted_apart_and_never_as_wrong() -> None:
    found = grid(row("a", 1.0, 1), row("a", None, 2))
    cell, summary = found.cells["a", LOW.label], found.summaries[LOW.label]
    assert (cell.lowest, cell.count, cell.unsettled) == (1.0, 1, 1)
    assert (summary.lowest_full, summary.of, summary.unsettled, summary.graded) == (1, 3, 1, 1)


def test_a_cell_of_unsettled_runs_has_no_score() -> None:
    cell = grid(row("a", None)).cells["a", LOW.label]
    assert (cell.lowest, cell.mean, cell.spread) == (None, None, None)


def test_a_verdict_settles_a_run_without_a_fair_answer() -> None:
    by_model = grid(row("a", None, verdict="model")).cells["a", LOW.label]
    by_setup = grid(row("a", None, verdict="setup")).cells["a", LOW.label]
    assert (by_model.lowest, by_model.unsettled) == (0.0, 0)
    assert (by_setup.lowest, by_setup.unsettled) == (None, 0)


def test_a_verdict_on_a_fair_answer_changes_no_score() -> None:
    assert grid(row("a", 0.0, verdict="grader")).cells["a", LOW.label].lowest == 0.0


def test_order_is_the_suites_whatever_order_jobs_finished_in() -> None:
    rows = [row(q.id, 1.0, run, setting) for q in QUESTIONS for setting in (LOW, HIGH) for run in (1, 2)]
    shuffled = random.Random(3).sample(rows, len(rows))
    found = grid(*shuffled)
    assert found == grid(*rows)
    assert [row for cell in found.cells.values() for row in cell.runs] == rows
    assert list(found.summaries) == [LOW.label, HIGH.label]


def test_lowest_score_is_weighted_by_question() -> None:
    heavy = Question(id="a", accept=("1",), weight=3)
    light = Question(id="b", accept=("1",), weight=1)
    free = Question(id="c", accept=("1",), weight=0)
    found = build_grid([row("a", 0.5), row("b", 1.0), row("c", 0.0)], [heavy, light, free], [LOW])
    assert found.summaries[LOW.label].lowest_score == pytest.approx(2.5 / 4)


def test_planned_counts_what_was_never_asked() -> None:
    found = grid(row("a"), repeats=2).summaries
    assert (found[LOW.label].graded, found[LOW.label].planned) == (1, 6)
    assert (found[HIGH.label].graded, found[HIGH.label].planned) == (0, 6)
    assert found[HIGH.label].lowest_score is None


def test_strict_and_second_rule_stand_side_by_side() -> None:
    rows = [row("a", 0.0, second_score=1.0, reason="format"), row("b", 1.0, second_score=1.0), row("c", 1.0)]
    found = grid(*rows).summaries[LOW.label]
    assert (found.lowest_full, found.second_lowest_full, found.of) == (2, 3, 3)
    assert found.misses_by_reason == {"format": 1}
    assert grid(row("a")).summaries[LOW.label].second_mean is None


def test_replies_cut_off_are_said_beside_the_score_with_their_limit() -> None:
    rows = [row("a", None), row("b", 1.0), row("b", 1.0, 2)]
    summary = build_grid(rows, QUESTIONS, [LOW], max_tokens=200).summaries[LOW.label]
    assert summary.cut_off == 1
    assert summary.cut_off_said == "1 of 3 cut off at 200 tokens"
    assert grid(row("a")).summaries[LOW.label].cut_off_said == ""


def test_a_cost_that_is_not_known_makes_the_total_at_least() -> None:
    found = grid(row("a"), row("b", cost_usd=None), row("c", setting=HIGH, cost_usd=None)).summaries
    assert (found[LOW.label].cost_usd, found[LOW.label].cost_at_least) == (Decimal("0.01"), True)
    assert (found[HIGH.label].cost_usd, found[HIGH.label].cost_at_least) == (None, True)


def test_tokens_and_seconds_are_summed_and_what_nobody_said_stays_unknown() -> None:
    found = grid(row("a", seconds=1.0), row("b", seconds=2.0), row("c", seconds=6.0)).summaries[LOW.label]
    assert (found.input_tokens, found.cache_write_tokens, found.cache_read_tokens) == (30, None, 0)
    assert (found.seconds_total, found.seconds_median) == (9.0, 2.0)


def test_rows_of_other_questions_and_settings_are_left_out() -> None:
    stranger = Setting(model="other")
    assert grid(row("gone"), row("a", setting=stranger)) == grid()


def test_a_rate_carries_its_denominator() -> None:
    found = rate([(1.0, 1.0), (0.5, 2.0), (None, 5.0)])
    assert (found, str(found)) == (Rate(2.0, 3.0), "2/3")
    assert rate([(None, 1.0)]).share is None


@given(
    st.lists(
        st.tuples(st.sampled_from("abc"), st.integers(1, 3), st.booleans(), st.sampled_from([None, 0.0, 0.5, 1.0])),
        unique_by=lambda each: each[:3],
    ),
    st.lists(st.tuples(st.integers(1, 3), st.booleans(), st.sampled_from([None, 0.0, 1.0])), unique_by=lambda e: e[:2]),
)
@settings(max_examples=150, deadline=None)
def test_a_grid_that_is_kept_up_is_the_grid_built_anew(
    before: list[tuple[str, int, bool, float | None]], after: list[tuple[int, bool, float | None]]
) -> None:
    old = [row(q, score, run, HIGH if high else LOW) for q, run, high, score in before]
    new = [row("a", score, run, HIGH if high else LOW) for run, high, score in after]
    others = [each for each in old if each.question != "a"]
    found = update_grid(grid(*old, repeats=3), "a", new)
    assert found == grid(*others, *new, repeats=3)
    assert list(found.cells) == list(grid(*others, *new, repeats=3).cells)


def test_a_grid_nothing_changed_in_is_the_same_grid() -> None:
    found = grid(row("a"), row("b"))
    assert update_grid(found, "a", [row("a")]) is found


def test_a_grid_of_ninety_thousand_runs_costs_little_more_than_a_pass_over_them_and_an_update_far_less() -> None:
    questions = [Question(id=f"q{n}", accept=("1",)) for n in range(1000)]
    settings = [Setting(model=f"m{n}") for n in range(30)]
    rows = [row(q.id, float(run > 1), run, s) for q in questions for s in settings for run in (1, 2, 3)]
    changed = [row("q7", 1.0, run, s) for s in settings for run in (1, 2, 3)]
    started = time.process_time()
    found = build_grid(rows, questions, settings)
    built = time.process_time() - started
    started = time.process_time()
    update_grid(found, "q7", changed)
    updated = time.process_time() - started
    started = time.process_time()
    cells: dict[tuple[str, str], list[float | None]] = {}
    for _ in range(5):
        for r in rows:
            cells.setdefault((r.question, r.setting), []).append(r.score)
    assert built < 20 * (time.process_time() - started)
    assert updated < built / 2


AT = datetime(2026, 11, 29, 14, 2, tzinfo=UTC)


def attempt(number: int, *, text: str | None = None, kind: FaultKind = "server", cost: str | None = None) -> Attempt:
    usage = Usage(input_tokens=10, output_tokens=4)
    return Attempt(
        number=number,
        at=AT,
        asked="same",
        reply=None if text is None else Reply(text=text, seconds=float(number), usage=usage, turns=1),
        fault=Fault(kind=kind, said="no", seconds=9.0) if text is None else None,
        cost_usd=None if cost is None else Decimal(cost),
    )


def made(*attempts: Attempt) -> Row:
    record = RunRecord(question="a", setting=LOW, run=2, prompt="?", attempts=attempts)
    return make_row(QUESTIONS[1], record, "model")


def test_a_row_has_the_seconds_of_the_attempt_that_answered() -> None:
    found = made(attempt(1, kind="limit"), attempt(2, text="1", cost="0.02"))
    assert (found.seconds, found.attempts, found.score, found.reply) == (2.0, 2, 1.0, "1")
    assert (found.setting, found.run, found.verdict) == (LOW.label, 2, "model")


def test_a_row_costs_what_all_its_attempts_cost() -> None:
    found = made(attempt(1, text="", cost="0.01"), attempt(2, text="1", cost="0.02"))
    assert (found.cost_usd, found.input_tokens, found.cache_read_tokens) == (Decimal("0.03"), 20, None)


def test_a_refused_call_is_free_and_a_dropped_one_is_not_known_to_be() -> None:
    assert made(attempt(1, kind="limit"), attempt(2, text="1", cost="0.02")).cost_usd == Decimal("0.02")
    assert made(attempt(1, kind="dropped"), attempt(2, text="1", cost="0.02")).cost_usd is None


def test_a_row_without_a_reply_has_no_score_and_no_seconds() -> None:
    found = made(attempt(1, kind="timeout"))
    assert (found.outcome, found.score, found.seconds, found.reply) == ("timeout", None, None, None)


def test_changing_an_accept_list_changes_the_digest_of_that_question_alone() -> None:
    edited = QUESTIONS[1].model_copy(update={"accept": ("1", "one")})
    assert Question(**edited.model_dump()).rule_digest != QUESTIONS[1].rule_digest
    assert QUESTIONS[0].rule_digest == Question(id="b", prompt="?", accept=("1",)).rule_digest
