"""A suite over its rounds: how each setting stood and what it cost, and what became of each question.

Every round is told under the rules that hold now. A question whose wording has changed since keeps the rules it was
asked with; where that is so, sums of two rounds do not rest on the same rules, and this is said.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from operator import attrgetter
from typing import Literal

from resit.core.judging.evidence import Evidence, gather
from resit.core.judging.figures import all_figures
from resit.core.judging.wording import counted, named
from resit.core.rounds.shelf import OpenedRound
from resit.core.rule import digest
from resit.core.scoring.grid import Cell, settled_score


@dataclass(frozen=True, slots=True)
class Standing:
    """One setting in one round."""

    round_id: str
    at: datetime
    """When the round began."""
    setting: str
    share: float | None
    """Weighted lowest score, 0.0 to 1.0. None when nothing is settled."""
    full: int
    """Questions with full marks in every run."""
    of: int
    """Questions that count in that round: not the same in every round."""
    graded: int
    planned: int
    cost_usd: Decimal | None
    cost_at_least: bool
    cost_each_usd: Decimal | None
    """One run of each question. None when that is not known of all."""
    runs_least: int
    """Scored runs of the question that has fewest: with one, it is untested for variance."""
    rule: str
    """Fingerprint of the rules that graded the questions that count."""


@dataclass(frozen=True, slots=True)
class Break:
    """A question that a setting had in every run of one round, and in no run of the next one that asked it."""

    question: str
    setting: str
    before: str
    """Id of the round in which it passed."""
    after: str
    """Id of the round in which it broke."""


Separates = Literal["yes", "nobody: always right", "nobody: never right"]
"""Whether a question tells settings apart."""


@dataclass(frozen=True, slots=True)
class Fate:
    """What became of a question over the rounds."""

    question: str
    breaks: tuple[Break, ...]
    """Oldest first."""
    flaps: bool
    separates: Separates

    @property
    def said(self) -> str:
        """`broke once, flaps`; in a few words."""
        words = []
        if self.breaks:
            words.append("broke once" if len(self.breaks) == 1 else f"broke {len(self.breaks)} times")
        words += ["flaps"] if self.flaps else []
        words += {"yes": [], "nobody: always right": ["too easy"], "nobody: never right": ["too hard"]}[self.separates]
        return ", ".join(words)


@dataclass(frozen=True, slots=True)
class History:
    """A suite over its rounds."""

    rounds: tuple[str, ...]
    """Ids, oldest first."""
    standings: tuple[Standing, ...]
    """By round, oldest first, then in the order of its plan."""
    breaks: tuple[Break, ...]
    """Oldest first. A question that was asked in another way meanwhile is another question."""
    always_full: tuple[str, ...]
    """Full marks in every run of every setting: too easy, it separates nobody."""
    never_full: tuple[str, ...]
    """Full marks in no run of any setting: it separates nobody either."""
    flapping: tuple[str, ...]
    """Runs of one setting in one round differ: full marks in one, not in another."""
    mixed: tuple[str, ...]
    """Questions that not all rounds grade by one rule: with any, the sums of two rounds are not quite alike."""
    unequal: bool
    """True when not all rounds count the same questions."""

    @property
    def settings(self) -> tuple[str, ...]:
        """Every setting that was ever asked, oldest first."""
        return tuple(dict.fromkeys(standing.setting for standing in self.standings))

    @property
    def stated(self) -> tuple[str, ...]:
        """What a reader must know before two rounds are held against each other."""
        said = []
        if self.mixed:
            names = counted(len(self.mixed), "question")
            said.append(f"mixed rules: {names} graded in more than one way over the rounds ({named(self.mixed)})")
        if self.unequal:
            said.append("not every round counts the same questions, so scores of two rounds may not be alike")
        return tuple(said)

    @property
    def fates(self) -> tuple[Fate, ...]:
        """What became of the questions of which there is something to say: broken ones first, easy ones last."""
        names = (*(found.question for found in self.breaks), *self.flapping, *self.never_full, *self.always_full)
        return tuple(self._fate(name) for name in dict.fromkeys(names))

    def _fate(self, question: str) -> Fate:
        breaks = tuple(found for found in self.breaks if found.question == question)
        separates: Separates = "yes"
        if question in self.always_full:
            separates = "nobody: always right"
        elif question in self.never_full:
            separates = "nobody: never right"
        return Fate(question, breaks, question in self.flapping, separates)

    def of_setting(self, label: str) -> tuple[Standing, ...]:
        """How a setting stood over time, oldest first."""
        return tuple(standing for standing in self.standings if standing.setting == label)


def make_history(rounds: Sequence[OpenedRound]) -> History:
    """The history of a suite.

    Args:
        rounds: Rounds of one suite, in any order.

    Raises:
        RoundError: The reviews of a round cannot be read.
    """
    dated = sorted(((found.plan.created_at, gather(found)) for found in rounds), key=lambda pair: pair[0])
    evidence = [one for _, one in dated]
    cells = _cells_of_present_questions(evidence)
    return History(
        rounds=tuple(one.rounds[0] for one in evidence),
        standings=tuple(standing for at, one in dated for standing in _standings(at, one)),
        breaks=tuple(_breaks(evidence)),
        always_full=tuple(name for name, found in cells.items() if _separates_nobody(found, full=True)),
        never_full=tuple(name for name, found in cells.items() if _separates_nobody(found, full=False)),
        flapping=tuple(name for name, found in cells.items() if any(_flaps(cell) for cell in found)),
        mixed=tuple(_mixed(evidence)),
        unequal=len({frozenset(question.id for question in one.questions) for one in evidence}) > 1,
    )


def _mixed(rounds: Sequence[Evidence]) -> list[str]:
    """Questions with more than one rule over the rounds, in the order in which they were first asked."""
    rules: dict[str, set[str]] = {}
    for one in rounds:
        for question in one.questions:
            rules.setdefault(question.id, set()).add(question.rule_digest)
    return [name for name, found in rules.items() if len(found) > 1]


def _standings(at: datetime, evidence: Evidence) -> list[Standing]:
    rule = digest([[question.id, question.rule_digest] for question in evidence.questions])
    return [
        Standing(
            round_id=evidence.rounds[0],
            at=at,
            setting=figure.label,
            share=figure.lowest.share,
            full=figure.summary.lowest_full,
            of=figure.summary.of,
            graded=figure.summary.graded,
            planned=figure.summary.planned,
            cost_usd=figure.summary.cost_usd,
            cost_at_least=figure.summary.cost_at_least,
            cost_each_usd=figure.cost_each_usd,
            runs_least=figure.runs_least,
            rule=rule,
        )
        for figure in all_figures(evidence)
    ]


def _cells_of_present_questions(rounds: Sequence[Evidence]) -> dict[str, list[Cell]]:
    """By question, newest wording only and in suite order: its settled cells of all rounds."""
    present: dict[str, str] = {}
    for one in reversed(rounds):
        for question in one.questions:
            present.setdefault(question.id, one.asks[question.id])
    cells: dict[str, list[Cell]] = {name: [] for name in present}
    for one in rounds:
        for (name, _), cell in one.grid.cells.items():
            if cell.count and one.asks[name] == present[name]:
                cells[name].append(cell)
    return cells


def _scores(cell: Cell) -> list[float]:
    return [score for row in cell.runs if (score := settled_score(row)) is not None]


def _separates_nobody(cells: Sequence[Cell], *, full: bool) -> bool:
    """Whether two settings or more all did the same; one cell alone compares nobody."""
    labels = {cell.runs[0].setting for cell in cells}
    return len(labels) > 1 and all((score == 1.0) == full for cell in cells for score in _scores(cell))


def _flaps(cell: Cell) -> bool:
    scores = _scores(cell)
    return max(scores) == 1.0 and min(scores) < 1.0


def _breaks(rounds: Sequence[Evidence]) -> list[Break]:
    """Each question and setting through the rounds that settled it, against the last such round before."""
    found = []
    last: dict[tuple[str, str], tuple[str, str, Cell]] = {}
    for one in rounds:
        for (name, label), cell in one.grid.cells.items():
            if not cell.count:
                continue
            asked = f"{one.asks[name]} {one.wordings[label]}"
            before = last.get((name, label))
            if before is not None and before[1] == asked and before[2].lowest == 1.0 and max(_scores(cell)) < 1.0:
                found.append(Break(name, label, before[0], one.rounds[0]))
            last[name, label] = (one.rounds[0], asked, cell)
    return sorted(found, key=attrgetter("after"))
