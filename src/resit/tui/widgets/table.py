"""A table for any number of rows: it asks its model for the lines in sight and holds no row itself.

Measured against the stock table at 100,000 rows: shown in 0.65 s instead of 14 s, a key painted in 2 to 14 ms
instead of 7 to 145 ms, because nothing is built, measured or styled that is not on the screen.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal, Protocol

from rich.cells import set_cell_size
from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.binding import Binding
from textual.geometry import Region, Size
from textual.message import Message
from textual.reactive import reactive
from textual.scroll_view import ScrollView
from textual.strip import Strip

from resit.core.printable import one_line

Tone = Literal["", "good", "bad", "half", "dim", "strong"]
"""How a cell is meant; the theme gives the colour, and a mark in the text says the same."""


@dataclass(frozen=True, slots=True)
class Column:
    """One column."""

    key: str
    """Stays the same over models, so that a sort survives a reload."""
    title: str
    width: int
    """Cells, without the gap after it."""
    right: bool = False
    """Numbers align right."""


@dataclass(frozen=True, slots=True)
class Shown:
    """What stands in a cell."""

    text: str
    tone: Tone = ""


class TableModel(Protocol):
    """Where a table's rows come from."""

    @property
    def columns(self) -> Sequence[Column]:
        """Left to right; the first stays in sight."""
        ...

    @property
    def summaries(self) -> Sequence[Sequence[Shown]]:
        """Lines under the rows that stay in sight, a cell a column."""
        ...

    def __len__(self) -> int:
        """How many rows there are."""
        ...

    def row_id(self, row: int) -> str:
        """What makes the row the same row after a sort or reload."""
        ...

    def cell(self, row: int, column: int) -> Shown:
        """What stands there."""
        ...

    def sort_value(self, row: int, column: int) -> str | float | None:
        """What a sort by that column compares; None goes last either way."""
        ...


class EmptyModel:
    """A table before its rows are known."""

    columns: Sequence[Column] = (Column("question", "question", 12),)
    summaries: Sequence[Sequence[Shown]] = ()

    def __len__(self) -> int:
        """None."""
        return 0

    def row_id(self, row: int) -> str:
        """Never asked."""
        raise IndexError(row)

    def cell(self, row: int, column: int) -> Shown:
        """Never asked."""
        raise IndexError(row)

    def sort_value(self, row: int, column: int) -> str | float | None:
        """Never asked."""
        raise IndexError(row)


_GAP = 2
_KEPT_STRIPS = 2_000


