"""Folders as they are, read without following a link and in bounds, whoever filled them."""

from __future__ import annotations

import hashlib
import os
import secrets
import shutil
import stat
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Literal

MB = 1024 * 1024
LEFTOVERS = frozenset(
    {"__pycache__", ".pytest_cache", ".mypy_cache", ".ruff_cache", ".hypothesis", ".DS_Store", "Thumbs.db"}
)
"""Names of what tools leave behind. Never copied nor compared: a test run of the person's would change a workspace
otherwise, and a planted `.pyc` would run in the place of a test."""
MARKER_PREFIX = ".resit-canary-"
"""How planted markers are named; they belong to no folder's content."""
MAX_DEPTH = 64
_CHUNK = 1 << 20
_OPEN = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


class TooMuch(Exception):
    """A folder holds more than may be read; the message says what."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """How much of a folder is read."""

    files: int = 5_000
    mb: int = 100


@dataclass(frozen=True, slots=True)
class Entry:
    """Something in a folder that is no folder."""

    kind: Literal["file", "link", "odd"]
    """`odd`: a pipe, socket or device, or what lies too deep or cannot be read."""
    mode: int
    """Permissions. 0 for a link, whose own mean nothing."""
    size: int
    digest: str
    """SHA-256 of a file's bytes; where a link leads; for anything else what it is."""


Tree = Mapping[str, Entry]
"""What a folder holds, by path with `/` in it, in order."""


def read_tree(folder: Path, bounds: Bounds | None = None, *, pry: bool = False) -> Tree:
    """All that `folder` holds but leftovers of tools.

    Args:
        folder: What to read.
        bounds: How much at most.
        pry: Take what a stranger left in a folder of ours: open what is locked, and note what cannot be read.

    Raises:
        TooMuch: It holds more than `bounds`.
        OSError: Something in it cannot be read; with `pry` only the folder itself.
    """
    bounds = bounds or Bounds()
    found: dict[str, Entry] = {}
    left = bounds.mb * MB
    for name, state in _walk(folder, pry=pry):
        if len(found) == bounds.files:
            raise TooMuch(f"it holds more than {bounds.files:,} files")
        found[name] = _entry(folder / name, state, left, pry=pry)
        left -= found[name].size
        if left < 0:
            raise TooMuch(f"it holds more than {bounds.mb:,} MB")
    return dict(sorted(found.items()))


def digest_tree(folder: Path, bounds: Bounds | None = None) -> str:
    """Fingerprint of all that `folder` holds: names, contents, and whether a file can be executed.

    Raises:
        TooMuch: It holds more than `bounds`.
        OSError: It cannot be read.
    """
    return tree_digest(read_tree(folder, bounds))


def tree_digest(tree: Tree) -> str:
    """Fingerprint of a folder that was read; the same for the same folder on another machine."""
    whole = hashlib.sha256()
    for name, entry in tree.items():
        line = f"{name}\0{entry.kind}\0{bool(entry.mode & 0o100)}\0{entry.digest}\n"
        whole.update(line.encode(errors="surrogateescape"))
    return whole.hexdigest()[:16]


def copy_tree(source: Path, target: Path, tree: Tree, *, mode: bool = True) -> None:
    """Put what `tree` says of `source` into `target`, over whatever is there, following no link on either side.

    Links that lead out of the folder are left out, and so is what is no file.

    Args:
        source: Folder that was read.
        target: Folder that is filled.
        tree: What to copy of it.
        mode: Whether permissions are copied; files are readable and writable for us in any case.

    Raises:
        OSError: Something cannot be read or written.
    """
    for name, entry in tree.items():
        place = make_way(target, name)
        if entry.kind == "file":
            _copy_file(source / name, place, (entry.mode | 0o600) if mode else 0o600)
        elif entry.kind == "link" and leads_inside(name, entry.digest):
            os.symlink(entry.digest, place)


def make_way(folder: Path, name: str) -> Path:
    """Where `name` goes in `folder`, with nothing there yet: what stands in its way, links above all, is removed."""
    place = folder
    *parents, last = PurePosixPath(name).parts
    for part in parents:
        place = place / part
        if place.is_symlink() or not place.is_dir():
            _remove(place)
            place.mkdir()
    place = place / last
    _remove(place)
    return place


