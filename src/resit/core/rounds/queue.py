"""Which owed run goes next: fair over the settings, and none before its time."""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, field

from resit.core.records import Attempt
from resit.core.rounds.plan import Job


@dataclass(slots=True, eq=False)
class OpenRun:
    """A job under way: what was tried so far in this start of the round."""

    job: Job
    attempts: list[Attempt] = field(default_factory=list)
    waited_s: float = 0.0
    """Back-off before the next attempt."""
    former: tuple[Attempt, ...] | None = None
    """Attempts of earlier starts. None: not looked up yet."""

    @property
    def label(self) -> str:
        """Its setting's label."""
        return self.job.setting.label


class JobQueue:
    """Open runs that are not being sent: owed ones in order, and those that wait for another attempt."""

    def __init__(self, jobs: Iterable[Job]) -> None:
        """Queue `jobs` in their order."""
        self._owed: dict[str, deque[OpenRun]] = {}
        for job in jobs:
            self._owed.setdefault(job.setting.label, deque()).append(OpenRun(job))
        self._waiting: list[tuple[float, int, OpenRun]] = []
        self._due: list[OpenRun] = []

    def __len__(self) -> int:
        return sum(map(len, self._owed.values())) + len(self._waiting) + len(self._due)

    @property
    def next_due_s(self) -> float | None:
        """When the first waiting run may be tried again. None when none waits."""
        return self._waiting[0][0] if self._waiting else None

    @property
    def labels(self) -> frozenset[str]:
        """The settings of the runs that could go out now."""
        owed = {label for label, runs in self._owed.items() if runs}
        return frozenset(owed | {run.label for run in self._due})

    def wait_until(self, run: OpenRun, ready_s: float) -> None:
        """Try `run` again at `ready_s`, before those that were never sent."""
        heapq.heappush(self._waiting, (ready_s, run.job.index, run))

    def take(self, now_s: float, allowed: Callable[[OpenRun], bool]) -> OpenRun | None:
        """The run that goes next: the first of those due and of each setting's next that is allowed to start now.

        Args:
            now_s: The present, on the clock of `wait_until`.
            allowed: Says of a run whether it may start.
        """
        while self._waiting and self._waiting[0][0] <= now_s:
            self._due.append(heapq.heappop(self._waiting)[2])
        for at, run in enumerate(self._due):
            if allowed(run):
                return self._due.pop(at)
        heads = [owed[0] for owed in self._owed.values() if owed and allowed(owed[0])]
        if not heads:
            return None
        first = min(heads, key=lambda run: run.job.index)
        return self._owed[first.label].popleft()

    def take_keys(self, keys: Collection[str]) -> dict[str, OpenRun]:
        """The owed runs with these keys, for they are out already."""
        found = {}
        for label, owed in self._owed.items():
            found.update({run.job.key: run for run in owed if run.job.key in keys})
            self._owed[label] = deque(run for run in owed if run.job.key not in keys)
        return found

    def put_back(self, run: OpenRun) -> None:
        """Undo `take`."""
        if run.attempts:
            self._due.insert(0, run)
        else:
            self._owed[run.label].appendleft(run)

    def take_first(self, fits: Callable[[OpenRun], bool]) -> OpenRun | None:
        """The first run of all that fits, waiting ones aside; for when no head of a queue does."""
        for runs in (self._due, *self._owed.values()):
            for at, run in enumerate(runs):
                if fits(run):
                    del runs[at]
                    return run
        return None

    def drop_setting(self, label: str) -> list[OpenRun]:
        """Forget a setting's runs; returns those that were tried already."""
        self._owed.pop(label, None)
        tried = [run for run in self._tried() if run.label == label]
        self._waiting = [entry for entry in self._waiting if entry[2].label != label]
        heapq.heapify(self._waiting)
        self._due = [run for run in self._due if run.label != label]
        return tried

    def drop_all(self) -> list[OpenRun]:
        """Forget everything; returns the runs that were tried already."""
        tried = list(self._tried())
        self._owed.clear()
        self._waiting.clear()
        self._due.clear()
        return tried

    def _tried(self) -> Iterator[OpenRun]:
        yield from self._due
        yield from (run for _, _, run in self._waiting)
