"""How a command stays signed in: its login files are lent to it, and kept when it renewed them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from resit.core.paths import atomic_write

_MAX_BYTES = 1_000_000


def sign_in_files(logins: Sequence[str]) -> tuple[Path, ...]:
    """Those of the person's login files that are there."""
    return tuple(path for login in logins if (path := Path.home() / login).is_file())


@dataclass(frozen=True, slots=True)
class Lent:
    """The login files of one run, as they were when they were lent."""

    home: Path
    """The private home they are in."""
    files: dict[str, bytes]
    """Their contents, by their place."""

    @classmethod
    def of(cls, logins: Sequence[str], home: Path) -> Lent:
        """Note what was lent."""
        found = {login: _read(home / login) for login in logins}
        return cls(home, {login: data for login, data in found.items() if data is not None})

    def keep_renewed(self) -> None:
        """Take over the files that the command has renewed.

        A token that is renewed makes the former one worthless: without this the person would be signed out. Only
        what still has the shape of the file it replaces is taken, for an agent that may write could have left
        anything there; and only what the command changed, for another run may have renewed it meanwhile.
        """
        for login, before in self.files.items():
            after = _read(self.home / login)
            if after is None or after == before or _shape(after) is None or _shape(after) != _shape(before):
                continue
            with suppress(OSError):
                atomic_write(Path.home() / login, after)

    def renewed_elsewhere(self) -> bool:
        """True when the person's files are no longer those that were lent: a refusal was of the former ones."""
        return any(_read(Path.home() / login) not in (None, before) for login, before in self.files.items())


def _read(path: Path) -> bytes | None:
    """A file's contents; None when it is not there, too large, or a link that a command could have laid."""
    try:
        if path.is_symlink() or path.stat().st_size > _MAX_BYTES:
            return None
        return path.read_bytes()
    except OSError:
        return None


def _shape(data: bytes) -> Any:
    """The keys of a JSON file and the kinds of its values; None when it is none."""
    try:
        return _kinds(json.loads(data))
    except (ValueError, RecursionError):
        return None


def _kinds(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _kinds(item) for key, item in value.items()}
    return type(value).__name__
