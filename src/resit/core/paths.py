"""Where resit keeps things, and how a file is written so that it is whole or not there."""

from __future__ import annotations

import itertools
import os
from contextlib import suppress
from pathlib import Path

import platformdirs

HOME_VARIABLE = "RESIT_HOME"
"""Environment variable that moves everything resit keeps into one folder."""

_counter = itertools.count()


def data_dir() -> Path:
    """Folder of rounds, the ledger and edits that have no place beside their suite."""
    return _home() or Path(platformdirs.user_data_dir("resit", appauthor=False))


def config_dir() -> Path:
    """Folder of what the person writes: `models.toml`."""
    return _home() or Path(platformdirs.user_config_dir("resit", appauthor=False))


def cache_dir() -> Path:
    """Folder of what can be fetched or computed again."""
    home = _home()
    return home / "cache" if home else Path(platformdirs.user_cache_dir("resit", appauthor=False))


def rounds_dir() -> Path:
    """Folder of all rounds, one folder a suite."""
    return data_dir() / "rounds"


def atomic_write(path: Path, data: bytes, *, sync: bool = True) -> None:
    """Write `data` to `path` whole or not at all, also when the process is killed meanwhile.

    The folder is made when it is missing. A link is followed, so that a file kept elsewhere stays there.

    Args:
        path: The file to make or replace.
        data: All of its bytes.
        sync: Wait until the disk has it, so that it also outlives a power cut. Costs some milliseconds.

    Raises:
        OSError: It could not be written; what was there before is unchanged.
    """
    target = Path(os.path.realpath(path))
    target.parent.mkdir(parents=True, exist_ok=True)
    # A short name of its own: appending to a long name could pass the 255 bytes a name may have.
    temporary = target.parent / f".tmp-{os.getpid()}-{next(_counter)}"
    try:
        with open(temporary, "xb") as file:
            file.write(data)
            if sync:
                file.flush()
                os.fsync(file.fileno())
        _keep_mode(target, temporary)
        os.replace(temporary, target)
    except BaseException:
        with suppress(OSError):
            temporary.unlink()
        raise


def _home() -> Path | None:
    """The folder `RESIT_HOME` names; None when it is not set."""
    text = os.environ.get(HOME_VARIABLE, "").strip()
    return Path(text).expanduser().absolute() if text else None


def _keep_mode(target: Path, temporary: Path) -> None:
    """Give the new file the permissions of the one it replaces."""
    with suppress(OSError):
        os.chmod(temporary, target.stat().st_mode & 0o7777)
