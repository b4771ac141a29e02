"""Two rounds held against each other, question by question: what was fixed, what broke, what is still wrong."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from resit.core.records import Row
from resit.tui.figures import count

if TYPE_CHECKING:
    from resit.core.rounds.shelf import OpenedRound

Change = Literal["broken", "fixed", "still wrong", "unsettled", "right in both", "only before", "only now"]
ORDER: tuple[Change, ...] = (
    "broken",
    "fixed",
    "still wrong",
    "unsettled",
    "only before",
    "only now",
    "right in both",
)


@dataclass(frozen=True, slots=True)
class Pair:
    """One question under one setting in both rounds; the run with the lowest score stands for all its runs."""

    question: str
    setting: str
    change: Change
    before: Row | None
    now: Row | None


def pair_rows(before: Iterable[Row], now: Iterable[Row]) -> tuple[Pair, ...]:
    """Pairs by question and setting, what changed first; within that in the order of the rounds."""
    old, new = _lowest(before), _lowest(now)
    places = {place: at for at, place in enumerate(dict.fromkeys([*new, *old]))}
    pairs = [
        Pair(place[0], place[1], _change(old.get(place), new.get(place)), old.get(place), new.get(place))
        for place in places
    ]
    return tuple(sorted(pairs, key=lambda pair: (ORDER.index(pair.change), places[pair.question, pair.setting])))


def _lowest(rows: Iterable[Row]) -> dict[tuple[str, str], Row]:
    found: dict[tuple[str, str], Row] = {}
    for row in rows:
        place = (row.question, row.setting)
        if place not in found or _below(row, found[place]):
            found[place] = row
    return found


def _below(row: Row, other: Row) -> bool:
    """A fair answer stands before none, and of fair ones the lower."""
    if row.score is None:
        return False
    return other.score is None or row.score < other.score


def _change(before: Row | None, now: Row | None) -> Change:
    if before is None:
        return "only now"
    if now is None:
        return "only before"
    if before.score is None or now.score is None:
        return "unsettled"
    if now.score >= 1.0:
        return "right in both" if before.score >= 1.0 else "fixed"
    return "broken" if before.score >= 1.0 else "still wrong"


def counts(pairs: Sequence[Pair]) -> str:
    """`1 broken · 3 fixed · 5 still wrong · 11 right in both`."""
    found = Counter(pair.change for pair in pairs)
    return " · ".join(f"{found[change]:,} {change}" for change in ORDER if found[change])


def unequal(before: OpenedRound, now: OpenedRound) -> tuple[str, ...]:
    """What makes the two rounds unequal: said first, for only what is in both can be compared."""
    said = []
    old = {question.id for question in before.plan.questions(before.suite)}
    new = {question.id for question in now.plan.questions(now.suite)}
    if old != new:
        parts = [f"{len(old & new):,} of them are in both"]
        said.append(f"The questions differ: {len(old):,} before, {len(new):,} now; {', '.join(parts)}.")
    if changed := _other_wording(before, now, old & new):
        said.append(f"{count(changed, 'question')} had another wording before.")
    if before.plan.repeats != now.plan.repeats:
        said.append(f"{count(before.plan.repeats, 'run')} before, {now.plan.repeats} now: the lowest run is compared.")
    if not set(before.plan.labels) & set(now.plan.labels):
        said.append("No setting is in both rounds: nothing can be paired.")
    return tuple(said)


def _other_wording(before: OpenedRound, now: OpenedRound, common: Iterable[str]) -> int:
    old, new = before.suite.by_id, now.suite.by_id
    return sum((old[name].prompt, old[name].system) != (new[name].prompt, new[name].system) for name in common)
