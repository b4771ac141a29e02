"""What `gemini -p` prints as stream-json or json (seen with gemini-cli 0.61.0).

An empty answer ends with exit code 0 and an `error` beside it. API errors leave standard output empty and stand in
the error output. A reply that was cut at the token limit is not marked as one by the tool.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from resit.core.agents.bounded import HeadTail
from resit.core.agents.outputs.reader import (
    Asking,
    Ended,
    EventReader,
    Place,
    count,
    figure,
    from_words,
    not_ended_well,
    note,
    parsed,
    reply,
    shown,
    summed,
    table,
    without_result,
    words,
)
from resit.core.calling.client import Delta
from resit.core.records import AgentRun, Fault, Reply, Step, Usage

_EMPTY = "empty response"
"""What it says of an answer without text, which is no failure of its server."""
_REFUSED = frozenset({"policy_violation", "path_not_in_workspace"})
"""Kinds of a tool's errors that mean it was not let."""
_TURNS, _NO_LOGIN = 53, 41
"""Exit codes: at the limit of turns, and not signed in."""


class GeminiReader(EventReader):
    """Reads the events of stream-json, or the one object of json."""

    def __init__(self, asking: Asking) -> None:
        """Begin."""
        super().__init__(asking)
        self._whole = HeadTail()
        self._session = ""
        self._model = ""
        self._text = HeadTail()
        self._tools: dict[str, str] = {}
        self._result: dict[str, Any] | None = None
        self._error = ""
        self._denied: list[str] = []

    def feed(self, text: str) -> list[Delta]:
        """Take the next piece; json is one object over many lines, so it is kept as well."""
        if not self._session:
            self._whole.add(text)
        return super().feed(text)

    def take(self, event: Mapping[str, Any]) -> Delta | None:
        """Take one event."""
        match event.get("type"):
            case "init":
                self._session, self._model = words(event.get("session_id")), words(event.get("model"))
            case "message" if event.get("role") == "assistant":
                text = words(event.get("content"))
                self._text.add(text)
                return Delta("text", text)
            case "tool_use":
                self._close_text()
                name = words(event.get("tool_name"))
                self._tools[words(event.get("tool_id"))] = name
                self.transcript.add(Step(kind="tool", text=shown(event.get("parameters")), tool=name))
            case "tool_result":
                name = self._tools.get(words(event.get("tool_id")), "")
                text = words(event.get("output")) or words(table(event.get("error")).get("message"))
                self.transcript.add(Step(kind="result", text=text, tool=name))
                if table(event.get("error")).get("type") in _REFUSED:
                    self._denied.append(name)
            case "error":
                self._error = words(event.get("message"))
                self.transcript.add(note(self._error))
            case "result":
                self._result = dict(event)
        return None

    def finish(self, ended: Ended, place: Place) -> Reply | Fault:
        """What the run came to."""
        self.close()
        early = not_ended_well(self.asking, ended)
        if early is not None:
            return early
        if ended.exit_code == _TURNS:
            text = self._text.text
            self._close_text()
            agent = AgentRun(isolation="none", steps=self.transcript.steps, exit_code=_TURNS)
            return reply(text, ended, stop="cut_off", detail="it reached its number of turns", agent=agent)
        if self._result is not None:
            return self._streamed(self._result, ended)
        whole = parsed(self._whole.text.strip())
        if whole is not None and "response" in whole:
            return self._reply(words(whole.get("response")), whole, _usage_of_models(whole), ended)
        return self._nothing(whole, ended)

    def _streamed(self, result: Mapping[str, Any], ended: Ended) -> Reply | Fault:
        text = self._text.text
        self._close_text()
        said = words(table(result.get("error")).get("message")) or self._error
        if result.get("status") == "error" and _EMPTY not in said:
            return from_words(self.asking, said or "its turn failed", ended)
        stats = table(result.get("stats"))
        whole, read = count(stats.get("input_tokens")), count(stats.get("cached"))
        total = count(stats.get("total_tokens"))
        if total is not None and whole is not None and total < whole:
            total = None
        usage = Usage(
            input_tokens=None if whole is None else max(0, whole - (read or 0)),
            cache_read_tokens=read,
            # `output_tokens` leaves thoughts out; what is not input was written.
            output_tokens=count(stats.get("output_tokens")) if total is None or whole is None else total - whole,
        )
        return self._reply(text, result, usage, ended)

    def _reply(self, text: str, whole: Mapping[str, Any], usage: Usage, ended: Ended) -> Reply:
        stats, error = table(whole.get("stats")), table(whole.get("error"))
        models = table(stats.get("models"))
        took = [figure(table(table(model).get("api")).get("totalLatencyMs")) for model in models.values()]
        known = [milliseconds for milliseconds in took if milliseconds is not None]
        requests = [count(table(table(model).get("api")).get("totalRequests")) for model in models.values()]
        return reply(
            text,
            ended,
            detail=(words(error.get("message")) or self._error) if not text.strip() else "",
            usage=usage,
            model=self._model or next(iter(models), ""),
            request_id=self._session or words(whole.get("session_id")) or None,
            turns=summed(requests),
            agent=AgentRun(
                isolation="none",
                steps=self.transcript.steps,
                denied=tuple(self._denied) or _denied(table(stats.get("tools"))),
                exit_code=ended.exit_code,
                api_seconds=sum(known) / 1000 if known else None,
            ),
        )

    def _nothing(self, whole: Mapping[str, Any] | None, ended: Ended) -> Fault:
        """An error: in the output, or at the end of the error output."""
        if ended.exit_code == _NO_LOGIN:
            said = "gemini is not signed in; set GEMINI_API_KEY"
            return self.asking.asked.fault("key", said, seconds=ended.seconds)
        error = table((whole or _last_object(ended.stderr) or {}).get("error"))
        if not error and not ended.exit_code:
            return without_result(self.asking, ended)
        said = words(error.get("message"))
        # What the server said may be wrapped in the words of the tool, as JSON in JSON.
        inner = table((parsed(said) or {}).get("error"))
        said = words(inner.get("message")) or said
        if "ModelNotFound" in ended.stderr:
            return from_words(self.asking, said or "unknown model", ended, status=404)
        code = count(inner.get("code")) or count(error.get("code"))
        if said:
            return from_words(self.asking, said, ended, status=code if code and code >= 400 else None)
        return without_result(self.asking, ended)

    def _close_text(self) -> None:
        """What was said so far becomes a step."""
        if self._text.taken:
            self.transcript.add(Step(kind="text", text=self._text.text))
            self._text = HeadTail()


