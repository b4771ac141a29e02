"""Plain JSON lines: a request a line, in the shapes that people and libraries write.

A line holds the prompt as `prompt`, `question`, `input` or `messages`, the reply as `reply`, `response`, `completion`,
`output` or `answer` or as the last of `messages`, and what it knows of `model`, `effort`, `usage` and a time
(`timestamp`, `when`, `time`, `created_at`, `created`). Counts are those of the
APIs: with `prompt_tokens` or `input_tokens_details` cached input is a part of the input, else it stands beside it.
"""

from __future__ import annotations

import os
from pathlib import PurePath
from typing import Any

from resit.core.logs.claude import call_of as messages_call
from resit.core.logs.codex import call_of as responses_call
from resit.core.logs.reader import Reader
from resit.core.logs.rows import Call, Open, count_of, maybe, text_of, time_of

PROMPTS = ("prompt", "question", "input", "instruction", "query")
REPLIES = ("reply", "response", "completion", "output", "answer")
TIMES = ("timestamp", "when", "time", "created_at", "created", "date", "ts")
EFFORTS = ("effort", "reasoning_effort")

_PROVIDERS = (("claude", "anthropic"), ("gpt", "openai"), ("o3", "openai"), ("o4", "openai"), ("gemini", "google"))


class PlainReader(Reader):
    """Reads one file of such lines."""

    tool = "jsonl"

    def __init__(self, path: str) -> None:
        """Read the file at `path`; its own time stands in where a line has none."""
        super().__init__(path)
        try:
            self._time = os.stat(path).st_mtime
        except OSError:
            self._time = 0.0

    def value(self, row: Any, offset: int, end: int) -> None:
        """Take one value."""
        prompt = prompt_of(row)
        if prompt is None:
            self.unknown("no prompt")
            return
        at = next((time for name in TIMES if (time := time_of(row.get(name))) is not None), self._time)
        model = maybe(row.get("model")) or _within(row, "response", "model") or _within(row, "request", "model")
        request = Open(
            id=text_of(row.get("id")) or f"{offset}",
            session=text_of(row.get("session"))
            or text_of(row.get("session_id"))
            or text_of("/".join(PurePath(self.path).parts[-2:])),
            at=at,
            text=prompt,
            offset=offset,
            end=end,
            model=model,
            provider=provider_of(model),
            cwd=maybe(row.get("cwd")),
            project=text_of(row.get("project")) or text_of(PurePath(self.path).parent.name),
        )
        request.effort = next((said for name in EFFORTS if (said := maybe(row.get(name)))), None)
        request.effort_ran = request.effort
        self.begin(request)
        usage = row.get("usage") or _within_any(row, "response", "usage")
        if reply_of(row) or usage:
            request.add_call("", usage_call(model, usage))
        if reply_of(row):
            request.note_reply(offset, end)


def prompt_of(row: Any) -> str | None:
    """What was asked; None for a line that asks nothing."""
    if not isinstance(row, dict):
        return None
    for name in PROMPTS:
        if isinstance(row.get(name), str) and row[name].strip():
            text: str = row[name]
            return text
    asked = [text for role, text in _messages(row) if role == "user"]
    return asked[-1] if asked and asked[-1].strip() else None


def reply_of(row: dict[str, Any]) -> str:
    """What came back; empty when nothing did."""
    for name in REPLIES:
        value = row.get(name)
        if isinstance(value, str):
            return value
        if isinstance(value, dict):
            return _text(value.get("content")) or _text(value.get("output_text"))
    messages = _messages(row)
    return messages[-1][1] if messages and messages[-1][0] == "assistant" else ""


def usage_call(model: str | None, usage: object) -> Call:
    """One call, with its usage in the words of either API."""
    if not isinstance(usage, dict):
        return Call(model)
    if "input_tokens_details" in usage:
        return responses_call(model, usage)
    if "prompt_tokens" not in usage:
        return messages_call(model, usage)
    details = usage.get("prompt_tokens_details")
    details = details if isinstance(details, dict) else {}
    read, written = count_of(details.get("cached_tokens")), count_of(details.get("cache_write_tokens"))
    given, thought = count_of(usage.get("prompt_tokens")), usage.get("completion_tokens_details")
    return Call(
        model=model,
        input=None if given is None else max(0, given - (read or 0) - (written or 0)),
        write_5m=written,
        read=read,
        output=count_of(usage.get("completion_tokens")),
        thinking=count_of(thought.get("reasoning_tokens")) if isinstance(thought, dict) else None,
    )


def provider_of(model: str | None) -> str:
    """Whose list holds the model's price; empty when its name does not say."""
    return next((provider for start, provider in _PROVIDERS if (model or "").startswith(start)), "")


def _messages(row: dict[str, Any]) -> list[tuple[str, str]]:
    held = row.get("messages") or _within_any(row, "request", "messages")
    found = [each for each in held if isinstance(each, dict)] if isinstance(held, list) else []
    return [(text_of(each.get("role"), 20), _text(each.get("content"))) for each in found]


def _text(content: object) -> str:
    if isinstance(content, str):
        return content
    blocks = content if isinstance(content, list) else []
    texts = (block.get("text") if isinstance(block, dict) else block for block in blocks)
    return "\n".join(text for text in texts if isinstance(text, str))


def _within_any(row: dict[str, Any], name: str, key: str) -> Any:
    inner = row.get(name)
    return inner.get(key) if isinstance(inner, dict) else None


def _within(row: dict[str, Any], name: str, key: str) -> str | None:
    return maybe(_within_any(row, name, key))
