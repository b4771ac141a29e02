from __future__ import annotations

from row_kit import HIGH, LOW, row

from resit.core.records import Row
from resit.core.scoring.grid import build_grid
from resit.core.scoring.misses import (
    disagreements,
    fold_replies,
    grader_suspects,
    miss_queue,
    next_miss,
    place,
    unread,
)
from resit.core.suite import Question

QUESTIONS = tuple(Question(id=name, accept=("1",)) for name in ("b", "a"))


def queue(*rows: Row) -> tuple[Row, ...]:
    return miss_queue(build_grid(rows, QUESTIONS, [LOW, HIGH]))


def test_every_run_below_full_marks_and_every_unsettled_one_is_read_in_suite_order() -> None:
    rows = [row("a", 0.0), row("b", 1.0), row("b", 0.5, 2), row("b", None, 1, HIGH), row("a", 0.0, 1, HIGH)]
    assert [place(each) for each in queue(*rows)] == [
        ("b", LOW.label, 2),
        ("b", HIGH.label, 1),
        ("a", LOW.label, 1),
        ("a", HIGH.label, 1),
    ]


def test_a_miss_with_a_verdict_stays_in_the_queue_but_is_read() -> None:
    found = queue(row("a", 0.0, verdict="model"), row("b", 0.0))
    assert (len(found), len(unread(found))) == (2, 1)


def test_after_an_accept_the_next_miss_that_is_still_one_comes_up() -> None:
    before = queue(row("b", 0.0, 1), row("b", 0.0, 2), row("a", 0.0))
    after = queue(row("b", 1.0, 1), row("b", 1.0, 2), row("a", 0.0))
    assert next_miss(before, after, before[0]) == after[0]


def test_after_the_last_miss_comes_the_one_before_it_and_then_none() -> None:
    before = queue(row("b", 0.0), row("a", 0.0))
    assert next_miss(before, before[:1], before[1]) == before[0]
    assert next_miss(before, (), before[1]) is None


def test_equal_replies_are_folded_with_their_count() -> None:
    found = fold_replies([row("a", 0.0, 1, reply="x"), row("a", 1.0, 2, reply="y"), row("a", 1.0, 3, reply="y")])
    assert [(each.reply, len(each.runs)) for each in found] == [("y", 2), ("x", 1)]


def test_a_verdict_and_the_rule_that_disagree_are_listed() -> None:
    blamed_grader = row("a", 0.0, 1, verdict="grader")
    mended = row("a", 1.0, 2, verdict="grader")
    blamed_model = row("a", 1.0, 3, verdict="model")
    agreed = row("b", 0.0, 1, verdict="model")
    unsettled = row("b", None, 2, verdict="setup")
    assert disagreements([blamed_grader, mended, blamed_model, agreed, unsettled]) == (blamed_grader, blamed_model)


def test_a_check_that_fails_in_every_repeat_points_at_the_grader() -> None:
    rows = [row("a", 0.5, run, failed=("sign_off",)) for run in (1, 2)]
    (suspect,) = grader_suspects(rows)
    assert (suspect.question, suspect.check, suspect.runs) == ("a", "sign_off", 2)
    assert suspect.why == f"'sign_off' fails in every run of {LOW.label}: look at the grader first"


def test_a_check_that_fails_in_every_model_points_at_the_grader() -> None:
    rows = [row("a", 0.5, 1, setting, failed=("no_list", "sign_off")) for setting in (LOW, HIGH)]
    rows[1] = row("a", 0.5, 1, HIGH, failed=("sign_off",))
    (suspect,) = grader_suspects(rows)
    assert (suspect.check, suspect.settings) == ("sign_off", 2)
    assert "in all 2 settings" in suspect.why


def test_a_rule_that_every_model_fails_is_suspect_as_well() -> None:
    (suspect,) = grader_suspects([row("a", 0.0), row("a", 0.0, 1, HIGH), row("b", 1.0)])
    assert (suspect.question, suspect.check) == ("a", "answer")


def test_one_failed_run_or_one_that_passed_suspects_nobody() -> None:
    assert grader_suspects([row("a", 0.0)]) == ()
    assert grader_suspects([row("a", 0.0, 1), row("a", 1.0, 2), row("a", 1.0, 1, HIGH)]) == ()


def test_runs_without_a_fair_answer_suspect_nobody() -> None:
    assert grader_suspects([row("a", None, 1), row("a", None, 2)]) == ()
