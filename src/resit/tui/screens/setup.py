"""Setting up a round: models by efforts on the left, the plan in words and figures on the right."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.containers import Container, Vertical, VerticalScroll

from resit.core.errors import ResitError
from resit.core.printable import one_line
from resit.tui import starting
from resit.tui.choice import Choice, Pick, parse_cap, recalled
from resit.tui.screens.base import ResitScreen
from resit.tui.widgets.model_grid import ModelGrid, ModelRow
from resit.tui.widgets.plain import PlainStatic
from resit.tui.widgets.plan_panel import PlanPanel

if TYPE_CHECKING:
    from resit.core.rounds.session import Prepared
    from resit.core.spend.prices import Estimate
    from resit.core.suite import Suite

Rows = Callable[[], tuple[ModelRow, ...]]


class SetupScreen(ResitScreen):
    """What to ask, of whom, how often and for how much."""

    GROUP: ClassVar[str] = "setup"

    def __init__(self, suite: Suite, *, round_path: Path | None = None, rows: Rows | None = None) -> None:
        """Set up a round of `suite`.

        Args:
            suite: What will be asked.
            round_path: A round to add to, instead of finding the one that goes on.
            rows: Tells the models; None asks the models that are known, or the recording in the demo.
        """
        super().__init__()
        self._suite = suite
        self._round = round_path
        self._find_rows = rows
        self._choice = Choice()
        self._models: tuple[ModelRow, ...] = ()
        self._prepared: Prepared | None = None
        self._fresh = False
        self._asked_for = 0
        self._start_when_planned = False

    def compose_body(self) -> ComposeResult:
        """Models with a line about the one under the cursor; the plan."""
        with Container(id="setup"):
            with Vertical(id="models", classes="panel"):
                yield ModelGrid(id="model-grid")
                yield PlainStatic(id="model-detail")
            with VerticalScroll(id="plan", classes="panel"):
                yield PlanPanel(id="plan-text")

    def on_mount(self) -> None:
        """Read the models beside the screen; prices take a moment."""
        self.where(self._suite.title, "Set up")
        self.query_one("#models").border_title = "Models"
        self.query_one("#plan").border_title = "The plan"
        self.query_one(ModelGrid).focus()
        self._choice = recalled(self._remembered(), self._suite)
        if self._round is not None:
            self._choice = starting.choice_of(self._round, self._choice)
        self.query_one(PlanPanel).show_reason(self._suite, self._choice, "Reading models and prices …")
        self._read_models()

    def _remembered(self) -> object:
        return self.resit.preferences.recall("setup", self._memory)

    @property
    def _memory(self) -> str:
        return f"{self._suite.name} (demo)" if self.resit.start.demo else self._suite.name

    @work(thread=True, exclusive=True, group="models", exit_on_error=False)
    def _read_models(self) -> None:
        from resit.tui.model_rows import known_rows, recorded_rows

        find = self._find_rows or (recorded_rows if self.resit.start.demo else known_rows)
        try:
            rows = find()
        except ResitError as error:
            self.app.call_from_thread(self._no_models, str(error))
            return
        self.app.call_from_thread(self._show_models, rows)

    def _no_models(self, why: str) -> None:
        self.query_one(PlanPanel).show_reason(self._suite, self._choice, why)

    def _show_models(self, rows: tuple[ModelRow, ...]) -> None:
        self._models = rows
        open_picks = {(row.model, effort) for row in rows for effort in row.efforts}
        known = tuple(pick for pick in self._choice.picks if (pick.model, pick.effort) in open_picks)
        self._choice = replace(self._choice, picks=known or self._first_picks())
        grid = self.query_one(ModelGrid)
        self._show_grid()
        if self._choice.picks:
            grid.go_to(self._choice.picks[0].model, self._choice.picks[0].effort)
        self._changed()

    def _first_picks(self) -> tuple[Pick, ...]:
        """Before any choice: all that is recorded in the demo, else none."""
        if self.resit.start.demo:
            return tuple(Pick(row.model, effort, row.provider) for row in self._models for effort in row.efforts)
        return ()

    def _show_grid(self) -> None:
        picked = frozenset((pick.model, pick.effort) for pick in self._choice.picks)
        self.query_one(ModelGrid).show(self._models, picked, self._choice.quiet)
        self._moved()

    @on(ModelGrid.Moved)
    def _moved(self) -> None:
        row = self.query_one(ModelGrid).current
        text = "" if row is None else row.problem or row.detail
        line = self.query_one("#model-detail", PlainStatic)
        line.update(one_line(text, 600))
        line.set_class(bool(row and row.problem), "problem")

    # -- planning ---------------------------------------------------------------------------------------------------

    def _change(self, choice: Choice) -> None:
        self._choice = choice
        problem = self.resit.preferences.remember(choice.table(), "setup", self._memory)
        if problem:
            self.say(problem, severity="warning")
        self._show_grid()
        self._changed()

    def _changed(self) -> None:
        """Plan anew; what was planned before no longer counts."""
        self._prepared = None
        self._asked_for += 1
        if not self._choice.settings:
            why = "Pick a model: space, on an effort. No effort is the model's own default."
            self.query_one(PlanPanel).show_reason(self._suite, self._choice, why)
            return
        self._make_plan(self._asked_for, self._choice)

    @work(thread=True, exclusive=True, group="plan", exit_on_error=False)
    def _make_plan(self, number: int, choice: Choice) -> None:
        try:
            prepared = starting.prepare(self._suite, choice, self._round, fresh=self._fresh)
            estimate = prepared.estimate
        except ResitError as error:
            self.app.call_from_thread(self._no_plan, number, str(error))
            return
        self.app.call_from_thread(self._show_plan, number, prepared, estimate)

    def _no_plan(self, number: int, why: str) -> None:
        if number == self._asked_for:
            self._start_when_planned = False
            self.query_one(PlanPanel).show_reason(self._suite, self._choice, why)

    def _show_plan(self, number: int, prepared: Prepared, estimate: Estimate) -> None:
        if number != self._asked_for:
            return
        self._prepared = prepared
        self.query_one(PlanPanel).show_plan(self._suite, self._choice, prepared, estimate)
        if self._start_when_planned:
            self._start_when_planned = False
            self.action_start()

    # -- keys -------------------------------------------------------------------------------------------------------

    def action_start(self) -> None:
        """Start the round; when the plan is still being made, as soon as it is there."""
        if not self.is_current:
            return
        if not self._choice.settings:
            self.say("Pick a model first: space, on an effort.")
        elif self._prepared is None:
            self._start_when_planned = True
        elif not self._prepared.plan.jobs:
            self.say("Nothing is owed: + adds runs, n starts a new round.")
        else:
            starting.start(self.resit, self._prepared, self._suite, self._begun)

    def _begun(self) -> None:
        """A started round has written its plan: coming back here plans what is left of it."""
        self._prepared = None

    def on_screen_resume(self) -> None:
        """Back from a round: what is owed has changed."""
        if self._models and self._prepared is None:
            self._fresh = False
            self._changed()

    def action_pick(self) -> None:
        """Pick what the cursor is on, or leave it out."""
        grid = self.query_one(ModelGrid)
        row = grid.current
        if row is None or grid.effort not in row.efforts:
            return
        self._change(self._choice.toggled(Pick(row.model, grid.effort, row.provider)))

    @on(ModelGrid.Clicked)
    def _clicked(self) -> None:
        self.action_pick()

    def action_more(self) -> None:
        """One run more."""
        self._change(self._choice.more(1))

    def action_fewer(self) -> None:
        """One run fewer."""
        self._change(self._choice.more(-1))

    def action_serial(self) -> None:
        """One call at a time, or not."""
        self._change(replace(self._choice, serial=not self._choice.serial))
        self.say("One call at a time." if self._choice.serial else "Several calls at a time.")

    def action_batch(self) -> None:
        """In batches, or not."""
        self._change(replace(self._choice, batch=not self._choice.batch))
        self.say("In batches: half the price, within a day." if self._choice.batch else "Each call by itself.")

    def action_variants(self) -> None:
        """The next wording."""
        if not self._suite.variants:
            self.say("This suite has one wording only; [variants] in its file adds others.")
            return
        self._change(self._choice.next_variants(self._suite))

    def action_thinking(self) -> None:
        """Thinking off for this model, or its own way."""
        row = self.query_one(ModelGrid).current
        if row is None:
            return
        if not row.thinking_off:
            self.say(f"{row.model} cannot have its thinking switched off.")
            return
        self._change(self._choice.thinking_toggled(row.model))
        off = row.model in self._choice.quiet
        self.say(f"{row.model}: thinking {'off (∅)' if off else 'as the model has it'}.")

    def action_fresh(self) -> None:
        """Another round, or the one that goes on."""
        self._fresh = not self._fresh
        self.say("A new round, whichever are there." if self._fresh else "A round with these settings goes on.")
        self._changed()

    def action_cap(self) -> None:
        """Write the cap."""
        from resit.tui.screens.confirm import LineScreen

        if not self.is_current:
            return
        cap = "" if self._choice.cap_usd is None else f"{self._choice.cap_usd}"
        title = "The most this round may cost, in dollars; empty for no cap"
        self.app.push_screen(LineScreen(title, cap), self._cap_written)

    def _cap_written(self, text: str | None) -> None:
        if text is None:
            return
        try:
            self._change(replace(self._choice, cap_usd=parse_cap(text)))
        except ValueError as error:
            self.say(str(error), severity="error")

    def action_pane(self) -> None:
        """To the plan and back."""
        plan = self.query_one("#plan", VerticalScroll)
        (self.query_one(ModelGrid) if plan.has_focus else plan).focus()
