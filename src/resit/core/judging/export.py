"""A round's rows for other programs: one row a run, with the keys of every row that resit writes.

JSON Lines is exact: every reply as it came. CSV is for a spreadsheet, which runs what looks like a formula and draws
what it is given, so in CSV three things are done to text, and only to text:

- a cell that starts with `= + - @`, with their full-width forms or with an apostrophe gets one apostrophe in front.
  Taking one apostrophe away from the front of every text cell that has one gives the text back;
- control characters are shown as pictures (`␛`), half surrogates by name; a tab becomes spaces;
- a cell ends after 32,000 characters, for a spreadsheet holds 32,767, and says how many more there are.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable
from dataclasses import fields
from typing import Final

from resit.core.printable import printable
from resit.core.records import Row
from resit.core.rounds.memory import row_json

COLUMNS: Final = tuple(field.name for field in fields(Row))
"""The keys of a row, in order. `failed` is a list; in CSV its names are joined by `; `."""

_CELL_CHARS: Final = 32_000
_FORMULA: Final = ("=", "+", "-", "@", "＝", "＋", "－", "＠", "'")


def rows_jsonl(rows: Iterable[Row]) -> str:
    """One JSON object a line; everything but plain ASCII is escaped, so a terminal can show it too."""
    return "".join(f"{json.dumps(row_json(row), ensure_ascii=True, allow_nan=False)}\n" for row in rows)


def rows_csv(rows: Iterable[Row]) -> str:
    """A header and one line a run, ended by CR LF as RFC 4180 has it; what is unknown is an empty cell."""
    out = io.StringIO(newline="")
    writer = csv.writer(out)
    writer.writerow(COLUMNS)
    for row in rows:
        table = row_json(row)
        writer.writerow([_cell(table[name]) for name in COLUMNS])
    return out.getvalue()


def _cell(value: object) -> str:
    match value:
        case None:
            return ""
        case list():
            return inert("; ".join(map(str, value)))
        case str():
            return inert(value)
        case _:
            return str(value)


def inert(text: str) -> str:
    """`text` as a spreadsheet's cell that computes nothing and hides nothing."""
    shown = printable(text, _CELL_CHARS)
    if len(shown) > _CELL_CHARS + 40:
        # What was spelt out made it longer.
        shown = f"{shown[:_CELL_CHARS]}…"
    # A spreadsheet may pass over leading blanks when it looks for a formula.
    return f"'{shown}" if shown.lstrip().startswith(_FORMULA) else shown
