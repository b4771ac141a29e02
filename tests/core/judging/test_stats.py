"""Intervals, the paired test and power: held against published numbers, hand counts and simulated exams."""

from __future__ import annotations

import itertools
import math
from functools import cache
from random import Random

import pytest

from resit.core.judging.beta import beta_cdf, beta_quantile
from resit.core.judging.stats import (
    Interval,
    connor,
    difference_interval,
    effective_count,
    percentile,
    power,
    questions_needed,
    score_interval,
    sign_test,
    smallest_found,
    tango_interval,
)

EXAMS = 2_000
AT_LEAST = 0.93


def interval_of(passed: int, of: int) -> Interval:
    found = score_interval([(1.0, 1.0)] * passed + [(0.0, 1.0)] * (of - passed))
    assert found is not None
    return found


def test_the_beta_distribution_of_whole_parameters_is_a_binomial_tail() -> None:
    for a, b, x in itertools.product((1, 3, 20), (1, 4, 15), (0.05, 0.5, 0.9)):
        of = a + b - 1
        tail = sum(math.comb(of, k) * x**k * (1 - x) ** (of - k) for k in range(a, of + 1))
        assert beta_cdf(x, a, b) == pytest.approx(tail, abs=1e-12)


def test_a_quantile_of_the_beta_distribution_undoes_it() -> None:
    for share, a, b in itertools.product((0.025, 0.5, 0.975), (0.5, 7.25, 300.0), (1.0, 42.5)):
        assert beta_cdf(beta_quantile(share, a, b), a, b) == pytest.approx(share, abs=1e-8)


@pytest.mark.parametrize(
    ("passed", "of", "low", "high"),
    # Newcombe (Stat. Med. 17:857, 1998), his four examples under method 5; 5 of 25 after Conover's tables (1999).
    # Brown, Cai and DasGupta (2001) quote 0 of n as 1 - 0.025**(1/n). All are those of R's binom.test as well.
    [
        (81, 263, 0.2527, 0.3676),
        (15, 148, 0.0578, 0.1617),
        (0, 20, 0.0, 0.1684),
        (1, 29, 0.0009, 0.1776),
        (5, 25, 0.0683, 0.4070),
        (0, 10, 0.0, 0.3085),
        (10, 10, 0.6915, 1.0),
        (18, 20, 0.6830, 0.9877),
        (98, 100, 0.9296, 0.9976),
    ],
)
def test_the_interval_of_a_score_is_clopper_and_pearsons(passed: int, of: int, low: float, high: float) -> None:
    found = interval_of(passed, of)
    assert [found.low, found.high] == pytest.approx([low, high], abs=5e-5)


def test_full_marks_on_ten_questions_leave_room_for_a_third_to_fail() -> None:
    # By hand: the true score s with s**10 = 0.025.
    assert interval_of(10, 10).low == pytest.approx(0.025**0.1, abs=1e-9)


def test_unequal_weights_count_as_fewer_questions() -> None:
    # (1+1+1+3)**2 / (1+1+1+9) = 36/12.
    assert effective_count([1, 1, 1, 3]) == pytest.approx(3.0)
    assert effective_count([0.5] * 7) == pytest.approx(7.0)
    assert effective_count([]) == effective_count([0.0]) == 0.0
    assert score_interval([]) is None
    assert score_interval([(1.0, 0.0)]) is None
    assert difference_interval([(0.0, 0.0)]) is None


def test_a_partial_score_counts_as_part_of_a_question() -> None:
    halves = score_interval([(0.5, 1.0)] * 10)
    fives = interval_of(5, 10)
    assert halves is not None
    assert [halves.low, halves.high] == pytest.approx([fives.low, fives.high])


@pytest.mark.parametrize(
    ("better", "worse", "of", "low", "high"),
    [
        # Cavo et al. (2012), in Fagerland, Lydersen and Laake, Statistical Analysis of Contingency Tables, ch. 8.
        (6, 16, 161, -0.1240, -0.0054),
        # Bentur et al. (2009), there.
        (1, 7, 21, -0.517, -0.026),
        # Newcombe (1998), example with 12 and 2 of 50.
        (12, 2, 50, 0.0611, 0.3447),
    ],
)
def test_the_paired_interval_is_tangos(better: int, worse: int, of: int, low: float, high: float) -> None:
    found = tango_interval(better, worse, of)
    assert [found.low, found.high] == pytest.approx([low, high], abs=5e-4)


def test_the_paired_interval_turns_with_its_sides() -> None:
    one, other = tango_interval(9, 4, 30, correction=1.0), tango_interval(4, 9, 30, correction=1.0)
    assert [one.low, one.high] == pytest.approx([-other.high, -other.low])


