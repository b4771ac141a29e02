"""One reply as it streams in: the question, what the model thinks, what it says, and how fast."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Literal

from textual.app import ComposeResult
from textual.containers import Vertical, VerticalScroll
from textual.content import Content

from resit.core.printable import one_line, printable
from resit.tui.widgets.plain import PlainStatic

if TYPE_CHECKING:
    from resit.core.rounds.events import Streamed
    from resit.core.rounds.progress import Flight, Progress

Mode = Literal["closed", "newest", "stay"]
_CHARS_PER_TOKEN = 4
_SHOWN, _SHOWN_LINES = 6_000, 60
"""Characters and lines of the reply's end that are drawn; the whole of it is in the result."""


class StreamPane(Vertical):
    """The reply of one run, followed while it comes."""

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's name
        """Start closed."""
        super().__init__(id=id, classes="panel")
        self.mode: Mode = "closed"
        self._start(None)

    def compose(self) -> ComposeResult:
        """A line of facts, then the text."""
        yield PlainStatic(id="stream-facts")
        with VerticalScroll(id="stream-scroll"):
            yield PlainStatic(id="stream-text")

    def _start(self, flight: Flight | None) -> None:
        self.key = flight.key if flight else None
        self._flight = flight
        self._text = self._thinking = ""
        self._chars = 0
        self._first_s: float | None = None
        self._last_s = 0.0
        self._ended = False

    def next_mode(self, progress: Progress | None) -> str | None:
        """Closed, then the newest, then staying on this one, then closed; the key to watch from now on."""
        steps: dict[Mode, Mode] = {"closed": "newest", "newest": "stay", "stay": "closed"}
        self.mode = steps[self.mode]
        self.display = self.mode != "closed"
        if self.mode == "closed":
            self._start(None)
        elif self.mode == "newest":
            self._choose(progress)
        return self.key

    def _choose(self, progress: Progress | None) -> bool:
        """Take the call that left last; whether that is another one."""
        sending = [f for f in progress.flights.values() if f.state == "sending"] if progress else []
        newest = max(sending, key=lambda flight: flight.since, default=None)
        if newest is None or newest.key == self.key:
            return False
        self._start(newest)
        return True

    def take(self, progress: Progress, pieces: tuple[Streamed, ...], now: datetime) -> None:
        """Add what came; on the newest, go on to the next when this one has ended."""
        if self.mode == "closed":
            return
        for piece in pieces:
            if piece.key == self.key:
                self._add(piece, now)
        self._ended = self.key is not None and self.key not in progress.flights
        if self.mode == "newest" and (self.key is None or self._ended) and self._choose(progress):
            self.app.session.watch(self.key)  # type: ignore[attr-defined]

    def _add(self, piece: Streamed, now: datetime) -> None:
        if self._flight is not None:
            self._last_s = self._flight.age_s(now)
            if self._first_s is None:
                self._first_s = self._last_s
        self._chars += len(piece.text)
        if piece.kind == "text":
            self._text = (self._text + piece.text)[-_SHOWN:]
        else:
            self._thinking = (self._thinking + piece.text)[-_SHOWN:]

    def draw(self, progress: Progress, now: datetime) -> None:
        """Show the state of it."""
        if self.mode == "closed":
            return
        self.border_title = "One reply as it comes"
        modes = {"newest": "on the newest · w stays on this one", "stay": "staying on this one · w closes"}
        self.border_subtitle = modes[self.mode]
        if self._flight is None:
            self.query_one("#stream-facts", PlainStatic).update("Nothing is being sent.")
            self.query_one("#stream-text", PlainStatic).update("")
            return
        self.query_one("#stream-facts", PlainStatic).update(self._facts(self._flight, now))
        scroll = self.query_one("#stream-scroll", VerticalScroll)
        at_end = scroll.scroll_offset.y >= scroll.max_scroll_y - 1
        self.query_one("#stream-text", PlainStatic).update(self._body(self._flight))
        if at_end:
            scroll.scroll_end(animate=False)

    def _facts(self, flight: Flight, now: datetime) -> Content:
        parts = [one_line(flight.question, 30), one_line(flight.setting, 40), f"r{flight.run}"]
        if self._first_s is None:
            parts.append("ended" if self._ended else f"no token for {flight.age_s(now):.0f} s")
        else:
            parts.append(f"first token {self._first_s:.2f} s")
            span = self._last_s - self._first_s
            if span > 0:
                # Servers count tokens only at the end, so this one is taken from the length.
                parts.append(f"about {self._chars / _CHARS_PER_TOKEN / span:.0f} tokens/s")
            if self._ended:
                parts.append("ended")
        return Content.styled(" · ".join(parts), "$text-muted")

    def _body(self, flight: Flight) -> Content:
        suite = self.app.session.suite  # type: ignore[attr-defined]
        question = suite.by_id.get(flight.question) if suite else None
        lines = [Content.styled(printable(question.prompt, 600), "$text-muted")] if question else []
        if self._thinking:
            lines.append(Content.styled(f"thinking: {_tail(self._thinking)}", "italic $text-muted"))
        if self._text:
            lines.append(Content(_tail(self._text)))
        return Content("\n").join(lines)


def _tail(text: str) -> str:
    """The last lines of `text`: thousands of empty ones would take a second to lay out, ten times a second."""
    return "\n".join(printable(text).split("\n")[-_SHOWN_LINES:])
