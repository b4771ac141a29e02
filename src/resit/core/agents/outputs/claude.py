"""What `claude -p` prints, as stream-json or json (seen with Claude Code 2.1.332).

`subtype` says success for most errors, so it is never believed: `is_error`, the terminal reason and the status decide.
The token counts are those of `modelUsage`: `usage` holds only the last stretch, or zeros where a budget ran out.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from resit.core.agents.bounded import HeadTail
from resit.core.agents.outputs.reader import (
    Asking,
    Ended,
    EventReader,
    Place,
    count,
    dollars,
    figure,
    from_words,
    is_limit_message,
    not_ended_well,
    note,
    parsed,
    reply,
    rows,
    seconds_until,
    shown,
    summed,
    table,
    without_result,
    words,
)
from resit.core.calling.client import Delta
from resit.core.records import AgentRun, Fault, QuotaReading, Reply, Step, Stop, Usage

_WINDOWS = {"five_hour": 300, "seven_day": 10_080}
"""Minutes of the windows that a subscription is metered by."""
_SYNTHETIC = "<synthetic>"
"""The model that Claude Code names for messages of its own."""
_STOPS: dict[str, Stop] = {
    "refusal": "refused",
    "max_tokens": "cut_off",
    "model_context_window_exceeded": "context_full",
}


class ClaudeReader(EventReader):
    """Reads the events of stream-json, or the one object of json."""

    def __init__(self, asking: Asking) -> None:
        """Begin."""
        super().__init__(asking)
        self._whole = HeadTail()
        self._result: dict[str, Any] | None = None
        self._text = ""
        self._tools: dict[str, str] = {}
        self._denied: list[str] = []
        self._quota: tuple[QuotaReading, ...] = ()
        self._free_in_s: float | None = None
        self._retries = 0
        self._waited_s = 0.0

    def feed(self, text: str) -> list[Delta]:
        """Take the next piece; json is one object over many lines, so it is kept as well."""
        if self._result is None:
            self._whole.add(text)
        return super().feed(text)

    def take(self, event: Mapping[str, Any]) -> Delta | None:
        """Take one event."""
        match event.get("type"):
            case "assistant":
                return self._said(event)
            case "user":
                self._answered(event)
            case "system":
                self._system(event)
            case "rate_limit_event":
                self._limits(table(event.get("rate_limit_info")))
            case "result":
                # A background agent that reports back makes another one: the last counts.
                self._result = dict(event)
        return None

    def finish(self, ended: Ended, place: Place) -> Reply | Fault:
        """What the run came to."""
        self.close()
        result = self._result or parsed(self._whole.text.strip())
        if result is None or result.get("type") != "result":
            return without_result(self.asking, ended)
        used = table(result.get("modelUsage"))
        early = not_ended_well(self.asking, ended, _usage(used))
        if early is not None:
            return early
        if result.get("is_error") is True or _nobody_answered(result, used):
            return self._failed(result, used, ended)
        return self._reply(result, used, ended, words(result.get("result")), _STOPS.get(_stop(result), "end"))

    def _said(self, event: Mapping[str, Any]) -> Delta | None:
        message = table(event.get("message"))
        if message.get("model") == _SYNTHETIC:
            return None
        own = event.get("parent_tool_use_id") is None
        delta = None
        for block in map(table, rows(message.get("content"))):
            match block.get("type"):
                case "text":
                    text = words(block.get("text"))
                    self.transcript.add(Step(kind="text", text=text))
                    if own:
                        self._text = text
                        delta = Delta("text", text)
                case "thinking":
                    self.transcript.add(Step(kind="thinking", text=words(block.get("thinking"))))
                    delta = Delta("thinking", words(block.get("thinking"))) if own else delta
                case "tool_use":
                    name = words(block.get("name"))
                    self._tools[words(block.get("id"))] = name
                    self.transcript.add(Step(kind="tool", text=shown(block.get("input")), tool=name))
        return delta

    def _answered(self, event: Mapping[str, Any]) -> None:
        for block in map(table, rows(table(event.get("message")).get("content"))):
            if block.get("type") == "tool_result":
                name = self._tools.pop(words(block.get("tool_use_id")), "")
                self.transcript.add(Step(kind="result", text=_content(block.get("content")), tool=name))

    def _system(self, event: Mapping[str, Any]) -> None:
        if event.get("subtype") == "api_retry":
            delay_s = (figure(event.get("retry_delay_ms")) or 0.0) / 1000
            self._retries += 1
            self._waited_s += delay_s
            status = event.get("error_status") or event.get("error") or "no answer"
            self.transcript.add(note(f"the server said {status}; tried again after {delay_s:.1f} s"))
        elif event.get("subtype") == "permission_denied":
            self._denied.append(words(event.get("tool_name")))

    def _limits(self, info: Mapping[str, Any]) -> None:
        windows = table(info.get("unifiedWindows"))
        self._quota = tuple(
            reading for name, minutes in _WINDOWS.items() if (reading := _reading(windows.get(name), minutes))
        )
        if info.get("status") == "rejected":
            self._free_in_s = seconds_until(info.get("resetsAt"))

    def _failed(self, result: Mapping[str, Any], used: Mapping[str, Any], ended: Ended) -> Reply | Fault:
        """An error, however it is dressed: some are an answer's end, the others no answer."""
        reason, subtype = words(result.get("terminal_reason")), words(result.get("subtype"))
        said = words(result.get("result")) or "; ".join(map(words, rows(result.get("errors"))))
        if reason == "budget_exhausted" or subtype == "error_max_budget_usd":
            spent = dollars(result.get("total_cost_usd"))
            detail = said + (f", having spent ${spent:f}" if spent is not None else "")
            return self._reply(result, used, ended, self._text, "cut_off", detail)
        if reason == "max_turns" or subtype == "error_max_turns":
            return self._reply(result, used, ended, self._text, "cut_off", said)
        if result.get("api_error") == "max_output_tokens":
            return self._reply(result, used, ended, self._text, "cut_off", said.removeprefix("API Error: "))
        if _stop(result) == "refusal":
            return self._reply(result, used, ended, self._text, "refused", said.partition("\n")[0])
        usage = _usage(used)
        if reason.startswith("aborted"):
            line = f"{self.asking.command} was interrupted before it answered"
            return self.asking.asked.fault("dropped", line, usage=usage, seconds=ended.seconds)
        if said.startswith("Request timed out"):
            return self.asking.asked.fault("timeout", said, usage=usage, seconds=ended.seconds)
        return from_words(
            self.asking, said, ended,
            status=count(result.get("api_error_status")), kind=words(result.get("api_error_type")) or None,
            wait_s=self._free_in_s, usage=usage,
        )  # fmt: skip

    def _reply(
        self,
        result: Mapping[str, Any],
        used: Mapping[str, Any],
        ended: Ended,
        text: str,
        stop: Stop,
        detail: str = "",
    ) -> Reply:
        denials = [words(table(each).get("tool_name")) for each in rows(result.get("permission_denials"))]
        took_s = figure(result.get("duration_api_ms"))
        return reply(
            text,
            ended,
            stop=stop,
            detail=" ".join(detail.split()),
            usage=_usage(used),
            model=_main_model(used, self.asking.model),
            request_id=words(result.get("session_id")) or None,
            turns=count(result.get("num_turns")),
            cost=None if _invented(used) else dollars(result.get("total_cost_usd")),
            waited_s=self._waited_s,
            agent=AgentRun(
                isolation="none",
                steps=self.transcript.steps,
                denied=tuple(name for name in denials or self._denied if name),
                exit_code=ended.exit_code,
                retries=self._retries,
                # Its own figure counts the waits between retries as the model's time.
                api_seconds=None if took_s is None else max(0.0, round(took_s / 1000 - self._waited_s, 3)),
                quota=self._quota,
            ),
        )


