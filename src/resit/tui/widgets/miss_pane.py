"""The miss pane: one run, and why it is not at full marks. Used beside the results and while a round runs."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING

from textual.content import Content
from textual.geometry import Region, Size
from textual.scroll_view import ScrollView
from textual.selection import Selection
from textual.strip import Strip
from textual.visual import Visual

from resit.tui.miss_text import pane_text
from resit.tui.widgets.content_lines import strips_of

if TYPE_CHECKING:
    from resit.tui.miss import Miss

_LEAST_WIDTH = 8


class MissPane(ScrollView, can_focus=True):
    """Shows a `Miss`; keys that change something belong to the screen round it.

    Its lines are made once for each run and width. With a text widget inside, every step of the grid's cursor laid
    the whole screen out anew and took three times as long.
    """

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:  # noqa: A002 - Textual's name
        """Show nothing yet."""
        super().__init__(id=id, classes=classes)
        self._miss: Miss | None = None
        self._empty = ""
        self._content = Content("")
        self._place = ""
        self._strips: list[Strip] = []

    def show(self, miss: Miss | None, empty: str = "Nothing to read.") -> None:
        """Show that run; from the top when it is another one."""
        other = miss is None or self._miss is None or miss.key != self._miss.key
        self._miss, self._empty = miss, empty
        place = "" if miss is None else f"miss {miss.number} of {miss.of}" if miss.number else "full marks"
        if place != self._place:
            self._place = place
            self.border_title = Content(place)
        self._lay_out()
        if other:
            self.scroll_to(0, 0, animate=False, immediate=True)

    def on_resize(self) -> None:
        """Wrap for the width there is."""
        self._lay_out()

    def notify_style_update(self) -> None:
        """Other colours: nothing drawn before is right."""
        super().notify_style_update()
        self._draw_lines()
        self.refresh()

    def selection_updated(self, selection: Selection | None) -> None:
        """The mouse marks other text."""
        self._draw_lines()
        super().selection_updated(selection)

    def _lay_out(self) -> None:
        if self._miss is None:
            self._content = Content.styled(self._empty, "$text-muted")
        else:
            self._content = pane_text(self._miss, self._width)
        before = self._strips
        self._draw_lines()
        self._set_height(max(len(self._strips), self.scrollable_content_region.height))
        self._refresh_changed(before)

    def _set_height(self, lines: int) -> None:
        # Set past Textual, which would lay the whole screen out anew (10 ms a key). The bar is always there, so nothing
        # has to move.
        self.set_reactive(MissPane.virtual_size, Size(self._width, lines))
        self.vertical_scrollbar.window_virtual_size = lines
        self.scroll_y = self.validate_scroll_y(self.scroll_y)

    def _refresh_changed(self, before: Sequence[Strip]) -> None:
        """Have only those lines painted that are others than `before`."""
        top, height = self.scroll_offset.y, self.scrollable_content_region.height
        pairs = zip_longest(before[top : top + height], self._strips[top : top + height])
        if changed := [Region(0, y, self.size.width, 1) for y, (old, new) in enumerate(pairs) if old != new]:
            self.refresh(*changed)

    @property
    def _width(self) -> int:
        return max(_LEAST_WIDTH, self.scrollable_content_region.width)

    def _draw_lines(self) -> None:
        if self.is_attached:
            style = self.visual_style
            strips = None if self.text_selection else strips_of(self._content, self._width, style)
            self._strips = strips or Visual.to_strips(self, self._content, self._width, None, style, pad=True)

    def render_line(self, y: int) -> Strip:
        """One line of the text."""
        at = y + self.scroll_offset.y
        if at < len(self._strips):
            return self._strips[at]
        return Strip.blank(self._width, self.visual_style.rich_style)

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        """What the mouse marked."""
        return selection.extract(self._content.plain), "\n"
