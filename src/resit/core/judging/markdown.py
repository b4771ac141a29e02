"""Foreign text in a Markdown file: nothing in it can end a fence, open a table or become a link."""

from __future__ import annotations

import re
from collections.abc import Sequence

from resit.core.printable import one_line, printable

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#&~$!@]|:(?=//)|(?<=www)\.)")
"""What Markdown reads as a sign, and what its dialects turn into a link by themselves."""
_TICKS = re.compile(r"`+")


def inline(text: str, limit: int | None = None) -> str:
    """A foreign text among our own words, on one line, read letter by letter."""
    return _SPECIAL.sub(r"\\\1", one_line(text, limit).strip())


def code(text: str, limit: int | None = 200) -> str:
    """A foreign text as code, on one line."""
    shown = one_line(text, limit)
    if not shown.strip():
        return "(blank)" if shown else "(empty)"
    ticks = "`" * (_longest(shown) + 1)
    pad = " " if shown[0] in "` " or shown[-1] in "` " else ""
    return f"{ticks}{pad}{shown}{pad}{ticks}"


def fenced(text: str, indent: str, limit: int) -> list[str]:
    """A foreign text as a block of lines. The fence is longer than any run of backticks within.

    Args:
        text: As it came.
        indent: Stands before every line; it keeps foreign text away from the first column, where our own marks stand.
        limit: Characters shown at most, then how many more there are.
    """
    shown = printable(text, limit, invisible=True)
    fence = "`" * max(3, _longest(shown) + 1)
    return [f"{indent}{line}" if line else "" for line in (f"{fence}text", *shown.split("\n"), fence)]


def table(head: Sequence[str], rows: Sequence[Sequence[str]], *, left: Sequence[int]) -> list[str]:
    """A table; the columns of `left` hold words, the others numbers, set to the right."""
    marks = [":--" if at in left else "--:" for at in range(len(head))]
    return [f"| {' | '.join(map(_cell, row))} |" for row in (head, marks, *rows)]


def _cell(text: str) -> str:
    # Before all else a table is cut at its bars, those within code too.
    return text.replace("|", "\\|")


def _longest(text: str) -> int:
    return max((len(run) for run in _TICKS.findall(text)), default=0)
