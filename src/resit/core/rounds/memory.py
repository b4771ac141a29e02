"""What is remembered of a round's grades: `graded.json`, which may be deleted at any time.

The first line holds what a list of rounds needs; then one row a run, as every export holds it; then what each row was
made from.
"""

from __future__ import annotations

import gc
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields
from datetime import datetime
from decimal import Decimal
from operator import attrgetter, itemgetter
from typing import Any, Final

from resit import __version__
from resit.core.records import FAIR, Row
from resit.core.rounds.plan import Held
from resit.core.rounds.store import FileMark, RoundStore

GRADED: Final = "graded.json"
FORMAT: Final = 3
ROW_FIELDS: Final = tuple(field.name for field in fields(Row))
_NOT_A_MEMORY = (OSError, ValueError, KeyError, TypeError, IndexError, ArithmeticError)
_HELD_FIELDS = len(fields(Held))
_row_values = attrgetter(*ROW_FIELDS)
_row_items = itemgetter(*ROW_FIELDS)
_COST, _FAILED = ROW_FIELDS.index("cost_usd"), ROW_FIELDS.index("failed")


@dataclass(frozen=True, slots=True)
class Entry:
    """One run's row, and what it was made from."""

    mark: FileMark
    frame: str
    """Fingerprint of the question's rule and of all that was asked; empty when another resit made the row."""
    sent: str
    """When the attempt that counts was sent, as ISO 8601 has it; empty without one."""
    row: Row
    held_values: Sequence[Any]
    """What planning needs, as it is remembered; most openings never look at it."""

    @property
    def sent_at(self) -> datetime | None:
        """When the attempt that counts was sent."""
        return datetime.fromisoformat(self.sent) if self.sent else None

    @property
    def held(self) -> Held:
        """What planning needs to know of the run."""
        usable, asked, prompt, last, cost_usd, cost_unknown = self.held_values
        return Held(tuple(usable), tuple(asked), prompt, last, Decimal(cost_usd), cost_unknown)


@dataclass(frozen=True, slots=True)
class Score:
    """What a setting got in a round, as last graded."""

    setting: str
    points: float
    graded: int
    """Runs with a fair answer: what `points` is out of."""
    done: int
    """Runs with a result."""


@dataclass(frozen=True, slots=True)
class Sums:
    """A round in a few figures, as last graded."""

    scores: tuple[Score, ...]
    cost_usd: Decimal
    at_least: bool
    """True when a run of unknown cost is not in `cost_usd`."""


def held_values(kept: Held) -> Sequence[Any]:
    """What planning needs to know of a run, as it is remembered."""
    return kept.usable, kept.asked, kept.prompt, kept.last, str(kept.cost_usd), kept.cost_unknown


def load_entries(store: RoundStore) -> dict[str, Entry]:
    """What `graded.json` remembers; nothing when it is damaged.

    Rows that another version of resit made say how it graded, and are never taken for present ones.
    """
    try:
        with without_collecting():
            table = json.loads((store.path / GRADED).read_bytes())
            if table["format"] != FORMAT:
                return {}
            ours = table["resit"] == __version__
            costs: dict[str, Decimal] = {}
            return {
                file[0]: _loaded(file, row, costs, ours)
                for file, row in zip(table["files"], table["rows"], strict=True)
            }
    except _NOT_A_MEMORY:
        return {}


def _loaded(file: list[Any], row: dict[str, Any], costs: dict[str, Decimal], ours: bool) -> Entry:
    key, mtime_ns, size, frame, sent, *kept = file
    if not isinstance(key, str) or len(kept) != _HELD_FIELDS or len(row) != len(ROW_FIELDS):
        raise ValueError("not a file's line")
    values = list(_row_items(row))
    values[_FAILED] = tuple(values[_FAILED])
    cost = values[_COST]
    if cost is not None:
        values[_COST] = costs.get(cost) or costs.setdefault(cost, Decimal(cost))
    return Entry(FileMark(mtime_ns, size), frame if ours else "", sent, Row(*values), kept)


def load_sums(store: RoundStore) -> Sums | None:
    """The sums that `graded.json` begins with, without reading the rest; None when it is damaged or not there."""
    try:
        with open(store.path / GRADED, "rb") as file:
            head = json.loads(file.readline().rstrip(b",\n") + b"}")
        scores = tuple(Score(label, points, graded, done) for label, points, graded, done in head["scores"])
        return Sums(scores, Decimal(head["cost_usd"]), bool(head["at_least"]))
    except _NOT_A_MEMORY:
        return None


def dumped(entries: Mapping[str, Entry]) -> bytes:
    """One JSON object, with what a list of rounds needs on its first line."""
    sums = _sums([entry.row for entry in entries.values()])
    head = {
        "format": FORMAT,
        "resit": __version__,
        "scores": [[s.setting, s.points, s.graded, s.done] for s in sums.scores],
        "cost_usd": str(sums.cost_usd),
        "at_least": sums.at_least,
    }
    files = [[key, *e.mark, e.frame, e.sent, *e.held_values] for key, e in entries.items()]
    parts = (
        _compact(head)[:-1],
        f'"rows":{_compact(rows_json(e.row for e in entries.values()))}',
        f'"files":{_compact(files)}}}',
    )
    return ",\n".join(parts).encode()


def rows_json(rows: Iterable[Row]) -> list[dict[str, Any]]:
    """Rows as every export holds them."""
    return [row_json(row) for row in rows]


def row_json(row: Row) -> dict[str, Any]:
    """One row as every export holds it: money as a decimal string, what is unknown as null."""
    table = dict(zip(ROW_FIELDS, _row_values(row), strict=True))
    table["cost_usd"] = None if row.cost_usd is None else format(row.cost_usd, "f")
    table["failed"] = list(row.failed)
    return table


def _compact(value: object) -> str:
    return json.dumps(value, separators=(",", ":"))


def _sums(rows: Sequence[Row]) -> Sums:
    by_setting: dict[str, list[Row]] = {}
    for row in rows:
        by_setting.setdefault(row.setting, []).append(row)
    scores = (
        Score(label, sum(r.score or 0.0 for r in found), sum(r.outcome in FAIR for r in found), len(found))
        for label, found in by_setting.items()
    )
    cost_usd = sum((row.cost_usd for row in rows if row.cost_usd is not None), Decimal(0))
    return Sums(tuple(scores), cost_usd, any(row.cost_usd is None for row in rows))


@contextmanager
def without_collecting() -> Iterator[None]:
    """Making 20,000 rows costs twice the time when the collector looks through them again and again."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
