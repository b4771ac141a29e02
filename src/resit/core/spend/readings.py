"""Readings of quotas: how much of a plan's window was used, as a person, a command or an agent said it."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import re
import signal
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, ValidationError

from resit.core.errors import RoundError
from resit.core.paths import data_dir
from resit.core.pool_entry import PoolEntry
from resit.core.printable import one_line
from resit.core.records import Frozen

COMMAND_S = 30.0
"""The longest that a command may take to say how much is used."""
_END_S = 3.0
_MAX_BYTES = 1_000_000
_NUMBER = re.compile(rb"-?\d+(?:[.,]\d+)?")


class Reading(Frozen):
    """How much of a pool was used at one moment."""

    at: datetime
    pool: str
    used_percent: Decimal = Field(ge=0, le=1000, allow_inf_nan=False)
    by: Literal["hand", "command", "agent"]
    """Who said it: a person, the pool's command, or an agent at the end of a run."""


class Readings:
    """The append-only file of all readings."""

    def __init__(self, path: Path | None = None) -> None:
        """Use `path`; None is the file in the data folder."""
        self.path = path or data_dir() / "pool-readings.jsonl"

    def add(self, reading: Reading) -> None:
        """Write one down.

        Raises:
            RoundError: It cannot be written.
        """
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with self.path.open("ab") as file:
                file.write(reading.model_dump_json().encode() + b"\n")
        except OSError as error:
            raise RoundError(f"{self.path} cannot be written ({error.strerror})") from None

    def of(self, pool: str) -> tuple[Reading, ...]:
        """The readings of a pool, oldest first; lines that cannot be read are left out.

        Raises:
            RoundError: The file is there and cannot be read.
        """
        try:
            lines = self.path.read_bytes().splitlines()
        except FileNotFoundError:
            return ()
        except OSError as error:
            raise RoundError(f"{self.path} cannot be read ({error.strerror})") from None
        found = (reading for line in lines if (reading := _parsed(line)) is not None and reading.pool == pool)
        return tuple(sorted(found, key=lambda reading: reading.at))


def _parsed(line: bytes) -> Reading | None:
    try:
        return Reading.model_validate_json(line)
    except ValidationError:
        return None


@dataclass(frozen=True, slots=True)
class NoReading:
    """Why a command said nothing."""

    said: str


async def read_by_command(name: str, entry: PoolEntry) -> Decimal | NoReading:
    """How much of a pool is used, in percent, as its command says now."""
    program = one_line(entry.command[0], 60)
    try:
        process = await asyncio.create_subprocess_exec(
            *entry.command,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            start_new_session=True,
        )
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) and error.strerror else type(error).__name__
        return NoReading(f"pool {name}: {program} cannot be run ({why})")
    assert process.stdout is not None
    try:
        async with asyncio.timeout(COMMAND_S):
            output = await _at_most(process.stdout, _MAX_BYTES)
            code = await process.wait()
    except TimeoutError:
        return NoReading(f"pool {name}: {program} said nothing within {COMMAND_S:g} s")
    finally:
        await _end(process)
    if code != 0:
        return NoReading(f"pool {name}: {program} failed ({code})")
    number = find_number(output, entry.path)
    if number is None:
        where = f"no number at {entry.path}" if entry.path else "no number"
        return NoReading(f"pool {name}: {program} printed {where}")
    return used_percent(number, entry)


async def _at_most(stream: asyncio.StreamReader, limit: int) -> bytes:
    """The beginning of an output; the rest is read and dropped, so that its writer can end."""
    kept = bytearray()
    while piece := await stream.read(65536):
        if len(kept) < limit:
            kept += piece[: limit - len(kept)]
    return bytes(kept)


async def _end(process: asyncio.subprocess.Process) -> None:
    """End whatever a command began and left running, and wait until it is gone."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    # What left its group may hold the pipe open for as long as it likes.
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(_END_S):
            await process.communicate()


def find_number(output: bytes, path: str | None) -> Decimal | None:
    """The number that an output holds: at `path` of its JSON, else the first one in it. None when there is none."""
    if path is None:
        match = _NUMBER.search(output)
        return _number(match[0].decode().replace(",", ".")) if match else None
    try:
        found: Any = json.loads(output)
        for step in path.split("."):
            found = found[int(step)] if isinstance(found, list) else found[step]
    except (ValueError, LookupError, TypeError, RecursionError):
        return None
    if isinstance(found, bool) or not isinstance(found, (int, float, str)):
        return None
    return _number(str(found).strip().removesuffix("%").strip())


def used_percent(number: Decimal, entry: PoolEntry) -> Decimal:
    """A command's number as percent that are used, 0 to 1000."""
    share = number / entry.full * 100
    used = 100 - share if entry.counts == "left" else share
    return min(max(used, Decimal(0)), Decimal(1000))


def parse_percent(text: str) -> Decimal:
    """A reading as a person writes it: `43%`, `43` or `43,5 %`.

    Raises:
        ValueError: It is no percentage.
    """
    number = _number(text.strip().removesuffix("%").strip().replace(",", "."))
    if number is None or not 0 <= number <= 1000:
        raise ValueError("a reading is how much is used, in percent: 43%")
    return number


def _number(text: str) -> Decimal | None:
    try:
        number = Decimal(text)
    except InvalidOperation:
        return None
    return number if number.is_finite() and abs(number) < 10**12 else None


def last_of(readings: Sequence[Reading] | Iterable[Reading], since: datetime) -> Reading | None:
    """The last reading that was made since then."""
    found = [reading for reading in readings if reading.at >= since]
    return max(found, key=lambda reading: reading.at) if found else None
