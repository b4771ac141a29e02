"""The calls that are out: their tasks, what they streamed, and which of them take too long."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime

from resit.core.calling.client import Delta
from resit.core.rounds.events import Streamed
from resit.core.rounds.live import LiveFlight
from resit.core.rounds.outfit import Emit
from resit.core.rounds.queue import OpenRun
from resit.core.spend.budget import Reservation


@dataclass(slots=True, eq=False)
class Flight:
    """A call that is out."""

    run: OpenRun
    number: int
    sent_at: datetime
    sent_s: float
    reservation: Reservation
    pieces: list[Delta] = field(default_factory=list)
    task: asyncio.Task[None] | None = None
    over: bool = False
    """Given up; whatever its client still returns is not wanted."""

    def live(self) -> LiveFlight:
        """As other processes see it."""
        job = self.run.job
        return LiveFlight(
            key=job.key, question=job.question.id, setting=self.run.label, run=job.run, attempt=self.number,
            state="sending", since=self.sent_at,
        )  # fmt: skip


class Flights:
    """All calls that are out, by run key."""

    def __init__(self, emit: Emit) -> None:
        """None is out yet; what a watched one streams goes to `emit`."""
        self._emit = emit
        self._out: dict[str, Flight] = {}
        self._by_provider: Counter[str] = Counter()
        self._watched: str | None = None

    def __len__(self) -> int:
        return len(self._out)

    def __iter__(self) -> Iterator[Flight]:
        return iter(tuple(self._out.values()))

    def count(self, provider: str) -> int:
        """How many are out to a provider."""
        return self._by_provider[provider]

    def add(self, flight: Flight) -> None:
        """A call leaves."""
        self._out[flight.run.job.key] = flight
        self._by_provider[flight.run.job.setting.provider] += 1

    def drop(self, flight: Flight) -> None:
        """A call is no longer out."""
        flight.over = True
        del self._out[flight.run.job.key]
        self._by_provider[flight.run.job.setting.provider] -= 1

    def heard(self, flight: Flight, delta: Delta) -> None:
        """A piece of a reply came in."""
        flight.pieces.append(delta)
        if flight.run.job.key == self._watched and not flight.over:
            self._emit(Streamed(flight.run.job.key, delta.kind, delta.text))

    def watch(self, key: str | None) -> None:
        """Stream the reply of one run as it comes, from its beginning; None streams nothing."""
        self._watched = key
        flight = self._out.get(key) if key is not None else None
        if flight is not None:
            for piece in flight.pieces:
                self._emit(Streamed(flight.run.job.key, piece.kind, piece.text))

    async def cancel(self) -> None:
        """Cancel whatever is still out, and wait until it is gone."""
        tasks = [flight.task for flight in self if flight.task is not None]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
