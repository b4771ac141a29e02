"""How a command stays signed in: its login files are lent to it, and kept when it renewed them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from resit.core.paths import atomic_write

_MAX_BYTES = 1_000_000


def sign_in_files(logins: Sequence[str]) -> tuple[Path, ...]:
    """Those of the person's login files that are there."""
    return tuple(path for login in logins if (path := Path.home() / login).is_file())


def keep_renewed(logins: Sequence[str], home: Path) -> None:
    """Take over login files that a command has renewed in its private home.

    A token that is renewed makes the former one worthless: without this the person would be signed out. Only what
    still has the shape of the file it replaces is taken, for an agent that may write could have left anything there.
    """
    for login in logins:
        own, lent = Path.home() / login, home / login
        try:
            if not own.is_file() or lent.is_symlink() or lent.stat().st_size > _MAX_BYTES:
                continue
            before, after = own.read_bytes(), lent.read_bytes()
            if before != after and _shape(before) is not None and _shape(before) == _shape(after):
                atomic_write(own, after)
        except OSError:
            continue


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
