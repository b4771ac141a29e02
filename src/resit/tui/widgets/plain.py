"""Plain text on the screen: nothing shown here is ever read as markup."""

from __future__ import annotations

from typing import ClassVar

from textual.content import Content
from textual.widgets import Input, Static


class PlainStatic(Static):
    """A Static whose strings are text and nothing else."""

    def __init__(
        self,
        content: str | Content = "",
        *,
        id: str | None = None,  # noqa: A002 - Textual's name
        classes: str | None = None,
    ) -> None:
        """Show `content`; markup is off for good."""
        super().__init__(content, id=id, classes=classes, markup=False)


class LineInput(Input):
    """A one-line input that gives up on escape, without leaving the screen."""

    BINDINGS: ClassVar = [("escape", "give_up", "give up")]

    class GivenUp(Input.Changed):
        """Escape was pressed; the value is now empty."""

    def action_give_up(self) -> None:
        """Empty the line and hand the focus back."""
        self.value = ""
        self.post_message(self.GivenUp(self, ""))
