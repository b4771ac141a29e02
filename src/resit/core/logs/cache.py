"""What was read of each log, kept so that a second look reads only what was added. It can be deleted at any time.

The file holds the first lines of prompts, so only its owner may read it.
"""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from pydantic_core import from_json, to_json

from resit.core.logs.read import FileLog
from resit.core.logs.rows import row_of
from resit.core.logs.sources import LogFile
from resit.core.paths import cache_dir

FORMAT = 1
"""Changes whenever a reader, a row or the table of kinds does: what another version kept is read anew."""

_TICK_NS = 100_000_000
_TABLE = """CREATE TABLE IF NOT EXISTS logs (
    path TEXT PRIMARY KEY, size INTEGER, modified_ns INTEGER, device INTEGER, inode INTEGER, held BLOB)"""


class LogCache:
    """A small database in the cache folder. Where it cannot be used, every log is read anew; nothing else changes."""

    def __init__(self, path: Path | None = None) -> None:
        """Use the file at `path`; None is the one in the cache folder."""
        self.path = path or cache_dir() / "logs.sqlite3"
        self._base: sqlite3.Connection | None = None

    def __enter__(self) -> LogCache:
        """Open it; one that is damaged or of another version is begun anew."""
        try:
            self._base = _open(self.path)
        except (sqlite3.Error, OSError):
            with suppress(OSError):
                self.path.unlink()
            with suppress(sqlite3.Error, OSError):
                self._base = _open(self.path)
        return self

    def __exit__(self, *_: object) -> None:
        """Keep what was put."""
        if self._base is not None:
            with suppress(sqlite3.Error):
                self._base.commit()
            self._base.close()
            self._base = None

    def get(self, file: LogFile) -> tuple[FileLog | None, bool]:
        """What was read of `file`, and whether that is all of it: False when it has grown since."""
        found = next(
            self._ask("SELECT size, modified_ns, device, inode, held FROM logs WHERE path = ?", file.path), None
        )
        if found is None or (file.device, file.inode) != found[2:4] or file.size < found[0]:
            return None, False
        held = _held(found[4])
        return held, held is not None and (file.size, file.modified_ns) == found[:2]

    def put(self, file: LogFile, held: FileLog) -> None:
        """Keep what was read of `file`."""
        # A file that was written a moment ago could change once more within one tick of the disk's clock.
        settled = time.time_ns() - file.modified_ns > _TICK_NS
        values = (file.path, file.size, file.modified_ns if settled else None, file.device, file.inode, _packed(held))
        next(self._ask("INSERT OR REPLACE INTO logs VALUES (?, ?, ?, ?, ?, ?)", *values), None)

    def _ask(self, words: str, *values: object) -> Iterator[tuple[Any, ...]]:
        if self._base is None:
            return
        try:
            yield from self._base.execute(words, values)
        except (sqlite3.Error, UnicodeEncodeError):
            # Full disk, another process at it, a path that is no text: then the log is read anew next time.
            return


def _open(path: Path) -> sqlite3.Connection:
    path.parent.mkdir(parents=True, exist_ok=True)
    # SQLite makes files that others may read; what it makes beside them later takes over these rights.
    os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
    os.chmod(path, 0o600)
    base = sqlite3.connect(path, timeout=2)
    try:
        if base.execute("PRAGMA user_version").fetchone()[0] != FORMAT:
            base.execute("DROP TABLE IF EXISTS logs")
            base.execute(f"PRAGMA user_version = {FORMAT}")
        # It can be computed again, so nothing waits for the disk, and no second file is made beside it.
        base.execute("PRAGMA synchronous = OFF")
        base.execute("PRAGMA journal_mode = MEMORY")
        base.execute(_TABLE)
    except BaseException:
        base.close()
        raise
    return base


def _packed(held: FileLog) -> bytes:
    names = ("tool", "rows", "unknown", "damaged", "long", "own_runs", "unanswered", "mark")
    return to_json({name: getattr(held, name) for name in names})


def _held(data: bytes) -> FileLog | None:
    """What `_packed` made; None when it is something else."""
    try:
        values: dict[str, Any] = from_json(data)
        return FileLog(**values | {"rows": tuple(row_of(row) for row in values["rows"])})
    except (ValueError, TypeError, KeyError, IndexError):
        return None
