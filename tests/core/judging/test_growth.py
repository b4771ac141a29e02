"""When to stop adding questions."""

from __future__ import annotations

import pytest
from exam_kit import HIGH, LOW, exam, rights, together

from resit.core.judging.growth import grow, make_growth


def test_the_same_seed_draws_the_same_exams() -> None:
    found = exam(together(rights(LOW, "11", "00", "10"), rights(HIGH, "11", "11", "00")))
    assert make_growth(found) == make_growth(found)
    assert make_growth(found) != make_growth(found, seed=1)


def test_a_clear_lead_is_steady_before_all_questions_are_asked() -> None:
    found = grow(["a", "b"], [(1.0, 0.0)] * 15 + [(1.0, 1.0)] * 5, [1.0] * 20)
    assert found.leaders == ("a",)
    assert found.scores == (1.0, 0.25)
    assert found.steady_at is not None
    assert found.steady_at < 20
    assert found.said == (
        f"a comes first in 100% of exams drawn from these 20 questions, and in 95% or more from {found.steady_at} on: "
        "more like them will hardly change the first place."
    )


def test_a_narrow_lead_needs_more_questions() -> None:
    # One question in twenty apart: drawn never with (19/20)**20 = 36 %, and then both are first in half.
    found = grow(["a", "b"], [(1.0, 0.0)] + [(1.0, 1.0)] * 19, [1.0] * 20)
    now = next(point for point in found.points if point.questions == 20)
    assert now.first_holds == pytest.approx(1 - 0.95**20 / 2, abs=0.05)
    assert found.steady_at is not None
    assert 20 < found.steady_at <= 60
    assert f"about {found.steady_at} like them would make it 95%" in found.said


def test_a_lead_that_chance_could_turn_stays_open() -> None:
    table = [(1.0, 0.0)] * 5 + [(0.0, 1.0)] * 4 + [(1.0, 1.0)] * 11
    found = grow(["a", "b"], table, [1.0] * 20)
    assert found.steady_at is None
    assert found.said.endswith("and even 80 like them would not make it 95%: the first two are close.")


def test_full_marks_everywhere_call_for_harder_questions() -> None:
    found = grow(["a", "b"], [(1.0, 1.0)] * 6, [1.0] * 6)
    assert found.said == (
        "Every setting has full marks on 6 questions: more of the same sort cannot separate any; harder ones may."
    )


def test_the_band_of_scores_narrows_as_questions_are_added() -> None:
    found = grow(["a"], [(1.0,)] * 15 + [(0.0,)] * 5, [1.0] * 20)
    widths = [point.high[0] - point.low[0] for point in found.points]
    assert widths[0] > widths[-1]
    assert found.points[-1].questions == 80
    assert all(point.low[0] <= 0.75 <= point.high[0] for point in found.points)
    assert found.said.startswith("With 20 questions the score lies between ")


def test_only_questions_with_a_score_everywhere_are_drawn_from() -> None:
    found = make_growth(exam({"q1": {LOW: [1.0], HIGH: [0.0]}, "q2": {LOW: [None], HIGH: [1.0]}}))
    assert found.questions == 1
    assert make_growth(exam({"q1": {LOW: [None]}})).said.startswith("No question has a score under every setting")


def test_weights_weigh_in_drawn_exams() -> None:
    found = grow(["a", "b"], [(1.0, 0.0), (0.0, 1.0)], [3.0, 1.0])
    assert found.scores == (0.75, 0.25)
    assert found.leaders == ("a",)


def test_a_handful_of_questions_says_nothing() -> None:
    assert grow(["a", "b"], [(1.0, 0.0)] * 5, [1.0] * 5).said == "5 questions cannot say whether more would help."
