"""The rule that searches a pattern, and what keeps a pattern from running away.

A pattern that can run away is refused when the suite is loaded; what is left still runs under a time limit.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from re import _constants as ops  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any, Final

import regex

from resit.core.rule import Regex
from resit.core.scoring.judged import Judged, quoted

LIMIT_S: Final = 0.4
"""How long one pattern may search one reply."""

_PROBES: Final = ("Paris is the one.", "-17.25", "x")
_ALPHABET: Final = frozenset(map(chr, range(128))) | frozenset("é中\u00a0")
_FLAGS: Final = {
    "ignorecase": re.IGNORECASE,
    "multiline": re.MULTILINE,
    "dotall": re.DOTALL,
    "verbose": re.VERBOSE,
    "ascii": re.ASCII,
}
_LINE_ENDS: Final = re.compile("\r\n?|[\u2028\u2029]")


def _flags(rule: Regex) -> int:
    flags = 0 if rule.case else re.IGNORECASE
    for name in rule.flags:
        flags |= _FLAGS[name]
    return int(flags)


@lru_cache(maxsize=2048)
def _compiled(pattern: str, flags: int) -> regex.Pattern[str] | None:
    try:
        return regex.compile(pattern, flags | regex.VERSION0)
    except (regex.error, ValueError, OverflowError, RecursionError):
        return None


def judge_regex(rule: Regex, accept: tuple[str, ...], text: str) -> Judged:
    """Whether an accepted pattern is found in the reply, as it was sent but for its line ends."""
    text = _LINE_ENDS.sub("\n", text) if not text.isascii() or "\r" in text else text
    why = f"no pattern is found in the reply: {', '.join(map(quoted, accept[:3]))}"
    for pattern in accept:
        compiled = _compiled(pattern, _flags(rule)) if pattern else None
        if compiled is None:
            continue
        try:
            match = compiled.fullmatch if rule.full else compiled.search
            found = match(text, timeout=LIMIT_S, concurrent=False)
        except TimeoutError:
            why = f"the pattern {quoted(pattern)} took longer than {LIMIT_S} seconds"
            continue
        if found and found[0]:
            return Judged(True, text, accept, f"{quoted(pattern)} is found in the reply", found[0], found.span())
    return Judged(False, text, accept, why)


def pattern_fault(pattern: str, rule: Regex) -> str | None:
    """What is wrong with a pattern, as a sentence; None when it may be used."""
    if not pattern:
        return "the pattern is empty"
    try:
        tree = parser.parse(pattern, _flags(rule))
    except (re.error, OverflowError, RecursionError) as error:
        return f"the pattern does not compile: {error}"
    compiled = _compiled(pattern, _flags(rule))
    if compiled is None:
        return "the pattern does not compile"
    if runs_away(tree):
        return "the pattern can run for ever: it repeats what repeats"
    if _matches_nothing(compiled):
        return "the pattern matches nothing at all, so it passes every reply"
    return None


def _matches_nothing(compiled: regex.Pattern[str]) -> bool:
    try:
        if compiled.search("", timeout=LIMIT_S):
            return True
        found = [compiled.search(probe, timeout=LIMIT_S) for probe in _PROBES]
    except TimeoutError:
        return False
    return all(hit is not None and not hit[0] for hit in found)


_REPEATS: Final = (ops.MAX_REPEAT, ops.MIN_REPEAT)
_MANY: Final = 12
"""A repeat that may come more often than this counts as one without an end."""


def runs_away(tree: Any) -> bool:
    """Whether a parsed pattern holds a repeat whose body can be split in more than one way."""
    for op, value in tree:
        if op in _REPEATS and value[1] > _MANY and _ambiguous(value[2]):
            return True
        if any(runs_away(part) for part in _parts(op, value)):
            return True
    return False


def _parts(op: Any, value: Any) -> Iterable[Any]:
    """The patterns inside one node."""
    if op in _REPEATS or op is ops.POSSESSIVE_REPEAT:
        return (value[2],)
    if op is ops.SUBPATTERN:
        return (value[3],)
    if op is ops.BRANCH:
        return tuple(value[1])
    if op in (ops.ASSERT, ops.ASSERT_NOT):
        return (value[1],)
    if op is ops.ATOMIC_GROUP:
        return (value,)
    if op is ops.GROUPREF_EXISTS:
        return tuple(part for part in value[1:] if part is not None)
    return ()


def _ambiguous(body: Any) -> bool:
    """Whether repeating this body can read one text in more than one way."""
    items = _flat(body)
    for place, (op, value) in enumerate(items):
        if op is ops.BRANCH and _overlap(value[1]):
            return True
        if op in _REPEATS and value[1] > _MANY and _runs_on(items, place):
            return True
        if op in _REPEATS and value[0] == 0 and value[1] <= _MANY and len(items) == 1:
            return True
    return False


def _runs_on(items: list[tuple[Any, Any]], place: int) -> bool:
    """Whether what a repeat takes can as well be taken by the next repeat, that of the next round included.

    Words with a space after each cannot: the space must come between. Words with an optional hyphen after each can.
    """
    repeated = _characters(items[place][1][2])
    for item in items[place + 1 :] + items[: place + 1]:
        apart = repeated.isdisjoint(_characters([item]))
        if apart and _always(item):
            return False
        if not apart and not (_always(item) and item[0] not in _REPEATS):
            return True
    return True


def _flat(body: Any) -> list[tuple[Any, Any]]:
    """The nodes of a body, groups opened."""
    items: list[tuple[Any, Any]] = []
    for op, value in body:
        items.extend(_flat(value[3]) if op is ops.SUBPATTERN else [(op, value)])
    return items


def _always(item: tuple[Any, Any]) -> bool:
    """Whether a node takes at least one character."""
    op, value = item
    if op in _REPEATS or op is ops.POSSESSIVE_REPEAT:
        return bool(value[0] > 0)
    return op in (ops.LITERAL, ops.NOT_LITERAL, ops.IN, ops.ANY)


def _overlap(branches: list[Any]) -> bool:
    """Whether two alternatives can begin with one character, or one of them is empty."""
    firsts = [_first(branch) for branch in branches]
    return any(
        not one or not other or not one.isdisjoint(other) for at, one in enumerate(firsts) for other in firsts[at + 1 :]
    )


def _first(branch: Any) -> frozenset[str]:
    """The characters a body may begin with; empty when it may take none."""
    found: frozenset[str] = frozenset()
    for item in _flat(branch):
        if item[0] is ops.AT or item[0] in (ops.ASSERT, ops.ASSERT_NOT):
            continue
        found |= _characters([item])
        if _always(item):
            return found
        if item[0] is ops.BRANCH:
            return found
    return frozenset()


def _characters(body: Any) -> frozenset[str]:
    """Every character of a small alphabet that a body can take; letters in both cases, to be safe."""
    found: set[str] = set()
    for op, value in body:
        if op is ops.LITERAL:
            found |= {chr(value), chr(value).lower(), chr(value).upper()}
        elif op is ops.NOT_LITERAL:
            found |= _ALPHABET - {chr(value)}
        elif op in (ops.ANY, ops.GROUPREF):
            found |= _ALPHABET
        elif op is ops.IN:
            found |= _class(value)
        else:
            for part in _parts(op, value):
                found |= _characters(part)
    return frozenset(found)


_CATEGORIES: Final = {
    ops.CATEGORY_DIGIT: r"\d",
    ops.CATEGORY_NOT_DIGIT: r"\D",
    ops.CATEGORY_SPACE: r"\s",
    ops.CATEGORY_NOT_SPACE: r"\S",
    ops.CATEGORY_WORD: r"\w",
    ops.CATEGORY_NOT_WORD: r"\W",
}


def _class(items: Any) -> frozenset[str]:
    """The characters of `[...]`."""
    found: set[str] = set()
    negated = bool(items) and items[0][0] is ops.NEGATE
    for op, value in items:
        if op is ops.LITERAL:
            found.add(chr(value))
        elif op is ops.RANGE:
            found |= {c for c in _ALPHABET if value[0] <= ord(c) <= value[1]} | {chr(value[0])}
        elif op is ops.CATEGORY:
            found |= {c for c in _ALPHABET if re.match(_CATEGORIES[value], c)}
    return _ALPHABET - found if negated else frozenset(found | {c.swapcase() for c in found})
