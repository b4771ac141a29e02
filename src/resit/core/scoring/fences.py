"""Where the code is in a reply: fenced blocks, code spans, and code that stands bare."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from typing import Final

LOOKED_AT: Final = 50_000
"""Lines of one kind that are looked at one by one; a reply with more of them is judged by these."""

LINE: Final = r"\n[ \t]*+(?:>[ \t]*+)*+"
"""Start of a line, quoted or not. A pattern that opens on a plain line end is found ten times faster than `^`,
so every text that these patterns see has a line end put before it."""

_FENCE: Final = re.compile(LINE + r"(?P<mark>`{3,}+|~{3,}+)(?P<info>[^\n]*+)")
CODE_SPAN: Final = re.compile(r"(?<![`\\])(`{1,2})(?!`)[^`\n]++\1(?!`)")
_CODE_TAG: Final = re.compile(r"<(?:code|pre)\b[^<>\n]*+>", re.IGNORECASE)
_BARE_CODE: Final = re.compile(
    r"\n[ \t]*+(?:"
    r"(?:async[ ])?def[ ]\w++\([^\n]*+(?<=:)(?=\n|\Z)"
    r"|class[ ]\w++(?:\([^()\n]*+\))?[ ]?[:{][ \t]*+(?=\n|\Z)"
    r"|import[ ][a-z_]\w*+(?:\.\w++)++(?:;|(?=\n|\Z))|from[ ][\w.]++[ ]import[ ][\w*, ]++(?=\n|\Z)"
    r"|\#include[ ]*+[<\"]|\#!/|<\?php"
    r"|(?:const|let|var)[ ]\w++[ ]=[ ]|function[ ]\w*+\([^()\n]*+\)[ ]?\{"
    r"|(?:public|private|protected|static)[ ](?:static[ ])?[\w<>\[\]]++[ ]\w++[ ]?[(=]"
    r"|(?:for|while|if)[ ]?\([^\n]*+(?<=\{)(?=\n|\Z)"
    r"|(?:print|console\.log|System\.out\.println|printf)\([^\n]*+(?<=[);])(?=\n|\Z)"
    r"|(?:SELECT|INSERT[ ]INTO|UPDATE|DELETE[ ]FROM|CREATE[ ]TABLE)[ ][^\n]*+(?<=;)(?=\n|\Z)"
    r")",
)


def without_fences(text: str) -> str:
    """The text without its fenced blocks; an empty line stands where each one was.

    Args:
        text: Tidied, with a line end before it.
    """
    if "```" not in text and "~~~" not in text:
        return text
    return "\n".join(_outside_fences(text))


def _outside_fences(text: str) -> Iterator[str]:
    """The pieces between fenced blocks; a block that is never closed goes to the end."""
    start, opened = 0, ""
    for found in islice(_FENCE.finditer(text), LOOKED_AT):
        mark = found["mark"]
        if not opened and not (mark[0] == "`" and "`" in found["info"]):
            yield text[start : found.start()]
            opened = mark
        elif opened and mark[0] == opened[0] and len(mark) >= len(opened) and not found["info"].strip():
            opened, start = "", found.end()
    if not opened:
        yield text[start:]


def line_at(text: str, start: int) -> str:
    """The line that starts there, short enough to stand in a sentence."""
    start += text.startswith("\n", start)
    end = text.find("\n", start)
    line = text[start : len(text) if end < 0 else end][:200].strip()
    return line if len(line) <= 60 else line[:57] + "..."


def find_code(text: str) -> str | None:
    """The first line with code on it, as a code fence, a code span, a tag or a bare statement; None without any.

    Args:
        text: As `words.tidy` leaves it.
    """
    text = "\n" + text
    for pattern, sign in ((_FENCE, "`~"), (CODE_SPAN, "`"), (_CODE_TAG, "<"), (_BARE_CODE, "\n")):
        if any(mark in text for mark in sign) and (found := pattern.search(text)):
            return line_at(
                text, found.start() if pattern in (_FENCE, _BARE_CODE) else text.rfind("\n", 0, found.start())
            )
    return None
