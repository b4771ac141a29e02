"""What the plots show, as plain numbers: dollars a day, scores over time and against cost, growing exams."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from string import ascii_letters
from typing import TYPE_CHECKING

from resit.core.judging.wording import dollars

if TYPE_CHECKING:
    from resit.core.judging.growth import Growth
    from resit.core.judging.history import History
    from resit.core.spend.ledger import SpendLine

Point = tuple[float, float]
Tick = tuple[float, str]
_MOST_DAYS = 31
_LABELS = 5
"""Labels under a plot at most: eight characters each must find room in 60 columns."""


@dataclass(frozen=True, slots=True)
class Series:
    """Points of one thing."""

    mark: str
    """One character; it stands beside the name wherever the name stands."""
    points: tuple[Point, ...]
    joined: bool = True
    ends_only: bool = False
    """The mark stands at both ends only, not at every point."""

    @property
    def marked(self) -> tuple[Point, ...]:
        """The points at which the mark stands."""
        return tuple(dict.fromkeys((self.points[0], self.points[-1]))) if self.ends_only else self.points


@dataclass(frozen=True, slots=True)
class Picture:
    """A plot."""

    title: str
    """Our own words: it is shown as it is."""
    series: tuple[Series, ...]
    x_range: tuple[float, float]
    y_range: tuple[float, float]
    x_ticks: tuple[Tick, ...]
    y_ticks: tuple[Tick, ...]
    bars: bool = False
    now: float | None = None
    """Where a line stands upright."""


SEVERAL = "+"
"""Stands where marks of several series fall on each other."""


def letter(at: int) -> str:
    """The letter of the setting at this place: A to Z, then a to z, then from the beginning."""
    return (ascii_letters[26:] + ascii_letters[:26])[at % 52]


def spend_picture(lines: Sequence[SpendLine], today: date) -> Picture | None:
    """Dollars a day over the last month; None when no day has a known cost.

    Args:
        lines: By day, named `2026-11-30`.
        today: The last day shown.
    """
    known = {date.fromisoformat(line.name): float(line.cost_usd) for line in lines}
    first = max(min(known, default=today), today - timedelta(days=_MOST_DAYS - 1))
    days = [first + timedelta(days=at) for at in range((today - first).days + 1)]
    points = tuple((float(at), known.get(day, 0.0)) for at, day in enumerate(days))
    top = max((cost for _, cost in points), default=0.0)
    if not top:
        return None
    ticks = [(float(at), _short(day)) for at, day in enumerate(days)]
    return Picture(
        title=f"dollars a day, {_short(days[0])} to {_short(days[-1])}",
        series=(Series("█", points),),
        x_range=(-0.5, len(days) - 0.5),
        y_range=(0.0, top * 1.05),
        x_ticks=_some(ticks),
        y_ticks=_money_ticks(top),
        bars=True,
    )


def history_picture(history: History, *, cost: bool = False) -> Picture | None:
    """Each setting over the rounds: its lowest score, or what one run of each question cost; None without any."""
    rounds = {name: float(at) for at, name in enumerate(history.rounds)}
    series = []
    for at, label in enumerate(history.settings):
        values = [(rounds[one.round_id], one.cost_each_usd if cost else one.share) for one in history.of_setting(label)]
        points = tuple((x, float(value)) for x, value in values if value is not None)
        if points:
            series.append(Series(letter(at), points))
    if not series:
        return None
    days = {one.round_id: _short(one.at.astimezone().date()) for one in history.standings}
    ticks = [(at, days[name]) for name, at in rounds.items() if name in days]
    heights = [y for one in series for _, y in one.points]
    top = max(heights)
    return Picture(
        title=("cost of one run of each question" if cost else "lowest score over the rounds") + _meeting(series),
        series=tuple(series),
        x_range=(-0.3, max(len(rounds) - 0.7, 0.3)),
        y_range=(0.0, top * 1.1 or 1.0) if cost else _share_range(heights),
        x_ticks=_some(ticks),
        y_ticks=_money_ticks(top) if cost else _share_ticks(heights),
    )


def worth_picture(settings: Sequence[tuple[str, Decimal | None, float | None]]) -> Picture | None:
    """Score against cost: what is worth its price. None when no setting has both.

    Args:
        settings: Letter, dollars for one run of each question, and lowest score.
    """
    known = [(mark, float(cost), share) for mark, cost, share in settings if cost is not None and share is not None]
    if not known:
        return None
    costs = sorted({cost for _, cost, _ in known})
    # Prices of models lie a hundredfold apart, and free ones beside them.
    wide = costs[0] > 0 and costs[-1] > 10 * costs[0]
    place = math.log10 if wide else float
    series = tuple(Series(mark, ((place(cost), share),), joined=False) for mark, cost, share in known)
    shares = [share for _, _, share in known]
    low, high = place(costs[0]), place(costs[-1])
    room = (high - low) * 0.08 or max(abs(high) * 0.1, 0.5 if wide else 0.001)
    ticks = [(place(cost), dollars(Decimal(str(cost)))) for cost in costs]
    return Picture(
        title=f"lowest score against cost{', in powers of ten' if wide else ''}{_meeting(series)}",
        series=series,
        x_range=(low - room, high + room),
        y_range=_share_range(shares),
        x_ticks=_apart(ticks, (high - low + 2 * room) / _LABELS),
        y_ticks=_share_ticks(shares),
    )


def growth_picture(growth: Growth, marks: Sequence[str], most: int = 3) -> Picture | None:
    """Between which scores 90 of 100 drawn exams lie as they grow; None when none can miss anything.

    Args:
        growth: Exams drawn.
        marks: By setting of `growth`, its letter.
        most: Settings shown, the best first: more bands cannot be told apart.
    """
    if not growth.points or min(growth.scores) >= 1.0:
        return None
    best = sorted(range(len(growth.labels)), key=lambda at: -growth.scores[at])[:most]
    series = []
    for at in best:
        for side in ("low", "high"):
            points = ((float(p.questions), (p.low if side == "low" else p.high)[at]) for p in growth.points)
            series.append(Series(marks[at], tuple(points), ends_only=True))
    heights = [y for one in series for _, y in one.points]
    first, now, last = growth.points[0].questions, growth.questions, growth.points[-1].questions
    ticks: list[Tick] = [(float(count), str(count)) for count in dict.fromkeys((first, now, 2 * now, last))]
    return Picture(
        title=f"score of 90 in 100 exams of so many questions; there are {now} now",
        series=tuple(series),
        x_range=(float(first), float(last)),
        y_range=_share_range(heights),
        x_ticks=tuple(ticks),
        y_ticks=_share_ticks(heights),
        now=float(now),
    )


def _meeting(series: Sequence[Series]) -> str:
    """What the sign of several marks means, where it is needed."""
    places = [place for one in series for place in one.marked]
    return f" ({SEVERAL} where several meet)" if len(set(places)) < len(places) else ""


def _short(day: date) -> str:
    return f"{day.day} {day:%b}"


def _share_range(shares: Iterable[float]) -> tuple[float, float]:
    # A little room above and below, so that a mark at full marks does not lie on the frame.
    return (-0.04, 1.04) if min(shares) < 0.5 else (0.48, 1.02)


def _share_ticks(shares: Iterable[float]) -> tuple[Tick, ...]:
    steps = (0.0, 0.25, 0.5, 0.75, 1.0) if min(shares) < 0.5 else (0.5, 0.75, 1.0)
    return tuple((step, f"{step:.0%}") for step in steps)


def _money_ticks(top: float) -> tuple[Tick, ...]:
    """Nothing, and up to four round sums of money."""
    if not top:
        return ((0.0, "$0"),)
    size = 10.0 ** math.floor(math.log10(top))
    step = next(size * part for part in (0.2, 0.5, 1, 2, 5) if size * part * 4 >= top)
    count = math.floor(top / step + 1e-9)
    return tuple((step * at, f"${Decimal(f'{step * at:.12g}').normalize():f}") for at in range(count + 1))


def _some(ticks: Sequence[Tick]) -> tuple[Tick, ...]:
    """As many of the labels as find room, the first and the last among them."""
    if len(ticks) <= _LABELS:
        return tuple(ticks)
    step = (len(ticks) - 1) / (_LABELS - 1)
    return tuple(ticks[round(at * step)] for at in range(_LABELS))


def _apart(ticks: Sequence[Tick], least: float) -> tuple[Tick, ...]:
    """Labels that do not stand on each other."""
    kept: list[Tick] = []
    for at, said in ticks:
        if not kept or at - kept[-1][0] >= least:
            kept.append((at, said))
    return tuple(kept)
