"""How text from outside is shown: nothing in it can style, link, move the cursor or hide what it says.

Replies, logs, file names and suite texts go through `printable` or `one_line` on their way to a screen or a terminal.
What is stored stays as it came. Square brackets are left alone: whoever draws the text must not read it as markup.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

_CONTROL_PICTURES = 0x2400
_MARKS_KEPT = 8
"""Combining marks in a row that are drawn; Vietnamese, Hebrew and IPA need three at most."""

_BIDI = (0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x2070))
_INVISIBLE = (
    0x00AD, 0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, *range(0x180B, 0x1810), *range(0x200B, 0x200E),
    *range(0x2060, 0x2066), 0x3164, *range(0xFE00, 0xFE10), 0xFEFF, 0xFFA0, *range(0x1D173, 0x1D17B),
    *range(0xE0000, 0xE0080), *range(0xE0100, 0xE01F0),
)  # fmt: skip


def _named(code: int) -> str:
    return f"<U+{code:04X}>"


_SHOWN = {code: chr(_CONTROL_PICTURES + code) for code in range(0x20) if chr(code) not in "\t\n"}
_SHOWN[0x7F] = "␡"
# U+FFF9 to U+FFFB hide an annotation inside a text; a lone surrogate cannot be written to any terminal.
_CODES = (*range(0x80, 0xA0), *_BIDI, 0x2028, 0x2029, *range(0xD800, 0xE000), 0xFFF9, 0xFFFA, 0xFFFB)
_SHOWN |= {code: _named(code) for code in _CODES}
_SHOWN_ALL = _SHOWN | {code: _named(code) for code in _INVISIBLE}


def _any_of(codes: Iterable[int]) -> re.Pattern[str]:
    """A pattern of one character out of `codes`, written in ranges: singly they made a search 80 times slower."""
    ranges: list[list[int]] = []
    for code in sorted(codes):
        if ranges and ranges[-1][1] == code - 1:
            ranges[-1][1] = code
        else:
            ranges.append([code, code])
    return re.compile("[" + "".join(f"\\U{low:08x}-\\U{high:08x}" for low, high in ranges) + "]")


_TOUCHED = _any_of(_SHOWN)
_TOUCHED_ALL = _any_of(_SHOWN_ALL)
_MARKS = "\u0300-\u036f\u0483-\u0489\u0591-\u05bd\u0610-\u061a\u064b-\u065f\u0e31-\u0e3a\u0e47-\u0e4e"
_MARKS += "\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f"
_PILED = re.compile(f"([{_MARKS}]{{{_MARKS_KEPT}}})([{_MARKS}]+)")


def printable(text: str, limit: int | None = None, *, tabs: int = 4, invisible: bool = False) -> str:
    """`text` as it may be drawn, on several lines.

    Ordinary text of any script comes back unchanged. Control characters become visible pictures (`␛`), those that
    reorder or break lines become `<U+202E>`, line ends become LF, tabs become spaces up to the next stop.

    Args:
        text: Any string.
        limit: Show this many characters at most, then how many more there are.
        tabs: Columns between tab stops.
        invisible: Show zero-width, tag and filler characters by name as well. They are harmless on a screen, but a
            person who judges a reply may need to see them.
    """
    text = text.replace("\r\n", "\n")
    left = 0
    if limit is not None and len(text) > limit:
        left = len(text) - limit
        text = text[:limit]
    shown = _visible(text, invisible=invisible).expandtabs(tabs)
    if not left:
        return shown
    return f"{shown}… {left:,} more character{'' if left == 1 else 's'}"


def one_line(text: str, limit: int | None = None) -> str:
    """`text` on one line, for a cell, a title or a message; cut to `limit` characters, the last one then `…`.

    Line ends are shown as `↵`.
    """
    rest = False
    if limit is not None:
        # A CRLF gives one character for two, so twice the limit is enough to fill it.
        rest = len(text) > 2 * limit + 2
        text = text[: 2 * limit + 2]
    shown = _visible(text.replace("\r\n", "\n")).replace("\n", "↵").replace("\t", " ")
    if limit is not None and (rest or len(shown) > limit):
        return shown[: limit - 1] + "…" if limit > 0 else ""
    return shown


def _visible(text: str, *, invisible: bool = False) -> str:
    """`text` with every character of ill effect spelt out."""
    if text.isascii() and text.isprintable():
        return text
    touched, shown = (_TOUCHED_ALL, _SHOWN_ALL) if invisible else (_TOUCHED, _SHOWN)
    if touched.search(text):
        text = text.translate(shown)
    if text.isascii():
        return text
    return _PILED.sub(lambda found: f"{found[1]}<more marks>", text)
