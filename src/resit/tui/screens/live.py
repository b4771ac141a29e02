"""The round while it runs: how far, at what cost, which misses; reading and mending one while the rest goes on."""

from __future__ import annotations

from bisect import insort
from collections.abc import Callable
from datetime import UTC, datetime
from typing import TYPE_CHECKING, ClassVar, Literal

from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical, VerticalScroll
from textual.content import Content

from resit.core.errors import ResitError
from resit.core.records import Row, run_key
from resit.tui.filters import below_full
from resit.tui.live_words import end_line, keys_now, money_line, progress_figures, status_line, waiting_lines
from resit.tui.messages import ProgressChanged, RoundOver, SuiteChanged
from resit.tui.screens.base import ResitScreen
from resit.tui.widgets.live_log import FlightLines, LiveEntry, LiveLines, LiveLog
from resit.tui.widgets.plain import Hung, PlainStatic
from resit.tui.widgets.progress_rows import ProgressRows
from resit.tui.widgets.stream_pane import StreamPane
from resit.tui.widgets.table import ResultsGrid

if TYPE_CHECKING:
    from pathlib import Path

    from resit.core.rounds.progress import Progress
    from resit.tui.round_view import RoundView

_SECOND = 1.0
_RATE_SAMPLES = 24
View = Literal["misses", "all", "flights"]
_TITLES: dict[View, str] = {"misses": "Misses as they come", "all": "Every run", "flights": "In flight now"}


def utc_now() -> datetime:
    """Now, UTC."""
    return datetime.now(UTC)


