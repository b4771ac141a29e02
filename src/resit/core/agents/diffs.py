"""What an agent changed, as a unified diff, and the same change made again from it.

Text is kept to the letter: line ends, and a last line without one. What is no text, a link or a change of permissions
is told in words, and then the change cannot be made again.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from difflib import SequenceMatcher
from pathlib import Path

from resit.core.agents.workspace import change_of, said_name
from resit.core.folders import Entry, Tree, leads_inside, make_way, read_left

MAX_DIFF_CHARS = 200_000
_MAX_FILE_BYTES = 1_000_000
_CONTEXT = 3
_MAX_MATCHED = 2_000
"""Lines that are matched with each other: matching is quadratic, and a stranger chose the lines."""
_NO_END = "\\ No newline at end of file"
_NOTHING = "/dev/null"
_HUNK = re.compile(r"@@ -(\d+),(\d+) \+(\d+),(\d+) @@")

_Content = list[str] | str | None
"""Lines of a text, what else it is in words, or None for nothing. A last line without an end has `_NO_END` under it."""


class Unusable(Exception):
    """A diff from which the change cannot be made again."""


def diff(before: Path, was: Tree, after: Path, now: Tree) -> str:
    """What was changed; what is too long is named.

    Args:
        before: Folder as it was given.
        was: What it holds.
        after: Folder as it was left.
        now: What it holds.
    """
    parts: list[str] = []
    length = 0
    changed = [name for name in sorted({*was, *now}) if change_of(was.get(name), now.get(name))]
    for number, name in enumerate(changed):
        part = "\n".join(_file_diff(name, _lines(before, name, was.get(name)), _lines(after, name, now.get(name))))
        if length + len(part) > MAX_DIFF_CHARS:
            return "\n".join([*parts, f"… {len(changed) - number:,} more changed files are not shown"])
        parts.append(part)
        length += len(part)
    return "\n".join(parts)


def _lines(folder: Path, name: str, entry: Entry | None) -> _Content:
    if entry is None:
        return None
    if entry.kind != "file":
        return f"a link to {said_name(entry.digest)}" if entry.kind == "link" else entry.digest
    if entry.size > _MAX_FILE_BYTES:
        return f"a file of {entry.size:,} bytes"
    try:
        text = (read_left(folder, name, _MAX_FILE_BYTES) or b"").decode("utf-8")
    except UnicodeDecodeError:
        text = "\0"
    return f"a file of {entry.size:,} bytes that is no text" if "\0" in text else _split(text)


def _split(text: str) -> list[str]:
    *lines, last = text.split("\n")
    return [*lines, f"{last}\n{_NO_END}"] if last else lines


def _joined(lines: list[str]) -> str:
    return "".join(f"{line}\n" for line in lines).removesuffix(f"\n{_NO_END}\n")


def _file_diff(name: str, before: _Content, after: _Content) -> Iterator[str]:
    old, new = _place("a", name, before), _place("b", name, after)
    yield f"--- {old}"
    yield f"+++ {new}"
    if isinstance(before, str) or isinstance(after, str):
        yield from (f"-{_in_words(before)}", f"+{_in_words(after)}")
    elif before == after:
        yield "(permissions)"
    else:
        yield from _hunks(before or [], after or [])


def _place(side: str, name: str, content: _Content) -> str:
    if content is None:
        return _NOTHING
    shown = f"{side}/{said_name(name)}"
    return shown if shown.isprintable() else json.dumps(shown)


def _in_words(content: _Content) -> str:
    return "nothing" if content is None else content if isinstance(content, str) else f"a text of {len(content)} lines"


def _hunks(before: list[str], after: list[str]) -> Iterator[str]:
    """The parts that differ; where too much does to be matched, all that differs is one part."""
    shorter = min(len(before), len(after))
    start = next((n for n in range(shorter) if before[n] != after[n]), shorter)
    end = next((n for n in range(shorter - start) if before[-1 - n] != after[-1 - n]), shorter - start)
    # What is equal at both ends is left out but for the lines around a change.
    first = max(0, start - _CONTEXT)
    before, after = (lines[first : max(start, len(lines) - end) + _CONTEXT] for lines in (before, after))
    if len(before) + len(after) > _MAX_MATCHED:
        hunks = [[("replace", 0, len(before), 0, len(after))]]
    else:
        hunks = list(SequenceMatcher(None, before, after).get_grouped_opcodes(_CONTEXT))
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


def count_changes(text: str) -> list[tuple[str, int, int]]:
    """Files that a diff tells of, with the lines added and removed; what is told in words counts as no line."""
    found: list[tuple[str, int, int]] = []
    lines = text.split("\n")
    at = 0
    while at + 1 < len(lines):
        if not (lines[at].startswith("--- ") and lines[at + 1].startswith("+++ ")):
            at += 1
            continue
        old, new = (_named(line[4:]) for line in lines[at : at + 2])
        added, removed, at = 0, 0, at + 2
        while at < len(lines) and (hunk := _HUNK.fullmatch(lines[at])):
            old_left, new_left, at = int(hunk[2]), int(hunk[4]), at + 1
            while at < len(lines) and (old_left > 0 or new_left > 0 or lines[at] == _NO_END):
                mark = lines[at][:1]
                old_left, new_left = old_left - (mark in " -"), new_left - (mark in " +")
                added, removed, at = added + (mark == "+"), removed + (mark == "-"), at + 1
        found.append((new or old or "", added, removed))
    return found


def change_again(folder: Path, text: str) -> None:
    """Make the change that a diff tells of in `folder`, which holds what the diff began with.

    Raises:
        Unusable: It tells of something in words, was cut, or does not fit.
    """
    lines = text.split("\n") if text else []
    at = 0
    while at < len(lines):
        if at + 1 >= len(lines) or not lines[at].startswith("--- ") or not lines[at + 1].startswith("+++ "):
            raise Unusable(lines[at])
        old, new = (_named(line[4:]) for line in lines[at : at + 2])
        name = new or old
        if name is None or not leads_inside("file", name):
            raise Unusable(lines[at])
        before = _split((read_left(folder, name, _MAX_FILE_BYTES) or b"").decode("utf-8")) if old else []
        after, at = _patched(before, lines, at + 2)
        _write(folder, name, None if new is None else _joined(after))


def _named(shown: str) -> str | None:
    if shown == _NOTHING:
        return None
    try:
        name: object = json.loads(shown) if shown.startswith('"') else shown
    except ValueError:
        name = shown
    return str(name)[2:]


def _patched(before: list[str], lines: list[str], at: int) -> tuple[list[str], int]:
    """The lines of a file once its hunks, from `at` on, are laid over it; and where they end."""
    after: list[str] = []
    taken = 0
    while at < len(lines) and (found := _HUNK.fullmatch(lines[at])):
        start, old_count, _, new_count = map(int, found.groups())
        begin = start - 1 if old_count else start
        old, new, at = _hunk(lines, at + 1, old_count, new_count)
        if begin < taken or before[begin : begin + old_count] != old:
            raise Unusable(found[0])
        after += before[taken:begin] + new
        taken = begin + old_count
    if at < len(lines) and not lines[at].startswith("--- "):
        raise Unusable(lines[at])
    return after + before[taken:], at


def _hunk(lines: list[str], at: int, old_count: int, new_count: int) -> tuple[list[str], list[str], int]:
    old: list[str] = []
    new: list[str] = []
    sides = {" ": (old, new), "-": (old,), "+": (new,)}
    touched: tuple[list[str], ...] = ()
    while at < len(lines) and (len(old) < old_count or len(new) < new_count or lines[at] == _NO_END):
        mark, rest = lines[at][:1], lines[at][1:]
        if lines[at] == _NO_END:
            for side in touched:
                side[-1] += f"\n{_NO_END}"
        elif mark in sides:
            touched = sides[mark]
            for side in touched:
                side.append(rest)
        else:
            raise Unusable(lines[at])
        at += 1
    return old, new, at


def _write(folder: Path, name: str, text: str | None) -> None:
    mode = (folder / name).lstat().st_mode & 0o777 if (folder / name).is_file() else 0o644
    place = make_way(folder, name)
    if text is not None:
        place.write_text(text, encoding="utf-8", newline="")
        place.chmod(mode)
