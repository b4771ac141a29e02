"""Whether a reply has Markdown in it."""

from __future__ import annotations

import re
from typing import Final

from resit.core.scoring.fences import CODE_SPAN, line_at, without_fences
from resit.core.scoring.lists import find_list
from resit.core.scoring.tables import find_bar_table

_INNER_START: Final = r"(?=[\w\"'(\[`*_~¿¡$#<])"
_INNER_END: Final = r"(?<=[\w\"'.,!?)\]:;`*_~%…。！？>])"
_ON_LINES: Final = (
    ("\n", re.compile(r"\n {0,3}\#{1,6}[ \t]++\S")),
    ("\n", re.compile(r"\n {0,3}(?:(?:\*[ \t]*+){3,}+|(?:-[ \t]*+){3,}+|(?:_[ \t]*+){3,}+)(?=\n|\Z)")),
    ("=", re.compile(r"\n(?=[^\n]*?\S)[^\n]++\n {0,3}={2,}+[ \t]*+(?=\n|\Z)")),
    (">", re.compile(r"\n {0,3}>[ \t]?[^\s\d=]")),
    ("]:", re.compile(r"\n {0,3}\[[^\[\]\n]++\]:[ \t]*+\S")),
)
_ANYWHERE: Final = (
    ("**", re.compile(r"(?<![\w\\*])\*\*\*?" + _INNER_START + r"[^*\n]++" + _INNER_END + r"\*\*\*?(?![\w*])")),
    ("__", re.compile(r"(?<![\w\\])___?" + _INNER_START + r"[^_\n]++" + _INNER_END + r"___?(?!\w)")),
    ("*", re.compile(r"(?<![\w\\*)\]])\*" + _INNER_START + r"[^*\n]++" + _INNER_END + r"\*(?![\w*])")),
    ("_", re.compile(r"(?<![\w\\])_" + _INNER_START + r"[^_\n]++" + _INNER_END + r"_(?!\w)")),
    ("~~", re.compile(r"~~(?=\S)[^~\n]++(?<=\S)~~")),
    ("](", re.compile(r"\[[^\[\]\n]*+\]\([^()\s]++[^()\n]*+\)")),
    ("`", CODE_SPAN),
)


def find_markdown(text: str) -> str | None:
    """The first line found with Markdown on it; None when the text is plain.

    Headings, emphasis, code, links, quotes, rules, lists and tables count. `2 * 3 * 4`, `snake_case` and a
    `#hashtag` do not.

    Args:
        text: As `words.tidy` leaves it.
    """
    lined = "\n" + text
    outside = without_fences(lined)
    if len(outside) != len(lined):
        return "a code fence"
    for sign, pattern in _ON_LINES:
        if sign in lined and (found := pattern.search(lined)):
            return line_at(lined, found.start())
    for sign, pattern in _ANYWHERE:
        if sign in lined and (found := pattern.search(lined)):
            return line_at(lined, lined.rfind("\n", 0, found.start() + 1))
    return find_list(text, markdown=True) or find_bar_table(lined)
