"""How much of a quota pool is used in its window, by the ledger and by readings; and until when it is used up."""

from __future__ import annotations

import calendar
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from decimal import Decimal
from itertools import pairwise

from resit.core.config import ModelsFile
from resit.core.pool_entry import PoolEntry, Unit, Window
from resit.core.records import Request
from resit.core.scoring.grid import UNBILLED
from resit.core.spend.ledger import LedgerEntry
from resit.core.spend.prices import most_tokens
from resit.core.spend.readings import Reading, Readings, last_of

LENGTH: dict[Window, timedelta] = {"5h": timedelta(hours=5), "week": timedelta(days=7), "month": timedelta(days=30)}
"""How long a window is; one of a month that begins at a known moment has the length of its calendar month."""


def window_start(entry: PoolEntry, now: datetime) -> datetime:
    """When the window that `now` lies in began: the first moment that counts."""
    if entry.resets_at is None:
        # What is just as old as the window is long is out of it.
        return now - LENGTH[entry.window] + timedelta(microseconds=1)
    return _resets(entry, now)[0]


def next_reset(entry: PoolEntry, now: datetime) -> datetime | None:
    """When the next window begins. None where the window is simply the last hours or days."""
    return None if entry.resets_at is None else _resets(entry, now)[1]


def _resets(entry: PoolEntry, now: datetime) -> tuple[datetime, datetime]:
    """The last reset before `now`, and the next one."""
    assert entry.resets_at is not None
    begins = entry.resets_at
    if entry.window != "month":
        length = LENGTH[entry.window]
        start = begins + (now - begins) // length * length
        return start, start + length
    months = (now.year - begins.year) * 12 + now.month - begins.month
    start = _months_after(begins, months)
    if start > now:
        months -= 1
        start = _months_after(begins, months)
    return start, _months_after(begins, months + 1)


def _months_after(begins: datetime, months: int) -> datetime:
    """The same day and hour some months later; the last day of a month that has no such day."""
    month = begins.year * 12 + begins.month - 1 + months
    year, month = divmod(month, 12)
    day = min(begins.day, calendar.monthrange(year, month + 1)[1])
    return begins.replace(year=year, month=month + 1, day=day)


def amount(call: LedgerEntry, unit: Unit) -> Decimal | None:
    """What a call used of a pool that counts in `unit`. None: nobody said."""
    if call.ended in UNBILLED and call.usage is None:
        return Decimal(0)
    match unit:
        case "runs":
            return Decimal(1)
        case "usd":
            return call.cost_usd
        case "tokens":
            return _tokens(call)
        case "percent":
            return None


def _tokens(call: LedgerEntry) -> Decimal | None:
    usage = call.usage
    if usage is None or usage.output_tokens is None:
        return None
    kinds = (usage.input_tokens, usage.cache_write_tokens, usage.cache_read_tokens, usage.output_tokens)
    return Decimal(sum(kind or 0 for kind in kinds))


def worst_amount(request: Request, worst_usd: Decimal | None, unit: Unit) -> Decimal | None:
    """The most that a call can use of a pool that counts in `unit`. None: nothing bounds it."""
    match unit:
        case "runs":
            return Decimal(1)
        case "usd":
            return worst_usd
        case "tokens":
            # An agent asks as often as it likes.
            return None if request.endpoint.startswith("command:") else Decimal(most_tokens(request))
        case "percent":
            return None


@dataclass(frozen=True, slots=True)
class PoolUse:
    """What of a pool is used now."""

    name: str
    entry: PoolEntry
    starts_at: datetime
    """Beginning of its window."""
    used: Decimal | None
    """In the pool's unit, percent for one that is read. None: nobody has said."""
    at_least: bool
    """Some call's use is not known, so there is more than `used`."""
    calls: int
    tokens: int
    """Of the calls in the window; beside what is used, not converted into it."""
    reading: Reading | None
    """The last one in the window."""
    free_at: datetime | None
    """When it is above its reserve again, for one that is not. None: it is, or nobody knows."""

    @property
    def used_up(self) -> bool:
        """True at or below the reserve: no job starts."""
        if self.used is not None and self.used + least(self.entry) > self.entry.stop_line:
            return True
        return (self.used is not None and self.used >= self.entry.stop_line) or _at_reserve(self.reading, self.entry)


def least(entry: PoolEntry) -> Decimal:
    """The least that a call uses of a pool."""
    return Decimal(entry.unit == "runs")


def _at_reserve(reading: Reading | None, entry: PoolEntry) -> bool:
    return reading is not None and reading.used_percent >= 100 * (1 - entry.reserve)


def pool_uses(
    models_file: ModelsFile, calls: Sequence[LedgerEntry], now: datetime, readings: Readings | None = None
) -> tuple[PoolUse, ...]:
    """Every pool of `models.toml`, in its order.

    Raises:
        RoundError: The readings cannot be read.
    """
    kept = readings or Readings()
    return tuple(
        pool_use(name, entry, [call for call in calls if call.model in models_file.members(name)], now, kept.of(name))
        for name, entry in models_file.pools.items()
    )


