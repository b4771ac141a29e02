"""What `codex exec --json` prints, and what only its session log says (seen with codex-cli 0.171.0).

A turn that failed may still hold a message, so the failure is looked for first. An empty answer ends with exit code 0
and no message at all. Model, retries' waits and the quota are not in the output; the quota is in the log.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from resit.core.agents.bounded import HeadTail, Transcript
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
    rows,
    shown,
    table,
    without_result,
    words,
)
from resit.core.calling.client import Delta
from resit.core.records import AgentRun, Fault, QuotaReading, Reply, Step, Stop, Usage

_LOG_BYTES = 4_000_000
"""How much of the end of a session log is read."""
_THREAD = re.compile(r"[0-9a-fA-F-]{8,64}")
_CUT: tuple[tuple[str, Stop], ...] = (
    ("max_output_tokens", "cut_off"),
    ("context window", "context_full"),
    ("content_filter", "blocked"),
)
"""Words of failures that are an answer's end."""


class CodexReader(EventReader):
    """Reads the events of `codex exec --json`."""

    def __init__(self, asking: Asking) -> None:
        """Begin."""
        super().__init__(asking)
        self._thread = ""
        self._text: str | None = None
        self._thinking = HeadTail()
        self._usage: Usage | None = None
        self._failed: str | None = None
        self._begun = self._completed = False
        self._denied: list[str] = []
        self._retries = 0

    def take(self, event: Mapping[str, Any]) -> Delta | None:
        """Take one event."""
        match event.get("type"):
            case "thread.started":
                self._thread = words(event.get("thread_id"))
            case "turn.started":
                self._begun = True
            case "item.completed":
                return self._item(table(event.get("item")))
            case "error":
                self._error(words(event.get("message")))
            case "turn.completed":
                self._completed = True
                self._usage = _usage(table(event.get("usage")))
            case "turn.failed":
                self._failed = words(table(event.get("error")).get("message")) or "the turn failed"
        return None

    def finish(self, ended: Ended, place: Place) -> Reply | Fault:
        """What the run came to."""
        self.close()
        early = not_ended_well(self.asking, ended, self._usage)
        if early is not None:
            return early
        if self._failed is not None:
            stop = next((stop for sign, stop in _CUT if sign in self._failed), None)
            if stop is None:
                return from_words(self.asking, self._failed, ended, usage=self._usage)
            return self._reply(ended, place, stop, self._failed)
        if self._begun and not self._completed:
            said = f"{self.asking.command} ended in the middle of its turn (exit code {ended.exit_code})"
            return self.asking.asked.fault("dropped", said, seconds=ended.seconds)
        if not self._completed:
            return without_result(self.asking, ended)
        return self._reply(ended, place, "end", "")

    def _item(self, item: Mapping[str, Any]) -> Delta | None:
        kind, text = words(item.get("type")), words(item.get("text"))
        match kind:
            case "agent_message":
                self._text = text
                self.transcript.add(Step(kind="text", text=text))
                return Delta("text", text)
            case "reasoning":
                self._thinking.add(f"\n\n{text}")
                self.transcript.add(Step(kind="thinking", text=text))
                return Delta("thinking", text)
            case "error":
                self.transcript.add(note(words(item.get("message"))))
            case "command_execution":
                self._command(item)
            case _:
                rest = {name: value for name, value in item.items() if name not in ("id", "type")}
                self.transcript.add(Step(kind="tool", text=shown(rest), tool=kind))
        if item.get("status") == "declined":
            self._denied.append("shell" if kind == "command_execution" else kind)
        return None

    def _command(self, item: Mapping[str, Any]) -> None:
        self.transcript.add(Step(kind="tool", text=words(item.get("command")), tool="shell"))
        code = count(item.get("exit_code"))
        end = f"\n(exit code {code})" if code else ""
        self.transcript.add(Step(kind="result", text=words(item.get("aggregated_output")) + end, tool="shell"))

    def _error(self, message: str) -> None:
        if message.startswith("Reconnecting"):
            self._retries += 1
        self.transcript.add(note(message))

    def _steps(self, log: list[dict[str, Any]]) -> tuple[Step, ...]:
        """The transcript, of the log where that tells of more tools: a quick command is not always printed."""
        printed, logged = self.transcript.steps, _log_steps(log)
        more = sum(step.kind == "tool" for step in logged) > sum(step.kind == "tool" for step in printed)
        return logged if more else printed

    def _reply(self, ended: Ended, place: Place, stop: Stop, detail: str) -> Reply:
        log = _log_end(place.home, self._thread)
        return reply(
            self._text or "",
            ended,
            stop=stop,
            detail=detail,
            thinking=self._thinking.text.strip(),
            usage=self._usage,
            model=_model(log),
            request_id=self._thread or None,
            turns=sum(row.get("type") == "token_usage_record" for row in log) or None,
            agent=AgentRun(
                isolation="none",
                steps=self._steps(log),
                denied=tuple(self._denied),
                exit_code=ended.exit_code,
                retries=self._retries,
                quota=_quota(log),
            ),
        )


