"""What the App holds for all screens: the running round and the picture of it. Knows nothing of Textual."""

from __future__ import annotations

import asyncio
from collections import deque
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from pathlib import Path

    from resit.core.rounds.events import Event, RoundEnded, RunKept, Streamed
    from resit.core.rounds.progress import Progress
    from resit.core.suite import Suite

TICKS_PER_S = 10
"""How often screens hear of news: more is not readable, and costs two to four times the CPU."""


class RunnerLike(Protocol):
    """What the session needs of `rounds.runner.Runner`."""

    async def run(self) -> RoundEnded:
        """Run the round to its end."""
        ...

    def stop(self, grace_s: float = ...) -> None:
        """Start nothing more; calls in flight get `grace_s`."""
        ...

    def pause(self) -> None:
        """Start nothing more until `resume`."""
        ...

    def resume(self) -> None:
        """Go on."""
        ...

    def watch(self, key: str | None) -> None:
        """Stream this run's reply as it comes."""
        ...


class BegunLike(Protocol):
    """A started round."""

    @property
    def runner(self) -> RunnerLike:
        """Its runner, which holds the lock."""
        ...


class Session:
    """The round that runs, if one does; its events on their way to the screens."""

    def __init__(self) -> None:
        """Nothing runs yet."""
        self.progress: Progress | None = None
        """The picture as of the last drain. Stays after the end, until another round starts."""
        self.ended: RoundEnded | None = None
        self.round_path: Path | None = None
        """Folder of the running or last round."""
        self.suite: Suite | None = None
        """Suite of the running or last round."""
        self.watched: str | None = None
        """Run whose reply is streamed."""
        self.watching = False
        """True while the picture is of a round that another process runs."""
        self._runner: RunnerLike | None = None
        self._feed: deque[Event] = deque()
        self._over = asyncio.Event()

    @property
    def running(self) -> bool:
        """True while a round runs in this process."""
        return self._runner is not None

    @property
    def paused(self) -> bool:
        """True while nothing new is started on request."""
        return self.running and self.progress is not None and self.progress.paused

    def emit(self, event: Event) -> None:
        """Take an event from the runner; never blocks it. Given to `Prepared.start`."""
        self._feed.append(event)

    def begin(self, runner: RunnerLike, suite: Suite | None, path: Path | None) -> None:
        """Take a runner that holds its round's lock; `run` is to follow."""
        self.progress = self.ended = None
        self.suite, self.round_path = suite, path
        self.watching = False
        self._over = asyncio.Event()
        self._runner = runner
        runner.watch(self.watched)

    async def run(self) -> RoundEnded:
        """Run the round to its end."""
        assert self._runner is not None
        try:
            self.ended = await self._runner.run()
        finally:
            self._runner = None
            self._over.set()
        return self.ended

    async def stop(self, grace_s: float = 5.0) -> None:
        """Stop the round and wait until what came back is kept, no longer than the grace and a second."""
        if self._runner is None:
            return
        self._runner.stop(grace_s)
        try:
            await asyncio.wait_for(self._over.wait(), grace_s + 1.0)
        except TimeoutError:
            # Every finished run is on disk already; waiting longer would keep a closing terminal open.
            return

    def pause(self) -> None:
        """Start nothing more until `resume`."""
        if self._runner is not None:
            self._runner.pause()

    def resume(self) -> None:
        """Go on."""
        if self._runner is not None:
            self._runner.resume()

    def cancel_batches(self) -> None:
        """Cancel what is out in batches; what is done by then is still taken in."""
        from resit.core.rounds.batch_runner import BatchRunner

        if isinstance(self._runner, BatchRunner):
            self._runner.cancel()

    def watch(self, key: str | None) -> None:
        """Stream one run's reply as it comes; None follows none."""
        self.watched = key
        if self._runner is not None:
            self._runner.watch(key)

    def drain(self) -> tuple[Progress, tuple[RunKept, ...], tuple[Streamed, ...]] | None:
        """Fold what came since the last drain into the picture; None when nothing came."""
        if not self._feed:
            return None
        # Not before a round runs: the first paint does not wait for it.
        from resit.core.rounds.events import RunKept, Streamed
        from resit.core.rounds.progress import Progress, fold

        progress = self.progress or Progress()
        kept: list[RunKept] = []
        streamed: list[Streamed] = []
        for _ in range(len(self._feed)):
            event = self._feed.popleft()
            progress = fold(progress, event)
            if isinstance(event, RunKept):
                kept.append(event)
            elif isinstance(event, Streamed):
                streamed.append(event)
        self.progress = progress
        return progress, tuple(kept), tuple(streamed)
