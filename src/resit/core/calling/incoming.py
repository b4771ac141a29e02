"""A reply as it comes in, whatever its server speaks: text, thinking, times, usage, and what it makes in the end."""

from __future__ import annotations

import time
from typing import Any, Literal

from resit.core.calling.client import Delta
from resit.core.records import Reply, Stop, Usage

UNREADABLE = (ValueError, KeyError, TypeError, AttributeError, RecursionError)
"""What comes of events that are not what the API sends."""


class Incoming:
    """Keeps what one streamed reply brings; `complete` says whether all of it has come.

    Each API has a `take` of its own, given one event at a time, which hands back the pieces it brought when they are
    watched. What is not as the API sends it raises one of `UNREADABLE`.
    """

    __slots__ = (
        "_model", "_sent_at", "_stop", "_text", "_thinking", "_usage", "_watched",
        "complete", "error", "first_token_s", "request_id", "seconds", "started",
    )  # fmt: skip

    def __init__(self, *, watched: bool) -> None:
        """Begin to measure now, when the request is sent.

        Args:
            watched: Whether pieces are to be handed back.
        """
        self._sent_at = time.perf_counter()
        self._watched = watched
        self._model = ""
        self._text: list[str] = []
        self._thinking: list[str] = []
        self._usage: dict[str, Any] = {}
        self._stop: str | None = None
        """The server's own word for why it stopped."""
        self.request_id: str | None = None
        self.started = False
        """The reply has begun to come in."""
        self.complete = False
        self.error: dict[str, Any] | None = None
        """The error event that ended it."""
        self.first_token_s: float | None = None
        self.seconds: float | None = None
        """Until it was complete."""

    def elapsed_s(self) -> float:
        """Seconds since the request was sent."""
        return time.perf_counter() - self._sent_at

    def end(self) -> None:
        """The stream is over. A server that leaves its closing event out but said why it stopped is whole, too."""
        if self._stop is not None and not self.complete:
            self._finish()

    def usage_so_far(self) -> Usage | None:
        """The tokens counted so far; None when the server has said nothing that can be read."""
        try:
            return self._counted()
        except (ValueError, AttributeError):
            return None

    def reply(self) -> Reply:
        """The whole reply."""
        stop, detail = self._stopped()
        return Reply(
            text=_whole(self._text),
            thinking=_whole(self._thinking),
            stop=stop,
            stop_detail=detail,
            usage=self.usage_so_far() or Usage(),
            seconds=round(self.seconds if self.seconds is not None else self.elapsed_s(), 6),
            first_token_s=None if self.first_token_s is None else round(self.first_token_s, 6),
            model=self._model,
            request_id=self.request_id,
        )

    def _counted(self) -> Usage | None:
        """As `usage_so_far`; what cannot be read raises."""
        raise NotImplementedError

    def _stopped(self) -> tuple[Stop, str]:
        """Why it stopped, and the server's word for what has no name here."""
        raise NotImplementedError

    def _piece(self, kind: Literal["text", "thinking"], text: str) -> Delta | None:
        """Keep a piece that is not empty."""
        (self._text if kind == "text" else self._thinking).append(text)
        if self.first_token_s is None:
            self.first_token_s = self.elapsed_s()
        return Delta(kind, text) if self._watched else None

    def _finish(self) -> None:
        self.complete = True
        self.seconds = self.elapsed_s()


def _whole(pieces: list[str]) -> str:
    """The pieces as one text that can be written: half a surrogate pair, which JSON can carry, becomes U+FFFD."""
    text = "".join(pieces)
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text
