"""The four gates, each with its evidence."""

from __future__ import annotations

import pytest
from exam_kit import HIGH, LOW, exam, rights, together

from resit.core.judging.evidence import Evidence
from resit.core.judging.gates import ENOUGH, UNTESTED, Gate, Gated, judge_settings


def first(found: Evidence, bar: float = 1.0) -> Gated:
    return judge_settings(found, bar=bar)[0]


def gate(found: Evidence, number: int, bar: float = 1.0) -> Gate:
    return first(found, bar).gates[number - 1]


def test_one_run_is_untested_for_variance() -> None:
    found = first(exam(rights(LOW, "1", "1")))
    assert not found.passed
    assert found.said == f"gate 1: 2 of 2 questions with a single run: {UNTESTED}"


def test_a_suite_that_wants_three_runs_is_not_content_with_two() -> None:
    seen = gate(exam(rights(LOW, "11", "111"), repeats=3), 1)
    assert (seen.state, seen.said) == ("fail", "1 of 2 questions with fewer than the 3 runs the suite wants")


def test_a_suite_that_wants_one_run_does_not_make_one_enough() -> None:
    assert gate(exam(rights(LOW, "1"), repeats=1), 1).state == "fail"


def test_a_run_without_a_fair_answer_is_no_run() -> None:
    found = exam({"q1": {LOW: [1.0, None]}, "q2": {LOW: [None, None]}, "q3": {LOW: [1.0, 1.0]}})
    assert gate(found, 1).said == (
        f"1 of 3 questions without a fair answer (q2); 1 of 3 questions with a single run: {UNTESTED}"
    )


def test_the_lowest_run_decides_and_not_the_mean() -> None:
    seen = gate(exam(rights(LOW, "10", "11", "11", "11")), 2)
    assert seen.state == "fail"
    assert seen.said == "lowest runs: 3/4 full, 75.0%, below the bar of 100%; the mean of 87.5% does not count"
    assert gate(exam(rights(LOW, "10", "11", "11", "11")), 2, bar=0.75).state == "pass"


def test_a_run_below_full_marks_must_be_read() -> None:
    table = rights(LOW, "00", "11")
    assert gate(exam(table), 3).said == "2 of 2 runs below full marks unread"
    half = exam(table, verdicts={("q1", LOW, 1): "model"})
    assert (gate(half, 3).state, gate(half, 3).said) == ("fail", "1 of 2 runs below full marks unread")
    whole = exam(table, verdicts={("q1", LOW, 1): "model", ("q1", LOW, 2): "model"})
    assert (gate(whole, 3).state, gate(whole, 3).said) == ("pass", "all of 2 runs below full marks read (2 model)")


def test_a_run_without_a_fair_answer_must_be_read_too() -> None:
    assert gate(exam({"q1": {LOW: [1.0, 1.0, None]}}), 3).said == "1 of 1 run below full marks unread"


def test_a_miss_blamed_on_the_grader_stays_open_without_a_rule_change_or_a_reason() -> None:
    table = rights(LOW, "01")
    found = exam(table, verdicts={("q1", LOW, 1): "grader"})
    assert gate(found, 3).said == "1 run blamed on the grader without a rule change or a reason"
    assert len(first(found).figures.unread) == 1
    reasoned = exam(table, verdicts={("q1", LOW, 1): "grader"}, reasons=[("q1", LOW, 1)])
    assert gate(reasoned, 3).state == "pass"


def test_a_run_left_out_as_setup_leaves_too_few_runs() -> None:
    found = exam(rights(LOW, "10"), verdicts={("q1", LOW, 2): "setup"})
    assert gate(found, 1).said == f"1 of 1 question with a single run: {UNTESTED}"
    assert gate(found, 2).state == "pass"


def test_a_question_at_fault_counts_for_no_setting() -> None:
    found = exam(together(rights(LOW, "11", "00"), rights(HIGH, "11", "11")), verdicts={("q2", LOW, 1): "question"})
    assert found.questions_out == ("q2",)
    assert [one.figures.summary.of for one in judge_settings(found)] == [1, 1]
    assert judge_settings(found)[0].passed


def test_where_every_setting_is_full_enough_is_all_that_is_said() -> None:
    every = judge_settings(exam(together(rights(LOW, "11", "11"), rights(HIGH, "11", "11"))))
    assert [one.said for one in every] == [ENOUGH, ENOUGH]
    assert every[0].gates[3].said == f"all 2 settings have full marks: too easy to separate, {ENOUGH}"
    assert every[0].passed


def test_a_lone_setting_with_full_marks_is_enough_and_no_more() -> None:
    assert gate(exam(rights(LOW, "11")), 4).said.startswith("the only setting asked has full marks")


def test_one_setting_below_full_marks_lifts_the_ceiling() -> None:
    every = judge_settings(exam(together(rights(LOW, "11", "11"), rights(HIGH, "11", "00"))))
    assert every[0].said == "passes all four gates"
    assert every[0].gates[3].said == "1 of 2 settings with full marks"


def test_a_check_that_fails_everywhere_sends_to_the_grader_first() -> None:
    every = judge_settings(exam(together(rights(LOW, "00"), rights(HIGH, "00"))))
    assert [suspect.why for suspect in every[0].suspects] == [
        "'answer' fails in all 2 settings: look at the grader first"
    ]


def test_a_setting_never_asked_is_no_failure_of_it() -> None:
    every = judge_settings(exam(rights(LOW, "11"), settings=[LOW, HIGH]))
    assert [one.asked for one in every] == [True, False]
    assert every[1].said == "not asked"
    assert every[0].ceiling


@pytest.mark.parametrize(("kind", "expected"), [("sums", True), ("words", False), (None, False)])
def test_gates_are_for_a_kind_of_work_or_for_all(kind: str | None, expected: bool) -> None:
    found = exam(rights(LOW, "11", "00"), kinds={"q1": "sums", "q2": "words"})
    assert judge_settings(found, kind)[0].passed is expected
