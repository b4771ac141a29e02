"""What a round has out in batches, and the ways to the servers that have them."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Protocol, TypeVar

from resit.core.calling.batches import BatchState, Result
from resit.core.records import Fault, Request
from resit.core.rounds.batch_book import BatchBook, BatchItem, BatchNote
from resit.core.rounds.course import Course, Sent
from resit.core.rounds.events import BatchesChanged, BatchSeen
from resit.core.rounds.queue import OpenRun

T = TypeVar("T")


class Batches(Protocol):
    """What a round needs of `calling.batches.AnthropicBatches`."""

    async def create(self, requests: Iterable[tuple[str, Request]]) -> BatchState | Fault:
        """Submit a batch."""
        ...

    async def retrieve(self, batch_id: str) -> BatchState | Fault:
        """How far a batch is."""
        ...

    async def cancel(self, batch_id: str) -> BatchState | Fault:
        """Work on no more of it."""
        ...

    async def recent(self, since: datetime) -> tuple[BatchState, ...] | Fault:
        """The account's batches made since then."""
        ...

    async def first_mark(self, batch_id: str) -> str | Fault | None:
        """The id in the first line of an ended batch's results."""
        ...

    async def save_results(self, batch_id: str, path: Any) -> Fault | None:
        """Write the results of an ended batch to a file."""
        ...

    def read(self, line: bytes, model: str) -> tuple[str, Result] | None:
        """One line of results."""
        ...

    async def close(self) -> None:
        """Let go of connections."""
        ...


@dataclass(frozen=True, slots=True)
class PollPace:
    """How often a batch is looked at: seldom, and more seldom the longer it takes."""

    first_s: float = 1.0
    factor: float = 1.5
    most_s: float = 120.0

    def after(self, wait_s: float) -> float:
        """The wait after one of `wait_s`; 0 means none so far."""
        return self.first_s if not wait_s else min(self.most_s, wait_s * self.factor)


@dataclass(slots=True)
class OutRun:
    """A request that is out."""

    sent: Sent
    run: OpenRun | None
    """The run that waits for it. None when nothing waits: its question is no longer asked, or has a reply."""
    stale: BatchItem | None = None
    """What was asked, where that is not what would be asked now. Held for those only: there may be thousands."""

    @property
    def key(self) -> str:
        """The run it was made for."""
        if self.stale is not None:
            return self.stale.key
        assert self.run is not None
        return self.run.job.key


@dataclass(slots=True, eq=False)
class Out:
    """A batch that is out."""

    note: BatchNote
    runs: list[OutRun]
    """By the number of the request."""
    wait_s: float = 0.0
    due_s: float = 0.0
    """When it is looked at next, on the clock's seconds."""
    unsure: bool = False
    """It may be at the server, and it may not."""
    looks: int = 0
    """How often it was looked for in vain."""
    canceling: bool = False

    def seen(self, now: datetime, now_s: float) -> BatchSeen:
        """As it is shown."""
        note = self.note
        shown = {
            "prepared": "looked for" if self.unsure else "submitting",
            "submitted": "canceling" if self.canceling else "submitted",
            "collecting": "coming in",
            "collected": "done",
        }
        waits_s = self.due_s - now_s
        return BatchSeen.model_validate(
            {
                "mark": note.mark,
                "requests": note.requests,
                "state": shown.get(note.state, "lost"),
                "since": note.prepared_at,
                "next_at": now + timedelta(seconds=waits_s) if waits_s > 0 and note.open else None,
                "until": note.expires_at,
            }
        )


