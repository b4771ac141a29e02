"""Codex' sessions: `{timestamp, type, payload}` a line, with the model and its effort in `turn_context`.

Two things a reader must not fall for: `token_count` is sent again, unchanged, whenever a quota is refreshed; and a
session that was forked, as those of sub-agents are, begins with a copy of its parent's lines under new times.
"""

from __future__ import annotations

import re
from typing import Any

from resit.core.logs.lines import parse
from resit.core.logs.reader import Reader
from resit.core.logs.rows import Call, Open, count_of, maybe, text_of, time_of
from resit.core.rule import digest

TYPES = frozenset({
    "session_meta", "turn_context", "response_item", "event_msg", "token_usage_record", "world_state",
    "compacted", "ghost_snapshot", "session_state",
})  # fmt: skip
"""Types of lines that are known."""

_HEAD = re.compile(
    rb'\{"timestamp": ?"[^"]{1,40}", ?(?:"ordinal": ?\d+, ?)?"type": ?"(\w{1,60})", ?"payload": ?\{'
    rb'(?:"type": ?"(\w{1,60})")?'
)
_READ_ITEMS = frozenset({"message", "function_call", "custom_tool_call", "local_shell_call", "web_search_call"})
_READ_EVENTS = frozenset({"user_message", "agent_message", "token_count", "item_completed"})
_NOT_TYPED = ("<", "# AGENTS.md", "## My request for Codex:\n<")
_MENTION = "## My request for Codex:"
"""Editors put what is open in them before the person's words, under headings of their own."""


class CodexReader(Reader):
    """Reads one session."""

    tool = "codex"

    def __init__(self, path: str) -> None:
        """Read the file at `path`."""
        super().__init__(path)
        self._session: str | None = None
        self._cwd: str | None = None
        self._model: str | None = None
        self._effort: str | None = None
        self._turn: str | None = None
        self._provider = "openai"
        self._forked = False
        self._agent: list[str] | None = None
        self._total: list[int | None] | None = None
        self._records = False
        """True: calls have records of their own, so that `token_count` tells nothing new."""
        self._in_turn = 0

    def line(self, data: bytes, offset: int, end: int) -> None:
        """Take one line."""
        head = _HEAD.match(data)
        if head is not None and not _wanted(head[1].decode(), (head[2] or b"").decode()):
            if head[1].decode() not in TYPES:
                self.unknown(head[1].decode())
            return
        row = parse(data)
        payload = row.get("payload") if isinstance(row, dict) else None
        if not isinstance(payload, dict):
            self.unknown(text_of(row.get("type"), 60) if isinstance(row, dict) else "no object")
            return
        match text_of(row.get("type"), 60):
            case "session_meta":
                self._meta(payload)
            case "turn_context":
                self._context(payload)
            case "response_item":
                self._item(payload, row, offset, end)
            case "event_msg":
                self._event(payload, row, offset, end)
            case "token_usage_record":
                self._record(payload, offset, end)
            case kind if kind not in TYPES:
                self.unknown(kind or "no type")

    def known(self) -> dict[str, Any]:
        """The settings in force."""
        names = ("_session", "_cwd", "_model", "_effort", "_turn", "_provider", "_forked", "_agent", "_total")
        return {name: getattr(self, name) for name in (*names, "_records", "_in_turn")}

    def resume(self, mark: dict[str, Any], rows: Any) -> None:
        """Go on at `mark`."""
        super().resume(mark, rows)
        for name, value in mark.get("known", {}).items():
            setattr(self, name, value)

    # ---- what is in force ----------------------------------------------------------------------------------------

    def _meta(self, meta: dict[str, Any]) -> None:
        if self._session is not None:
            return  # A fork tells of its parent after itself.
        self._session = text_of(meta.get("id")) or text_of(meta.get("session_id"))
        self._cwd = maybe(meta.get("cwd"))
        self._provider = text_of(meta.get("model_provider")) or "openai"
        source = meta.get("source")
        spawned = source.get("subagent") if isinstance(source, dict) else None
        detail = spawned.get("thread_spawn") if isinstance(spawned, dict) else None
        detail = detail if isinstance(detail, dict) else {}
        self._forked = bool(meta.get("forked_from_id") or detail)
        if spawned is not None or meta.get("thread_source") == "subagent":
            role = text_of(detail.get("agent_role")) or text_of(meta.get("agent_role"))
            self._agent = [role or text_of(spawned), text_of(detail.get("agent_nickname"))]

    def _context(self, context: dict[str, Any]) -> None:
        turn = maybe(context.get("turn_id"))
        if turn != self._turn:
            self._turn, self._in_turn = turn, 0
        self._cwd = maybe(context.get("cwd")) or self._cwd
        self._model = maybe(context.get("model"))
        self._effort = maybe(context.get("effort"))
        request = self.current
        if request is not None and not request.calls:
            request.model, request.effort, request.effort_ran = self._model, self._effort, self._effort

    # ---- what was asked ------------------------------------------------------------------------------------------

    def _asked(self, text: str, row: dict[str, Any], offset: int, end: int) -> None:
        at = time_of(row.get("timestamp"))
        request = self.current
        if request is not None and not request.calls and request.text == text:
            # One message stands in the log in two forms.
            request.end = end
            return
        if at is None:
            self.unknown("message without a time")
            return
        name = f"{self._turn}:{self._in_turn + 1}" if self._turn else f"{self._session}:{offset}"
        made = Open(
            id=name,
            session=self._session or "",
            at=at,
            text=text,
            offset=offset,
            end=end,
            effort=self._effort,
            effort_ran=self._effort,
            model=self._model,
            provider=self._provider,
            cwd=self._cwd,
            agent=None if self._agent is None else (self._agent[0], self._agent[1], False),
        )
        self.begin(made)
        self._in_turn += 1

    # ---- what came back ------------------------------------------------------------------------------------------

    def _item(self, item: dict[str, Any], row: dict[str, Any], offset: int, end: int) -> None:
        kind, request = item.get("type"), self.current
        if text := asked_text(row):
            self._asked(text, row, offset, end)
        elif request is None:
            return
        elif kind == "message" and item.get("role") == "assistant":
            request.end = end
            if message_text(item).strip():
                request.note_reply(offset, end)
        elif kind in _READ_ITEMS:
            request.end = end
            name = text_of(item.get("name"), 80) or text_of(kind).removesuffix("_call")
            request.tools[text_of(item.get("call_id")) or f"{offset}"] = name

    def _event(self, event: dict[str, Any], row: dict[str, Any], offset: int, end: int) -> None:
        kind = event.get("type")
        if text := asked_text(row):
            self._asked(text, row, offset, end)
        elif kind == "agent_message":
            if self.current is not None and self.current.reply < 0:
                self.current.note_reply(offset, end)
        elif kind == "token_count" and not self._records:
            self._count(event, offset, end)

    def _record(self, record: dict[str, Any], offset: int, end: int) -> None:
        self._records = True
        self._call(record.get("usage"), text_of(record.get("response_id")) or f"{offset}", end)

    def _count(self, event: dict[str, Any], offset: int, end: int) -> None:
        info = event.get("info")
        if not isinstance(info, dict):
            return
        total = info.get("total_token_usage")
        counts = [count_of(value) for value in total.values()] if isinstance(total, dict) else None
        if counts is not None and counts == self._total:
            return
        self._total = counts
        self._call(info.get("last_token_usage"), f"{offset}", end)

    def _call(self, usage: object, key: str, end: int) -> None:
        request = self.current
        if request is None or not isinstance(usage, dict):
            return
        call = call_of(self._model, usage)
        request.end = max(request.end, end)
        request.add_call(key, call)

    def finish(self, request: Open) -> None:
        """Say how a copy of it in a forked session is known: nothing but its words and its counts stays the same."""
        spent = [[call.input, call.read, call.output] for call in request.calls.values()]
        request.same, request.copy = digest([request.text, spent]), self._forked


