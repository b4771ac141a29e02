"""The words of one request, read from its log again: what was asked, what came back, and the data that it needed."""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO

from resit.core.errors import ResitError
from resit.core.logs import claude, codex, exports, gemini, plain_lines
from resit.core.logs.lines import open_log, parse, read_lines, skip
from resit.core.logs.records import Attached, Place, Request, Texts
from resit.core.logs.rows import text_of

MAX_ATTACHED = 200
"""Texts that are read beside a prompt, at most."""
MAX_CHARS = 1_000_000
"""Characters of one of them, at most; a longer one is left out, for half a table gives another answer."""

Told = tuple[str, str, list[Attached]]
"""Prompt, reply, what was attached."""


def read_texts(request: Request) -> Texts:
    """Read the words of `request` from its log.

    Raises:
        ResitError: The log is gone, cannot be read, or no longer holds the request.
    """
    try:
        prompt, reply, attached = _HOW[request.tool](request)
    except (OSError, ValueError, zipfile.BadZipFile, zlib.error, EOFError, RuntimeError) as error:
        raise ResitError(f"{request.prompt_at.path} cannot be read ({type(error).__name__})", hint=_MEND) from None
    if not prompt:
        raise ResitError(f"{request.prompt_at.path} no longer holds this request", hint=_MEND)
    kept = [each for each in attached if each.text.strip() and len(each.text) <= MAX_CHARS][:MAX_ATTACHED]
    whole = sum(bool(each.text.strip()) for each in attached)
    return Texts(prompt=prompt, reply=reply, attached=tuple(kept), left_out=whole - len(kept))


_MEND = "look through the logs again"


# ---- stretches of a file ---------------------------------------------------------------------------------------------


@contextmanager
def _opened(place: Place) -> Iterator[BinaryIO]:
    """The file from the stretch's first byte on."""
    if not place.member:
        with open_log(place.path, place.offset) as stream:
            yield stream
        return
    with open_log(place.path) as stream, zipfile.ZipFile(stream) as archive, archive.open(place.member) as member:
        yield skip(member, place.offset)  # type: ignore[arg-type]


def _rows(place: Place) -> Iterator[dict[str, Any]]:
    """The JSON objects of a stretch of lines."""
    with _opened(place) as stream:
        for _, end, data in read_lines(stream, place.offset):
            if data is not None:
                try:
                    row = parse(data)
                except ValueError:
                    row = None
                if isinstance(row, dict):
                    yield row
            if end >= place.end:
                return


def _rows_or_value(place: Place) -> Iterator[dict[str, Any]]:
    """The JSON objects of a stretch, which may be a single one on many lines."""
    try:
        yield _value(place)
    except ValueError:
        yield from _rows(place)


def _value(place: Place) -> dict[str, Any]:
    """The one JSON object of a stretch."""
    with _opened(place) as stream:
        value = parse(stream.read(place.end - place.offset))
    return value if isinstance(value, dict) else {}


# ---- Claude Code -----------------------------------------------------------------------------------------------------


def _claude(request: Request) -> Told:
    reply = request.reply_at.item if request.reply_at is not None else None
    rows = _rows(request.prompt_at)
    first = next(rows, {})
    if first.get("type") == "assistant":
        return _claude_stub(first, rows, request.prompt_at.item)
    if text_of(first.get("uuid")) != request.prompt_at.item:
        return "", "", []
    attached = [Attached("beside the prompt", text, False) for text in _asides(first)]
    names: dict[str, str] = {}
    words: dict[object, list[str]] = {}
    said: object = None
    for row in _chain(first, rows):
        if row.get("type") == "assistant" and text_of(row.get("uuid")) == reply:
            said = _message_id(row)
        for block in _blocks(row):
            if block.get("type") == "tool_use":
                names[str(block.get("id"))] = named(str(block.get("name")), block.get("input"))
            elif block.get("type") == "tool_result":
                name = names.get(str(block.get("tool_use_id")), "tool")
                attached.append(Attached(name, _file_text(row) or result_text(block.get("content")), True))
            elif block.get("type") == "text" and row.get("type") == "assistant":
                words.setdefault(_message_id(row), []).append(str(block.get("text")))
    return claude.prompt_text(first) or "", "\n".join(words.get(said, [])), attached


