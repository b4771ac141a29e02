"""What a number of questions can say: intervals, the paired test, and how many questions a difference needs.

The question is the unit throughout: whoever calls this passes one number a question, whatever the number of runs
behind it. Twelve runs of four questions are four.

Questions may have weights and scores between 0 and 1. Unequal weights count as the smaller number of equally weighted
questions that says as much (Kish: the squared sum of the weights over the sum of their squares). A score between 0
and 1 varies less than right or wrong with the same mean, so what is exact for right or wrong is on the safe side for
it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from resit.core.judging.beta import beta_cdf, beta_quantile

Z_95: Final = 1.959963984540054
"""Of the normal distribution, 95 % lie between minus this and this."""
Z_POWER_80: Final = 0.8416212335729143
POWER: Final = 0.8
"""How often a real difference of the size told would be found."""
LEVEL: Final = 0.05
"""A difference is called real when chance alone would give one like it less often than this."""
_NEARLY: Final = 1e-9
_FEWEST: Final = 6
"""Five questions that all go one way still give a sign test of 6 %."""
_EXACT_TO: Final = 200
"""Questions up to which power is counted out: beyond, the formula is within a few per cent and far quicker."""
_FINE: Final = 0.005


@dataclass(frozen=True, slots=True)
class Interval:
    """Where a figure may truly lie: 95 of 100 such intervals hold the true value."""

    low: float
    high: float

    def holds(self, value: float) -> bool:
        """Whether `value` lies within."""
        return self.low - _NEARLY <= value <= self.high + _NEARLY


def effective_count(weights: Iterable[float]) -> float:
    """How many equally weighted questions say as much as these; 0 of none."""
    known = [weight for weight in weights if weight > 0]
    squares = sum(weight * weight for weight in known)
    return sum(known) ** 2 / squares if squares else 0.0


def score_interval(scores: Iterable[tuple[float, float]]) -> Interval | None:
    """The 95 % interval of a mean score, for questions of which these are a sample.

    Clopper and Pearson's exact binomial interval on the effective number of questions (as Korn and Graubard use it
    for weighted surveys). It never covers less than it says where scores are 0 or 1 and weights are equal.

    Args:
        scores: A question's score, 0.0 to 1.0, and its weight.

    Returns:
        None without a question of positive weight.
    """
    pairs = [(score, weight) for score, weight in scores if weight > 0]
    count = effective_count(weight for _, weight in pairs)
    if not count:
        return None
    passed = count * sum(score * weight for score, weight in pairs) / sum(weight for _, weight in pairs)
    missed = count - passed
    low = 0.0 if passed < _NEARLY else beta_quantile(LEVEL / 2, round(passed, 9), round(missed + 1, 9))
    high = 1.0 if missed < _NEARLY else beta_quantile(1 - LEVEL / 2, round(passed + 1, 9), round(missed, 9))
    return Interval(low, high)


def sign_test(better: int, worse: int) -> float:
    """The chance of so uneven a split, or a more uneven one, when better and worse are equally likely.

    The exact two-sided sign test; on right-or-wrong questions it is McNemar's exact test. Questions without a
    difference say nothing and are not counted.
    """
    of = better + worse
    ways = tail = 1
    for count in range(min(better, worse)):
        ways = ways * (of - count) // (count + 1)
        tail += ways
    # Whole numbers until here, for 2**of leaves the floats beyond a thousand questions.
    return min(1.0, 2 * tail / (1 << of))


def difference_interval(differences: Iterable[tuple[float, float]]) -> Interval | None:
    """The 95 % interval of a mean paired difference.

    Tango's score interval (1998), made wider by one question in the numerator, as Edwards corrected McNemar's test:
    so that an interval which leaves out 0 goes with a sign test below 5 %, and coverage holds at 10 questions.

    Args:
        differences: A question's score in the second minus its score in the first, -1.0 to 1.0, and its weight.

    Returns:
        None without a question of positive weight.
    """
    pairs = [(difference, weight) for difference, weight in differences if weight > 0]
    count = effective_count(weight for _, weight in pairs)
    if not count:
        return None
    whole = sum(weight for _, weight in pairs)
    better = count * sum(max(difference, 0.0) * weight for difference, weight in pairs) / whole
    worse = count * sum(max(-difference, 0.0) * weight for difference, weight in pairs) / whole
    return tango_interval(better, worse, count, correction=1.0)


def tango_interval(better: float, worse: float, of: float, *, correction: float = 0.0) -> Interval:
    """Tango's score interval of the paired difference `(better - worse) / of`.

    Args:
        better: Pairs in which only the second passes.
        worse: Pairs in which only the first passes.
        of: All pairs.
        correction: Pairs by which the observed difference is drawn nearer to each value it is held against.
    """
    observed = (better - worse) / of

    def crossing(low: float, high: float, target: float) -> float:
        for _ in range(40):
            middle = (low + high) / 2
            if _tango_score(middle, better, worse, of, correction) > target:
                low = middle
            else:
                high = middle
        return (low + high) / 2

    return Interval(crossing(-1.0, observed, Z_95), crossing(observed, 1.0, -Z_95))


def _tango_score(true: float, better: float, worse: float, of: float, correction: float) -> float:
    """How many standard errors the observed difference lies above `true`, which falls as `true` rises."""
    off = better - worse - of * true
    off = math.copysign(max(abs(off) - correction, 0.0), off)
    b = -better - worse + (2 * of - better + worse) * true
    c = -worse * true * (1 - true)
    share_worse = (math.sqrt(max(b * b - 8 * of * c, 0.0)) - b) / (4 * of)
    variance = of * (2 * share_worse + true * (1 - true))
    if variance <= 0.0:
        return math.copysign(math.inf, off) if off else 0.0
    return off / math.sqrt(variance)


def power(count: int, difference: float, changing: float) -> float:
    """How often `count` questions find a true difference of this size: a sign test below 5 % in its direction.

    Exact: over all numbers of questions that can differ, and all ways they can split.

    Args:
        count: Questions.
        difference: True mean difference on right-or-wrong questions, 0.0 to 1.0.
        changing: Share of questions on which the two differ at all; at least the difference itself is taken.
    """
    differing = min(max(changing, difference), 1.0)
    if differing <= 0.0:
        return 0.0
    upward = (1.0 + difference / differing) / 2
    middle, spread = count * differing, math.sqrt(count * differing * (1 - differing))
    first, last = max(0, math.floor(middle - 5 * spread)), min(count, math.ceil(middle + 5 * spread))
    return sum(
        _binomial(at, count, differing) * _at_least(_splits_from(at), at, upward) for at in range(first, last + 1)
    )


@lru_cache(maxsize=4096)
def _splits_from(of: int) -> int:
    """The least number of questions, of those that differ, that must go one way for a sign test below 5 %."""
    return next((better for better in range((of + 1) // 2, of + 1) if sign_test(better, of - better) < LEVEL), of + 1)


def _binomial(hits: int, of: int, share: float) -> float:
    if share >= 1.0:
        return float(hits == of)
    ways = math.lgamma(of + 1) - math.lgamma(hits + 1) - math.lgamma(of - hits + 1)
    return math.exp(ways + hits * math.log(share) + (of - hits) * math.log1p(-share))


def _at_least(hits: int, of: int, share: float) -> float:
    """The chance of `hits` or more of `of`."""
    if hits > of:
        return 0.0
    return 1.0 if hits <= 0 else beta_cdf(share, hits, of - hits + 1)


def connor(difference: float, changing: float) -> int:
    """Connor's sample size (1987) for McNemar's test at 5 %, two-sided, with a power of 80 %: good for many questions.

    Args:
        difference: True mean difference, above 0.0 and up to 1.0.
        changing: Share of questions on which the two differ at all; at least the difference itself is taken.
    """
    differing = min(max(changing, difference), 1.0)
    root = Z_95 * math.sqrt(differing) + Z_POWER_80 * math.sqrt(max(differing - difference * difference, 0.0))
    return math.ceil((root / difference) ** 2 - _NEARLY)


def questions_needed(difference: float, changing: float) -> int | None:
    """How many questions find such a difference in four exams of five.

    Exact up to some hundred questions; beyond that Connor's formula, which is too low by a few per cent at most.

    Args:
        difference: Mean paired difference, -1.0 to 1.0.
        changing: Share of questions on which the two differ at all; at least the difference itself is taken.

    Returns:
        None for no difference: no number of questions finds nothing.
    """
    size = min(abs(difference), 1.0)
    if size < _NEARLY:
        return None
    count = max(connor(size, changing), _FEWEST)
    while count <= _EXACT_TO and power(count, size, changing) < POWER:
        count += 1
    return count


def smallest_found(count: float, changing: float) -> float | None:
    """The smallest true difference that `count` questions find in four exams of five, to half a per cent.

    Args:
        count: Questions, as `effective_count` counts them.
        changing: Share of questions on which the two differ at all.

    Returns:
        None when no difference is large enough: fewer than six questions never give a sign test below 5 %.
    """
    whole = math.floor(count + _NEARLY)
    if whole < _FEWEST:
        return None
    low, high = 0.0, 1.0
    while high - low > _FINE:
        middle = (low + high) / 2
        found = power(whole, middle, changing) >= POWER if whole <= _EXACT_TO else connor(middle, changing) <= whole
        low, high = (low, middle) if found else (middle, high)
    return high


def percentile(values: Sequence[float], share: float) -> float | None:
    """The smallest value that at least `share` of all do not exceed (nearest rank); None of none."""
    if not values:
        return None
    rank = max(1, math.ceil(share * len(values) - _NEARLY))
    return sorted(values)[rank - 1]
