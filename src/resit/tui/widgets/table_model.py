"""What a table shows: its columns and cells, and the model that it asks for those in sight."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

Tone = Literal["", "good", "bad", "half", "dim", "strong"]
"""How a cell is meant; the theme gives the colour, and a mark in the text says the same."""


@dataclass(frozen=True, slots=True)
class Column:
    """One column."""

    key: str
    """Stays the same over models, so that a sort survives a reload."""
    title: str
    width: int
    """Cells, without the gap after it."""
    right: bool = False
    """Numbers align right."""


@dataclass(frozen=True, slots=True)
class Shown:
    """What stands in a cell."""

    text: str
    tone: Tone = ""


class TableModel(Protocol):
    """Where a table's rows come from."""

    @property
    def columns(self) -> Sequence[Column]:
        """Left to right; the first stays in sight."""
        ...

    @property
    def summaries(self) -> Sequence[Sequence[Shown]]:
        """Lines under the rows that stay in sight, a cell a column."""
        ...

    def __len__(self) -> int:
        """How many rows there are."""
        ...

    def row_id(self, row: int) -> str:
        """What makes the row the same row after a sort or reload."""
        ...

    def cell(self, row: int, column: int) -> Shown:
        """What stands there."""
        ...

    def sort_value(self, row: int, column: int) -> str | float | None:
        """What a sort by that column compares; None goes last either way."""
        ...


class EmptyModel:
    """A table before its rows are known."""

    columns: Sequence[Column] = (Column("question", "question", 12),)
    summaries: Sequence[Sequence[Shown]] = ()

    def __len__(self) -> int:
        """None."""
        return 0

    def row_id(self, row: int) -> str:
        """Never asked."""
        raise IndexError(row)

    def cell(self, row: int, column: int) -> Shown:
        """Never asked."""
        raise IndexError(row)

    def sort_value(self, row: int, column: int) -> str | float | None:
        """Never asked."""
        raise IndexError(row)


def sorted_rows(model: TableModel, rows: Sequence[int], column: int, reverse: bool) -> list[int]:
    """`rows` by what stands in that column, stable; what is not known goes last either way."""
    values = {row: model.sort_value(row, column) for row in rows}
    known = [row for row, value in values.items() if value is not None]
    # Words and numbers in one column (a label beside scores) compare as words.
    if any(isinstance(values[row], str) for row in known):
        words = {row: str(values[row]).casefold() for row in known}
        known.sort(key=words.__getitem__, reverse=reverse)
    else:
        known.sort(key=values.__getitem__, reverse=reverse)  # type: ignore[arg-type]
    return known + [row for row, value in values.items() if value is None]
