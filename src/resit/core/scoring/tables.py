"""Whether a reply has a table in it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import islice
from typing import Final

from resit.core.scoring.fences import CODE_SPAN, LOOKED_AT, line_at, without_fences

_TAG: Final = re.compile(r"<(?:table|thead|tbody|tr|td|th)\b[^<>]*+>", re.IGNORECASE)
_BOX: Final = re.compile("[─-╬]")
_BOX_TABLE: Final = {
    code: "|" if chr(code) in "│┃║┆┇┊┋" else "-" if chr(code) in "─━═┄┅┈┉" else "+" for code in range(0x2500, 0x256D)
}
_ROW: Final = re.compile(r"\n(?:[ \t>]*+\+[-=][-=+]*+[ \t]*+(?=\n|\Z)|[^|\n]*+\|[^\n]*+)")
_TAB_ROW: Final = re.compile(r"\n[ \t]*+[^\t\n]++\t[ \t]*+[^\s][^\n]*+")
_BORDER: Final = re.compile(r"[ \t>]*+(?:[|+:]?[ \t]*+[-=]++[ \t]*+[|+:]*+[ \t]*+)++[|+]?[ \t]*+")
_ENCLOSED: Final = re.compile(r"\([^()\n]*+\)|\[[^\[\]\n]*+\]|\{[^{}\n]*+\}|\\\||\|\|")


@dataclass(frozen=True, slots=True)
class _Row:
    """A line that could belong to a table."""

    columns: int
    """0 for a border, which goes with any number."""
    framed: bool
    """Begins and ends with a bar."""

    def goes_with(self, other: _Row) -> bool:
        """Whether the two, one after the other, make a table."""
        if not self.columns or not other.columns:
            return self.columns != other.columns
        return self.columns == other.columns > 1 or (
            self.framed and other.framed and min(self.columns, other.columns) > 1
        )


def find_table(text: str) -> str | None:
    """The first row of a table: bars in two rows, tab columns in two rows, HTML. None when there is none.

    One `|` in one line is none, nor are bars inside brackets, as in `P(A | B)`, or close around what they enclose,
    as in `|x| < |y|`; lines inside a code fence are code.

    Args:
        text: As `words.tidy` leaves it.
    """
    text = without_fences("\n" + text)
    if "<" in text and (tag := _TAG.search(CODE_SPAN.sub("", text))):
        return tag[0][:60]
    return find_bar_table(text) or _find_tab_table(text)


def find_bar_table(text: str) -> str | None:
    """The first row of a table drawn with bars, in a text that begins with a line end and has no code fence."""
    if not text.isascii() and _BOX.search(text):
        text = text.translate(_BOX_TABLE)
    if "|" not in text:
        return None
    before, end_before, start_before = None, -1, 0
    for found in islice(_ROW.finditer(text), LOOKED_AT):
        row = _bar_row(found[0])
        if row and before and not text[end_before : found.start()].strip() and row.goes_with(before):
            return line_at(text, start_before)
        before, end_before, start_before = row, found.end(), found.start()
    return None


def _bar_row(line: str) -> _Row | None:
    """The line as a row of cells between bars, or None when its bars are something else."""
    line = line.strip()
    if _BORDER.fullmatch(line):
        return _Row(0, True)
    if "`" in line:
        line = CODE_SPAN.sub("`", line)
    if len(line) > 2 and line[0] == line[-1] == "|":
        return _framed_row(line[1:-1].split("|"))
    cells = _ENCLOSED.sub("", line).strip("|").split(" | ")
    return _Row(len(cells), False) if len(cells) > 1 or line[0] == "|" else None


def _framed_row(cells: list[str]) -> _Row | None:
    """A row in a frame of bars; `|x| < |y|` looks like one but for its tight ends around a loose middle."""
    tight_ends = all(cell == cell.strip() for cell in (cells[0], cells[-1]))
    loose_middle = any(cell[:1] == " " == cell[-1:] and cell.strip() for cell in cells[1:-1])
    return None if tight_ends and loose_middle else _Row(len(cells), True)


def _find_tab_table(text: str) -> str | None:
    """The first of two lines with as many columns, tabs between them."""
    if "\t" not in text:
        return None
    columns_before, end_before, start_before = 0, -1, 0
    for found in islice(_TAB_ROW.finditer(text), LOOKED_AT):
        columns = len(re.split(r"[ ]*\t[\t ]*", found[0].strip()))
        if columns == columns_before and end_before == found.start():
            return line_at(text, start_before)
        columns_before, end_before, start_before = columns, found.end(), found.start()
    return None
