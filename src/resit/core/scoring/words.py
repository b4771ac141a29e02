"""What counts as a word, a line and a character, for checks that count or look at lines."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from functools import cache
from itertools import islice

from resit.core.scoring.normalise import compose, fold

# A point or comma between digits, an apostrophe or hyphen between letters are inside: 3.14, don't, well-known.
_ASCII_WORD = re.compile(r"[A-Za-z0-9]++(?:['-][A-Za-z0-9]++|(?<=[0-9])[.,:](?=[0-9])[A-Za-z0-9]++)*+")

_FULL_LINE = re.compile(r"^[^\S\n]*+(\S[^\n]*+)", re.MULTILINE)

_EACH_ONE = (
    "\u3005-\u3007\u3021-\u3029\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9d\U00020000-\U0003fffd"
)
"""Han and kana, where each character counts as one word, as the inside of a character class."""
_ONE = re.compile(f"[{_EACH_ONE}]")


def tidy(text: str) -> str:
    """`text` with all that looks the same made the same, and nothing in it that cannot be seen.

    Unlike `normalise.clean` it keeps lines, tabs, case, marks and full stops, which checks look at.
    """
    return fold(compose(text))


@cache
def _word_pattern() -> re.Pattern[str]:
    """Words of all scripts; combining marks belong to the letter before. Built late: it takes some milliseconds.

    It begins with one class, so that a search runs over what is no word in a fraction of a second for megabytes.
    """
    letters = _classed(code for code in range(0x10000) if _in_a_word(chr(code)))
    letters += "\U00010000-\U0001cfff\U0001d400-\U0001d7ff\U0001e000-\U0001eeff"
    inner = rf"(?:['-][{letters}]++|(?<=\d)[.,:](?=\d)[{letters}]++)"
    return re.compile(rf"[{_EACH_ONE}{letters}](?:(?<=[{_EACH_ONE}])|[{letters}]*+{inner}*+)")


def _in_a_word(character: str) -> bool:
    """Whether a character is a letter, digit or mark of a script that runs words together."""
    return (character.isalnum() or unicodedata.category(character)[0] == "M") and not _ONE.match(character)


def _classed(codes: Iterable[int]) -> str:
    """Rising code points as the ranges of a character class."""
    ranges: list[list[int]] = []
    for code in codes:
        if ranges and ranges[-1][1] == code - 1:
            ranges[-1][1] = code
        else:
            ranges.append([code, code])
    return "".join(f"{chr(first)}-{chr(last)}" for first, last in ranges)


def count_words(text: str, most: int) -> int:
    """Words of a tidied text: runs of letters or digits, each Han or kana character one.

    Args:
        text: As `tidy` leaves it.
        most: Counting stops here, so that a very long reply costs no more than its limit asks for.
    """
    pattern = _ASCII_WORD if text.isascii() else _word_pattern()
    return sum(1 for _ in islice(pattern.finditer(text), most))


def count_lines(text: str, most: int) -> int:
    """Lines of a tidied text that have something on them, counted up to `most`."""
    return sum(1 for _ in islice(_FULL_LINE.finditer(text), most))


def first_line(text: str) -> str:
    """The first line of a tidied text with something on it."""
    return text.lstrip().split("\n", 1)[0]


def last_line(text: str) -> str:
    """The last line of a tidied text with something on it."""
    return text.rstrip().rsplit("\n", 1)[-1]
