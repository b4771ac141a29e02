"""What counts of one round or several, and the figures of it."""

from __future__ import annotations

from decimal import Decimal

import pytest
from exam_kit import HIGH, LOW, TOP, exam, rights, together

from resit.core.judging.evidence import pool
from resit.core.judging.figures import all_figures, figures
from resit.core.judging.stats import score_interval
from resit.core.records import Setting

CRITERIA = Setting(model="haiku", effort="low", variant="criteria")


def test_the_figures_of_a_setting_worked_out_by_hand() -> None:
    # Weights 1, 2, 1; lowest 1, 0.5, 0: (1 + 1 + 0) / 4. Means 1, 0.75, 0.5: (1 + 1.5 + 0.5) / 4.
    table = {"q1": {LOW: [1.0, 1.0]}, "q2": {LOW: [0.5, 1.0]}, "q3": {LOW: [1.0, 0.0]}}
    found = figures(exam(table, weights={"q2": 2.0}), LOW.label)
    assert (str(found.lowest), found.lowest.share, found.summary.mean) == ("2/4", 0.5, 0.75)
    assert found.interval == score_interval([(1.0, 1.0), (0.5, 2.0), (0.0, 1.0)])
    # First runs: (1 + 1 + 1) / 4; second runs: (1 + 2 + 0) / 4.
    assert (found.run_scores, found.spread) == ((0.75, 0.75), 0.0)
    assert found.flapping == ("q2", "q3")
    assert (found.runs_least, found.runs_most, found.full, found.single) == (2, 2, False, False)
    assert found.seconds_95 == 2.0
    assert found.cost_each_usd == Decimal("0.003")
    assert (found.below, len(found.unread)) == (2, 2)


def test_a_run_that_is_better_over_all_questions_shows_as_spread() -> None:
    found = figures(exam(rights(LOW, "10", "10", "11", "11")), LOW.label)
    assert (found.run_scores, found.spread) == ((1.0, 0.5), 0.5)


def test_figures_are_for_each_kind_of_work_too() -> None:
    found = exam(rights(LOW, "11", "00", "11"), kinds={"q1": "sums", "q2": "words", "q3": "sums"})
    assert found.kinds == ("sums", "words")
    assert [figures(found, LOW.label, kind).lowest.share for kind in ("sums", "words", None)] == [1.0, 0.0, 2 / 3]
    assert all_figures(found, "sums")[0].summary.of == 2


def test_grader_errors_are_counted_among_the_misses() -> None:
    found = exam(rights(LOW, "00", "01"), verdicts={("q1", LOW, 1): "grader", ("q1", LOW, 2): "model"})
    assert figures(found, LOW.label).grader_said == "1 of 3 misses were the grader's"
    assert figures(exam(rights(LOW, "11")), LOW.label).grader_said == ""
    # A changed rule has given the first run full marks; it was the grader's miss all the same.
    mended = exam(rights(LOW, "10"), verdicts={("q1", LOW, 1): "grader"})
    assert figures(mended, LOW.label).grader_said == "1 of 2 misses were the grader's"


def test_a_cost_is_unknown_when_a_question_has_no_priced_run() -> None:
    assert figures(exam(rights(LOW, "11"), costs={}), LOW.label).cost_each_usd is None
    empty = exam({"q1": {LOW: [1.0]}, "q2": {LOW: []}})
    assert figures(empty, LOW.label).cost_each_usd is None


def test_a_run_left_out_as_setup_is_out_of_every_figure() -> None:
    found = exam(rights(LOW, "011"), verdicts={("q1", LOW, 1): "setup"})
    seen = figures(found, LOW.label)
    assert (seen.lowest.share, seen.below, seen.runs_least) == (1.0, 0, 2)
    assert [row.run for row in found.runs_out] == [1]


def test_a_model_blamed_for_no_answer_scores_nothing() -> None:
    found = exam({"q1": {LOW: [1.0, None]}}, verdicts={("q1", LOW, 2): "model"})
    assert figures(found, LOW.label).lowest.share == 0.0


