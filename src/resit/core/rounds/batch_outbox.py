"""Batches on their way out: which runs go together, what is written down before, and what may be there unknown."""

from __future__ import annotations

from datetime import timedelta

from resit.core.calling.batches import BatchState, may_exist
from resit.core.errors import OverCap, Unpriced
from resit.core.records import Fault
from resit.core.rounds.batch_book import BatchItem, request_mark, request_number
from resit.core.rounds.batch_room import Batches, BatchRoom, Out, OutRun
from resit.core.rounds.course import Sent
from resit.core.rounds.queue import OpenRun
from resit.core.spend.budget import Reservation

MAX_REQUESTS = 2_000
MAX_BYTES = 16 * 1024 * 1024
"""Far within what the API takes (100,000 requests, 256 MB), so that memory stays flat."""
_FRAME_BYTES = 400
LOOKS = 2
"""How often a batch that may be there is looked for before it counts as never made."""
SINCE = timedelta(days=1)
"""How far the two clocks may be apart."""
CREATES = 6
"""How often a batch that is refused for a while is submitted."""


class Outbox:
    """Submits what is owed."""

    def __init__(self, room: BatchRoom) -> None:
        """Submit for `room`."""
        self._room = room
        self._course = room.course
        self._most = MAX_REQUESTS
        self._refusals = 0
        self._not_ours: set[str] = set()
        self.tight: set[str] = set()
        """Settings whose next request the cap does not allow while so much is out."""
        self.next_s = 0.0
        """Nothing is submitted before this time."""

    async def send(self) -> None:
        """Submit whatever can be, batch by batch.

        Raises:
            RoundError: It cannot be written down before.
        """
        course = self._course
        while not (course.paused or course.winding_up or course.clock.monotonic_s() < self.next_s):
            runs = self._compose()
            if not runs:
                return
            await self._submit(runs)

    def _compose(self) -> list[tuple[OpenRun, Reservation]]:
        """The runs of the next batch, all for one server, with their money set aside."""
        course, now = self._course, self._course.clock.monotonic_s()
        runs: list[tuple[OpenRun, Reservation]] = []
        server: Batches | None = None
        room = MAX_BYTES

        def fits(run: OpenRun) -> bool:
            if run.label in self.tight or (server is not None and self._room.servers[run.label] is not server):
                return False
            return course.pace.may_start(run.job.setting.model, now) and course.pool_allows(run)

        while len(runs) < self._most and room > 0 and (run := course.queue.take(now, fits)) is not None:
            reservation = self._reserve(run)
            if reservation is not None:
                server = self._room.servers[run.label]
                room -= _size(run)
                course.sent(run)
                runs.append((run, reservation))
        return runs

    def _reserve(self, run: OpenRun) -> Reservation | None:
        course = self._course
        try:
            return course.till.reserve(run.job)
        except OverCap:
            self.tight.add(run.label)
            course.queue.put_back(run)
        except Unpriced as error:
            course.queue.put_back(run)
            course.stop_setting(run.job.setting, Fault(kind="billing", said=str(error)))
        return None

    async def _submit(self, runs: list[tuple[OpenRun, Reservation]]) -> None:
        room, first = self._room, runs[0][0].job
        items = (_item(run, reservation) for run, reservation in runs)
        note = room.book.prepare(first.request.endpoint, items, self._course.clock.now())
        members = [
            OutRun(Sent(len(run.attempts) + 1, note.prepared_at, reservation, note.mark), run)
            for run, reservation in runs
        ]
        out = Out(note, members)
        room.out.append(out)
        room.tell()
        self._course.emit(self._course.till.spent)
        requests = ((request_mark(note, n), run.job.request) for n, (run, _) in enumerate(runs))
        server = room.servers[runs[0][0].label]
        self._take_answer(out, server, await room.ask(server.create(requests)))

    def _take_answer(self, out: Out, server: Batches, answer: BatchState | Fault | None) -> None:
        room = self._room
        if isinstance(answer, BatchState):
            self._refusals = 0
            room.wait(out)
            room.change(out, state="submitted", id=answer.id, expires_at=answer.expires_at)
        elif answer is None or may_exist(answer):
            out.unsure = True
            room.wait(out)
            room.tell()
        else:
            room.owe_again(out)
            room.change(out, state="never made")
            self._refused(server, answer)

    def _refused(self, server: Batches, fault: Fault) -> None:
        """The server took no batch, and said why."""
        if fault.status == 413 and self._most > 1:
            self._most //= 2
            return
        self._refusals += 1
        wait_s = self._course.pace.failed("", fault, self._refusals, self._course.clock.monotonic_s())
        if wait_s is None or self._course.pace.ends_setting(fault):
            self._room.stop_settings(server, fault)
        else:
            self.next_s = self._course.clock.monotonic_s() + wait_s

    # --- what may be there

    async def look_for(self, out: Out, server: Batches) -> None:
        """Find a batch whose id was lost; its runs are owed again once it is sure that it was never made.

        Raises:
            RoundError: What was found cannot be written down.
        """
        room = self._room
        found = await room.ask(server.recent(out.note.prepared_at - SINCE))
        if isinstance(found, Fault):
            if self._course.pace.ends_setting(found) or found.kind == "request":
                room.stop_settings(server, found)
            room.wait(out)
            return
        unclear = False
        for batch in found or ():
            if batch.requests != out.note.requests or batch.id in room.book.known_ids | self._not_ours or batch.gone:
                continue
            ours = await self._is_ours(out, server, batch)
            if ours:
                out.unsure, out.due_s = False, self._course.clock.monotonic_s()
                room.change(out, state="submitted", id=batch.id, expires_at=batch.expires_at)
                return
            unclear = unclear or ours is None
        out.looks += not unclear and found is not None
        room.wait(out)
        if out.looks >= LOOKS:
            room.owe_again(out)
            room.change(out, state="never made")
        else:
            room.tell()

    async def _is_ours(self, out: Out, server: Batches, batch: BatchState) -> bool | None:
        """Whether a batch is the one that is looked for; None while it cannot be told."""
        if batch.status != "ended":
            return None
        mark = await self._room.ask(server.first_mark(batch.id))
        if isinstance(mark, Fault):
            return None
        if mark is not None and request_number(out.note, mark) is not None:
            return True
        self._not_ours.add(batch.id)
        return False


def _item(run: OpenRun, reservation: Reservation) -> BatchItem:
    job = run.job
    return BatchItem(
        key=job.key,
        question=job.question.id,
        setting=run.label,
        run=job.run,
        asked=job.asked,
        number=len(run.attempts) + 1,
        worst_usd=reservation.worst_usd,
        prompt=job.request.prompt,
    )


def _size(run: OpenRun) -> int:
    request = run.job.request
    return _FRAME_BYTES + len(request.prompt.encode(errors="surrogatepass")) + len(request.system or "")
