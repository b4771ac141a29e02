"""The keys of a screen, from the same list that binds them."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen

from resit.tui.commands import APP, Command, sign
from resit.tui.widgets.plain import PlainStatic


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
                    yield PlainStatic(
                        Content("\n").join([Content.styled("This screen", "bold"), *self._lines(self._commands)])
                    )
                yield PlainStatic(Content("\n").join([Content.styled("\nEverywhere", "bold"), *self._lines(APP)]))
                yield PlainStatic("  ctrl+p     Every action by name")
            yield PlainStatic(
                "esc closes · a resit.toml in the settings folder may rebind keys", classes="dialog-about"
            )

    def _lines(self, commands: tuple[Command, ...]) -> list[Content]:
        key_of = getattr(self.app, "key_of", lambda command: command.keys.split(",")[0])
        return [Content.assemble((f"  {sign(key_of(c)):<10} ", "bold $primary"), c.about) for c in commands]
