"""Exports of Claude.ai and ChatGPT: `conversations.json`, one value a conversation.

Neither says what a call took: requests of an export have no token counts and no cost. Claude.ai's says no model either.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from resit.core.logs.reader import Reader
from resit.core.logs.rows import Call, Open, maybe, text_of, time_of

_MOST_NODES = 200_000


class ClaudeAiReader(Reader):
    """Reads conversations of Claude.ai."""

    tool = "claude.ai"

    def value(self, talk: Any, offset: int, end: int) -> None:
        """Take one conversation."""
        messages = talk.get("chat_messages") if isinstance(talk, dict) else None
        if not isinstance(messages, list):
            self.unknown("no chat_messages")
        for message in messages if isinstance(messages, list) else []:
            if not isinstance(message, dict):
                self.unknown("no message")
            elif message.get("sender") == "human":
                self._asked(message, talk, offset, end)
            elif message.get("sender") == "assistant":
                self._answered(message, talk, offset, end)
            else:
                self.unknown(text_of(message.get("sender"), 60) or "no sender")
        self.close()

    def _asked(self, message: dict[str, Any], talk: dict[str, Any], offset: int, end: int) -> None:
        at = time_of(message.get("created_at")) or time_of(talk.get("created_at"))
        item, session = text_of(message.get("uuid")), text_of(talk.get("uuid"))
        if at is None or not item:
            self.unknown("message without a time or id")
            return
        text = claude_ai_text(message)
        self.close()
        self.current = Open(item, session, at, text, offset, item, end, provider="anthropic", copy=True)
        self.current.project = text_of(talk.get("name"), 120)

    def _answered(self, message: dict[str, Any], talk: dict[str, Any], offset: int, end: int) -> None:
        request, item = self.current, text_of(message.get("uuid"))
        if request is None:
            return
        request.add_call(item, Call(maybe(message.get("model")) or maybe(talk.get("model"))))
        content = message.get("content")
        for block in content if isinstance(content, list) else []:
            if isinstance(block, dict) and block.get("type") == "tool_use":
                request.tools[f"{len(request.tools)}"] = text_of(block.get("name"), 80)
        if claude_ai_text(message).strip():
            request.note_reply(offset, end, item)


def claude_ai_text(message: dict[str, Any]) -> str:
    """The words of a message: its text blocks, else its one text."""
    content = message.get("content")
    blocks = [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []
    texts = [block["text"] for block in blocks if block.get("type") == "text" and isinstance(block.get("text"), str)]
    if any(text.strip() for text in texts):
        return "\n".join(texts)
    text = message.get("text")
    return text if isinstance(text, str) else ""


class ChatGptReader(Reader):
    """Reads conversations of ChatGPT: each a tree, for a person may ask again and change what they asked."""

    tool = "chatgpt"

    def value(self, talk: Any, offset: int, end: int) -> None:
        """Take one conversation."""
        nodes = talk.get("mapping") if isinstance(talk, dict) else None
        if not isinstance(nodes, dict):
            self.unknown("no mapping")
            return
        for name in nodes:
            message = message_at(nodes, name)
            if message is not None and role_of(message) == "user":
                self._asked(name, message, nodes, talk, offset, end)
        self.close()

    def _asked(
        self, name: str, message: dict[str, Any], nodes: dict[str, Any], talk: dict[str, Any], offset: int, end: int
    ) -> None:
        text = chatgpt_text(message)
        at = time_of(message.get("create_time")) or time_of(talk.get("create_time"))
        if not text.strip() or _hidden(message):
            return
        if at is None:
            self.unknown("message without a time")
            return
        self.close()
        session = text_of(talk.get("conversation_id")) or text_of(talk.get("id"))
        request = Open(text_of(name), session, at, text, offset, text_of(name), end, provider="openai", copy=True)
        request.project = text_of(talk.get("title"), 120)
        self.current = request
        for node, reply in after(nodes, name):
            self._answered(node, reply, request, offset, end)

    def _answered(self, name: str, message: dict[str, Any], request: Open, offset: int, end: int) -> None:
        about = message.get("metadata")
        about = about if isinstance(about, dict) else {}
        if role_of(message) == "tool":
            author = message.get("author")
            request.tools[name] = text_of(author.get("name") if isinstance(author, dict) else "", 80) or "tool"
        elif role_of(message) == "assistant":
            request.add_call(name, Call(maybe(about.get("model_slug"))))
            request.effort = request.effort or maybe(about.get("thinking_effort"))
            request.effort_ran = request.effort
            if message.get("recipient") in ("all", None) and chatgpt_text(message).strip():
                request.note_reply(offset, end, text_of(name))


def after(nodes: dict[str, Any], name: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """The messages below one until a person speaks again, in the order they are linked; a ring ends the walk."""
    seen = {name}
    waiting = [name]
    while waiting and len(seen) < _MOST_NODES:
        node = nodes.get(waiting.pop())
        children = node.get("children") if isinstance(node, dict) else None
        fresh = [
            child
            for child in (children if isinstance(children, list) else [])
            if isinstance(child, str) and child not in seen and role_of(message_at(nodes, child) or {}) != "user"
        ]
        seen.update(fresh)
        for child in fresh:
            message = message_at(nodes, child)
            if message is not None:
                yield child, message
        waiting += reversed(fresh)


def message_at(nodes: dict[str, Any], name: str) -> dict[str, Any] | None:
    """The message of a node; None for a node without one."""
    node = nodes.get(name)
    message = node.get("message") if isinstance(node, dict) else None
    return message if isinstance(message, dict) else None


def chatgpt_text(message: dict[str, Any]) -> str:
    """The words of a message; pictures and other parts are left out."""
    content = message.get("content")
    if not isinstance(content, dict):
        return ""
    parts = content.get("parts")
    texts = parts if isinstance(parts, list) else [content.get("text")]
    spoken = (part.get("text") if isinstance(part, dict) else part for part in texts)
    return "\n".join(text for text in spoken if isinstance(text, str))


def role_of(message: dict[str, Any]) -> str:
    """Who speaks: `user`, `assistant`, `tool`, `system`."""
    author = message.get("author")
    return text_of(author.get("role"), 20) if isinstance(author, dict) else ""


def _hidden(message: dict[str, Any]) -> bool:
    about, content = message.get("metadata"), message.get("content")
    hidden = isinstance(about, dict) and about.get("is_visually_hidden_from_conversation") is True
    return hidden or (isinstance(content, dict) and content.get("content_type") == "user_editable_context")
