"""One file: what kind of log it is, and what it holds."""

from __future__ import annotations

import os
import re
import zipfile
import zlib
from codecs import BOM_UTF8
from collections.abc import Callable
from dataclasses import dataclass
from itertools import islice
from pathlib import PurePath
from typing import Any, BinaryIO

from resit.core.logs.claude import BOOKKEEPING, ClaudeReader
from resit.core.logs.codex import CodexReader
from resit.core.logs.exports import ChatGptReader, ClaudeAiReader
from resit.core.logs.gemini import GeminiReader
from resit.core.logs.lines import is_recoded, open_log, parse, read_lines
from resit.core.logs.plain_lines import PlainReader, prompt_of
from resit.core.logs.reader import Reader
from resit.core.logs.records import Tool
from resit.core.logs.rows import Row, text_of
from resit.core.logs.values import BadValue, read_values
from resit.core.rule import digest

_HEAD = 256
_ZIP = b"PK\x03\x04"
_EXPORT = re.compile(r"conversations[\w.-]*\.json", re.IGNORECASE)
"""Names of the files that an export keeps its conversations in: big ones are split and numbered."""
_SNIFFED = 100
"""Lines that are looked at to tell whose log it is."""
_TICK = 16 * 1024 * 1024
_CHECKED = 512
"""Bytes before the mark that must be the same for a file to count as grown and not as another."""

READERS: dict[Tool, type[Reader]] = {
    reader.tool: reader
    for reader in (ClaudeReader, CodexReader, GeminiReader, ClaudeAiReader, ChatGptReader, PlainReader)
}
_BY_LINE: frozenset[Tool] = frozenset({"claude-code", "codex", "gemini", "jsonl"})

Tick = Callable[[int], None]
"""Told how many bytes of the file are read."""


@dataclass(frozen=True, slots=True)
class FileLog:
    """What one file holds."""

    tool: Tool
    rows: tuple[Row, ...]
    unknown: dict[str, int]
    damaged: int
    long: int
    own_runs: int
    unanswered: int
    mark: dict[str, Any] | None
    """Where to go on when it has grown. None: it has to be read anew."""
    bytes_read: int = 0


def read_log(path: str, before: FileLog | None = None, tick: Tick = lambda _: None) -> FileLog:
    """All requests of the file at `path`.

    Args:
        path: An absolute path.
        before: What it held when it was shorter; only what was added is read again.
        tick: Told from time to time how far it is; what it raises ends the reading.

    Raises:
        OSError: It cannot be read.
    """
    with open_log(path) as stream:
        if before is not None and before.mark and _unchanged(stream, before.mark):
            return _read_on(path, before, stream, tick)
    with open_log(path) as stream:
        head = stream.read(_HEAD)
        if head.startswith(_ZIP):
            return _read_zip(path, stream, tick)
    # An export is often a single line, which would be too long for one.
    tool: Tool = "jsonl"
    by_line = False
    if not head.removeprefix(BOM_UTF8).lstrip().startswith(b"["):
        with open_log(path) as stream:
            tool, by_line = sniff(stream, path)
    with open_log(path) as stream:
        if not by_line:
            return _whole(_read_values(stream, path, tick=tick), os.fstat(stream.fileno()).st_size)
        reader = READERS[tool](path)
        passed = _feed(reader, stream, 0, tick)
        return _grown(reader, stream, passed)


def sniff(stream: BinaryIO, path: str) -> tuple[Tool, bool]:
    """Whose log it is, and whether it holds a value a line; the first line that is anybody's decides."""
    for _, _, line in islice(read_lines(stream), _SNIFFED):
        if line is None or line.isspace():
            continue
        if line.strip() == b"{":
            return "jsonl", False
        try:
            tool = tool_of(parse(line))
        except ValueError:
            continue
        if tool is not None:
            return tool, tool in _BY_LINE
    return _by_name(path)


def tool_of(value: Any) -> Tool | None:
    """Whose line or value this is; None when it could be anybody's."""
    if not isinstance(value, dict):
        return None
    if isinstance(value.get("payload"), dict) and "type" in value:
        return "codex"
    if "$set" in value or "projectHash" in value:
        return "gemini"
    if "chat_messages" in value:
        return "claude.ai"
    if "mapping" in value:
        return "chatgpt"
    kind = text_of(value.get("type"))
    if "sessionId" in value or (kind in BOOKKEEPING and ("leafUuid" in value or "messageId" in value)):
        return "gemini" if isinstance(value.get("messages"), list) else "claude-code"
    return "jsonl" if prompt_of(value) is not None else None


