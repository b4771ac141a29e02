"""Small plots as SVG inside a page: no script, no outside file, the colours of the page around them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from resit.core.judging.growth import Growth
from resit.core.judging.stats import Interval
from resit.core.judging.wording import percent
from resit.core.printable import one_line

_WIDTH, _NAME, _ROW = 640, 220, 24
_PLOT = _WIDTH - _NAME - 70
_HIGH, _LEFT, _COLOURS = 200, 44, 6


@dataclass(frozen=True, slots=True)
class Bar:
    """One line of a bar plot."""

    label: str
    share: float | None
    """0.0 to 1.0. None: nothing to draw."""
    interval: Interval | None
    said: str
    """Stands at the end of the bar."""


def bars(title: str, lines: Sequence[Bar]) -> str:
    """Shares from 0 to 1 as bars, with their intervals as whiskers."""
    height = _ROW * len(lines) + 6
    parts = [_opening(title, _WIDTH, height)]
    for at, bar in enumerate(lines):
        top = at * _ROW + 4
        parts.append(_text(_NAME - 8, top + 13, one_line(bar.label, 34), "end"))
        parts.append(f'<rect class="rail" x="{_NAME}" y="{top}" width="{_PLOT}" height="16"/>')
        if bar.share is not None:
            parts.append(f'<rect class="bar" x="{_NAME}" y="{top}" width="{_PLOT * bar.share:.1f}" height="16"/>')
        if bar.interval is not None:
            low, high = (_NAME + _PLOT * value for value in (bar.interval.low, bar.interval.high))
            parts.append(
                f'<path class="whisker" d="M{low:.1f} {top + 8}H{high:.1f}M{low:.1f} {top + 4}v8'
                f'M{high:.1f} {top + 4}v8"/>'
            )
        parts.append(_text(_WIDTH - 62, top + 13, bar.said, "start"))
    return "".join([*parts, "</svg>"])


def growing(title: str, growth: Growth) -> str:
    """The band in which each setting's score lies as questions are added; the first ones, as long as colours last."""
    drawn = growth.labels[:_COLOURS]
    parts = [_opening(title, _WIDTH, _HIGH + 24 + 18 * len(drawn))]
    sizes = [point.questions for point in growth.points]
    last = max(sizes)
    wide, high = _WIDTH - _LEFT - 10, _HIGH - 20
    for share in (0.0, 0.5, 1.0):
        y = 10 + high * (1 - share)
        parts.append(
            f'<path class="rail-line" d="M{_LEFT} {y:.1f}h{wide}"/>{_text(_LEFT - 6, y + 4, percent(share), "end")}'
        )
    for at, label in enumerate(drawn):
        upper = [(size, point.high[at]) for size, point in zip(sizes, growth.points, strict=True)]
        lower = [(size, point.low[at]) for size, point in zip(sizes, growth.points, strict=True)]
        band = " ".join(
            f"{_LEFT + wide * size / last:.1f},{10 + high * (1 - share):.1f}" for size, share in upper + lower[::-1]
        )
        parts.append(f'<polygon class="c{at}" points="{band}"/>')
        parts.append(f'<rect class="c{at}" x="{_LEFT}" y="{_HIGH + 16 + 18 * at}" width="12" height="12"/>')
        parts.append(_text(_LEFT + 18, _HIGH + 26 + 18 * at, one_line(label, 60), "start"))
    now = _LEFT + wide * growth.questions / last
    parts.append(f'<path class="whisker" stroke-dasharray="4 4" d="M{now:.1f} 10v{high}"/>')
    parts.append(_text(now, _HIGH + 6, f"{growth.questions} now", "middle"))
    parts.append(_text(_LEFT + wide, _HIGH + 6, f"{last} questions", "end"))
    return "".join([*parts, "</svg>"])


def _opening(title: str, width: int, height: int) -> str:
    name = escape(title)
    return f'<svg role="img" aria-label="{name}" viewBox="0 0 {width} {height}"><title>{name}</title>'


def _text(x: float, y: float, text: str, anchor: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'
