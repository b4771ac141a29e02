"""What every screen of resit shares: the frame, its keys from `commands`, and plain notices."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.containers import Container
from textual.content import Content
from textual.screen import Screen

from resit.tui.commands import APP, SCREENS, Command, bindings
from resit.tui.widgets.frame import Crumbs, KeyLine, TooSmall

if TYPE_CHECKING:
    from collections.abc import Iterable

    from resit.tui.app import ResitApp


class ResitScreen(Screen[None]):
    """A screen with the frame round it. Subclasses name their `GROUP` and give `compose_body`."""

    GROUP: ClassVar[str] = ""
    HORIZONTAL_BREAKPOINTS = [(0, "-tiny"), (60, "-narrow"), (100, "-wide")]  # noqa: RUF012 - as Textual declares it
    VERTICAL_BREAKPOINTS = [(0, "-flat"), (15, "-low"), (32, "-tall")]  # noqa: RUF012 - as Textual declares it

    def __init_subclass__(cls, **kwargs: object) -> None:
        """Bind the keys of the subclass's group."""
        if cls.GROUP:
            cls.BINDINGS = bindings(SCREENS[cls.GROUP])
        super().__init_subclass__()

    @property
    def resit(self) -> ResitApp:
        """The app, by its own type."""
        return self.app  # type: ignore[return-value]

    @property
    def commands(self) -> tuple[Command, ...]:
        """The screen's own commands, in footer order."""
        return SCREENS.get(self.GROUP, ())

    def compose(self) -> ComposeResult:
        """The frame, with the body inside."""
        yield Crumbs()
        with Container(id="body"):
            yield from self.compose_body()
        yield KeyLine((*self.commands, APP[0]))
        yield TooSmall()

    def compose_body(self) -> ComposeResult:
        """What stands between the two lines of the frame."""
        yield from ()

    def where(self, *trail: str) -> None:
        """Set the crumbs, and the terminal's title with them."""
        self.query_one(Crumbs).trail = trail
        self.title = " › ".join(trail)
        self.resit.set_window_title(f"resit › {self.title}")

    def offer(self, commands: Iterable[Command]) -> None:
        """Name these keys in the bottom line, with `?` as the last."""
        self.query_one(KeyLine).show((*commands, APP[0]))

    def status(self, content: Content | str) -> None:
        """Set what stands on the right of the top line."""
        self.query_one(Crumbs).status = Content(content) if isinstance(content, str) else content

    def may_leave(self) -> bool:
        """True unless something would be lost; a screen that says False asks about it."""
        return True

    def say(self, text: str, *, severity: str = "information") -> None:
        """A notice, as plain text."""
        self.resit.say(text, severity=severity)
