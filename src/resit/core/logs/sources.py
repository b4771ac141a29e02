"""Where logs lie on this machine, and the files that a folder of them holds."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from resit.core.logs.records import Unread

_LINES = (".jsonl", ".ndjson")


@dataclass(frozen=True, slots=True)
class LogFile:
    """A file that may be a log, as it was when it was found."""

    path: str
    size: int
    modified_ns: int
    device: int
    inode: int


@dataclass(slots=True)
class _Walk:
    files: dict[tuple[int, int], LogFile] = field(default_factory=dict)
    unread: list[Unread] = field(default_factory=list)
    seen: set[tuple[int, int]] = field(default_factory=set)


def default_sources(environ: Mapping[str, str] | None = None, home: Path | None = None) -> tuple[Path, ...]:
    """The folders that Claude Code, Codex and Gemini CLI keep their sessions in; those that are there.

    `CLAUDE_CONFIG_DIR`, `CODEX_HOME` and `GEMINI_CLI_HOME` are honoured.
    """
    env = os.environ if environ is None else environ
    home = home or Path.home()
    claude = [Path(env["CLAUDE_CONFIG_DIR"])] if env.get("CLAUDE_CONFIG_DIR") else [
        home / ".claude", home / ".config" / "claude",
    ]  # fmt: skip
    codex = Path(env.get("CODEX_HOME") or home / ".codex")
    gemini = Path(env.get("GEMINI_CLI_HOME") or home) / ".gemini"
    folders = [
        *(folder / "projects" for folder in claude),
        codex / "sessions",
        codex / "archived_sessions",
        gemini / "tmp",
    ]
    return tuple(folder.expanduser().absolute() for folder in folders if folder.expanduser().is_dir())


def find_logs(sources: Iterable[Path]) -> tuple[tuple[LogFile, ...], tuple[Unread, ...]]:
    """The logs in folders, and files that are named themselves; by path, each once however many links lead to it.

    Links are followed; a ring of them ends where it began. A file named itself may have any name, in a folder only
    `*.jsonl`, `*.ndjson`, exports (`conversations*.json`, `*.zip`) and Gemini's `session-*.json` are logs.
    """
    walk = _Walk()
    for source in sources:
        path = os.path.abspath(os.path.expanduser(source))
        try:
            found = os.stat(path)
        except (OSError, ValueError) as error:
            walk.unread.append(Unread(path, why_not(error)))
            continue
        if stat.S_ISDIR(found.st_mode):
            _folder(path, found, walk)
        elif stat.S_ISREG(found.st_mode):
            _file(path, found, walk)
        else:
            walk.unread.append(Unread(path, "neither a file nor a folder"))
    return tuple(sorted(walk.files.values(), key=lambda file: file.path)), tuple(walk.unread)


def why_not(error: OSError | ValueError) -> str:
    """A few words on why a file cannot be read."""
    return (error.strerror if isinstance(error, OSError) else None) or str(error) or type(error).__name__


def _folder(path: str, found: os.stat_result, walk: _Walk) -> None:
    waiting = [(path, found)]
    while waiting:
        path, found = waiting.pop()
        if (found.st_dev, found.st_ino) in walk.seen:
            continue
        walk.seen.add((found.st_dev, found.st_ino))
        for entry in _entries(path, walk):
            try:
                inner = entry.stat()
            except OSError as error:
                if is_log(entry.name):
                    walk.unread.append(Unread(entry.path, why_not(error)))
                continue
            if stat.S_ISDIR(inner.st_mode):
                waiting.append((entry.path, inner))
            elif stat.S_ISREG(inner.st_mode) and is_log(entry.name):
                _file(entry.path, inner, walk)


def _entries(path: str, walk: _Walk) -> Iterator[os.DirEntry[str]]:
    try:
        with os.scandir(path) as entries:
            yield from entries
    except OSError as error:
        walk.unread.append(Unread(path, why_not(error)))


def is_log(name: str) -> bool:
    """True for the name of a file in a folder that may be a log."""
    lowered = name.lower()
    if lowered.endswith(_LINES):
        return True
    if lowered.endswith(".json"):
        return lowered.startswith(("conversations", "session-"))
    return lowered.endswith(".zip")


def _file(path: str, found: os.stat_result, walk: _Walk) -> None:
    file = LogFile(path, found.st_size, found.st_mtime_ns, found.st_dev, found.st_ino)
    walk.files.setdefault((found.st_dev, found.st_ino), file)
