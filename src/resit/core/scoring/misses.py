"""The queue of runs to read: which, in what order, and where the grader is the first suspect."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby

from resit.core.records import FAIR, Row
from resit.core.scoring.grade import ANSWER
from resit.core.scoring.grid import Grid


def below_full(row: Row) -> bool:
    """Whether a run has a fair answer that did not get full marks."""
    return row.score is not None and row.score < 1.0


def miss_queue(grid: Grid) -> tuple[Row, ...]:
    """Every run that a person should read, in suite order, then by setting and run.

    Runs below full marks and runs without a fair answer: a verdict settles both.
    """
    return tuple(row for cell in grid.cells.values() for row in cell.runs if below_full(row) or row.outcome not in FAIR)


def unread(queue: Iterable[Row]) -> tuple[Row, ...]:
    """Those of the queue that have no verdict yet: while one is left, nothing may be concluded."""
    return tuple(row for row in queue if row.verdict is None)


def place(row: Row) -> tuple[str, str, int]:
    """What stays the same of a run when it is graded again."""
    return row.question, row.setting, row.run


def next_miss(before: Sequence[Row], after: Sequence[Row], row: Row) -> Row | None:
    """The miss to show once `row` was dealt with: the first behind it that is still one, else the last before it.

    Args:
        before: The queue in which `row` was read.
        after: The queue after an edit or verdict, in which other runs may be gone as well.
        row: The run that was read.
    """
    left = {place(other): other for other in after}
    places = [place(other) for other in before]
    at = places.index(place(row)) if place(row) in places else -1
    for candidate in [*places[at + 1 :], *reversed(places[: max(at, 0)])]:
        if candidate in left:
            return left[candidate]
    return left.get(place(row))


@dataclass(frozen=True, slots=True)
class SameReply:
    """Runs that gave one and the same reply."""

    reply: str | None
    runs: tuple[Row, ...]


def fold_replies(rows: Iterable[Row]) -> tuple[SameReply, ...]:
    """Runs by their reply, most frequent first, else in order: repeats that agree are read once."""
    folded: dict[str | None, list[Row]] = {}
    for row in rows:
        folded.setdefault(row.reply, []).append(row)
    ordered = sorted(folded.items(), key=lambda item: -len(item[1]))
    return tuple(SameReply(reply, tuple(runs)) for reply, runs in ordered)


def disagreements(rows: Iterable[Row]) -> tuple[Row, ...]:
    """Runs on which a person's verdict and the present rule disagree.

    The person blamed the grader and the rule still takes marks off, or blamed anything else and the rule now gives
    full marks. A verdict survives every regrade, so both can be.
    """
    return tuple(
        row
        for row in rows
        if row.verdict is not None and row.score is not None and (row.verdict == "grader") == below_full(row)
    )


@dataclass(frozen=True, slots=True)
class Suspect:
    """A check, or a question's whole rule, that looks like the grader's fault rather than the models'."""

    question: str
    check: str
    """Name of the failed check; `answer` for the question's rule."""
    runs: int
    """Runs that failed it."""
    settings: int
    """Settings in which every run failed it."""
    why: str
    """One sentence that says to look at the grader first."""


def grader_suspects(rows: Iterable[Row]) -> tuple[Suspect, ...]:
    """Named checks that fail in all repeats of a setting, or in all settings: look at the grader first.

    A question without named checks is one item, and only suspect when every setting misses it: that one model never
    knows an answer is no news. Runs without a fair answer say nothing either way. What fails in every setting is told
    before what fails in one.
    """
    fair = [row for row in rows if row.score is not None]
    order = {question: at for at, question in enumerate(dict.fromkeys(row.question for row in fair))}
    fair.sort(key=lambda row: order[row.question])
    found = [suspect for _, runs in groupby(fair, key=lambda row: row.question) for suspect in _suspects(list(runs))]
    return tuple(sorted(found, key=lambda suspect: -suspect.settings))


def failed_names(row: Row) -> tuple[str, ...]:
    """What a run failed, by name; a question without checks has one item, its answer."""
    return row.failed or ((ANSWER,) if below_full(row) else ())


def _suspects(runs: list[Row]) -> list[Suspect]:
    """The suspects of one question."""
    by_setting: dict[str, list[Row]] = {}
    for row in runs:
        by_setting.setdefault(row.setting, []).append(row)
    found = []
    for name in dict.fromkeys(name for row in runs for name in failed_names(row)):
        always = [label for label, rows in by_setting.items() if all(name in failed_names(row) for row in rows)]
        suspect = _suspect(name, always, by_setting)
        if suspect is not None:
            found.append(suspect)
    return found


def _suspect(name: str, always: list[str], by_setting: dict[str, list[Row]]) -> Suspect | None:
    """The suspect, if what fails it is more than one run of one setting."""
    runs = sum(len(by_setting[label]) for label in always)
    question = next(iter(by_setting.values()))[0].question
    if len(always) == len(by_setting) > 1:
        where = f"in all {len(always)} settings"
    elif name != ANSWER and any(len(by_setting[label]) > 1 for label in always):
        repeated = [label for label in always if len(by_setting[label]) > 1]
        where = f"in every run of {repeated[0]}" + (f" and {len(repeated) - 1} more" if len(repeated) > 1 else "")
    else:
        return None
    return Suspect(question, name, runs, len(always), f"{name!r} fails {where}: look at the grader first")
