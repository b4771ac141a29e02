"""From scores to rules: each setting on each kind of work before the gates, and the rule that follows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Literal

from textual import on, work
from textual.app import ComposeResult
from textual.containers import Vertical, VerticalScroll
from textual.content import Content

from resit.core.errors import ResitError
from resit.core.judging.evidence import Evidence, gather, pool
from resit.core.judging.gates import FULL_MARKS, Gate, Gated, GateState, suspects_said
from resit.core.judging.growth import Growth, make_growth
from resit.core.judging.routing import Route, Routing, cost_said, make_routing
from resit.core.judging.wording import dollars, interval_said, named, percent
from resit.core.printable import one_line
from resit.tui import figures
from resit.tui.plots import Picture, growth_picture, letter, worth_picture
from resit.tui.rule_writing import RuleWriting
from resit.tui.screens.confirm import LineScreen
from resit.tui.widgets.chart import Chart
from resit.tui.widgets.plain import PlainStatic
from resit.tui.widgets.table import Column, ResultsGrid, Shown, Tone

if TYPE_CHECKING:
    from resit.core.suite import Suite

_STATES: dict[GateState, tuple[str, Tone]] = {"pass": ("✓", "good"), "fail": ("✗", "bad"), "limit": ("~", "half")}
_STYLES = {"good": "$success", "bad": "$error", "half": "$warning"}
Side = Literal["evidence", "worth", "growth"]
_SIDES: tuple[Side, ...] = ("evidence", "worth", "growth")


class GateLines:
    """A row for each setting on each kind of work: the rule of a kind first, then what else passes, then the rest."""

    summaries: Sequence[Sequence[Shown]] = ()

    def __init__(self, routing: Routing, width: int) -> None:
        """Show the routes of `routing` in `width` cells."""
        self._letters = {label: letter(at) for at, label in enumerate(routing.evidence.labels)}
        self.rows: Sequence[tuple[Route, Gated]] = [
            (route, gated) for route in routing.routes for gated in (*route.passing, *route.failing)
        ]
        self.columns: Sequence[Column] = (
            Column("kind", "kind of work", 12),
            Column("letter", "", 1),
            Column("setting", "setting", 16),
            Column("use", "rule", 6),
            Column("gates", "1 2 3 4", 7),
            Column("lowest", "lowest runs", 12, right=True),
            Column("cost", "cost", 9, right=True),
            Column("said", "what may be said", max(24, width - 80)),
        )

    def __len__(self) -> int:
        """One a setting and kind."""
        return len(self.rows)

    def row_id(self, row: int) -> str:
        """Kind and setting."""
        route, gated = self.rows[row]
        return f"{route.kind}\n{gated.label}"

    def cell(self, row: int, column: int) -> Shown:
        """What stands there."""
        route, gated = self.rows[row]
        found, summary = gated.figures, gated.figures.summary
        cells = (
            Shown(route.kind, "strong"),
            Shown(self._letters[gated.label], "strong"),
            Shown(figures.short_setting(gated.label)),
            _use(route, gated),
            Shown(" ".join(_STATES[gate.state][0] for gate in gated.gates), "good" if gated.passed else "bad"),
            Shown(f"{summary.lowest_full}/{summary.of} {percent(found.lowest.share)}"),
            Shown(dollars(found.cost_each_usd)),
            Shown(gated.said, "dim"),
        )
        return cells[column]

    def sort_value(self, row: int, column: int) -> str | float | None:
        """Scores and costs by size, the rest as words."""
        gated = self.rows[row][1]
        match self.columns[column].key:
            case "lowest":
                return gated.figures.lowest.share
            case "cost":
                return None if gated.figures.cost_each_usd is None else float(gated.figures.cost_each_usd)
            case _:
                return self.cell(row, column).text


def _use(route: Route, gated: Gated) -> Shown:
    if gated is route.chosen:
        return Shown("▸ use", "good")
    if route.today is not None and route.today.label == gated.label:
        return Shown("today", "half")
    return Shown("")


class GatesScreen(RuleWriting):
    """One round, or several pooled ones, decided for each kind of work."""

    GROUP: ClassVar[str] = "gates"

    def __init__(self, suite: Suite | None, paths: Sequence[Path]) -> None:
        """Decide on the rounds in `paths`, graded by the rules of `suite` where it is given."""
        super().__init__()
        self._suite, self._paths = suite, tuple(paths)
        self._evidence: Evidence | None = None
        self._routing: Routing | None = None
        self._growth: dict[str, Growth] = {}
        self._bar = FULL_MARKS
        self._today: dict[str, str] = {}
        self._side: Side = "evidence"

    @property
    def routing(self) -> Routing | None:
        """The rules; None while the rounds are graded."""
        return self._routing

    def compose_body(self) -> ComposeResult:
        """What must be known first, the table, the evidence or a plot."""
        yield PlainStatic(" Grading …", id="gates-head")
        with Vertical(classes="panel", id="gates-panel"):
            yield ResultsGrid(id="gates-table")
        with VerticalScroll(classes="panel", id="gates-detail"):
            yield PlainStatic(id="gates-evidence")
        yield Chart(id="gates-chart")

    def on_mount(self) -> None:
        """Grade the rounds beside the screen."""
        self.where(self._suite.title if self._suite else "Rounds", "Gates")
        self.query_one(Chart).display = False
        self.query_one(ResultsGrid).focus()
        self._open_rounds()

    @work(thread=True, exclusive=True, exit_on_error=False)
    def _open_rounds(self) -> None:
        from resit.core.rounds.shelf import open_round

        try:
            evidence = pool([gather(open_round(path, suite=self._suite)) for path in self._paths])
            growth = {kind: make_growth(evidence, kind) for kind in evidence.kinds}
        except ResitError as error:
            self.app.call_from_thread(self.query_one("#gates-head", PlainStatic).update, f" {error}")
            return
        self.app.call_from_thread(self._take, evidence, growth)

    def _take(self, evidence: Evidence, growth: dict[str, Growth]) -> None:
        self._evidence, self._growth = evidence, growth
        self._decide()

    def _decide(self) -> None:
        if self._evidence is None:
            return
        self._routing = make_routing(self._evidence, bar=self._bar, today=self._today)
        table = self.query_one(ResultsGrid)
        with table.prevent(ResultsGrid.Moved):
            table.show_model(GateLines(self._routing, table.size.width))
        self._show_side()

    # -- the row under the cursor -----------------------------------------------------------------------------------

    @on(ResultsGrid.Moved)
    def _moved(self) -> None:
        self._show_side()

    def _at_cursor(self) -> tuple[Route, Gated] | None:
        table = self.query_one(ResultsGrid)
        at, model = table.chosen, table.model
        return model.rows[at] if isinstance(model, GateLines) and at is not None else None

    def _show_side(self) -> None:
        if self._routing is None:
            return
        chosen, chart = self._at_cursor(), self.query_one(Chart)
        self._show_head(chosen[0].kind if chosen is not None and self._side == "growth" else None)
        picture = self._picture(chosen[0]) if chosen is not None else None
        chart.display = picture is not None
        self.query_one("#gates-detail").display = picture is None
        if picture is not None:
            chart.show(picture)
        elif chosen is not None:
            lines = _evidence(*chosen, self._growth[chosen[0].kind])
            self.query_one("#gates-evidence", PlainStatic).update(Content("\n").join(lines))
            self.query_one("#gates-detail").border_title = Content(one_line(f"{chosen[0].kind}: the rule", 60))

    def _show_head(self, kind: str | None) -> None:
        """Where the rules come from; beside the plot of growing exams, the sentence that it shows."""
        assert self._routing is not None
        lines = list(_head(self._routing))
        if kind is not None:
            lines.append(Content(one_line(f"{kind}: {self._growth[kind].said}", 400)))
        self.query_one("#gates-head", PlainStatic).update(Content("\n").join(Content(" ") + line for line in lines))

    def _picture(self, route: Route) -> Picture | None:
        assert self._routing is not None
        labels = self._routing.evidence.labels
        marks = {label: letter(at) for at, label in enumerate(labels)}
        match self._side:
            case "worth":
                every = (*route.passing, *route.failing)
                return worth_picture([(marks[g.label], g.figures.cost_each_usd, g.figures.lowest.share) for g in every])
            case "growth":
                growth = self._growth[route.kind]
                return growth_picture(growth, [marks[label] for label in growth.labels])
            case "evidence":
                return None

    # -- keys -------------------------------------------------------------------------------------------------------

    def action_plot(self) -> None:
        """The evidence, score against cost, or growing exams."""
        self._side = _SIDES[(_SIDES.index(self._side) + 1) % len(_SIDES)]
        self._show_side()
        if self._side == "worth" and not self.query_one(Chart).display:
            self.say("No setting of this kind of work has both a score and a known cost.")
        elif self._side == "growth" and not self.query_one(Chart).display:
            self.say("There is nothing to draw: nobody misses anything.")

    def action_today(self) -> None:
        """What does this kind of work today: the setting under the cursor, or nothing."""
        chosen = self._at_cursor()
        if chosen is None:
            self.say("No setting is chosen.")
            return
        route, gated = chosen
        if self._today.pop(route.kind, None) != gated.label:
            self._today[route.kind] = gated.label
        self._decide()

    def action_bar(self) -> None:
        """Ask for the lowest score that is good enough."""

        def written(text: str | None) -> None:
            if text is None:
                return
            try:
                share = float(text.strip().removesuffix("%"))
            except ValueError:
                share = -1.0
            share = share / 100 if share > 1 or text.strip().endswith("%") else share
            if not 0 <= share <= 1:
                self.say(f"{text!r} is neither a share from 0 to 1 nor a percentage.", severity="warning")
                return
            self._bar = share
            self._decide()

        title = "Lowest score that is good enough: 1 is full marks in every run"
        self.resit.push_screen(LineScreen(title, f"{self._bar:g}"), written)

    def action_sort(self) -> None:
        """Sort by the cursor's column."""
        self.query_one(ResultsGrid).sort_at_cursor()


