"""One line a setting while a round runs: how far, how well, for how much, how fast."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from textual.content import Content
from textual.widget import Widget

from resit.core.printable import one_line
from resit.tui.figures import money
from resit.tui.figures import seconds as seconds_text
from resit.tui.looks import HALF, MISS, PASS, UNSETTLED, mark_style

BARS = "▁▂▃▄▅▆▇█"
_GAP = "  "
_MIN_BAR, _MAX_BAR = 8, 60


@dataclass(frozen=True, slots=True)
class Figures:
    """What one line shows."""

    label: str
    done: int
    planned: int
    passed: int = 0
    part: int = 0
    missed: int = 0
    unsettled: int = 0
    in_flight: int = 0
    cost_usd: Decimal | None = Decimal(0)
    """None: no price is known."""
    at_least: bool = False
    """True when a call without a price is not in `cost_usd`."""
    median_s: float | None = None
    stopped: str = ""
    """Why this setting cannot go on, and the mend; empty while it can."""


def places_for(amounts: Sequence[Decimal | None]) -> int:
    """How many decimals a column of money needs: two once everything in it is at least a dollar, else four."""
    known = [amount for amount in amounts if amount]
    return 2 if known and min(known) >= 1 else 4


def bar(done: int, planned: int, width: int) -> Content:
    """A line that fills; full only when all is done."""
    if planned <= 0:
        return Content.styled("─" * width, "$border")
    filled = width * min(done, planned) // planned
    return Content.assemble(("━" * filled, "$primary"), ("─" * (width - filled), "$border"))


def spark(values: Sequence[float]) -> str:
    """A row of small bars, the tallest being the largest value; empty while all are 0."""
    top = max(values, default=0.0)
    if top <= 0:
        return ""
    return "".join(BARS[min(len(BARS) - 1, int(value / top * (len(BARS) - 1) + 0.5))] for value in values)


class ProgressRows(Widget):
    """The rows of all settings, in the order of the plan."""

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's name
        """Start empty."""
        super().__init__(id=id)
        self._rows: tuple[Figures, ...] = ()

    def show(self, rows: tuple[Figures, ...]) -> None:
        """Draw `rows`, if they are not what is there already."""
        if rows == self._rows:
            return
        grown = len(rows) != len(self._rows)
        self._rows = rows
        self.refresh(layout=grown)

    def render(self) -> Content:
        """All lines."""
        return Content("\n").join(progress_lines(self._rows, self.size.width))

    def get_content_height(self, container: object, viewport: object, width: int) -> int:
        """A line a setting."""
        return max(1, len(self._rows))


def progress_lines(rows: Sequence[Figures], width: int) -> list[Content]:
    """Each row's line, columns aligned, `width` cells wide; the bar takes what is left."""
    if not rows:
        return [Content.styled(" no setting yet", "$text-muted")]
    tails = _tails(rows)
    tail_width = max(tail.cell_length for tail in tails)
    label_width = min(max(len(row.label) for row in rows), max(12, (width - tail_width) // 2))
    bar_width = max(_MIN_BAR, min(_MAX_BAR, width - label_width - tail_width - 5))
    return [_line(row, tail, label_width, bar_width, tail_width, width) for row, tail in zip(rows, tails, strict=True)]


def _line(row: Figures, tail: Content, label_width: int, bar_width: int, tail_width: int, width: int) -> Content:
    label = Content(" " + one_line(row.label, label_width))
    label = label + Content(" " * max(0, label_width + 1 - label.cell_length) + _GAP)
    if row.stopped:
        room = max(10, width - label.cell_length - 12 - len(_count(row)))
        why = one_line(row.stopped, room)
        return label + Content.assemble((f"{MISS} stopped", "$error"), f" {_count(row)}  ", (why, "$error"))
    gap = " " * (tail_width - tail.cell_length)
    return label + bar(row.done, row.planned, bar_width) + Content(_GAP + gap) + tail


def _count(row: Figures) -> str:
    return f"{row.done}/{row.planned}"


def _tails(rows: Sequence[Figures]) -> list[Content]:
    counts = [_count(row) for row in rows]
    places = places_for([row.cost_usd for row in rows])
    costs = [money(row.cost_usd, places=places, at_least=row.at_least) for row in rows]
    seconds = [seconds_text(row.median_s) for row in rows]
    marks = _mark_columns(rows)
    widths = [max(map(len, column)) for column in (counts, costs, seconds)]
    return [
        Content(counts[i].rjust(widths[0]) + _GAP)
        + marks[i]
        + Content(_GAP + costs[i].rjust(widths[1]) + _GAP + seconds[i].rjust(widths[2]))
        for i in range(len(rows))
    ]


def _mark_columns(rows: Sequence[Figures]) -> list[Content]:
    """The counts beside their marks; parts and unsettled runs only take room where there are some."""
    columns = [(PASS, [row.passed for row in rows]), (MISS, [row.missed for row in rows])]
    if any(row.part for row in rows):
        columns.insert(1, (HALF, [row.part for row in rows]))
    if any(row.unsettled for row in rows):
        columns.append((UNSETTLED, [row.unsettled for row in rows]))
    widths = [max(len(str(value)) for value in values) for _, values in columns]
    lines = []
    for index in range(len(rows)):
        parts: list[tuple[str, str]] = []
        for (sign, values), width in zip(columns, widths, strict=True):
            value = values[index]
            parts.append((f"{sign} {value:>{width}}{_GAP}", mark_style(sign) if value else "$text-muted"))
        lines.append(Content.assemble(*parts).rstrip())
    return lines
