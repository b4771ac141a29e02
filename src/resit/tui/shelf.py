"""Which suites the app knows of, and what is in each: the list of the first screen, without any drawing."""

from __future__ import annotations

import os
import shutil
import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from resit.core.printable import one_line

if TYPE_CHECKING:
    from resit.core.suite import Suite, SuiteFault

Origin = Literal["given", "here", "yours", "sample"]
"""Named on the command line, found in the working folder, kept in the data folder, or shipped with resit."""

ORIGINS: dict[str, str] = {
    "given": "given on the command line",
    "here": "in this folder",
    "yours": "in your suites",
    "sample": "sample",
}
FORMATS = frozenset({".toml", ".json", ".jsonl", ".csv"})
_LOOK_AT_BYTES = 65_536
Stamp = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Shelved:
    """One suite file, as it was when last read."""

    path: Path
    origin: Origin
    stamp: tuple[Stamp, ...] = ()
    """Times and sizes of the file and its edits when it was read; empty when it was not read yet."""
    suite: Suite | None = None
    """None while unread, and when there are faults."""
    faults: tuple[SuiteFault, ...] = ()
    titled: str = ""
    """What a file with faults calls itself, where that can be read."""

    @property
    def title(self) -> str:
        """What the list calls it: the suite's title, else the file's name."""
        return self.suite.title if self.suite else self.titled or self.path.stem

    @property
    def read(self) -> bool:
        """Whether the file was looked into."""
        return bool(self.stamp)

    @property
    def changed(self) -> bool:
        """Whether the file, or its edits, are no longer what was read."""
        return self.stamp != stamp_of(self.path)


def stamp_of(path: Path) -> tuple[Stamp, ...]:
    """Modification time and size of a suite file and of the edits beside it; zeros where there is none."""
    return _stamp(path), _stamp(path.with_name(path.stem + ".edits.toml"))


def _stamp(path: Path) -> Stamp:
    try:
        found = path.stat()
    except OSError:
        return 0, 0
    return found.st_mtime_ns, found.st_size


def read(shelved: Shelved) -> Shelved:
    """Read the file again: its suite, or every fault of it."""
    from resit.core.errors import SuiteError, SuiteRefused
    from resit.core.suite import SuiteFault
    from resit.core.suite_file import read_suite

    stamp = stamp_of(shelved.path)
    try:
        suite, faults = read_suite(shelved.path)
    except SuiteRefused as refused:
        suite, faults = None, refused.faults
    except SuiteError as error:
        fault = SuiteFault(code="unreadable", message=error.message, mend=error.hint, path=str(shelved.path))
        suite, faults = None, (fault,)
    if faults:
        return replace(shelved, stamp=stamp, suite=None, faults=tuple(faults), titled=_title_in(shelved.path))
    return replace(shelved, stamp=stamp, suite=suite, faults=(), titled="")


def _title_in(path: Path) -> str:
    """The title of a TOML file that is no sound suite; empty where it is no TOML either."""
    if path.suffix.lower() != ".toml":
        return ""
    try:
        title = tomllib.loads(path.read_text(encoding="utf-8-sig")).get("title")
    except (OSError, ValueError):
        return ""
    return one_line(title.strip(), 60) if isinstance(title, str) else ""


def refreshed(found: Shelved, known: Shelved | None) -> Shelved:
    """`known` while its files are what was read, else the file read again."""
    if known is not None and known.read and known.origin == found.origin and not known.changed:
        return known
    return read(found)


def find(given: Iterable[str], cwd: Path, yours: Path, samples: Iterable[Path]) -> list[Shelved]:
    """Every suite file the app knows of, none of them read yet, each once: given ones first, samples last."""
    wanted: list[tuple[Path, Origin]] = [(path, "given") for text in given for path in _given(Path(text))]
    wanted += [(path, "here") for path in _suites_in(cwd, {".toml"})]
    wanted += [(path, "yours") for path in _suites_in(yours, FORMATS)]
    wanted += [(path, "sample") for path in samples]
    seen: set[str] = set()
    shelf: list[Shelved] = []
    for path, origin in wanted:
        name = os.path.realpath(path)
        if name not in seen:
            seen.add(name)
            shelf.append(Shelved(path, origin))
    return shelf


def _given(path: Path) -> Iterator[Path]:
    if path.is_dir():
        yield from _suites_in(path, FORMATS)
    else:
        # A file named on the command line is listed even when it cannot be read: its fault is what is shown.
        yield path


def _suites_in(folder: Path, formats: Iterable[str]) -> list[Path]:
    try:
        files = sorted(path for path in folder.iterdir() if path.suffix.lower() in formats and path.is_file())
    except OSError:
        return []
    return [path for path in files if not path.name.endswith(".edits.toml") and _looks_like_suite(path)]


def _looks_like_suite(path: Path) -> bool:
    """A cheap look, so that pyproject.toml or a data file is not listed as a suite full of faults."""
    try:
        with path.open("rb") as file:
            head = file.read(_LOOK_AT_BYTES)
    except OSError:
        return False
    if path.suffix.lower() == ".toml":
        return b"[[questions]]" in head or (b"questions" in head and b"prompt" in head)
    return b"question" in head or b"prompt" in head or b"input" in head


def copy_to(path: Path, folder: Path) -> Path:
    """Copy a suite, and the data files its folder holds for it, to `folder`; an earlier copy is left alone.

    Raises:
        OSError: The folder cannot be written.
    """
    copy = folder / path.name
    if copy.exists():
        return copy
    folder.mkdir(parents=True, exist_ok=True)
    for name in _attached(path):
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if not target.exists():
            shutil.copyfile(path.parent / name, target)
    shutil.copyfile(path, copy)
    return copy


def _attached(path: Path) -> list[str]:
    suite = read(Shelved(path, "sample")).suite
    return sorted({name for question in suite.questions for name in question.files}) if suite else []


def write_starter(folder: Path) -> Path:
    """Write a commented starter suite into `folder` under a name that is free, and say where.

    Raises:
        OSError: The folder cannot be written.
    """
    from resit.core.suite_file import starter_suite

    folder.mkdir(parents=True, exist_ok=True)
    for number in range(1, 1000):
        path = folder / ("my-exam.toml" if number == 1 else f"my-exam-{number}.toml")
        try:
            with path.open("x", encoding="utf-8") as file:
                file.write(starter_suite())
        except FileExistsError:
            continue
        return path
    raise FileExistsError(f"{folder} holds a thousand starter suites")
