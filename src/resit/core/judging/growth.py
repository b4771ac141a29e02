"""When to stop adding questions: how scores and the first place move as an exam grows.

Exams of several sizes are drawn from the questions at hand, each question as often as chance wants (a bootstrap with
the question as the unit). Sizes beyond the present one say what more questions of the same sort would do; they cannot
know harder ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import Final

from resit.core.judging.evidence import Evidence
from resit.core.judging.stats import percentile
from resit.core.judging.wording import counted, named, percent

SEED: Final = 20_261_130
_DRAWS: Final = 400
_FEWEST_DRAWS: Final = 100
_WORK: Final = 1_500_000
"""Questions drawn in all, over settings: about a third of a second."""
_BEYOND: Final = 4
"""Times the present size that the largest drawn exam has."""
_MOST_POINTS: Final = 24
_FEWEST: Final = 6
"""Of fewer questions, drawn exams show nothing but the few there are."""
STEADY: Final = 0.95
"""The first place holds when it is the same in this share of drawn exams."""


@dataclass(frozen=True, slots=True)
class Point:
    """Drawn exams of one size."""

    questions: int
    first_holds: float
    """Share of drawn exams with the same setting first as the present exam; where several share the first place, each
    counts as first in its part."""
    low: tuple[float, ...]
    """By setting: 5 of 100 drawn exams gave it a lower score."""
    high: tuple[float, ...]
    """By setting: 5 of 100 gave it a higher one."""


@dataclass(frozen=True, slots=True)
class Growth:
    """What growing exams say, and the data of a plot."""

    labels: tuple[str, ...]
    """Settings with a score on every question drawn from."""
    questions: int
    """Questions at hand with a score under every setting."""
    scores: tuple[float, ...]
    """By setting: weighted lowest score on those questions."""
    points: tuple[Point, ...]
    """By growing size; some are larger than the present exam."""
    leaders: tuple[str, ...]
    """First in the present exam; several where they are equal."""
    steady_at: int | None
    """Smallest size drawn from which on the first place holds in 95 of 100 exams; None when none does."""
    said: str
    """One plain sentence."""


def make_growth(evidence: Evidence, kind: str | None = None, *, seed: int = SEED) -> Growth:
    """Draw exams of growing size from the questions that every asked setting has a score on.

    Args:
        evidence: The runs that count.
        kind: A kind of work; None for all.
        seed: The same seed draws the same exams.
    """
    part = evidence.of_kind(kind)
    labels = tuple(label for label in part.labels if any(place[1] == label for place in part.grid.cells))
    table: list[tuple[float, ...]] = []
    weights: list[float] = []
    for question in part.questions:
        cells = [part.grid.cells.get((question.id, label)) for label in labels]
        row = tuple(cell.lowest for cell in cells if cell is not None and cell.lowest is not None)
        if len(row) == len(labels) and question.weight > 0:
            table.append(row)
            weights.append(question.weight)
    return grow(labels, table, weights, seed=seed)


def grow(
    labels: Sequence[str], table: Sequence[Sequence[float]], weights: Sequence[float], *, seed: int = SEED
) -> Growth:
    """Draw exams of growing size.

    Args:
        labels: Names of the settings.
        table: By question, the lowest score of each setting.
        weights: By question.
        seed: The same seed draws the same exams.
    """
    count = len(table)
    if not count or not labels:
        return Growth(tuple(labels), 0, (), (), (), None, _said((), (), 0, (), None))
    whole = sum(weights)
    scores = tuple(sum(row[at] * w for row, w in zip(table, weights, strict=True)) / whole for at in range(len(labels)))
    first = _first(scores)
    leaders = tuple(labels[at] for at in first)
    sizes = _sizes(count)
    drawn = _drawn(table, weights, sizes, Random(seed))
    points = tuple(_point(size, exams, first) for size, exams in zip(sizes, drawn, strict=True))
    steady = _steady_at(points)
    said = _said(leaders, scores, count, points, steady)
    return Growth(tuple(labels), count, scores, points, leaders, steady, said)


def _sizes(count: int) -> tuple[int, ...]:
    """Sizes from a few questions to some times the present one, which is among them."""
    step = max(1, round(count / (_MOST_POINTS // 2)))
    upto = list(range(step, count + 1, step))
    beyond = [round(count * times) for times in (1.25, 1.5, 1.75, 2, 2.5, 3, 3.5, _BEYOND)]
    return tuple(sorted({*upto, count, *beyond}))


def _drawn(
    table: Sequence[Sequence[float]], weights: Sequence[float], sizes: Sequence[int], random: Random
) -> list[list[tuple[float, ...]]]:
    """By size, the score of every setting in each drawn exam. One exam grows through all sizes."""
    settings = range(len(table[0]))
    weighed = [[row[at] * weight for row, weight in zip(table, weights, strict=True)] for at in settings]
    draws = max(_FEWEST_DRAWS, min(_DRAWS, _WORK // (sizes[-1] * (len(settings) + 1))))
    found: list[list[tuple[float, ...]]] = [[] for _ in sizes]
    numbers = range(len(table))
    for _ in range(draws):
        sums, whole, before = [0.0 for _ in settings], 0.0, 0
        for at, size in enumerate(sizes):
            chosen = random.choices(numbers, k=size - before)
            before = size
            whole += sum(map(weights.__getitem__, chosen))
            for setting in settings:
                sums[setting] += sum(map(weighed[setting].__getitem__, chosen))
            found[at].append(tuple(part / whole for part in sums))
    return found


def _first(scores: Sequence[float]) -> tuple[int, ...]:
    best = max(scores, default=0.0)
    return tuple(at for at, score in enumerate(scores) if score > best - 1e-9)


def _point(size: int, exams: Sequence[tuple[float, ...]], first: Sequence[int]) -> Point:
    holds = 0.0
    for scores in exams:
        leading = _first(scores)
        holds += sum(at in first for at in leading) / len(leading)
    columns = list(zip(*exams, strict=True))
    return Point(
        questions=size,
        first_holds=holds / len(exams),
        low=tuple(percentile(column, 0.05) or 0.0 for column in columns),
        high=tuple(percentile(column, 0.95) or 0.0 for column in columns),
    )


def _steady_at(points: Sequence[Point]) -> int | None:
    steady = None
    for point in reversed(points):
        if point.first_holds < STEADY:
            break
        steady = point.questions
    return steady


def _said(
    leaders: Sequence[str], scores: Sequence[float], count: int, points: Sequence[Point], steady: int | None
) -> str:
    if not points:
        return "No question has a score under every setting, so nothing can be said on more of them."
    questions = counted(count, "question")
    if min(scores) > 1 - 1e-9:
        who = "Every setting has" if len(scores) > 1 else "The setting has"
        return f"{who} full marks on {questions}: more of the same sort cannot separate any; harder ones may."
    if count < _FEWEST:
        return f"{questions} cannot say whether more would help."
    if len(scores) == 1:
        return _alone_said(questions, count, points)
    if len(leaders) == len(scores):
        return f"All settings have the same score on {questions}: no first place that more questions could confirm."
    if len(leaders) > 1:
        return f"{named(leaders)} share the first place on {questions}: more like them may or may not part them."
    now = next(point for point in points if point.questions == count)
    held = f"{leaders[0]} comes first in {percent(now.first_holds)} of exams drawn from these {questions}"
    if steady is not None and steady <= count:
        return f"{held}, and in 95% or more from {steady} on: more like them will hardly change the first place."
    if steady is not None:
        return f"{held}; about {steady} like them would make it 95%."
    return f"{held}, and even {points[-1].questions} like them would not make it 95%: the first two are close."


def _alone_said(questions: str, count: int, points: Sequence[Point]) -> str:
    now = next(point for point in points if point.questions == count)
    return (
        f"With {questions} the score lies between {percent(now.low[0])} and {percent(now.high[0])} in 90 of 100 drawn "
        f"exams; {points[-1].questions} would make it {percent(points[-1].low[0])} to {percent(points[-1].high[0])}."
    )
