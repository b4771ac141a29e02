"""Is it safely kept? A round's folder: the only module that reads and writes results.

A result file is written whole or not at all: a temporary file in the same folder, then a rename. A killed process
therefore loses no finished run. Files are not synced to the disk one by one (it would cost milliseconds a call), so a
power cut can leave one empty: such a file is found when the round is opened by a runner, set aside unchanged, named,
and its run is asked again.
"""

from __future__ import annotations

import errno
import fcntl
import json
import os
import tomllib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from decimal import Decimal
from functools import lru_cache
from pathlib import Path
from typing import IO, NamedTuple

from pydantic import ValidationError

from resit.core.errors import RoundBusy, RoundError, StoreFull
from resit.core.records import RunRecord
from resit.core.rounds.plan import RoundPlan
from resit.core.rounds.written import brief, parsed, serialised, to_toml
from resit.core.suite import Suite

RESULTS, DAMAGED = "results", "damaged"
_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})

Writer = Callable[[Path, bytes], None]
"""Writes a file whole or not at all; raises OSError."""


class FileMark(NamedTuple):
    """By what a changed file is known without reading it."""

    mtime_ns: int
    size: int


class RoundStore:
    """One round's folder."""

    def __init__(self, path: Path, *, write: Writer | None = None) -> None:
        """Look at the round in `path`, which must exist.

        Args:
            path: The round's folder.
            write: Stands in for the writing of files.
        """
        self.path = path
        self.results = path / RESULTS
        self._write = write or write_whole
        self._lock: IO[bytes] | None = None

    @classmethod
    def create(cls, rounds_dir: Path, plan: RoundPlan, suite: Suite, *, write: Writer | None = None) -> RoundStore:
        """Make the folder of a new round, named by `plan.id`, and write its plan and suite.

        When the name is taken, a number is put after it.

        Raises:
            StoreFull: The disk has no room.
            RoundError: The folder cannot be made.
        """
        parent = rounds_dir / plan.suite
        try:
            parent.mkdir(parents=True, exist_ok=True)
            path = _make_unique(parent, plan.id)
            (path / RESULTS).mkdir()
        except OSError as error:
            raise _translated(error, parent) from error
        store = cls(path, write=write)
        store.save_plan(plan.model_copy(update={"id": path.name}))
        store.save_suite(suite)
        return store

    @classmethod
    def open(cls, path: Path, *, write: Writer | None = None) -> RoundStore:
        """Open the round in the folder `path`.

        Raises:
            RoundError: There is no round there.
        """
        if not (path / "round.toml").is_file():
            raise RoundError(f"{path} holds no round", hint="a round's folder has a round.toml")
        return cls(path, write=write)

    @classmethod
    def find(cls, rounds_dir: Path, ref: str, suite: str | None = None) -> RoundStore:
        """The round that `ref` names: `last`, an id or the beginning of one, or the path of its folder.

        Args:
            rounds_dir: Folder of all rounds.
            ref: What the person wrote.
            suite: Look only among the rounds of this suite.

        Raises:
            RoundError: None, or more than one, is named so.
        """
        if ref != "last" and (os.sep in ref or ref.startswith(".")) and Path(ref).is_dir():
            return cls.open(Path(ref))
        known = find_rounds(rounds_dir, suite)
        if ref == "last":
            if not known:
                raise RoundError("there is no round yet", hint="resit run SUITE -m MODEL starts one")
            return cls.open(known[0])
        named = [path for path in known if path.name == ref] or [p for p in known if p.name.startswith(ref)]
        if len(named) > 1:
            raise RoundError(f"{ref!r} names {len(named)} rounds", hint=f"the newest is {named[0].name}")
        if not named:
            if Path(ref).is_dir():
                return cls.open(Path(ref))
            raise RoundError(f"there is no round {ref!r}", hint="`last` is the newest; `resit` lists them all")
        return cls.open(named[0])

    @property
    def id(self) -> str:
        """The round's name."""
        return self.path.name

    def plan(self) -> RoundPlan:
        """The plan as it is on disk.

        Raises:
            RoundError: It cannot be read.
        """
        path = self.path / "round.toml"
        try:
            table = tomllib.loads(path.read_text(encoding="utf-8"), parse_float=Decimal)
            return RoundPlan.model_validate(table)
        except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError, ValidationError) as error:
            raise RoundError(f"{path} cannot be read: {brief(error)}") from error

    def save_plan(self, plan: RoundPlan) -> None:
        """Write `round.toml`."""
        self._put(self.path / "round.toml", to_toml(plan.model_dump(exclude_none=True)))

    def suite(self) -> Suite:
        """The suite as asked; it needs no file outside the round.

        Raises:
            RoundError: It cannot be read.
        """
        path = self.path / "suite.toml"
        try:
            return _parsed_suite(path.read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError, ValidationError) as error:
            raise RoundError(f"{path} cannot be read: {brief(error)}") from error

    def save_suite(self, suite: Suite) -> None:
        """Write `suite.toml`."""
        self._put(self.path / "suite.toml", to_toml(suite.model_dump(mode="json", exclude_none=True)))

    def put(self, record: RunRecord) -> None:
        """Keep a run, in place of what was kept of it before.

        Raises:
            StoreFull: The disk has no room; what was there is unchanged.
            RoundError: It cannot be written for another reason.
        """
        self._put(self._file(record.key), serialised(record))

    def read(self, key: str) -> RunRecord | None:
        """What is kept of a run; None when there is nothing.

        Raises:
            RoundError: The file is damaged.
        """
        path = self._file(key)
        try:
            data = path.read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise RoundError(f"{path} cannot be read: {brief(error)}") from error
        return parsed(path, data)

    def keys(self) -> tuple[str, ...]:
        """Names of the runs that have a file, sorted."""
        return tuple(sorted(key for key, _ in self.marks()))

    def marks(self) -> Iterator[tuple[str, FileMark]]:
        """Each run's name with its file's mark, in no order. Temporary files are passed over."""
        try:
            with os.scandir(self.results) as entries:
                for entry in entries:
                    if entry.name.endswith(".json") and not entry.name.startswith("."):
                        stat = entry.stat()
                        yield entry.name[:-5], FileMark(stat.st_mtime_ns, stat.st_size)
        except FileNotFoundError:
            return

    def mark(self, key: str) -> FileMark | None:
        """The mark of one run's file; None when it has none."""
        try:
            stat = self._file(key).stat()
        except OSError:
            return None
        return FileMark(stat.st_mtime_ns, stat.st_size)

    def set_aside(self, key: str) -> Path:
        """Move a damaged file into `damaged/`, unchanged; returns its new path. Only for the holder of the lock."""
        folder = self.path / DAMAGED
        folder.mkdir(exist_ok=True)
        number = 1
        while (target := folder / f"{key}.json{'' if number == 1 else f'.{number}'}").exists():
            number += 1
        os.replace(self._file(key), target)
        return target

    def set_aside_keys(self) -> frozenset[str]:
        """Names of the runs of which a damaged file was set aside."""
        return frozenset(path.name.partition(".json")[0] for path in self.path.glob(f"{DAMAGED}/*.json*"))

    def lock(self) -> None:
        """Become the round's one runner; the lock goes with the process, however it ends.

        Raises:
            RoundBusy: Another process runs this round; its number is said.
            RoundError: The lock cannot be used here.
        """
        path = self.path / "lock"
        file = open(path, "a+b")  # noqa: SIM115 - it must stay open as long as the lock is held
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = _holder(file)
            file.close()
            raise RoundBusy(f"round {self.id} is run by {holder}", hint=f"resit watch {self.id} follows it") from None
        except OSError as error:
            file.close()
            raise RoundError(f"{path} cannot be locked: {brief(error)}") from error
        with suppress(OSError):
            file.truncate(0)
            file.write(str(os.getpid()).encode())
            file.flush()
        self._lock = file
        self._sweep()

    def unlock(self) -> None:
        """Let others run the round."""
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    @property
    def locked(self) -> bool:
        """True while this object holds the lock."""
        return self._lock is not None

    def runner_pid(self) -> int | None:
        """Number of the process that runs the round now; None when none does. 0 when it is not known."""
        try:
            file = open(self.path / "lock", "rb")  # noqa: SIM115 - closed below
        except OSError:
            return None
        with file:
            try:
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except OSError:
                return _pid(file) or 0
            return None

    def write_file(self, name: str, data: bytes) -> None:
        """Write a file of the round's own, whole or not at all."""
        self._put(self.path / name, data)

    def _file(self, key: str) -> Path:
        return self.results / f"{key}.json"

    @contextmanager
    def translating(self, name: str) -> Iterator[None]:
        """What the system says while the file `name` of this round is written becomes a sentence.

        Raises:
            StoreFull: The disk has no room.
            RoundError: It cannot be written for another reason.
        """
        try:
            yield
        except OSError as error:
            raise _translated(error, self.path / name) from error

    def _put(self, path: Path, data: bytes) -> None:
        try:
            self._write(path, data)
        except OSError as error:
            raise _translated(error, path) from error

    def _sweep(self) -> None:
        """Remove what a killed runner was writing: files that were never results."""
        for folder in (self.path, self.results):
            with suppress(OSError), os.scandir(folder) as entries:
                for entry in entries:
                    if entry.name.startswith(".") and entry.name.endswith(".part"):
                        os.unlink(entry.path)


