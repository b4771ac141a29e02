"""May a call start by the quota that its model shares? Asked by the runner before each, and told what came of it.

What is out counts at its worst, so that calls at a time cannot pass the reserve together. Where nothing bounds a
call (an agent asks as often as it likes, a percentage is not made of calls) the dearest one seen stands for the next,
and before one was seen they go one at a time.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import Decimal

from resit.core.config import ModelsFile
from resit.core.errors import RoundError
from resit.core.pool_entry import PoolEntry
from resit.core.records import Fault, Reply, Setting
from resit.core.rounds.clock import Clock
from resit.core.rounds.events import PoolHold
from resit.core.rounds.plan import Job
from resit.core.spend.ledger import Ledger, LedgerEntry, LedgerTail
from resit.core.spend.pool_words import limit_said
from resit.core.spend.pools import LENGTH, amount, free_after, next_reset, window_start, worst_amount
from resit.core.spend.readings import NoReading, Reading, Readings, last_of, read_by_command

WINDOW_MINUTES = {300: "5h", 10_080: "week"}
"""The windows that agents tell of."""
LOOK_S = 5.0
"""How often it is looked whether other processes used something of a pool."""


@dataclass(slots=True)
class _Pool:
    """One pool, as far as this start has seen it."""

    name: str
    entry: PoolEntry
    members: frozenset[str]
    used: deque[tuple[datetime, Decimal]] = field(default_factory=deque)
    """Calls of the window, oldest first."""
    dearest: dict[str, Decimal] = field(default_factory=dict)
    """The most that a call of a setting used."""
    out: dict[str, Decimal | None] = field(default_factory=dict)
    """What each call that is out may use at worst, by run key. None: nothing bounds it."""
    refused: PoolHold | None = None
    """The provider said that it is used up."""
    held: PoolHold | None = None
    """Why none of its runs starts now."""
    reading: Reading | None = None
    landed: int = 0
    """Calls that came back since the reading."""
    points: Decimal | None = None
    """The most percent that one call took between two readings."""
    asked: bool = False
    """Its command was asked in this start."""
    asking: asyncio.Task[None] | None = None
    """The command that is asked."""
    broken: str = ""
    """Why the command says nothing."""


class PoolGate:
    """The pools of one round."""

    def __init__(
        self,
        models_file: ModelsFile,
        settings: Mapping[str, Setting],
        ledger: Ledger,
        clock: Clock,
        readings: Readings | None = None,
    ) -> None:
        """Look at the pools that the round's models share.

        Args:
            models_file: The person's pools, and which model is in which.
            settings: The round's, by label.
            ledger: Every call of every round.
            clock: The time.
            readings: Where readings are kept; None is the usual file.
        """
        names = {label: models_file.pool_of(setting.model) for label, setting in settings.items()}
        self._pools = {
            name: _Pool(name, models_file.pools[name], models_file.members(name))
            for name in dict.fromkeys(names.values())
            if name is not None
        }
        self._of = {label: self._pools[name] for label, name in names.items() if name is not None}
        self._clock = clock
        self._tail = LedgerTail(ledger)
        self._readings = readings or Readings(ledger.path.with_name("pool-readings.jsonl"))
        self._looked_s = -LOOK_S
        self.changed: Callable[[], None] = lambda: None
        """Called when a command has said how much is used."""

    @property
    def holds(self) -> tuple[PoolHold, ...]:
        """The pools that start nothing now."""
        return tuple(pool.held for pool in self._pools.values() if pool.held is not None)

    def hold_of(self, label: str) -> PoolHold | None:
        """Why no run of a setting starts now."""
        pool = self._of.get(label)
        return pool.held if pool is not None else None

    @property
    def asking(self) -> bool:
        """True while a command is asked."""
        return any(pool.asking is not None for pool in self._pools.values())

    @property
    def refusals(self) -> tuple[PoolHold, ...]:
        """What providers said."""
        return tuple(pool.refused for pool in self._pools.values() if pool.refused is not None)

    def may_start(self, job: Job, worst_usd: Decimal | None) -> bool:
        """Whether a call may start now. Where the ledger or a reading cannot be read nobody knows, and none may."""
        pool = self._of.get(job.setting.label)
        if pool is None:
            return True
        now = self._clock.now()
        try:
            self._look()
        except RoundError as error:
            pool.held = PoolHold(pool=pool.name, said=f"pool {pool.name}: {error}")
            return False
        pool.held = self._refusal(pool, now) or self._by_reading(pool, now)
        if pool.held is not None:
            return False
        if pool.entry.command:
            return self._may_by_command(pool, now)
        return pool.entry.unit == "percent" or self._may_by_count(pool, job, worst_usd, now)

    def started(self, job: Job, worst_usd: Decimal | None) -> None:
        """A call is out."""
        pool = self._of.get(job.setting.label)
        if pool is not None:
            pool.out[job.key] = self._worst(pool, job, worst_usd)

    def landed(self, job: Job, answer: Reply | Fault | None) -> None:
        """A call is back, and in the ledger; None when it never left."""
        pool = self._of.get(job.setting.label)
        if pool is None:
            return
        pool.out.pop(job.key, None)
        if answer is None:
            return
        pool.landed += 1
        with suppress(RoundError):  # the next call that wants to start is told
            self._look(at_once=True)
        if isinstance(answer, Reply) and answer.agent is not None:
            self._take_agents_word(pool, answer)

    def refused(self, label: str, fault: Fault) -> bool:
        """The provider says that a quota is used up: True when it is that of a pool, which starts nothing more."""
        pool = self._of.get(label)
        if pool is None or fault.kind not in ("quota", "limit"):
            return False
        now = self._clock.now()
        until = now + timedelta(seconds=fault.retry_after_s) if fault.retry_after_s else next_reset(pool.entry, now)
        pool.refused = pool.held = PoolHold(pool=pool.name, said=f"pool {pool.name}: {fault.said}", until=until)
        return True

    async def close(self) -> None:
        """Ask no command any longer."""
        tasks = [pool.asking for pool in self._pools.values() if pool.asking is not None]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    # --- what is used

    def _look(self, *, at_once: bool = False) -> None:
        """Take up what was used since the last look, here and by other processes."""
        now_s = self._clock.monotonic_s()
        if not at_once and now_s < self._looked_s + LOOK_S:
            return
        self._looked_s = now_s
        for call in self._tail.take():
            for pool in self._pools.values():
                if call.model in pool.members:
                    self._count(pool, call)
        now = self._clock.now()
        for pool in self._pools.values():
            start = window_start(pool.entry, now)
            while pool.used and pool.used[0][0] < start:
                pool.used.popleft()
            if not at_once:
                pool.reading = last_of(self._readings.of(pool.name), start)

    def _count(self, pool: _Pool, call: LedgerEntry) -> None:
        used = amount(call, pool.entry.unit)
        if used is None or call.at < self._clock.now() - 2 * LENGTH[pool.entry.window]:
            return
        pool.used.append((call.at, used))
        if used:
            pool.dearest[call.setting] = max(pool.dearest.get(call.setting, used), used)

    def _refusal(self, pool: _Pool, now: datetime) -> PoolHold | None:
        """What the provider said, while it holds. One without a time holds until the next start."""
        if pool.refused is not None and pool.refused.until is not None and pool.refused.until <= now:
            pool.refused = None
        return pool.refused

    def _by_reading(self, pool: _Pool, now: datetime) -> PoolHold | None:
        """A reading at or below the reserve."""
        found, entry = pool.reading, pool.entry
        if entry.command or found is None or found.used_percent < 100 * (1 - entry.reserve):
            return None
        until = next_reset(entry, now) or found.at + LENGTH[entry.window]
        return self._hold(pool, f"{found.used_percent.normalize():f}% is used", until)

    def _hold(self, pool: _Pool, used: str, until: datetime | None) -> PoolHold:
        kept = f" and {pool.entry.reserve * 100:.0f}% is kept in reserve" if pool.entry.reserve else ""
        return PoolHold(pool=pool.name, said=f"pool {pool.name}: {used}{kept}", until=until)

    # --- by count

    def _worst(self, pool: _Pool, job: Job, worst_usd: Decimal | None) -> Decimal | None:
        worst = worst_amount(job.request, worst_usd, pool.entry.unit)
        return pool.dearest.get(job.setting.label) if worst is None else worst

    def _may_by_count(self, pool: _Pool, job: Job, worst_usd: Decimal | None, now: datetime) -> bool:
        used = sum((what for _, what in pool.used), Decimal(0))
        worst = self._worst(pool, job, worst_usd)
        line = pool.entry.stop_line
        if worst is None or None in pool.out.values():
            fits = not pool.out and used < line
        else:
            fits = used + sum((what or Decimal(0) for what in pool.out.values()), Decimal(0)) + worst <= line
        if not fits and (not pool.out or used >= line):
            pool.held = self._hold(pool, said_used(pool.entry, used), self._free_at(pool, worst, now))
        return fits

    def _free_at(self, pool: _Pool, worst: Decimal | None, now: datetime) -> datetime | None:
        return next_reset(pool.entry, now) or free_after(pool.entry, list(pool.used), worst or Decimal(0))

    # --- by a command's percentage

    def _may_by_command(self, pool: _Pool, now: datetime) -> bool:
        if pool.asking is not None:
            return False
        if pool.broken:
            pool.held = PoolHold(pool=pool.name, said=pool.broken, until=None)
            return False
        if not pool.asked or pool.reading is None or pool.reading.by != "command":
            self._ask(pool)
            return False
        if self._fits_by_points(pool):
            return True
        if pool.landed:
            self._ask(pool)
        elif not pool.out:
            used = f"{pool.reading.used_percent.normalize():f}% is used"
            if pool.reading.used_percent < 100 * (1 - pool.entry.reserve):
                used += f", a call took up to {pool.points:.1f}%"
            pool.held = self._hold(pool, used, next_reset(pool.entry, now))
        return False

    def _fits_by_points(self, pool: _Pool) -> bool:
        assert pool.reading is not None
        since = len(pool.out) + pool.landed
        if pool.points is None:
            return since == 0 and pool.reading.used_percent < 100 * (1 - pool.entry.reserve)
        return pool.reading.used_percent + pool.points * (since + 1) <= 100 * (1 - pool.entry.reserve)

    def _ask(self, pool: _Pool) -> None:
        pool.asked = True
        pool.asking = asyncio.get_running_loop().create_task(self._read(pool))

    async def _read(self, pool: _Pool) -> None:
        """Have the command say how much is used; what came back meanwhile counts for the next time."""
        landed, before = pool.landed, pool.reading
        found = await read_by_command(pool.name, pool.entry)
        pool.asking = None
        if isinstance(found, NoReading):
            pool.broken = found.said
        else:
            reading = Reading(at=self._clock.now(), pool=pool.name, used_percent=found, by="command")
            self._take_reading(pool, reading, before, landed)
        self.changed()

    def _take_reading(self, pool: _Pool, reading: Reading, before: Reading | None, landed: int) -> None:
        try:
            self._readings.add(reading)
        except RoundError as error:
            pool.broken = str(error)
            return
        pool.reading = reading
        pool.landed -= landed
        if before is not None and landed and reading.used_percent >= before.used_percent:
            # A command may round: up to a point more can have been used than it says.
            took = (reading.used_percent - before.used_percent + 1) / landed
            pool.points = took if pool.points is None else max(pool.points, took)

    def _take_agents_word(self, pool: _Pool, answer: Reply) -> None:
        """What an agent says of its plan at the end of a run is a reading as well."""
        assert answer.agent is not None
        for quota in answer.agent.quota:
            if WINDOW_MINUTES.get(quota.window_minutes) == pool.entry.window:
                used = Decimal(str(min(quota.used_percent, 1000.0)))
                reading = Reading(at=self._clock.now(), pool=pool.name, used_percent=used, by="agent")
                with suppress(RoundError):  # it was a gift
                    self._readings.add(reading)
                pool.reading = reading


def said_used(entry: PoolEntry, used: Decimal) -> str:
    """What is used of a limit that is counted."""
    if entry.unit == "usd":
        return f"${used:.2f} of {limit_said(entry)} is used"
    return f"{int(used):,} of {limit_said(entry)} are used"
