"""What was spent: one line for every call that left, errors included, shared by every resit on this machine."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, tzinfo
from decimal import Decimal
from pathlib import Path
from typing import Literal

from pydantic import ValidationError

from resit.core.errors import RoundError, StoreFull
from resit.core.paths import data_dir
from resit.core.records import FaultKind, Frozen, Stop, Usage

By = Literal["day", "model", "suite"]


class LedgerEntry(Frozen):
    """One call, as it was billed or not."""

    at: datetime
    """When it was sent, UTC."""
    suite: str
    round: str
    question: str
    model: str
    setting: str
    run: int
    attempt: int
    provider: str
    endpoint: str
    ended: Stop | FaultKind
    """How the reply stopped, or why none came."""
    usage: Usage | None = None
    cost_usd: Decimal | None = None
    """At the price in force then. None: not known."""
    request_id: str | None = None


@dataclass(frozen=True, slots=True)
class LedgerRead:
    """What the ledger holds."""

    entries: tuple[LedgerEntry, ...]
    damaged: int
    """Lines that cannot be read, such as one cut off by a crash: their money is missing from every sum."""


class Ledger:
    """The append-only file. Lines of several processes never mix: each is one write at the end."""

    def __init__(self, path: Path | None = None) -> None:
        """Use `path`; None is the ledger in the data folder."""
        self.path = path or data_dir() / "ledger.jsonl"

    def append(self, entry: LedgerEntry) -> None:
        """Add one line.

        Raises:
            StoreFull: The disk has no room.
            RoundError: The file cannot be written for another reason.
        """
        line = f"{entry.model_dump_json()}\n".encode()
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._write(line)
        except OSError as error:
            if error.errno in (errno.ENOSPC, errno.EDQUOT):
                raise StoreFull("the disk is full; what is kept is whole", hint="free some room and go on") from None
            raise RoundError(f"{self.path} cannot be written ({error.strerror})") from None

    def read(self) -> LedgerRead:
        """Every entry, oldest line first; a ledger that is not there is empty.

        Raises:
            RoundError: The file is there and cannot be read.
        """
        try:
            lines = self.path.read_bytes().split(b"\n")
        except FileNotFoundError:
            return LedgerRead((), 0)
        except OSError as error:
            raise RoundError(f"{self.path} cannot be read ({error.strerror})") from None
        parsed = [_parse(line) for line in lines if line.strip()]
        return LedgerRead(tuple(e for e in parsed if e is not None), sum(e is None for e in parsed))

    def _write(self, line: bytes) -> None:
        handle = os.open(self.path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            if not _ends_on_a_line(handle):
                # What a crash cut off stays a line of its own instead of spoiling this one.
                line = b"\n" + line
            written = os.write(handle, line)
            if written < len(line):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        finally:
            os.close(handle)


class LedgerTail:
    """What is added to a ledger, whoever adds it: each look reads on from where the last one ended."""

    def __init__(self, ledger: Ledger) -> None:
        """Begin at the ledger's beginning."""
        self._path = ledger.path
        self._read_to = 0

    def take(self) -> tuple[LedgerEntry, ...]:
        """The entries since the last look. A line that is still being written waits for the next one.

        Raises:
            RoundError: The ledger is there and cannot be read.
        """
        try:
            with self._path.open("rb") as file:
                file.seek(self._read_to)
                whole, end, _ = file.read().rpartition(b"\n")
        except FileNotFoundError:
            return ()
        except OSError as error:
            raise RoundError(f"{self._path} cannot be read ({error.strerror})") from None
        self._read_to += len(whole) + len(end)
        parsed = (_parse(line) for line in whole.split(b"\n") if line.strip())
        return tuple(entry for entry in parsed if entry is not None)


@dataclass(frozen=True, slots=True)
class SpendLine:
    """What one day, model or suite cost."""

    name: str
    calls: int
    cost_usd: Decimal
    """Sum of the known costs."""
    unknown: int
    """Calls of unknown cost: with any, `cost_usd` reads "at least", and "unknown" when no call has a cost."""
    input_tokens: int
    cache_write_tokens: int
    cache_read_tokens: int
    output_tokens: int


def spend_summary(entries: Iterable[LedgerEntry], by: By, zone: tzinfo | None = None) -> tuple[SpendLine, ...]:
    """Spend by day, model or suite, sorted by name.

    Args:
        entries: What is counted.
        by: What makes a line.
        zone: Where a day begins; None is the machine's own zone.
    """
    name = _namer(by, zone)
    groups: dict[str, list[LedgerEntry]] = {}
    for entry in entries:
        groups.setdefault(name(entry), []).append(entry)
    return tuple(_line(name, groups[name]) for name in sorted(groups))


def spend_total(entries: Iterable[LedgerEntry]) -> SpendLine:
    """All of `entries` as one line."""
    return _line("total", list(entries))


def in_month(entries: Iterable[LedgerEntry], now: datetime, zone: tzinfo | None = None) -> Iterator[LedgerEntry]:
    """Those of the calendar month that `now` lies in."""
    this = now.astimezone(zone)
    for entry in entries:
        then = entry.at.astimezone(zone)
        if (then.year, then.month) == (this.year, this.month):
            yield entry


def _namer(by: By, zone: tzinfo | None) -> Callable[[LedgerEntry], str]:
    if by == "day":
        return lambda entry: entry.at.astimezone(zone).date().isoformat()
    return (lambda entry: entry.model) if by == "model" else (lambda entry: entry.suite)


def _line(name: str, entries: list[LedgerEntry]) -> SpendLine:
    usages = [entry.usage for entry in entries if entry.usage is not None]
    return SpendLine(
        name=name,
        calls=len(entries),
        cost_usd=sum((e.cost_usd for e in entries if e.cost_usd is not None), Decimal(0)),
        unknown=sum(e.cost_usd is None for e in entries),
        input_tokens=sum(u.input_tokens or 0 for u in usages),
        cache_write_tokens=sum(u.cache_write_tokens or 0 for u in usages),
        cache_read_tokens=sum(u.cache_read_tokens or 0 for u in usages),
        output_tokens=sum(u.output_tokens or 0 for u in usages),
    )


def _ends_on_a_line(handle: int) -> bool:
    size = os.fstat(handle).st_size
    return size == 0 or os.pread(handle, 1, size - 1) == b"\n"


def _parse(line: bytes) -> LedgerEntry | None:
    try:
        return LedgerEntry.model_validate_json(line)
    except ValidationError:
        return None
