"""What the live screen says in words and figures: pure functions of a picture of the round and the time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from statistics import median
from typing import TYPE_CHECKING

from textual.content import Content

from resit.core.printable import one_line
from resit.tui.figures import count, money, short_setting
from resit.tui.looks import MISS, PASS, UNSETTLED
from resit.tui.widgets.progress_rows import Figures, spark

if TYPE_CHECKING:
    from resit.core.rounds.events import BatchSeen, RoundEnded
    from resit.core.rounds.progress import Flight, Progress, SettingProgress
    from resit.tui.commands import Command

NEWS_LIMIT_S = 90.0
"""A call without news for longer is named: most replies of these sizes end within a minute."""
_NAMED = 3


def keys_now(commands: Sequence[Command], *, runs: bool, ours: bool, paused: bool, owed: bool) -> list[Command]:
    """The commands that do something in this state, in the order in which they are wanted.

    Args:
        commands: Those of the screen.
        runs: Whether the round goes on.
        ours: Whether this process runs it.
        paused: Whether it is held.
        owed: Whether it ended with runs still to ask.
    """
    words = {"live.pause": "go on" if paused else "pause", "live.again": "ask what is owed" if owed else ""}
    if runs:
        left = () if ours else ("live.pause", "live.stop", "live.watch")
        wanted = [command for command in commands if command.id not in (*left, "live.again")]
    else:
        # Another start stands before what there is to read: without it the round is not whole.
        order = ("live.again", "live.results", "live.read", "live.all")
        wanted = [command for name in order for command in commands if command.id == name]
    return [replace(command, label=words.get(command.id, command.label)) for command in wanted]


def progress_figures(progress: Progress, seconds: Mapping[str, Sequence[float]]) -> tuple[Figures, ...]:
    """One row a setting, in the round's order."""
    flying: dict[str, int] = {}
    for flight in progress.flights.values():
        flying[flight.setting] = flying.get(flight.setting, 0) + 1
    return tuple(
        _figures(tally, flying.get(label, 0), seconds.get(label, ())) for label, tally in progress.settings.items()
    )


def _figures(tally: SettingProgress, flying: int, seconds: Sequence[float]) -> Figures:
    unknown = tally.cost_unknown > 0 and not tally.cost_usd
    return Figures(
        label=short_setting(tally.label),
        done=tally.done,
        planned=tally.planned,
        passed=tally.passed,
        part=tally.part,
        missed=tally.missed,
        unsettled=tally.unsettled,
        in_flight=flying,
        cost_usd=None if unknown and tally.done else tally.cost_usd,
        at_least=tally.cost_unknown > 0 and not unknown,
        median_s=median(seconds) if seconds else None,
        stopped=tally.stopped.said if tally.stopped else "",
    )


def status_line(progress: Progress, now: datetime) -> Content:
    """Top right: what is out, what waits, how long it will take."""
    if progress.ended is not None:
        return Content.styled(f"ended · {progress.done:,} of {progress.planned:,}", "$text-muted")
    parts = [f"{progress.in_batches:,} in batches" if progress.batches else f"{progress.sending} in flight"]
    if progress.waiting:
        parts.append(count(progress.waiting, "retry", "retries"))
    if progress.paused:
        return Content.styled(" · ".join(["PAUSED", *parts]), "$warning")
    if progress.batches:
        return Content(" · ".join(parts))
    left = progress.left_s(now)
    parts.append("ETA –" if left is None else f"ETA {clock(left)}")
    return Content(" · ".join(parts))


def clock(seconds: float) -> str:
    """`0:42`, `1:02:03`."""
    total = round(seconds)
    hours, rest = divmod(total, 3600)
    minutes, left = divmod(rest, 60)
    return f"{hours}:{minutes:02}:{left:02}" if hours else f"{minutes}:{left:02}"


