"""One's own logs: what is asked of which model at which level, what it costs, and what could become a question."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Input
from textual.worker import Worker, get_current_worker

from resit.core.errors import ResitError
from resit.core.printable import one_line
from resit.tui.figures import count, money
from resit.tui.log_actions import LogActions
from resit.tui.log_words import Range, head_said, parse_range, progress_said, sum_said
from resit.tui.logs_models import HELP, TITLES, VIEWS, AuditLines, RequestLines, SumLines, View, parse_filter
from resit.tui.screens.confirm import LineScreen
from resit.tui.widgets.plain import LineInput, PlainStatic
from resit.tui.widgets.table import EmptyModel, ResultsGrid, TableModel

if TYPE_CHECKING:
    from resit.core.judging.audit import KindAudit
    from resit.core.logs.records import LogIndex, Request, ScanProgress, Sum, Summary

_TOLD_EVERY_S = 0.1
_SUMS = ("open", "next_view", "sort", "time_range", "filter", "drafts")
_OFFERED: dict[View, tuple[str, ...]] = {
    "kind": ("open", "rename", "mark", "next_view", "time_range", "filter", "drafts"),
    "requests": ("mark", "draft", "open", "filter", "correct", "next_view", "sort", "drafts"),
}
"""Keys that do something in a view, the most wanted first."""


class _Stopped(Exception):
    """The person stopped the reading."""


class LogsScreen(LogActions):
    """Six views of the same requests; marks stay over all of them."""

    GROUP: ClassVar[str] = "logs"

    def __init__(self, sources: Sequence[Path] | None = None) -> None:
        """Look through logs.

        Args:
            sources: Folders and files; None is where the agents keep theirs.
        """
        super().__init__()
        self._sources = sources
        self._range = Range()
        self._summary: Summary | None = None
        self._audit: tuple[KindAudit, ...] | None = None
        self._only: tuple[View, str] | None = None
        self._filter = ""
        self._shown: tuple[Request, ...] = ()
        self._reading: Worker[None] | None = None

    # -- the frame --------------------------------------------------------------------------------------------------

    def compose_body(self) -> ComposeResult:
        """Figures and views, the filter, the table, and a word on the row under the cursor."""
        yield PlainStatic("Looking through the logs …", id="logs-head")
        yield PlainStatic(id="logs-views")
        yield LineInput(placeholder=HELP, id="logs-filter")
        with Vertical(classes="panel", id="logs-panel"):
            yield ResultsGrid(id="logs-table")
        yield PlainStatic(id="logs-note")

    def on_mount(self) -> None:
        """Paint at once; read beside the screen."""
        self.where("Logs")
        self.query_one("#logs-filter").display = False
        self.table.focus()
        self._show_views()
        self.call_after_refresh(self.action_again)

    # -- reading ----------------------------------------------------------------------------------------------------

    def action_again(self) -> None:
        """Read, from the cache what did not change."""
        self._reading = self._read()

    def action_stop(self) -> None:
        """Stop reading."""
        if self._reading is not None and self._reading.is_running:
            self._reading.cancel()
            return
        self.say("Nothing is being read.")

    @work(thread=True, exclusive=True, group="logs", exit_on_error=False)
    def _read(self) -> None:
        """Look through every log; nothing is asked of any network."""
        from resit.core.logs.scan import scan
        from resit.core.logs.summary import summarise

        worker, told = get_current_worker(), 0.0

        def tell(progress: ScanProgress) -> None:
            nonlocal told
            if worker.is_cancelled:
                raise _Stopped
            if time.monotonic() - told > _TOLD_EVERY_S:
                told = time.monotonic()
                self.app.call_from_thread(self._show_progress, progress)

        try:
            index = scan(self._sources, self._range.since, self._range.until, tell)
            summary = summarise(index)
        except _Stopped:
            self.app.call_from_thread(self.say_head, "Stopped. What was read is remembered: r goes on.")
        except ResitError as error:
            self.app.call_from_thread(self.say_head, f"✗ {error}")
        else:
            if not worker.is_cancelled:
                self.app.call_from_thread(self._show_read, index, summary)

    def _show_read(self, index: LogIndex, summary: Summary) -> None:
        if self.index is not None:
            same = f"{index.files_cached:,} of {count(index.files, 'file')} as they were"
            self.say(f"Read again: {count(len(index.requests), 'request')}, {same}.")
        self.show_index(index, summary)

    def _show_progress(self, progress: ScanProgress) -> None:
        self.say_head(progress_said(progress))

    def say_head(self, text: str) -> None:
        """Set the line above the table."""
        self.query_one("#logs-head", PlainStatic).update(f" {one_line(text, 400)}")

    def show_index(self, index: LogIndex, summary: Summary) -> None:
        """Show what was found, in the view that is open."""
        self.index, self._summary, self._audit = index, summary, None
        self.marked &= {request.key for request in index.requests}
        total = summary.total
        cost = money(total.cost_usd, at_least=total.at_least and total.cost_usd is not None)
        self.status(f"{count(total.count, 'request')} · {cost}")
        self.say_head(head_said(index, summary))
        self._show(self.view)

    # -- views ------------------------------------------------------------------------------------------------------

    def _show(self, view: View) -> None:
        self.view = view
        self._show_views()
        if self._summary is None or self.index is None:
            return
        if view == "audit" and self._audit is None:
            self.query_one("#logs-note", PlainStatic).update(" Reading the rounds …")
            self._read_rounds(self.index)
            return
        self.table.show_model(self._model(view, self._summary))
        self._show_note()

    def _model(self, view: View, summary: Summary) -> TableModel:
        width = self.table.size.width
        if view == "requests":
            self._shown = self._filtered()
            return RequestLines(self._shown, self.marked, width)
        if view == "audit":
            return AuditLines(self._audit or (), width) if self._audit is not None else EmptyModel()
        sums = self._sums(view, summary)
        candidates = [each.kind for each in summary.candidates] if view == "kind" else []
        return SumLines(sums, summary.total, view, marked=self.marked_kinds, candidates=candidates)

    def _sums(self, view: View, summary: Summary) -> Sequence[Sum]:
        match view:
            case "kind":
                return summary.by_kind
            case "model":
                return summary.by_model
            case "effort":
                return summary.by_effort
            case _:
                return tuple(reversed(summary.by_day))

    def _filtered(self) -> tuple[Request, ...]:
        """Newest first; those of the row that was opened, and what the filter lets through."""
        from resit.core.logs.summary import day_of, effort_of, model_of

        requests = reversed(self.index.requests) if self.index is not None else iter(())
        names: dict[str, Callable[[Request], str]] = {
            "kind": lambda request: request.kind, "model": model_of, "effort": effort_of, "day": day_of,
        }  # fmt: skip
        found = list(requests)
        if self._only is not None:
            by, name = self._only
            found = [request for request in found if names[by](request) == name]
        test = parse_filter(self._filter, self.marked)
        return tuple(request for request in found if test is None or test(request))

    def _show_views(self) -> None:
        line = Content(" ")
        for number, view in enumerate(VIEWS, 1):
            here = view == self.view
            line = line + Content.assemble(
                (f"{number} ", "$text-muted"), (TITLES[view], "bold $primary" if here else ""), "  "
            )
        if self._only is not None:
            line = line + Content.styled(f"· {TITLES[self._only[0]]}: {one_line(self._only[1], 40)}", "$warning")
        if self._filter:
            line = line + Content.styled(f" · filter: {one_line(self._filter, 40)}", "$warning")
        if self._range.text:
            line = line + Content.styled(f" · {one_line(self._range.text, 30)}", "$warning")
        self.query_one("#logs-views", PlainStatic).update(line)
        by_action = {command.action: command for command in self.commands}
        self.offer(by_action[action] for action in _OFFERED.get(self.view, _SUMS))

    @on(ResultsGrid.Moved)
    def _moved(self) -> None:
        self._show_note()

    def _show_note(self) -> None:
        """Why the row is there, and what it could mean."""
        at, marks = self.table.chosen, ""
        if self.marked:
            marks = f"{count(len(self.marked), 'request')} marked: d drafts a suite. "
        if self.view == "kind" and len(self.marked_kinds) > 1:
            marks = f"{len(self.marked_kinds)} kinds marked: n makes one of them. "
        self.query_one("#logs-note", PlainStatic).update(f" {one_line(marks + self._row_said(at), 600)}")

    def _row_said(self, at: int | None) -> str:
        if self._summary is None or at is None:
            return ""
        if self.view == "audit" and self._audit:
            return self._audit[at].said if at < len(self._audit) else ""
        if self.view == "requests":
            return f"{self._shown[at].kind}: {self._shown[at].why}" if at < len(self._shown) else ""
        sums = self._sums(self.view, self._summary)
        return sum_said(sums[at], self._summary, self.view) if at < len(sums) else ""

    def _switch(self, view: View) -> None:
        if view == "requests":
            self._only = None
        self._show(view)

    def action_kinds(self) -> None:
        """A row a kind."""
        self._switch("kind")

    def action_models(self) -> None:
        """A row a model."""
        self._switch("model")

    def action_levels(self) -> None:
        """A row a level."""
        self._switch("effort")

    def action_days(self) -> None:
        """A row a day, the newest first."""
        self._switch("day")

    def action_requests(self) -> None:
        """A row a request."""
        self._switch("requests")

    def action_audit(self) -> None:
        """What was used beside what the exam says."""
        self._switch("audit")

    def action_next_view(self) -> None:
        """The next of the six."""
        self._switch(VIEWS[(VIEWS.index(self.view) + 1) % len(VIEWS)])

    @work(thread=True, exclusive=True, group="audit", exit_on_error=False)
    def _read_rounds(self, index: LogIndex) -> None:
        from resit.core.judging.audit import audit, gather_exams

        found = audit(index.requests, gather_exams().evidence)
        self.app.call_from_thread(self._show_audit, found)

    def _show_audit(self, found: tuple[KindAudit, ...]) -> None:
        self._audit = found
        if self.view == "audit":
            self._show("audit")

    # -- rows -------------------------------------------------------------------------------------------------------

    @property
    def request_here(self) -> Request | None:
        """The request under the cursor."""
        at = self.table.chosen
        return self._shown[at] if self.view == "requests" and at is not None and at < len(self._shown) else None

    @property
    def chosen_requests(self) -> tuple[Request, ...]:
        """The marked ones, oldest first; without any the one under the cursor."""
        if self.marked and self.index is not None:
            return tuple(request for request in self.index.requests if request.key in self.marked)
        return (self.request_here,) if self.request_here is not None else ()

    @on(ResultsGrid.Opened)
    def _opened(self) -> None:
        self.action_open()

    def action_open(self) -> None:
        """The requests of a row, or the words of a request."""
        if (request := self.request_here) is not None:
            from resit.tui.screens.request import RequestScreen

            self.app.push_screen(RequestScreen(request))
            return
        name = self.table.chosen_id
        if name is None or self._summary is None:
            self.say("There is nothing to open yet.")
            return
        self._only = ("kind" if self.view == "audit" else self.view, name)
        self._show("requests")

    def action_mark(self) -> None:
        """Mark a request, or a kind."""
        name = self.table.chosen_id
        if name is None or self.view not in ("requests", "kind"):
            self.say("Requests are marked to draft them (5), kinds to merge them (1).")
            return
        if self.view == "requests":
            self.marked ^= {name}
        else:
            self.marked_kinds ^= {name}
        self._show(self.view)
        self.table.action_move(1)

    def action_sort(self) -> None:
        """Sort by the cursor's column."""
        self.table.sort_at_cursor()

    # -- filter, range ----------------------------------------------------------------------------------------------

    def action_filter(self) -> None:
        """Write a filter of requests."""
        line = self.query_one("#logs-filter", LineInput)
        line.display = True
        line.focus()
        if self.view != "requests":
            self._show("requests")

    @on(LineInput.GivenUp, "#logs-filter")
    def _filter_over(self) -> None:
        self.query_one("#logs-filter").display = False
        self.table.focus()

    @on(Input.Changed, "#logs-filter")
    def _filter_changed(self, event: Input.Changed) -> None:
        self._filter = event.value
        self._show("requests")

    @on(Input.Submitted, "#logs-filter")
    def _filter_done(self) -> None:
        self.table.focus()

    def action_time_range(self) -> None:
        """Write a range."""
        title = "Since when, and until when: 30d, 2026-11-01, or 2026-11-01 .. 2026-11-15; empty for all"

        def written(text: str | None) -> None:
            if text is None:
                return
            try:
                self._range = parse_range(text, datetime.now(UTC))
            except ResitError as error:
                self.say(str(error), severity="error")
                return
            self._show_views()
            self.action_again()

        self.app.push_screen(LineScreen(title, self._range.text), written)

    def drafted(self) -> None:
        """The marks have done their work."""
        self.marked = frozenset()
        if self.index is not None and self._summary is not None:
            self.say_head(head_said(self.index, self._summary))
        self._show(self.view)