def _usage(used: Mapping[str, Any]) -> Usage:
    """The four kinds of token; `input_tokens` there includes those of the cache."""
    whole = count(used.get("input_tokens"))
    read, write = count(used.get("cached_input_tokens")), count(used.get("cache_write_input_tokens"))
    return Usage(
        input_tokens=None if whole is None else max(0, whole - (read or 0) - (write or 0)),
        cache_write_tokens=write,
        cache_read_tokens=read,
        output_tokens=count(used.get("output_tokens")),
        thinking_tokens=count(used.get("reasoning_output_tokens")),
    )


def _log_end(home: Path, thread: str) -> list[dict[str, Any]]:
    """The last rows of the session's log; none where there is no log, or it is not a plain file."""
    if not _THREAD.fullmatch(thread):
        return []
    for path in sorted((home / ".codex" / "sessions").glob(f"*/*/*/rollout-*{thread}.jsonl")):
        try:
            if path.is_symlink() or not path.is_file():
                continue
            with open(path, "rb") as file:
                file.seek(max(0, path.stat().st_size - _LOG_BYTES))
                text = file.read(_LOG_BYTES).decode(errors="replace")
        except OSError:
            continue
        return [row for line in text.splitlines() if (row := parsed(line)) is not None]
    return []


def _log_steps(log: list[dict[str, Any]]) -> tuple[Step, ...]:
    """What the model said and did, as the log has it."""
    found, tools = Transcript(), dict[str, str]()
    for row in log:
        item = table(row.get("payload")) if row.get("type") == "response_item" else {}
        match item.get("type"):
            case "message" if item.get("role") == "assistant":
                found.add(Step(kind="text", text=_texts(item.get("content"))))
            case "reasoning":
                found.add(Step(kind="thinking", text=_texts(item.get("summary"))))
            case "function_call" | "custom_tool_call" as kind:
                name, given = (
                    words(item.get("name")),
                    words(item.get("arguments" if kind == "function_call" else "input")),
                )
                tools[words(item.get("call_id"))] = name
                found.add(Step(kind="tool", text=shown(parsed(given) or given), tool=name))
            case "function_call_output" | "custom_tool_call_output":
                name = tools.get(words(item.get("call_id")), "")
                found.add(Step(kind="result", text=words(item.get("output")), tool=name))
    return found.steps


def _texts(blocks: object) -> str:
    return "\n".join(words(table(block).get("text")) for block in rows(blocks))


def _model(log: list[dict[str, Any]]) -> str:
    contexts = [table(row.get("payload")) for row in log if row.get("type") == "turn_context"]
    return words(contexts[-1].get("model")) if contexts else ""


def _quota(log: list[dict[str, Any]]) -> tuple[QuotaReading, ...]:
    """The last reading of both windows; only there with a ChatGPT login."""
    found: list[QuotaReading] = []
    for row in log:
        payload = table(row.get("payload"))
        limits = table(payload.get("rate_limits")) if payload.get("type") == "token_count" else {}
        readings = [_reading(limits.get(name)) for name in ("primary", "secondary")]
        found = [reading for reading in readings if reading is not None] or found
    return tuple(found)


def _reading(window: object) -> QuotaReading | None:
    limits = table(window)
    used, minutes, until = (
        figure(limits.get("used_percent")),
        count(limits.get("window_minutes")),
        limits.get("resets_at"),
    )
    if used is None or not minutes:
        return None
    at = figure(until)
    return QuotaReading(
        window_minutes=minutes,
        used_percent=used,
        resets_at=None if at is None or at > 10**11 else datetime.fromtimestamp(at, UTC),
    )
