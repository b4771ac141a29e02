"""What was spent: by day, model or suite, from the ledger of every call that left."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from decimal import Decimal
from typing import TYPE_CHECKING, ClassVar, Literal

from rich.cells import cell_len
from textual import work
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content

from resit.core.errors import ResitError
from resit.tui import figures
from resit.tui.figures import money
from resit.tui.plots import spend_picture
from resit.tui.screens.base import ResitScreen
from resit.tui.widgets.chart import Chart
from resit.tui.widgets.plain import PlainStatic
from resit.tui.widgets.pool_lines import pool_lines
from resit.tui.widgets.table import Column, ResultsGrid, Shown

if TYPE_CHECKING:
    from resit.core.spend.ledger import LedgerRead, SpendLine

By = Literal["day", "model", "suite"]
_BAR = 20
_WIDE = 105
"""From here on all columns are in sight with their bars."""


def _cost(line: SpendLine) -> str:
    if line.unknown and line.unknown == line.calls:
        return money(None)
    return money(line.cost_usd, at_least=line.unknown > 0)


class SpendLines:
    """The rows: a day, model or suite each; the sum of all stays in sight."""

    def __init__(self, lines: Sequence[SpendLine], total: SpendLine | None, by: By, width: int) -> None:
        """Show `lines` with `total` under them; in a narrow window without bars, so that no figure is out of sight."""
        self.lines = lines
        self._top = max((line.cost_usd for line in lines), default=Decimal(0))
        wide = width >= _WIDE
        name = 30 if wide else max([len(by), *(min(24, cell_len(line.name)) for line in lines)])
        columns = (
            Column("name", by, name),
            Column("cost", "cost", 12 if wide else 10, right=True),
            Column("bar", "", _BAR),
            Column("calls", "calls", 8 if wide else 6, right=True),
            Column("input", "input tokens" if wide else "input", 13 if wide else 10, right=True),
            Column("cached", "cache read" if wide else "cached", 13 if wide else 10, right=True),
            Column("output", "output tokens" if wide else "output", 13 if wide else 10, right=True),
        )
        self._shown = [at for at, column in enumerate(columns) if wide or column.key != "bar"]
        self.columns = tuple(columns[at] for at in self._shown)
        self.summaries = (tuple(self._cells(total)),) if total else ()

    def __len__(self) -> int:
        """One a line."""
        return len(self.lines)

    def row_id(self, row: int) -> str:
        """The line's name."""
        return self.lines[row].name

    def cell(self, row: int, column: int) -> Shown:
        """What stands there."""
        return self._cells(self.lines[row])[column]

    def sort_value(self, row: int, column: int) -> str | float | None:
        """Names as words, the rest as numbers."""
        line = self.lines[row]
        values: tuple[str | float, ...] = (
            line.name,
            float(line.cost_usd),
            float(line.cost_usd),
            line.calls,
            line.input_tokens,
            line.cache_read_tokens,
            line.output_tokens,
        )
        return values[self._shown[column]]

    def _cells(self, line: SpendLine) -> list[Shown]:
        share = line.cost_usd / self._top if self._top else Decimal(0)
        cells = (
            Shown(line.name),
            Shown(_cost(line)),
            Shown("━" * min(_BAR, round(share * _BAR)), "dim"),
            Shown(f"{line.calls:,}"),
            Shown(f"{line.input_tokens:,}"),
            Shown(f"{line.cache_read_tokens:,}"),
            Shown(f"{line.output_tokens:,}"),
        )
        return [cells[at] for at in self._shown]


class SpendScreen(ResitScreen):
    """All that was ever spent, in three views."""

    GROUP: ClassVar[str] = "spend"

    def __init__(self) -> None:
        """Begin by day."""
        super().__init__()
        self._by: By = "day"
        self._read: LedgerRead | None = None

    def compose_body(self) -> ComposeResult:
        """A line of the month, then the table."""
        yield PlainStatic(id="spend-month")
        yield Chart(id="spend-chart")
        with Vertical(classes="panel"):
            yield ResultsGrid(id="spend-table")

    def on_mount(self) -> None:
        """Read the ledger beside the screen."""
        self.where("Spend")
        self.query_one(Chart).display = False
        self.query_one(ResultsGrid).focus()
        self.query_one("#spend-month", PlainStatic).update(" Reading the ledger …")
        self._read_ledger()

    @work(thread=True, exclusive=True, exit_on_error=False)
    def _read_ledger(self) -> None:
        from resit.core.spend.ledger import Ledger

        try:
            found = Ledger().read()
        except ResitError as error:
            self.app.call_from_thread(self.query_one("#spend-month", PlainStatic).update, f" {error}")
            return
        self.app.call_from_thread(self._show_ledger, found)

    def _show_ledger(self, found: LedgerRead) -> None:
        from resit.tui.history import month_line

        self._read = found
        line = Content(" ") + month_line(datetime.now(UTC))
        if found.damaged:
            line = line + Content.styled(f" · {found.damaged} lines of the ledger cannot be read", "$warning")
        if not found.entries:
            line = Content(" Nothing was spent yet; recorded replies cost nothing.")
        self.query_one("#spend-month", PlainStatic).update(line + pool_lines(found.entries))
        self._show_by(self._by)

    def _show_by(self, by: By) -> None:
        from resit.core.spend.ledger import spend_summary, spend_total

        self._by = by
        if self._read is None:
            return
        entries = self._read.entries
        lines = spend_summary(entries, by)
        self._show_chart(lines if by == "day" else ())
        if by == "day":
            lines = tuple(reversed(lines))
        table, total = self.query_one(ResultsGrid), spend_total(entries) if entries else None
        table.show_model(SpendLines(lines, total, by, table.size.width))

    def _show_chart(self, days: Sequence[SpendLine]) -> None:
        """Dollars a day, beside the days; other lines have no order in time."""
        chart, picture = self.query_one(Chart), spend_picture(days, figures.today())
        chart.display = picture is not None
        if picture is not None:
            chart.show(picture)

    def action_by_day(self) -> None:
        """A row a day, newest first."""
        self._show_by("day")

    def action_by_model(self) -> None:
        """A row a model."""
        self._show_by("model")

    def action_by_suite(self) -> None:
        """A row a suite."""
        self._show_by("suite")
