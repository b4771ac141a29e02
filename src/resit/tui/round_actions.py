"""What can be done with a round as a whole: write its note, compare it, ask what it owes or one run again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual import work

from resit.core.errors import ResitError
from resit.tui.figures import short_setting
from resit.tui.plots import letter
from resit.tui.reviewing import Reviewing
from resit.tui.screens.confirm import ChoiceScreen

if TYPE_CHECKING:
    from pathlib import Path

    from resit.core.suite import Suite
    from resit.tui.round_view import RoundView


class RoundActions(Reviewing):
    """A screen that shows a whole round."""

    @property
    def view(self) -> RoundView:
        """The round."""
        raise NotImplementedError

    @work(thread=True, exclusive=True, group="note", exit_on_error=False)
    def action_write_note(self) -> None:
        """Write the round's result down, and say where."""
        from resit.core.judging.note import NOTE, write_note
        from resit.core.judging.sheet import make_sheet
        from resit.core.rounds.shelf import open_round

        store, tell = self.view.store, self.app.call_from_thread
        try:
            said = write_note(store, make_sheet(open_round(store.path, suite=self.view.current)))
        except (ResitError, OSError) as error:
            tell(self.say, f"No note is written: {error}", severity="error")
            return
        tell(self.say, f"Written to {store.path / NOTE}." + (f" {said[0].upper()}{said[1:]}." if said else ""))

    @work(thread=True, exclusive=True, group="compare", exit_on_error=False)
    def action_compare(self) -> None:
        """Hold this round against the one before it."""
        from resit.core.judging.naming import round_before
        from resit.core.rounds.shelf import open_round

        suite, path, tell = self.view.current or self.view.suite, self.view.store.path, self.app.call_from_thread
        try:
            before = round_before(open_round(path, suite=suite))
        except ResitError as error:
            tell(self.say, str(error), severity="error")
            return
        if before is None:
            tell(self.say, "This is the first round of the suite: there is none before it to compare with.")
        else:
            tell(self._compare_with, suite, before)

    def _compare_with(self, suite: Suite, before: Path) -> None:
        from resit.tui.screens.compare import CompareScreen

        if self.is_current:
            self.resit.push_screen(CompareScreen(suite, before, self.view.store.path))

    def action_compare_settings(self) -> None:
        """Hold the setting in front against another one of this round."""
        labels, key = list(self.view.settings), self.key
        if len(labels) < 2:
            self.say("This round has one setting only.")
            return
        now = self.view.row(key).setting if key is not None and self.view.has(key) else labels[-1]
        others = [label for label in labels if label != now]
        if len(others) == 1:
            self._compare_two(others[0], now)
            return

        def chosen(before: str | None) -> None:
            if before is not None:
                self._compare_two(before, now)

        choices = [(letter(at).lower(), label, short_setting(label)) for at, label in enumerate(others[:26])]
        self.resit.push_screen(ChoiceScreen(f"Hold {short_setting(now)} against", choices), chosen)

    def _compare_two(self, before: str, now: str) -> None:
        from resit.tui.screens.compare import CompareScreen

        suite, path = self.view.current or self.view.suite, self.view.store.path
        self.resit.push_screen(CompareScreen(suite, path, path, (before, now)))

    def action_gates(self) -> None:
        """Decide which setting does which kind of work."""
        from resit.tui.screens.gates import GatesScreen

        self.resit.push_screen(GatesScreen(self.view.current or self.view.suite, [self.view.store.path]))

    def action_history(self) -> None:
        """The suite over its rounds."""
        from resit.tui.screens.history import HistoryScreen

        self.resit.push_screen(HistoryScreen(self.view.current or self.view.suite))

    def action_owed(self) -> None:
        """Ask what the round still owes."""
        from resit.tui.starting import go_on

        go_on(self.resit, self.view.store.path)

    def action_again(self) -> None:
        """Ask the run in front again, after saying what that calls."""
        if self.key is None:
            self.say("No run is chosen.")
        else:
            self.ask_again(self.view, self.key)