def _head(routing: Routing) -> Iterator[Content]:
    """Where the rules come from, and what is not counted."""
    evidence = routing.evidence
    rounds = figures.count(len(evidence.rounds), "round")
    decided = sum(route.chosen is not None for route in routing.routes)
    said = f"{rounds} · {evidence.rule_said} · bar {percent(routing.bar)}"
    rules = f" · {decided} of {figures.count(len(routing.routes), 'kind')} decided"
    yield Content.styled(one_line(said + rules, 300), "bold")
    for line in evidence.stated:
        yield Content.styled(one_line(line, 300), "$warning")
    if evidence.questions_out:
        yield Content.styled(one_line(f"left out by a verdict: {named(evidence.questions_out)}", 300), "$warning")


def _evidence(route: Route, gated: Gated, growth: Growth) -> Iterator[Content]:
    """The rule of this kind of work, then each gate of the setting under the cursor with its evidence."""
    sign, style = ("▸", "$success") if route.chosen is not None else ("✗", "$warning")
    yield Content.assemble((f"{sign} ", style), (one_line(route.said, 600), "bold"))
    if route.versus is not None:
        yield Content(f"  {one_line(route.versus.said, 600)}")
    yield Content("")
    found = gated.figures
    what = f"{gated.label}: {cost_said(gated)}, interval {interval_said(found.interval)}"
    yield Content.styled(one_line(what + (f"; {found.grader_said}" if found.grader_said else ""), 300), "bold")
    yield from (_gate_line(gate) for gate in gated.gates)
    for said in suspects_said(gated.suspects):
        yield Content.styled(f"  ? {one_line(said, 300)}", "$warning")
    if route.not_asked:
        yield Content.styled(f"  not asked: {one_line(named(route.not_asked), 300)}", "$text-muted")
    yield Content("")
    yield Content.styled(one_line(growth.said, 600), "$text-muted")


def _gate_line(gate: Gate) -> Content:
    sign, tone = _STATES[gate.state]
    name = (f"{gate.number} {gate.name:8} ", "$text-muted")
    return Content.assemble((f"  {sign} ", _STYLES[tone]), name, one_line(gate.said, 400))
