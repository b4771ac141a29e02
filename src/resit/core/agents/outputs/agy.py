"""What `agy --output-format json` prints, as its release notes and users describe it: not tried by us.

A timeout of its own ends with exit code 0 and a status of success; the only sign is a line in the error output.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from resit.core.agents.bounded import HeadTail
from resit.core.agents.outputs.reader import (
    Asking,
    Ended,
    Place,
    count,
    from_words,
    is_limit_message,
    not_ended_well,
    reply,
    table,
    without_result,
    words,
)
from resit.core.calling.client import Delta
from resit.core.records import AgentRun, Fault, Reply, Usage

_TIMED_OUT = "print timeout after"
_GOOD = frozenset({"", "SUCCESS", "COMPLETED"})


class AgyReader:
    """Reads the one object that agy prints, whatever banner comes before it."""

    def __init__(self, asking: Asking) -> None:
        """Begin."""
        self.asking = asking
        self._whole = HeadTail()

    def feed(self, text: str) -> list[Delta]:
        """Take the next piece; it says nothing before its end."""
        self._whole.add(text)
        return []

    def finish(self, ended: Ended, place: Place) -> Reply | Fault:
        """What the run came to."""
        early = not_ended_well(self.asking, ended)
        if early is not None:
            return early
        if _TIMED_OUT in ended.stderr:
            said = "agy stopped at its own time limit"
            return self.asking.asked.fault("timeout", said, seconds=ended.seconds)
        found = _answer(self._whole.text)
        if found is None:
            return without_result(self.asking, ended)
        text, status = words(found.get("response")), words(found.get("status")).upper()
        if status not in _GOOD or is_limit_message(text):
            return from_words(self.asking, text or words(found.get("error")) or f"status {status}", ended)
        return reply(
            text,
            ended,
            usage=_usage(table(found.get("usage"))),
            request_id=words(found.get("conversation_id")) or None,
            turns=count(found.get("num_turns")),
            agent=AgentRun(isolation="none", exit_code=ended.exit_code),
        )


def _answer(text: str) -> dict[str, Any] | None:
    """The first JSON object with a `response`; None when there is none."""
    decoder = json.JSONDecoder()
    at = text.find("{")
    while at >= 0:
        try:
            found, end = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            at = text.find("\n{", at + 1) + 1 or -1
            continue
        if isinstance(found, dict) and "response" in found:
            return found
        at = text.find("{", end)
    return None


def _usage(used: Mapping[str, Any]) -> Usage:
    return Usage(
        input_tokens=count(used.get("input_tokens")),
        cache_read_tokens=count(used.get("cache_read_tokens")),
        output_tokens=count(used.get("output_tokens")),
        thinking_tokens=count(used.get("thinking_tokens")),
    )
