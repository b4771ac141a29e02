"""The results: every score in a grid, every miss beside it, and the keys that mend what was judged wrongly."""

from __future__ import annotations

from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, ClassVar, Literal

from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.widgets import Input

from resit.core.judging.review_queue import queue_said
from resit.core.rounds.lost import lost_said
from resit.core.rounds.plan import since_said
from resit.core.rounds.store import RoundStore
from resit.core.scoring.grid import settled_score
from resit.tui import figures
from resit.tui.filters import HELP, below_full, parse_filter
from resit.tui.messages import ProgressChanged, RoundOver, SuiteChanged
from resit.tui.results_models import QuestionsModel, RunsModel
from resit.tui.round_actions import RoundActions
from resit.tui.round_view import RoundView
from resit.tui.widgets.miss_pane import MissPane
from resit.tui.widgets.plain import LineInput, PlainStatic
from resit.tui.widgets.table import ResultsGrid

if TYPE_CHECKING:
    from collections.abc import Callable

    from resit.core.rounds.events import RunKept
    from resit.core.suite import Suite

Shape = Literal["questions", "runs"]
LIVE_S = 0.5
"""How often the grid follows a running round: the eye cannot read faster, and a cell is all of a question's runs."""
STEP_S = 0.1
"""How often a part of that is done."""
BUSY_S = 0.01
"""Nothing more is begun after so long at a time, so that a key need not wait for all of it."""
PATIENCE = 15
"""A large grid follows no sooner than so many times what it took the last time: most keys shall not meet it."""