def pool_use(
    name: str, entry: PoolEntry, calls: Iterable[LedgerEntry], now: datetime, readings: Sequence[Reading]
) -> PoolUse:
    """What of one pool is used.

    Args:
        name: Its name.
        entry: Its limits.
        calls: The calls of its models, of all rounds.
        now: The present.
        readings: Those of the pool, oldest first.
    """
    start = window_start(entry, now)
    inside = sorted((call for call in calls if start <= call.at <= now), key=lambda call: call.at)
    amounts = [amount(call, entry.unit) for call in inside]
    reading = last_of(readings, start)
    if entry.unit == "percent":
        used = reading.used_percent if reading is not None else None
    else:
        used = sum((found for found in amounts if found is not None), Decimal(0))
    use = PoolUse(
        name=name,
        entry=entry,
        starts_at=start,
        used=used,
        at_least=entry.unit != "percent" and None in amounts,
        calls=sum(call.ended not in UNBILLED for call in inside),
        tokens=int(sum(_tokens(call) or 0 for call in inside)),
        reading=reading,
        free_at=None,
    )
    return _with_end(use, inside, now) if use.used_up else use


def _with_end(use: PoolUse, inside: Sequence[LedgerEntry], now: datetime) -> PoolUse:
    """The same with the moment when it is free again."""
    entry = use.entry
    free = next_reset(entry, now)
    if free is None and entry.unit != "percent" and not _at_reserve(use.reading, entry):
        used = [(call.at, amount(call, entry.unit) or Decimal(0)) for call in inside]
        free = free_after(entry, used, least(entry))
    elif free is None and use.reading is not None and not entry.command:
        # Nobody knows sooner: by then nothing of what was read is in the window any more.
        free = use.reading.at + LENGTH[entry.window]
    return replace(use, free_at=free)


def free_after(entry: PoolEntry, used: Sequence[tuple[datetime, Decimal]], needed: Decimal) -> datetime | None:
    """When so much of a window of the last hours or days has passed that `needed` fits before the reserve.

    Args:
        entry: The pool.
        used: When how much was used, oldest first.
        needed: What is to fit; with 0, that anything does.

    Returns:
        None when it never does, for it is more than the pool gives.
    """
    over = sum((what for _, what in used), Decimal(0)) + needed - entry.stop_line
    for at, what in used:
        over -= what
        if over < 0 or (needed and over <= 0):
            return at + LENGTH[entry.window]
    return None


@dataclass(frozen=True, slots=True)
class RoundPoints:
    """What a round used of a pool, as far as readings say."""

    suite: str
    round: str
    calls: int
    """Its calls of the pool."""
    tokens: int
    points: Decimal | None
    """Percent of the pool: the share of its calls in what was used between readings. None: no readings around them."""
    read_calls: int
    """Its calls between two readings, which `points` is of."""


def points_by_round(
    entry: PoolEntry, calls: Iterable[LedgerEntry], readings: Sequence[Reading]
) -> tuple[RoundPoints, ...]:
    """What each round used of a pool: the difference of two readings, shared over the calls between them.

    Two readings between which a window began anew say nothing, and neither do those of which the later is lower.

    Args:
        entry: The pool.
        calls: The calls of its models, of all rounds.
        readings: Those of the pool, oldest first.
    """
    worked = sorted((call for call in calls if call.ended not in UNBILLED), key=lambda call: call.at)
    points: dict[int, Decimal] = {}
    times = [call.at for call in worked]
    for before, after in pairwise(readings):
        used = after.used_percent - before.used_percent
        between = range(bisect_left(times, before.at), bisect_left(times, after.at))
        if between and used >= 0 and _same_window(entry, before.at, after.at):
            points.update(dict.fromkeys(between, used / len(between)))
    rounds: dict[tuple[str, str], list[int]] = {}
    for at, call in enumerate(worked):
        rounds.setdefault((call.suite, call.round), []).append(at)
    return tuple(_round_points(name, places, worked, points) for name, places in rounds.items())


def _same_window(entry: PoolEntry, before: datetime, after: datetime) -> bool:
    if entry.resets_at is None:
        return after - before < LENGTH[entry.window]
    return window_start(entry, before) == window_start(entry, after)


def _round_points(
    name: tuple[str, str], places: Sequence[int], worked: Sequence[LedgerEntry], points: dict[int, Decimal]
) -> RoundPoints:
    known = [points[at] for at in places if at in points]
    return RoundPoints(
        suite=name[0],
        round=name[1],
        calls=len(places),
        tokens=int(sum(_tokens(worked[at]) or 0 for at in places)),
        points=sum(known, Decimal(0)) if known else None,
        read_calls=len(known),
    )
