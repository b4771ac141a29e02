"""How far each run has come on its way to being believed, and what is left to read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Final, Literal

from resit.core.judging.evidence import Evidence
from resit.core.judging.figures import is_open, to_read
from resit.core.records import FAIR, Row

State = Literal["queued", "result", "graded", "review", "reviewed"]
"""`result`: something came back that is no fair answer, so it cannot be graded; it is asked again, or a verdict settles
it. `graded`: full marks, nothing to read."""

STATES: Final[Mapping[State, str]] = {
    "queued": "queued",
    "result": "has a result, no fair answer",
    "graded": "graded, full marks",
    "review": "needs review",
    "reviewed": "reviewed",
}
"""Each state in words, in the order in which a run goes through them."""


_COUNTED: Final[Mapping[State, str]] = {
    "queued": "queued",
    "result": "without a fair answer",
    "graded": "graded",
    "review": "to review",
    "reviewed": "reviewed",
}


def state_of(row: Row | None, evidence: Evidence) -> State:
    """How far a run has come.

    A question that is left out takes all its runs with it: nobody needs to read them.

    Args:
        row: The run; None while nothing is kept of it.
        evidence: What counts of its round.
    """
    if row is None:
        return "queued"
    if not to_read(row):
        return "graded"
    if row.question in evidence.questions_out or not is_open(row, evidence):
        return "reviewed"
    return "review" if row.outcome in FAIR else "result"


def left_to_read(row: Row, evidence: Evidence) -> bool:
    """Whether a run waits for a person."""
    return state_of(row, evidence) in ("result", "review")


def count_states(rows: Iterable[Row], planned: int, evidence: Evidence) -> Mapping[State, int]:
    """How many runs are in each state, in their order, those with none left out.

    Args:
        rows: Every run that is kept.
        planned: Runs that belong to the plan.
        evidence: What counts of them.
    """
    counts = Counter(state_of(row, evidence) for row in rows)
    counts["queued"] = max(0, planned - counts.total())
    return {state: counts[state] for state in STATES if counts[state]}


def queue_said(states: Mapping[State, int]) -> str:
    """`2 without a fair answer · 10 graded · 4 to review`."""
    return " · ".join(f"{number:,} {_COUNTED[state]}" for state, number in states.items())


def grader_said(rows: Iterable[Row]) -> str:
    """`3 of 11 misses were the grader's`; empty without any.

    A run that a changed rule has since given full marks was a miss, and is counted as one.
    """
    blamed = misses = 0
    for row in rows:
        by_grader = row.verdict == "grader"
        blamed += by_grader
        misses += by_grader or to_read(row)
    if not blamed:
        return ""
    return f"{blamed:,} of {'1 miss was' if misses == 1 else f'{misses:,} misses were'} the grader's"