@lru_cache(maxsize=16)
def _parsed_suite(text: str) -> Suite:
    """The suite in `text`. Rounds of one suite mostly hold the same text, and 500 questions take 70 ms to read."""
    # Through JSON, where strict models take an array for a tuple and a string for a Decimal.
    return Suite.model_validate_json(json.dumps(tomllib.loads(text), default=str))


def find_rounds(rounds_dir: Path, suite: str | None = None) -> list[Path]:
    """Folders of all rounds, newest first."""
    pattern = f"{suite}/*/round.toml" if suite else "*/*/round.toml"
    return sorted((path.parent for path in rounds_dir.glob(pattern)), key=lambda path: path.name, reverse=True)


def write_whole(path: Path, data: bytes) -> None:
    """Write `data` to `path` so that a killed process leaves the old file or the new one, never a part.

    Raises:
        OSError: It could not be written; `path` is unchanged.
    """
    # Short, for a run's name may be as long as a file's name can be. One process writes at a time.
    part = f"{path.parent}/.{os.getpid()}.part"
    try:
        descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
        try:
            left = memoryview(data)
            while left:
                left = left[os.write(descriptor, left) :]
        finally:
            os.close(descriptor)
        os.replace(part, path)
    except OSError:
        with suppress(OSError):
            os.unlink(part)
        raise


def _translated(error: OSError, path: Path) -> RoundError:
    if error.errno in _FULL:
        return StoreFull(
            f"the disk has no room for {path.name}; all that was kept before is whole",
            hint="make room, then run the same command again",
        )
    return RoundError(f"{path} cannot be written: {brief(error)}")


def _make_unique(parent: Path, name: str) -> Path:
    number = 1
    while True:
        path = parent / (name if number == 1 else f"{name}-{number}")
        try:
            path.mkdir()
        except FileExistsError:
            number += 1
        else:
            return path


def _pid(file: IO[bytes]) -> int | None:
    file.seek(0)
    text = file.read(20).strip()
    return int(text) if text.isdigit() else None


def _holder(file: IO[bytes]) -> str:
    pid = _pid(file)
    return f"process {pid}" if pid else "another process"
