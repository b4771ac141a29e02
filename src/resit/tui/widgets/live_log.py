"""The lines that come in while a round runs: misses, or every run, newest last."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from resit.core.printable import one_line
from resit.core.records import Row
from resit.tui.figures import short_setting
from resit.tui.looks import mark
from resit.tui.widgets.table import Column, ResultsGrid, Shown, Tone

if TYPE_CHECKING:
    from resit.core.rounds.progress import Flight


@dataclass(frozen=True, slots=True)
class LiveEntry:
    """One run that ended."""

    number: int
    """Its place among all lines, from 0; stays the same."""
    row: Row
    at: datetime | None
    """When it was kept. None for a run of an earlier start."""


_TONES: dict[str, Tone] = {"✓": "good", "✗": "bad", "½": "half", "?": "half"}
_TIME, _RUN, _OUTCOME, _GAP, _BAR = 8, 3, 9, 2, 2
_NARROW = 84
"""Below this the time gives its place to the reply."""


def columns_for(width: int) -> tuple[Column, ...]:
    """The columns in `width` cells: question, setting, reply and accepted share what the others leave."""
    timed = width >= _NARROW
    fixed = _RUN + _OUTCOME + (_TIME + _GAP if timed else 0) + 6 * _GAP + _BAR
    room = max(36, width - fixed)
    question = _share(room, 22, 12, 24)
    setting = _share(room, 24, 11, 28)
    accepts = _share(room, 16, 7, 24)
    columns = (
        Column("time", "time", _TIME),
        Column("question", "question", question),
        Column("setting", "setting", setting),
        Column("run", "run", _RUN),
        Column("outcome", "outcome", _OUTCOME),
        Column("reply", "reply", room - question - setting - accepts),
        Column("accepts", "accepts", accepts),
    )
    return columns if timed else columns[1:]


def _share(room: int, percent: int, least: int, most: int) -> int:
    return max(least, min(most, room * percent // 100))


class LiveLines:
    """A table's rows, made from entries only when they are drawn."""

    summaries: Sequence[Sequence[Shown]] = ()

    def __init__(self, entries: Sequence[LiveEntry], accepts: Callable[[str], str], width: int) -> None:
        """Show `entries` in `width` cells; `accepts` says what is accepted for a question id."""
        self.entries = entries
        self.columns = columns_for(width)
        self._accepts = accepts
        self._count = len(entries)

    def __len__(self) -> int:
        """As many as there were when this picture was taken."""
        return self._count

    def row_id(self, row: int) -> str:
        """The entry's number."""
        return str(self.entries[row].number)

    def cell(self, row: int, column: int) -> Shown:
        """What stands there."""
        entry = self.entries[row]
        run = entry.row
        match self.columns[column].key:
            case "time":
                return Shown(entry.at.astimezone().strftime("%H:%M:%S") if entry.at else "earlier", "dim")
            case "question":
                return Shown(run.question)
            case "setting":
                return Shown(short_setting(run.setting))
            case "run":
                return Shown(f"r{run.run}", "dim")
            case "outcome":
                sign = mark(run.score)
                return Shown(f"{sign} {outcome_word(run)}", _TONES[sign])
            case "reply":
                return Shown(said(run))
            case _:
                return Shown(self._accepts(run.question), "dim")

    def sort_value(self, row: int, column: int) -> str | float | None:
        """The lines come in their own order; a sort takes the text of a cell."""
        return self.cell(row, column).text


class FlightLines:
    """What is out now: each call with its state and age, the oldest first."""

    summaries: Sequence[Sequence[Shown]] = ()

    def __init__(self, flights: Sequence[Flight], now: datetime, width: int) -> None:
        """Show `flights` as they are at `now`, in `width` cells."""
        self.flights, self._now = flights, now
        room = max(40, width - _RUN - 3 * _GAP - _BAR)
        question, setting = _share(room, 24, 12, 30), _share(room, 30, 12, 36)
        self.columns = (
            Column("question", "question", question),
            Column("setting", "setting", setting),
            Column("run", "run", _RUN),
            Column("state", "state", room - question - setting),
        )

    def __len__(self) -> int:
        """One a call."""
        return len(self.flights)

    def row_id(self, row: int) -> str:
        """The run's name."""
        return self.flights[row].key

    def cell(self, row: int, column: int) -> Shown:
        """What stands there."""
        flight = self.flights[row]
        cells = (
            Shown(flight.question),
            Shown(short_setting(flight.setting)),
            Shown(f"r{flight.run}", "dim"),
            Shown(flight_state(flight, self._now), "half" if flight.state == "waiting" else ""),
        )
        return cells[column]

    def sort_value(self, row: int, column: int) -> str | float | None:
        """By age in the last column, else by words."""
        return self.flights[row].age_s(self._now) if column == 3 else self.cell(row, column).text


def flight_state(flight: Flight, now: datetime) -> str:
    """`sending for 3 s, attempt 2`, or what it waits for and until when, local time."""
    if flight.state == "waiting" and flight.next_at is not None:
        why = flight.fault.said if flight.fault else "a fault"
        return f"waits until {flight.next_at.astimezone():%H:%M:%S} for attempt {flight.attempt + 1}: {why}"
    again = f", attempt {flight.attempt}" if flight.attempt > 1 else ""
    return f"sending for {flight.age_s(now):.0f} s{again}"


def outcome_word(row: Row) -> str:
    """A word for how it ended: the reason of a miss, else the outcome."""
    if row.outcome == "miss" and row.reason:
        return row.reason
    return row.outcome.replace("_", " ")


def said(row: Row) -> str:
    """The reply in a cell; for a run with checks, what failed first."""
    if row.failed and row.outcome in ("miss", "part"):
        return "failed: " + ", ".join(one_line(name, 30) for name in row.failed[:4])
    return "" if row.reply is None else one_line(row.reply, 400)


class LiveLog(ResultsGrid):
    """The table of lines. Following the newest is a switch; moving up turns it off."""

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's name
        """Follow from the start."""
        super().__init__(id=id)
        self.following = True

    def take(self, lines: LiveLines) -> None:
        """Show `lines`; the cursor goes along only while following."""
        # Looked at before the new lines are in: whoever moved up since the last time wants to stay.
        same_lines = isinstance(self.model, LiveLines) and self.model.entries is lines.entries
        if same_lines and self.following and self.cursor_row < len(self.order) - 1:
            self.following = False
        if self._only_longer(lines):
            # The rows that are drawn stay what they are; 30,000 of them need not be looked at ten times a second.
            self.model, self.order = lines, range(len(lines))
            self._fit()
            self.refresh()
        else:
            self.show_model(lines)
        if self.following:
            self.follow()

    def _only_longer(self, lines: LiveLines) -> bool:
        before = self.model
        same = isinstance(before, LiveLines) and before.entries is lines.entries and before.columns == lines.columns
        return same and self.sorted_by is None and self._keep is None

    def on_mouse_scroll_up(self) -> None:
        """Whoever scrolls up wants to read."""
        self.following = False

    def follow(self) -> None:
        """To the newest line, and on with each that comes."""
        self.following = True
        self.action_edge(1)
        # How far one can scroll is known only once the new lines are laid out.
        self.call_after_refresh(self._bring_into_sight)

    def on_resize(self) -> None:
        """The newest line stays in sight while following."""
        self.call_after_refresh(self._bring_into_sight)
