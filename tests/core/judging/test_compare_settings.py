"""Two settings or two rounds: what changed, what is noise, what cannot be compared, and what that shows."""

from __future__ import annotations

import pytest
from exam_kit import HIGH, LOW, Table, exam, rights, together

from resit.core.judging.compare import Comparison, compare, compare_rounds
from resit.core.records import Setting

CRITERIA = Setting(model="haiku", effort="low", variant="criteria")


def both(low: list[str], high: list[str]) -> Comparison:
    found = exam(together(rights(LOW, *low), rights(HIGH, *high)))
    return compare(found, LOW.label, found, HIGH.label)


def changes(found: Comparison) -> dict[str, str]:
    return {pair.question.id: pair.change for pair in found.pairs}


def test_each_shared_question_has_one_change() -> None:
    found = both(["11", "00", "00", "11", "10", "11"], ["11", "11", "01", "00", "11", "10"])
    assert changes(found) == {
        "q1": "held",
        "q2": "fixed",
        "q3": "still missed",
        "q4": "broken",
        "q5": "noise",
        "q6": "noise",
    }
    assert found.counts_said == "1 broken · 1 fixed · 2 noise · 1 still missed · 1 held"


def test_eight_fixed_and_one_broken_of_twenty_worked_out_by_hand() -> None:
    # 8 better, 1 worse: p = 2 * (1 + 9) / 512 = 0.0390625. 9/20 before, 16/20 after: a difference of 0.35.
    found = both(["00"] * 8 + ["11"] * 9 + ["00"] * 3, ["11"] * 8 + ["00"] + ["11"] * 8 + ["00"] * 3)
    assert (found.better, found.worse) == (8, 1)
    assert found.p_value == 0.0390625
    assert (str(found.score_before), str(found.score_after)) == ("9/20", "16/20")
    assert found.difference == pytest.approx(0.35)
    assert found.interval is not None
    assert 0 < found.interval.low < 0.35 < found.interval.high < 1
    assert found.differs
    assert found.said.startswith("sonnet high is better: +35.0 points on 20 shared questions (95% interval +")
    assert "8 better, 1 worse, p = 0.039" in found.said


def test_without_a_difference_it_says_what_these_questions_could_have_found() -> None:
    found = both(["00", "11"] + ["11"] * 18, ["11", "11"] + ["11"] * 18)
    assert not found.differs
    assert found.said.startswith("No difference is shown: +5.0 points on 20 shared questions")
    assert "This many questions find a difference of 37 points or more" in found.said
    assert found.needed == 157
    assert "one of 5.0 points needs about 157 questions." in found.said


def test_repeats_do_not_make_a_difference_surer() -> None:
    few = both(["00", "00", "11", "11"], ["11", "11", "11", "11"])
    many = both(["0" * 12, "0" * 12, "1" * 12, "1" * 12], ["1" * 12, "1" * 12, "1" * 12, "1" * 12])
    assert (few.p_value, few.interval, few.needed) == (many.p_value, many.interval, many.needed)
    assert many.p_value == 0.5


def test_of_unequal_repeats_the_same_number_is_compared_and_this_is_said_first() -> None:
    table = {"q1": {LOW: [1.0, 1.0], HIGH: [1.0, 1.0, 0.0, 1.0]}, "q2": {LOW: [0.0, 0.0], HIGH: [1.0, 1.0, 1.0, 1.0]}}
    found = exam(table)
    seen = compare(found, LOW.label, found, HIGH.label)
    assert changes(seen) == {"q1": "held", "q2": "fixed"}
    assert seen.stated == (
        "the numbers of runs differ: 2 before, 4 after; of each question the same number is compared, the first ones",
    )


def test_single_runs_are_untested_for_variance() -> None:
    (line,) = both(["1", "0"], ["1", "1"]).stated
    assert line == "2 of 2 questions on one run: untested for variance, noise looks like change"


def test_only_questions_asked_in_the_same_way_are_paired_and_the_others_are_named() -> None:
    before = exam(rights(LOW, "11", "11", "00", "11"), round_id="old", prompts={"q2": "another?"})
    table: Table = {**rights(LOW, "11", "00", "11"), "new": {LOW: [1.0, 1.0]}}
    after = exam(table, round_id="now", days=1)
    found = compare(before, LOW.label, after, LOW.label)
    assert changes(found) == {"q1": "held", "q3": "fixed"}
    assert found.unpaired.only_before == ("q4",)
    assert found.unpaired.only_after == ("new",)
    assert found.unpaired.asked_differently == ("q2",)
    assert found.stated[0] == "the suite changed between the two rounds"
    assert found.stated[1] == (
        "2 questions of 4 before and 4 after can be compared; 1 only before (q4); 1 only after (new); "
        "1 asked in another way (q2)"
    )


def test_questions_graded_under_two_rules_are_not_paired() -> None:
    before = exam(rights(LOW, "11", "00"), accept={"q2": "no"})
    found = compare(before, LOW.label, exam(rights(LOW, "11", "11")), LOW.label)
    assert found.unpaired.graded_differently == ("q2",)
    assert changes(found) == {"q1": "held"}


