"""What became of a workspace: which protected files were touched, and what changed, as a diff."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from functools import cache
from pathlib import Path

from resit.core.folders import Entry, Tree, read_left

MAX_DIFF_CHARS = 200_000
_MAX_FILE_BYTES = 1_000_000
_CONTEXT = 3
_MAX_MATCHED = 2_000
"""Lines that are matched with each other: matching is quadratic, and a stranger chose the lines."""


def said_name(name: str) -> str:
    """A file's name as a record may hold it: text, whatever bytes it is made of."""
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def touched(before: Tree, after: Tree, protect: Sequence[str]) -> tuple[str, ...]:
    """Protected files that are not byte for byte what they were, each with what became of it.

    Names are compared as a system compares them that folds case, so that `Tests/` cannot stand in for `tests/`.
    """
    said = []
    for name in sorted({*before, *after}):
        if is_protected(name, protect) and (what := _change(before.get(name), after.get(name))):
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


def _change(before: Entry | None, after: Entry | None) -> str:
    if before == after:
        return ""
    if before is None:
        return "added"
    if after is None:
        return "removed"
    if before.kind != after.kind:
        return "replaced by a link" if after.kind == "link" else f"replaced: {after.digest}"
    if before.digest != after.digest:
        return "changed"
    return "permissions changed"


def diff(before: Path, was: Tree, after: Path, now: Tree) -> str:
    """What was changed, as a unified diff; what is too long for one is named.

    Args:
        before: Folder as it was given.
        was: What it holds.
        after: Folder as it was left.
        now: What it holds.
    """
    parts: list[str] = []
    length = 0
    changed = [name for name in sorted({*was, *now}) if _change(was.get(name), now.get(name))]
    for number, name in enumerate(changed):
        part = "\n".join(_file_diff(name, _lines(before, name, was.get(name)), _lines(after, name, now.get(name))))
        if length + len(part) > MAX_DIFF_CHARS:
            return "\n".join([*parts, f"… {len(changed) - number:,} more changed files are not shown"])
        parts.append(part)
        length += len(part)
    return "\n".join(parts)


_Content = list[str] | str | None
"""Lines of a text, what else it is in words, or None for nothing."""


def _lines(folder: Path, name: str, entry: Entry | None) -> _Content:
    if entry is None:
        return None
    if entry.kind != "file":
        return f"a link to {said_name(entry.digest)}" if entry.kind == "link" else entry.digest
    if entry.size > _MAX_FILE_BYTES:
        return f"a file of {entry.size:,} bytes"
    data = read_left(folder, name, _MAX_FILE_BYTES) or b""
    if b"\0" in data:
        return f"a file of {entry.size:,} bytes that is no text"
    return data.decode("utf-8", "replace").splitlines()


def _file_diff(name: str, before: _Content, after: _Content) -> Iterator[str]:
    shown = said_name(name)
    old, new = f"a/{shown}" if before is not None else "/dev/null", f"b/{shown}" if after is not None else "/dev/null"
    if isinstance(before, str) or isinstance(after, str):
        yield f"--- {old}"
        yield f"+++ {new}"
        yield from (f"-{_in_words(before)}", f"+{_in_words(after)}")
        return
    lines = list(_unified(before or [], after or [], old, new))
    yield from lines or (f"--- {old}", f"+++ {new}", "(line ends or permissions)")


def _in_words(content: _Content) -> str:
    return "nothing" if content is None else content if isinstance(content, str) else f"a text of {len(content)} lines"


def _unified(before: list[str], after: list[str], old: str, new: str) -> Iterator[str]:
    """A unified diff; where too much differs to be matched, all that differs is one hunk."""
    shorter = min(len(before), len(after))
    start = next((n for n in range(shorter) if before[n] != after[n]), shorter)
    end = next((n for n in range(shorter - start) if before[-1 - n] != after[-1 - n]), shorter - start)
    # What is equal at both ends is left out but for the lines around a change.
    first = max(0, start - _CONTEXT)
    before, after = (lines[first : max(start, len(lines) - end) + _CONTEXT] for lines in (before, after))
    if before == after:
        return
    if len(before) + len(after) > _MAX_MATCHED:
        hunks = [[("replace", 0, len(before), 0, len(after))]]
    else:
        hunks = list(SequenceMatcher(None, before, after).get_grouped_opcodes(_CONTEXT))
    yield f"--- {old}"
    yield f"+++ {new}"
    for hunk in hunks:
        (_, a, _, b, _), (_, _, a_end, _, b_end) = hunk[0], hunk[-1]
        yield f"@@ -{_span(first + a, a_end - a)} +{_span(first + b, b_end - b)} @@"
        for tag, i, j, k, m in hunk:
            if tag == "equal":
                yield from (f" {line}" for line in before[i:j])
            else:
                yield from (f"-{line}" for line in before[i:j])
                yield from (f"+{line}" for line in after[k:m])


def _span(start: int, count: int) -> str:
    return f"{start + 1 if count else start},{count}"
