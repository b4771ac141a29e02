"""A log as lines: bounded in memory, whatever its bytes are and however long it grows meanwhile."""

from __future__ import annotations

import codecs
import io
import json
import os
import stat
from collections.abc import Iterator
from typing import Any, BinaryIO

from pydantic_core import from_json

MAX_LINE = 32 * 1024 * 1024
"""Bytes of the longest line that is taken apart; a longer one is passed over, never held."""
BLOCK = 1024 * 1024

_BOM = codecs.BOM_UTF8
# The longer marks first: UTF-32's little-endian one begins like UTF-16's.
_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


def open_log(path: str, offset: int = 0) -> BinaryIO:
    """The file at `path` as UTF-8, from `offset` on; a file marked as UTF-16 or UTF-32 is recoded on the way.

    Raises:
        OSError: It cannot be read, or is no file: nothing waits for a pipe.
    """
    # A pipe put where a log was would block the plain call for ever.
    handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise OSError("not a file")
    file = io.BufferedReader(io.FileIO(handle), BLOCK)
    try:
        name = next((name for mark, name in _MARKS if file.peek(4).startswith(mark)), None)
        if name is None:
            file.seek(offset)
            return file
        return skip(io.BufferedReader(_Recoded(file, name), BLOCK), offset)
    except BaseException:
        file.close()
        raise


def is_recoded(stream: BinaryIO) -> bool:
    """True when offsets are not those of the file itself."""
    return isinstance(getattr(stream, "raw", None), _Recoded)


def skip(stream: BinaryIO, count: int) -> BinaryIO:
    """`stream` after its first `count` bytes, for one that cannot seek."""
    while count > 0 and (block := stream.read(min(count, BLOCK))):
        count -= len(block)
    return stream


def read_lines(stream: BinaryIO, offset: int = 0) -> Iterator[tuple[int, int, bytes | None]]:
    """Each line as (first byte, first byte after it, its bytes without the line end); None for one too long.

    The last line may have no end yet: it still may be half written.

    Args:
        stream: Where the lines are from.
        offset: Place of its first byte in the file.
    """
    while line := stream.readline(MAX_LINE):
        start, offset = offset, offset + len(line)
        if len(line) == MAX_LINE and not line.endswith(b"\n"):
            del line
            offset += _pass_over(stream)
            yield start, offset, None
        else:
            yield start, offset, line.removeprefix(_BOM) if start == 0 else line


def _pass_over(stream: BinaryIO) -> int:
    """Read on until a line ends; how many bytes that took."""
    passed = 0
    while block := stream.readline(BLOCK):
        passed += len(block)
        if block.endswith(b"\n"):
            break
    return passed


def parse(data: bytes) -> Any:
    """The JSON value in `data`.

    Raises:
        ValueError: It is no JSON, or nested too deeply.
    """
    try:
        return from_json(data)
    except ValueError:
        pass
    # Half of a pair of surrogates, which a program leaves that cuts a text in the middle of an emoji, and bytes
    # of another encoding are no reason to lose the line.
    try:
        return json.loads(decode(data))
    except RecursionError:
        raise ValueError("nested too deeply") from None


def decode(data: bytes) -> str:
    """`data` as text: UTF-8, else as Windows writes western text, else with marks for what cannot be read."""
    text = data.decode("utf-8", "replace")
    lost = text.count("\ufffd")
    if lost and lost * 2 > sum(character > "\x7f" for character in text):
        return data.decode("cp1252", "replace")
    return text


class _Recoded(io.RawIOBase):
    """A file in another encoding, read as UTF-8."""

    def __init__(self, file: BinaryIO, codec: str) -> None:
        super().__init__()
        self._file = file
        self._decoder = codecs.getincrementaldecoder(codec)("replace")
        self._left = b""

    def readable(self) -> bool:
        """Yes."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Fill `buffer`; 0 at the end."""
        ended = False
        while not self._left and not ended:
            block = self._file.read(BLOCK)
            ended = not block
            self._left = self._decoder.decode(block, final=ended).encode("utf-8", "replace")
        count = min(len(buffer), len(self._left))
        buffer[:count], self._left = self._left[:count], self._left[count:]
        return count

    def close(self) -> None:
        """Close the file too."""
        self._file.close()
        super().close()
