"""A file that is one JSON array, or values one after another, taken value by value: an export can be very large."""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Iterator
from typing import Any, BinaryIO

from resit.core.logs.lines import BLOCK

MAX_VALUE = 16 * 1024 * 1024
"""Characters of the longest conversation that is taken apart."""

_BETWEEN = re.compile(r"[\s,\[\]\ufeff]*")
_AS_IT_IS = "surrogateescape"
"""Bytes that are no UTF-8 keep their length, so that offsets stay those of the file."""


class BadValue(ValueError):
    """What follows is no JSON, or too long to be taken apart: reading ends there."""

    def __init__(self, *, long: bool) -> None:
        """Say which of the two it is."""
        super().__init__()
        self.long = long


def read_values(stream: BinaryIO) -> Iterator[tuple[int, int, Any]]:
    """Each value as (first byte, first byte after it, value), from the start of the file.

    Raises:
        BadValue: Somewhere in the file; the values before were given.
    """
    decoder = codecs.getincrementaldecoder("utf-8")(_AS_IT_IS)
    text, at, passed, block = "", 0, 0, BLOCK
    while True:
        read = stream.read(block)
        text, at = text[at:] + decoder.decode(read, final=not read), 0
        while True:
            start = _after(_BETWEEN, text, at)
            value, end = _value(text, start)
            if end is None:
                break
            before = passed + _bytes(text[at:start])
            passed = before + _bytes(text[start:end])
            at, block = end, BLOCK
            yield before, passed, value
        if not read:
            if start < len(text):
                raise BadValue(long=False)
            return
        if len(text) - at > MAX_VALUE:
            raise BadValue(long=True)
        # Each try starts anew, so each is given twice as much.
        block = max(BLOCK, len(text) - at)


def _after(pattern: re.Pattern[str], text: str, at: int) -> int:
    found = pattern.match(text, at)
    return found.end() if found else at


def _value(text: str, start: int) -> tuple[Any, int | None]:
    """The value that begins at `start`, and where it ends; None when the text ends first or is no JSON."""
    if start >= len(text):
        return None, None
    try:
        value, end = _DECODER.raw_decode(text, start)
    except (ValueError, RecursionError):
        return None, None
    # A number at the end of what was read may go on.
    return value, end if end < len(text) or isinstance(value, dict) else None


def _bytes(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", _AS_IT_IS))


_DECODER = json.JSONDecoder()
