"""One run, full screen: the whole prompt, the whole reply, everything it was compared with."""

from __future__ import annotations

from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.content import Content

from resit.tui import figures
from resit.tui.looks import mark, mark_style
from resit.tui.messages import SuiteChanged
from resit.tui.miss_text import full_parts
from resit.tui.reviewing import Reviewing
from resit.tui.round_view import RoundView
from resit.tui.widgets.text_view import TextView


class MissScreen(Reviewing):
    """Reads any run of a round; misses follow each other with `[` and `]`."""

    GROUP: ClassVar[str] = "miss"

    def __init__(self, view: RoundView, key: str) -> None:
        """Read run `key` of the round of `view`."""
        super().__init__()
        self._view, self._key = view, key
        self._invisible = False

    @property
    def view(self) -> RoundView:
        """The round."""
        return self._view

    @property
    def key(self) -> str:
        """The run in front."""
        return self._key

    def compose_body(self) -> ComposeResult:
        """The text."""
        yield TextView(id="miss-view")

    def on_mount(self) -> None:
        """Read at once."""
        self.query_one(TextView).focus()
        self.renew()

    def show_key(self, key: str) -> None:
        """Another run."""
        self._key = key
        self.renew()

    @on(SuiteChanged)
    def renew(self) -> None:
        """The run as it is graded now."""
        miss = self._view.miss(self._key)
        self.where(
            self._view.plan.title, miss.question.id, f"{figures.short_setting(miss.row.setting)} r{miss.row.run}"
        )
        sign = mark(miss.row.score)
        place = f"miss {miss.number} of {miss.of}" if miss.number else "full marks"
        self.status(Content.assemble((f"{sign} ", mark_style(sign)), f"{place} · {self._view.unread} left to read"))
        self.query_one(TextView).show(full_parts(miss), invisible=self._invisible)

    def action_invisible(self) -> None:
        """Show or hide invisible characters."""
        self._invisible = not self._invisible
        self.say("Invisible characters are shown by name." if self._invisible else "Invisible characters are hidden.")
        self.renew()
