"""Asks what is owed, call by call: who goes next, retries and limits of one round, on one event loop."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

from resit.core.errors import OverCap, RoundError, Unpriced
from resit.core.records import Fault, FaultKind, Reply
from resit.core.rounds.course import Course, Sent
from resit.core.rounds.events import AttemptSent, RoundEnded
from resit.core.rounds.flights import Flight, Flights
from resit.core.rounds.outfit import Outfit
from resit.core.rounds.plan import COMMAND
from resit.core.rounds.queue import OpenRun
from resit.core.spend.budget import Reservation

GRACE_S = 10.0
"""How long a stop waits for the calls that are out."""
CALL_LIMIT_S = 1800.0
"""A call without an end by then is given up, whatever its client does."""


class Runner:
    """One start of a round. Only for the holder of the store's lock, which it lets go at the end."""

    def __init__(self, outfit: Outfit, *, call_limit_s: float = CALL_LIMIT_S) -> None:
        """Make ready; `run` begins.

        Args:
            outfit: What is owed, who asks, and where all goes.
            call_limit_s: The longest one call may take.
        """
        self.plan, self.store, self.budget = outfit.plan, outfit.store, outfit.budget
        self._course = Course(outfit)
        self._clients = outfit.clients
        self._call_limit_s = call_limit_s
        self._flights = Flights(outfit.emit)
        self._tight: set[str] = set()
        """Settings whose next call the cap does not allow while so much is out."""

    async def run(self) -> RoundEnded:
        """Ask everything that is owed, until all is asked or something ends the round.

        Whatever ends it, every reply that came is kept, the clients are closed and the lock is let go.
        An exception is a defect of ours or of a client.
        """
        course = self._course
        try:
            course.begin()
            await self._work()
            course.keep_late()
        finally:
            await self._flights.cancel()
            await course.close()
        if course.defect is not None:
            raise course.defect
        ended = course.ended()
        course.emit(ended)
        return ended

    def stop(self, grace_s: float = GRACE_S) -> None:
        """Start no more calls, and cancel those that are out when `grace_s` is over; a second stop may shorten it."""
        self._course.ask_to_stop(grace_s)

    def pause(self) -> None:
        """Start no more calls until `resume`; those that are out go on."""
        self._course.set_paused(True)

    def resume(self) -> None:
        """Go on after `pause`."""
        self._course.set_paused(False)

    @property
    def paused(self) -> bool:
        """True between `pause` and `resume`."""
        return self._course.paused

    def watch(self, key: str | None) -> None:
        """Stream the reply of one run as it comes, from its beginning; None streams nothing."""
        self._flights.watch(key)

    # --- the loop

    async def _work(self) -> None:
        course = self._course
        while True:
            course.changed.clear()
            self._give_up_overdue()
            self._start_what_can()
            course.tell_holds()
            if self._over():
                return
            course.beat(flight.live() for flight in self._flights)
            await course.clock.wait(course.changed, self._next_news_s())

    def _over(self) -> bool:
        """True when nothing is out and nothing more will start; says why in the course's `ending`."""
        course = self._course
        if course.stop_by_s is not None:
            course.end("stopped", "stopped; all that came is kept")
        if self._flights or (course.paused and course.ending is None):
            return False
        if course.ending is not None or not len(course.queue):
            return True
        return self._start_cheaper_or_end()

    def _next_news_s(self) -> float:
        """Seconds until something is to be done though no call ended."""
        course = self._course
        now = course.clock.monotonic_s()
        times = [course.next_beat_s, *course.pace.holds_end_s(now), *course.holds_end_s]
        if course.queue.next_due_s is not None and not course.paused:
            times.append(course.queue.next_due_s)
        if course.stop_by_s is not None:
            times.append(course.stop_by_s)
        return max(0.0, min(times) - now)

    # --- starting

    def _start_what_can(self) -> None:
        course = self._course
        if course.paused or course.winding_up:
            return
        now = course.clock.monotonic_s()
        while self._has_room() and (run := course.queue.take(now, self._may_start)) is not None:
            reservation = self._reserve(run)
            if reservation is not None:
                self._start(run, reservation)

    def _has_room(self) -> bool:
        return not (self.plan.round.serial and self._flights)

    def _may_start(self, run: OpenRun) -> bool:
        setting, course = run.job.setting, self._course
        at_a_time = self.plan.round.agents if setting.provider == COMMAND else self.plan.round.concurrency
        if run.label in self._tight or self._flights.count(setting.provider) >= at_a_time:
            return False
        return course.pace.may_start(setting.model, course.clock.monotonic_s()) and course.pool_allows(run)

    def _reserve(self, run: OpenRun) -> Reservation | None:
        """Set money aside for a call; None puts the run back, for a call that ends may free some."""
        course = self._course
        try:
            return course.till.reserve(run.job)
        except OverCap:
            self._tight.add(run.label)
            course.queue.put_back(run)
        except Unpriced as error:
            course.queue.put_back(run)
            course.stop_setting(run.job.setting, Fault(kind="billing", said=str(error)))
        except RoundError as error:
            course.queue.put_back(run)
            course.end("disk", str(error))
        return None

    def _start_cheaper_or_end(self) -> bool:
        """Nothing is out: start any run that the cap still allows; True when none is left and the round ends."""
        course = self._course
        if course.queue.next_due_s is not None:
            return False
        if course.ends_held(self._tight):
            return True
        if not self._tight:
            return False
        run = course.queue.take_first(lambda run: course.till.affords(run.job) and course.pool_allows(run))
        if run is not None:
            reservation = self._reserve(run)
            if reservation is None:
                return True
            self._start(run, reservation)
            return False
        course.end_at_cap()
        return True

    def _start(self, run: OpenRun, reservation: Reservation) -> None:
        job, course = run.job, self._course
        flight = Flight(run, len(run.attempts) + 1, course.clock.now(), course.clock.monotonic_s(), reservation)
        self._flights.add(flight)
        course.sent(run)
        course.emit(AttemptSent(flight.sent_at, job.key, job.question.id, job.setting, job.run, flight.number))
        flight.task = asyncio.create_task(self._call(flight))

    async def _call(self, flight: Flight) -> None:
        try:
            answer = await self._clients[flight.run.label].ask(
                flight.run.job.request, lambda delta: self._flights.heard(flight, delta)
            )
            if not flight.over:
                self._land(flight, answer)
        except Exception as error:
            if not flight.over:
                self._flights.drop(flight)
            self._course.end_by_defect(error)
        finally:
            self._course.changed.set()

    # --- landing

    def _land(self, flight: Flight, answer: Reply | Fault) -> None:
        self._flights.drop(flight)
        self._tight.clear()
        self._course.land(flight.run, Sent(flight.number, flight.sent_at, flight.reservation), answer)

    def _give_up_overdue(self) -> None:
        """End the calls that took too long, and at the end of a stop's grace all of them."""
        course = self._course
        now = course.clock.monotonic_s()
        if course.stop_by_s is not None and now >= course.stop_by_s:
            self._give_up(self._flights, "dropped", "stopped before its reply ended")
            return
        late = [flight for flight in self._flights if now - flight.sent_s > self._call_limit_s]
        self._give_up(late, "timeout", f"no end after {self._call_limit_s:g} s")

    def _give_up(self, flights: Iterable[Flight], kind: FaultKind, said: str) -> None:
        for flight in flights:
            if flight.task is not None:
                flight.task.cancel()
            seconds = self._course.clock.monotonic_s() - flight.sent_s
            self._land(flight, Fault(kind=kind, said=said, seconds=seconds))
