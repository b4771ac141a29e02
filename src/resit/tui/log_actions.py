"""What a person does with requests in the Logs screen: name their kinds, and draft questions of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from textual import work

from resit.core.errors import ResitError
from resit.tui.figures import count
from resit.tui.logs_models import View
from resit.tui.screens.base import ResitScreen
from resit.tui.screens.confirm import ChoiceScreen, LineScreen
from resit.tui.widgets.table import ResultsGrid

if TYPE_CHECKING:
    from resit.core.logs.drafts import Fresh, Refused
    from resit.core.logs.records import LogIndex, Request, Summary

MOST_DRAFTS = 60
"""Requests that are drafted at once: more than anybody walks through."""


class LogActions(ResitScreen):
    """A screen with requests, some of them chosen."""

    view: View = "kind"
    marked: frozenset[str] = frozenset()
    """Keys of the requests that carry a mark."""
    marked_kinds: frozenset[str] = frozenset()
    index: LogIndex | None = None

    @property
    def table(self) -> ResultsGrid:
        """The table."""
        return self.query_one(ResultsGrid)

    @property
    def chosen_requests(self) -> tuple[Request, ...]:
        """The marked ones, else the one under the cursor."""
        raise NotImplementedError

    def show_index(self, index: LogIndex, summary: Summary) -> None:
        """Show requests under other names."""
        raise NotImplementedError

    def say_head(self, text: str) -> None:
        """Set the line above the table."""
        raise NotImplementedError

    def drafted(self) -> None:
        """The chosen requests are drafts by now."""
        raise NotImplementedError

    # -- kinds ------------------------------------------------------------------------------------------------------

    def action_rename(self) -> None:
        """Another name for a kind; marked ones become one."""
        here = self.table.chosen_id if self.view == "kind" else None
        marked = tuple(sorted(self.marked_kinds)) if self.view == "kind" else ()
        olds = marked or ((here,) if here else ())
        if not olds:
            self.say("Kinds are renamed in their own view (1).")
            return
        title = f"Name for {olds[0]!r}" if len(olds) == 1 else f"One name for {', '.join(map(repr, olds))}"

        def written(name: str | None) -> None:
            if name is not None:
                from resit.core.logs.kinds import merge_kinds

                self.marked_kinds = frozenset()
                self._keep(lambda: merge_kinds(olds, name))

        self.app.push_screen(LineScreen(title, olds[0]), written)

    def action_correct(self) -> None:
        """Say which kind the chosen requests are."""
        requests = self.chosen_requests if self.view == "requests" else ()
        if not requests:
            self.say("A request's kind is corrected in the view of requests (5).")
            return
        title = f"Kind of {count(len(requests), 'request')}; empty takes your own word back"

        def written(name: str | None) -> None:
            if name is not None:
                from resit.core.logs.kinds import set_kind

                def keep() -> None:
                    for request in requests:
                        set_kind(request, name.strip() or None)

                self._keep(keep)

        self.app.push_screen(LineScreen(title, requests[0].kind), written)

    def _keep(self, change: Callable[[], object]) -> None:
        """Write names of kinds, and show them; no log is read again."""
        from resit.core.logs.kinds import load_kinds, with_kinds
        from resit.core.logs.summary import summarise

        if self.index is None:
            return
        try:
            change()
            index = with_kinds(self.index, load_kinds())
            self.show_index(index, summarise(index))
        except ResitError as error:
            self.say(str(error), severity="error")

    # -- drafts -----------------------------------------------------------------------------------------------------

    def action_draft(self) -> None:
        """Make drafts of what is chosen."""
        requests = self.chosen_requests
        if not requests:
            self.say("Mark requests with space first (5 lists them); d then drafts a suite of them.")
            return
        if len(requests) > MOST_DRAFTS:
            self.say(f"{len(requests)} are too many to walk through: mark at most {MOST_DRAFTS}.", severity="warning")
            return
        self.say_head("Reading and redacting …")
        self._make_drafts(requests)

    @work(thread=True, exclusive=True, group="drafts", exit_on_error=False)
    def _make_drafts(self, requests: tuple[Request, ...]) -> None:
        from resit.core.logs.drafts import make_drafts

        made, refused = make_drafts(requests)
        self.app.call_from_thread(self._show_drafts, made, refused)

    def _show_drafts(self, made: Sequence[Fresh], refused: Sequence[Refused]) -> None:
        from resit.tui.screens.drafting import DraftingScreen

        for each in refused:
            self.say(each.why, severity="warning")
        self.drafted()
        if made and self.is_current:
            self.app.push_screen(DraftingScreen.of_requests(made))

    def action_drafts(self) -> None:
        """Open drafts again."""
        from resit.core.logs.draft_files import book_names

        names = book_names()[:9]
        if not names:
            self.say("No drafts were saved yet: mark requests with space, then d.")
            return

        def chosen(name: str | None) -> None:
            if name is not None:
                from resit.tui.screens.drafting import open_book

                open_book(self.resit, name)

        choices = [(str(number), name, name) for number, name in enumerate(names, 1)]
        self.app.push_screen(ChoiceScreen("Open which drafts?", choices), chosen)
