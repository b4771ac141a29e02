"""Claude Code's sessions: one JSON object a line, a sub-agent's own log beside the session's.

Known to the reader: `user` and `assistant` rows, and the bookkeeping between them. Every content block of a reply is a
row of its own and repeats the reply's whole usage, so a call is counted once for each `message.id`.
"""

from __future__ import annotations

import re
from pathlib import PurePath
from typing import Any

from resit.core.logs.lines import BLOCK, open_log, parse
from resit.core.logs.reader import Reader
from resit.core.logs.rows import Call, Open, count_of, maybe, text_of, time_of
from resit.core.rule import digest

TOOL_NAMES = ("Agent", "Task")
"""Tools that hand work to a sub-agent; the second is the older name."""
BOOKKEEPING = frozenset({
    "agent-color", "agent-name", "agent-setting", "ai-title", "api-request", "api-request-blob",
    "api-request-shape", "atis-latch", "attachment", "attribution-snapshot", "content-replacement",
    "cost-state", "custom-title", "file-history-snapshot", "last-prompt", "mode", "permission-mode", "pr-link",
    "progress", "queue-operation", "summary", "system", "tag", "task-summary", "tools-used", "worktree-state",
})  # fmt: skip
"""Types of rows that hold no request and no reply."""

_HEAD = re.compile(rb'\{"type": ?"([A-Za-z_-]{1,60})"')
_ANSWERED = (b'"role":"assistant"', b'"role": "assistant"')
_ASKED = (b'"role":"user"', b'"role": "user"')
_SKIPPED = tuple(
    f'"type":{space}"{name}"'.encode() for name in ("attachment", "system", "progress") for space in ("", " ")
)
_RESULT = b'"tool_result"'
_ASIDE_ROW = (b'"isSidechain":true', b'"isSidechain": true')
_START = 400
"""Bytes of a row in which its own marks stand, before what it holds."""
_ENDED = (b'"resolvedModel"', b'"totalToolUseCount"')
_NOT_TYPED = (
    "<task-notification>", "<local-command-", "<bash-", "[Request interrupted", "Caveat: The messages below",
    "<teammate-message", "This session is being continued",
)  # fmt: skip
"""How texts begin that the program put where a person's would stand."""
ASIDE = ("<system-reminder>", "<ide_", "<local-command-caveat>")
"""How texts begin that the program puts beside a prompt."""
_COMMAND = re.compile(r"<command-name>\s*(\S+?)\s*</command-name>")
_ARGUMENTS = re.compile(r"<command-args>(.*?)</command-args>", re.DOTALL)
_LONG_CACHE = "ephemeral_1h_input_tokens"