def _usage_of_models(whole: Mapping[str, Any]) -> Usage:
    """The tokens of all models together; `prompt` there includes those of the cache."""
    models = table(table(whole.get("stats")).get("models"))
    each = [table(table(model).get("tokens")) for model in models.values()]

    def total(name: str) -> int | None:
        return summed([count(tokens.get(name)) for tokens in each])

    prompt, read = total("prompt"), total("cached")
    wrote, thought = total("candidates"), total("thoughts")
    return Usage(
        input_tokens=None if prompt is None else max(0, prompt - (read or 0)),
        cache_read_tokens=read,
        output_tokens=None if wrote is None else wrote + (thought or 0),
        thinking_tokens=thought,
    )


def _denied(tools: Mapping[str, Any]) -> tuple[str, ...]:
    """Names of the tools that were refused at least once."""
    names = table(tools.get("byName"))
    return tuple(name for name, told in names.items() if count(table(table(told).get("decisions")).get("reject")))


def _last_object(text: str) -> dict[str, Any] | None:
    """The JSON object that a text ends with; None when it ends with none."""
    at = len(text)
    while (at := text.rfind("\n{", 0, at)) >= 0:
        try:
            found = json.loads(text[at:])
        except (ValueError, RecursionError):
            continue
        return found if isinstance(found, dict) else None
    return None
