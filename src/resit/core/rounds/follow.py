"""A round that another process runs, seen from its folder."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import datetime
from decimal import Decimal
from types import MappingProxyType

from resit.core.records import Row, Setting
from resit.core.rounds.clock import Clock
from resit.core.rounds.events import RoundEnded
from resit.core.rounds.graded import GradedRound
from resit.core.rounds.live import BEAT_S, Live, read_live
from resit.core.rounds.plan import RoundPlan
from resit.core.rounds.progress import RECENT, Log, Progress, tallies
from resit.core.rounds.store import RoundStore
from resit.core.suite import Suite


class RoundFollower:
    """Looks at a round's folder again and again; reads only what is new, and writes nothing but remembered grades."""

    def __init__(self, store: RoundStore, suite: Suite | None = None, *, clock: Clock | None = None) -> None:
        """Follow the round of `store`.

        Args:
            store: The round.
            suite: The questions as asked, with the rules that decide; None takes those of the round.
            clock: The time.
        """
        self._store = store
        self._suite = suite
        self._keeper = GradedRound(store)
        self._clock = clock or Clock()
        self._seen: dict[tuple[str, str, int], Row] = {}
        self._log = Log()
        self._recent: tuple[tuple[datetime, Decimal | None], ...] = ()
        self._begun_with: int | None = None

    def progress(self) -> Progress:
        """The round as it is now.

        Raises:
            RoundError: The round cannot be read.
        """
        plan = self._store.plan()
        suite = self._suite or self._store.suite()
        # Asked before the rest is read: a round that ends meanwhile is then seen to run once more, never missed.
        running = self._store.runner_pid() is not None
        live = read_live(self._store)
        rows = self._keeper.grade(suite, plan).rows
        asking = {(f.question, f.setting, f.run) for f in live.flights} if live is not None and running else set()
        done = [row for row in rows if (row.question, row.setting, row.run) not in asking]
        self._take_up(done)
        return self._picture(plan, suite, done, live, running)

    async def follow(self, every_s: float = BEAT_S) -> AsyncIterator[Progress]:
        """The round again and again until it has ended; the last picture says how."""
        while True:
            progress = self.progress()
            yield progress
            if progress.ended is not None:
                return
            await asyncio.sleep(every_s)

    def _take_up(self, rows: list[Row]) -> None:
        now = self._clock.now()
        first = self._begun_with is None
        if first:
            self._begun_with = len(rows)
        for row in rows:
            place = (row.question, row.setting, row.run)
            if self._seen.get(place) != row:
                self._seen[place] = row
                self._log = self._log.add(row)
                if not first:
                    self._recent = (*self._recent, (now, row.cost_usd))[-RECENT:]

    def _picture(self, plan: RoundPlan, suite: Suite, rows: list[Row], live: Live | None, running: bool) -> Progress:
        per_setting = len(plan.questions(suite)) * plan.repeats
        planned: list[tuple[Setting, int]] = [(p.setting, per_setting) for p in plan.settings]
        settings = dict(tallies(planned, rows))
        for label, fault in (live.stopped if live is not None else {}).items():
            if label in settings:
                settings[label] = settings[label].with_stop(fault)
        flights = {f.key: f.flight() for f in live.flights} if live is not None and running else {}
        return Progress(
            round_id=self._store.id,
            started_at=live.started_at if live is not None else plan.created_at,
            planned=per_setting * len(plan.settings),
            done=len(rows),
            begun_with=self._begun_with or 0,
            settings=MappingProxyType(settings),
            flights=MappingProxyType(flights),
            batches=live.batches if live is not None and running else (),
            holds=live.holds if live is not None and running else (),
            rows=self._log,
            spent_usd=live.spent_usd if live is not None else Decimal(0),
            in_flight_usd=live.in_flight_usd if live is not None and running else Decimal(0),
            at_least=live.at_least if live is not None else False,
            cap_usd=plan.cap_usd,
            paused=live.paused if live is not None else False,
            ended=None if running else self._end(live, len(rows), per_setting * len(plan.settings)),
            recent=self._recent,
        )

    def _end(self, live: Live | None, done: int, planned: int) -> RoundEnded:
        if live is not None and live.ended is not None:
            end = live.ended
            return RoundEnded(end.at, end.reason, end.said, end.owed)
        at = live.at if live is not None else self._clock.now()
        said = "no process runs it; the command that began it goes on with it"
        return RoundEnded(at, "stopped", said, max(0, planned - done))