def _chain(first: dict[str, Any], rows: Iterator[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """The rows that follow on one request: those on its side of the session."""
    aside = first.get("isSidechain") is True
    # Several sub-agents of an older session may stand among each other.
    mixed, ids = aside and not first.get("agentId"), {first.get("uuid")}
    for row in rows:
        if (row.get("isSidechain") is True) == aside and (not mixed or row.get("parentUuid") in ids):
            ids.add(row.get("uuid"))
            yield row


def _claude_stub(first: dict[str, Any], rows: Iterator[dict[str, Any]], use: str) -> Told:
    """A delegation of which only the call and its result are in the session."""
    asked = (_use(first, use) or {}).get("input")
    prompt = str(asked.get("prompt") or "") if isinstance(asked, dict) else ""
    for row in rows:
        for block in _blocks(row):
            if block.get("type") == "tool_result" and block.get("tool_use_id") == use:
                result = row.get("toolUseResult")
                whole = result.get("content") if isinstance(result, dict) else None
                return prompt, result_text(whole or block.get("content")), []
    return prompt, "", []


def _file_text(row: dict[str, Any]) -> str:
    """A file as it is on the disk, where a row holds it beside the numbered lines that the model saw."""
    result = row.get("toolUseResult")
    file = result.get("file") if isinstance(result, dict) else None
    content = file.get("content") if isinstance(file, dict) else None
    return content if isinstance(content, str) else ""


def _use(row: dict[str, Any], use: str) -> dict[str, Any] | None:
    return next((block for block in _blocks(row) if block.get("type") == "tool_use" and block.get("id") == use), None)


def _blocks(row: dict[str, Any]) -> list[dict[str, Any]]:
    message = row.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []


def _message_id(row: dict[str, Any]) -> object:
    message = row.get("message")
    return (message.get("id") if isinstance(message, dict) else None) or row.get("uuid")


def _asides(row: dict[str, Any]) -> list[str]:
    """What the program put beside a prompt: the lines that were marked in an editor, the file that was open."""
    texts = [str(block.get("text")) for block in _blocks(row) if block.get("type") == "text"]
    return [text for text in texts if text.lstrip().startswith(claude.ASIDE)]


def named(tool: str, given: object) -> str:
    """A tool with what it was used on: `Read invoice.txt`."""
    table = given if isinstance(given, dict) else {}
    target = next((table[key] for key in _TARGETS if isinstance(table.get(key), str)), "")
    return f"{tool} {target[:200]}".strip()


_TARGETS = ("file_path", "path", "notebook_path", "command", "cmd", "pattern", "url", "query", "description")


def result_text(content: object) -> str:
    """The words of what a tool gave back."""
    if isinstance(content, str):
        return content
    blocks = content if isinstance(content, list) else []
    texts = (block.get("text") if isinstance(block, dict) else block for block in blocks)
    return "\n".join(text for text in texts if isinstance(text, str))


# ---- Codex -----------------------------------------------------------------------------------------------------------


def _codex(request: Request) -> Told:
    prompt, names, attached = "", {}, []
    for row in _rows(request.prompt_at):
        item = row.get("payload")
        item = item if isinstance(item, dict) else {}
        if not prompt:
            prompt = codex.asked_text(row)
        elif item.get("type") in ("function_call", "custom_tool_call"):
            names[str(item.get("call_id"))] = named(str(item.get("name")), _arguments(item))
        elif item.get("type") in ("function_call_output", "custom_tool_call_output"):
            output = item.get("output")
            text = result_text(output.get("content") if isinstance(output, dict) else output)
            attached.append(Attached(names.get(str(item.get("call_id")), "tool"), text, True))
    reply = ""
    if request.reply_at is not None:
        item = next(_rows(request.reply_at), {}).get("payload")
        reply = (codex.message_text(item) or str(item.get("message") or "")) if isinstance(item, dict) else ""
    return prompt, reply, attached


def _arguments(item: dict[str, Any]) -> object:
    given = item.get("arguments") or item.get("input")
    try:
        return parse(given.encode()) if isinstance(given, str) else given
    except (ValueError, UnicodeEncodeError):
        return None


# ---- Gemini ----------------------------------------------------------------------------------------------------------


def _gemini(request: Request) -> Told:
    prompt, reply, results = "", "", {}
    for message in (each for row in _rows_or_value(request.prompt_at) for each in gemini.messages_of(row)):
        name = message.get("id")
        if message.get("type") == "user" and name == request.prompt_at.item:
            prompt = gemini.message_text(message)
        elif request.reply_at is not None and name == request.reply_at.item:
            reply = gemini.message_text(message)
        calls = message.get("toolCalls")
        for call in calls if prompt and isinstance(calls, list) else []:
            if isinstance(call, dict):
                results[str(call.get("id"))] = _gemini_result(call)
    return prompt, reply, list(results.values())


def _gemini_result(call: dict[str, Any]) -> Attached:
    texts = []
    parts = call.get("result")
    for part in parts if isinstance(parts, list) else []:
        response = part.get("functionResponse") if isinstance(part, dict) else None
        answer = response.get("response") if isinstance(response, dict) else None
        texts += [value for value in answer.values() if isinstance(value, str)] if isinstance(answer, dict) else []
    return Attached(named(str(call.get("name")), call.get("args")), "\n".join(texts), True)


# ---- exports and plain lines -----------------------------------------------------------------------------------------


def _claude_ai(request: Request) -> Told:
    messages = _value(request.prompt_at).get("chat_messages")
    by_id = {each.get("uuid"): each for each in messages or [] if isinstance(each, dict)}
    asked = by_id.get(request.prompt_at.item, {})
    said = by_id.get(request.reply_at.item, {}) if request.reply_at is not None else {}
    files = asked.get("attachments")
    attached = [
        Attached(str(file.get("file_name") or "attachment"), str(file.get("extracted_content") or ""), False)
        for file in (files if isinstance(files, list) else [])
        if isinstance(file, dict)
    ]
    return exports.claude_ai_text(asked), exports.claude_ai_text(said), attached


def _chatgpt(request: Request) -> Told:
    nodes = _value(request.prompt_at).get("mapping")
    nodes = nodes if isinstance(nodes, dict) else {}
    item = request.prompt_at.item
    asked = exports.message_at(nodes, item) or {}
    said = exports.message_at(nodes, request.reply_at.item) if request.reply_at is not None else None
    results = [
        Attached("tool", exports.chatgpt_text(message), True)
        for _, message in exports.after(nodes, item)
        if exports.role_of(message) == "tool"
    ]
    return exports.chatgpt_text(asked), exports.chatgpt_text(said or {}), results


def _plain(request: Request) -> Told:
    row = _value(request.prompt_at)
    return plain_lines.prompt_of(row) or "", plain_lines.reply_of(row), []


_HOW: dict[str, Callable[[Request], Told]] = {
    "claude-code": _claude,
    "codex": _codex,
    "gemini": _gemini,
    "claude.ai": _claude_ai,
    "chatgpt": _chatgpt,
    "jsonl": _plain,
}
