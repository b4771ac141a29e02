"""Which calls were sent, and what each could cost at worst: one line a call, written before it goes out.

A killed process leaves no bill for the calls that were out. Without this list the next start would not know of them,
and a cap would hold only for the calls that were kept.
"""

from __future__ import annotations

import errno
import os
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation

from resit.core.errors import RoundError
from resit.core.rounds.store import RoundStore

SENT = "sent.log"
_LOST = "lost"
"""Begins a line on a lost call; no run's name is without `__`."""


@dataclass(frozen=True, slots=True)
class SentRun:
    """The calls that were sent for one run, in all starts of its round."""

    calls: int
    worst_usd: Decimal
    """The dearest of them at its worst."""


class SentLog:
    """Writes the list of one round, for the holder of its lock. It is opened by the first call."""

    def __init__(self, store: RoundStore) -> None:
        """Write beside the results of `store`."""
        self._store = store
        self._file: int | None = None

    def note(self, key: str, worst_usd: Decimal | None) -> None:
        """Write down a call that is about to go out.

        Raises:
            StoreFull: The disk has no room: the call must not be sent, for its reply could not be kept either.
            RoundError: It cannot be written for another reason.
        """
        self._add(f"{key} {worst_usd if worst_usd is not None else '-'}")

    def note_lost(self, key: str) -> None:
        """Write down that a call of an earlier start, whose end nobody saw, is in the ledger.

        Raises:
            RoundError: It cannot be written.
        """
        self._add(f"{_LOST} {key}")

    def _add(self, text: str) -> None:
        # The line end before it parts it from a line that a full disk cut short.
        line = f"\n{text}\n".encode()
        with self._store.translating(SENT):
            if self._file is None:
                self._file = os.open(self._store.path / SENT, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
            if os.write(self._file, line) < len(line):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def close(self) -> None:
        """Let the file go."""
        if self._file is not None:
            with suppress(OSError):
                os.close(self._file)
            self._file = None


def read_sent(store: RoundStore) -> Mapping[str, SentRun]:
    """The calls that were sent, by run key. A line that was cut short may count, though its call was not.

    Raises:
        RoundError: The list cannot be read.
    """
    found: dict[str, SentRun] = {}
    for line in _lines(store):
        key, _, amount = line.partition(" ")
        if (worst_usd := _amount(amount)) is None:
            continue
        before = found.get(key, SentRun(0, Decimal(0)))
        found[key] = SentRun(before.calls + 1, max(before.worst_usd, worst_usd))
    return found


def read_lost(store: RoundStore) -> Mapping[str, int]:
    """By run key, how many lost calls are in the ledger already.

    Raises:
        RoundError: The list cannot be read.
    """
    return Counter(line.removeprefix(f"{_LOST} ") for line in _lines(store) if line.startswith(f"{_LOST} "))


def _lines(store: RoundStore) -> list[str]:
    try:
        return (store.path / SENT).read_bytes().decode("ascii", "replace").splitlines()
    except FileNotFoundError:
        return []
    except OSError as error:
        raise RoundError(f"{store.path / SENT} cannot be read: {error.strerror}") from error


def _amount(text: str) -> Decimal | None:
    if text == "-":
        return Decimal(0)
    try:
        amount = Decimal(text)
    except InvalidOperation:
        return None
    return amount if amount.is_finite() and 0 <= amount < 10**9 else None
