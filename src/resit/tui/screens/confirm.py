"""Small questions in front of a screen: quit with a running round, a list to choose from, a line to write."""

from __future__ import annotations

from typing import ClassVar

from rich.cells import cell_len
from textual import events, on
from textual.app import ComposeResult
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Input, OptionList
from textual.widgets.option_list import Option

from resit.core.printable import one_line
from resit.tui.widgets.plain import PlainStatic

_NARROW = 52
"""Longest answer of a narrow dialog."""


class ChoiceScreen(ModalScreen[str | None]):
    """A few answers, one of which is chosen by its letter, by arrows and enter, or by mouse; escape chooses none."""

    BINDINGS: ClassVar = [("escape,q", "dismiss(None)", "cancel")]

    def __init__(self, title: str, choices: list[tuple[str, str, str]], *, about: str = "") -> None:
        """Ask `title`.

        Args:
            title: The question.
            choices: Key to press, value to answer, text to show.
            about: A sentence under the question.
        """
        super().__init__()
        self._title, self._choices, self._about = title, choices, about
        self._wide = any(cell_len(text) > _NARROW for _, _, text in choices)

    def compose(self) -> ComposeResult:
        """Question, then the answers."""
        with Vertical(classes="dialog wide" if self._wide else "dialog"):
            yield PlainStatic(one_line(self._title, 200), classes="dialog-title")
            if self._about:
                yield PlainStatic(one_line(self._about, 400), classes="dialog-about")
            options = [
                Option(Content.assemble((f" {key} ", "bold $primary"), f" {one_line(text, 200)}"), id=str(index))
                for index, (key, _, text) in enumerate(self._choices)
            ]
            yield OptionList(*options, markup=False)

    def on_mount(self) -> None:
        """Arrows work at once."""
        self.query_one(OptionList).focus()

    def on_key(self, event: events.Key) -> None:
        """A choice's letter chooses it."""
        for key, value, _ in self._choices:
            if event.character == key:
                event.stop()
                self.dismiss(value)
                return

    @on(OptionList.OptionSelected)
    def _chosen(self, event: OptionList.OptionSelected) -> None:
        self.dismiss(self._choices[event.option_index][1])


class QuitScreen(ChoiceScreen):
    """A round runs: what shall become of it?"""

    def __init__(self) -> None:
        """Ask."""
        super().__init__(
            "A round is running.",
            [
                ("s", "stop", "stop and save, then quit"),
                ("k", "keep", "keep running, stay here"),
                ("c", "keep", "cancel"),
            ],
            about="What is finished is saved either way; the same round can go on later.",
        )


class LineScreen(ModalScreen[str | None]):
    """One line to write; enter keeps it, escape does not."""

    BINDINGS: ClassVar = [("escape", "dismiss(None)", "cancel")]

    def __init__(self, title: str, value: str = "", *, placeholder: str = "") -> None:
        """Ask `title`, starting from `value`."""
        super().__init__()
        self._title, self._value, self._placeholder = title, value, placeholder

    def compose(self) -> ComposeResult:
        """Question, then the line."""
        with Vertical(classes="dialog"):
            yield PlainStatic(one_line(self._title, 200), classes="dialog-title")
            yield Input(one_line(self._value), placeholder=self._placeholder)
            yield PlainStatic("enter keeps it · esc cancels", classes="dialog-about")

    @on(Input.Submitted)
    def _done(self, event: Input.Submitted) -> None:
        self.dismiss(event.value)


class PreviewScreen(ModalScreen[bool]):
    """What will be written and what it changes, before anything is written; enter does it."""

    BINDINGS: ClassVar = [("escape,q", "dismiss(False)", "cancel"), ("enter,y", "dismiss(True)", "do it")]

    def __init__(self, title: str, body: Content, *, keys: str = "enter writes it · esc cancels") -> None:
        """Show `body`, already made of plain text."""
        super().__init__()
        self._title, self._body, self._keys = title, body, keys

    def compose(self) -> ComposeResult:
        """Title, what changes, the keys."""
        with Vertical(classes="dialog wide"):
            yield PlainStatic(one_line(self._title, 200), classes="dialog-title")
            with VerticalScroll():
                yield PlainStatic(self._body)
            yield PlainStatic(self._keys, classes="dialog-about")
