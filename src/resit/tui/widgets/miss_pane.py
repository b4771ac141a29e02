"""The miss pane: one run, and why it is not at full marks. Used beside the results and while a round runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.content import Content
from textual.geometry import Size
from textual.widget import Widget

from resit.tui.miss_text import pane_text

if TYPE_CHECKING:
    from resit.tui.round_view import Miss


class MissText(Widget):
    """The text of the pane, laid out for the width it gets."""

    miss: Miss | None = None
    empty = ""

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """Lines at that width."""
        return self._text(width).plain.count("\n") + 1

    def render(self) -> Content:
        """The miss, or why there is none."""
        return self._text(self.content_size.width)

    def _text(self, width: int) -> Content:
        if self.miss is None:
            return Content.styled(self.empty, "$text-muted")
        return pane_text(self.miss, width)


class MissPane(VerticalScroll, can_focus=True):
    """Shows a `Miss`; keys that change something belong to the screen round it."""

    def compose(self) -> ComposeResult:
        """One text."""
        yield MissText(id="miss-text")

    def show(self, miss: Miss | None, empty: str = "Nothing to read.") -> None:
        """Show that run; from the top when it is another one."""
        text = self.query_one(MissText)
        other = miss is None or text.miss is None or miss.key != text.miss.key
        text.miss, text.empty = miss, empty
        text.refresh(layout=True)
        place = "" if miss is None else f"miss {miss.number} of {miss.of}" if miss.number else "full marks"
        self.border_title = Content(place)
        if other:
            self.scroll_home(animate=False)
