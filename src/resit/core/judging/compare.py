"""Is one setting better than another? Two settings, or two rounds, held against each other question by question."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from resit.core.judging.evidence import Evidence
from resit.core.judging.gates import UNTESTED
from resit.core.judging.stats import (
    LEVEL,
    Interval,
    difference_interval,
    effective_count,
    questions_needed,
    sign_test,
    smallest_found,
)
from resit.core.judging.wording import counted, interval_said, named, p_said, points, signed
from resit.core.records import Row
from resit.core.scoring.grid import Cell, Rate, make_cell, rate, settled_score
from resit.core.suite import Question

Change = Literal["broken", "fixed", "noise", "still missed", "held"]
"""`noise`: the lowest differs, but a side's own runs differ as much. `held`: full marks on both sides."""
CHANGES: tuple[Change, ...] = get_args(Change)


@dataclass(frozen=True, slots=True)
class Side:
    """One side of a comparison."""

    round_id: str
    label: str

    @property
    def name(self) -> str:
        """The setting and its round."""
        return f"{self.label} ({self.round_id})"


@dataclass(frozen=True, slots=True)
class Pair:
    """A question that both sides answered, over the same number of runs on each side."""

    question: Question
    before: Cell
    after: Cell
    change: Change

    @property
    def difference(self) -> float:
        """Lowest score after minus lowest score before."""
        return (self.after.lowest or 0.0) - (self.before.lowest or 0.0)


@dataclass(frozen=True, slots=True)
class Unpaired:
    """Questions that do not enter the comparison, by why."""

    only_before: tuple[str, ...] = ()
    only_after: tuple[str, ...] = ()
    asked_differently: tuple[str, ...] = ()
    """The same id, another prompt, file, system text or limit."""
    graded_differently: tuple[str, ...] = ()
    """Asked alike, but graded under two rules."""
    unsettled: tuple[str, ...] = ()
    """No run with a score on one side or both."""
    left_out: tuple[str, ...] = ()
    """A verdict on one side says that the question is at fault."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two sides, on the questions that both have."""

    before: Side
    after: Side
    stated: tuple[str, ...]
    """What makes the sides unequal; said before anything else."""
    pairs: tuple[Pair, ...]
    """In suite order."""
    unpaired: Unpaired
    score_before: Rate
    """Weighted lowest scores on the pairs."""
    score_after: Rate
    difference: float | None
    """Share after minus share before. None without a pair."""
    interval: Interval | None
    """95 % interval of the difference; the question is the unit."""
    better: int
    """Questions with a higher lowest score after."""
    worse: int
    p_value: float
    """Of the exact sign test on `better` and `worse`."""
    smallest_found: float | None
    """The difference that this many questions find in four exams of five; None below six questions."""
    needed: int | None
    """Questions that find a difference as large as the one seen in four exams of five; None without a difference."""

    def of_change(self, change: Change) -> tuple[Pair, ...]:
        """The pairs with this change, in suite order."""
        return tuple(pair for pair in self.pairs if pair.change == change)

    @property
    def by_kind(self) -> tuple[tuple[str, Rate, Rate], ...]:
        """By kind of work, the weighted lowest scores before and after, in suite order."""
        kinds = dict.fromkeys(pair.question.kind for pair in self.pairs)
        return tuple((kind, *_rates([p for p in self.pairs if p.question.kind == kind])) for kind in kinds)

    @property
    def differs(self) -> bool:
        """True when chance alone would rarely give such a difference."""
        return self.p_value < LEVEL

    @property
    def too_easy(self) -> bool:
        """True when both sides have full marks on every pair: nothing can be told apart."""
        return bool(self.pairs) and len(self.of_change("held")) == len(self.pairs)

    @property
    def counts_said(self) -> str:
        """`1 broken · 3 fixed · 2 noise · 5 still missed · 9 held`."""
        return " · ".join(f"{len(self.of_change(change)):,} {change}" for change in CHANGES)

    @property
    def said(self) -> str:
        """What may be concluded, in a sentence or two."""
        return _conclusion(self)


