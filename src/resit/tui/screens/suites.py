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
from resit.core.printable import one_line, printable
from resit.tui import shelf
from resit.tui.looks import MISS
from resit.tui.screens.base import ResitScreen
from resit.tui.shelf import ORIGINS, Shelved
from resit.tui.widgets.plain import LineInput, PlainStatic

if TYPE_CHECKING:
    from resit.core.suite import Suite, SuiteFault

POLL_S = 1.0
"""How often the files are looked at; a person who saves in an editor looks up about that fast."""
_LIST_WIDTH = 24
_SHOWN_QUESTIONS = 400
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
            listing.add_options([Option(_list_line(item)) for item in self._shown])
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
        item = self.chosen
        if item is None:
            pane.border_title = ""
            text.update(Content(_nothing(self._filter)))
            return
        pane.border_title = Content(one_line(item.title, 60))
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
        if item is None:
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

    def action_spend(self) -> None:
        """What was spent."""
        from resit.tui.screens.spend import SpendScreen

        self.app.push_screen(SpendScreen())

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


def _list_line(item: Shelved) -> Content:
    if item.faults:
        count = len(item.faults)
        return _two(f"{MISS} {item.title}", f"{count} fault{'' if count == 1 else 's'}", "$error")
    if item.suite is None:
        return Content.styled(f"  {one_line(item.title, _LIST_WIDTH)}", "$text-muted")
    return _two(f"  {item.title}", f"{len(item.suite.asked)} q", "")


def _two(left: str, right: str, style: str) -> Content:
    left = one_line(left, _LIST_WIDTH - len(right) - 1)
    line = Content.styled(left, style)
    return line + Content.styled(right.rjust(_LIST_WIDTH - line.cell_length), style or "$text-muted")


def _nothing(words: str) -> str:
    return f"No suite matches {one_line(words, 40)!r}; esc in the filter shows all." if words else "No suite was found."


def suite_text(item: Shelved, rounds: tuple[Content, ...]) -> Content:
    """What is in a sound suite: what it is for, what decides, its last rounds, its questions."""
    from resit.tui.wording import suite_counts, suite_rule

    assert item.suite is not None
    suite = item.suite
    lines = [Content(printable(suite.about, 2000))] if suite.about else []
    lines += [Content.styled(one_line(suite_counts(suite), 300), "$text-muted"), Content(suite_rule(suite))]
    if suite.instruction:
        lines.append(Content.styled(f"Every prompt ends: {one_line(suite.instruction, 300)}", "$text-muted"))
    lines += list(rounds) or [Content.styled("No round yet: enter sets one up.", "$text-muted")]
    lines += [Content.styled(f"? {_where(fault)}{fault.message}", "$warning") for fault in suite.warnings[:5]]
    lines += [Content(""), *_question_lines(suite)]
    lines += [Content(""), Content.styled(f"{ORIGINS[item.origin]}: {one_line(str(item.path), 300)}", "$text-muted")]
    return Content("\n").join(lines)


def _question_lines(suite: Suite) -> list[Content]:
    from resit.tui.wording import decides

    cells = [("id", "kind", "accepts", "rule", "traps")]
    for question in suite.asked[:_SHOWN_QUESTIONS]:
        accepts = question.accept[0] if question.accept else "" if question.checks else "-"
        more = f" +{len(question.accept) - 1}" if len(question.accept) > 1 else ""
        traps = str(len(question.traps)) if question.traps else ""
        cells.append((question.id, question.kind, one_line(accepts, 16) + more, decides(question), traps))
    limits = (22, 14, 20, 16, 5)
    shown = [[one_line(cell, limit) for cell, limit in zip(row, limits, strict=True)] for row in cells]
    widths = [max(Content(row[column]).cell_length for row in shown) for column in range(len(limits))]
    lines = [Content("  ").join(_cell(text, width) for text, width in zip(row, widths, strict=True)) for row in shown]
    lines[0] = lines[0].stylize("bold $text-muted")
    if (left := len(suite.asked) - _SHOWN_QUESTIONS) > 0:
        lines.append(Content.styled(f"… and {left:,} more questions", "$text-muted"))
    return lines


def _cell(text: str, width: int) -> Content:
    cell = Content(text)
    return cell + " " * max(0, width - cell.cell_length)


def fault_text(item: Shelved) -> Content:
    """Every fault of a suite: what, where, and the mend."""
    if not item.read:
        return Content.styled("Reading …", "$text-muted")
    count = len(item.faults)
    head = f"{count} fault{'' if count == 1 else 's'}: nothing of this suite is asked until {'it is' if count == 1 else 'they are'} mended."
    lines = [Content.styled(head, "$error"), Content("")]
    for fault in item.faults:
        lines.append(Content.assemble((f"{MISS} ", "$error"), (_where(fault), "bold"), printable(fault.message, 1000)))
        if fault.mend:
            lines.append(Content.styled(f"  {printable(fault.mend, 1000)}", "$text-muted"))
    lines += [Content(""), Content(f"{one_line(str(item.path), 300)}")]
    lines.append(Content.styled("e opens it in your editor; it is read again by itself when saved.", "$text-muted"))
    return Content("\n").join(lines)


def _where(fault: SuiteFault) -> str:
    line = f"line {fault.line} · " if fault.line is not None else ""
    return line + (f"{one_line(fault.question, 40)} · " if fault.question else "")
