"""The bytes of a suite or of a file it names, read in bounds and decoded."""

from __future__ import annotations

import stat
from pathlib import Path

from resit.core.suite_formats.said import Unreadable

MAX_BYTES = 10_000_000
BOM = "\ufeff"


def read_source(path: Path, most: int = MAX_BYTES) -> str:
    """The text of a file; a byte-order mark stays at its start.

    Raises:
        Unreadable: It is not there, no ordinary file, too large, or not UTF-8.
    """
    try:
        found = path.stat()
        if not stat.S_ISREG(found.st_mode):
            what = "a folder" if stat.S_ISDIR(found.st_mode) else "no ordinary file"
            raise Unreadable(f"this is {what}", "name a file", code="unreadable")
        # The size of some files is only known once they are read.
        with path.open("rb") as file:
            data = file.read(most + 1)
    except FileNotFoundError:
        raise Unreadable("there is no such file", "check the path", code="missing-file") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise Unreadable(f"it cannot be read: {reason}", code="unreadable") from None
    if len(data) > most:
        raise Unreadable(f"it is larger than {most // 1000:,} kB", "split it", code="unreadable")
    return _decoded(data)


def _decoded(data: bytes) -> str:
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise Unreadable("it is in UTF-16", "save it as UTF-8", 1, code="encoding")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        message = f"byte 0x{data[error.start]:02X} is not UTF-8"
        raise Unreadable(message, "save the file as UTF-8", line, code="encoding") from None
