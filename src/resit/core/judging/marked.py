"""A marked block in a person's own file: the only part of it that is ever written, and shown as a diff first."""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from pathlib import Path

from resit.core.errors import UsageError
from resit.core.paths import atomic_write

NAME = "resit rules"
_BOM = "\ufeff"


@dataclass(frozen=True, slots=True)
class BlockEdit:
    """What writing rules into a file would change; nothing is written yet."""

    path: Path
    before: bytes | None
    """The file as it was read. None: there is none."""
    after: bytes

    @property
    def changes(self) -> bool:
        """False when the file holds the block already."""
        return self.before != self.after

    @property
    def diff(self) -> str:
        """The change as a unified diff; empty without any. Foreign text: make it printable before it is shown."""
        old = [] if self.before is None else _text(self.before, self.path).splitlines()
        new = _text(self.after, self.path).splitlines()
        name = self.path.name
        lines = difflib.unified_diff(old, new, "/dev/null" if self.before is None else name, name, lineterm="")
        return "\n".join(lines)

    def write(self) -> None:
        """Write the file, whole or not at all.

        Raises:
            UsageError: It was changed since it was read, or cannot be written.
        """
        if _read(self.path) != self.before:
            raise UsageError(f"{self.path} has changed meanwhile", hint="look at the new diff first")
        try:
            atomic_write(self.path, self.after)
        except OSError as error:
            raise UsageError(f"{self.path} cannot be written: {error.strerror}") from error


def plan_block(path: Path, body: str, *, name: str = NAME) -> BlockEdit:
    """What it takes for the file to hold `body` between the marks, with every other byte as it is.

    Without marks the block is put at the end. The file's line ends are used.

    Args:
        path: The file; it need not be there yet.
        body: What stands between the marks.
        name: Names the marks.

    Raises:
        UsageError: The file is no text, or its marks are not one pair in order.
    """
    before = _read(path)
    text = "" if before is None else _text(before, path)
    end = "\r\n" if text.count("\r\n") * 2 > text.count("\n") else "\n"
    opening, closing = f"<!-- {name}: begin -->", f"<!-- {name}: end -->"
    if opening in body or closing in body:
        raise UsageError(f"the text for {path} holds a mark itself")
    block = end.join([opening, *body.strip("\n").split("\n"), closing])
    return BlockEdit(path, before, _placed(text, block, opening, closing, end, path).encode())


def plan_file(path: Path, body: str) -> BlockEdit:
    """What it takes for the whole file to be `body`; it need not be there yet.

    Raises:
        UsageError: The file that is there is no text.
    """
    before = _read(path)
    if before is not None:
        _text(before, path)
    return BlockEdit(path, before, body.encode())


def _placed(text: str, block: str, opening: str, closing: str, end: str, path: Path) -> str:
    counts = text.count(opening), text.count(closing)
    if counts == (0, 0):
        if not text.strip(_BOM):
            return f"{text}{block}{end}"
        gap = end if text.endswith("\n") else end * 2
        return f"{text}{gap}{block}{end}"
    start, stop = text.find(opening), text.find(closing)
    if counts != (1, 1) or stop < start:
        raise UsageError(
            f"{path} has {counts[0]} begin and {counts[1]} end marks", hint=f"leave one pair: {opening} … {closing}"
        )
    return f"{text[:start]}{block}{text[stop + len(closing) :]}"


def _read(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}") from error


def _text(data: bytes, path: Path) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise UsageError(f"{path} is no UTF-8 text", hint="nothing was written") from error
