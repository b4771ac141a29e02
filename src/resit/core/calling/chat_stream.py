"""The chunks of a chat-completions server, put together as they come in: OpenAI's, and the many that are like it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from resit.core.calling.client import Delta
from resit.core.calling.incoming import Incoming
from resit.core.records import Stop, Usage

MOST_CHARS = 1_000_000
"""A reply that is longer than this and `CHARS_A_TOKEN` for each allowed token is cut: its server knows no limit."""
CHARS_A_TOKEN = 100

_STOPS: dict[str, Stop] = {
    "stop": "end",
    "eos": "end",
    "eos_token": "end",
    "stop_sequence": "end",
    "end_turn": "end",
    "length": "cut_off",
    "max_tokens": "cut_off",
    "content_filter": "blocked",
    "refusal": "refused",
}
_BROKEN = frozenset({"error", "abort"})
"""Reasons that stand for a failure of the server."""
_THINKING = ("reasoning_content", "reasoning")
"""Where thinking stands: llama.cpp and DeepSeek use the first, OpenRouter, Ollama and vLLM the second, some both."""


class ChatStream(Incoming):
    """Takes the chunks of `/chat/completions`, or the one object of a server that does not stream."""

    __slots__ = ("_chars", "_max_tokens", "_refused", "overlong")

    def __init__(self, *, watched: bool, max_tokens: int) -> None:
        """As every incoming reply.

        Args:
            watched: Whether pieces are to be handed back.
            max_tokens: What was asked for, to see who cut a reply.
        """
        super().__init__(watched=watched)
        self._max_tokens = max_tokens
        self._chars = 0
        self._refused = False
        self.overlong = False
        """Longer than any reply of so many tokens: there is no use in waiting for its end."""

    def take(self, data: bytes) -> tuple[Delta, ...]:
        """Take one chunk; hands back the pieces it brought, when watched."""
        if data == b"[DONE]":
            if self.started:
                self._finish()
            return ()
        chunk = json.loads(data.decode(errors="replace"))
        if chunk.get("error") or chunk.get("object") == "error":
            self.error = chunk
            return ()
        self._model = self._model or str(chunk.get("model") or "")
        self._count(chunk.get("usage"))
        choices = chunk.get("choices")
        if not choices:
            return ()
        self.started = True
        return self._choice(choices[0])

    def take_whole(self, data: bytes) -> tuple[Delta, ...]:
        """Take the reply of a server that sends it in one piece."""
        pieces = self.take(data)
        if self.started:
            self._finish()
        return pieces

    def _choice(self, choice: dict[str, Any]) -> tuple[Delta, ...]:
        pieces = tuple(self._pieces(choice.get("delta") or choice.get("message") or {}))
        reason = choice.get("finish_reason")
        if reason in _BROKEN:
            self.error = {"error": {"message": f"the server ended the reply ({reason})"}}
        elif reason:
            self._stop = str(reason)
        return pieces

    def _pieces(self, delta: dict[str, Any]) -> Iterator[Delta]:
        """Thinking, then text; both may stand in one chunk."""
        thinking = next((found for name in _THINKING if (found := delta.get(name))), None)
        refusal = delta.get("refusal")
        self._refused = self._refused or bool(refusal)
        for kind, text in (("thinking", thinking), *_parts(delta.get("content")), ("text", refusal)):
            if not text:
                continue
            self._chars += len(text)
            self.overlong = self._chars > MOST_CHARS + CHARS_A_TOKEN * self._max_tokens
            piece = self._piece("thinking" if kind == "thinking" else "text", text)
            if piece is not None:
                yield piece

    def _count(self, usage: dict[str, Any] | None) -> None:
        """Later counts are cumulative; what one leaves out stays as the earlier one said."""
        self._usage.update((name, value) for name, value in (usage or {}).items() if value is not None)

    def _counted(self) -> Usage | None:
        """The prompt's tokens are split into the kinds that are priced apart: none is counted twice."""
        if not self._usage:
            return None
        prompt = _number(self._usage, "prompt_tokens")
        of_prompt, of_output = (_table(self._usage, f"{part}_tokens_details") for part in ("prompt", "completion"))
        read, written = _number(of_prompt, "cached_tokens"), _number(of_prompt, "cache_write_tokens")
        fresh = None if prompt is None else prompt - (read or 0) - (written or 0)
        return Usage(
            # A prompt is never empty: 0 is a server that does not count. Fewer than were cached is no count at all.
            input_tokens=fresh if prompt and fresh is not None and fresh >= 0 else None,
            cache_write_tokens=written,
            cache_read_tokens=read,
            output_tokens=self._output(prompt),
            thinking_tokens=_number(of_output, "reasoning_tokens"),
        )

    def _output(self, prompt: int | None) -> int | None:
        """All that is billed as output. Some servers (xAI, Gemini) leave thinking to the total alone."""
        output, total = _number(self._usage, "completion_tokens"), _number(self._usage, "total_tokens")
        if output is not None and total is not None and prompt is not None:
            output = max(output, total - prompt)
        return None if output == 0 and self._chars else output

    def _stopped(self) -> tuple[Stop, str]:
        if self.overlong:
            return "cut_off", "the server knows no max_tokens; the rest was not read"
        if self._refused:
            return "refused", ""
        usage = self.usage_so_far()
        output = usage.output_tokens if usage is not None else None
        if self._stop is None:
            # A server that gives no reason: a reply of just the allowed length was cut.
            return ("cut_off" if output is not None and output >= self._max_tokens else "end"), ""
        stop = _STOPS.get(self._stop, "end")
        if stop == "cut_off" and output is not None and output < self._max_tokens:
            return "context_full", f"after {output} of {self._max_tokens} tokens"
        return stop, "" if self._stop in _STOPS else self._stop

    def cut(self) -> None:
        """Take what came for the reply."""
        self._finish()


def _parts(content: object) -> Iterator[tuple[str, Any]]:
    """The content as text, or as Mistral's list of parts."""
    if not isinstance(content, list):
        yield "text", content
        return
    for part in content:
        if part.get("type") == "thinking":
            yield from (("thinking", inner.get("text")) for inner in part["thinking"])
        else:
            yield "text", part.get("text")


def _table(usage: dict[str, Any], name: str) -> dict[str, Any]:
    found = usage.get(name)
    return found if isinstance(found, dict) else {}


def _number(usage: dict[str, Any], name: str) -> int | None:
    """A count; None for what is none."""
    found = usage.get(name)
    return found if isinstance(found, int) and not isinstance(found, bool) and 0 <= found <= 10**12 else None
