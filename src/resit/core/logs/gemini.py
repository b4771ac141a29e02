"""Gemini CLI's chats: a message a line, told again whole whenever it grew; older ones are one JSON object."""

from __future__ import annotations

from pathlib import PurePath
from typing import Any

from resit.core.logs.reader import Reader
from resit.core.logs.rows import Call, Open, count_of, maybe, text_of, time_of

_QUIET = frozenset({"info", "error", "warning"})
_NOT_TYPED = ("<session_context>", "This is the Gemini CLI.")


class GeminiReader(Reader):
    """Reads one chat."""

    tool = "gemini"

    def __init__(self, path: str) -> None:
        """Read the file at `path`."""
        super().__init__(path)
        self._session = text_of(PurePath(path).stem)
        # `~/.gemini/tmp/<project>/chats/session-….jsonl`: the folder is all that is said of where it was.
        parts = PurePath(path).parts
        self._project = text_of(parts[-3]) if len(parts) > 2 and parts[-2] == "chats" else ""

    def value(self, row: Any, offset: int, end: int) -> None:
        """Take one value: a message, a change of the chat, or a whole chat of the older form."""
        if not isinstance(row, dict):
            self.unknown("no object")
            return
        self._session = text_of(row.get("sessionId")) or self._session
        for message in messages_of(row):
            self._message(message, offset, end)

    def known(self) -> dict[str, Any]:
        """The session."""
        return {"session": self._session}

    def resume(self, mark: dict[str, Any], rows: Any) -> None:
        """Go on at `mark`."""
        super().resume(mark, rows)
        self._session = text_of(mark.get("known", {}).get("session")) or self._session

    def _message(self, message: dict[str, Any], offset: int, end: int) -> None:
        kind = text_of(message.get("type"), 60)
        if kind == "user":
            self._asked(message, offset, end)
        elif kind == "gemini":
            self._answered(message, offset, end)
        elif kind not in _QUIET:
            self.unknown(kind or "no type")

    def _asked(self, message: dict[str, Any], offset: int, end: int) -> None:
        text, at, item = message_text(message), time_of(message.get("timestamp")), text_of(message.get("id"))
        if not text.strip() or text.lstrip().startswith(_NOT_TYPED):
            return
        if at is None:
            self.unknown("user without a time")
            return
        if self.current is None or self.current.id != (item or f"{offset}"):
            made = Open(item or f"{offset}", self._session, at, text, offset, item, end, provider="google")
            made.project = self._project
            self.begin(made)

    def _answered(self, message: dict[str, Any], offset: int, end: int) -> None:
        request, item = self.current, text_of(message.get("id"))
        if request is None:
            return
        request.end = max(request.end, end)
        request.add_call(item or f"{offset}", call_of(maybe(message.get("model")), message.get("tokens")))
        calls = message.get("toolCalls")
        for call in calls if isinstance(calls, list) else []:
            if isinstance(call, dict):
                request.tools[text_of(call.get("id")) or f"{offset}"] = text_of(call.get("name"), 80)
        if message_text(message).strip():
            request.note_reply(offset, end, item)


def messages_of(row: dict[str, Any]) -> list[dict[str, Any]]:
    """The messages that a line tells of: itself, or those of a change or of a whole chat."""
    inner = row.get("$set")
    change = inner if isinstance(inner, dict) else row
    messages = change.get("messages")
    if isinstance(messages, list):
        return [message for message in messages if isinstance(message, dict)]
    return [row] if change is row and "projectHash" not in row else []


def call_of(model: str | None, tokens: object) -> Call:
    """One call: the input counts what was cached, the output leaves out what was thought."""
    if not isinstance(tokens, dict):
        return Call(model)
    given, read = count_of(tokens.get("input")), count_of(tokens.get("cached"))
    said, thought = count_of(tokens.get("output")), count_of(tokens.get("thoughts"))
    return Call(
        model=model,
        input=None if given is None else max(0, given - (read or 0)) + (count_of(tokens.get("tool")) or 0),
        read=read,
        output=None if said is None else said + (thought or 0),
        thinking=thought,
    )


def message_text(message: dict[str, Any]) -> str:
    """The words of a message: a text, or parts that may hold one."""
    content = message.get("content")
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else [content]
    texts = (part.get("text") if isinstance(part, dict) else part for part in parts)
    return "\n".join(text for text in texts if isinstance(text, str))
