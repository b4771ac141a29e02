"""Rules that compare several items: `set` and `list`."""

from __future__ import annotations

import json
import re
from decimal import Decimal
from functools import lru_cache
from typing import Final

from resit.core.rule import Exact, ItemList, ItemSet, Numeric
from resit.core.scoring.judged import Judged, quoted
from resit.core.scoring.normalise import clean, drop_grouping, fold, unwrap
from resit.core.scoring.number_rules import judge_numeric
from resit.core.scoring.texts import judge_exact

_MOST: Final = 20_000
"""Items that are read of one reply; one with more of them is no answer."""
_LONGEST: Final = 200_000
"""Characters of a reply that are read as items, or twenty times what is accepted where that is more."""
_LONGEST_JOIN: Final = 8
_EXACT: Final = Exact()

_BULLET: Final = re.compile(r"^[ \t]*(?:[-*•‣·–][ \t]+|[0-9]{1,3}[.)][ \t]+)", re.MULTILINE)
_GROUPED: Final = re.compile(r"(?<![0-9A-Za-z_.,])[1-9][0-9]{0,2}(?:,[0-9]{3})++(?![0-9]|,[0-9])")
_SEPARATOR: Final = re.compile(r"[,;\n、，；]|(?<![^\s,;])and(?=\s)", re.IGNORECASE)


def split_items(text: str, separator: str | None, whole: frozenset[str], most: int = _MOST) -> list[str] | None:
    """The items of a reply, as written; None when there are more than `most`.

    Thousands commas are dropped first, so that `1,000, 2,500` is two items. A piece of the text that is one of the
    accepted items (`whole`, cleaned) stays whole though it holds a separator.
    """
    text = fold(text).strip()
    if text.startswith(("`", "*", "_", "~")):
        text = unwrap(text)
    if (items := _json_items(text)) is not None:
        return items
    if separator is not None:
        atoms = text.split(separator, most + 1) if separator else [text]
        return [atom.strip() for atom in atoms if atom.strip()] if len(atoms) <= most else None
    text = _GROUPED.sub(lambda found: found[0].replace(",", ""), _BULLET.sub("", text))
    spans, start = [], 0
    for found in _SEPARATOR.finditer(text):
        spans.append((start, found.start()))
        start = found.end()
        if len(spans) > most:
            return None
    spans.append((start, len(text)))
    spans = [(a, b) for a, b in spans if text[a:b].strip(" \t.")]
    return _join(text, spans, whole)


def _join(text: str, spans: list[tuple[int, int]], whole: frozenset[str]) -> list[str]:
    """The pieces, but for runs of them that together are one accepted item."""
    longest, items, at = max(map(len, whole), default=0), [], 0
    while at < len(spans):
        last = at
        for to in range(min(at + _LONGEST_JOIN, len(spans)) - 1, at, -1):
            piece = text[spans[at][0] : spans[to][1]]
            if len(piece) <= 2 * longest + 20 and clean(piece) in whole:
                last = to
                break
        items.append(text[spans[at][0] : spans[last][1]].strip())
        at = last + 1
    return items


def _json_items(text: str) -> list[str] | None:
    """The items of a JSON array of texts and numbers; None when the text is no such array."""
    if not (text.startswith("[") and text.endswith("]")) or text.count(",") > _MOST:
        return None
    try:
        value = json.loads(text, parse_float=Decimal, parse_int=str)
    except (ValueError, RecursionError, ArithmeticError):
        return None
    flat = all(isinstance(v, str | Decimal) for v in value)
    return [str(v) for v in value] if flat else None


def judge_items(rule: ItemSet | ItemList, accept: tuple[str, ...], text: str) -> Judged:
    """Whether the reply gives the accepted items: in order for a list, in any order for a set."""
    forms = tuple(map(clean, accept))
    if len(text) > max(_LONGEST, 20 * sum(map(len, accept))):
        return Judged(False, text, forms, "the reply is far too long to be these items")
    items = split_items(text, rule.separator, _whole(accept))
    if items is None:
        return Judged(False, fold(text), forms, f"the reply holds more than {_MOST:,} items")
    reply = ", ".join(map(clean, items))
    if isinstance(rule, ItemList):
        same = len(items) == len(accept) and all(
            _same(rule.item, goal, item) for goal, item in zip(accept, items, strict=True)
        )
        return Judged(
            same, reply, forms, "the items are the same, in order" if same else _list_fault(rule, accept, items)
        )
    missing, extra = _difference(rule, accept, items)
    return Judged(not (missing or extra), reply, forms, _set_words(missing, extra))


@lru_cache(maxsize=2048)
def _whole(accept: tuple[str, ...]) -> frozenset[str]:
    return frozenset(map(clean, accept))


def _same(item_rule: Exact | Numeric | None, goal: str, item: str) -> bool:
    if item_rule is not None and isinstance(item_rule, Numeric):
        return judge_numeric(item_rule, (goal,), item).passed
    return judge_exact(item_rule or _EXACT, (drop_grouping(goal),), item).passed


def _list_fault(rule: ItemList, accept: tuple[str, ...], items: list[str]) -> str:
    for place, (goal, item) in enumerate(zip(accept, items, strict=False), start=1):
        if not _same(rule.item, goal, item):
            return f"item {place} is {quoted(item)}, not {quoted(goal)}"
    return f"the reply has {len(items)} items, not {len(accept)}"


def _difference(rule: ItemSet, accept: tuple[str, ...], items: list[str]) -> tuple[list[str], list[str]]:
    """The accepted items that are missing, and the items that are not accepted or come too often."""
    missing, extra, seen = list(accept), [], set[str]()
    for item in items:
        if not rule.duplicates and clean(item) in seen:
            continue
        seen.add(clean(item))
        goal = next((goal for goal in missing if _same(rule.item, goal, item)), None)
        if goal is not None:
            missing.remove(goal)
        elif rule.duplicates or not any(_same(rule.item, goal, item) for goal in accept):
            extra.append(item)
        if len(extra) > 3:
            break
    return missing, extra


def _set_words(missing: list[str], extra: list[str]) -> str:
    parts = [f"missing {quoted(item)}" for item in missing[:3]] + [f"not accepted {quoted(item)}" for item in extra[:3]]
    return "; ".join(parts) or "the items are the same"
