"""What became of a workspace: which protected files were touched."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from functools import cache

from resit.core.folders import Entry, Tree

_MODE = 0o500
"""Permissions that count: that we may read it, and execute it. Others differ with whoever wrote the file last."""


def said_name(name: str) -> str:
    """A file's name as a record may hold it: text, whatever bytes it is made of."""
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def touched(before: Tree, after: Tree, protect: Sequence[str]) -> tuple[str, ...]:
    """Protected files that are not byte for byte what they were, each with what became of it.

    Names are compared as a system compares them that folds case, so that `Tests/` cannot stand in for `tests/`.
    """
    said = []
    for name in sorted({*before, *after}):
        if is_protected(name, protect) and (what := change_of(before.get(name), after.get(name))):
            said.append(f"{said_name(name)} {what}")
    return tuple(said)


def is_protected(name: str, protect: Sequence[str]) -> bool:
    """Whether a path is one of `protect`, lies in one, or fits one: `*` stays within a folder, `**` does not."""
    folded = _folded(name)
    return any(_pattern(text).fullmatch(folded) for text in protect)


_WILD = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}


@cache
def _pattern(text: str) -> re.Pattern[str]:
    text = _folded(text.strip().removeprefix("./").rstrip("/"))
    parts = (_WILD.get(part) or re.escape(part) for part in re.split(r"(\*\*/|\*\*|\*|\?)", text))
    return re.compile("".join(parts) + "(?:/.*)?", re.DOTALL)


def _folded(name: str) -> str:
    return unicodedata.normalize("NFC", name).casefold()


def change_of(before: Entry | None, after: Entry | None) -> str:
    """What became of a file, in a word or two; empty when it is as it was."""
    if before is None or after is None:
        return "added" if before is None else "removed"
    if before.kind != after.kind:
        return "replaced by a link" if after.kind == "link" else f"replaced: {after.digest}"
    if before.digest != after.digest:
        return "changed"
    return "permissions changed" if (before.mode ^ after.mode) & _MODE else ""
