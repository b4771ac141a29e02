"""What a cell is: the runs of one question under one setting, and the sums of each setting over its cells.

Every rate that a screen, note or export shows is made by `rate`, so that it carries its denominator.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from statistics import median
from typing import Final

from resit.core.records import FAIR, Attempt, FaultKind, Reason, Row, RunRecord, Setting, Usage, VerdictWord
from resit.core.scoring.grade import counted, grade_attempt
from resit.core.suite import Question

UNBILLED: Final[frozenset[FaultKind]] = frozenset(
    {"key", "model", "billing", "request", "limit", "quota", "overloaded"}
)
"""Faults that a server reports before it works: without a word on usage they cost nothing."""


def make_row(
    question: Question, record: RunRecord, verdict: VerdictWord | None = None, *, asked: str | None = None
) -> Row:
    """One run, graded, as every table and export holds it.

    Seconds, turns and reply are those of the attempt that counts; tokens and cost are those of all attempts together.

    Args:
        question: What is accepted, and how.
        record: The run, with every attempt it took.
        verdict: A person's word on it.
        asked: Only replies to this request count.
    """
    attempt = counted(record, asked)
    graded = grade_attempt(question, record, attempt)
    reply = attempt.reply if attempt else None
    setting, tokens = record.setting, _tokens(record.attempts)
    return Row(
        question=question.id,
        kind=question.kind,
        setting=setting.label,
        model=setting.model,
        effort=setting.effort,
        variant=setting.variant,
        run=record.run,
        outcome=graded.outcome,
        score=graded.score,
        second_score=graded.second_score,
        reason=graded.reason,
        failed=graded.failed,
        reply=graded.reply,
        seconds=reply.seconds if reply else None,
        attempts=len(record.attempts),
        input_tokens=tokens[0],
        cache_write_tokens=tokens[1],
        cache_read_tokens=tokens[2],
        output_tokens=tokens[3],
        thinking_tokens=tokens[4],
        cost_usd=_cost_usd(record.attempts),
        turns=reply.turns if reply else None,
        verdict=verdict,
        rule=graded.rule,
        doubt=graded.doubtful,
    )


def _usage(attempt: Attempt) -> Usage | None:
    if attempt.reply is not None:
        return attempt.reply.usage
    return attempt.fault.usage if attempt.fault else None


def _tokens(attempts: Sequence[Attempt]) -> tuple[int | None, ...]:
    """Tokens of all attempts in the order of `Usage`, each kind apart; None for a kind that no attempt reports."""
    used = [_kinds(usage) for attempt in attempts if (usage := _usage(attempt)) is not None]
    if len(used) == 1:
        return used[0]
    return tuple(total(kind) for kind in zip(*used, strict=True)) if used else (None,) * 5


def _kinds(usage: Usage) -> tuple[int | None, ...]:
    return (
        usage.input_tokens,
        usage.cache_write_tokens,
        usage.cache_read_tokens,
        usage.output_tokens,
        usage.thinking_tokens,
    )


def total(values: Iterable[int | None]) -> int | None:
    """The sum of what is known; None when nothing is."""
    known = [value for value in values if value is not None]
    return sum(known) if known else None


def _cost_usd(attempts: Sequence[Attempt]) -> Decimal | None:
    """What all attempts cost together; None when one of them has no price, for unknown is not free."""
    if len(attempts) == 1:
        return _attempt_cost(attempts[0])
    costs = [_attempt_cost(attempt) for attempt in attempts]
    known = [cost for cost in costs if cost is not None]
    return sum(known, Decimal(0)) if costs and len(known) == len(costs) else None


def _attempt_cost(attempt: Attempt) -> Decimal | None:
    if attempt.cost_usd is None and attempt.fault and attempt.fault.usage is None and attempt.fault.kind in UNBILLED:
        return Decimal(0)
    return attempt.cost_usd


@dataclass(frozen=True, slots=True)
class Rate:
    """A part of a whole, with its denominator."""

    part: float
    of: float

    @property
    def share(self) -> float | None:
        """0.0 to 1.0. None of nothing."""
        return self.part / self.of if self.of else None

    def __str__(self) -> str:
        return f"{self.part:g}/{self.of:g}"


def rate(scores: Iterable[tuple[float | None, float]]) -> Rate:
    """The one way a rate is made: weighted scores over the weights of those that have one.

    Args:
        scores: Pairs of a score, 0.0 to 1.0, and its weight; a score of None is unsettled and counts on neither side.
    """
    part = whole = 0.0
    for score, weight in scores:
        if score is not None:
            part += score * weight
            whole += weight
    return Rate(part, whole)


def settled_score(row: Row) -> float | None:
    """The score that counts for a run; None while it is unsettled or a verdict took it out.

    A run without a fair answer is settled by a verdict: as the model's fault it scores 0, as anything else's it
    scores nothing. A verdict on a fair answer changes no score: the rule or the question is what must change.
    """
    if row.score is not None:
        return row.score
    return 0.0 if row.verdict == "model" else None


def unsettled(row: Row) -> bool:
    """Whether a run has no fair answer and no verdict: owed, or to be read."""
    return row.outcome not in FAIR and row.verdict is None


@dataclass(frozen=True, slots=True)
class Cell:
    """One question under one setting, over all its runs."""

    lowest: float | None
    """Worst score of the runs, 0.0 to 1.0. None when no run is settled."""
    mean: float | None
    spread: float | None
    """Best minus worst."""
    count: int
    """Runs with a score: the n of the lowest."""
    unsettled: int
    second_lowest: float | None
    """Worst score under the second rule, where there is one."""
    second_mean: float | None
    runs: tuple[Row, ...]
    """In order."""


def make_cell(rows: Iterable[Row]) -> Cell:
    """The cell of these runs of one question under one setting."""
    runs = tuple(sorted(rows, key=lambda row: row.run))
    if len(runs) == 1:
        return _cell_of_one(runs)
    scores = [score for row in runs if (score := settled_score(row)) is not None]
    second = [row.second_score for row in runs if row.second_score is not None]
    return Cell(
        lowest=min(scores, default=None),
        mean=_mean(scores),
        spread=max(scores) - min(scores) if scores else None,
        count=len(scores),
        unsettled=sum(unsettled(row) for row in runs),
        second_lowest=min(second, default=None),
        second_mean=_mean(second),
        runs=runs,
    )


def _cell_of_one(runs: tuple[Row]) -> Cell:
    """The same for one run: a grid has up to 30,000 such cells, and they take half the time this way."""
    (row,) = runs
    score, second = settled_score(row), row.second_score
    spread, count = (None, 0) if score is None else (0.0, 1)
    return Cell(score, score, spread, count, int(unsettled(row)), second, second, runs)


def _mean(scores: Sequence[float]) -> float | None:
    return rate((score, 1.0) for score in scores).share


@dataclass(frozen=True, slots=True)
class SettingSummary:
    """One setting over all its questions and runs."""

    setting: Setting
    of: int
    """Questions asked: the denominator of `lowest_full`."""
    planned: int
    """Runs that belong to the plan."""
    graded: int
    """Runs with a fair answer."""
    unsettled: int
    """Runs without a fair answer and without a verdict; runs not asked yet are not among them."""
    cut_off: int
    """Runs cut off at the token limit."""
    cut_off_said: str
    """`2 of 40 cut off at 200 tokens`; empty without any. Stands beside the score: such a limit looks like weakness."""
    lowest_full: int
    """Questions whose lowest run has full marks."""
    lowest_score: float | None
    """Weighted mean of the lowest scores."""
    mean: float | None
    """Weighted mean of the mean scores."""
    second_lowest_full: int
    """As `lowest_full` under the second rule; a question without one counts under its own."""
    second_lowest_score: float | None
    second_mean: float | None
    """None when no run was graded under a second rule."""
    misses_by_reason: Mapping[Reason, int]
    cost_usd: Decimal | None
    """Of all attempts of all runs whose price is known. None when none is."""
    cost_at_least: bool
    """True when a run without a price is not in `cost_usd`."""
    seconds_total: float | None
    seconds_median: float | None
    input_tokens: int | None
    cache_write_tokens: int | None
    cache_read_tokens: int | None
    output_tokens: int | None
    thinking_tokens: int | None


@dataclass(frozen=True, slots=True)
class Grid:
    """All cells and sums of a round; a new one is made for every change."""

    cells: Mapping[tuple[str, str], Cell]
    """By question id and setting label, in suite order; a place without runs has none."""
    summaries: Mapping[str, SettingSummary]
    """By setting label, in the order of the plan."""
    questions: tuple[Question, ...]
    settings: tuple[Setting, ...]
    repeats: int
    """Runs planned for each cell."""
    max_tokens: int | None
    """The limit of questions that name none, where it is known."""


def build_grid(
    rows: Iterable[Row],
    questions: Sequence[Question],
    settings: Sequence[Setting],
    *,
    repeats: int | None = None,
    max_tokens: int | None = None,
) -> Grid:
    """The grid of a round, in suite order whatever order its jobs finished in.

    Args:
        rows: Graded runs in any order; those of other questions or settings are left out.
        questions: The questions asked, in suite order.
        settings: The settings asked, in plan order.
        repeats: Runs planned for each question and setting; None takes the highest run there is.
        max_tokens: The suite's limit, for the sentence on cut replies.
    """
    places: dict[tuple[str, str], list[Row]] = {(q.id, s.label): [] for q in questions for s in settings}
    highest = 1
    for row in rows:
        runs = places.get((row.question, row.setting))
        if runs is not None:
            runs.append(row)
            highest = max(highest, row.run)
    cells = {place: make_cell(runs) for place, runs in places.items() if runs}
    grid = Grid(cells, {}, tuple(questions), tuple(settings), repeats or highest, max_tokens)
    return sum_up(grid, [setting.label for setting in settings])


def update_grid(grid: Grid, question: str, rows: Iterable[Row]) -> Grid:
    """The grid with other runs of one question, all of them in `rows`; only what they touch is made again.

    Args:
        grid: As it was.
        question: The id of the question that was graded again or answered.
        rows: All its runs, in every setting.
    """
    fresh: dict[tuple[str, str], list[Row]] = {(question, setting.label): [] for setting in grid.settings}
    for row in rows:
        if (row.question, row.setting) in fresh:
            fresh[row.question, row.setting].append(row)
    found, touched = lay_over(grid, fresh)
    return sum_up(found, touched) if touched else grid


def lay_over(grid: Grid, runs: Mapping[tuple[str, str], Sequence[Row]]) -> tuple[Grid, list[str]]:
    """The grid with other cells in some places, and the settings whose sums are to be made again.

    Args:
        grid: As it was.
        runs: All runs of each of these places, by question id and setting label.
    """
    cells = dict(grid.cells)
    touched = dict.fromkeys(place[1] for place, of in runs.items() if _lay(cells, place, of))
    return (replace(grid, cells=_in_order(cells, grid)), list(touched)) if touched else (grid, [])


def _lay(cells: dict[tuple[str, str], Cell], place: tuple[str, str], runs: Sequence[Row]) -> bool:
    """Put these runs in their place; whether that changes anything."""
    before = cells.get(place)
    if (before.runs if before else ()) == tuple(sorted(runs, key=lambda row: row.run)):
        return False
    if runs:
        cells[place] = make_cell(runs)
    else:
        del cells[place]
    return True


def _in_order(cells: Mapping[tuple[str, str], Cell], grid: Grid) -> Mapping[tuple[str, str], Cell]:
    """The cells in suite order, which only a place that came or went disturbs."""
    if cells.keys() == grid.cells.keys():
        return cells
    places = ((question.id, setting.label) for question in grid.questions for setting in grid.settings)
    return {place: cells[place] for place in places if place in cells}


def sum_up(grid: Grid, labels: Iterable[str]) -> Grid:
    """The grid with the sums of these settings made again."""
    by_label = {setting.label: setting for setting in grid.settings}
    kept = {**grid.summaries, **{label: summarise(grid, by_label[label]) for label in labels}}
    return replace(grid, summaries={setting.label: kept[setting.label] for setting in grid.settings})


def summarise(grid: Grid, setting: Setting) -> SettingSummary:
    """The sums of one setting over the cells of `grid`."""
    pairs = [(grid.cells.get((question.id, setting.label)), question.weight) for question in grid.questions]
    found = [(cell, weight) for cell, weight in pairs if cell is not None]
    rows = [row for cell, _ in found for row in cell.runs]
    costs = [row.cost_usd for row in rows if row.cost_usd is not None]
    seconds = [row.seconds for row in rows if row.seconds is not None]
    cut = [row for row in rows if row.outcome == "cut_off"]
    has_second = any(cell.second_lowest is not None for cell, _ in found)
    return SettingSummary(
        setting=setting,
        of=len(grid.questions),
        planned=len(grid.questions) * grid.repeats,
        graded=sum(row.outcome in FAIR for row in rows),
        unsettled=sum(cell.unsettled for cell, _ in found),
        cut_off=len(cut),
        cut_off_said=_cut_off_said(cut, len(rows), grid),
        lowest_full=sum(cell.lowest == 1.0 for cell, _ in found),
        lowest_score=rate((cell.lowest, weight) for cell, weight in found).share,
        mean=rate((cell.mean, weight) for cell, weight in found).share,
        second_lowest_full=sum(_second(cell.second_lowest, cell.lowest) == 1.0 for cell, _ in found),
        second_lowest_score=rate((_second(c.second_lowest, c.lowest), w) for c, w in found).share,
        second_mean=rate((_second(c.second_mean, c.mean), w) for c, w in found).share if has_second else None,
        misses_by_reason=Counter(row.reason for row in rows if row.reason is not None),
        cost_usd=sum(costs, Decimal(0)) if costs else None,
        cost_at_least=len(costs) < len(rows),
        seconds_total=sum(seconds) if seconds else None,
        seconds_median=median(seconds) if seconds else None,
        input_tokens=total(row.input_tokens for row in rows),
        cache_write_tokens=total(row.cache_write_tokens for row in rows),
        cache_read_tokens=total(row.cache_read_tokens for row in rows),
        output_tokens=total(row.output_tokens for row in rows),
        thinking_tokens=total(row.thinking_tokens for row in rows),
    )


def _second(second: float | None, own: float | None) -> float | None:
    return own if second is None else second


def _cut_off_said(cut: Sequence[Row], runs: int, grid: Grid) -> str:
    """How many were cut off, of how many, at which limits."""
    if not cut:
        return ""
    limits = {question.id: question.max_tokens or grid.max_tokens for question in grid.questions}
    caps = sorted({cap for row in cut if (cap := limits[row.question]) is not None})
    where = f"{' or '.join(map(str, caps))} tokens" if caps else "the token limit"
    return f"{len(cut)} of {runs} cut off at {where}"
