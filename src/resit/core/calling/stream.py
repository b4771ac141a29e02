"""The events of one streamed reply, put together: text, thinking, usage, why it stopped, and when it began."""

from __future__ import annotations

import json
import time
from typing import Any

from resit.core.calling.client import Delta
from resit.core.records import Reply, Stop, Usage

_STOPS: dict[str, Stop] = {
    "end_turn": "end",
    "stop_sequence": "end",
    "max_tokens": "cut_off",
    "model_context_window_exceeded": "context_full",
    "refusal": "refused",
}
_USAGE = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens", "output_tokens")


class ReplyStream:
    """Takes the events of `/v1/messages` one by one; `complete` says whether all have come.

    What is not as the API sends it raises KeyError, TypeError, AttributeError or ValueError.
    """

    __slots__ = (
        "_model", "_sent_at", "_stop", "_stop_detail", "_text", "_thinking", "_usage", "_watched",
        "complete", "error", "first_token_s", "request_id", "seconds", "started",
    )  # fmt: skip

    def __init__(self, *, watched: bool) -> None:
        """Begin to measure now, when the request is sent.

        Args:
            watched: Whether `take` is to hand back the pieces.
        """
        self._sent_at = time.perf_counter()
        self._watched = watched
        self._model = ""
        self._text: list[str] = []
        self._thinking: list[str] = []
        self._usage: dict[str, Any] = {}
        self._stop: str | None = None
        self._stop_detail = ""
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

    def take(self, data: str) -> Delta | None:
        """Take one event's data; hands back the piece it brought, when watched."""
        if data == "[DONE]":  # some compatible servers end as OpenAI's do
            return None
        event = json.loads(data)
        kind = event["type"]
        if kind == "content_block_delta":
            return self._piece(event["delta"])
        if kind == "content_block_start":
            return self._piece(event["content_block"])
        if kind == "message_start":
            self.started = True
            self._model = str(event["message"].get("model", ""))
            self._count(event["message"].get("usage"))
        elif kind == "message_delta":
            self._count(event.get("usage"))
            self._end(event["delta"])
        elif kind == "message_stop":
            self._finish()
        elif kind == "error":
            self.error = event
        return None

    def end(self) -> None:
        """The stream is over. A server that leaves `message_stop` out but said why it stopped is whole, too."""
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
        stop = _STOPS.get(self._stop or "", "end")
        # A reason that is not in the table (`pause_turn`, a newer one) is told, not lost.
        detail = self._stop_detail or ("" if self._stop in _STOPS else str(self._stop or ""))
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

    def _piece(self, part: dict[str, Any]) -> Delta | None:
        """A piece of text or thinking; other kinds (signatures, redacted thinking) are not kept."""
        if text := part.get("text"):
            self._text.append(text)
        elif thinking := part.get("thinking"):
            self._thinking.append(thinking)
        else:
            return None
        if self.first_token_s is None:
            self.first_token_s = self.elapsed_s()
        if not self._watched:
            return None
        return Delta("text", text) if text else Delta("thinking", str(thinking))

    def _count(self, usage: dict[str, Any] | None) -> None:
        """Later counts are cumulative; what one leaves out stays as the earlier one said."""
        self._usage.update((name, value) for name, value in (usage or {}).items() if value is not None)

    def _counted(self) -> Usage | None:
        """As `usage_so_far`; what cannot be read raises."""
        if not self._usage:
            return None
        fresh, written, read, output = (self._usage.get(name) for name in _USAGE)
        details = self._usage.get("output_tokens_details") or {}
        return Usage(
            input_tokens=fresh,
            cache_write_tokens=written,
            cache_read_tokens=read,
            output_tokens=output,
            thinking_tokens=details.get("thinking_tokens"),
        )

    def _end(self, delta: dict[str, Any]) -> None:
        reason = delta.get("stop_reason")
        self._stop = reason if reason is None else str(reason)
        details = delta.get("stop_details") or {}
        self._stop_detail = str(details.get("category") or "")

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