class LiveScreen(ResitScreen):
    """The running round, or the one that ran last. Leaving it stops nothing."""

    GROUP: ClassVar[str] = "live"

    def __init__(self, *, now: Callable[[], datetime] = utc_now) -> None:
        """Show the session's round.

        Args:
            now: Tells the time; a test holds it still.
        """
        super().__init__()
        self._now = now
        self._forget()

    def _forget(self) -> None:
        self._progress: Progress | None = None
        self._taken = 0
        self._all: list[LiveEntry] = []
        self._misses: list[LiveEntry] = []
        self._seconds: dict[str, list[float]] = {}
        self._spent: list[float] = []
        self._shows: View = "misses"
        self._rules_changed = False
        self._problem = ""
        self._view: RoundView | None = None
        self._drawn_width = 0

    def compose_body(self) -> ComposeResult:
        """Settings, money, what waits, the lines, one reply as it streams."""
        with VerticalScroll(id="progress"):
            yield ProgressRows(id="settings")
        yield PlainStatic(id="money")
        yield PlainStatic(id="waiting")
        with Vertical(id="lines", classes="panel"):
            yield LiveLog(id="log")
        yield StreamPane(id="stream")
        yield PlainStatic(id="end")

    def on_mount(self) -> None:
        """Show what the session has, then tick."""
        self.query_one("#stream").display = False
        self.query_one("#end").display = False
        self.query_one(LiveLog).focus()
        self._set_trail()
        if (progress := self.resit.session.progress) is not None:
            self._take(progress)
        self.call_after_refresh(self._draw)
        self.set_interval(_SECOND, self._tick)

    def _set_trail(self) -> None:
        session = self.resit.session
        title = session.suite.title if session.suite else "round"
        started = session.progress.started_at if session.progress else None
        when = f"round {started.astimezone():%-d %b %H:%M}" if started else "round"
        self.where(title, when)

    # -- news -------------------------------------------------------------------------------------------------------

    @on(ProgressChanged)
    def _moved_on(self, message: ProgressChanged) -> None:
        self._take(message.progress)
        for loaded in (kept.loaded for kept in message.kept if kept.loaded):
            self.say(loaded)
        self.query_one(StreamPane).take(message.progress, message.streamed, self._now())
        if self.is_current:
            self._draw()

    def on_screen_resume(self) -> None:
        """Back from another screen, while which nothing was drawn."""
        self._draw()

    @on(RoundOver)
    def _over(self, message: RoundOver) -> None:
        self._problem = message.problem
        self._draw()

    @on(SuiteChanged)
    def _regraded(self) -> None:
        """Rules changed: lines keep what they said when they came; the marks are in the results."""
        self._rules_changed = True
        self._draw()

    def _take(self, progress: Progress) -> None:
        """Add what is new in `progress` to the lists."""
        before = self._progress
        if before is not None and progress.started_at != before.started_at:
            self._forget()
            self._set_trail()
        if before is None:
            self._set_trail()
        self._progress = progress
        untimed = len(progress.rows) - len(progress.recent)
        for number in range(self._taken, len(progress.rows)):
            at = progress.recent[number - untimed][0] if number >= untimed else None
            self._add(LiveEntry(number, progress.rows[number], at))
        self._taken = len(progress.rows)

    def _add(self, entry: LiveEntry) -> None:
        self._all.append(entry)
        if below_full(entry.row):
            self._misses.append(entry)
        if entry.row.seconds is not None:
            insort(self._seconds.setdefault(entry.row.setting, []), entry.row.seconds)

    def _tick(self) -> None:
        """Ages, rates and times left move on by themselves."""
        if self._progress is not None:
            self._spent = [*self._spent, float(self._progress.spent_usd)][-_RATE_SAMPLES - 1 :]
        if self.is_current:
            self._draw()

    # -- drawing ----------------------------------------------------------------------------------------------------

    def _draw(self) -> None:
        progress = self._progress
        if progress is None:
            self.query_one("#money", PlainStatic).update("Waiting for the round to begin …")
            return
        now = self._now()
        self.status(status_line(progress, now))
        self.query_one(ProgressRows).show(progress_figures(progress, self._seconds))
        rates = [max(0.0, (b - a) * 60) for a, b in zip(self._spent, self._spent[1:], strict=False)]
        self.query_one("#money", PlainStatic).update(money_line(progress, now, rates))
        self._show_text("#waiting", waiting_lines(progress, now))
        self._show_text("#end", self._end_line())
        self._draw_log()
        self.query_one(StreamPane).draw(progress, now)
        self._offer_keys()

    def _offer_keys(self) -> None:
        session = self.resit.session
        ended = session.ended or (self._progress.ended if self._progress else None)
        owed = bool(self._problem) or (ended is not None and ended.owed > 0)
        ours = session.running
        self.offer(keys_now(self.commands, runs=self._runs, ours=ours, paused=session.paused, owed=owed))

    def _show_text(self, selector: str, content: Content) -> None:
        widget = self.query_one(selector, PlainStatic)
        widget.display = bool(content.plain)
        # Under the words, past the mark.
        widget.update(Hung(content, 3))

    def _end_line(self) -> Content:
        session = self.resit.session
        if self._progress is None or self._runs:
            return Content("")
        return end_line(self._progress, session.ended or self._progress.ended, self._problem, self._unread())

    @property
    def _runs(self) -> bool:
        """Whether the round goes on, here or in the process that is followed."""
        session = self.resit.session
        return session.running or (session.watching and session.ended is None)

    def _unread(self) -> int:
        return sum(1 for entry in self._misses if entry.row.verdict is None)

    @property
    def _entries(self) -> list[LiveEntry]:
        return self._misses if self._shows == "misses" else self._all

    def _draw_log(self) -> None:
        log = self.query_one(LiveLog)
        width = log.scrollable_content_region.width
        if self._shows == "flights":
            flights = sorted(self._progress.flights.values(), key=lambda f: f.since) if self._progress else []
            log.show_model(FlightLines(flights, self._now(), width))
        elif self._stale(log.model, width):
            log.take(LiveLines(self._entries, self._accepts, width))
        self._drawn_width = width
        self._draw_log_title(log)

    def _stale(self, model: object, width: int) -> bool:
        """Whether the log shows other lines, fewer, or for another width."""
        same = isinstance(model, LiveLines) and model.entries is self._entries and len(model) == len(self._entries)
        return not same or width != self._drawn_width

    def _draw_log_title(self, log: LiveLog) -> None:
        panel, lines = self.query_one("#lines"), len(log.model)
        changed = " · a rule changed since: g shows the marks as they are now" if self._rules_changed else ""
        panel.border_title = f"{_TITLES[self._shows]} · {lines:,}{changed}"
        newer = lines - 1 - log.cursor_row
        staying = f"staying here · {newer:,} newer · f follows" if newer > 0 else "staying here · f follows"
        panel.border_subtitle = "following the newest · f stays" if log.following else staying
        if self._shows == "flights":
            panel.border_subtitle = ""

    def _accepts(self, question: str) -> str:
        suite = self.resit.session.suite
        found = suite.by_id.get(question) if suite else None
        return " | ".join(found.accept[:3]) if found else ""

    @on(ResultsGrid.Moved)
    def _cursor_moved(self) -> None:
        log = self.query_one(LiveLog)
        if self._shows != "flights" and log.following and log.cursor_row < len(log.order) - 1:
            log.following = False
        self._draw_log_title(log)

    # -- keys -------------------------------------------------------------------------------------------------------

    def action_pause(self) -> None:
        """Pause, or go on."""
        session = self.resit.session
        if not self._ours():
            return
        if session.paused:
            session.resume()
        else:
            session.pause()
            self.say("Pausing: calls in flight still come back and are kept. p goes on.")

    def _ours(self) -> bool:
        """Whether there is a round here to steer; says why not."""
        session = self.resit.session
        if not self._runs:
            self.say("The round has ended.")
        elif session.watching:
            self.say("Another process runs this round: pause or stop it there.", severity="warning")
        return session.running

    def action_stop(self) -> None:
        """Ask, then stop; what is finished is saved."""
        # Of two quick presses the second arrives here before the question is on the screen.
        if self.is_current and self._ours():
            from resit.tui.screens.confirm import ChoiceScreen

            choices = [("x", "stop", "stop now: what came back is saved"), ("c", "", "carry on")]
            left = self._progress.left if self._progress else 0
            about = f"{left:,} runs are still to do; the same round goes on with them later."
            if self._progress is not None and self._progress.batches:
                choices.insert(1, ("k", "cancel", "cancel the batches: only what is done by then comes back"))
                about = (
                    f"{left:,} runs are still to do. Batches go on at the server, and the round collects them later."
                )
            self.app.push_screen(ChoiceScreen("Stop this round?", choices, about=about), self._stop)

    def _stop(self, answer: str | None) -> None:
        if answer == "cancel":
            self.resit.session.cancel_batches()
            self.say("Canceling; what is done by now still comes back.")
        if answer == "stop":
            self.say("Stopping; calls in flight get a few seconds to come back.")
            self.run_worker(self.resit.session.stop(), group="stop", exit_on_error=False)

    def action_all(self) -> None:
        """Only misses, then every run, then what is out now."""
        steps: dict[View, View] = {"misses": "all", "all": "flights", "flights": "misses"}
        self._shows = steps[self._shows]
        log = self.query_one(LiveLog)
        self._draw_log()
        if self._shows != "flights" and log.following:
            log.follow()

    def action_follow(self) -> None:
        """Follow the newest line, or stay."""
        log = self.query_one(LiveLog)
        if log.following:
            log.following = False
        else:
            log.follow()
        self._draw()

    def action_watch(self) -> None:
        """Watch a reply stream: the newest, then the one in view, then none."""
        if self.resit.session.watching:
            self.say("Replies can be watched only where the round runs.")
            return
        pane = self.query_one(StreamPane)
        self.resit.session.watch(pane.next_mode(self._progress))
        self._draw()

    def action_results(self) -> None:
        """To the results, as far as they are."""
        if (path := self.resit.session.round_path) is None or not self.is_current:
            return
        try:
            self.resit.open("results", path)
        except ResitError as error:
            self.say(str(error), severity="error")

    @property
    def chosen(self) -> Row | None:
        """The run under the cursor."""
        log = self.query_one(LiveLog)
        at = log.chosen
        return log.model.entries[at].row if at is not None and isinstance(log.model, LiveLines) else None

    @on(ResultsGrid.Opened)
    def _opened(self) -> None:
        self.action_read()

    def action_read(self) -> None:
        """Read the chosen run, and mend it, while the rest runs."""
        row, path = self.chosen, self.resit.session.round_path
        if not self.is_current:
            return
        if row is None or path is None:
            self.say("Nothing to read yet.")
            return
        self.query_one(LiveLog).following = False
        try:
            self._open_miss(path, row)
        except ResitError as error:
            self.say(str(error), severity="error")

    def _open_miss(self, path: Path, row: Row) -> None:
        from resit.tui.round_view import RoundView
        from resit.tui.screens.miss import MissScreen

        view = self._view
        if view is None or view.store.path != path:
            view = self._view = RoundView.at(path)
        key = run_key(row.question, view.settings[row.setting], row.run)
        if not view.has(key):
            view.reload()
        self.app.push_screen(MissScreen(view, key))

    def action_again(self) -> None:
        """After the end: ask again what has no fair answer."""
        session = self.resit.session
        if self._runs:
            self.say("The round still runs; what fails is asked again by itself.")
        elif session.round_path is not None:
            from resit.tui.starting import go_on

            go_on(self.resit, session.round_path)
