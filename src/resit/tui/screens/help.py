"""The keys of a screen, from the same list that binds them."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen

from resit.tui.commands import APP, Command, sign
from resit.tui.widgets.plain import Hung, PlainStatic

_KEY_WIDTH = 13


class HelpScreen(ModalScreen[None]):
    """Two lists of keys: this screen's and those that work everywhere."""

    BINDINGS: ClassVar = [("escape,q,question_mark", "dismiss", "close")]

    def __init__(self, commands: tuple[Command, ...]) -> None:
        """Explain `commands`."""
        super().__init__()
        self._commands = commands

    def compose(self) -> ComposeResult:
        """Both lists."""
        with Vertical(classes="dialog wide"):
            yield PlainStatic("Keys", classes="dialog-title")
            with VerticalScroll():
                if self._commands:
                    yield self._list("This screen", self._lines(self._commands))
                    yield PlainStatic()
                palette = Content.assemble((f"  {'ctrl+p':<10} ", "bold $primary"), "Every action by name")
                yield self._list("Everywhere", [*self._lines(APP), palette])
            yield PlainStatic(
                "esc closes · a resit.toml in the settings folder may rebind keys", classes="dialog-about"
            )

    @staticmethod
    def _list(title: str, lines: list[Content]) -> PlainStatic:
        return PlainStatic(Hung(Content("\n").join([Content.styled(title, "bold"), *lines]), _KEY_WIDTH))

    def _lines(self, commands: tuple[Command, ...]) -> list[Content]:
        key_of = getattr(self.app, "key_of", lambda command: command.keys.split(",")[0])
        return [Content.assemble((f"  {sign(key_of(c)):<10} ", "bold $primary"), c.about) for c in commands]