def leads_inside(name: str, target: str) -> bool:
    """Whether a link called `name` that leads to `target` stays within the folder it is in."""
    if not target or target.startswith("/"):
        return False
    depth = len(PurePosixPath(name).parts) - 1
    for part in target.split("/"):
        depth += -1 if part == ".." else 0 if part in ("", ".") else 1
        if depth < 0:
            return False
    return True


def remove_tree(folder: Path) -> None:
    """Remove a folder whatever is in it: folders that are locked or nested without end, names of any kind.

    Raises:
        OSError: Something in it cannot be removed.
    """
    # What lies in an inner folder is moved up before that is removed: no path ever grows long.
    inner = [folder]
    while inner:
        found: list[Path] = []
        for place in inner:
            _open_up(place)
            with os.scandir(place) as scan:
                entries = list(scan)
            for entry in entries:
                if not entry.is_dir(follow_symlinks=False):
                    os.unlink(entry.path)
                    continue
                _open_up(Path(entry.path))
                found.append(folder / f".removed-{secrets.token_hex(8)}")
                os.rename(entry.path, found[-1])
            if place != folder:
                os.rmdir(place)
        inner = found
    os.rmdir(folder)


def read_left(folder: Path, name: str, most_bytes: int) -> bytes | None:
    """The beginning of a file that a stranger left in `folder`; None when it is no ordinary file in it.

    No link is followed, wherever in the path, for it may lead to what only we can read; nor is a pipe waited for.
    """
    if name.startswith("/") or ".." in PurePosixPath(name).parts:
        return None
    try:
        place = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        for part in PurePosixPath(name).parts:
            inner = os.open(part, _OPEN, dir_fd=place)
            os.close(place)
            place = inner
        if not stat.S_ISREG(os.fstat(place).st_mode):
            return None
        with os.fdopen(os.dup(place), "rb") as file:
            return file.read(most_bytes)
    except OSError:
        return None
    finally:
        os.close(place)


def _walk(folder: Path, *, pry: bool) -> Iterator[tuple[str, os.stat_result | None]]:
    """What is no folder, with its state; None for a folder that cannot be entered."""
    waiting = [("", 0)]
    while waiting:
        inner, depth = waiting.pop()
        if pry:
            _open_up(folder / inner)
        try:
            with os.scandir(folder / inner) as scan:
                entries = [entry for entry in scan if not _is_leftover(entry.name)]
        except OSError:
            if not (pry and inner):
                raise
            yield inner, None
            continue
        for entry in entries:
            name = f"{inner}/{entry.name}" if inner else entry.name
            if entry.is_dir(follow_symlinks=False) and depth < MAX_DEPTH:
                waiting.append((name, depth + 1))
            else:
                yield name, entry.stat(follow_symlinks=False)


def _is_leftover(name: str) -> bool:
    return name in LEFTOVERS or name.endswith(".pyc") or name.startswith(MARKER_PREFIX)


def _entry(path: Path, state: os.stat_result | None, left: int, *, pry: bool) -> Entry:
    if state is None or stat.S_ISDIR(state.st_mode):
        return Entry("odd", 0, 0, "too deep or locked")
    if stat.S_ISLNK(state.st_mode):
        return Entry("link", 0, 0, os.readlink(path))
    if not stat.S_ISREG(state.st_mode):
        return Entry("odd", 0, 0, "no ordinary file")
    if state.st_size > left:
        return Entry("odd", 0, state.st_size, "too large")
    mode = stat.S_IMODE(state.st_mode)
    if pry and not mode & stat.S_IRUSR:
        path.chmod(mode | stat.S_IRUSR)
    digest, size = hashlib.sha256(), 0
    with os.fdopen(os.open(path, _OPEN), "rb") as file:
        while chunk := file.read(_CHUNK):
            digest.update(chunk)
            size += len(chunk)
    return Entry("file", mode, size, digest.hexdigest())


def _copy_file(source: Path, target: Path, mode: int) -> None:
    with (
        os.fdopen(os.open(source, _OPEN), "rb") as file,
        os.fdopen(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600), "wb") as copy,
    ):
        shutil.copyfileobj(file, copy, _CHUNK)
        os.fchmod(copy.fileno(), mode)


def _open_up(folder: Path) -> None:
    """Let ourselves into a folder of our own."""
    with suppress(OSError):
        found = folder.lstat()
        if stat.S_ISDIR(found.st_mode) and found.st_mode & stat.S_IRWXU != stat.S_IRWXU:
            folder.chmod(found.st_mode | stat.S_IRWXU)


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        remove_tree(path)
    else:
        path.unlink(missing_ok=True)