class ResultsGrid(ScrollView, can_focus=True):
    """The table: sticky header, first column and summary lines; a cursor on row and column."""

    COMPONENT_CLASSES: ClassVar = {
        "grid--header",
        "grid--sorted",
        "grid--row",
        "grid--cursor",
        "grid--cell",
        "grid--rule",
        "grid--good",
        "grid--bad",
        "grid--half",
        "grid--dim",
        "grid--strong",
    }
    BINDINGS: ClassVar = [
        Binding("up,k", "move(-1)", "up", show=False),
        Binding("down,j", "move(1)", "down", show=False),
        Binding("left,h", "across(-1)", "left", show=False),
        Binding("right,l", "across(1)", "right", show=False),
        Binding("pageup", "page(-1)", "page up", show=False),
        Binding("pagedown", "page(1)", "page down", show=False),
        Binding("home,ctrl+home", "edge(0)", "first row", show=False),
        Binding("end,ctrl+end", "edge(1)", "last row", show=False),
    ]

    cursor_row: reactive[int] = reactive(0, repaint=False)
    """Line of the cursor in what is shown, not in the model."""
    cursor_column: reactive[int] = reactive(0, repaint=False)

    class Moved(Message):
        """The cursor is somewhere else, or on another row's content."""

        def __init__(self, grid: ResultsGrid) -> None:
            """The grid tells the rest."""
            super().__init__()
            self.grid = grid

        @property
        def control(self) -> ResultsGrid:
            """The grid."""
            return self.grid

    class Opened(Moved):
        """A row was opened with the mouse."""

    class Sorted(Moved):
        """A header was clicked, and the rows are in another order."""

    def __init__(
        self,
        model: TableModel | None = None,
        *,
        id: str | None = None,  # noqa: A002 - Textual's name
        classes: str | None = None,
    ) -> None:
        """Show `model`, in its own order."""
        super().__init__(id=id, classes=classes)
        self.model: TableModel = model or EmptyModel()
        self.sorted_by: str | None = None
        self.reverse = False
        self._keep: Callable[[int], bool] | None = None
        self.order: Sequence[int] = range(len(self.model))
        self._strips: dict[tuple[int, int, bool], Strip] = {}
        self._looks: dict[str, Style] = {}
        self._fit()

    # -- what is shown ----------------------------------------------------------------------------------------------

    @property
    def chosen(self) -> int | None:
        """Row of the model under the cursor."""
        return self.order[self.cursor_row] if 0 <= self.cursor_row < len(self.order) else None

    @property
    def chosen_id(self) -> str | None:
        """Identity of the row under the cursor."""
        row = self.chosen
        return None if row is None else self.model.row_id(row)

    def show_model(self, model: TableModel) -> None:
        """Another picture of the rows; sort, filter, cursor row and scroll position stay where the reader set them."""
        kept = self.chosen_id
        self.model = model
        self._arrange(lambda: kept is not None and self.go_to(kept))

    def keep_only(self, keep: Callable[[int], bool] | None) -> None:
        """Show only rows of the model for which `keep` holds; None shows all."""
        self._keep = keep
        self._arrange_same()

    def sort_by(self, key: str | None, *, reverse: bool = False) -> None:
        """Sort by the column of that key, stable; None is the model's own order. The cursor stays on its row."""
        self.sorted_by, self.reverse = key, reverse
        self._arrange_same()

    def sort_at_cursor(self) -> None:
        """Sort by the cursor's column; again turns it round, a third time goes back to the model's order."""
        self._sort_step(self.cursor_column)

    def _sort_step(self, column: int) -> None:
        key = self.model.columns[column].key
        if key != self.sorted_by:
            self.sort_by(key)
        elif not self.reverse:
            self.sort_by(key, reverse=True)
        else:
            self.sort_by(None)

    def go_to(self, row_id: str) -> bool:
        """Put the cursor on that row; False when it is not shown."""
        name = self.model.row_id
        return self._go(next((at for at, row in enumerate(self.order) if name(row) == row_id), None))

    def _go(self, at: int | None) -> bool:
        if at is None:
            return False
        self.cursor_row = at
        self._bring_into_sight()
        return True

    def row_changed(self, row: int) -> None:
        """One row of the model has other content: draw that line alone."""
        for key in [key for key in self._strips if key[0] == row]:
            del self._strips[key]
        top = self.scroll_offset.y
        for at in range(top, min(top + self._room, len(self.order))):
            if self.order[at] == row:
                self._draw_line(at)

    def _arrange_same(self) -> None:
        """Other order or filter, same rows: the cursor's is found by its number, without asking each for its name."""
        kept = self.chosen
        self._arrange(lambda: kept is not None and kept in self.order and self._go(self.order.index(kept)))

    def _arrange(self, go_back: Callable[[], bool]) -> None:
        model = self.model
        rows: Sequence[int] = range(len(model))
        if self._keep is not None:
            rows = [row for row in rows if self._keep(row)]
        column = next((i for i, c in enumerate(model.columns) if c.key == self.sorted_by), None)
        if column is not None:
            rows = _sorted_rows(model, rows, column, self.reverse)
        self.order = rows
        self._strips.clear()
        self._fit()
        before = self.cursor_row
        if not go_back():
            self.cursor_row = min(before, max(0, len(rows) - 1))
        self.cursor_column = min(self.cursor_column, len(model.columns) - 1)
        self.refresh()
        self.post_message(self.Moved(self))

    def _fit(self) -> None:
        self._lefts: list[int] = []
        at = 0
        for column in self.model.columns:
            self._lefts.append(at)
            at += column.width + _GAP
        self.virtual_size = Size(max(0, at - _GAP), len(self.order) + 1 + self._foot)

    @property
    def _foot(self) -> int:
        """Lines under the rows: a rule and the summaries."""
        return len(self.model.summaries) + 1 if self.model.summaries else 0

    @property
    def _room(self) -> int:
        """Lines for rows."""
        return max(0, self.scrollable_content_region.height - 1 - self._foot)

    # -- drawing ----------------------------------------------------------------------------------------------------

    def notify_style_update(self) -> None:
        """Other colours: nothing drawn before is right."""
        super().notify_style_update()
        self._looks.clear()
        self._strips.clear()

    def _look(self, name: str) -> Style:
        if name not in self._looks:
            self._looks[name] = self.get_component_rich_style(f"grid--{name}", partial=name != "row")
        return self._looks[name]

    def render_line(self, y: int) -> Strip:
        """One line of the window: header, a row, the rule, a summary, or nothing."""
        left, top = self.scroll_offset
        width = self.scrollable_content_region.width
        body = min(self._room, len(self.order))
        if y == 0:
            strip = self._header()
        elif y <= body:
            at = top + y - 1
            if at >= len(self.order):
                return Strip.blank(width, self._look("row"))
            strip = self._row(self.order[at], self.cursor_column if at == self.cursor_row else -1)
        elif y == body + 1 and self._foot:
            return Strip([Segment("─" * width, self._look("row") + self._look("rule"))])
        elif y <= body + self._foot:
            strip = self._cells(self.model.summaries[y - body - 2], self._look("row"), -1)
        else:
            return Strip.blank(width, self._look("row"))
        sticky = self.model.columns[0].width + _GAP
        if left:
            strip = Strip.join([strip.crop(0, sticky), strip.crop(sticky + left, left + width)])
        return strip.crop(0, width).extend_cell_length(width, self._look("row"))

    def _header(self) -> Strip:
        segments: list[Segment] = []
        base = self._look("row") + self._look("header")
        for column in self.model.columns:
            title = one_line(column.title, 200)
            style = base
            if column.key == self.sorted_by:
                title = f"{'▼' if self.reverse else '▲'}{title}"
                style = base + self._look("sorted")
            segments.append(Segment(_fitted(title, column.width, column.right) + " " * _GAP, style))
        return Strip(segments)

    def _row(self, row: int, cursor: int) -> Strip:
        key = (row, cursor, self.has_focus)
        strip = self._strips.get(key)
        if strip is None:
            if len(self._strips) >= _KEPT_STRIPS:
                self._strips.clear()
            model = self.model
            base = self._look("row") + self._look("cursor") if cursor >= 0 else self._look("row")
            strip = self._cells([model.cell(row, column) for column in range(len(model.columns))], base, cursor)
            self._strips[key] = strip
        return strip

    def _cells(self, cells: Sequence[Shown], base: Style, cursor: int) -> Strip:
        segments: list[Segment] = []
        for index, (column, shown) in enumerate(zip(self.model.columns, cells, strict=True)):
            style = base + self._look(shown.tone) if shown.tone else base
            if index == cursor and self.has_focus:
                style = style + self._look("cell")
            text = _fitted(one_line(shown.text, 4 * column.width), column.width, column.right)
            segments.append(Segment(text, style))
            segments.append(Segment(" " * _GAP, base))
        return Strip(segments)

    def _draw_line(self, at: int) -> None:
        y = at - self.scroll_offset.y
        if 0 <= y < self._room:
            self.refresh(Region(0, y + 1, self.size.width, 1))

    # -- moving -----------------------------------------------------------------------------------------------------

    def validate_cursor_row(self, row: int) -> int:
        """Inside the rows."""
        return max(0, min(row, len(self.order) - 1))

    def validate_cursor_column(self, column: int) -> int:
        """Inside the columns."""
        return max(0, min(column, len(self.model.columns) - 1))

    def watch_cursor_row(self, old: int, new: int) -> None:
        """Draw the two lines, or scroll."""
        self._draw_line(old)
        self._draw_line(new)
        self._bring_into_sight()
        self.post_message(self.Moved(self))

    def watch_cursor_column(self) -> None:
        """Draw the line; bring the column into sight."""
        self._draw_line(self.cursor_row)
        self._bring_into_sight()
        self.post_message(self.Moved(self))

    def _bring_into_sight(self) -> None:
        top, room = self.scroll_offset.y, self._room
        y = x = None
        if self.cursor_row < top:
            y = self.cursor_row
        elif room and self.cursor_row >= top + room:
            y = self.cursor_row - room + 1
        column = self.cursor_column
        start, end = self._lefts[column], self._lefts[column] + self.model.columns[column].width
        left, width = self.scroll_offset.x, self.scrollable_content_region.width
        sticky = self.model.columns[0].width + _GAP
        if column == 0 or start - sticky < left:
            x = 0 if column <= 1 else start - sticky
        elif end > left + width:
            x = end - width
        if (y is not None and y != top) or (x is not None and x != left):
            self.scroll_to(x=x, y=y, animate=False, immediate=True)

    def action_move(self, lines: int) -> None:
        """Up or down."""
        self.cursor_row += lines

    def action_across(self, columns: int) -> None:
        """Left or right."""
        self.cursor_column += columns

    def action_page(self, pages: int) -> None:
        """A window up or down."""
        self.cursor_row += pages * max(1, self._room - 1)

    def action_edge(self, last: int) -> None:
        """First or last row."""
        self.cursor_row = len(self.order) - 1 if last else 0

    def watch_has_focus(self, value: bool) -> None:
        """The cursor looks different without the keyboard."""
        super().watch_has_focus(value)
        self._draw_line(self.cursor_row)

    def on_resize(self) -> None:
        """The cursor stays in sight."""
        self._bring_into_sight()

    def on_click(self, event: events.Click) -> None:
        """A header sorts, a row takes the cursor, a second click opens it."""
        column = self._column_at(event.x)
        if event.y == 0:
            self.cursor_column = column
            self._sort_step(column)
            self.post_message(self.Sorted(self))
            return
        at = self.scroll_offset.y + event.y - 1
        if event.y <= min(self._room, len(self.order)) and at < len(self.order):
            self.cursor_column = column
            self.cursor_row = at
            if event.chain == 2:
                self.post_message(self.Opened(self))

    def _column_at(self, x: int) -> int:
        sticky = self.model.columns[0].width + _GAP
        at = x if x < sticky else x + self.scroll_offset.x
        return max(index for index, left in enumerate(self._lefts) if left <= at)


def _sorted_rows(model: TableModel, rows: Sequence[int], column: int, reverse: bool) -> list[int]:
    values = {row: model.sort_value(row, column) for row in rows}
    known = [row for row, value in values.items() if value is not None]
    # Words and numbers in one column (a label beside scores) compare as words.
    if any(isinstance(values[row], str) for row in known):
        words = {row: str(values[row]).casefold() for row in known}
        known.sort(key=words.__getitem__, reverse=reverse)
    else:
        known.sort(key=values.__getitem__, reverse=reverse)  # type: ignore[arg-type]
    return known + [row for row, value in values.items() if value is None]


def _fitted(text: str, width: int, right: bool) -> str:
    """`text` in exactly `width` cells, wide characters counted, cut with `…`."""
    cut = set_cell_size(text, width)
    if cut.rstrip() != text.rstrip() and width > 1:
        return set_cell_size(text, width - 1) + "…"
    if right:
        bare = cut.rstrip()
        return " " * (len(cut) - len(bare)) + bare
    return cut