def compare(before: Evidence, label_before: str, after: Evidence, label_after: str) -> Comparison:
    """Hold two settings against each other.

    Where one side has more runs of a question, its first ones are taken, for the lowest of many runs is lower than
    the lowest of few.

    Args:
        before: Where the first side stands.
        label_before: Its setting.
        after: Where the second side stands; the same evidence for two settings of one round.
        label_after: Its setting.
    """
    questions, unpaired = _shared(before, label_before, after, label_after)
    pairs = tuple(
        _pair(question, before.grid.cells[question.id, label_before], after.grid.cells[question.id, label_after])
        for question in questions
    )
    score_before, score_after = _rates(pairs)
    share_before, share_after = score_before.share, score_after.share
    difference = None if share_before is None or share_after is None else share_after - share_before
    weighed = [pair for pair in pairs if pair.question.weight > 0]
    better = sum(pair.difference > 0 for pair in weighed)
    worse = sum(pair.difference < 0 for pair in weighed)
    changing = (better + worse) / len(weighed) if weighed else 0.0
    return Comparison(
        before=Side(before.rounds[0], label_before),
        after=Side(after.rounds[0], label_after),
        stated=_stated(before, label_before, after, label_after, unpaired, questions),
        pairs=pairs,
        unpaired=unpaired,
        score_before=score_before,
        score_after=score_after,
        difference=difference,
        interval=difference_interval((pair.difference, pair.question.weight) for pair in pairs),
        better=better,
        worse=worse,
        p_value=sign_test(better, worse),
        smallest_found=smallest_found(effective_count(pair.question.weight for pair in pairs), changing),
        needed=questions_needed(difference or 0.0, changing),
    )


def _rates(pairs: Sequence[Pair]) -> tuple[Rate, Rate]:
    """Weighted lowest scores of some pairs, before and after."""
    return (
        rate((pair.before.lowest, pair.question.weight) for pair in pairs),
        rate((pair.after.lowest, pair.question.weight) for pair in pairs),
    )


def compare_rounds(before: Evidence, after: Evidence) -> tuple[Comparison, ...]:
    """Every setting that both rounds have, against itself, in the order of the second."""
    return tuple(compare(before, label, after, label) for label in after.labels if label in before.labels)


def _shared(
    before: Evidence, label_before: str, after: Evidence, label_after: str
) -> tuple[tuple[Question, ...], Unpaired]:
    """The questions that can be paired, and the others by why not."""
    old, new = {q.id: q for q in before.questions}, {q.id: q for q in after.questions}
    out = frozenset(before.questions_out) | frozenset(after.questions_out)
    common = [question for question in after.questions if question.id in old and question.id not in out]
    asked = [
        q
        for q in common
        if before.asks[q.id] == after.asks[q.id] and _worded_alike(before, label_before, after, label_after)
    ]
    graded = [question for question in asked if old[question.id].rule_digest == question.rule_digest]
    settled = [
        question
        for question in graded
        if _scored(before, question.id, label_before) and _scored(after, question.id, label_after)
    ]
    return tuple(settled), Unpaired(
        only_before=tuple(name for name in old if name not in new and name not in out),
        only_after=tuple(name for name in new if name not in old and name not in out),
        asked_differently=_without(common, asked),
        graded_differently=_without(asked, graded),
        unsettled=_without(graded, settled),
        left_out=tuple(dict.fromkeys((*before.questions_out, *after.questions_out))),
    )


def _without(whole: Sequence[Question], part: Sequence[Question]) -> tuple[str, ...]:
    """Ids of the questions of `whole` that are not in `part`."""
    kept = {question.id for question in part}
    return tuple(question.id for question in whole if question.id not in kept)


def _worded_alike(before: Evidence, label_before: str, after: Evidence, label_after: str) -> bool:
    """False when one variant's name stands for two wordings; two variants are two settings, and meant to differ."""
    if before.setting(label_before).variant != after.setting(label_after).variant:
        return True
    return before.wordings[label_before] == after.wordings[label_after]


def _scored(evidence: Evidence, question: str, label: str) -> bool:
    cell = evidence.grid.cells.get((question, label))
    return cell is not None and cell.count > 0


def _pair(question: Question, before: Cell, after: Cell) -> Pair:
    count = min(before.count, after.count)
    old, new = _first(before, count), _first(after, count)
    return Pair(question, old, new, _change(old, new))


def _first(cell: Cell, count: int) -> Cell:
    """The cell of its first `count` runs with a score."""
    if cell.count == count == len(cell.runs):
        return cell
    scored: list[Row] = [row for row in cell.runs if settled_score(row) is not None]
    return make_cell(scored[:count])