def _by_name(path: str) -> tuple[Tool, bool]:
    """For a file of which no line says it."""
    name, folders = PurePath(path).name, PurePath(path).parts
    if name.startswith("rollout-") or {"sessions", ".codex"} <= set(folders):
        return "codex", True
    if name.startswith("agent-") or "projects" in folders:
        return "claude-code", True
    return "jsonl", True


def _feed(reader: Reader, stream: BinaryIO, offset: int, tick: Tick) -> int:
    """Give `reader` every line; the end of the last one."""
    told = end = offset
    for start, end, data in read_lines(stream, offset):
        if end - told > _TICK:
            told = end
            tick(end)
        if data is None:
            reader.long += 1
        elif not data.isspace():
            try:
                reader.line(data, start, end)
            except ValueError:
                # A last line without an end is only being written.
                reader.damaged += data.endswith(b"\n")
    return end


def _grown(reader: Reader, stream: BinaryIO, end: int, start: int = 0) -> FileLog:
    """What a reader of lines found, with the mark to go on from."""
    reader.close()
    mark = None
    if not is_recoded(stream):
        mark = reader.mark | {"check": _check(stream, reader.mark["offset"])}
    return _log(reader.tool, reader, mark, end - start)


def _log(tool: Tool, reader: Reader, mark: dict[str, Any] | None, read: int) -> FileLog:
    return FileLog(
        tool=tool,
        rows=tuple(reader.rows),
        unknown=dict(reader.unknown_lines),
        damaged=reader.damaged,
        long=reader.long,
        own_runs=reader.own_runs,
        unanswered=reader.unanswered,
        mark=mark,
        bytes_read=read,
    )


def _read_on(path: str, before: FileLog, stream: BinaryIO, tick: Tick) -> FileLog:
    assert before.mark is not None
    offset = before.mark["offset"]
    reader = READERS[before.tool](path)
    reader.resume(before.mark, list(before.rows))
    stream.seek(offset)
    end = _feed(reader, stream, offset, tick)
    return _grown(reader, stream, end, offset)


def _check(stream: BinaryIO, offset: int) -> str:
    """A fingerprint of the bytes before `offset`."""
    start = max(0, offset - _CHECKED)
    stream.seek(start)
    return digest(stream.read(offset - start).hex())


def _unchanged(stream: BinaryIO, mark: dict[str, Any]) -> bool:
    return not is_recoded(stream) and mark.get("offset", 0) > 0 and _check(stream, mark["offset"]) == mark["check"]


def _read_values(stream: BinaryIO, path: str, member: str = "", tick: Tick = lambda _: None) -> Reader:
    """The values of a stream; the first one that is anybody's says whose they are."""
    reader: Reader | None = None
    told = 0
    try:
        for start, end, value in read_values(stream):
            if end - told > _TICK:
                told = end
                tick(end)
            if reader is None:
                reader = READERS[tool_of(value) or "jsonl"](path)
                reader.member = text_of(member, 4000)
            if isinstance(value, dict) and not isinstance(reader, ClaudeReader | CodexReader):
                reader.value(value, start, end)
            else:
                reader.unknown("no conversation")
    except BadValue as bad:
        reader = reader or PlainReader(path)
        reader.long += bad.long
        reader.damaged += not bad.long
    reader = reader or PlainReader(path)
    reader.close()
    return reader


def _whole(reader: Reader, size: int) -> FileLog:
    return _log(reader.tool, reader, None, size)


def _read_zip(path: str, stream: BinaryIO, tick: Tick) -> FileLog:
    """The conversations of an export as it is downloaded.

    Raises:
        OSError: It is damaged or locked.
    """
    found = PlainReader(path)
    tool: Tool = "jsonl"
    try:
        with zipfile.ZipFile(stream) as archive:
            for info in archive.infolist():
                if not _EXPORT.fullmatch(PurePath(info.filename).name):
                    continue
                with archive.open(info) as member:
                    reader = _read_values(member, path, info.filename, tick)  # type: ignore[arg-type]
                tool = reader.tool if reader.rows else tool
                found.rows += reader.rows
                found.unknown_lines += reader.unknown_lines
                found.damaged += reader.damaged
                found.long += reader.long
                found.unanswered += reader.unanswered
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, ValueError) as error:
        raise OSError(f"a zip that cannot be opened ({type(error).__name__})") from None
    return _log(tool, found, None, os.path.getsize(path))
