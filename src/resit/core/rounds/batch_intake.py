"""Batches on their way back: looked at until they have ended, their results saved, and taken in one by one."""

from __future__ import annotations

import asyncio
import errno
from datetime import timedelta

from resit.core.calling.batches import BatchState, Unbilled, result_lines
from resit.core.errors import RoundError, StoreFull
from resit.core.records import Fault, Reply, RunRecord
from resit.core.rounds.batch_book import BatchItem, request_number
from resit.core.rounds.batch_room import Batches, BatchRoom, Out, OutRun, renewed
from resit.core.rounds.till import Called

KEPT = timedelta(days=29)
"""How long a server keeps results."""
_BREATH = 20
"""How many results are taken in before screens and signals get a turn."""


class Intake:
    """Takes in what has ended."""

    def __init__(self, room: BatchRoom) -> None:
        """Take in for `room`."""
        self._room = room
        self._course = room.course

    async def look(self, out: Out, server: Batches) -> None:
        """Look at a batch; when it has ended, take in its results.

        Raises:
            RoundError: What came cannot be written down.
        """
        room = self._room
        if room.book.results_path(out.note).exists():
            await self._take_in(out, server)
            return
        assert out.note.id is not None
        state = await room.ask(server.retrieve(out.note.id))
        if state is None:
            return
        if isinstance(state, Fault):
            self._failed(out, server, state)
        elif state.gone:
            self._lost(out)
        elif state.status == "ended":
            await self._save(out, server, state)
        else:
            out.canceling = state.status == "canceling"
            room.wait(out)
            room.tell()

    async def cancel(self, out: Out, server: Batches) -> None:
        """Ask a server to work on no more of a batch."""
        assert out.note.id is not None
        state = await self._room.ask(server.cancel(out.note.id))
        if isinstance(state, Fault):
            self._failed(out, server, state)
        elif state is not None:
            out.canceling = True
            out.due_s = out.wait_s = 0.0
            self._room.tell()

    def _failed(self, out: Out, server: Batches, fault: Fault) -> None:
        """A look at a batch failed: later again, unless every other would fail as well."""
        if fault.status == 404 and self._course.clock.now() > out.note.prepared_at + KEPT:
            self._lost(out)
        elif fault.status == 404 or self._course.pace.ends_setting(fault) or fault.kind == "request":
            self._room.stop_settings(server, fault)
        else:
            self._room.wait(out)
            self._room.tell()

    def _lost(self, out: Out) -> None:
        """Nobody has the results any more. What they cost nobody says, so their worst case stays taken."""
        for member in reversed(out.runs):
            self._course.budget.settle(member.sent.reservation, None)
            if member.run is not None:
                self._course.not_sent(member.run)
                self._course.queue.put_back(member.run)
        self._room.change(out, state="gone")

    async def _save(self, out: Out, server: Batches, state: BatchState) -> None:
        path = self._room.book.results_path(out.note)
        try:
            fault = await self._room.ask(server.save_results(state.id, path))
        except OSError as error:
            if error.errno in (errno.ENOSPC, errno.EDQUOT):
                raise StoreFull("there is no room for the results of a batch", hint="free some and go on") from None
            raise RoundError(f"{path} cannot be written ({error.strerror})") from None
        if fault is not None:
            self._failed(out, server, fault)
        elif not self._room.gave_up:
            await self._take_in(out, server)

    async def _take_in(self, out: Out, server: Batches) -> None:
        """Every result becomes a kept run; what is taken in already is left alone."""
        begun = out.note.state == "collecting"
        if not begun:
            self._room.change(out, state="collecting")
        left = dict(enumerate(out.runs))
        path = self._room.book.results_path(out.note)
        try:
            for count, line in enumerate(result_lines(path)):
                if count % _BREATH == 0:
                    await asyncio.sleep(0)
                if self._room.gave_up or self._course.ending is not None:
                    return
                found = server.read(line, "its model")
                number = request_number(out.note, found[0]) if found is not None else None
                member = left.pop(number, None) if number is not None else None
                if member is not None and found is not None:
                    self._land(member, found[1], begun)
        except OSError as error:
            raise RoundError(f"{path} cannot be read ({error.strerror})") from None
        for member in left.values():
            said = "the batch ended without a word on this request"
            self._land(member, Fault(kind="server", said=said), begun)
        if self._course.ending is None or self._course.ending[0] != "disk":
            self._room.change(out, state="collected")

    def _land(self, member: OutRun, result: Reply | Fault | Unbilled, begun: bool) -> None:
        mark = member.sent.batch
        if begun:
            stored = self._course.store.read(member.key)
            if stored is not None and any(attempt.batch == mark for attempt in stored.attempts):
                self._was_taken_in(member)
                return
        answer = result.fault if isinstance(result, Unbilled) else result
        billed, again = True, True
        if isinstance(result, Unbilled):
            billed, again = False, not result.canceled
        if member.stale is not None:
            self._keep_aside(member, member.stale, answer, billed)
        elif member.run is not None:
            self._course.land(member.run, member.sent, answer, billed=billed, again=again)

    def _was_taken_in(self, member: OutRun) -> None:
        """An earlier start kept it: its cost is in the round's already."""
        self._course.budget.release(member.sent.reservation)
        if member.run is not None:
            self._course.not_sent(member.run)
            self._course.queue.put_back(member.run)

    def _keep_aside(self, member: OutRun, item: BatchItem, answer: Reply | Fault, billed: bool) -> None:
        """A reply to a wording that is no longer asked: paid for, so it is kept, and the run is owed beside it."""
        course = self._course
        setting = course.settings[item.setting]
        attempt = course.attempt(setting, item.asked, member.sent, answer, billed=billed)
        stored = course.store.read(item.key)
        former = stored.attempts if stored is not None else ()
        attempt = attempt.model_copy(update={"number": len(former) + 1})
        record = RunRecord(
            question=item.question, setting=setting, run=item.run, prompt=item.prompt, attempts=(*former, attempt)
        )
        course.store.put(record)
        endpoint = next(p.endpoint for p in course.plan.round.settings if p.setting == setting)
        course.write_down(Called(item.question, setting, item.run, endpoint), attempt)
        if member.run is not None:
            course.not_sent(member.run)
            course.queue.put_back(renewed(member.run))