class ResultsScreen(RoundActions):
    """One round, as questions by settings or one row a run, with the miss pane."""

    GROUP: ClassVar[str] = "results"

    def __init__(self, source: RoundView | RoundStore | Path, suite: Suite | None = None, *, key: str = "") -> None:
        """Show a round.

        Args:
            source: The round: its folder, its store, or a view that is open already.
            suite: The suite with the rules that hold now; else the file the round names is read.
            key: Run to begin with.

        Raises:
            RoundError: The round cannot be read.
        """
        super().__init__()
        store = RoundStore.open(source) if isinstance(source, Path) else source
        self._view = store if isinstance(store, RoundView) else RoundView(store, suite)
        self._key: str | None = key or None
        self._shape: Shape = "questions"
        self._misses_only = False
        self._filter = ""
        self._models: QuestionsModel | RunsModel | None = None
        self._kept: list[RunKept] = []
        self._todo: list[Callable[[], None]] = []
        self._next_at = self._took = 0.0
        self._stale = self._behind = self._left = False
        self._followed = 0

    @property
    def view(self) -> RoundView:
        """The round."""
        return self._view

    @property
    def key(self) -> str | None:
        """The run in the pane."""
        return self._key

    # -- the picture ------------------------------------------------------------------------------------------------

    def compose_body(self) -> ComposeResult:
        """Headline, grid, pane."""
        yield PlainStatic(id="headline")
        yield PlainStatic(id="warnings")
        with Horizontal(id="results"):
            with Vertical(id="grid-panel", classes="panel"):
                yield LineInput(placeholder=HELP, id="results-filter")
                yield ResultsGrid(id="grid", moved=self._moved)
            yield MissPane(id="pane", classes="panel")

    def on_mount(self) -> None:
        """Show the round, the cursor on the first miss."""
        self.where(self._view.plan.title, f"round {figures.when(self._view.plan.created_at)}")
        self.query_one("#results-filter").display = False
        self._rebuild()
        first = self._key or self._view.after(None, 1)
        if first is not None:
            self.show_key(first)
        else:
            self._show_pane()
        self.query_one(ResultsGrid).focus()
        self.set_interval(STEP_S, self._follow)

    def on_screen_resume(self) -> None:
        """Back from a full-screen miss, where a verdict or edit may have been made."""
        if self._left:
            self._left = False
            self.renew()

    def on_screen_suspend(self) -> None:
        """Another screen is on top."""
        self._left = True

    def renew(self) -> None:
        """Grades, verdicts or rules are others."""
        self._catch_up()
        self._rebuild()
        self._show_pane()

    @on(SuiteChanged)
    def _suite_changed(self) -> None:
        self._view.read_suite_again()
        self.renew()

    @on(ProgressChanged)
    def _live(self, event: ProgressChanged) -> None:
        if not self._is_running_round():
            return
        if event.kept:
            self._kept += event.kept
            self._stale = True
        elif len(event.progress.rows) != self._followed:
            # Another process runs the round: its results are on disk, and only there.
            self._followed = len(event.progress.rows)
            self._stale = self._behind = True

    def _is_running_round(self) -> bool:
        path = self.resit.session.round_path
        return path is not None and path.resolve() == self._view.store.path.resolve()

    def _follow(self) -> None:
        """Go along with a running round, in steps so short that keys do not wait for them."""
        began = monotonic()
        if not self._todo and self._stale and began >= self._next_at:
            self._stale, self._took = False, 0.0
            self._todo = [self._catch_up, self._draw_grid, self._tell_headline, self._tell_queue, self._rest]
        elif not self._todo and self._view.sums_due:
            self._todo = [self._sum_up]
        while self._todo and monotonic() - began < BUSY_S:
            self._todo.pop(0)()
        self._took += monotonic() - began

    def _rest(self) -> None:
        self._next_at = monotonic() + max(LIVE_S, PATIENCE * self._took)

    def _sum_up(self) -> None:
        self._view.sum_up(BUSY_S)
        # What is summed up is drawn with the next picture.
        self._stale = self._stale or not self._view.sums_due

    def _catch_up(self) -> None:
        """Take what came since the last time."""
        kept, self._kept = self._kept, []
        if self._behind:
            self._behind = False
            self._view.reload()
        elif kept:
            self._view.take(kept)

    @on(RoundOver)
    def _over(self) -> None:
        if self._is_running_round():
            self._kept.clear()
            self._view.reload()
            self.renew()

    def _rebuild(self) -> None:
        self._stale = False
        self._todo.clear()
        self._draw_grid()
        self._tell_headline()
        self._tell_queue()

    def _draw_grid(self) -> None:
        view, grid = self._view, self.query_one(ResultsGrid)
        if self._shape == "questions":
            model: QuestionsModel | RunsModel = QuestionsModel(view, self._models)
        else:
            out = frozenset(view.evidence.questions_out)
            model = RunsModel(view.keys, view.rows, figures.count(len(view.keys), "run"), out)
        self._models = model
        grid._keep = self._keeper(model)
        with grid.quietly():
            grid.show_model(model)

    def _keeper(self, model: QuestionsModel | RunsModel):  # type: ignore[no-untyped-def]
        test = parse_filter(self._filter)
        only = self._misses_only
        if test is None and not only:
            return None

        def row_passes(key: str) -> bool:
            row = self._view.row(key)
            return (not only or below_full(row)) and (test is None or test(row))

        if isinstance(model, RunsModel):
            return lambda row: row_passes(model.row_id(row))
        passing = {self._view.row(key).question for key in self._view.keys if row_passes(key)}
        return lambda row: model.row_id(row) in passing

    def _tell_headline(self) -> None:
        view = self._view
        summaries = list(view.grid.summaries.values())
        of = sum(s.of for s in summaries)
        parts = [f"strict {sum(s.lowest_full for s in summaries)}/{of}"]
        if any(s.second_mean is not None for s in summaries):
            parts.append(f"second rule {sum(s.second_lowest_full for s in summaries)}/{of}")
        if view.left_out_said:
            parts.append(view.left_out_said)
        rule = f"rule of {figures.day(view.plan.rule_set_at)}"
        since = since_said(view.plan, view.suite)
        parts.append(f"{rule}, {since}" if since else rule)
        if view.grader_said:
            parts.append(view.grader_said)
        if view.plan.repeats < 2:
            parts.append("one run each: untested for variance")
        self.query_one("#headline", PlainStatic).update(Content(" " + " · ".join(parts)))
        self._tell_warnings()

    def _tell_queue(self) -> None:
        unread = self._view.unread
        done = Content.styled("✓ every miss is read", "$success")
        left = Content.styled(f"{figures.count(unread, 'miss', 'misses')} left to read", "bold $warning")
        self.status(left if unread else done)
        self.query_one("#grid-panel").border_subtitle = Content(queue_said(self._view.states))

    def _tell_warnings(self) -> None:
        said = []
        for summary in self._view.grid.summaries.values():
            name = figures.short_setting(summary.setting.label)
            if summary.cut_off_said:
                said.append(f"{name}: {summary.cut_off_said}")
            elif summary.unsettled:
                said.append(f"{name}: {figures.count(summary.unsettled, 'run')} unsettled, no fair answer")
        if self._view.damaged:
            said.append(f"{figures.count(self._view.damaged, 'damaged file')} set apart")
        if self._view.lost:
            said.append(lost_said(self._view.lost))
        doubtful = sum(bool(row.doubt) and row.score == 1.0 for row in self._view.rows)
        if doubtful:
            look = "deserves" if doubtful == 1 else "deserve"
            said.append(f"{figures.count(doubtful, 'pass', 'passes')} {look} a look (filter is:doubtful)")
        if self._view.suite_problem:
            said.append(f"rules as asked ({self._view.suite_problem})")
        warnings = self.query_one("#warnings", PlainStatic)
        warnings.display = bool(said)
        warnings.update(Content.styled(" ? " + " · ".join(said), "$warning") if said else "")

    # -- grid and pane ----------------------------------------------------------------------------------------------

    def _moved(self) -> None:
        self._key = self._key_at_cursor()
        self._show_pane()

    @on(ResultsGrid.Opened)
    def _opened(self) -> None:
        self.action_open()

    def _key_at_cursor(self) -> str | None:
        grid, model = self.query_one(ResultsGrid), self._models
        row = grid.chosen
        if row is None or model is None:
            return None
        if isinstance(model, RunsModel):
            return model.row_id(row)
        return self._worst(model.row_id(row), model.label(grid.cursor_column))

    def _worst(self, question: str, label: str | None) -> str | None:
        """The run a cell stands for: the first of the lowest, in one setting or in all."""
        keys = [k for k in self._view.of_question(question) if label is None or self._view.row(k).setting == label]
        if self._key in keys:
            return self._key
        return min(keys, key=self._lowness, default=None)

    def _lowness(self, key: str) -> tuple[bool, float]:
        row = self._view.row(key)
        score = settled_score(row)
        return self._view.left_out(row), 0.5 if score is None else score

    def _show_pane(self) -> None:
        key = self._key
        pane = self.query_one(MissPane)
        if key is None or not self._view.has(key):
            pane.show(None, "Not asked yet." if len(self._view.keys) else "No run is kept in this round yet.")
        else:
            pane.show(self._view.miss(key))

    def show_key(self, key: str) -> None:
        """Put a run in the pane, and the cursor on it."""
        self._key = key
        grid, model = self.query_one(ResultsGrid), self._models
        row = self._view.row(key)
        with grid.quietly():
            if isinstance(model, RunsModel):
                found = grid.go_to(key)
            else:
                found = grid.go_to(row.question)
                grid.cursor_column = 3 + list(self._view.settings).index(row.setting)
        if not found and (self._filter or self._misses_only):
            self.say("That run is outside the filter.")
        self._show_pane()

    # -- keys -------------------------------------------------------------------------------------------------------

    def action_sort(self) -> None:
        """Sort by the column under the cursor."""
        grid = self.query_one(ResultsGrid)
        grid.sort_at_cursor()
        if grid.sorted_by is None:
            self.say("In suite order.")

    def action_misses(self) -> None:
        """Misses only, or everything."""
        self._misses_only = not self._misses_only
        self._rebuild()
        self._tell_shown()

    def action_shape(self) -> None:
        """The other shape; the run in front stays in front."""
        self._shape = "runs" if self._shape == "questions" else "questions"
        grid = self.query_one(ResultsGrid)
        grid.sorted_by, grid.reverse = None, False
        kept = self._key
        self._rebuild()
        grid.cursor_column = 0
        if kept is not None and self._view.has(kept):
            self.show_key(kept)
        self._tell_shown()

    def action_filter(self) -> None:
        """Write a filter."""
        line = self.query_one("#results-filter", LineInput)
        line.display = True
        line.focus()

    @on(Input.Changed, "#results-filter")
    def _filter_changed(self, event: Input.Changed) -> None:
        self._filter = event.value
        self._rebuild()
        self._tell_shown()

    @on(Input.Submitted, "#results-filter")
    @on(LineInput.GivenUp, "#results-filter")
    def _filter_done(self) -> None:
        line = self.query_one("#results-filter", LineInput)
        line.display = bool(line.value)
        self.query_one(ResultsGrid).focus()

    def _tell_shown(self) -> None:
        grid = self.query_one(ResultsGrid)
        shown, of = len(grid.order), len(grid.model)
        what = "questions" if self._shape == "questions" else "runs"
        title = f"by {what[:-1]}" if shown == of else f"{shown:,} of {of:,} {what}"
        if self._misses_only:
            title += " · misses only"
        self.query_one("#grid-panel").border_title = Content(title)
        self._key = self._key_at_cursor()
        self._show_pane()

    def action_open(self) -> None:
        """The run in front, full screen."""
        if self._key is None:
            self.say("No run is chosen.")
        else:
            self.resit.open("miss", self._view, self._key)

    def action_pane(self) -> None:
        """To the pane and back; in a narrow window the pane takes the grid's place."""
        pane, grid = self.query_one(MissPane), self.query_one(ResultsGrid)
        to_pane = not pane.has_focus
        self.set_class(to_pane, "-pane")
        (pane if to_pane else grid).focus()
