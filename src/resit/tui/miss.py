"""One run as a pane shows it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import datetime

    from resit.core.judging.review_queue import State
    from resit.core.records import Row, RunRecord
    from resit.core.rounds.former import FormerGrade
    from resit.core.rounds.reviews import Review
    from resit.core.scoring.grade import Grade
    from resit.core.suite import Question


@dataclass(frozen=True, slots=True)
class Miss:
    """All that a pane shows of one run."""

    key: str
    question: Question
    row: Row
    record: RunRecord | None
    """None when the file cannot be read."""
    grade: Grade | None
    siblings: tuple[Row, ...]
    """Every run of the question, all settings, this one among them."""
    review: Review | None
    suspect: str
    """Why the grader should be looked at first; else empty."""
    number: int | None
    """Place among the misses, from 1."""
    of: int
    state: State = "graded"
    """How far it has come on its way to being reviewed."""
    former: tuple[FormerGrade, ...] = ()
    """Grades that it had under earlier rules, oldest first."""
    edited_at: tuple[datetime, ...] = ()
    """When the rule of its question was edited."""
    problem: str = ""
    """Why the file cannot be read."""
