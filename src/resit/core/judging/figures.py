"""Every figure of a setting that a note, a screen or an export shows, for all of its work or for one kind of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from resit.core.judging.evidence import Evidence, place
from resit.core.judging.stats import Interval, percentile, score_interval
from resit.core.records import FAIR, Row, VerdictWord
from resit.core.scoring.grid import Cell, Rate, SettingSummary, rate, settled_score
from resit.core.scoring.misses import below_full


@dataclass(frozen=True, slots=True)
class Figures:
    """One setting on one kind of work, or on all of it."""

    label: str
    kind: str | None
    """None for all kinds together."""
    summary: SettingSummary
    """Sums over the runs that count."""
    lowest: Rate
    """Weighted lowest scores over the weights of the questions that have one: what the judge looks at."""
    interval: Interval | None
    """Where `lowest` may truly lie on such questions, 95 %; the question is the unit."""
    run_scores: tuple[float | None, ...]
    """Weighted score of each run, first to last, over the questions that have it."""
    spread: float | None
    """Best minus worst of `run_scores`."""
    flapping: tuple[str, ...]
    """Questions whose runs differ in score."""
    runs_least: int
    """Scored runs of the question that has fewest."""
    runs_most: int
    seconds_95: float | None
    """Seconds that 95 of 100 answers did not exceed."""
    cost_each_usd: Decimal | None
    """One run of each question, at the mean cost of its runs. None when a question has no run of known cost."""
    wording_misses: int
    """Runs that miss under the first rule and pass under the second: only the wording failed."""
    below: int
    """Runs that a person should read: below full marks, or without a fair answer."""
    unread: tuple[Row, ...]
    """Those of them without a verdict, or blamed on the grader without a rule change or a reason."""
    verdicts: Mapping[VerdictWord, int]
    """Verdicts on the runs in `below`."""
    by_grader: int
    """Runs blamed on the grader, those that a changed rule has since given full marks among them."""
    misses: int
    """Runs in `below`, and those that a changed rule has since taken out of it."""

    @property
    def full(self) -> bool:
        """True when every question was answered with full marks in every run."""
        return 0 < self.summary.of == self.summary.lowest_full

    @property
    def single(self) -> bool:
        """True when a question has just one scored run: untested for variance."""
        return self.runs_least == 1

    @property
    def grader_said(self) -> str:
        """`3 of 11 misses were the grader's`; empty without any."""
        misses = "1 miss was" if self.misses == 1 else f"{self.misses} misses were"
        return f"{self.by_grader} of {misses} the grader's" if self.by_grader else ""


def figures(evidence: Evidence, label: str, kind: str | None = None) -> Figures:
    """The figures of one setting.

    Args:
        evidence: The runs that count.
        label: The setting.
        kind: A kind of work; None for all.
    """
    return _figures(evidence.of_kind(kind), label, kind)


def all_figures(evidence: Evidence, kind: str | None = None) -> tuple[Figures, ...]:
    """The figures of every setting, in plan order."""
    part = evidence.of_kind(kind)
    return tuple(_figures(part, label, kind) for label in part.labels)


def _figures(part: Evidence, label: str, kind: str | None) -> Figures:
    grid = part.grid
    found = [(question, grid.cells.get((question.id, label))) for question in grid.questions]
    cells = [(question, cell) for question, cell in found if cell is not None]
    scores = [(cell.lowest, question.weight) for question, cell in cells]
    rows = [row for _, cell in cells for row in cell.runs]
    by_run = _run_scores([(cell, question.weight) for question, cell in cells])
    settled = [score for score in by_run if score is not None]
    counts = [cell.count if cell else 0 for _, cell in found]
    seconds = [row.seconds for row in rows if row.seconds is not None]
    below = [row for row in rows if to_read(row)]
    return Figures(
        label=label,
        kind=kind,
        summary=grid.summaries[label],
        lowest=rate(scores),
        interval=score_interval((score, weight) for score, weight in scores if score is not None),
        run_scores=by_run,
        spread=max(settled) - min(settled) if settled else None,
        flapping=tuple(question.id for question, cell in cells if cell.spread),
        runs_least=min(counts, default=0),
        runs_most=max(counts, default=0),
        seconds_95=percentile(seconds, 0.95),
        cost_each_usd=cost_each_usd(cell for _, cell in found),
        wording_misses=sum(row.reason == "format" for row in rows),
        below=len(below),
        unread=tuple(row for row in below if is_open(row, part)),
        verdicts=Counter(row.verdict for row in below if row.verdict is not None),
        by_grader=sum(row.verdict == "grader" for row in rows),
        misses=len(below) + sum(row.verdict == "grader" and not to_read(row) for row in rows),
    )


def to_read(row: Row) -> bool:
    """Whether a person should read a run: below full marks, or without a fair answer."""
    return below_full(row) or row.outcome not in FAIR


def is_open(row: Row, evidence: Evidence) -> bool:
    """Whether a run that should be read still waits for a verdict, or for what its verdict asks for.

    A run blamed on the grader is closed by a changed rule, under which it has full marks, or by a written reason.
    """
    return row.verdict is None or (row.verdict == "grader" and place(row) not in evidence.reasons)


def _run_scores(cells: Sequence[tuple[Cell, float]]) -> tuple[float | None, ...]:
    by_run: dict[int, list[tuple[float | None, float]]] = {}
    for cell, weight in cells:
        for row in cell.runs:
            by_run.setdefault(row.run, []).append((settled_score(row), weight))
    return tuple(rate(by_run[run]).share for run in sorted(by_run))


def cost_each_usd(cells: Iterable[Cell | None]) -> Decimal | None:
    """What one run of each question costs, retries within; None when that is not known of all."""
    whole = Decimal(0)
    for cell in cells:
        costs = [row.cost_usd for row in cell.runs if row.cost_usd is not None] if cell else []
        if not costs:
            return None
        whole += sum(costs, Decimal(0)) / len(costs)
    return whole