def test_the_paired_test_is_mcnemars_exact_one() -> None:
    # Cavo et al. (2012): P = 0.052479.
    assert sign_test(6, 16) == pytest.approx(0.052479, abs=5e-7)
    # By hand: 2 * (1 + 6) / 64.
    assert sign_test(5, 1) == pytest.approx(0.21875)
    assert sign_test(0, 6) == pytest.approx(2 / 64)
    assert sign_test(0, 5) == pytest.approx(2 / 32)
    assert sign_test(0, 0) == sign_test(3, 3) == 1.0


def test_the_paired_test_counts_thousands_of_questions() -> None:
    # The normal approximation with continuity: z = 199 / sqrt(2000) = 4.4498.
    assert sign_test(900, 1100) == pytest.approx(math.erfc(4.4498 / math.sqrt(2)), rel=0.05)
    assert 0.0 <= sign_test(0, 5000) < 1e-300


def test_an_interval_that_leaves_out_zero_goes_with_a_test_below_five_per_cent() -> None:
    tables = [(b, c) for b in range(11) for c in range(11 - b)]
    for better, worse in tables:
        found = difference_interval(
            [(1.0, 1.0)] * better + [(-1.0, 1.0)] * worse + [(0.0, 1.0)] * (10 - better - worse)
        )
        assert found is not None
        assert found.holds(0.0) == (sign_test(better, worse) >= 0.05), (better, worse)


def test_connors_formula_gives_his_numbers() -> None:
    # By hand, differing 0.2, difference 0.1: (1.96*sqrt(.2) + .8416*sqrt(.19))**2 / .01 = 154.1.
    assert connor(0.1, 0.2) == 155
    assert connor(0.05, 0.1) == 312
    # R's pwr.mcnemar(0.05, 0.45, power = 0.8), after his page 209, says 22.01: one more than 22 it must be.
    assert connor(0.4, 0.5) == 23


def test_power_is_counted_out() -> None:
    # Six questions, all of which must differ one way: 0.963**6.
    assert power(6, 0.963, 0.963) == pytest.approx(0.963**6)
    assert power(5, 1.0, 1.0) == 0.0
    assert power(30, 0.3, 0.5) == pytest.approx(_power_by_hand(30, 0.3, 0.5), abs=1e-6)


def _power_by_hand(of: int, difference: float, changing: float) -> float:
    up, down = (changing + difference) / 2, (changing - difference) / 2
    whole = 0.0
    for better in range(of + 1):
        for worse in range(of + 1 - better):
            if better > worse and sign_test(better, worse) < 0.05:
                ways = math.comb(of, better) * math.comb(of - better, worse)
                whole += ways * up**better * down**worse * (1 - changing) ** (of - better - worse)
    return whole


def test_the_number_of_questions_needed_gives_the_power_promised() -> None:
    for difference, changing in ((0.3, 0.3), (0.2, 0.3), (0.5, 0.5)):
        needed = questions_needed(difference, changing)
        assert needed is not None
        assert power(needed, difference, changing) >= 0.8
        # A few less do not: the exact power saws up and down by a question or two.
        assert power(needed - 4, difference, changing) < 0.8
    assert questions_needed(0.0, 0.5) is None
    assert questions_needed(-0.3, 0.3) == questions_needed(0.3, 0.3)
    assert questions_needed(0.03, 0.2) == connor(0.03, 0.2)


def test_five_questions_find_no_difference_and_more_find_smaller_ones() -> None:
    assert smallest_found(5, 0.0) is None
    found = [smallest_found(count, 0.1) for count in (6, 10, 20, 100, 1000)]
    known = [difference for difference in found if difference is not None]
    assert known == sorted(known, reverse=True)
    assert len(known) == 5
    assert known[0] == pytest.approx(0.963, abs=0.005)
    assert known[4] == pytest.approx(0.0281, abs=0.005)


def test_a_percentile_is_one_of_the_values() -> None:
    assert percentile([], 0.95) is None
    assert percentile([3.0], 0.95) == 3.0
    assert percentile([float(n) for n in range(1, 21)], 0.95) == 19.0
    assert percentile([4.0, 1.0, 2.0, 3.0], 0.5) == 2.0


@cache
def cached_interval(passed: float, of: float) -> Interval:
    found = score_interval([(passed / of, 1.0)] * round(of))
    assert found is not None
    return found


@pytest.mark.parametrize("questions", [10, 20, 100])
@pytest.mark.parametrize("true", [0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.98])
def test_the_interval_of_a_score_covers_it_in_2000_exams(questions: int, true: float) -> None:
    random = Random(questions * 1000 + round(true * 100))
    passed = [sum(random.random() < true for _ in range(questions)) for _ in range(EXAMS)]
    assert sum(cached_interval(count, questions).holds(true) for count in passed) >= AT_LEAST * EXAMS


