"""Results on their way to the disk: records are built, written, graded and only then announced."""

from __future__ import annotations

from collections.abc import Mapping

from resit.core.errors import RoundError
from resit.core.records import Attempt, Row, RunRecord, VerdictWord
from resit.core.rounds.graded import GradedRound
from resit.core.rounds.plan import Job, Plan, held
from resit.core.rounds.queue import OpenRun
from resit.core.rounds.store import RoundStore
from resit.core.scoring.grid import make_row


class Safe:
    """Keeps runs; knows which are still owed and which found no room."""

    def __init__(
        self, plan: Plan, store: RoundStore, keeper: GradedRound | None, verdicts: Mapping[str, VerdictWord]
    ) -> None:
        """Keep the runs of `plan` in `store`; `keeper` remembers their rows for the next opening."""
        self._store = store
        self._keeper = keeper
        self._verdicts = verdicts
        self._owed = {job.key for job in plan.jobs}
        self._unsaved: list[tuple[Job, RunRecord]] = []

    @property
    def owed(self) -> int:
        """Runs still without a usable reply."""
        return len(self._owed)

    def keep(self, run: OpenRun) -> tuple[RunRecord, Row]:
        """Write a run with all its attempts, former ones first, and grade it.

        Raises:
            RoundError: It could not be written; it is held in memory until `keep_late`.
        """
        record = self._record(run)
        try:
            self._store.put(record)
        except RoundError:
            self._unsaved.append((run.job, record))
            raise
        return record, self._graded(run.job, record)

    def keep_late(self) -> list[tuple[RunRecord, Row]]:
        """Try once more to write what found no room; returns what is kept now."""
        kept = []
        for job, record in self._unsaved:
            try:
                self._store.put(record)
            except RoundError:
                continue
            kept.append((record, self._graded(job, record)))
        self._unsaved.clear()
        return kept

    def close(self) -> None:
        """Remember the rows."""
        if self._keeper is not None:
            self._keeper.save()

    def _graded(self, job: Job, record: RunRecord) -> Row:
        row = make_row(job.question, record, self._verdicts.get(job.key), asked=job.asked)
        kept = held(record)
        if job.wanted in kept.usable:
            self._owed.discard(job.key)
        if self._keeper is not None:
            self._keeper.remember(record, row, kept)
        return row

    def _record(self, run: OpenRun) -> RunRecord:
        job = run.job
        if run.former is None:
            run.former = self._former(job)
        former, later = run.former, run.attempts
        if former:
            later = [a.model_copy(update={"number": len(former) + a.number}) for a in later]
        return RunRecord(
            question=job.question.id,
            setting=job.setting,
            run=job.run,
            prompt=job.request.prompt,
            attempts=(*former, *later),
        )

    def _former(self, job: Job) -> tuple[Attempt, ...]:
        if job.reason in ("new", "repeat added", "damaged file"):
            return ()
        stored = self._store.read(job.key)
        return stored.attempts if stored is not None else ()
