"""Figures as they stand on screens: one way for each kind of number."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal

from resit.core.agent_names import preset_of

UNKNOWN = "unknown"


def money(usd: Decimal | None, *, at_least: bool = False, places: int = 4) -> str:
    """Dollars with the same number of decimals everywhere; an unknown price is never 0."""
    if usd is None:
        return UNKNOWN
    return f"{'≥ ' if at_least else ''}${usd:.{places}f}"


def seconds(value: float | None) -> str:
    """Seconds with one decimal; minutes from 100 s on."""
    if value is None:
        return "–"
    if value >= 100:
        return f"{int(value) // 60}:{int(value) % 60:02}"
    return f"{value:.1f} s"


def score(value: float | None) -> str:
    """A score with two decimals; a hair below full is never shown as full."""
    if value is None:
        return "–"
    if value < 1.0:
        # 0.996 is not full marks and must not look like it.
        return f"{min(value, 0.99):.2f}"
    return "1.00"


def count(number: int, one: str, many: str = "") -> str:
    """`1 miss`, `3 misses`."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def this_year() -> int:
    """The year it is here."""
    return datetime.now().astimezone().year


def today() -> date:
    """The day it is here."""
    return datetime.now().astimezone().date()


def day(at: datetime) -> str:
    """A local date in few letters, the year only when it is another one."""
    local = at.astimezone()
    return f"{local.day} {local:%b}" if local.year == this_year() else f"{local.day} {local:%b} {local.year}"


def when(at: datetime) -> str:
    """Local date and time."""
    return f"{day(at)} {at.astimezone():%H:%M}"


def short_setting(label: str) -> str:
    """A setting for a column head: without the maker's name, a date, or an effort that nobody chose.

    An agent keeps its name before its model's, `cc/` being Claude Code: the same model asked directly is another.
    """
    model, _, rest = label.partition(" ")
    preset = preset_of(model)
    agent = f"{'cc' if preset == 'claude-code' else preset}/" if preset else ""
    model = model.rsplit("/", 1)[-1].removeprefix("claude-").removeprefix(f"{preset}-")
    head, dash, tail = model.rpartition("-")
    if dash and len(tail) == 8 and tail.isdigit():
        model = head
    return f"{agent}{model} {rest.removeprefix('default').strip()}".strip()
