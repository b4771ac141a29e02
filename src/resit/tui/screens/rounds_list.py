"""The rounds of one suite: open one, go on with it, add settings to it, follow it, mark two to compare."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from rich.cells import cell_len
from textual import on, work
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content

from resit.core.errors import ResitError
from resit.tui.figures import count, money
from resit.tui.history import PastRound, past_rounds
from resit.tui.screens.base import ResitScreen
from resit.tui.setting_names import short_names
from resit.tui.widgets.plain import Hung, PlainStatic
from resit.tui.widgets.table import Column, ResultsGrid, Shown
from resit.tui.widgets.table_lines import GAP

if TYPE_CHECKING:
    from resit.core.suite import Suite

_NARROW = 90
"""Below this the columns are no wider than what is in them."""
POLL_S = 2.0


class RoundLines:
    """One row a round, newest first."""

    summaries: Sequence[Sequence[Shown]] = ()

    def __init__(self, rounds: Sequence[PastRound], marked: frozenset[Path], width: int) -> None:
        """Show `rounds`; those in `marked` carry a mark."""
        self.rounds, self._marked = rounds, marked
        self.columns: tuple[Column, ...] = (
            Column("round", "round", 18),
            Column("state", "state", 16),
            Column("done", "done", 9, right=True),
            Column("cost", "cost", 10, right=True),
            Column("runs", "runs", 4, right=True),
            Column("lowest", "lowest run at full marks, by setting", max(20, width - 70)),
        )
        if width < _NARROW:
            self.columns = self._fitted(width)

    def _fitted(self, width: int) -> tuple[Column, ...]:
        """The columns no wider than what is in them; the last has the rest."""
        first = [column for column in self.columns if column.key not in ("runs", "lowest")]
        fitted = []
        for at, column in enumerate(first):
            widest = max((cell_len(self.cell(row, at).text) for row in range(len(self))), default=0)
            fitted.append(replace(column, width=max(len(column.title), min(widest, column.width))))
        rest = width - sum(column.width + GAP for column in fitted) - 1
        return (*fitted, Column("lowest", "lowest at full marks", max(20, rest)))

    def __len__(self) -> int:
        """One a round."""
        return len(self.rounds)

    def row_id(self, row: int) -> str:
        """Its folder."""
        return str(self.rounds[row].path)

    def cell(self, row: int, column: int) -> Shown:
        """What stands there."""
        past = self.rounds[row]
        match self.columns[column].key:
            case "round":
                return Shown(f"{'◆' if past.path in self._marked else ' '} {past.name}")
            case "state":
                return state_of(past)
            case "done":
                return Shown(f"{past.kept}/{past.planned}" if past.plan else "")
            case "cost":
                return Shown(money(past.cost_usd, at_least=past.at_least) if past.plan else "")
            case "runs":
                return Shown(str(past.plan.repeats) if past.plan else "", "dim")
            case _:
                return Shown(past.problem or "  ".join(marks_of(past)))

    def sort_value(self, row: int, column: int) -> str | float | None:
        """Dates and money by their size, the rest as words."""
        past = self.rounds[row]
        match self.columns[column].key:
            case "round":
                return past.plan.created_at.timestamp() if past.plan else None
            case "cost":
                return None if past.cost_usd is None else float(past.cost_usd)
            case "done":
                return past.kept
            case _:
                return self.cell(row, column).text


def marks_of(past: PastRound) -> list[str]:
    """`haiku-5-5 low 2/4` for each setting, without the words that all of them end on."""
    names = short_names([mark.setting for mark in past.marks])
    marks = [f"{name} {mark.full}/{mark.of}" for name, mark in zip(names, past.marks, strict=True)]
    return [f"{past.ungraded:,} not graded yet", *marks] if past.ungraded else marks


def state_of(past: PastRound) -> Shown:
    """Running, finished, or how much is left."""
    if past.problem:
        return Shown("✗ unreadable", "bad")
    if past.running_pid is not None:
        return Shown(f"▸ running {past.running_pid or ''}".rstrip(), "strong")
    if past.kept < past.planned:
        return Shown(f"? {past.planned - past.kept:,} to do", "half")
    return Shown("✓ all asked", "good")


class RoundsScreen(ResitScreen):
    """Every round of a suite."""

    GROUP: ClassVar[str] = "rounds"

    def __init__(self, suite: Suite) -> None:
        """List the rounds of `suite`."""
        super().__init__()
        self._suite = suite
        self._rounds: tuple[PastRound, ...] | None = None
        self._marked: frozenset[Path] = frozenset()
        self._note = ""

    def compose_body(self) -> ComposeResult:
        """A table, and a line when there is nothing in it."""
        with Vertical(classes="panel", id="rounds"):
            yield ResultsGrid(id="rounds-table")
        yield PlainStatic(id="rounds-note")

    def on_mount(self) -> None:
        """Read the rounds beside the screen, and again while it is open."""
        self.where(self._suite.title, "Rounds")
        self.query_one(ResultsGrid).focus()
        self.look()
        self.set_interval(POLL_S, self._poll)

    def on_screen_resume(self) -> None:
        """Back from results: grades may have changed."""
        self.look()

    def _poll(self) -> None:
        if self.is_current:
            self.look()

    @work(thread=True, exclusive=True, group="rounds", exit_on_error=False)
    def look(self) -> None:
        """Read the rounds."""
        rounds = past_rounds(self._suite)
        if rounds != self._rounds:
            self.app.call_from_thread(self._show_rounds, rounds)

    def _show_rounds(self, rounds: tuple[PastRound, ...]) -> None:
        self._rounds = rounds
        table = self.query_one(ResultsGrid)
        table.show_model(RoundLines(rounds, self._marked, table.size.width))
        note = count(len(rounds), "round") if rounds else "No round yet: enter on the suite sets one up."
        if len(self._marked) == 1:
            note = "One round marked; mark another with space, then c compares them."
        elif len(self._marked) == 2:
            note = "Two rounds marked; c compares them."
        self._note = note
        self._tell()

    @on(ResultsGrid.Moved)
    def _tell(self) -> None:
        """What can be done, and the marks of the round under the cursor where its line has no room for all of them."""
        table, said = self.query_one(ResultsGrid), f" {self._note}"
        if (past := self.chosen) is not None and not past.problem:
            marks = marks_of(past)
            if cell_len("  ".join(marks)) > table.model.columns[-1].width:
                said += "\n " + " · ".join(marks)
        self.query_one("#rounds-note", PlainStatic).update(Hung(Content(said), 3))

    @property
    def chosen(self) -> PastRound | None:
        """The round under the cursor."""
        at = self.query_one(ResultsGrid).chosen
        return self._rounds[at] if self._rounds and at is not None else None

    @on(ResultsGrid.Opened)
    def _opened(self) -> None:
        self.action_open()

    def action_open(self) -> None:
        """Open the results."""
        if (past := self.chosen) is None:
            return
        if past.problem:
            self.say(past.problem, severity="error")
            return
        try:
            self.resit.open("results", past.path)
        except ResitError as error:
            self.say(str(error), severity="error")

    def action_resume(self) -> None:
        """Ask what is still owed."""
        if (past := self.chosen) is not None and past.plan is not None:
            from resit.tui.starting import go_on

            go_on(self.resit, past.path)

    def action_add(self) -> None:
        """Set up more of this round."""
        if (past := self.chosen) is not None and past.plan is not None:
            self.resit.open("setup", self._suite, round_path=past.path)

    def action_watch(self) -> None:
        """Follow it while another process runs it."""
        if (past := self.chosen) is not None and past.plan is not None:
            from resit.tui.starting import follow

            follow(self.resit, past.path)

    def action_mark(self) -> None:
        """Mark for a comparison; a third mark takes the first one's place."""
        if (past := self.chosen) is None or self._rounds is None:
            return
        if past.path in self._marked:
            self._marked = self._marked - {past.path}
        else:
            kept = [other.path for other in self._rounds if other.path in self._marked][:1]
            self._marked = frozenset([*kept, past.path])
        self._show_rounds(self._rounds)

    def action_compare(self) -> None:
        """Compare the two marked rounds."""
        if len(self._marked) != 2 or self._rounds is None:
            self.say("Mark two rounds with space first.")
            return
        newer, older = (past.path for past in self._rounds if past.path in self._marked)
        from resit.tui.screens.compare import CompareScreen

        self.app.push_screen(CompareScreen(self._suite, older, newer))

    def action_gates(self) -> None:
        """Decide on the marked rounds together, else on the one under the cursor."""
        past = self.chosen
        paths = [found.path for found in self._rounds or () if found.path in self._marked]
        if not paths and past is not None:
            paths = [past.path]
        if not paths:
            self.say("There is no round to decide on.")
            return
        from resit.tui.screens.gates import GatesScreen

        self.app.push_screen(GatesScreen(self._suite, paths))

    def action_history(self) -> None:
        """The suite over its rounds."""
        from resit.tui.screens.history import HistoryScreen

        self.app.push_screen(HistoryScreen(self._suite))
