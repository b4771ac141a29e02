"""Grades that a run had before a rule was changed: `former_grades.jsonl`, which is only ever added to.

A grade follows from reply and rule, so a regrade would wipe what was said before. One line is written for each grade
that turned, with the fingerprint of the rule it came from.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from typing import Final, Literal

from pydantic import ValidationError

from resit.core.records import Frozen, Outcome, Reason, Row
from resit.core.rounds.store import RoundStore

FORMER: Final = "former_grades.jsonl"


class FormerGrade(Frozen):
    """What a run's grade was until a rule was changed."""

    format: Literal[1] = 1
    key: str
    until: datetime
    """When another grade took its place."""
    rule: str
    """Fingerprint of the rule it came from."""
    outcome: Outcome
    score: float | None
    second_score: float | None
    reason: Reason | None
    failed: tuple[str, ...]

    @property
    def said(self) -> str:
        """`miss (wrong)`, `part 0.50`, `pass`."""
        said = f"part {min(self.score or 0.0, 0.99):.2f}" if self.outcome == "part" else self.outcome.replace("_", " ")
        return f"{said} ({self.reason})" if self.reason else said


def mark_of(row: Row) -> tuple[object, ...]:
    """What must be the same for two grades of a run to be one."""
    return row.outcome, row.score, row.second_score, row.reason, row.failed


def note_former(store: RoundStore, turned: Iterable[tuple[str, Row]], now: datetime | None = None) -> None:
    """Write down the grades that rows had, by run key, where they are not the last ones written down already.

    A disk that takes no more costs the line and not the round.
    """
    last = {key: grades[-1] for key, grades in read_former(store).items()}
    at = now or datetime.now(UTC)
    made = [_former(key, row, at) for key, row in turned]
    fresh = [grade for grade in made if not _same(grade, last.get(grade.key))]
    if not fresh:
        return
    data = "".join(f"{grade.model_dump_json()}\n" for grade in fresh).encode()
    with suppress(OSError):
        handle = os.open(store.path / FORMER, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
        try:
            if os.write(handle, data) < len(data):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        finally:
            os.close(handle)


def _former(key: str, row: Row, at: datetime) -> FormerGrade:
    return FormerGrade(
        key=key,
        until=at,
        rule=row.rule,
        outcome=row.outcome,
        score=row.score,
        second_score=row.second_score,
        reason=row.reason,
        failed=row.failed,
    )


def _same(grade: FormerGrade, last: FormerGrade | None) -> bool:
    # The time is when the change was noticed: opening a round twice notices it twice.
    return last is not None and grade.model_copy(update={"until": last.until}) == last


def read_former(store: RoundStore) -> Mapping[str, tuple[FormerGrade, ...]]:
    """Former grades by run key, oldest first; a line that cannot be read is passed over."""
    found: dict[str, tuple[FormerGrade, ...]] = {}
    try:
        lines = (store.path / FORMER).read_bytes().splitlines()
    except OSError:
        return found
    for line in lines:
        with suppress(ValidationError):
            grade = FormerGrade.model_validate_json(line)
            found[grade.key] = (*found.get(grade.key, ()), grade)
    return found
