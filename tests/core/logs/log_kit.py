"""Logs made for a test, row by row."""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from resit.core.config import ModelsFile
from resit.core.logs.kinds import Kinds
from resit.core.logs.records import LogIndex
from resit.core.logs.scan import scan

FIXTURES = Path(__file__).parents[2] / "data" / "logs"
START = datetime(2026, 11, 29, 12, tzinfo=UTC)


def scanned(*paths: Path, **more: Any) -> LogIndex:
    """What is found in `paths`, with no names and no prices of the person's."""
    return scan(paths, kinds=more.pop("kinds", Kinds()), models_file=more.pop("models_file", ModelsFile()), **more)


def write(path: Path, rows: Iterable[object]) -> Path:
    """A file of JSON lines."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row, separators=(",", ":")) + "\n" for row in rows))
    return path


def at(second: int) -> str:
    """A time as logs write it."""
    return (START + timedelta(seconds=second)).isoformat().replace("+00:00", "Z")


def user(text: object, number: int = 1, **more: Any) -> dict[str, Any]:
    """A row of Claude Code's in which a person types."""
    row = {"parentUuid": None, "isSidechain": False, "type": "user", "message": {"role": "user", "content": text}}
    return {
        **row,
        "uuid": f"u{number}",
        "timestamp": at(number),
        "sessionId": "s1",
        "cwd": "/home/user/project",
        **more,
    }


def tool_use(use: str, name: str, **given: Any) -> dict[str, Any]:
    """A block in which a model uses a tool."""
    return {"type": "tool_use", "id": use, "name": name, "input": given}


def reply(
    message: str, *blocks: object, model: str = "claude-opus-5-5", number: int = 2, **more: Any
) -> dict[str, Any]:
    """A row of Claude Code's in which a model answers; a text is a block of text."""
    counts = {name: more.pop(name) for name in list(more) if name.endswith("_tokens") or name == "cache_creation"}
    content = [{"type": "text", "text": block} if isinstance(block, str) else block for block in blocks]
    usage = {"input_tokens": 10, "output_tokens": 5, **counts}
    told = {"id": message, "role": "assistant", "model": model, "content": content, "usage": usage}
    row = {
        "parentUuid": "u1",
        "isSidechain": False,
        "type": "assistant",
        "message": told,
        "uuid": f"a{message}{number}",
    }
    return {**row, "timestamp": at(number), "sessionId": "s1", "cwd": "/home/user/project", **more}


def result(use: str, text: str = "done", number: int = 3, **more: Any) -> dict[str, Any]:
    """A row of Claude Code's in which a tool gives back something."""
    block = {"type": "tool_result", "tool_use_id": use, "content": text}
    return user([block], number, **{"toolUseResult": {"type": "text"}, **more})


def codex(kind: str, second: int = 1, /, **payload: Any) -> dict[str, Any]:
    """A line of Codex'."""
    return {"timestamp": at(second), "type": kind, "payload": payload}


def counted(second: int, whole: int, last: int, cached: int = 0) -> dict[str, Any]:
    """Codex' `token_count` after a call."""
    total = {"input_tokens": whole, "cached_input_tokens": cached, "output_tokens": 7}
    info = {"total_token_usage": total, "last_token_usage": {**total, "input_tokens": last}}
    return codex("event_msg", second, type="token_count", info=info)
