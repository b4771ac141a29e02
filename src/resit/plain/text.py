"""How the text front end writes: tables, money, notes. Nothing foreign reaches a terminal as it came."""

from __future__ import annotations

import dataclasses
import json
import sys
import unicodedata
from collections.abc import Iterable, Sequence
from decimal import Decimal
from typing import Any

from resit.core.printable import one_line, printable


def say(text: str = "") -> None:
    """One line, or several, on standard output."""
    sys.stdout.write(f"{text}\n")


def note(text: str) -> None:
    """One line for the person, on standard error."""
    sys.stderr.write(f"resit: {one_line(text)}\n")


def say_json(value: object) -> None:
    """One JSON object: all that standard output gets under `--json`."""
    say(json.dumps(jsonable(value), ensure_ascii=True, allow_nan=False))


def jsonable(value: object) -> Any:
    """`value` for JSON: records as objects, money as a decimal string, what is unknown as null."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: jsonable(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, Decimal):
        return format(value, "f")
    if isinstance(value, dict):
        return {str(key): jsonable(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [jsonable(item) for item in value]
    return value


def score(value: float | None) -> str:
    """A score from 0 to 1 as short as it is exact to two places."""
    if value is None:
        return "–"
    if value in (0, 1):
        return str(int(value))
    # 0.996 is not full marks and must not read so, nor 0.004 as none.
    return f"{min(max(value, 0.01), 0.99):.2f}"


def width(text: str) -> int:
    """Columns that `text` takes in a terminal."""
    if text.isascii():
        return len(text)
    return sum(_columns(character) for character in text)


def _columns(character: str) -> int:
    if unicodedata.combining(character) or unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in ("W", "F") else 1


def table(head: Sequence[str], rows: Iterable[Sequence[str]], *, right: Iterable[int] = (), limit: int = 48) -> str:
    """A table as aligned text. Cells are foreign text: each is made one printable line.

    Args:
        head: Names of the columns.
        rows: Cells.
        right: Columns set to the right, as numbers are.
        limit: Characters a cell shows at most.
    """
    lines = [[one_line(cell, limit) for cell in row] for row in (head, *rows)]
    widths = [max(width(line[column]) for line in lines) for column in range(len(head))]
    to_right = frozenset(right)
    return "\n".join(_joined(line, widths, to_right) for line in lines)


def _joined(line: Sequence[str], widths: Sequence[int], to_right: frozenset[int]) -> str:
    cells = []
    for column, (cell, full) in enumerate(zip(line, widths, strict=True)):
        room = " " * (full - width(cell))
        cells.append(room + cell if column in to_right else cell + room)
    return "  ".join(cells).rstrip()


def block(text: str, *, indent: str = "    ", limit: int = 2000) -> str:
    """A longer foreign text, indented and cut with a count of what is left out."""
    return "\n".join(f"{indent}{line}" for line in printable(text, limit, invisible=True).split("\n"))


def plural(count: int, word: str, words: str = "") -> str:
    """`3 runs`, `1 run`."""
    return f"{count:,} {word if count == 1 else words or word + 's'}"