def _change(before: Cell, after: Cell) -> Change:
    full_before, full_after = before.lowest == 1.0, after.lowest == 1.0
    if full_before and full_after:
        return "held"
    if not full_before and not full_after:
        return "still missed"
    lower = after if full_before else before
    # One run of the lower side has full marks too: its runs differ among themselves as much as the sides do.
    if any(settled_score(row) == 1.0 for row in lower.runs):
        return "noise"
    return "broken" if full_before else "fixed"


def _stated(
    before: Evidence,
    label_before: str,
    after: Evidence,
    label_after: str,
    unpaired: Unpaired,
    shared: Sequence[Question],
) -> tuple[str, ...]:
    """What makes the sides unequal, in sentences."""
    said = [*before.stated, *(line for line in after.stated if line not in before.stated)]
    if before.suite != after.suite:
        said.append(f"two suites: {before.suite} before, {after.suite} after")
    elif before.suite_digest != after.suite_digest:
        said.append("the suite changed between the two rounds")
    said += _sets_said(len(before.questions), len(after.questions), len(shared), unpaired)
    said += _runs_said(before, label_before, after, label_after, shared)
    old, new = before.setting(label_before).variant, after.setting(label_after).variant
    if old != new:
        said.append(f"the wordings differ, as the settings say: {old} before, {new} after")
    if before.endpoints[label_before] != after.endpoints[label_after]:
        said.append(f"asked at {before.endpoints[label_before]} before, at {after.endpoints[label_after]} after")
    return tuple(said)


def _sets_said(count_before: int, count_after: int, shared: int, unpaired: Unpaired) -> Iterable[str]:
    reasons = (
        ("only before", unpaired.only_before),
        ("only after", unpaired.only_after),
        ("asked in another way", unpaired.asked_differently),
        ("graded under another rule", unpaired.graded_differently),
        ("without a fair answer on a side", unpaired.unsettled),
        ("left out by a verdict", unpaired.left_out),
    )
    left = [f"{len(names):,} {why} ({named(names)})" for why, names in reasons if names]
    if left:
        yield (
            f"{counted(shared, 'question')} of {count_before:,} before and {count_after:,} after can be compared; "
            + "; ".join(left)
        )


def _runs_said(
    before: Evidence, label_before: str, after: Evidence, label_after: str, shared: Sequence[Question]
) -> Iterable[str]:
    counts = [
        (before.grid.cells[question.id, label_before].count, after.grid.cells[question.id, label_after].count)
        for question in shared
    ]
    unequal = sum(old != new for old, new in counts)
    if unequal:
        yield (
            f"the numbers of runs differ: {_range([old for old, _ in counts])} before, "
            f"{_range([new for _, new in counts])} after; of each question the same number is compared, the first ones"
        )
    single = sum(min(pair) == 1 for pair in counts)
    if single:
        yield f"{single:,} of {counted(len(counts), 'question')} on one run: {UNTESTED}, noise looks like change"


def _range(counts: Sequence[int]) -> str:
    least, most = min(counts), max(counts)
    return str(least) if least == most else f"{least} to {most}"


def _conclusion(found: Comparison) -> str:
    if found.difference is None:
        return "Nothing can be compared: the two sides share no question with a fair answer."
    count = counted(len(found.pairs), "shared question")
    if found.too_easy:
        return f"Full marks on both sides, on {count}: too easy to separate them."
    split = f"{found.better:,} better, {found.worse:,} worse, {p_said(found.p_value)}"
    where = f"95% interval {_points_said(found.interval)}"
    if not found.better and not found.worse:
        return f"The same scores on both sides, on {count}; {where}."
    if found.differs:
        word = "better" if found.better > found.worse else "worse"
        return f"{found.after.label} is {word}: {points(found.difference)} on {count} ({where}; {split})."
    return f"No difference is shown: {points(found.difference)} on {count} ({where}; {split}). {_reach_said(found)}"


def _points_said(interval: Interval | None) -> str:
    return interval_said(interval) if interval is None else f"{signed(interval.low)} to {signed(interval.high)}"


def _reach_said(found: Comparison) -> str:
    """What this many questions can find, and how many the difference seen would need."""
    if found.smallest_found is None:
        reach = "Fewer than 6 questions cannot show any difference"
    else:
        reach = f"This many questions find a difference of {found.smallest_found * 100:.0f} points or more"
    if found.needed is None:
        return f"{reach}."
    return f"{reach}; one of {abs(found.difference or 0.0) * 100:.1f} points needs about {found.needed:,} questions."
