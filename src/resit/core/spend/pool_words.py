"""What is said of a quota pool, in the app and as text."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal

from resit.core.pool_entry import PoolEntry, Window
from resit.core.spend.pools import PoolUse, RoundPoints

WINDOWS: dict[Window, str] = {"5h": "5 hours", "week": "a week", "month": "a month"}
_BY = {"hand": "by hand", "command": "by its command", "agent": "by an agent"}


def amount_said(entry: PoolEntry, amount: Decimal) -> str:
    """An amount in the pool's unit."""
    match entry.unit:
        case "usd":
            return f"${amount:.2f}"
        case "percent":
            return f"{amount.normalize():f}%"
        case unit:
            return f"{int(amount):,} {unit}"


def limit_said(entry: PoolEntry) -> str:
    """The limit and its window: `100 runs in 5 hours`."""
    return f"{amount_said(entry, entry.limit)} in {WINDOWS[entry.window]}"


def used_said(use: PoolUse) -> str:
    """What is used: `at least 40`, `43% (12:03 UTC, by hand)`, `unknown`."""
    reading = use.reading
    read = f"{reading.at:%d %b %H:%M} UTC, {_BY[reading.by]}" if reading is not None else ""
    if use.used is None:
        return "unknown"
    if use.entry.unit == "percent":
        return f"{amount_said(use.entry, use.used)} ({read})"
    least = "at least " if use.at_least else ""
    said = f"{least}{f'${use.used:.2f}' if use.entry.unit == 'usd' else f'{int(use.used):,}'}"
    return said if reading is None else f"{said}, {reading.used_percent.normalize():f}% ({read})"


def state_said(use: PoolUse) -> str:
    """Whether its jobs start, and from when on."""
    if not use.used_up:
        return "free" if use.used is not None else "no reading"
    return "used up" + (f" until {use.free_at:%d %b %H:%M} UTC" if use.free_at is not None else "")


def pool_said(use: PoolUse) -> str:
    """A pool in a line."""
    entry = use.entry
    kept = f", {entry.reserve * 100:.0f}% kept in reserve" if entry.reserve else ""
    if use.used is None:
        head = f"what is used of {WINDOWS[entry.window]} is not known"
        return f"pool {use.name}: {head}{kept} · {use.calls:,} calls, {use.tokens:,} tokens"
    of = f"used in {WINDOWS[entry.window]}" if entry.unit == "percent" else f"of {limit_said(entry)} used"
    used = f"{used_said(use)} {of}{kept}"
    return f"pool {use.name}: {used} · {state_said(use)} · {use.calls:,} calls, {use.tokens:,} tokens"


def points_said(found: RoundPoints) -> str:
    """What a round used of a pool, and how much of it that covers."""
    if found.points is None:
        return "no readings around it"
    of = "" if found.read_calls == found.calls else f" for {found.read_calls:,} of its calls"
    return f"{found.points:.1f} points{of}"


def since_said(before: tuple[datetime, Decimal], now: Decimal, calls: int, tokens: int) -> str:
    """What was used since an earlier reading; a reading that is lower says that a window began anew."""
    at, percent = before
    head = f"since {at:%d %b %H:%M} UTC ({percent.normalize():f}%)"
    beside = f"{calls:,} calls, {tokens:,} tokens"
    if now < percent:
        return f"{head}: a window began anew · {beside}"
    return f"{head}: {(now - percent).normalize():f} points · {beside}"
