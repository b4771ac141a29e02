"""A suite over its rounds: scores and costs as a plot and a table, and what became of its questions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content

from resit.core.errors import ResitError
from resit.core.judging.history import Fate, History, Standing, make_history
from resit.core.judging.wording import percent
from resit.core.printable import one_line
from resit.tui import figures
from resit.tui.looks import MISS, PASS
from resit.tui.plots import history_picture, letter
from resit.tui.screens.base import ResitScreen
from resit.tui.widgets.chart import Chart
from resit.tui.widgets.plain import PlainStatic
from resit.tui.widgets.table import Column, ResultsGrid, Shown, TableModel, Tone

if TYPE_CHECKING:
    from resit.core.suite import Suite

_TONES: dict[str, Tone] = {"yes": "", "nobody: always right": "good", "nobody: never right": "bad"}


class StandingLines:
    """A row for each setting in each round, newest round first."""

    summaries: Sequence[Sequence[Shown]] = ()

    def __init__(self, history: History) -> None:
        """Show the standings of `history`."""
        self._letters = {label: letter(at) for at, label in enumerate(history.settings)}
        newest_first = {name: -at for at, name in enumerate(history.rounds)}
        self.standings = sorted(history.standings, key=lambda found: newest_first[found.round_id])
        graded = max((len(f"{found.graded}/{found.planned}") for found in self.standings), default=6)
        self.columns: Sequence[Column] = (
            Column("round", "round", 12),
            Column("letter", "", 1),
            Column("setting", "setting", 16),
            Column("full", "full", 8, right=True),
            Column("lowest", "lowest", 7, right=True),
            Column("each", "each once", 9, right=True),
            Column("graded", "graded", graded, right=True),
            Column("cost", "cost", 11, right=True),
        )

    def __len__(self) -> int:
        """One a standing."""
        return len(self.standings)

    def row_id(self, row: int) -> str:
        """Round and setting."""
        return f"{self.standings[row].round_id}\n{self.standings[row].setting}"

    def cell(self, row: int, column: int) -> Shown:
        """What stands there."""
        found = self.standings[row]
        full = 0 < found.of == found.full
        cells = (
            Shown(figures.when(found.at)),
            Shown(self._letters[found.setting], "strong"),
            Shown(figures.short_setting(found.setting)),
            Shown(f"{PASS if full else ' '} {found.full}/{found.of}", "good" if full else ""),
            Shown(percent(found.share), "strong"),
            Shown(figures.money(found.cost_each_usd)),
            Shown(f"{found.graded}/{found.planned}", "" if found.graded == found.planned else "half"),
            Shown(figures.money(found.cost_usd, at_least=found.cost_at_least)),
        )
        return cells[column]

    def sort_value(self, row: int, column: int) -> str | float | None:
        """Numbers by size, the rest as words."""
        found = self.standings[row]
        values: dict[str, str | float | None] = {
            "round": found.at.timestamp(),
            "full": found.full,
            "lowest": found.share,
            "graded": found.graded,
            "each": None if found.cost_each_usd is None else float(found.cost_each_usd),
            "cost": None if found.cost_usd is None else float(found.cost_usd),
        }
        key = self.columns[column].key
        return values[key] if key in values else self.cell(row, column).text


class FateLines:
    """A row for each question of which there is something to say."""

    summaries: Sequence[Sequence[Shown]] = ()

    def __init__(self, fates: Sequence[Fate], width: int) -> None:
        """Show `fates` in `width` cells."""
        self._fates = fates
        self.columns: Sequence[Column] = (
            Column("question", "question", 18),
            Column("breaks", "broke", 7),
            Column("flaps", "flaps", 7),
            Column("separates", "separates", 20),
            Column("where", "last broken: right in → wrong in", max(34, width - 68)),
        )

    def __len__(self) -> int:
        """One a question."""
        return len(self._fates)

    def row_id(self, row: int) -> str:
        """The question."""
        return self._fates[row].question

    def cell(self, row: int, column: int) -> Shown:
        """What stands there."""
        fate = self._fates[row]
        where = ""
        if fate.breaks:
            last = fate.breaks[-1]
            where = f"{figures.short_setting(last.setting)}: {last.before} → {last.after}"
        cells = (
            Shown(fate.question, "strong"),
            Shown(f"{MISS} {len(fate.breaks)}" if fate.breaks else "", "bad"),
            Shown("~ yes" if fate.flaps else "", "half"),
            Shown(fate.separates, _TONES[fate.separates]),
            Shown(where, "dim"),
        )
        return cells[column]

    def sort_value(self, row: int, column: int) -> str | float | None:
        """Breaks by their number, the rest as words."""
        if self.columns[column].key == "breaks":
            return len(self._fates[row].breaks)
        return self.cell(row, column).text


class HistoryScreen(ResitScreen):
    """Every round of a suite, graded by the rules that hold now."""

    GROUP: ClassVar[str] = "history"

    def __init__(self, suite: Suite) -> None:
        """Tell the history of `suite`."""
        super().__init__()
        self._suite = suite
        self._history: History | None = None
        self._paths: dict[str, Path] = {}
        self._by_question = self._cost = False

    def compose_body(self) -> ComposeResult:
        """What must be known first, the plot, the table."""
        yield PlainStatic(" Grading every round …", id="history-head")
        yield Chart(id="history-chart")
        with Vertical(classes="panel", id="history-panel"):
            yield ResultsGrid(id="history-table")

    def on_mount(self) -> None:
        """Grade the rounds beside the screen."""
        self.where(self._suite.title, "History")
        self.query_one(Chart).display = False
        self.query_one(ResultsGrid).focus()
        self._open_rounds()

    @work(thread=True, exclusive=True, exit_on_error=False)
    def _open_rounds(self) -> None:
        from resit.core.rounds.shelf import OpenedRound, open_round, rounds_of

        opened: list[OpenedRound] = []
        problems: list[str] = []
        for path in rounds_of(self._suite):
            try:
                opened.append(open_round(path, suite=self._suite))
            except ResitError as error:
                problems.append(error.message)
        try:
            history = make_history(opened)
        except ResitError as error:
            self.app.call_from_thread(self.query_one("#history-head", PlainStatic).update, f" {error}")
            return
        self._paths = {found.store.id: found.store.path for found in opened}
        self.app.call_from_thread(self._show, history, problems)

    def _show(self, history: History, problems: Sequence[str]) -> None:
        self._history = history
        head = Content("\n").join(Content(" ") + line for line in _head(history, problems))
        self.query_one("#history-head", PlainStatic).update(head)
        self._show_table()
        self._show_chart()

    def _show_table(self) -> None:
        history, table = self._history, self.query_one(ResultsGrid)
        if history is None:
            return
        by_question = self._by_question
        model: TableModel = FateLines(history.fates, table.size.width) if by_question else StandingLines(history)
        table.sorted_by, table.reverse = None, False
        table.show_model(model)
        title = "questions that broke, flap or separate nobody" if by_question else "settings over the rounds"
        self.query_one("#history-panel").border_title = Content(title)

    def _show_chart(self) -> None:
        chart = self.query_one(Chart)
        picture = history_picture(self._history, cost=self._cost) if self._history else None
        chart.display = picture is not None
        if picture is not None:
            chart.show(picture)

    # -- keys -------------------------------------------------------------------------------------------------------

    def action_shape(self) -> None:
        """Settings over the rounds, or what became of the questions."""
        self._by_question = not self._by_question
        self._show_table()
        if self._by_question and self._history is not None and not self._history.fates:
            self.say("No question broke or flaps, and each one separates the settings.")

    def action_cost(self) -> None:
        """Plot scores, or costs."""
        self._cost = not self._cost
        self._show_chart()
        if self._history is not None and history_picture(self._history, cost=self._cost) is None:
            self.say("No cost is known." if self._cost else "No score is known.")

    def action_sort(self) -> None:
        """Sort by the cursor's column."""
        self.query_one(ResultsGrid).sort_at_cursor()

    @on(ResultsGrid.Opened)
    def action_open(self) -> None:
        """The results of the round under the cursor."""
        standing = self._standing()
        path = self._paths.get(standing.round_id) if standing else None
        if path is None:
            self.say("Rounds are opened from the list of settings: t goes there.")
            return
        try:
            self.resit.open("results", path)
        except ResitError as error:
            self.say(str(error), severity="error")

    def _standing(self) -> Standing | None:
        table = self.query_one(ResultsGrid)
        at, model = table.chosen, table.model
        return model.standings[at] if isinstance(model, StandingLines) and at is not None else None


def _head(history: History, problems: Sequence[str]) -> Iterator[Content]:
    """Counts, then what makes rounds unlike, and rounds that could not be read."""
    rounds = figures.count(len(history.rounds), "round")
    if not history.rounds:
        yield Content("No round yet: enter on the suite sets one up.")
    else:
        broke = len({found.question for found in history.breaks})
        nobody = len(history.always_full) + len(history.never_full)
        parts = [
            rounds,
            f"{figures.count(broke, 'question')} broke",
            f"{len(history.flapping)} flap",
            f"{nobody} separate nobody ({len(history.always_full)} too easy)",
        ]
        yield Content.styled(" · ".join(parts), "bold")
    for line in history.stated:
        yield Content.styled(one_line(line, 300), "$warning")
    for problem in problems:
        yield Content.styled(f"not in it: {one_line(problem, 200)}", "$error")