class BatchRoom:
    """The batches of one start of a round."""

    def __init__(self, course: Course, book: BatchBook, servers: Mapping[str, Batches], pace: PollPace) -> None:
        """Hold what is shared.

        Args:
            course: The round's own course.
            book: Where batches are written down.
            servers: Who takes batches, by setting label; closed at the end.
            pace: How often a batch is looked at.
        """
        self.course, self.book, self.servers, self.pace = course, book, servers, pace
        self.out: list[Out] = []
        self.gave_up = False
        """The grace of a stop is over: nothing more is waited for."""
        self._asking: asyncio.Task[Any] | None = None

    def recall(self) -> None:
        """Take up what earlier starts have out: its runs are not owed, and its worst case is set aside.

        Raises:
            RoundError: What is out cannot be told.
        """
        for note in self.book.open:
            items = list(self.book.items(note))
            found = self.course.queue.take_keys({item.key for item in items})
            members = [self._recalled(note, item, found.get(item.key)) for item in items]
            self.out.append(Out(note, members, unsure=note.state == "prepared"))
        if self.out:
            self.tell()

    def _recalled(self, note: BatchNote, item: BatchItem, run: OpenRun | None) -> OutRun:
        sent = Sent(item.number, note.prepared_at, self.course.budget.hold(item.worst_usd), note.mark)
        if run is not None:
            self.course.sent(run)
        same = run is not None and run.job.asked == item.asked
        return OutRun(sent, run, None if same else item)

    def server_of(self, out: Out) -> Batches | None:
        """Who has a batch; None when none of this start's servers does."""
        for setting in self.course.plan.round.settings:
            label = setting.setting.label
            if setting.endpoint == out.note.endpoint and label in self.servers and label not in self.course.stopped:
                return self.servers[label]
        return None

    def labels_of(self, server: Batches) -> tuple[str, ...]:
        """The settings that a server is asked for."""
        return tuple(label for label, other in self.servers.items() if other is server)

    def change(self, out: Out, **changes: object) -> None:
        """Write down that a batch has got further, and say so.

        Raises:
            RoundError: It cannot be written.
        """
        out.note = out.note.model_copy(update=changes)
        self.book.put(out.note)
        if not out.note.open:
            self.out.remove(out)
        self.tell(out)

    def wait(self, out: Out) -> None:
        """Look at a batch again later."""
        out.wait_s = self.pace.after(out.wait_s)
        out.due_s = self.course.clock.monotonic_s() + out.wait_s

    def tell(self, ended: Out | None = None) -> None:
        """Say what is out, and what just ended."""
        gone = (ended,) if ended is not None and ended not in self.out else ()
        self.course.emit(BatchesChanged(self.course.clock.now(), self.seen(*gone)))

    def seen(self, *more: Out) -> tuple[BatchSeen, ...]:
        """All that is out, as it is shown."""
        now, now_s = self.course.clock.now(), self.course.clock.monotonic_s()
        return tuple(out.seen(now, now_s) for out in (*self.out, *more))

    async def ask(self, call: Coroutine[Any, Any, T]) -> T | None:
        """Wait for a server's answer; None when the grace of a stop ends first."""
        if self.gave_up:
            call.close()
            return None
        self._asking = task = asyncio.ensure_future(call)
        try:
            return await task
        except asyncio.CancelledError:
            if task.cancelled() and self._left_alone():
                return None
            raise
        finally:
            self._asking = None

    def _left_alone(self) -> bool:
        return self.gave_up

    def give_up(self) -> None:
        """Wait for no server any longer."""
        self.gave_up = True
        if self._asking is not None:
            self._asking.cancel()
        self.course.changed.set()

    def owe_again(self, out: Out) -> None:
        """Nothing came of a batch and nothing was billed: its runs wait to be asked."""
        # The last first: each goes to the head of its queue.
        for member in reversed(out.runs):
            self.course.budget.release(member.sent.reservation)
            if member.run is not None:
                self.course.not_sent(member.run)
                self.course.queue.put_back(member.run)

    def stop_settings(self, server: Batches, fault: Fault) -> None:
        """Whoever is asked at a server cannot go on."""
        for label in self.labels_of(server):
            self.course.stop_setting(self.course.settings[label], fault)

    async def close(self) -> None:
        """Let go of connections."""
        for server in {id(server): server for server in self.servers.values()}.values():
            await server.close()


def renewed(run: OpenRun) -> OpenRun:
    """The same run, to be asked beside a reply that was kept for its former wording."""
    return OpenRun(replace(run.job, reason="prompt changed"))