def _usage(used: Mapping[str, Any]) -> Usage | None:
    """The tokens of all models together; None where nothing is said."""
    each = [table(value) for value in used.values()]
    if not each:
        return None

    def total(name: str) -> int | None:
        return summed([count(one.get(name)) for one in each])

    return Usage(
        input_tokens=total("inputTokens"),
        cache_write_tokens=total("cacheCreationInputTokens"),
        cache_read_tokens=total("cacheReadInputTokens"),
        output_tokens=total("outputTokens"),
        thinking_tokens=total("thinkingTokens"),
    )


def _nobody_answered(result: Mapping[str, Any], used: Mapping[str, Any]) -> bool:
    """True for a success that no model had a part in: a limit's message comes dressed like that."""
    if count(result.get("api_error_status")) is not None:
        return True
    return not used and is_limit_message(words(result.get("result")))


def _invented(used: Mapping[str, Any]) -> bool:
    """True when a price is a guess: Claude Code makes one up for a model it does not know."""
    return not used or any(table(value).get("costBasis") == "unknown" for value in used.values())


def _main_model(used: Mapping[str, Any], wanted: str) -> str:
    """The model that answered: the one that was asked for, else the one that wrote most."""
    name = wanted.rpartition("/")[2]
    if name in used or not used:
        return name if used else ""
    return str(max(used, key=lambda model: count(table(used[model]).get("outputTokens")) or 0))


def _stop(result: Mapping[str, Any]) -> str:
    return words(result.get("stop_reason"))


def _reading(window: object, minutes: int) -> QuotaReading | None:
    used, until = figure(table(window).get("utilization")), figure(table(window).get("resetsAt"))
    if used is None:
        return None
    return QuotaReading(
        window_minutes=minutes,
        used_percent=round(100 * used, 3),
        resets_at=None if until is None or until > 10**11 else datetime.fromtimestamp(until, UTC),
    )


def _content(value: object) -> str:
    """The text of a tool's result: as it stands, or of its blocks."""
    if isinstance(value, str):
        return value
    texts = [words(table(block).get("text")) or f"({words(table(block).get('type'))})" for block in rows(value)]
    return "\n".join(texts)