@pytest.mark.parametrize("questions", [10, 20, 100])
@pytest.mark.parametrize("solid", [0.4, 0.7, 0.95])
def test_the_interval_of_the_lowest_of_two_runs_covers_with_easy_and_flapping_questions(
    questions: int, solid: float
) -> None:
    """Some questions are always right; each other one is right in a run with a chance of its own, evenly spread.

    The true score of the lowest of two runs: the solid share, and a third of the rest, the mean of a chance squared.
    """
    true = solid + (1 - solid) / 3
    random = Random(questions + round(solid * 1000))
    held = 0
    for _ in range(EXAMS):
        passed = 0
        for _ in range(questions):
            chance = 1.0 if random.random() < solid else random.random()
            passed += random.random() < chance and random.random() < chance
        held += cached_interval(passed, questions).holds(true)
    assert held >= AT_LEAST * EXAMS


GROUPS = ((1.0, 1), (2.0, 2), (3.0, 1))
"""Sorts of questions: their weight, and how many checks they have, which pass or fail apart from each other."""


def group_sizes(questions: int) -> list[int]:
    """How many questions of each sort there are when the sorts follow each other."""
    return [len(range(at, questions, len(GROUPS))) for at in range(len(GROUPS))]


@pytest.mark.parametrize("questions", [10, 20, 100])
@pytest.mark.parametrize("true", [0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.98])
def test_the_interval_covers_with_weights_and_partial_scores_in_2000_exams(questions: int, true: float) -> None:
    random = Random(questions + round(true * 1000))
    held = 0
    for _ in range(EXAMS):
        scores = []
        for (weight, checks), size in zip(GROUPS, group_sizes(questions), strict=True):
            passed = sum(random.random() < true for _ in range(size * checks))
            # Weights and the mean are all that an interval is made of, so a sort of questions may share its mean.
            scores += [(passed / (size * checks), weight)] * size
        found = score_interval(scores)
        assert found is not None
        held += found.holds(true)
    assert held >= AT_LEAST * EXAMS


@pytest.mark.parametrize("questions", [10, 20, 100])
@pytest.mark.parametrize(("before", "after"), [(0.5, 0.8), (0.7, 0.7), (0.9, 0.98), (0.98, 0.98)])
def test_the_interval_of_a_difference_covers_with_weights_and_partial_scores_in_2000_exams(
    questions: int, before: float, after: float
) -> None:
    random = Random(questions + round(before * 100) + round(after * 10_000))
    held = 0
    for _ in range(EXAMS):
        differences = []
        for (weight, checks), size in zip(GROUPS, group_sizes(questions), strict=True):
            for _ in range(size):
                passed = sum((random.random() < after) - (random.random() < before) for _ in range(checks))
                differences.append((passed / checks, weight))
        found = difference_interval(differences)
        assert found is not None
        held += found.holds(after - before)
    assert held >= AT_LEAST * EXAMS


@cache
def cached_difference(better: int, worse: int, of: int) -> Interval:
    return tango_interval(better, worse, of, correction=1.0)


@pytest.mark.parametrize("questions", [10, 20, 100])
@pytest.mark.parametrize(
    ("before", "after"), [(0.5, 0.5), (0.5, 0.8), (0.7, 0.9), (0.9, 0.9), (0.9, 0.98), (0.95, 0.98), (0.98, 0.98)]
)
@pytest.mark.parametrize("alike", [0.0, 0.7])
def test_the_interval_of_a_difference_covers_it_in_2000_exams(
    questions: int, before: float, after: float, alike: float
) -> None:
    """Two settings with these true scores; on a share of the questions both do the same wherever they can."""
    random = Random(questions + round(before * 100) + round(after * 10_000))
    held = 0
    for _ in range(EXAMS):
        better = worse = 0
        for _ in range(questions):
            luck = random.random()
            other = luck if random.random() < alike else random.random()
            passed, now = luck < before, other < after
            better += now and not passed
            worse += passed and not now
        held += cached_difference(better, worse, questions).holds(after - before)
    assert held >= AT_LEAST * EXAMS


def test_weights_and_parts_enter_a_difference_as_they_enter_a_score() -> None:
    # Two questions of weight 1 and 1: half a point better, half a point worse.
    found = difference_interval([(0.5, 1.0), (-0.5, 1.0)])
    whole = tango_interval(0.5, 0.5, 2, correction=1.0)
    assert found == whole
    assert whole.low == pytest.approx(-whole.high)
