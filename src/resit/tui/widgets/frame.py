"""The frame of every screen: where one is (top line), which keys there are (bottom line), and the too-small notice."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.cells import cell_len
from textual import events
from textual.content import Content
from textual.reactive import reactive
from textual.widget import Widget

from resit.core.printable import one_line
from resit.tui.commands import APP, Command, sign

if TYPE_CHECKING:
    from resit.tui.app import ResitApp


_GAP, _NARROW_GAP = " · ", "  "


class Crumbs(Widget):
    """`resit › Suites` on the left, a status on the right; the status gives way when there is no room."""

    trail: reactive[tuple[str, ...]] = reactive(())
    status: reactive[Content] = reactive(Content(""))

    def render(self) -> Content:
        """The line, as wide as the screen."""
        width = self.size.width
        left = Content.assemble(" ", ("resit", "bold $primary"))
        for crumb in self.trail:
            left = left + Content.assemble((" › ", "$text-muted"), one_line(crumb, max(12, width // 2)))
        gap = width - left.cell_length - self.status.cell_length - 1
        if gap >= 2:
            return left + Content(" " * gap) + self.status
        room = width - left.cell_length - 3
        return left + Content("  ") + self.status.truncate(room, ellipsis=True) if room > 8 else left


class KeyLine(Widget):
    """The keys of this screen in one calm line; what does not fit is behind `?`. A click presses the key."""

    def __init__(self, commands: tuple[Command, ...]) -> None:
        """Show those of `commands` that have a footer word."""
        super().__init__()
        self.commands = _with_words(commands)
        self._spans: list[tuple[int, int, Command]] = []

    def show(self, commands: tuple[Command, ...]) -> None:
        """Offer other keys: those that do something now."""
        if _with_words(commands) != self.commands:
            self.commands = _with_words(commands)
            self.refresh()

    def render(self) -> Content:
        """As many keys as fit; help is always the last."""
        gap = _GAP if self._line_width(self.commands, _GAP) <= self.size.width else _NARROW_GAP
        shown = list(self.commands)
        while len(shown) > 1 and self._line_width(shown, gap) > self.size.width:
            del shown[-2]
        return self._line(shown, gap)

    def _line_width(self, commands: Sequence[Command], gap: str) -> int:
        return 2 + sum(self._width(command) for command in commands) + len(gap) * (len(commands) - 1)

    def _line(self, shown: Sequence[Command], gap: str) -> Content:
        self._spans = []
        line, at = Content(" "), 1
        for index, command in enumerate(shown):
            if index:
                line, at = line + Content.styled(gap, "$text-muted"), at + len(gap)
            width = self._width(command)
            self._spans.append((at, at + width, command))
            line = line + Content.assemble((self._key(command), "bold $primary"), (f" {command.label}", ""))
            at += width
        return line

    def _key(self, command: Command) -> str:
        app: ResitApp = self.app  # type: ignore[assignment]
        return sign(app.key_of(command))

    def _width(self, command: Command) -> int:
        return cell_len(self._key(command)) + 1 + cell_len(command.label)

    async def on_click(self, event: events.Click) -> None:
        """Do what the key under the mouse does."""
        for start, end, command in self._spans:
            if start <= event.x < end:
                owner = self.app if command in APP else self.screen
                await self.app.run_action(command.action, default_namespace=owner)


def _with_words(commands: tuple[Command, ...]) -> tuple[Command, ...]:
    return tuple(command for command in commands if command.label)


class TooSmall(Widget):
    """Shown instead of a screen that cannot be drawn."""

    def render(self) -> Content:
        """What is there and what is needed."""
        size = self.app.size
        return Content(f"resit needs a window of 60 × 15; this one is {size.width} × {size.height}.")
