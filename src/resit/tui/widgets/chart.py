"""Room for a plot. The library that draws it takes a third of a second to load, so the screen stands before it."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from textual import work
from textual.containers import Container
from textual.content import Content

from resit.tui.plots import Picture

if TYPE_CHECKING:
    from resit.tui.widgets.plotted import Plotted


class Chart(Container):
    """Shows a `Picture` as soon as it can be drawn; its title stands on the border at once."""

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's name
        """Show nothing yet."""
        super().__init__(id=id, classes="panel chart")
        self._picture: Picture | None = None
        self._plotted: Plotted | None = None

    def show(self, picture: Picture) -> None:
        """Show that picture from now on."""
        self._picture = picture
        self.border_title = Content(picture.title)
        if self._plotted is not None:
            self._plotted.show(picture)
        else:
            self._load()

    @work(thread=True, exclusive=True, exit_on_error=False)
    def _load(self) -> None:
        made: type[Plotted] = importlib.import_module("resit.tui.widgets.plotted").Plotted
        self.app.call_from_thread(self._draw, made)

    def _draw(self, made: type[Plotted]) -> None:
        if self._picture is None or not self.is_attached or self._plotted is not None:
            return
        self._plotted = made(self._picture)
        self.mount(self._plotted)
