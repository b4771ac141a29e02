"""Numbers as sentences hold them, the same in a comparison, a note and a routing table."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal

from resit.core.judging.stats import Interval


def counted(number: int, noun: str, nouns: str = "") -> str:
    """`1 run`, `3 runs`."""
    return f"{number:,} {noun if number == 1 else nouns or noun + 's'}"


def dollars(cost_usd: Decimal | None, *, at_least: bool = False) -> str:
    """Money as a person reads it: three significant digits below a dollar. Unknown is never 0."""
    if cost_usd is None or (at_least and not cost_usd):
        return "unknown"
    before = "at least " if at_least else ""
    if not cost_usd:
        return f"{before}$0"
    if cost_usd >= 1:
        return f"{before}${cost_usd:,.2f}"
    return f"{before}${cost_usd:.{max(4, 2 - cost_usd.adjusted())}f}"


def percent(share: float | None) -> str:
    """A share as a percentage that reads 100 only when it is all, and 0 only when it is nothing."""
    if share is None:
        return "–"
    if share in (0, 1):
        return f"{share:.0%}"
    return f"{min(max(share * 100, 0.1), 99.9):.1f}%"


def points(difference: float) -> str:
    """A difference of two shares: `+12.0 points`."""
    return f"{signed(difference)} points"


def signed(difference: float) -> str:
    """A difference of two shares in points, with its sign: `+12.0`, `−3.5`, `0`."""
    tenths = round(difference * 100, 1)
    if not tenths:
        return "0"
    return f"{'+' if tenths > 0 else '−'}{abs(tenths):.1f}"


def interval_said(interval: Interval | None) -> str:
    """`68.3% to 98.8%`."""
    return "–" if interval is None else f"{percent(interval.low)} to {percent(interval.high)}"


def p_said(p_value: float) -> str:
    """`p = 0.049`, never rounded onto the other side of 0.05."""
    if p_value < 0.001:
        return "p < 0.001"
    digits = 3 if p_value < 0.1 else 2
    shown = f"{p_value:.{digits}f}"
    if p_value < 0.05 <= float(shown):
        shown = "0.049"
    return f"p = {shown}"


def seconds(value: float | None) -> str:
    """`1.4 s`."""
    return "–" if value is None else f"{value:.1f} s"


def day(at: datetime) -> str:
    """`28 Nov 2026`."""
    return f"{at.day} {at:%b %Y}"


def named(names: Sequence[str], most: int = 5) -> str:
    """Names with commas; of many the first ones and how many more."""
    left = len(names) - most
    return ", ".join(names[:most]) + (f" and {left} more" if left > 0 else "")
