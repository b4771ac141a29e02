"""CSV suites: a row a question, the first row naming the columns."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from decimal import Decimal

from resit.core.suite_formats.json_form import parse_json
from resit.core.suite_formats.raw import Lines, RawQuestion, RawSuite
from resit.core.suite_formats.said import Said, Unreadable

_NUMBERS = frozenset({"weight", "tol", "max_tokens"})
_LISTS = frozenset({"accept", "answer", "target", "expected", "checks", "traps", "files", "protect"})
_TABLES = frozenset({"rule", "second_rule"})
_NAMES = _TABLES | {"match", "kind"}
_FLAGS = {"true": True, "false": False}


def read_csv(text: str, said: Said) -> RawSuite:
    """Read a suite written as CSV, with commas, semicolons or tabs.

    A cell of accepted answers holds one, or several as a JSON list: `["3", "three"]`.

    Raises:
        Unreadable: It has no row of column names.
    """
    rows = _rows(text, said)
    line, header = next(rows, (1, []))
    names = [name.strip().lower() for name in header]
    if not any(names):
        raise Unreadable("the first row names no columns", "begin with: id,prompt,accept", 1)
    for name in sorted({name for name in names if names.count(name) > 1}):
        said.fault("columns", f"two columns are named {name!r}", "name each apart", line=line)
    questions = []
    for line, cells in rows:
        if not any(cell.strip() for cell in cells):
            continue
        if len(cells) != len(names):
            mend = "put quotes around a cell that holds the separator"
            said.fault("columns", f"{len(cells)} cells under {len(names)} columns", mend, line=line)
            continue
        table = {name: _cell(name, cell) for name, cell in zip(names, cells, strict=True) if cell.strip()}
        questions.append(RawQuestion(table, line, Lines(dict.fromkeys(names, line))))
    return RawSuite({}, questions, foreign=True, numbered=True)


def _rows(text: str, said: Said) -> Iterator[tuple[int, list[str]]]:
    """Each row with the line it starts on."""
    first = text.split("\n", 1)[0]
    separator = max(",;\t", key=first.count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    start = 1
    try:
        for cells in reader:
            yield start, cells
            start = reader.line_num + 1
    except csv.Error as error:
        said.fault("syntax", f"not CSV: {error}", "double a quote inside a quoted cell", line=start)


def _cell(name: str, text: str) -> object:
    """A cell in the type its column has; text that is not of it stays text and is refused where it is used."""
    plain = text.strip()
    if name in _NUMBERS and re.fullmatch(r"[+-]?\d{1,30}", plain):
        return int(plain)
    if name in _NUMBERS and re.fullmatch(r"[+-]?(\d{1,30}\.\d{0,30}|\.\d{1,30})(e[+-]?\d{1,3})?", plain, re.I):
        return Decimal(plain)
    if name == "draft":
        return _FLAGS.get(plain.lower(), text)
    if (name in _LISTS and plain[:1] == "[") or (name in _TABLES and plain[:1] == "{"):
        try:
            return parse_json(plain)
        except Unreadable:
            return text
    return plain if name in _NAMES else text
