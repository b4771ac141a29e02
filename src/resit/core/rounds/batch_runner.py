"""Asks what is owed in batches: the same round at the batch price, and the same face as `runner.Runner`."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import replace

from resit.core.errors import RoundError
from resit.core.rounds.batch_book import BatchBook
from resit.core.rounds.batch_intake import Intake
from resit.core.rounds.batch_outbox import Outbox
from resit.core.rounds.batch_room import Batches, BatchRoom, PollPace
from resit.core.rounds.course import Course
from resit.core.rounds.events import RoundEnded
from resit.core.rounds.outfit import Outfit
from resit.core.rounds.runner import GRACE_S

ATTEMPTS = 3
"""Batches that one run may be in: each can take a day."""


class BatchRunner:
    """One start of a round in batches. Only for the holder of the store's lock, which it lets go at the end."""

    def __init__(self, outfit: Outfit, servers: Mapping[str, Batches], pace: PollPace | None = None) -> None:
        """Make ready; `run` begins.

        Args:
            outfit: What is owed, and where all goes. Its clients are not asked.
            servers: Who takes batches, by setting label; closed at the end.
            pace: How often a batch is looked at.

        Raises:
            RoundError: Which batches are out cannot be told.
        """
        most = min(ATTEMPTS, outfit.policy.max_attempts)
        outfit = replace(outfit, policy=replace(outfit.policy, max_attempts=most, max_timeouts=most))
        self.plan, self.store, self.budget = outfit.plan, outfit.store, outfit.budget
        self._course = Course(outfit, note_sent=False)
        self._room = BatchRoom(self._course, BatchBook(outfit.store), servers, pace or PollPace())
        self._outbox, self._intake = Outbox(self._room), Intake(self._room)
        self._canceled = False

    async def run(self) -> RoundEnded:
        """Submit everything that is owed, and wait until all results are in or something ends the round.

        Whatever ends it, every result that came is kept, and what is out goes on at the server.
        An exception is a defect of ours.
        """
        course = self._course
        try:
            course.begin()
            await self._work()
            course.keep_late()
        finally:
            await self._room.close()
            await course.close()
        ended = course.ended()
        course.emit(ended)
        return ended

    def stop(self, grace_s: float = GRACE_S) -> None:
        """Submit no more and wait no longer; batches that are out go on, and the same command collects them."""
        self._course.ask_to_stop(grace_s)
        asyncio.get_running_loop().call_later(grace_s, self._room.give_up)

    def cancel(self) -> None:
        """Submit no more, cancel what is out, and take in what was done before that."""
        self._canceled = True
        self._course.changed.set()

    def pause(self) -> None:
        """Submit no more until `resume`; what is out goes on."""
        self._course.set_paused(True)

    def resume(self) -> None:
        """Go on after `pause`."""
        self._course.set_paused(False)

    @property
    def paused(self) -> bool:
        """True between `pause` and `resume`."""
        return self._course.paused

    def watch(self, key: str | None) -> None:
        """Nothing streams out of a batch."""

    # --- the loop

    async def _work(self) -> None:
        course = self._course
        try:
            self._room.recall()
            while True:
                course.changed.clear()
                await self._turn()
                course.tell_holds()
                if self._over():
                    return
                course.beat((), self._room.seen())
                await course.clock.wait(course.changed, self._next_news_s())
        except RoundError as error:
            course.end("disk", str(error))

    async def _turn(self) -> None:
        """Look at what is due, then submit what is owed."""
        course = self._course
        for out in tuple(self._room.out):
            if course.winding_up:
                return
            server = self._room.server_of(out)
            if server is None:
                continue
            if self._canceled and not out.canceling and out.note.state == "submitted":
                await self._intake.cancel(out, server)
            if out.due_s <= course.clock.monotonic_s() and out in self._room.out:
                await (self._outbox.look_for if out.unsure else self._intake.look)(out, server)
                self._outbox.tight.clear()
        if not self._canceled:
            await self._outbox.send()

    def _over(self) -> bool:
        """True when nothing more will come in or go out; says why in the course's `ending`."""
        course, room = self._course, self._room
        if course.stop_by_s is not None:
            course.end("stopped", f"stopped; all that came is kept{self._left_out()}")
        if course.ending is not None:
            return True
        if any(room.server_of(out) is not None for out in room.out):
            return False
        if self._canceled:
            course.end("stopped", "the batches are canceled; what was done before is kept")
            return True
        if room.out:
            course.end("settings", self._unreached())
            return True
        if course.paused or not len(course.queue):
            return not course.paused
        return self._end_held()

    def _end_held(self) -> bool:
        """Nothing is out, and runs are owed: True when only a quota or the cap keeps them."""
        course = self._course
        if course.queue.next_due_s is not None:
            return False
        if course.ends_held(self._outbox.tight):
            return True
        if not self._outbox.tight:
            return False
        course.end_at_cap()
        return True

    def _left_out(self) -> str:
        """What goes on at the server, as a part of a sentence."""
        if not (out := self._room.out):
            return ""
        count = sum(each.note.requests for each in out)
        batches = "1 batch" if len(out) == 1 else f"{len(out)} batches"
        return f"; {batches} of {count:,} requests go on at the server, and the same command collects them"

    def _unreached(self) -> str:
        """Why what is out cannot be collected."""
        faults = dict.fromkeys(fault.said for fault in self._course.stopped.values())
        where = ", ".join(dict.fromkeys(out.note.endpoint for out in self._room.out))
        why = "; ".join(faults) or f"they were submitted to {where}, which no setting of this start asks"
        return f"batches are out that cannot be reached: {why}"

    def _next_news_s(self) -> float:
        """Seconds until something is to be done."""
        course = self._course
        now = course.clock.monotonic_s()
        times = [course.next_beat_s, *course.pace.holds_end_s(now), *course.holds_end_s]
        times += [out.due_s for out in self._room.out if self._room.server_of(out) is not None]
        if course.queue.next_due_s is not None and not course.paused:
            times.append(course.queue.next_due_s)
        if self._outbox.next_s > now:
            times.append(self._outbox.next_s)
        return max(0.0, min(times) - now)