def test_pooled_rounds_take_a_settings_newest_runs() -> None:
    old = exam(together(rights(LOW, "00", "00"), rights(HIGH, "11", "11")), round_id="old")
    new = exam(rights(LOW, "11", "11"), round_id="new", days=1)
    found = pool([old, new])
    assert found.rounds == ("new", "old")
    assert [figures(found, label).lowest.share for label in (LOW.label, HIGH.label)] == [1.0, 1.0]
    assert found.stated == ()


def test_what_was_asked_in_another_way_then_is_not_pooled_and_this_is_stated() -> None:
    old = exam(rights(HIGH, "11", "11", "11"), round_id="old", prompts={"q1": "other?"}, accept={"q2": "no"})
    new = exam(rights(LOW, "11", "11", "11"), round_id="new", days=1)
    found = pool([new, old])
    assert [place for place in found.grid.cells if place[1] == HIGH.label] == [("q3", HIGH.label)]
    assert found.stated == ("round old: asked or graded in another way then, not counted: q1, q2",)


def test_a_wording_that_changed_is_not_pooled() -> None:
    old = exam(rights(CRITERIA, "11"), round_id="old", variants={"criteria": "A."})
    new = exam(together(rights(CRITERIA, "11"), rights(LOW, "11")), round_id="new", days=1, variants={"criteria": "B."})
    found = pool([old, new])
    assert found.stated == ("round old: worded in another way then, not counted: haiku low criteria",)


def test_a_newer_round_of_a_part_does_not_shrink_the_exam() -> None:
    old = exam(rights(LOW, "11", "00"), round_id="old")
    part = exam(rights(LOW, "11"), round_id="part", days=1, only=("q1",))
    assert [question.id for question in pool([old, part]).questions] == ["q1", "q2"]
    whole = exam(rights(LOW, "11"), round_id="whole", days=1)
    assert [question.id for question in pool([old, whole]).questions] == ["q1"]


def test_a_question_at_fault_in_one_round_is_out_of_the_pool() -> None:
    old = exam(rights(HIGH, "11", "00"), round_id="old", verdicts={("q2", HIGH, 1): "question"})
    found = pool([old, exam(rights(LOW, "11", "11"), days=1)])
    assert (found.questions_out, [q.id for q in found.questions]) == (("q2",), ["q1"])


def test_several_suites_are_one_exam_with_names_of_their_own() -> None:
    one = exam(together(rights(LOW, "11"), rights(TOP, "11")), suite="sums")
    two = exam(rights(LOW, "00"), suite="words", round_id="round-2", verdicts={("q1", LOW, 1): "model"})
    found = pool([one, two])
    assert [question.id for question in found.questions] == ["sums/q1", "words/q1"]
    assert found.suite == "sums, words"
    assert figures(found, LOW.label).lowest.share == 0.5
    # The top setting never met the second suite.
    assert figures(found, TOP.label).runs_least == 0
    assert [row.verdict for row in found.grid.cells["words/q1", LOW.label].runs] == ["model", None]
    assert found.rule_said == "sums: rule of 30 Nov 2026; words: rule of 30 Nov 2026"


@pytest.mark.parametrize("repeats", [1, 2, 5])
def test_two_runs_are_needed_at_least(repeats: int) -> None:
    assert exam(rights(LOW, "1"), repeats=repeats).needed == {"q1": max(2, repeats)}


def test_an_interval_is_as_wide_for_twelve_runs_of_four_questions_as_for_two() -> None:
    few = figures(exam(rights(LOW, "11", "00", "11", "11")), LOW.label)
    many = figures(exam(rights(LOW, "1" * 12, "0" * 12, "1" * 12, "1" * 12)), LOW.label)
    assert few.interval == many.interval == score_interval([(1.0, 1.0)] * 3 + [(0.0, 1.0)])
