"""What counts as the same text: the only module that decides how a reply is cleaned before it is compared.

Every step is linear in the length of the text and makes no float and no locale call, so that a reply of ten
megabytes is cleaned in a fraction of a second, and in the same way on any machine.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from functools import lru_cache
from typing import Final

STRAIGHT_QUOTES: Final = "\"'"
QUOTES: Final = "\"'«»‹›「」『』"
"""What may stand around a whole answer: straight marks (typographic ones were folded), guillemets, corner marks."""

_PIECE: Final = 1 << 16
"""Characters handled at once where Python's own routine needs many bytes for each (casefold takes 12)."""

_SHORT: Final = 1000
"""Characters of the longest text whose cleaned form is remembered."""

LINE_ENDS: Final = "\n\r\x0b\x0c\x85\u2028\u2029"
_CONTROLS: Final = (*range(9), *range(0x0E, 0x20), *range(0x7F, 0xA0))
_SPACE_SIGNS: Final = (0xA0, 0x1680, *range(0x2000, 0x200B), 0x202F, 0x205F, 0x3000)
_UNSEEN: Final = (
    0xAD, 0x34F, 0x61C, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x180E, *range(0x200B, 0x2010), *range(0x202A, 0x202F),
    *range(0x2060, 0x2070), 0x3164, *range(0xFE00, 0xFE10), 0xFEFF, 0xFFA0, *range(0xFFF9, 0xFFFC),
    *range(0x1D173, 0x1D17B), *range(0xE0000, 0xE0080), *range(0xE0100, 0xE01F0),
)  # fmt: skip
"""Format characters, joiners, bidi controls, fillers and variation selectors: nothing of them is seen."""
_BLANK_SIGNS: Final = (0x2800,)


def _fold_table() -> dict[int, str]:
    """One table for steps 1 and 2: what is dropped, and what is written another way."""
    table: dict[int, str] = dict.fromkeys((*_CONTROLS, *_UNSEEN), "")
    table.update(dict.fromkeys(_SPACE_SIGNS, " "))
    table.update(dict.fromkeys(map(ord, LINE_ENDS[1:]), "\n"))
    table.update({code: chr(code - 0xFEE0) for code in range(0xFF01, 0xFF5F)})  # full-width ASCII
    table.update({code: unicodedata.normalize("NFKC", chr(code)) for code in range(0xFFE0, 0xFFE7) if code != 0xFFE3})
    table.update(dict.fromkeys(map(ord, "‘’‚‛ʼ＇"), "'"))
    table.update(dict.fromkeys(map(ord, "“”„‟＂"), '"'))
    table.update(dict.fromkeys(map(ord, "‐‑‒–−﹣－"), "-"))
    table[0xFF61] = "。"
    return table


_FOLD: Final = _fold_table()
_ASCII_CONTROL: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")
UNSEEN: Final = " \t\n" + "".join(chr(c) for c in (*_FOLD, *_BLANK_SIGNS) if not _FOLD.get(c, "").strip())
"""Every character of which nothing is seen."""
_SEEN: Final = re.compile(f"[^{re.escape(UNSEEN)}]")
DROPPED: Final = re.compile("\r(?=\n)|[" + "".join(re.escape(chr(c)) for c, to in _FOLD.items() if not to) + "]+")
"""What `fold` leaves out: every other character keeps its place."""
_WRAPS: Final = frozenset("*_`~" + QUOTES)
"""What a wrapper begins with."""
_SPACES: Final = (" " * 64, " " * 8, "  ")
"""Runs of spaces, so that the longest run is one space after a few steps."""
_GROUPED: Final = re.compile(r"(?<![0-9A-Za-z_.,])(?<![0-9], )[1-9][0-9]{0,2}(?:,[0-9]{3})++(?![0-9]|, ?[0-9])")
_PLAIN_COMMA: Final = re.compile(r"(?<=\d),(?=\d{3})")
_FENCE: Final = re.compile(r"(`{3,}|~{3,})[^\n`]*\n")


def visible(text: str) -> bool:
    """Whether anything of the text can be seen: not only spaces, control and zero-width characters."""
    # Most replies begin with a plain letter or digit; the pattern, a class of thousands, takes 3.5 us to say so.
    first = text[:1]
    return (first.isascii() and first.isalnum()) or _SEEN.search(text) is not None


def longer_than(most: int, text: str) -> bool:
    """Whether more than `most` characters stand from the first to the last that can be seen; makes no copy."""
    return len(text) > most and _SEEN.search(text, _first_seen(text, 0) + most) is not None


_TAGS: Final = "think|thinking|thought|thoughts|reasoning|reflection|scratchpad|analysis"
_OPEN: Final = re.compile(rf"<({_TAGS})>", re.IGNORECASE)
_CLOSE: Final = re.compile(rf"(?<![`\"'])</({_TAGS})>", re.IGNORECASE)


def answer_part(text: str) -> str | None:
    """The reply without the thinking that starts it: always a tail of `text`.

    None when a block was opened at the start and never closed: such a reply was cut off before it answered.
    A lone closing tag ends the thinking; a tag anywhere else is text.
    """
    if "<" not in text:
        return text
    start = 0
    while opened := _OPEN.match(text, _first_seen(text, start)):
        closed = re.compile(rf"</{opened[1]}>", re.IGNORECASE).search(text, opened.end())
        if closed is None:
            return None
        start = closed.end()
    if start == 0 and (lone := _CLOSE.search(text)):
        before = _OPEN.search(text, 0, lone.start())
        start = 0 if before else lone.end()
    return text[start:]


def _first_seen(text: str, start: int) -> int:
    found = _SEEN.search(text, start)
    return found.start() if found else len(text)


