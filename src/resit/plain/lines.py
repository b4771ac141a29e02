"""A running round as text: one line that rewrites itself on a terminal, a line a run elsewhere."""

from __future__ import annotations

import shutil
import sys
import time
from datetime import UTC, datetime
from typing import TextIO, assert_never

from resit.core.judging.wording import dollars
from resit.core.printable import one_line
from resit.core.records import FAIR, Row
from resit.core.rounds.events import (
    AttemptFailed,
    AttemptSent,
    BatchesChanged,
    BatchSeen,
    Event,
    PauseChanged,
    PoolsHeld,
    RoundEnded,
    RoundStarted,
    RunKept,
    SettingStopped,
    Spent,
    Streamed,
)
from resit.core.rounds.progress import Progress, fold
from resit.plain.text import score, width

_REDRAW_S = 0.1


class Lines:
    """Prints events. It never raises: a terminal that is gone must not end a paid round."""

    def __init__(self, *, live: bool, plain: bool, out: TextIO | None = None, err: TextIO | None = None) -> None:
        """Choose what is shown.

        Args:
            live: Rewrite one line on standard error as the round goes on.
            plain: A line a run on standard output.
            out: Stands in for standard output.
            err: Stands in for standard error.
        """
        self._live = live
        self._plain = plain
        self._out = sys.stdout if out is None else out
        self._err = sys.stderr if err is None else err
        self._progress = Progress()
        self._kept = 0
        self._planned = 0
        self._drawn_s = 0.0
        self._shown = 0
        self._batches: dict[str, str] = {}

    def emit(self, event: Event) -> None:
        """Take one event."""
        if self._live:
            self._progress = fold(self._progress, event)
        for text in self._said(event):
            self.line(text, problem=isinstance(event, SettingStopped))
        if self._live and time.monotonic() - self._drawn_s > _REDRAW_S and not self._about_to_send(event):
            self._draw()

    def line(self, text: str, *, problem: bool = False) -> None:
        """One line above the live one; a problem goes to standard error whatever is shown."""
        if problem:
            self.clear()
            self._write(self._err, f"resit: {one_line(text)}\n")
        elif self._plain:
            self.clear()
            self._write(self._out, f"{one_line(text)}\n")

    def clear(self) -> None:
        """Take the live line away."""
        if self._shown:
            self._write(self._err, f"\r{' ' * self._shown}\r")
            self._shown = 0

    def _said(self, event: Event) -> tuple[str, ...]:
        match event:
            case RoundStarted():
                self._planned, self._kept = event.planned, event.done
            case RunKept():
                self._kept += 1
                loaded = (event.loaded,) if event.loaded else ()
                return (*loaded, f"[{self._kept}/{self._planned}] {row_said(event.row)}")
            case AttemptFailed():
                wait_s = max(0.0, (event.next_at - event.at).total_seconds())
                return (f"attempt {event.attempt} of {event.key}: {event.fault.said}; again in {wait_s:.1f} s",)
            case SettingStopped():
                return (f"{event.setting.label} stopped: {event.fault.said}",)
            case PoolsHeld():
                return tuple(hold.line for hold in event.holds)
            case BatchesChanged():
                return self._news(event.batches)
            case AttemptSent() | Streamed() | Spent() | PauseChanged() | RoundEnded():
                pass
            case _ as never:
                assert_never(never)
        return ()

    def _news(self, batches: tuple[BatchSeen, ...]) -> tuple[str, ...]:
        """The batches that are not as they were said to be."""
        news = [batch for batch in batches if self._batches.get(batch.mark) != batch.state]
        self._batches.update((batch.mark, batch.state) for batch in news)
        return tuple(batch.said for batch in news)

    def _about_to_send(self, event: Event) -> bool:
        """True between the end of a call and the start of the next: a line drawn then shows one call too few."""
        busy = self._progress.done + len(self._progress.flights) < self._progress.planned
        return busy and isinstance(event, RunKept | Spent)

    def _draw(self) -> None:
        self._drawn_s = time.monotonic()
        room = shutil.get_terminal_size().columns - 1
        text = one_line(progress_said(self._progress, datetime.now(UTC)), room)
        padding = " " * max(0, self._shown - width(text))
        self._write(self._err, f"\r{text}{padding}")
        self._shown = width(text)

    def _write(self, stream: TextIO, text: str) -> None:
        try:
            stream.write(text)
            stream.flush()
        except (OSError, ValueError):
            if stream is self._err:
                self._live = False
            else:
                self._plain = False


def row_said(row: Row) -> str:
    """One run as a line."""
    mark = row.outcome if row.outcome != "part" else f"part {score(row.score)}"
    mark += f" ({row.reason})" if row.reason else ""
    parts = [row.question, row.setting, f"run {row.run}", mark if row.outcome in FAIR else f"unsettled: {row.outcome}"]
    parts += [f"{row.seconds:.1f} s"] if row.seconds is not None else []
    return " · ".join([*parts, dollars(row.cost_usd)])


def progress_said(progress: Progress, now: datetime) -> str:
    """A running round in one line."""
    every = progress.settings.values()
    marks = (
        f"{sum(s.passed for s in every)} pass, {sum(s.part for s in every)} part, {sum(s.missed for s in every)} miss"
    )
    parts = [f"{progress.done}/{progress.planned}", marks]
    parts += [f"{progress.unsettled} unsettled"] if progress.unsettled else []
    cap = f" of ${progress.cap_usd:.2f}" if progress.cap_usd is not None else ""
    parts.append(f"{dollars(progress.spent_usd, at_least=progress.at_least)}{cap}")
    out = f"{progress.in_batches:,} in batches" if progress.in_batches else f"{progress.sending} out"
    parts.append(out + (f", {progress.waiting} waiting" if progress.waiting else ""))
    left_s = progress.left_s(now)
    parts += [f"{left_s / 60:.0f} min left" if left_s >= 90 else f"{left_s:.0f} s left"] if left_s else []
    return " · ".join(parts)
