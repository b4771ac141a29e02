"""What a running round tells other processes: `live.json`, written at most twice a second."""

from __future__ import annotations

from contextlib import suppress
from datetime import datetime
from decimal import Decimal

from pydantic import Field, ValidationError

from resit.core.errors import RoundError
from resit.core.records import Fault, Frozen
from resit.core.rounds.events import BatchSeen, EndReason, PoolHold
from resit.core.rounds.progress import Flight, FlightState
from resit.core.rounds.store import RoundStore

LIVE = "live.json"
BEAT_S = 0.5
"""Least time between two writings."""


class LiveFlight(Frozen):
    """A run that is being asked."""

    key: str
    question: str
    setting: str
    run: int
    attempt: int
    state: FlightState
    since: datetime
    next_at: datetime | None = None
    fault: Fault | None = None

    def flight(self) -> Flight:
        """The same as a screen shows it."""
        return Flight(**dict(self))


class LiveEnd(Frozen):
    """How the round ended."""

    at: datetime
    reason: EndReason
    said: str
    owed: int


class Live(Frozen):
    """The state of a round's runner."""

    pid: int
    at: datetime
    """When it was written."""
    started_at: datetime
    planned: int
    flights: tuple[LiveFlight, ...] = ()
    batches: tuple[BatchSeen, ...] = ()
    holds: tuple[PoolHold, ...] = ()
    """Pools of which nothing starts."""
    stopped: dict[str, Fault] = Field(default_factory=dict)
    """Settings that cannot go on, by label."""
    spent_usd: Decimal = Decimal(0)
    in_flight_usd: Decimal = Decimal(0)
    at_least: bool = False
    paused: bool = False
    ended: LiveEnd | None = None


class Heartbeat:
    """Writes `live.json`, not too often."""

    def __init__(self, store: RoundStore) -> None:
        """Write beside the results of `store`."""
        self._store = store
        self._next_s = 0.0

    def due(self, now_s: float) -> bool:
        """True when enough time has passed since the last writing."""
        return now_s >= self._next_s

    def write(self, live: Live, now_s: float) -> None:
        """Write it; a disk without room for it stops nothing."""
        self._next_s = now_s + BEAT_S
        with suppress(RoundError):
            self._store.write_file(LIVE, live.model_dump_json(exclude_none=True).encode())

    @property
    def next_s(self) -> float:
        """When the next writing is due."""
        return self._next_s


def read_live(store: RoundStore) -> Live | None:
    """What the round's runner last said; None when nothing, or nothing readable, is there."""
    try:
        return Live.model_validate_json((store.path / LIVE).read_bytes())
    except (OSError, ValidationError):
        return None