def fold(text: str) -> str:
    """Steps 1 and 2 but for composing: one way to write each space, quote, dash, digit width and line end."""
    if text.isascii():
        if not _ASCII_CONTROL.search(text):
            return text
        return text.replace("\r\n", "\n").translate(_FOLD)
    text = text.replace("\r\n", "\n")
    present = _FOLD.keys() & {ord(c) for c in set(text)}
    if not present:
        return text
    if len(text) < _PIECE:
        return text.translate(_FOLD)
    for code in present:  # far faster than translate on megabytes
        text = text.replace(chr(code), _FOLD[code])
    return text


def compose(text: str) -> str:
    """The text in Unicode NFC."""
    if text.isascii() or unicodedata.is_normalized("NFC", text):
        return text
    return _in_pieces(text, lambda piece: unicodedata.normalize("NFC", piece))


def fold_case(text: str) -> str:
    """The text without its case; a dot left over from a dotted capital I goes with it."""
    if text.isascii():
        return text.lower()
    if len(text) <= _PIECE:
        return text.casefold().replace("i̇", "i")
    text = _in_pieces(text, str.casefold)
    return text.replace("i̇", "i")


def _in_pieces(text: str, change: Callable[[str], str]) -> str:
    """`change` applied piece by piece, never cutting between a letter and its marks."""
    if len(text) <= _PIECE:
        return change(text)
    changed, start = bytearray(), 0  # UTF-8, for a list of pieces takes four bytes a character
    while start < len(text):
        end = min(start + _PIECE, len(text))
        # A line end or an ASCII character begins anew; one that never comes within a piece is cut hard.
        while end < len(text) and not text[end].isascii() and end - start < 2 * _PIECE:
            end += 1
        changed += change(text[start:end]).encode("utf-8", "surrogatepass")
        start = end
    del text
    return changed.decode("utf-8", "surrogatepass")


def bare(text: str) -> str:
    """Steps 1 to 5: folded, trimmed, out of its wrappers and with one space for each run; case and commas kept."""
    plain = text.isascii() and text.isprintable()  # as most replies are: nothing to fold, and no space but " "
    return _one_spaced(unwrap(text if plain else fold(compose(text)))).strip()


def _one_spaced(text: str) -> str:
    """The text with one space for each run of spaces, tabs and line ends; a pattern takes ten times as long."""
    text = text.replace("\n", " ").replace("\t", " ")
    if "  " in text:
        for run in _SPACES:
            while run in text:
                text = text.replace(run, " ")
    return text


def unwrap(text: str) -> str:
    """The text without the markdown, quotes and one final stop around the whole of it; line ends inside are kept."""
    text, stop_left = text.strip(" \t\n"), True
    if text[:1] not in _WRAPS:
        return text[:-1].rstrip(" \t\n") if text.endswith((".", "。")) else text
    for _ in range(5):
        before = text
        text = _unquote(_unmark(text)).strip(" \t\n")
        if stop_left and text.endswith((".", "。")):
            text, stop_left = text[:-1].rstrip(" \t\n"), False
        if text == before:
            break
    return text


def _unmark(text: str) -> str:
    """Without one pair of markdown marks that encloses everything."""
    if not text or text[0] not in "*_`~" or len(text) < 3:
        return text
    if fenced := _unfence(text):
        return fenced
    if text[0] == "`":
        ticks = text[: len(text) - len(text.lstrip("`"))]
        inner = text[len(ticks) : -len(ticks)]
        return inner if text.endswith(ticks) and inner and ticks not in inner else text
    for mark in ("**", "__", "*", "_"):
        inner = text[len(mark) : -len(mark)]
        if text.startswith(mark) and text.endswith(mark) and len(text) > 2 * len(mark) and mark not in inner:
            return inner
    return text


def _unfence(text: str) -> str:
    """What a code fence around the whole holds; empty when there is no such fence."""
    opening = _FENCE.match(text)
    if opening is None:
        return ""
    fence = opening[1]
    inner, _, last = text[opening.end() - 1 :].rpartition("\n")
    closes = len(last) >= len(fence) and set(last.strip()) == {fence[0]}
    return inner[1:] if closes and "\n" + fence not in inner else ""


def _unquote(text: str) -> str:
    if len(text) >= 2 and text[0] in QUOTES and text[-1] in QUOTES:
        return text[1:-1]
    return text


def drop_grouping(text: str) -> str:
    """Step 7: `1,234,567` to `1234567`; `1,2345` and the list `1,234, 5` stay as they are."""
    return _GROUPED.sub(lambda found: found[0].replace(",", ""), text) if "," in text else text


def clean(text: str, *, case: bool = False, plain: bool = False) -> str:
    """The form of a text that is compared.

    Args:
        text: A reply or an accepted form.
        case: Keep upper and lower case apart.
        plain: The older, simpler cleaning, so that published results repeat to the letter.
    """
    if plain:
        return _PLAIN_COMMA.sub("", _in_pieces(text.strip(), str.lower).strip("\"'`").rstrip("."))
    return _cleaned_again(text, case) if len(text) <= _SHORT else _cleaned(text, case)


def _cleaned(text: str, case: bool) -> str:
    if text.isascii() and text.isprintable():
        # A plain line, as most short replies are: the steps that could change it, and no other.
        quick = text.strip(" ")
        if quick[:1] not in _WRAPS and "  " not in quick and "," not in quick:
            quick = quick[:-1].rstrip(" ") if quick.endswith(".") else quick
            return quick if case else quick.lower()
    return drop_grouping(bare(text) if case else fold_case(bare(text)))


# One reply is cleaned for its rule, the second rule, each trap and each check: a few texts are enough to remember.
_cleaned_again: Final = lru_cache(maxsize=128)(_cleaned)
