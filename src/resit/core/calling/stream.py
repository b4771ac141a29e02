"""The events of the Messages API, put together as they come in; and a message that comes whole."""

from __future__ import annotations

import json
from typing import Any

from resit.core.calling.client import Delta
from resit.core.calling.incoming import Incoming
from resit.core.records import Reply, Stop, Usage

_STOPS: dict[str, Stop] = {
    "end_turn": "end",
    "stop_sequence": "end",
    "max_tokens": "cut_off",
    "model_context_window_exceeded": "context_full",
    "refusal": "refused",
}
_USAGE = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens", "output_tokens")
_TIER_CHARS = 40
"""Most of a service tier's name that is kept."""


class ReplyStream(Incoming):
    """Takes the events of `/v1/messages`."""

    __slots__ = ("_stop_detail", "_whole")

    def __init__(self, *, watched: bool) -> None:
        """As every incoming reply."""
        super().__init__(watched=watched)
        self._stop_detail = ""
        self._whole = False

    def take(self, data: str) -> Delta | None:
        """Take one event's data; hands back the piece it brought, when watched."""
        if data == "[DONE]":  # some compatible servers end as OpenAI's do
            return None
        event = json.loads(data)
        kind = event["type"]
        if kind == "content_block_delta":
            return self._part(event["delta"])
        if kind == "content_block_start":
            return self._part(event["content_block"])
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

    def take_whole(self, message: dict[str, Any]) -> None:
        """Take a message that was not streamed, as a batch gives it: nobody says how long it took."""
        self._model = str(message.get("model", ""))
        self._count(message.get("usage"))
        for part in message["content"]:
            self._part(part)
        self._end(message)
        self.started = self.complete = self._whole = True

    def reply(self) -> Reply:
        """The whole reply."""
        found: dict[str, Any] = {"seconds": None, "first_token_s": None} if self._whole else {}
        tier = self._usage.get("service_tier")
        if isinstance(tier, str):
            found["service_tier"] = tier[:_TIER_CHARS]
        return super().reply().model_copy(update=found)

    def _part(self, part: dict[str, Any]) -> Delta | None:
        """A piece of text or thinking; other kinds (signatures, redacted thinking) are not kept."""
        if text := part.get("text"):
            return self._piece("text", text)
        thinking = part.get("thinking")
        return self._piece("thinking", thinking) if thinking else None

    def _count(self, usage: dict[str, Any] | None) -> None:
        """Later counts are cumulative; what one leaves out stays as the earlier one said."""
        self._usage.update((name, value) for name, value in (usage or {}).items() if value is not None)

    def _counted(self) -> Usage | None:
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

    def _stopped(self) -> tuple[Stop, str]:
        # A reason that is not in the table (`pause_turn`, a newer one) is told, not lost.
        unknown = "" if self._stop in _STOPS else str(self._stop or "")
        return _STOPS.get(self._stop or "", "end"), self._stop_detail or unknown
