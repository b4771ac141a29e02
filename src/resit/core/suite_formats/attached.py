"""The files that questions name: inside the suite's folder, small enough, and text."""

from __future__ import annotations

import os
from pathlib import Path, PurePosixPath, PureWindowsPath

from resit.core.folders import TooMuch, leads_inside, read_tree, tree_digest
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


def folder_digest(folder: Path, name: str) -> str:
    """Fingerprint of a folder that a question names, with all that is in it.

    Raises:
        Unreadable: It is missing, elsewhere, empty, too large, or holds what cannot be copied.
    """
    path = inside(folder, name)
    if not path.is_dir():
        raise Unreadable(f"there is no folder {name!r}", "make it, or mend the name", code="missing-file")
    try:
        tree = read_tree(path)
    except TooMuch as error:
        raise Unreadable(f"folder {name!r}: {error}", "take out what is not needed", code="unreadable") from None
    except OSError as error:
        raise Unreadable(f"folder {name!r} cannot be read: {error.strerror}", code="unreadable") from None
    if not tree:
        raise Unreadable(f"folder {name!r} is empty", "put a file into it", code="missing-file")
    for inner, entry in tree.items():
        if entry.kind == "odd" or (entry.kind == "link" and not leads_inside(inner, entry.digest)):
            what = "leads out of it" if entry.kind == "link" else f"is {entry.digest}"
            raise Unreadable(f"folder {name!r}: {inner!r} {what}", "put a plain file there", code="outside-file")
    return tree_digest(tree)


def check_apart(suite_file: Path, workspace: str, hidden: str | None) -> None:
    """Look whether an agent would be given the answers along with its workspace.

    Args:
        suite_file: The suite.
        workspace: Folder of which the agent gets a copy.
        hidden: Folder of the hidden tests.

    Raises:
        Unreadable: It would, or a folder lies outside of the suite's.
    """
    given = inside(suite_file.parent, workspace)
    mend = "give the workspace a folder of its own"
    if given in Path(os.path.realpath(suite_file)).parents:
        raise Unreadable(f"the suite itself lies in the workspace {workspace!r}", mend, code="workspace-keys")
    kept = inside(suite_file.parent, hidden) if hidden else None
    if kept is not None and (kept == given or given in kept.parents or kept in given.parents):
        message = f"the hidden folder {hidden!r} and the workspace {workspace!r} lie in each other"
        raise Unreadable(message, "put them side by side", code="workspace-keys")
