"""A longer text to write, in front of a screen."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import TextArea

from resit.core.printable import one_line
from resit.tui.widgets.plain import PlainStatic


class TextScreen(ModalScreen[str | None]):
    """Several lines; ctrl+s keeps them, escape does not."""

    BINDINGS: ClassVar = [
        Binding("ctrl+s", "keep", "keep", priority=True),
        Binding("escape", "dismiss(None)", "cancel", priority=True),
    ]

    def __init__(self, title: str, value: str) -> None:
        """Ask `title`, starting from `value`."""
        super().__init__()
        self._title, self._value = title, value

    def compose(self) -> ComposeResult:
        """Question, then the text."""
        with Vertical(classes="dialog wide"):
            yield PlainStatic(one_line(self._title, 200), classes="dialog-title")
            yield TextArea(self._value, soft_wrap=True, show_line_numbers=False, id="writing")
            yield PlainStatic("ctrl+s keeps it · esc cancels", classes="dialog-about")

    def on_mount(self) -> None:
        """Write at once."""
        self.query_one(TextArea).focus()

    def action_keep(self) -> None:
        """Hand the text back."""
        self.dismiss(self.query_one(TextArea).text)