class ClaudeReader(Reader):
    """Reads one session, or the log of one sub-agent."""

    tool = "claude-code"

    def __init__(self, path: str) -> None:
        """Read the file at `path`; what stands beside a sub-agent's log says who it is."""
        super().__init__(path)
        self._own_agent = _meta(path)
        self._chains: dict[str, Open] = {}
        """Requests to sub-agents that older versions logged within the session, by the ids of their rows."""

    def line(self, data: bytes, offset: int, end: int) -> None:
        """Take one line."""
        head = _HEAD.match(data)
        if head is not None:
            name = head[1].decode()
            if name not in ("user", "assistant"):
                if name not in BOOKKEEPING:
                    self.unknown(name)
                return
        elif not _any(_ANSWERED, data):
            asked = _any(_ASKED, data)
            # What tools gave back is most of a log; of it only the ends of delegations matter here.
            useless = asked and _RESULT in data and not _any(_ENDED, data) and not self._is_aside(data)
            if useless or (not asked and _any(_SKIPPED, data)):
                return
        self._row(parse(data), offset, end)

    def _is_aside(self, data: bytes) -> bool:
        """True for a row of a sub-agent within a session: by these, older versions link its rows."""
        return self._own_agent is None and any(data.find(mark, 0, _START) >= 0 for mark in _ASIDE_ROW)

    def _row(self, row: Any, offset: int, end: int) -> None:
        kind = text_of(row.get("type"), 60) if isinstance(row, dict) else ""
        if kind == "assistant":
            self._assistant(row, offset, end)
        elif kind == "user":
            self._user(row, offset, end)
        elif kind not in BOOKKEEPING:
            self.unknown(kind or "no type")

    # ---- what a person or a model asked --------------------------------------------------------------------------

    def _user(self, row: dict[str, Any], offset: int, end: int) -> None:
        if isinstance(row.get("toolUseResult"), dict):
            self._delegation_ended(row, offset, end)
        text = prompt_text(row)
        if text is None:
            self._note_chain(row)
            return
        at = time_of(row.get("timestamp"))
        if at is None:
            self.unknown("user without a time")
            return
        inline = row.get("isSidechain") is True and self._own_agent is None
        request = Open(
            id=text_of(row.get("uuid")) or f"{text_of(self.path)}:{offset}",
            session=text_of(row.get("sessionId")),
            at=at,
            text=text,
            offset=offset,
            provider="anthropic",
            cwd=maybe(row.get("cwd")),
            item=text_of(row.get("uuid")),
        )
        if self._own_agent is not None:
            agent = self._own_agent
            request.agent = (agent["type"], agent["description"], agent["background"])
            request.links = agent["links"]
            request.effort = agent["effort"]
        if inline:
            request.agent = ("", "", False)
            request.links = (self._same_prompt(text),)
            self.begin_aside(request)
            self._chains[request.item] = request
        else:
            self._chains.clear()
            self.begin(request)

    def _note_chain(self, row: dict[str, Any]) -> None:
        """A row that belongs to a sub-agent within the session keeps the chain to its request."""
        if row.get("isSidechain") is True and self._own_agent is None:
            request = self._chains.get(text_of(row.get("parentUuid")))
            if request is not None:
                self._chains[text_of(row.get("uuid"))] = request

    def _same_prompt(self, prompt: str) -> str:
        """What links a sub-agent logged within the session to the call that sent it off."""
        return digest([self.path, prompt.strip()])[:16]

    # ---- what answered -------------------------------------------------------------------------------------------

    def _assistant(self, row: dict[str, Any], offset: int, end: int) -> None:
        self._note_chain(row)
        inline = row.get("isSidechain") is True and self._own_agent is None
        request = self._chains.get(text_of(row.get("uuid"))) if inline else self.current
        message = row.get("message")
        if request is None or not isinstance(message, dict) or message.get("model") == "<synthetic>":
            return
        request.end = max(request.end, end)
        key = text_of(message.get("id")) or text_of(row.get("requestId")) or text_of(row.get("uuid"))
        # A session that is resumed may begin with a copy of the old one, under another id.
        request.same, request.copy = request.same or digest([key, request.text]), True
        request.add_call(key, call_of(maybe(message.get("model")), message.get("usage")))
        effort = maybe(row.get("effort"))
        request.effort_ran = request.effort_ran or effort
        if request.agent is None:
            request.effort = request.effort or effort
        elif not request.agent[0]:
            request.agent = (text_of(row.get("attributionAgent")), *request.agent[1:])
        content = message.get("content")
        for block in content if isinstance(content, list) else [{"type": "text", "text": content}]:
            if isinstance(block, dict):
                self._block(block, request, row, offset, end)

    def _block(self, block: dict[str, Any], request: Open, row: dict[str, Any], offset: int, end: int) -> None:
        kind = block.get("type")
        if kind == "text" and isinstance(block.get("text"), str) and block["text"].strip():
            request.note_reply(offset, end, text_of(row.get("uuid")))
        elif kind in ("tool_use", "server_tool_use", "mcp_tool_use"):
            name, use = text_of(block.get("name"), 80), text_of(block.get("id"))
            request.tools[use or f"{offset}"] = name
            if name in TOOL_NAMES and isinstance(block.get("input"), dict):
                self._delegated(block["input"], use, request, row, offset, end)

    # ---- delegations ---------------------------------------------------------------------------------------------

    def _delegated(self, asked: dict[str, Any], use: str, by: Open, row: dict[str, Any], offset: int, end: int) -> None:
        """A sub-agent was sent off: a stub, until a log of its own or its result says more."""
        prompt = asked.get("prompt")
        if not use or not isinstance(prompt, str):
            return
        stub = Open(
            id=use,
            session=by.session,
            at=time_of(row.get("timestamp")) or by.at,
            text=prompt,
            offset=offset,
            end=end,
            item=use,
            effort=maybe(asked.get("effort")),
            provider="anthropic",
            cwd=by.cwd,
            agent=(
                text_of(asked.get("subagent_type")),
                text_of(asked.get("description")),
                asked.get("run_in_background") is True,
            ),
            links=(use, self._same_prompt(prompt)),
            partial=True,
            stub=True,
        )
        self.aside[use] = stub

    def _delegation_ended(self, row: dict[str, Any], offset: int, end: int) -> None:
        result, use = row["toolUseResult"], _result_of(row)
        stub = self.aside.get(use)
        if stub is None or not ({"agentId", "resolvedModel", "totalTokens"} & set(result)):
            return
        stub.end = end
        if agent := text_of(result.get("agentId")):
            stub.links = (*stub.links, agent)
        if stub.agent is not None and result.get("isAsync") is True:
            stub.agent = (*stub.agent[:2], True)
        if result.get("status") == "completed":
            stub.note_reply(offset, end, use)
            # The result carries the usage of the last call alone; without a tool used there was no other.
            stub.partial = result.get("totalToolUseCount") != 0
        call = call_of(maybe(result.get("resolvedModel")), result.get("usage"))
        if call.model or call.output is not None:
            stub.add_call(use, call)


