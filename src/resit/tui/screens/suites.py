"""The first screen: which suites there are, what is in each, and what is wrong with those that cannot be asked."""

from __future__ import annotations

import os
import shlex
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual import on, work
from textual.app import ComposeResult, SuspendNotSupported
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.widgets import Input, OptionList
from textual.widgets.option_list import Option

from resit.core import paths
from resit.core.printable import one_line
from resit.tui import shelf
from resit.tui.screens.base import ResitScreen
from resit.tui.shelf import ORIGINS, Shelved
from resit.tui.suite_words import fault_text, list_line, nothing, question_table, suite_text
from resit.tui.widgets.plain import LineInput, PlainStatic

if TYPE_CHECKING:
    from resit.core.suite import Suite

POLL_S = 1.0
"""How often the files are looked at; a person who saves in an editor looks up about that fast."""
OWN = "Add your own: n writes a starter, or start resit with a file or a folder of suites."


class SuitesScreen(ResitScreen):
    """Suites on the left; the chosen one on the right, read again by itself when its file changes."""

    GROUP: ClassVar[str] = "suites"

    def __init__(self, given: tuple[str, ...] | None = None, *, cwd: Path | None = None) -> None:
        """Look for suites.

        Args:
            given: Files and folders named on the command line; None takes the app's own.
            cwd: Folder whose suites are listed too.
        """
        super().__init__()
        self._given = given
        self._cwd = cwd or Path.cwd()
        self._shelf: tuple[Shelved, ...] = ()
        self._shown: tuple[Shelved, ...] = ()
        self._filter = ""
        self._wanted: Path | None = None
        self._rounds: dict[str, tuple[Content, ...]] = {}

    def compose_body(self) -> ComposeResult:
        """The list with its filter, and the chosen suite."""
        with Horizontal():
            with Vertical(id="shelf", classes="panel"):
                yield LineInput(placeholder="filter", id="filter")
                yield OptionList(id="suite-list", markup=False)
                yield PlainStatic(OWN, id="own")
            with VerticalScroll(id="suite", classes="panel"):
                yield PlainStatic("Reading the suites …", id="suite-text")
                yield PlainStatic(id="suite-questions")

    def on_mount(self) -> None:
        """Show names at once, read the files after the first paint."""
        self.where("Suites")
        self.query_one("#shelf").border_title = "Suites"
        self.query_one("#filter").display = False
        self.query_one(OptionList).focus()
        self.call_after_refresh(self.look)
        self.set_interval(POLL_S, self._poll)

    def on_screen_resume(self) -> None:
        """Back from elsewhere: rounds and spend may have moved on."""
        if not self._shelf:
            return  # Before the first paint, which a thread that reads would hold up.
        if (item := self.chosen) is not None and item.suite is not None:
            self._read_rounds(item.suite)
        self.look()

    # -- reading ----------------------------------------------------------------------------------------------------

    def _poll(self) -> None:
        if self.is_current:
            self.look()

    @work(thread=True, exclusive=True, group="shelf", exit_on_error=False)
    def look(self) -> None:
        """Look at the files, read those that changed, and show what is new."""
        found = shelf.find(self._find_given(), self._cwd, paths.data_dir() / "suites", _samples())
        known = {item.path: item for item in self._shelf}
        fresh = tuple(shelf.refreshed(item, known.get(item.path)) for item in found)
        if fresh != self._shelf:
            self.app.call_from_thread(self._show_shelf, fresh)

    def _find_given(self) -> tuple[str, ...]:
        """Files named on the command line; in the demo a copy of its suite, so that edits do not touch the sample."""
        if self._given is not None:
            return self._given
        start = self.resit.start
        return (str(_demo_copy()), *start.paths) if start.demo else start.paths

    def _show_shelf(self, fresh: tuple[Shelved, ...]) -> None:
        self._shelf = fresh
        self._show_list()

    # -- the list ---------------------------------------------------------------------------------------------------

    @property
    def chosen(self) -> Shelved | None:
        """The suite under the cursor."""
        at = self.query_one(OptionList).highlighted
        return self._shown[at] if at is not None and at < len(self._shown) else None

    def _show_list(self) -> None:
        """Draw the list anew, the cursor on the suite it was on."""
        listing = self.query_one(OptionList)
        was = self._wanted or (self.chosen.path if self.chosen else None)
        self._shown = tuple(item for item in self._shelf if self._passes(item))
        at = next((i for i, item in enumerate(self._shown) if item.path == was), None)
        if at is not None:
            self._wanted = None
        with self.prevent(OptionList.OptionHighlighted):
            listing.clear_options()
            listing.add_options([Option(list_line(item)) for item in self._shown])
            if self._shown:
                listing.highlighted = at or 0
        self._show_suite()

    def _passes(self, item: Shelved) -> bool:
        words = self._filter.casefold().split()
        kinds = " ".join({q.kind for q in item.suite.asked}) if item.suite else ""
        text = f"{item.title} {item.path.name} {ORIGINS[item.origin]} {kinds}".casefold()
        return all(word in text for word in words)

    @on(OptionList.OptionHighlighted)
    def _moved(self) -> None:
        self._show_suite()
        self.query_one("#suite", VerticalScroll).scroll_home(animate=False)

    @on(OptionList.OptionSelected)
    def _entered(self) -> None:
        self.action_setup()

    # -- the chosen suite -------------------------------------------------------------------------------------------

    def _show_suite(self) -> None:
        pane, text = self.query_one("#suite", VerticalScroll), self.query_one("#suite-text", PlainStatic)
        table = self.query_one("#suite-questions", PlainStatic)
        item = self.chosen
        pane.border_title = Content(one_line(item.title, 60)) if item else ""
        if item is None:
            text.update(Content(nothing(self._filter)))
            table.update("")
            return
        table.update(question_table(item))
        if item.suite is None:
            text.update(fault_text(item))
            return
        rounds = self._rounds.get(item.suite.name)
        text.update(suite_text(item, rounds or ()))
        if rounds is None:
            self._read_rounds(item.suite)

    @work(thread=True, exclusive=True, group="rounds", exit_on_error=False)
    def _read_rounds(self, suite: Suite) -> None:
        """The last rounds of the suite, and the month's spend: read beside the screen, for they may be many."""
        from resit.tui.history import last_rounds, month_line

        rounds, spent = last_rounds(suite), month_line()
        self.app.call_from_thread(self._show_rounds, suite.name, rounds, spent)

    def _show_rounds(self, name: str, rounds: tuple[Content, ...], spent: Content) -> None:
        self.status(spent)
        if self._rounds.get(name) != rounds:
            self._rounds[name] = rounds
            self._show_suite()

    # -- keys -------------------------------------------------------------------------------------------------------

    def action_setup(self) -> None:
        """Set up a round of the chosen suite."""
        item = self.chosen
        if item is None or not self.is_current:
            return
        if item.suite is None:
            why = f"{len(item.faults)} faults" if item.faults else "not read yet"
            self.say(f"{item.title} cannot be asked: {why}; e opens it in your editor.", severity="warning")
            return
        self.resit.open("setup", item.suite)

    def action_rounds(self) -> None:
        """The rounds of the chosen suite."""
        if (item := self.chosen) is not None and item.suite is not None:
            from resit.tui.screens.rounds_list import RoundsScreen

            self.app.push_screen(RoundsScreen(item.suite))

    def action_history(self) -> None:
        """The chosen suite over its rounds."""
        if (item := self.chosen) is not None and item.suite is not None:
            from resit.tui.screens.history import HistoryScreen

            self.app.push_screen(HistoryScreen(item.suite))

    def action_spend(self) -> None:
        """What was spent."""
        from resit.tui.screens.spend import SpendScreen

        self.app.push_screen(SpendScreen())

    def action_logs(self) -> None:
        """The person's own logs."""
        self.resit.open("logs")

    def action_check(self) -> None:
        """Read the suite again now, and say what the guard and the self-test found."""
        if (item := self.chosen) is None:
            return
        checked = shelf.read(item)
        self._show_shelf(tuple(checked if other.path == item.path else other for other in self._shelf))
        if checked.suite is None:
            self.say(f"{checked.title}: {len(checked.faults)} faults", severity="error")
            return
        doubts = f"; {len(checked.suite.warnings)} things to look at" if checked.suite.warnings else ""
        self.say(f"{checked.title}: no faults; every accepted answer passes and every trap fails{doubts}.")

    def action_edit(self) -> None:
        """Open the suite in the person's editor; the app steps aside and comes back."""
        if (item := self.chosen) is None:
            return
        if item.origin == "sample":
            self._copy_sample(item)
            return
        self._edit(item.path)

    def _copy_sample(self, item: Shelved) -> None:
        """A sample is not edited in place: its next version would take the changes away."""
        try:
            copy = shelf.copy_to(item.path, paths.data_dir() / "suites")
        except OSError as error:
            self.say(f"The sample could not be copied: {error.strerror or error}", severity="error")
            return
        self.say(f"Copied the sample to {copy}; this copy is yours.")
        self._wanted = copy
        self._edit(copy)

    def _edit(self, path: Path) -> None:
        editor = shlex.split(os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi")
        try:
            with self.app.suspend():
                subprocess.run([*editor, str(path)], check=False)
        except SuspendNotSupported:
            self.say(f"This terminal cannot step aside: open {path} in an editor; it is read again when saved.")
        except OSError as error:
            self.say(f"{editor[0]} did not start: {error.strerror or error}; set EDITOR.", severity="error")
        self.look()

    def action_new(self) -> None:
        """Write a starter suite into the person's own suites and put the cursor on it."""
        try:
            path = shelf.write_starter(paths.data_dir() / "suites")
        except OSError as error:
            self.say(f"The starter could not be written: {error.strerror or error}", severity="error")
            return
        self._wanted = path
        self.say(f"Wrote {path}; e opens it.")
        self.look()

    def action_filter(self) -> None:
        """Write a filter."""
        line = self.query_one("#filter", LineInput)
        line.display = True
        line.focus()

    @on(LineInput.GivenUp, "#filter")
    def _filter_over(self) -> None:
        self.query_one("#filter").display = False
        self.query_one(OptionList).focus()

    @on(Input.Changed, "#filter")
    def _filter_changed(self, event: Input.Changed) -> None:
        self._filter = event.value
        self._show_list()

    @on(Input.Submitted, "#filter")
    def _filter_done(self) -> None:
        self.query_one(OptionList).focus()

    def action_pane(self) -> None:
        """To the suite's pane and back."""
        pane = self.query_one("#suite", VerticalScroll)
        (self.query_one(OptionList) if pane.has_focus else pane).focus()


def _demo_copy() -> Path:
    from resit.demo import demo_suite_path

    sample = demo_suite_path()
    try:
        return shelf.copy_to(sample, paths.data_dir() / "demo")
    except OSError:
        return sample


def _samples() -> list[Path]:
    from resit.core.suite_file import sample_suites

    return sample_suites()