def money_line(progress: Progress, now: datetime, per_minute: Sequence[float]) -> Content:
    """Spend against the cap, its rate, and how fast replies come."""
    spent = money(progress.spent_usd, at_least=progress.at_least)
    cap = f" of cap ${progress.cap_usd:.2f}" if progress.cap_usd is not None else " · no cap"
    parts = [Content.assemble(" spent ", (spent, "bold"), cap)]
    if progress.in_flight_usd:
        parts.append(Content.styled(f"{money(progress.in_flight_usd)} set aside", "$text-muted"))
    if bars := spark(per_minute):
        parts.append(Content.assemble((bars, "$primary"), (f" ${per_minute[-1]:.4f}/min", "$text-muted")))
    if progress.ended is None:
        speed = progress.runs_per_s(now)
        parts.append(Content("" if speed is None else f"{speed:.1f} replies/s"))
        waits = "nothing waiting" if not progress.waiting else f"{progress.waiting} waiting"
        parts.append(Content.styled(waits, "$text-muted" if not progress.waiting else "$warning"))
    return Content.styled(" · ", "$text-muted").join([part for part in parts if part.plain])


def waiting_lines(progress: Progress, now: datetime) -> Content:
    """What waits, until when and why; what has been silent too long. Empty when all is well."""
    lines = [Content.styled(f" {UNSETTLED} {one_line(hold.line, 300)}", "$warning") for hold in progress.holds]
    lines += [_batch_line(batch) for batch in progress.batches[:_NAMED]]
    if len(progress.batches) > _NAMED:
        lines.append(Content.styled(f"   and {len(progress.batches) - _NAMED} more batches", "$text-muted"))
    waiting = [flight for flight in progress.flights.values() if flight.state == "waiting"]
    lines += [Content.styled(_waits(flight), "$warning") for flight in waiting[:_NAMED]]
    if len(waiting) > _NAMED:
        lines.append(Content.styled(f"   and {len(waiting) - _NAMED} more wait", "$text-muted"))
    lines += [
        Content.styled(f" {UNSETTLED} no news for {flight.age_s(now):.0f} s: {_named(flight)}", "$warning")
        for flight in progress.overdue(now, NEWS_LIMIT_S)[:_NAMED]
    ]
    return Content("\n").join(lines)


def _batch_line(batch: BatchSeen) -> Content:
    again = f" · looked at again {batch.next_at.astimezone():%H:%M:%S}" if batch.next_at else ""
    line = Content(f" {batch.said}") + Content.styled(again, "$text-muted")
    return line.stylize("$warning") if batch.state in ("looked for", "lost") else line


def _waits(flight: Flight) -> str:
    until = f" until {flight.next_at.astimezone():%H:%M:%S}" if flight.next_at else ""
    why = f": {one_line(flight.fault.said, 120)}" if flight.fault else ""
    return f" {UNSETTLED} {_named(flight)} waits{until} for attempt {flight.attempt + 1}{why}"


def _named(flight: Flight) -> str:
    return f"{one_line(flight.question, 30)} · {one_line(short_setting(flight.setting), 40)} · r{flight.run}"


def end_line(progress: Progress, ended: RoundEnded | None, problem: str, unread: int) -> Content:
    """How it ended and what is next, calmly."""
    if problem:
        return Content.assemble(
            (f" {MISS} {one_line(problem, 300)}", "$error"), " What is finished is saved. ", ("r", "bold"), " goes on."
        )
    if ended is None:
        return Content("")
    sign, style = (PASS, "$success") if ended.reason == "done" and not ended.owed else (UNSETTLED, "$warning")
    said = one_line(ended.said, 300)
    line = Content.assemble((f" {sign} ", style), said)
    if ended.owed:
        line = line + Content.assemble(" · ", ("r", "bold $primary"), f" asks the {ended.owed:,} owed")
    if unread:
        line = line + f" · {count(unread, 'miss', 'misses')} to read"
    return line + Content.assemble(" · ", ("g", "bold $primary"), " results")
