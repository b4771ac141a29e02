"""What is shown: words and conditions that combine, over graded rows."""

from __future__ import annotations

import re
from collections.abc import Callable
from decimal import Decimal, InvalidOperation

from resit.core.records import Row

Test = Callable[[Row], bool]

HELP = "words · kind:dates setting:haiku is:miss is:unsettled reason:trap verdict:none failed:no_list >2s >$0.01 >500t"
"""Every form once, for the placeholder."""

_COMPARED = re.compile(r"(?P<op>[<>])(?P<money>\$?)(?P<value>\d+(?:\.\d+)?)(?P<unit>s?|t?)")


def parse_filter(text: str) -> Test | None:
    """A test that holds when every part of `text` does; None for an empty filter.

    What is no condition is a word that stands somewhere in the row: a filter never fails, it only finds nothing.
    """
    tests = [_part(part) for part in text.split()]
    return (lambda row: all(test(row) for test in tests)) if tests else None


def below_full(row: Row) -> bool:
    """Whether a run has anything to read: less than full marks, or no fair answer."""
    return row.score is None or row.score < 1.0


def _part(part: str) -> Test:
    compared = _COMPARED.fullmatch(part)
    if compared:
        return _comparison(compared)
    name, colon, value = part.partition(":")
    if colon and name in _FIELDS:
        wanted, of = value.casefold(), _FIELDS[name]
        return lambda row: any(wanted in text.casefold() for text in of(row))
    word = part.casefold()
    return lambda row: any(word in text.casefold() for text in _words(row))


def _comparison(match: re.Match[str]) -> Test:
    above = match["op"] == ">"
    try:
        limit = Decimal(match["value"])
    except InvalidOperation:
        return lambda row: False

    def test(row: Row) -> bool:
        found: Decimal | float | None = row.score
        if match["money"]:
            found = row.cost_usd
        elif match["unit"] == "s":
            found = row.seconds
        elif match["unit"] == "t":
            found = row.output_tokens
        if found is None:
            return False
        return Decimal(str(found)) > limit if above else Decimal(str(found)) < limit

    return test


def _is(row: Row) -> tuple[str, ...]:
    names = [row.outcome]
    if row.score is None:
        names.append("unsettled")  # type: ignore[arg-type]
    if row.doubt:
        names.append("doubtful")  # type: ignore[arg-type]
    if below_full(row):
        names.append("unread" if row.verdict is None else "read")  # type: ignore[arg-type]
    return tuple(names)


_FIELDS: dict[str, Callable[[Row], tuple[str, ...]]] = {
    "kind": lambda row: (row.kind,),
    "setting": lambda row: (row.setting,),
    "model": lambda row: (row.model,),
    "question": lambda row: (row.question,),
    "is": _is,
    "reason": lambda row: (row.reason or "none",),
    "verdict": lambda row: (row.verdict or "none",),
    "failed": lambda row: row.failed,
    "run": lambda row: (str(row.run),),
}


def _words(row: Row) -> tuple[str, ...]:
    return (row.question, row.kind, row.setting, row.outcome, row.reason or "", row.reply or "", *row.failed)
