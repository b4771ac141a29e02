"""What the mock server can answer: replies, failures, broken streams, and the pages of its models."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal


@dataclass(frozen=True, slots=True)
class Answer:
    """A 200 with these contents."""

    text: str = "OK"
    thinking: str = ""
    stop_reason: str = "end_turn"
    stop_details: dict[str, Any] | None = None
    usage: Mapping[str, Any] = field(default_factory=dict)
    """Laid over the usage that the server makes up."""
    piece_s: float = 0.0
    """Pause between two pieces of the stream."""
    tool: tuple[str, Mapping[str, Any]] | None = None
    """A tool it calls, and with what, after its text."""


@dataclass(frozen=True, slots=True)
class Failure:
    """An error instead of an answer."""

    status: int
    type: str = "api_error"
    message: str = "mock failure"
    headers: Mapping[str, str] = field(default_factory=dict)
    code: str | None = None
    body: bytes | None = None
    """Sent as it is, instead of the JSON made of the others."""


Broken = Literal[
    "reset",
    "cut",
    "stall",
    "hang",
    "garbage",
    "nothing",
    "sse_error",
    "empty",
    "cut_off",
    "half_json",
    "late_cut",
    "late_noise",
    "no_stop",
]
"""Cut before or amid an answer, silent amid it or before it, a web page, a 200 without a body, an error inside the
stream, no content, stopped at max_tokens, an event that is not JSON; and after a whole answer: a cut, an event that
is not JSON, no `message_stop`."""
Plan = Answer | Failure | Broken

SHARES: dict[str, Plan] = {
    "p429": Failure(429, "rate_limit_error", "mock: rate limit", {"retry-after": "0"}),
    "p529": Failure(529, "overloaded_error", "Overloaded"),
    "p500": Failure(500, "api_error", "mock: internal server error"),
    "p400": Failure(400, "invalid_request_error", "mock: bad request"),
    "reset": "reset",
    "cut": "cut",
    "empty": "empty",
    "garbage": "garbage",
}
"""Faults that can be given as shares of all calls."""


def right_answer(number: int) -> str:
    """The answer to a prompt with `[q<number>]` in it."""
    return f"A{(number * 7919) % 10007}"


def whole_message(model: str, answer: Answer) -> dict[str, Any]:
    """An answer that is not streamed."""
    usage = {
        "input_tokens": 20,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": 0,
        "output_tokens": max(1, (len(answer.text) + len(answer.thinking)) // 3),
        **answer.usage,
    }
    content = [
        {"type": kind, kind: text} for kind, text in (("thinking", answer.thinking), ("text", answer.text)) if text
    ]
    return {
        "id": "msg_mock", "type": "message", "role": "assistant", "model": model, "content": content,
        "stop_reason": answer.stop_reason, "stop_sequence": None, "stop_details": answer.stop_details, "usage": usage,
    }  # fmt: skip


def stream_events(model: str, answer: Answer) -> list[bytes]:
    """The events of an answer: message_start, then blocks, then message_delta and message_stop."""
    whole = whole_message(model, answer)
    usage = whole["usage"]
    message = {**whole, "content": [], "stop_reason": None, "usage": {**usage, "output_tokens": 1}}
    events = [sse("message_start", {"type": "message_start", "message": message})]
    for kind, text in (("thinking", answer.thinking), ("text", answer.text)):
        if text:
            events += _block(len(events), kind, text)
    delta = {"stop_reason": answer.stop_reason, "stop_sequence": None, "stop_details": answer.stop_details}
    if answer.tool is not None:
        events += _call(len(events), *answer.tool)
        delta["stop_reason"] = "tool_use"
    events.append(sse("message_delta", {"type": "message_delta", "delta": delta, "usage": usage}))
    events.append(sse("message_stop", {"type": "message_stop"}))
    return events


def _block(index: int, kind: str, text: str) -> list[bytes]:
    deltas = [
        sse(
            "content_block_delta",
            {
                "type": "content_block_delta",
                "index": index,
                "delta": {"type": f"{kind}_delta", kind: text[at : at + 8]},
            },
        )
        for at in range(0, len(text), 8)
    ]
    start = {"type": "content_block_start", "index": index, "content_block": {"type": kind, kind: ""}}
    stop = {"type": "content_block_stop", "index": index}
    return [sse("content_block_start", start), *deltas, sse("content_block_stop", stop)]


def _call(index: int, name: str, given: Mapping[str, Any]) -> list[bytes]:
    block = {"type": "tool_use", "id": f"toolu_mock{index}", "name": name, "input": {}}
    delta = {"type": "input_json_delta", "partial_json": json.dumps(given)}
    return [
        sse("content_block_start", {"type": "content_block_start", "index": index, "content_block": block}),
        sse("content_block_delta", {"type": "content_block_delta", "index": index, "delta": delta}),
        sse("content_block_stop", {"type": "content_block_stop", "index": index}),
    ]


def sse(name: str, data: object) -> bytes:
    return f"event: {name}\ndata: {json.dumps(data)}\n\n".encode()


def model_page(
    model: str,
    *,
    efforts: tuple[str, ...] = ("low", "medium", "high", "xhigh", "max"),
    thinking: tuple[str, ...] = ("adaptive", "disabled"),
    max_tokens: int = 128_000,
    lifecycle: str = "active",
) -> dict[str, Any]:
    """What `/v1/models/<model>` says; the shape is the SDK's `ModelInfo`, the values are ours."""
    no = {"supported": False}
    levels = {level: {"supported": level in efforts} for level in ("low", "medium", "high", "xhigh", "max")}
    types = {t: {"supported": t in thinking} for t in ("adaptive", "between_tools", "disabled", "enabled")}
    others = ("batch", "citations", "code_execution", "image_input", "pdf_input", "structured_outputs")
    return {
        "id": model, "type": "model", "display_name": model.title(), "created_at": "2026-10-07T00:00:00Z",
        "lifecycle": lifecycle, "deprecated_at": None, "retires_at": None, "line": None,
        "max_input_tokens": 1_000_000, "max_tokens": max_tokens,
        "capabilities": {
            **dict.fromkeys(others, no),
            "context_management": no, "server_tools": no,
            "effort": {"supported": bool(efforts), **levels},
            "thinking": {"supported": True, "types": types},
        },
    }  # fmt: skip
