"""The miss pane: one run, and why it is not at full marks. Used beside the results and while a round runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.content import Content

from resit.tui.miss_text import pane_text
from resit.tui.widgets.plain import PlainStatic

if TYPE_CHECKING:
    from resit.tui.round_view import Miss


class MissPane(VerticalScroll, can_focus=True):
    """Shows a `Miss`; keys that change something belong to the screen round it."""

    _miss: Miss | None = None

    def compose(self) -> ComposeResult:
        """One text."""
        yield PlainStatic("", id="miss-text")

    def show(self, miss: Miss | None, empty: str = "Nothing to read.") -> None:
        """Show that run; from the top when it is another one."""
        text = self.query_one("#miss-text", PlainStatic)
        other = miss is None or self._miss is None or miss.key != self._miss.key
        self._miss = miss
        if miss is None:
            self.border_title = Content("")
            text.update(Content.styled(empty, "$text-muted"))
            return
        place = f"miss {miss.number} of {miss.of}" if miss.number else "full marks"
        self.border_title = Content(place)
        text.update(pane_text(miss, self._text_width))
        if other:
            self.scroll_home(animate=False)

    @property
    def _text_width(self) -> int:
        return max(24, self.scrollable_content_region.width)

    def on_resize(self) -> None:
        """Wrap again."""
        if self._miss is not None:
            self.query_one("#miss-text", PlainStatic).update(pane_text(self._miss, self._text_width))
