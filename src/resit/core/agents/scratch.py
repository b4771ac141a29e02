"""The folder an agent's run starts in: fresh, outside every suite, and gone afterwards."""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

from resit.core.errors import ResitError
from resit.core.folders import (
    Bounds,
    TooMuch,
    copy_tree,
    digest_tree,
    leads_inside,
    make_way,
    read_tree,
    remove_tree,
    tree_digest,
)
from resit.core.records import Request

PREFIX = "resit-run-"
"""How the folder of every run is named, so that its logs can be told from a person's own work."""
_READ_ONLY = 0o555, 0o444
_LEFT_S = 24 * 3600
"""Age after which the folder of a process that is gone is removed."""


@dataclass(frozen=True, slots=True)
class Scratch:
    """The folders of one run; a context manager that removes them."""

    root: Path
    """`resit-run-…`, which holds the others; the agent sees only `work` and `home`."""
    work: Path
    """Where the agent starts: question files, or the copy of the workspace."""
    home: Path
    """Its private home."""
    before: Path
    """What it got, out of its reach: what its work is compared with, and protected files come from."""
    given: str
    """Fingerprint of `before`: without a jail an agent might have reached it."""
    writable: bool
    """True for a workspace."""

    def remove(self) -> None:
        """Remove all of it, whatever an agent left there; what cannot be removed now is tried again by later runs."""
        with suppress(OSError):
            remove_tree(self.root)

    def __enter__(self) -> Scratch:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.remove()


def prepare(request: Request, *, outside: Sequence[Path] = (), sign_in: Sequence[Path] = ()) -> Scratch:
    """Make the folders of a run and fill them with what the question gives.

    Args:
        request: Its files and its workspace.
        outside: Folders it must not lie in: what `hidden_areas` says.
        sign_in: Files and folders of the person's home, copied to the same place in the private one.

    Raises:
        ResitError: There is no room, or the workspace is not what it was when the round was planned.
    """
    base = _base(outside)
    try:
        _sweep(base)
        # The number of the process tells a later one that nobody uses it any more.
        root = Path(tempfile.mkdtemp(prefix=f"{PREFIX}{os.getpid()}-", dir=base))
        try:
            return _filled(root, request, sign_in)
        except BaseException:
            with suppress(OSError):
                remove_tree(root)
            raise
    except (OSError, TooMuch) as error:
        why = error.strerror if isinstance(error, OSError) else error
        raise ResitError(f"no folder for a run in {base}: {why}", hint="make room there") from error


def _base(outside: Sequence[Path]) -> Path:
    hidden = [path.resolve() for path in outside]
    for name in (tempfile.gettempdir(), "/var/tmp"):
        base = Path(name).resolve()
        if base.is_dir() and os.access(base, os.W_OK) and not any(p == base or p in base.parents for p in hidden):
            return base
    raise ResitError("every place for temporary files lies in a suite's folder", hint="set TMPDIR to another folder")


def _sweep(base: Path) -> None:
    """Remove the folders that killed processes left."""
    for folder in base.glob(f"{PREFIX}*-*"):
        number = folder.name.removeprefix(PREFIX).partition("-")[0]
        with suppress(OSError, ValueError):
            state = folder.lstat()
            # Another container may share the place and not the numbers of processes.
            left = state.st_uid == os.getuid() and state.st_mtime < time.time() - _LEFT_S and not _runs(int(number))
            if left and stat.S_ISDIR(state.st_mode):
                remove_tree(folder)


def _runs(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def _filled(root: Path, request: Request, sign_in: Sequence[Path]) -> Scratch:
    work, home, before = (root / name for name in ("work", "home", "before"))
    for folder in (work, home, before):
        folder.mkdir(mode=0o700)
    if request.workspace is not None:
        _copy_workspace(request.workspace, request.workspace_digest, before)
    for name, text in request.files:
        if not leads_inside("file", name):
            raise ResitError(f"the file {name!r} lies outside of the suite's folder", hint="resit check says more")
        place = make_way(before, name)
        place.write_text(text, encoding="utf-8", newline="")
    tree = read_tree(before, Bounds(mb=200))
    copy_tree(before, work, tree)
    writable = request.workspace is not None
    if not writable:
        _lock(work)
    _lend(sign_in, home)
    return Scratch(root, work, home, before, tree_digest(tree), writable)


def _copy_workspace(source: Path, digest: str, target: Path) -> None:
    try:
        copy_tree(source, target, read_tree(source))
        found = digest_tree(target)
    except TooMuch as error:
        raise ResitError(f"the workspace {source.name!r}: {error}", hint="ask with a smaller one") from error
    if digest and found != digest:
        raise ResitError(
            f"the workspace {source.name!r} changed after the round was planned", hint="start the round again"
        )


def _lock(folder: Path) -> None:
    """Take the right to write away, for systems whose jail cannot."""
    for path in [folder, *folder.rglob("*")]:
        if not path.is_symlink():
            path.chmod(_READ_ONLY[0] if stat.S_ISDIR(path.stat().st_mode) else _READ_ONLY[1])


def _lend(paths: Sequence[Path], home: Path) -> None:
    person = Path.home()
    for path in paths:
        if not path.is_relative_to(person):
            continue
        place = home / path.relative_to(person)
        place.parent.mkdir(parents=True, exist_ok=True)
        if path.is_dir():
            shutil.copytree(path, place, symlinks=True, dirs_exist_ok=True)
        elif path.is_file():
            shutil.copyfile(path, place)
            place.chmod(0o600)
