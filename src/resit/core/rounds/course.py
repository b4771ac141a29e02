"""One start of a round, whoever makes the calls: what is owed, what came back, what it cost and how it ends."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from resit.core.errors import RoundError
from resit.core.records import Attempt, Fault, Reply, Setting
from resit.core.rounds.events import (
    AttemptFailed,
    BatchSeen,
    EndReason,
    PauseChanged,
    PoolHold,
    PoolsHeld,
    RoundEnded,
    RoundStarted,
    RunKept,
    SettingStopped,
)
from resit.core.rounds.live import Heartbeat, Live, LiveEnd, LiveFlight
from resit.core.rounds.outfit import Outfit
from resit.core.rounds.pace import Pace
from resit.core.rounds.queue import JobQueue, OpenRun
from resit.core.rounds.safe import Safe
from resit.core.rounds.sent import SentLog
from resit.core.rounds.till import Called, Till
from resit.core.spend.budget import Reservation


@dataclass(frozen=True, slots=True)
class Sent:
    """A call that left."""

    number: int
    at: datetime
    reservation: Reservation
    batch: str | None = None
    """Mark of the batch it left in."""


class Course:
    """What every runner of a round does alike. Only for the holder of the store's lock."""

    def __init__(self, outfit: Outfit, *, note_sent: bool = True) -> None:
        """Make ready; `begin` begins.

        Args:
            outfit: What the start is made with.
            note_sent: Whether each call is noted before it goes out, so that a killed process's calls hold the cap.
        """
        self.plan, self.store, self.budget = outfit.plan, outfit.store, outfit.budget
        self.emit, self.clock = outfit.emit, outfit.clock
        self.settings = {p.setting.label: p.setting for p in self.plan.round.settings}
        self.till = _till(outfit, note_sent)
        self.pace = Pace(outfit.policy, outfit.rng)
        self.queue = JobQueue(self.plan.jobs)
        self.stopped: dict[str, Fault] = {}
        """Settings that cannot go on, by label."""
        self.changed = asyncio.Event()
        """Set when there may be something to do."""
        self.paused = False
        self.stop_by_s: float | None = None
        """When what is still out is cancelled. None: no stop was asked for."""
        self.ending: tuple[EndReason, str] | None = None
        self.defect: Exception | None = None
        self.gate = outfit.gate
        if self.gate is not None:
            self.gate.changed = self.changed.set
        self._told: tuple[PoolHold, ...] = ()
        self._outfit = outfit
        self._safe = Safe(self.plan, self.store, outfit.keeper, outfit.verdicts)
        self._waiting: dict[str, LiveFlight] = {}
        self._heartbeat = Heartbeat(self.store)
        self._started_at = self.clock.now()

    @property
    def winding_up(self) -> bool:
        """True once nothing more is to be started."""
        return self.ending is not None or self.stop_by_s is not None

    def begin(self) -> None:
        """Say what is planned, and what cannot start."""
        plan, budget = self.plan, self.budget
        per_setting = plan.planned // max(1, len(plan.round.settings))
        self.emit(
            RoundStarted(
                at=self._started_at,
                planned=plan.planned,
                done=len(plan.done),
                rows=self._outfit.rows,
                round_id=self.store.id,
                settings=tuple((p.setting, per_setting) for p in plan.round.settings),
                spent_usd=budget.spent_usd,
                at_least=budget.at_least,
                cap_usd=budget.cap_usd,
            )
        )
        for label, fault in self._outfit.barred.items():
            self.stop_setting(self.settings[label], fault)

    def ask_to_stop(self, grace_s: float) -> None:
        """Start no more, and end when `grace_s` is over; a second time may shorten it."""
        by = self.clock.monotonic_s() + grace_s
        self.stop_by_s = by if self.stop_by_s is None else min(by, self.stop_by_s)
        self.changed.set()

    def set_paused(self, paused: bool) -> None:
        """Start no more until it is taken back."""
        if paused != self.paused:
            self.paused = paused
            self.emit(PauseChanged(self.clock.now(), paused))
            self.changed.set()

    # --- what comes back

    def sent(self, run: OpenRun) -> None:
        """A run no longer waits: it is out."""
        self._waiting.pop(run.job.key, None)
        if self.gate is not None:
            self.gate.started(run.job, self.till.worst_usd(run.job))

    def not_sent(self, run: OpenRun) -> None:
        """It did not go out after all."""
        if self.gate is not None:
            self.gate.landed(run.job, None)

    def land(self, run: OpenRun, sent: Sent, answer: Reply | Fault, *, billed: bool = True, again: bool = True) -> None:
        """What came back is settled, kept or tried again.

        Args:
            run: The run it was for.
            sent: How it left.
            answer: What came back.
            billed: False for what the server says it never worked on.
            again: False when a fault is not to be tried again in this start.
        """
        attempt = self.attempt(run.job.setting, run.job.asked, sent, answer, billed=billed, waited_s=run.waited_s)
        run.attempts.append(attempt)
        wait_s = self._wait_s(run, answer)
        if wait_s is None or not again:
            self.keep(run)
        else:
            self._wait(run, attempt, wait_s)
            if sent.batch is not None:
                self._keep_so_far(run)
        self.write_down(Called.of(run.job), attempt)
        if self.gate is not None:
            self.gate.landed(run.job, answer)
        self.emit(self.till.spent)

    def attempt(
        self, setting: Setting, asked: str, sent: Sent, answer: Reply | Fault, *, billed: bool, waited_s: float = 0.0
    ) -> Attempt:
        """A call that came back, with its money settled."""
        till = self.till
        return Attempt(
            number=sent.number,
            at=sent.at,
            waited_s=waited_s,
            batch=sent.batch,
            asked=asked,
            reply=answer if isinstance(answer, Reply) else None,
            fault=answer if isinstance(answer, Fault) else None,
            cost_usd=till.settle(setting, sent.reservation, answer) if billed else till.release(sent.reservation),
        )

    def write_down(self, called: Called, attempt: Attempt) -> None:
        """A call's line in the ledger."""
        try:
            self.till.write_down(called, attempt)
        except RoundError as error:
            self.end("disk", str(error))

    def _keep_so_far(self, run: OpenRun) -> None:
        """Write down what was tried of a run that is tried again: in a batch that may be a day from now."""
        try:
            self._safe.keep(run)
        except RoundError as error:
            self.end("disk", str(error))

    def keep(self, run: OpenRun) -> None:
        """Write a run's result; only then is it said to be there."""
        self._waiting.pop(run.job.key, None)
        try:
            record, row = self._safe.keep(run)
        except RoundError as error:
            self.end("disk", str(error))
        else:
            self.emit(RunKept(self.clock.now(), record, row))

    def keep_late(self) -> None:
        """Try once more what found no room."""
        for record, row in self._safe.keep_late():
            self.emit(RunKept(self.clock.now(), record, row))

    def _wait_s(self, run: OpenRun, answer: Reply | Fault) -> float | None:
        """Seconds until the run is tried again; None when it has ended."""
        setting = run.job.setting
        if isinstance(answer, Reply):
            self.pace.answered(setting.model)
            return None
        wait_s = self.pace.failed(setting.model, answer, len(run.attempts), self.clock.monotonic_s())
        if self.pace.ends_setting(answer) and not (self.gate is not None and self.gate.refused(run.label, answer)):
            self.stop_setting(setting, answer)
        return None if self.winding_up or run.label in self.stopped else wait_s

    def _wait(self, run: OpenRun, attempt: Attempt, wait_s: float) -> None:
        run.waited_s = wait_s
        self.queue.wait_until(run, self.clock.monotonic_s() + wait_s)
        now, job, fault = self.clock.now(), run.job, attempt.fault
        assert fault is not None
        event = AttemptFailed(now, job.key, fault, attempt.number, now + timedelta(seconds=wait_s))
        self._waiting[job.key] = LiveFlight(
            key=job.key, question=job.question.id, setting=run.label, run=job.run, attempt=attempt.number,
            state="waiting", since=now, next_at=event.next_at, fault=fault,
        )  # fmt: skip
        self.emit(event)

    # --- quotas

    def pool_allows(self, run: OpenRun) -> bool:
        """Whether the quota that a run's model shares lets it start now."""
        return self.gate is None or self.gate.may_start(run.job, self.till.worst_usd(run.job))

    def tell_holds(self) -> None:
        """Say which pools start nothing, when they are others than before."""
        holds = self.gate.holds if self.gate is not None else ()
        if holds != self._told:
            self._told = holds
            self.emit(PoolsHeld(self.clock.now(), holds))

    @property
    def holds_end_s(self) -> list[float]:
        """When pools go on, on the clock's seconds."""
        now, now_s = self.clock.now(), self.clock.monotonic_s()
        holds = self.gate.holds if self.gate is not None else ()
        ends = [(hold.until - now).total_seconds() for hold in holds if hold.until is not None]
        # What ends a hold is looked up again only now and then: a hold that should be over is not asked without rest.
        return [now_s + max(1.0, end_s) for end_s in ends]

    def ends_held(self, but: Collection[str] = ()) -> bool:
        """End the round when all that is left waits for a quota, and for longer than a call would wait.

        Args:
            but: Settings that cannot start for another reason.
        """
        gate = self.gate
        if gate is None or gate.asking:
            return False
        labels = self.queue.labels - frozenset(but)
        holds = {label: gate.hold_of(label) for label in labels}
        if not labels or None in holds.values():
            return False
        if any(end_s <= self.clock.monotonic_s() + self._outfit.policy.max_wait_s for end_s in self.holds_end_s):
            return False
        said = "; ".join(dict.fromkeys(hold.line for hold in holds.values() if hold is not None))
        self.end("quota", f"paused: {said}; then the same command goes on")
        return True

    # --- the end

    def stop_setting(self, setting: Setting, fault: Fault) -> None:
        """A setting cannot go on; what was tried of its runs is kept."""
        if setting.label in self.stopped:
            return
        self.stopped[setting.label] = fault
        for run in self.queue.drop_setting(setting.label):
            self.keep(run)
        self.emit(SettingStopped(self.clock.now(), setting, fault))

    def end(self, reason: EndReason, said: str) -> None:
        """Start nothing more, and keep what was tried of the runs that wait."""
        if self.ending is None:
            self.ending = (reason, said)
            for run in self.queue.drop_all():
                self.keep(run)
            self._waiting.clear()

    def end_at_cap(self) -> None:
        """No call that is left fits under the cap."""
        skipped = len(self.queue)
        self.end(
            "cap",
            f"the cap of ${self.budget.cap_usd} is reached{self.till.doubt}: {skipped} calls skipped; "
            "a higher --cap goes on from here",
        )

    def end_by_defect(self, error: Exception) -> None:
        """Not a model's failure, which is a Fault: a defect. It ends the round after all else is safe."""
        self.defect = self.defect or error
        self.end("stopped", "stopped by a defect")
        self.stop_by_s = self.clock.monotonic_s()

    def ended(self) -> RoundEnded:
        """How it ended."""
        reason, said = self.ending or self._natural_end()
        return RoundEnded(self.clock.now(), reason, said, self._safe.owed)

    def _natural_end(self) -> tuple[EndReason, str]:
        refusals = self.gate.refusals if self.gate is not None else ()
        if refusals and self._safe.owed:
            return "quota", "; ".join(hold.line for hold in refusals)
        if not self.stopped:
            return "done", "all is asked" if self.plan.jobs else "nothing was owed"
        quota = any(fault.kind in ("quota", "limit") for fault in self.stopped.values())
        said = "; ".join(f"{label}: {fault.said}" for label, fault in self.stopped.items())
        return "quota" if quota else "settings", said

    async def close(self) -> None:
        """Let go of clients, files and lock."""
        if self.gate is not None:
            await self.gate.close()
        for client in {id(client): client for client in self._outfit.clients.values()}.values():
            await client.close()
        self._safe.close()
        self.till.close()
        self.beat((), force=True)
        self.store.unlock()

    # --- what others see

    @property
    def next_beat_s(self) -> float:
        """When the next sign of life is due."""
        return self._heartbeat.next_s

    def beat(self, flights: Iterable[LiveFlight], batches: Iterable[BatchSeen] = (), *, force: bool = False) -> None:
        """A sign of life for other processes, not too often; `force` gives the last one."""
        now = self.clock.monotonic_s()
        if force or self._heartbeat.due(now):
            self._heartbeat.write(self._live(flights, batches, force), now)

    def _live(self, flights: Iterable[LiveFlight], batches: Iterable[BatchSeen], ended: bool) -> Live:
        end = self.ended() if ended else None
        return Live(
            pid=os.getpid(),
            at=self.clock.now(),
            started_at=self._started_at,
            planned=self.plan.planned,
            flights=(*flights, *self._waiting.values()),
            batches=tuple(batches),
            holds=self.gate.holds if self.gate is not None else (),
            stopped=self.stopped,
            spent_usd=self.budget.spent_usd,
            in_flight_usd=self.budget.in_flight_usd,
            at_least=self.budget.at_least,
            paused=self.paused,
            ended=LiveEnd(at=end.at, reason=end.reason, said=end.said, owed=end.owed) if end else None,
        )


def _till(outfit: Outfit, note_sent: bool) -> Till:
    plan, store = outfit.plan, outfit.store
    prices = {p.setting.label: p.price for p in plan.round.settings}
    sent = SentLog(store) if note_sent and outfit.ledger is not None else None
    budgets = {p.setting.label: p.budget_usd for p in plan.round.settings}
    return Till(plan.suite.name, store.id, outfit.budget, outfit.ledger, prices, sent, budgets)