def test_a_question_without_a_fair_answer_on_a_side_is_not_paired() -> None:
    found = exam({"q1": {LOW: [None, None], HIGH: [1.0, 1.0]}, "q2": {LOW: [None, 1.0], HIGH: [1.0, 1.0]}})
    seen = compare(found, LOW.label, found, HIGH.label)
    assert seen.unpaired.unsettled == ("q1",)
    assert changes(seen) == {"q2": "held"}


def test_a_question_at_fault_in_one_round_counts_in_neither() -> None:
    before = exam(rights(LOW, "11", "00"))
    after = exam(rights(LOW, "11", "11"), verdicts={("q2", LOW, 1): "question"})
    found = compare(before, LOW.label, after, LOW.label)
    assert found.unpaired.left_out == ("q2",)
    assert found.unpaired.only_before == ()
    assert changes(found) == {"q1": "held"}


def test_two_wordings_of_one_round_are_compared_and_this_is_said() -> None:
    found = exam(together(rights(LOW, "00", "11"), rights(CRITERIA, "11", "11")), variants={"criteria": "Only 2026."})
    seen = compare(found, LOW.label, found, CRITERIA.label)
    assert changes(seen) == {"q1": "fixed", "q2": "held"}
    assert seen.stated == ("the wordings differ, as the settings say: plain before, criteria after",)


def test_a_wording_that_changed_under_its_name_compares_with_nothing() -> None:
    before = exam(rights(CRITERIA, "00"), variants={"criteria": "Only 2025."})
    after = exam(rights(CRITERIA, "11"), variants={"criteria": "Only 2026."})
    found = compare(before, CRITERIA.label, after, CRITERIA.label)
    assert found.unpaired.asked_differently == ("q1",)
    assert found.said == "Nothing can be compared: the two sides share no question with a fair answer."
    assert (found.difference, found.interval, found.p_value) == (None, None, 1.0)


def test_full_marks_on_both_sides_rank_nothing() -> None:
    found = both(["11"] * 4, ["11"] * 4)
    assert found.too_easy
    assert found.said == "Full marks on both sides, on 4 shared questions: too easy to separate them."


def test_the_same_misses_on_both_sides_are_the_same_score() -> None:
    assert both(["00", "11"], ["00", "11"]).said.startswith("The same scores on both sides, on 2 shared questions; 95%")


def test_two_rounds_are_compared_setting_by_setting() -> None:
    before = exam(together(rights(LOW, "11"), rights(HIGH, "00")), round_id="old")
    after = exam(rights(HIGH, "11"), round_id="now", days=7)
    (found,) = compare_rounds(before, after)
    assert (found.before.name, found.after.name) == ("sonnet high (old)", "sonnet high (now)")
    assert changes(found) == {"q1": "fixed"}


def test_weights_count_in_the_difference_and_a_question_of_no_weight_in_nothing() -> None:
    found = exam(together(rights(LOW, "00", "11", "11"), rights(HIGH, "11", "11", "00")), weights={"q1": 3, "q3": 0})
    seen = compare(found, LOW.label, found, HIGH.label)
    # 1 of 4 before, 4 of 4 after.
    assert seen.difference == pytest.approx(0.75)
    assert (seen.better, seen.worse) == (1, 0)


def test_swapping_the_sides_turns_everything_round() -> None:
    table = together(rights(LOW, "11", "00", "10", "01", "11"), rights(HIGH, "00", "11", "11", "00", "11"))
    seen = exam(table, weights={"q2": 2.5})
    one, other = compare(seen, LOW.label, seen, HIGH.label), compare(seen, HIGH.label, seen, LOW.label)
    assert (one.better, one.worse, one.p_value) == (other.worse, other.better, other.p_value)
    assert one.difference == pytest.approx(-(other.difference or 0.0))
    assert one.interval is not None
    assert other.interval is not None
    assert [one.interval.low, one.interval.high] == pytest.approx([-other.interval.high, -other.interval.low])
    assert [pair.question.id for pair in one.of_change("fixed")] == [
        pair.question.id for pair in other.of_change("broken")
    ]


def test_rounds_of_two_suites_say_so_first() -> None:
    found = compare(exam(rights(LOW, "11")), LOW.label, exam(rights(LOW, "11"), suite="other"), LOW.label)
    assert found.stated[0] == "two suites: exam before, other after"


def test_scores_are_told_for_each_kind_of_work_too() -> None:
    table = together(rights(LOW, "11", "00", "10"), rights(HIGH, "11", "11", "11"))
    found = exam(table, kinds={"q1": "sums", "q2": "words", "q3": "sums"})
    seen = compare(found, LOW.label, found, HIGH.label).by_kind
    assert [(kind, str(before), str(after)) for kind, before, after in seen] == [
        ("sums", "1/2", "2/2"),
        ("words", "0/1", "1/1"),
    ]
