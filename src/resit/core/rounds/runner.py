"""Asks what is owed: calls, retries, money and results of one round, on one event loop."""

from __future__ import annotations

import asyncio
import os
import random
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from resit.core.calling.client import Client, Delta
from resit.core.calling.faults import RetryPolicy
from resit.core.errors import OverCap, RoundError, Unpriced
from resit.core.records import Attempt, Fault, FaultKind, Reply, Row, Setting, VerdictWord
from resit.core.rounds.clock import Clock
from resit.core.rounds.events import (
    AttemptFailed,
    AttemptSent,
    EndReason,
    Event,
    PauseChanged,
    RoundEnded,
    RoundStarted,
    RunKept,
    SettingStopped,
    Streamed,
)
from resit.core.rounds.graded import GradedRound
from resit.core.rounds.live import Heartbeat, Live, LiveEnd, LiveFlight
from resit.core.rounds.pace import Pace
from resit.core.rounds.plan import Plan
from resit.core.rounds.queue import JobQueue, OpenRun
from resit.core.rounds.safe import Safe
from resit.core.rounds.sent import SentLog
from resit.core.rounds.store import RoundStore
from resit.core.rounds.till import Till
from resit.core.spend.budget import Budget, Reservation
from resit.core.spend.ledger import Ledger

Emit = Callable[[Event], None]
"""Takes an event at once; it must be quick, for the calls wait meanwhile."""

GRACE_S = 10.0
"""How long a stop waits for the calls that are out."""
CALL_LIMIT_S = 1800.0
"""A call without an end by then is given up, whatever its client does."""


@dataclass(slots=True, eq=False)
class _Flight:
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


