"""Lines of a table, drawn for the columns in sight: the first column stays, the others move under the window."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import groupby
from operator import itemgetter

from rich.cells import set_cell_size
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from resit.core.printable import one_line
from resit.tui.widgets.table_model import Column, Shown

GAP = 2
"""Cells between two columns."""

Look = Callable[[str], Style]
"""The style of a name: `row`, `cursor`, `cell`, `header`, `sorted`, or a tone."""


class Places:
    """Where the columns of a table stand, and which of them are in sight."""

    def __init__(self, columns: Sequence[Column]) -> None:
        """Lay `columns` side by side."""
        self.columns = columns
        self.lefts: list[int] = []
        at = 0
        for column in columns:
            self.lefts.append(at)
            at += column.width + GAP
        self.width = max(0, at - GAP)
        """Cells that all of them take."""
        self.sticky = columns[0].width + GAP
        """Cells that the first one takes, with the gap after it."""

    def span(self, column: int) -> tuple[int, int]:
        """First cell of a column, and the one after its last."""
        return self.lefts[column], self.lefts[column] + self.columns[column].width

    def at(self, x: int) -> int:
        """The column at a cell."""
        return max(index for index, left in enumerate(self.lefts) if left <= x)

    def seen(self, left: int, width: int) -> tuple[range, int]:
        """The columns right of the first in a window of `width` that is `left` cells on.

        Also how many cells of the first of them are hidden.
        """
        start, end = self.sticky + left, left + width
        found = [at for at in range(1, len(self.lefts)) if self.lefts[at] < end and self._end(at) > start]
        if not found:
            return range(0), 0
        return range(found[0], found[-1] + 1), start - self.lefts[found[0]]

    def _end(self, column: int) -> int:
        return self.lefts[column] + self.columns[column].width + GAP


class TableLines:
    """Draws the lines of a table in one window."""

    def __init__(self, places: Places, look: Look, left: int, width: int) -> None:
        """Draw what stands from `left` on in `width` cells."""
        self._places, self._look, self._left, self._width = places, look, left, width
        self._seen, self._hidden = places.seen(left, width)

    def blank(self) -> Strip:
        """A line without anything."""
        return Strip.blank(self._width, self._look("row"))

    def rule(self) -> Strip:
        """The line above the summaries."""
        return Strip([Segment("─" * self._width, self._look("row") + self._look("rule"))], self._width)

    def header(self, sorted_by: str | None, reverse: bool) -> Strip:
        """The columns' titles; the one that sorts has an arrow."""
        base = self._look("row") + self._look("header")

        def title(at: int) -> tuple[str, Style]:
            column = self._places.columns[at]
            if column.key != sorted_by:
                return column.title, base
            return f"{'▼' if reverse else '▲'}{column.title}", base + self._look("sorted")

        return self._line(title, base)

    def cells(self, cell: Callable[[int], Shown], base: Style, cursor: int = -1) -> Strip:
        """A row or summary; `cell` is asked for the columns in sight only, and `cursor` stands out."""
        look = self._look

        def styled(at: int) -> tuple[str, Style]:
            shown = cell(at)
            style = base + look(shown.tone) if shown.tone else base
            return shown.text, style + look("cell") if at == cursor else style

        return self._line(styled, base)

    def _line(self, styled: Callable[[int], tuple[str, Style]], base: Style) -> Strip:
        sticky = min(self._places.sticky, self._width)
        line = self._part(range(1), styled, base).crop(0, sticky)
        if self._seen:
            rest = self._part(self._seen, styled, base)
            line = Strip.join([line, rest.crop(self._hidden, self._hidden + self._width - sticky)])
        return line.extend_cell_length(self._width, self._look("row"))

    def _part(self, columns: range, styled: Callable[[int], tuple[str, Style]], base: Style) -> Strip:
        """Cells side by side; what has the same style is one segment, as each costs time in every later step."""
        pieces: list[tuple[Style, str]] = []
        length = 0
        for at in columns:
            column = self._places.columns[at]
            text, style = styled(at)
            pieces.append((style, fitted(text, column.width, column.right)))
            # Space takes on no colour, but it shows a line under it, or the colours turned round.
            pieces.append((base if style.reverse or style.underline else style, " " * GAP))
            length += column.width + GAP
        joined = groupby(pieces, key=itemgetter(0))
        return Strip([Segment("".join(text for _, text in of), style) for style, of in joined], length)


def fitted(text: str, width: int, right: bool = False) -> str:
    """`text` on one line in exactly `width` cells, wide characters counted, cut with `…`."""
    # What is looked up below is kept: of a long reply only the beginning.
    return _fitted(text[: 8 * width + 3], width, right)


@lru_cache(maxsize=4096)
def _fitted(text: str, width: int, right: bool) -> str:
    text = one_line(text, 4 * width)
    cut = set_cell_size(text, width)
    if cut.rstrip() != text.rstrip() and width > 1:
        return set_cell_size(text, width - 1) + "…"
    if right:
        bare = cut.rstrip()
        return " " * (len(cut) - len(bare)) + bare
    return cut