def prompt_text(row: dict[str, Any]) -> str | None:
    """What a person typed, or a model asked a sub-agent, in a `user` row; None for all else that such a row can be."""
    message, origin = row.get("message"), row.get("origin")
    if not isinstance(message, dict) or message.get("role") not in ("user", None):
        return None
    if any(row.get(mark) is True for mark in ("isMeta", "isCompactSummary", "isVisibleInTranscriptOnly")):
        return None
    if row.get("promptSource") == "system" or (isinstance(origin, dict) and origin.get("kind") == "task-notification"):
        return None
    texts = typed(message.get("content"))
    if texts is None:
        return None
    text = "\n".join(part for part in texts if not part.lstrip().startswith(ASIDE)).strip("\n")
    command = _COMMAND.search(text)
    if command is not None:
        arguments = _ARGUMENTS.search(text)
        return f"{command[1]} {arguments[1] if arguments else ''}".strip()
    return text if text.strip() and not text.lstrip().startswith(_NOT_TYPED) else None


def typed(content: object) -> list[str] | None:
    """The texts of a message of the user's role; None when it gives back what a tool said."""
    if isinstance(content, str):
        return [content]
    blocks = [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []
    if any(block.get("type") == "tool_result" for block in blocks):
        return None
    return [block["text"] for block in blocks if block.get("type") == "text" and isinstance(block.get("text"), str)]


def call_of(model: str | None, usage: object) -> Call:
    """One call with the tokens of a Messages API usage: its input leaves out what was cached."""
    if not isinstance(usage, dict):
        return Call(model)
    if model is not None and usage.get("speed") == "fast":
        # Faster service has a price of its own, which no table holds: it must not pass for the usual one.
        model = f"{model} (fast)"
    written = count_of(usage.get("cache_creation_input_tokens"))
    split = usage.get("cache_creation")
    long = count_of(split.get(_LONG_CACHE)) if isinstance(split, dict) else None
    if long is not None and written is not None:
        long = min(long, written)
    details = usage.get("output_tokens_details")
    return Call(
        model=model,
        input=count_of(usage.get("input_tokens")),
        write_5m=written if not long or written is None else written - long,
        write_1h=long,
        read=count_of(usage.get("cache_read_input_tokens")),
        output=count_of(usage.get("output_tokens")),
        thinking=count_of(details.get("thinking_tokens")) if isinstance(details, dict) else None,
    )


def _any(marks: tuple[bytes, ...], data: bytes) -> bool:
    return any(mark in data for mark in marks)


def _result_of(row: dict[str, Any]) -> str:
    """Id of the tool use that a `user` row gives the result of."""
    message = row.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    for block in content if isinstance(content, list) else []:
        if isinstance(block, dict) and block.get("type") == "tool_result":
            return text_of(block.get("tool_use_id"))
    return ""


def _meta(path: str) -> dict[str, Any] | None:
    """Who wrote a sub-agent's log, from the small file beside it; None for a session's own log."""
    name = PurePath(path).name
    if not name.startswith("agent-") or not name.endswith(".jsonl"):
        return None
    said: Any = {}
    try:
        with open_log(path.removesuffix(".jsonl") + ".meta.json") as file:
            said = parse(file.read(BLOCK))
    except (OSError, ValueError):
        pass  # Older versions wrote none.
    said = said if isinstance(said, dict) else {}
    links = (text_of(name.removeprefix("agent-").removesuffix(".jsonl")), text_of(said.get("toolUseId")))
    return {
        "type": text_of(said.get("agentType")),
        "description": text_of(said.get("description")),
        "background": said.get("requestShape") == "background",
        "effort": maybe(said.get("effort")),
        "links": tuple(link for link in links if link),
    }