class Runner:
    """One start of a round. Only for the holder of the store's lock, which it lets go at the end."""

    def __init__(
        self,
        plan: Plan,
        store: RoundStore,
        clients: Mapping[str, Client],
        budget: Budget,
        ledger: Ledger | None,
        emit: Emit,
        *,
        keeper: GradedRound | None = None,
        rows: tuple[Row, ...] = (),
        verdicts: Mapping[str, VerdictWord] | None = None,
        barred: Mapping[str, Fault] | None = None,
        policy: RetryPolicy | None = None,
        clock: Clock | None = None,
        rng: random.Random | None = None,
        call_limit_s: float = CALL_LIMIT_S,
    ) -> None:
        """Make ready; `run` begins.

        Args:
            plan: What is owed.
            store: Where results go.
            clients: Who asks, by setting label; closed at the end.
            budget: The round's money, earlier starts included.
            ledger: Where every call is written down. None for a round that pays nobody.
            emit: Takes the events.
            keeper: Remembers the rows for the next opening.
            rows: The rows of the runs that are done.
            verdicts: A person's words so far, by run key.
            barred: Settings that cannot start, by label, and why.
            policy: When a failed call is tried again.
            clock: The time.
            rng: Where jitter comes from.
            call_limit_s: The longest one call may take.
        """
        self.plan = plan
        self.store = store
        self.budget = budget
        self._clients = clients
        self._emit = emit
        self._rows = rows
        self._clock = clock or Clock()
        self._call_limit_s = call_limit_s
        self._barred = barred or {}
        self._settings = {p.setting.label: p.setting for p in plan.round.settings}
        prices = {p.setting.label: p.price for p in plan.round.settings}
        self._till = Till(
            plan.suite.name, store.id, budget, ledger, prices, SentLog(store) if ledger is not None else None
        )
        self._safe = Safe(plan, store, keeper, verdicts or {})
        self._pace = Pace(policy or RetryPolicy(), rng or random.Random())
        self._queue = JobQueue(plan.jobs)
        self._flights: dict[str, _Flight] = {}
        self._waiting: dict[str, LiveFlight] = {}
        self._pools: Counter[str] = Counter()
        self._tight: set[str] = set()
        self._stopped: dict[str, Fault] = {}
        self._changed = asyncio.Event()
        self._heartbeat = Heartbeat(store)
        self._started_at = self._clock.now()
        self._watched: str | None = None
        self._paused = False
        self._stop_by_s: float | None = None
        self._ending: tuple[EndReason, str] | None = None
        self._defect: Exception | None = None

    async def run(self) -> RoundEnded:
        """Ask everything that is owed, until all is asked or something ends the round.

        Whatever ends it, every reply that came is kept, the clients are closed and the lock is let go.
        An exception is a defect of ours or of a client.
        """
        try:
            self._begin()
            await self._work()
            self._keep_late()
        finally:
            await self._close()
        if self._defect is not None:
            raise self._defect
        ended = self._ended()
        self._emit(ended)
        return ended

    def stop(self, grace_s: float = GRACE_S) -> None:
        """Start no more calls, and cancel those that are out when `grace_s` is over; a second stop may shorten it."""
        by = self._clock.monotonic_s() + grace_s
        self._stop_by_s = by if self._stop_by_s is None else min(by, self._stop_by_s)
        self._changed.set()

    def pause(self) -> None:
        """Start no more calls until `resume`; those that are out go on."""
        self._set_paused(True)

    def resume(self) -> None:
        """Go on after `pause`."""
        self._set_paused(False)

    @property
    def paused(self) -> bool:
        """True between `pause` and `resume`."""
        return self._paused

    def watch(self, key: str | None) -> None:
        """Stream the reply of one run as it comes, from its beginning; None streams nothing."""
        self._watched = key
        flight = self._flights.get(key) if key is not None else None
        if flight is not None:
            for piece in flight.pieces:
                self._emit(Streamed(flight.run.job.key, piece.kind, piece.text))

    # --- the loop

    def _begin(self) -> None:
        per_setting = self.plan.planned // max(1, len(self.plan.round.settings))
        self._emit(
            RoundStarted(
                at=self._started_at,
                planned=self.plan.planned,
                done=len(self.plan.done),
                rows=self._rows,
                round_id=self.store.id,
                settings=tuple((p.setting, per_setting) for p in self.plan.round.settings),
                spent_usd=self.budget.spent_usd,
                at_least=self.budget.at_least,
                cap_usd=self.budget.cap_usd,
            )
        )
        for label, fault in self._barred.items():
            self._stop_setting(self._settings[label], fault)

    async def _work(self) -> None:
        while True:
            self._changed.clear()
            self._give_up_overdue()
            self._start_what_can()
            if self._over():
                return
            self._beat()
            await self._clock.wait(self._changed, self._next_news_s())

    def _over(self) -> bool:
        """True when nothing is out and nothing more will start; says why in `_ending`."""
        if self._stop_by_s is not None and self._ending is None:
            self._end("stopped", "stopped; all that came is kept")
        if self._flights or (self._paused and self._ending is None):
            return False
        if self._ending is not None or not len(self._queue):
            return True
        return self._start_cheaper_or_end()

    def _end(self, reason: EndReason, said: str) -> None:
        """Start nothing more, and keep what was tried of the runs that wait."""
        if self._ending is None:
            self._ending = (reason, said)
            for run in self._queue.drop_all():
                self._keep(run)
            self._waiting.clear()

    def _next_news_s(self) -> float:
        """Seconds until something is to be done though no call ended."""
        now = self._clock.monotonic_s()
        times = [self._heartbeat.next_s]
        if self._queue.next_due_s is not None and not self._paused:
            times.append(self._queue.next_due_s)
        times += self._pace.holds_end_s(now)
        if self._stop_by_s is not None:
            times.append(self._stop_by_s)
        return max(0.0, min(times) - now)

    # --- starting

    def _start_what_can(self) -> None:
        if self._paused or self._ending is not None or self._stop_by_s is not None:
            return
        now = self._clock.monotonic_s()
        while self._has_room() and (run := self._queue.take(now, self._may_start)) is not None:
            reservation = self._reserve(run)
            if reservation is not None:
                self._start(run, reservation)

    def _has_room(self) -> bool:
        return not (self.plan.round.serial and self._flights)

    def _may_start(self, label: str) -> bool:
        setting = self._settings[label]
        if label in self._tight or self._pools[setting.provider] >= self.plan.round.concurrency:
            return False
        return self._pace.may_start(setting.model, self._clock.monotonic_s())

    def _reserve(self, run: OpenRun) -> Reservation | None:
        """Set money aside for a call; None puts the run back, for a call that ends may free some."""
        try:
            return self._till.reserve(run.job)
        except OverCap:
            self._tight.add(run.label)
            self._queue.put_back(run)
        except Unpriced as error:
            self._queue.put_back(run)
            self._stop_setting(run.job.setting, Fault(kind="billing", said=str(error)))
        except RoundError as error:
            self._queue.put_back(run)
            self._end("disk", str(error))
        return None

    def _start_cheaper_or_end(self) -> bool:
        """Nothing is out: start any run that the cap still allows; True when none is left and the round ends."""
        if self._queue.next_due_s is not None or not self._tight:
            return False
        run = self._queue.take_first(lambda run: self._till.affords(run.job))
        if run is not None:
            reservation = self._reserve(run)
            if reservation is None:
                return True
            self._start(run, reservation)
            return False
        skipped = len(self._queue)
        self._end(
            "cap",
            f"the cap of ${self.budget.cap_usd} is reached{self._till.doubt}: {skipped} calls skipped; "
            "a higher --cap goes on from here",
        )
        return True

    def _start(self, run: OpenRun, reservation: Reservation) -> None:
        job = run.job
        flight = _Flight(run, len(run.attempts) + 1, self._clock.now(), self._clock.monotonic_s(), reservation)
        self._flights[job.key] = flight
        self._waiting.pop(job.key, None)
        self._pools[job.setting.provider] += 1
        self._emit(AttemptSent(flight.sent_at, job.key, job.question.id, job.setting, job.run, flight.number))
        flight.task = asyncio.create_task(self._call(flight))

    async def _call(self, flight: _Flight) -> None:
        try:
            answer = await self._clients[flight.run.label].ask(
                flight.run.job.request, lambda delta: self._heard(flight, delta)
            )
            if not flight.over:
                self._land(flight, answer)
        except Exception as error:
            # Not a model's failure, which is a Fault: a defect. It ends the round after all else is safe.
            self._defect = self._defect or error
            if not flight.over:
                self._forget(flight)
            self._end("stopped", "stopped by a defect")
            self._stop_by_s = self._clock.monotonic_s()
        finally:
            self._changed.set()

    def _heard(self, flight: _Flight, delta: Delta) -> None:
        flight.pieces.append(delta)
        if flight.run.job.key == self._watched and not flight.over:
            self._emit(Streamed(flight.run.job.key, delta.kind, delta.text))

    # --- landing

    def _land(self, flight: _Flight, answer: Reply | Fault) -> None:
        """What came back is settled, kept or tried again."""
        run, job = flight.run, flight.run.job
        self._forget(flight)
        attempt = Attempt(
            number=flight.number,
            at=flight.sent_at,
            waited_s=run.waited_s,
            asked=job.asked,
            reply=answer if isinstance(answer, Reply) else None,
            fault=answer if isinstance(answer, Fault) else None,
            cost_usd=self._till.settle(job, flight.reservation, answer),
        )
        self._tight.clear()
        run.attempts.append(attempt)
        wait_s = self._wait_s(run, answer)
        if wait_s is None:
            self._keep(run)
        else:
            self._wait(run, attempt, wait_s)
        try:
            self._till.write_down(job, attempt)
        except RoundError as error:
            self._end("disk", str(error))
        self._emit(self._till.spent)

    def _forget(self, flight: _Flight) -> None:
        """It is no longer out."""
        flight.over = True
        del self._flights[flight.run.job.key]
        self._pools[flight.run.job.setting.provider] -= 1

    def _wait_s(self, run: OpenRun, answer: Reply | Fault) -> float | None:
        """Seconds until the run is tried again; None when it has ended."""
        setting = run.job.setting
        if isinstance(answer, Reply):
            self._pace.answered(setting.model)
            return None
        wait_s = self._pace.failed(setting.model, answer, len(run.attempts), self._clock.monotonic_s())
        if self._pace.ends_setting(answer):
            self._stop_setting(setting, answer)
        ending = self._ending is not None or self._stop_by_s is not None or run.label in self._stopped
        return None if ending else wait_s

    def _wait(self, run: OpenRun, attempt: Attempt, wait_s: float) -> None:
        run.waited_s = wait_s
        self._queue.wait_until(run, self._clock.monotonic_s() + wait_s)
        now, job, fault = self._clock.now(), run.job, attempt.fault
        assert fault is not None
        event = AttemptFailed(now, job.key, fault, attempt.number, now + timedelta(seconds=wait_s))
        self._waiting[job.key] = LiveFlight(
            key=job.key, question=job.question.id, setting=run.label, run=job.run, attempt=attempt.number,
            state="waiting", since=now, next_at=event.next_at, fault=fault,
        )  # fmt: skip
        self._emit(event)

    def _keep(self, run: OpenRun) -> None:
        """Write a run's result; only then is it said to be there."""
        self._waiting.pop(run.job.key, None)
        try:
            record, row = self._safe.keep(run)
        except RoundError as error:
            self._end("disk", str(error))
        else:
            self._emit(RunKept(self._clock.now(), record, row))

    def _keep_late(self) -> None:
        for record, row in self._safe.keep_late():
            self._emit(RunKept(self._clock.now(), record, row))

    # --- ending

    def _stop_setting(self, setting: Setting, fault: Fault) -> None:
        if setting.label in self._stopped:
            return
        self._stopped[setting.label] = fault
        for run in self._queue.drop_setting(setting.label):
            self._keep(run)
        self._emit(SettingStopped(self._clock.now(), setting, fault))

    def _give_up_overdue(self) -> None:
        """End the calls that took too long, and at the end of a stop's grace all of them."""
        now = self._clock.monotonic_s()
        if self._stop_by_s is not None and now >= self._stop_by_s:
            self._give_up(list(self._flights.values()), "dropped", "stopped before its reply ended")
            return
        late = [flight for flight in self._flights.values() if now - flight.sent_s > self._call_limit_s]
        self._give_up(late, "timeout", f"no end after {self._call_limit_s:g} s")

    def _give_up(self, flights: list[_Flight], kind: FaultKind, said: str) -> None:
        for flight in flights:
            if flight.task is not None:
                flight.task.cancel()
            seconds = self._clock.monotonic_s() - flight.sent_s
            self._land(flight, Fault(kind=kind, said=said, seconds=seconds))

    def _ended(self) -> RoundEnded:
        reason, said = self._ending or self._natural_end()
        return RoundEnded(self._clock.now(), reason, said, self._safe.owed)

    def _natural_end(self) -> tuple[EndReason, str]:
        if not self._stopped:
            return "done", "all is asked" if self.plan.jobs else "nothing was owed"
        quota = any(fault.kind in ("quota", "limit") for fault in self._stopped.values())
        said = "; ".join(f"{label}: {fault.said}" for label, fault in self._stopped.items())
        return "quota" if quota else "settings", said

    async def _close(self) -> None:
        tasks = [flight.task for flight in self._flights.values() if flight.task is not None]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for client in {id(client): client for client in self._clients.values()}.values():
            await client.close()
        self._safe.close()
        self._till.close()
        self._beat(force=True)
        self.store.unlock()

    def _beat(self, *, force: bool = False) -> None:
        now = self._clock.monotonic_s()
        if force or self._heartbeat.due(now):
            self._heartbeat.write(self._live(force), now)

    def _live(self, ended: bool) -> Live:
        end = self._ended() if ended else None
        return Live(
            pid=os.getpid(),
            at=self._clock.now(),
            started_at=self._started_at,
            planned=self.plan.planned,
            flights=(*(_sending(flight) for flight in self._flights.values()), *self._waiting.values()),
            stopped=self._stopped,
            spent_usd=self.budget.spent_usd,
            in_flight_usd=self.budget.in_flight_usd,
            at_least=self.budget.at_least,
            paused=self._paused,
            ended=LiveEnd(at=end.at, reason=end.reason, said=end.said, owed=end.owed) if end else None,
        )

    def _set_paused(self, paused: bool) -> None:
        if paused != self._paused:
            self._paused = paused
            self._emit(PauseChanged(self._clock.now(), paused))
            self._changed.set()


def _sending(flight: _Flight) -> LiveFlight:
    job = flight.run.job
    return LiveFlight(
        key=job.key, question=job.question.id, setting=flight.run.label, run=job.run, attempt=flight.number,
        state="sending", since=flight.sent_at,
    )  # fmt: skip