def call_of(model: str | None, usage: dict[str, Any]) -> Call:
    """One call with the tokens of a Responses API usage: its input counts what was cached, so that is taken out."""
    given = count_of(usage.get("input_tokens"))
    details = usage.get("input_tokens_details")
    details = details if isinstance(details, dict) else {}
    read = count_of(usage.get("cached_input_tokens", details.get("cached_tokens")))
    written = count_of(usage.get("cache_write_input_tokens", details.get("cache_write_tokens")))
    return Call(
        model=model,
        input=None if given is None else max(0, given - (read or 0) - (written or 0)),
        write_5m=written,
        read=read,
        output=count_of(usage.get("output_tokens")),
        thinking=count_of(usage.get("reasoning_output_tokens")),
    )


def asked_text(row: dict[str, Any]) -> str:
    """What a person typed, in any of the forms a line says it; empty for every other line."""
    item = row.get("payload")
    if not isinstance(item, dict):
        return ""
    kind, text = item.get("type"), ""
    if kind == "user_message":
        text = item["message"] if isinstance(item.get("message"), str) else ""
    elif kind == "item_completed":
        inner = item.get("item")
        text = message_text(inner) if isinstance(inner, dict) and inner.get("type") == "UserMessage" else ""
    elif kind == "message" and item.get("role") == "user":
        text = message_text(item)
        text = text if _is_typed(item, text) else ""
    return (text.partition(_MENTION)[2].strip() or text) if text.strip() else ""


def message_text(item: dict[str, Any]) -> str:
    """The words of a message in either of its forms."""
    content = item.get("content")
    if isinstance(content, str):
        return content
    blocks = content if isinstance(content, list) else []
    texts = (block.get("text") for block in blocks if isinstance(block, dict))
    return "\n".join(text for text in texts if isinstance(text, str))


def _is_typed(item: dict[str, Any], text: str) -> bool:
    """True for a message that a person wrote; newer logs say so, in older ones the program's begin with a tag."""
    about = item.get("internal_chat_message_metadata_passthrough")
    kinds = about.get("content_item_kinds") if isinstance(about, dict) else None
    if isinstance(kinds, list) and kinds:
        return "user.text" in kinds
    return not text.lstrip().startswith(_NOT_TYPED)


def _wanted(kind: str, subkind: str) -> bool:
    match kind:
        case "response_item":
            return not subkind or subkind in _READ_ITEMS
        case "event_msg":
            return not subkind or subkind in _READ_EVENTS
        case "session_meta" | "turn_context" | "token_usage_record":
            return True
        case _:
            return False
