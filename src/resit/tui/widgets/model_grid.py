"""Models by efforts, to pick from: one row a model, one column an effort, a mark where both meet."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.content import Content
from textual.geometry import Region, Size
from textual.message import Message
from textual.reactive import reactive
from textual.scroll_view import ScrollView
from textual.strip import Strip

from resit.core.printable import one_line
from resit.core.records import EFFORTS, Effort
from resit.tui.figures import short_setting

COLUMNS: tuple[Effort | None, ...] = (None, *EFFORTS)
HEADS = ("default", "low", "medium", "high", "xhigh", "max")
SHORT_HEADS = ("dflt", "low", "med", "high", "xhi", "max")
PICKED, FREE, ABSENT = "●", "○", " "
_NAME_MAX, _NAME_MIN = 34, 12
_PRICE, _NOTE = 14, 11
_ROOMY = 100
"""From this width on the marks stand further apart."""


@dataclass(frozen=True, slots=True)
class ModelRow:
    """One model as it can be asked."""

    model: str
    provider: str
    efforts: tuple[Effort | None, ...]
    """What may be picked; None sends no effort."""
    price: str = ""
    """`$1.00 / $5.00`, or `unknown`."""
    note: str = ""
    """A word or two: where its key was found, or that it is recorded."""
    problem: str = ""
    """Why it cannot start, and the mend, in a sentence; empty when it can."""
    detail: str = ""
    """All there is to say, for the line under the list."""
    thinking_off: bool = False
    """Whether thinking can be switched off at all."""


class ModelGrid(ScrollView, can_focus=True):
    """Rows of models; arrows move over rows and efforts."""

    BINDINGS: ClassVar = [
        ("up,k", "move(-1,0)", "up"),
        ("down,j", "move(1,0)", "down"),
        ("left,h", "move(0,-1)", "left"),
        ("right,l", "move(0,1)", "right"),
        ("home", "edge(0)", "first"),
        ("end", "edge(1)", "last"),
        ("pageup", "move(-10,0)", "page up"),
        ("pagedown", "move(10,0)", "page down"),
    ]
    row: reactive[int] = reactive(0, repaint=False)
    column: reactive[int] = reactive(0, repaint=False)

    class Moved(Message):
        """The cursor is on another model."""

    class Clicked(Message):
        """A mark was clicked."""

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's name
        """Start empty."""
        super().__init__(id=id)
        self._rows: tuple[ModelRow, ...] = ()
        self._picked: frozenset[tuple[str, Effort | None]] = frozenset()
        self._quiet: frozenset[str] = frozenset()

    @property
    def current(self) -> ModelRow | None:
        """The model under the cursor."""
        return self._rows[self.row] if self.row < len(self._rows) else None

    @property
    def effort(self) -> Effort | None:
        """The effort under the cursor."""
        return COLUMNS[self.column]

    def show(
        self,
        rows: Sequence[ModelRow],
        picked: frozenset[tuple[str, Effort | None]],
        quiet: frozenset[str] = frozenset(),
    ) -> None:
        """Draw `rows`, with `picked` marked; `quiet` are the models whose thinking is switched off."""
        self._rows, self._picked, self._quiet = tuple(rows), picked, quiet
        self.virtual_size = Size(1, len(self._rows) + 1)
        self.row = min(self.row, max(0, len(self._rows) - 1))
        self.refresh()

    def go_to(self, model: str, effort: Effort | None) -> None:
        """Put the cursor on a model and effort, if they are there."""
        for index, row in enumerate(self._rows):
            if row.model == model and effort in row.efforts:
                self.row, self.column = index, COLUMNS.index(effort)

    # -- moving -----------------------------------------------------------------------------------------------------

    def validate_row(self, row: int) -> int:
        """Stay on the list."""
        return max(0, min(len(self._rows) - 1, row))

    def validate_column(self, column: int) -> int:
        """Stay on the columns."""
        return max(0, min(len(COLUMNS) - 1, column))

    def watch_row(self) -> None:
        """Keep the cursor in sight, and tell."""
        self.scroll_to_region(Region(0, self.row, 1, 2), animate=False, x_axis=False)
        self.refresh()
        self.post_message(self.Moved())

    def watch_column(self) -> None:
        """Draw the cursor where it is."""
        self.refresh()

    def action_move(self, down: int, right: int) -> None:
        """Move; sideways over efforts that the model does not take."""
        self.row += down
        row = self.current
        if row is None:
            return
        if right:
            open_columns = [i for i, effort in enumerate(COLUMNS) if effort in row.efforts]
            ahead = [i for i in open_columns if (i - self.column) * right > 0]
            if ahead:
                self.column = min(ahead) if right > 0 else max(ahead)
        elif COLUMNS[self.column] not in row.efforts and row.efforts:
            self.column = min(
                (i for i, effort in enumerate(COLUMNS) if effort in row.efforts), key=lambda i: abs(i - self.column)
            )

    def action_edge(self, last: int) -> None:
        """To the first or last model."""
        self.row = len(self._rows) - 1 if last else 0

    def on_click(self, event: events.Click) -> None:
        """Put the cursor under the mouse; on a mark, pick it."""
        at = int(event.y + self.scroll_offset.y) - 1
        if event.y < 1 or not 0 <= at < len(self._rows):
            return
        self.row = at
        column = (event.x + self.scroll_offset.x - self._name_width) // self._cell
        if 0 <= column < len(COLUMNS) and COLUMNS[column] in self._rows[at].efforts:
            self.column = column
            self.post_message(self.Clicked())

    # -- drawing ----------------------------------------------------------------------------------------------------

    @property
    def _cell(self) -> int:
        return 8 if self.size.width >= _ROOMY else 5

    @property
    def _name_width(self) -> int:
        longest = max((len(short_setting(row.model)) for row in self._rows), default=0)
        room = max(_NAME_MIN, self.size.width - self._cell * len(COLUMNS) - _PRICE - _NOTE)
        return max(_NAME_MIN, min(longest + 5, _NAME_MAX, room))

    def render_line(self, y: int) -> Strip:
        """One model, or the heads; the heads stay when the list scrolls."""
        base = self.rich_style
        at = y - 1 + self.scroll_offset.y
        if y == 0:
            segments = self._heads(base)
        elif at < len(self._rows):
            segments = self._cells(self._rows[at], at == self.row, base)
        else:
            segments = []
        return Strip(segments).crop_extend(0, self.size.width, base)

    def _heads(self, base: Style) -> list[Segment]:
        style = base + self._style("$text-muted")
        heads = HEADS if self._cell == 8 else SHORT_HEADS
        marks = [Segment(head.center(self._cell), style) for head in heads]
        tail = f"{'per Mtok':<{_PRICE}}key"
        return [Segment(" model".ljust(self._name_width), style), *marks, Segment(tail, style)]

    def _cells(self, row: ModelRow, current: bool, base: Style) -> list[Segment]:
        dim = base + self._style("$text-muted")
        line = base + self._style("$error") if row.problem else base
        pointer = "▸" if current and self.has_focus else " "
        quiet = " ∅" if row.model in self._quiet else ""
        name = one_line(short_setting(row.model), self._name_width - 2 - len(quiet)) + quiet
        segments = [Segment(_fit(f"{pointer}{name}", self._name_width), line + Style(bold=current))]
        for index, effort in enumerate(COLUMNS):
            segments += self._mark(row, effort, current and index == self.column, base, dim)
        segments.append(Segment(row.price.ljust(_PRICE), dim))
        segments.append(Segment(row.note, line if row.problem else dim))
        return segments

    def _mark(self, row: ModelRow, effort: Effort | None, here: bool, base: Style, dim: Style) -> list[Segment]:
        picked = (row.model, effort) in self._picked
        sign = PICKED if picked else FREE if effort in row.efforts else ABSENT
        style = base + self._style("$primary") + Style(bold=True) if picked else dim
        if here and self.has_focus:
            style = style + Style(reverse=True)
        left = (self._cell - 3) // 2
        right = self._cell - 3 - left
        return [Segment(" " * left, base), Segment(f" {sign} ", style), Segment(" " * right, base)]

    def _style(self, name: str) -> Style:
        return Content.styled("x", name).render_segments(self.visual_style)[0].style or Style()

    def watch_has_focus(self, has_focus: bool) -> None:
        """The cursor shows only with the focus."""
        super().watch_has_focus(has_focus)
        self.refresh()


def _fit(text: str, width: int) -> str:
    content = Content(text)
    return text + " " * max(0, width - content.cell_length)
