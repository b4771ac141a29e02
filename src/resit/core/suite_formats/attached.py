"""The files that questions name: inside the suite's folder, small enough, and text."""

from __future__ import annotations

import os
from pathlib import Path, PurePosixPath, PureWindowsPath

from resit.core.suite_formats.said import Unreadable
from resit.core.suite_formats.source import BOM, read_source

MAX_ATTACHED = 2_000_000


def inside(folder: Path, name: str) -> Path:
    """Where `name` is, as a path that stays inside `folder`, links followed.

    Raises:
        Unreadable: It leads elsewhere.
    """
    mend = "put it in the suite's folder and name it from there"
    windows = PureWindowsPath(name)
    if not name.strip() or "\0" in name:
        raise Unreadable(f"{name!r} is no file name", mend, code="missing-file")
    if PurePosixPath(name).is_absolute() or windows.is_absolute() or windows.drive:
        raise Unreadable(f"{name!r} is an absolute path", mend, code="outside-file")
    try:
        root = Path(os.path.realpath(folder))
        path = Path(os.path.realpath(root / name))
    except (OSError, ValueError) as error:
        raise Unreadable(f"{name!r} cannot be found: {error}", mend, code="missing-file") from None
    if path != root and root not in path.parents:
        raise Unreadable(f"{name!r} lies outside of the suite's folder", mend, code="outside-file")
    return path


def read_attached(folder: Path, name: str) -> str:
    """The text of a file that goes into a prompt, with LF line ends.

    Raises:
        Unreadable: It is missing, elsewhere, too large or no text.
    """
    path = inside(folder, name)
    try:
        text = read_source(path, MAX_ATTACHED)
    except Unreadable as error:
        raise Unreadable(f"file {name!r}: {error.message}", error.mend, code=error.code) from None
    if "\0" in text:
        raise Unreadable(f"file {name!r} is no text", "only text can be read into a prompt", code="encoding")
    return text.removeprefix(BOM).replace("\r\n", "\n")


def check_folder(folder: Path, name: str) -> None:
    """Look whether a workspace is there.

    Raises:
        Unreadable: It is missing, elsewhere, or no folder.
    """
    if not inside(folder, name).is_dir():
        raise Unreadable(f"there is no folder {name!r}", "make it, or mend the name", code="missing-file")
