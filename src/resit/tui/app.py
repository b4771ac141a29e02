"""The app: owns the session and the round's worker; screens come and go above it."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import importlib
import os
import signal
import sys
import threading
import traceback
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from rich.text import Text
from textual import on
from textual.app import App, SystemCommand
from textual.filter import LineFilter
from textual.screen import Screen
from textual.worker import Worker, WorkerState

from resit.core import paths
from resit.core.errors import ResitError
from resit.core.printable import one_line
from resit.tui.commands import APP, Command, bindings
from resit.tui.looks import THEME_ORDER, THEMES, ControlGuard
from resit.tui.messages import ProgressChanged, RoundOver, Start
from resit.tui.preferences import Preferences
from resit.tui.screens.base import ResitScreen
from resit.tui.session import TICKS_PER_S, BegunLike, Session

if TYPE_CHECKING:
    from resit.core.suite import Suite

_SCREENS = {
    "suites": ("resit.tui.screens.suites", "SuitesScreen"),
    "setup": ("resit.tui.screens.setup", "SetupScreen"),
    "live": ("resit.tui.screens.live", "LiveScreen"),
    "results": ("resit.tui.screens.results", "ResultsScreen"),
    "miss": ("resit.tui.screens.miss", "MissScreen"),
    "logs": ("resit.tui.screens.logs", "LogsScreen"),
}
"""Screens by name; each is imported when it is first opened, so that the first paint waits for one only."""


def make_screen(name: str, *args: Any, **kwargs: Any) -> Screen[Any]:
    """A new screen of that name."""
    module, cls = _SCREENS[name]
    screen: Screen[Any] = getattr(importlib.import_module(module), cls)(*args, **kwargs)
    return screen


class ResitApp(App[int]):
    """One session, the worker of its round, and a stack of screens."""

    TITLE = "resit"
    CSS_PATH: ClassVar[Any] = ["resit.tcss", "setup_live.tcss"]
    BINDINGS: ClassVar[list[Any]] = bindings(APP)
    ENABLE_COMMAND_PALETTE = True
    ESCAPE_TO_MINIMIZE = False

    def __init__(
        self, start: Start | None = None, *, preferences: Preferences | None = None, first: Screen[Any] | None = None
    ) -> None:
        """Prepare the app; nothing is read or drawn yet.

        Args:
            start: Where to begin.
            preferences: What the person chose before.
            first: Screen to begin with instead of the one `start` asks for (tests, `resit run` on a terminal).
        """
        super().__init__()
        self.start = start or Start()
        self.preferences = preferences or Preferences(None)
        self.session = Session()
        self._first = first
        self._quitting = False
        # Now and not when mounted, where Textual would read and apply every style a second time.
        for theme in THEMES:
            self.register_theme(theme)
        kept = self.preferences.recall("theme")
        self.theme = kept if kept in self.available_themes else THEMES[0].name

    # -- beginning and end ------------------------------------------------------------------------------------------

    def get_default_screen(self) -> Screen[Any]:
        """The first screen, in place of Textual's blank one: what is never seen need not be laid out."""
        return self._first or make_screen("suites")

    def on_mount(self) -> None:
        """Keys, signals, and what was asked for on the command line."""
        if self.preferences.keys:
            self.set_keymap(self.preferences.keys)
        self._catch_signals()
        self.set_interval(1 / TICKS_PER_S, self.tell_news)
        self.call_after_refresh(_collect_garbage_again)
        if self.start.demo or self.start.watch:
            self.call_after_refresh(self._go_on)

    def _go_on(self) -> None:
        """What was asked for on the command line, once the first screen is painted."""
        try:
            if self.start.demo:
                from resit.tui.demo import prepare_demo
                from resit.tui.starting import start

                prepared = prepare_demo()
                start(self, prepared, prepared.plan.suite)
            else:
                from resit.tui.starting import follow

                follow(self, self.start.watch)
        except ResitError as error:
            self.say(str(error), severity="error")

    def _catch_signals(self) -> None:
        # By default SIGTERM and SIGHUP end Python at once and leave mouse mode and the alternate screen behind.
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
            with contextlib.suppress(NotImplementedError, RuntimeError, ValueError):
                loop.add_signal_handler(number, self._on_signal, number)

    def on_unmount(self) -> None:
        """Let the signals go again."""
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
            with contextlib.suppress(NotImplementedError, RuntimeError, ValueError):
                loop.remove_signal_handler(number)

    def _on_signal(self, number: signal.Signals) -> None:
        if not self._quitting:
            self._quitting = True
            if not self.is_headless:
                _end_for_sure(128 + number)
            self.run_worker(self._leave(128 + number, grace_s=2.0), group="leave", exit_on_error=False)

    async def _leave(self, code: int, grace_s: float) -> None:
        await self.session.stop(grace_s)
        self.exit(return_code=code)

    async def action_quit(self) -> None:
        """Quit; while a round runs, ask first."""
        if not all(screen.may_leave() for screen in self.screen_stack if isinstance(screen, ResitScreen)):
            return
        if not self.session.running:
            self.exit(return_code=0)
            return
        from resit.tui.screens.confirm import QuitScreen

        def answered(answer: str | None) -> None:
            if answer == "stop":
                self.say("Stopping; what came back is being saved.")
                self.run_worker(self._leave(0, grace_s=5.0), group="leave", exit_on_error=False)

        if not isinstance(self.screen, QuitScreen):
            self.push_screen(QuitScreen(), answered)

    async def action_back(self) -> None:
        """One screen back; from the first, quit."""
        if isinstance(self.screen, ResitScreen) and not self.screen.may_leave():
            return
        if len(self.screen_stack) > 1:
            self.pop_screen()
        else:
            await self.action_quit()

    def _handle_exception(self, error: Exception) -> None:
        # Textual prints a traceback with local variables, where keys or a private exam may stand.
        self._return_code = 1
        if self._exception is None:
            self._exception = error
            self._exception_event.set()
        where = write_crash_log(error)
        lines = f"resit met a defect and closed: {one_line(type(error).__name__, 60)}. Finished runs are saved."
        self._exit_renderables.append(Text(f"{lines}\nWhat happened is in {where}"))
        self._close_messages_no_wait()

    # -- the round --------------------------------------------------------------------------------------------------

    def start_round(self, begun: BegunLike, suite: Suite | None = None, round_path: Path | None = None) -> None:
        """Run a started round in the App's own worker, so that leaving a screen cancels nothing.

        Its runner must send events to `self.session.emit`.
        """
        if self.session.running:
            self.say("A round runs already: stop it first, or wait for its end.", severity="warning")
            return
        self.session.begin(begun.runner, suite, round_path)
        self.run_worker(self.session.run(), name="round", group="round", exit_on_error=False)

    def tell_news(self) -> None:
        """Hand the newest picture to every open screen."""
        news = self.session.drain()
        if news is not None:
            for screen in self.screen_stack:
                screen.post_message(ProgressChanged(*news))

    @on(Worker.StateChanged)
    def _worker_ended(self, event: Worker.StateChanged) -> None:
        """The one place where a worker's end is seen, so that none dies silently."""
        if event.state not in (WorkerState.SUCCESS, WorkerState.ERROR):
            return
        problem = ""
        if event.state is WorkerState.ERROR:
            error = event.worker.error
            problem = str(error) or type(error).__name__
            self.say(problem, severity="error")
            if isinstance(error, Exception):
                write_crash_log(error)
        if event.worker.group == "round":
            self.tell_news()
            for screen in self.screen_stack:
                screen.post_message(RoundOver(self.session.ended if not problem else None, problem))

    # -- screens ----------------------------------------------------------------------------------------------------

    def open(self, name: str, *args: Any, **kwargs: Any) -> None:
        """Put a screen on top: `suites`, `setup`, `live`, `results` or `miss`."""
        self.push_screen(make_screen(name, *args, **kwargs))

    def action_live(self) -> None:
        """To the running round."""
        if self.session.progress is None and not self.session.running:
            self.say("No round runs.")
        elif getattr(self.screen, "GROUP", "") != "live":
            self.open("live")

    def action_logs(self) -> None:
        """To the person's own logs."""
        if getattr(self.screen, "GROUP", "") != "logs":
            self.open("logs")

    def action_help(self) -> None:
        """The keys of the screen on top."""
        from resit.tui.screens.help import HelpScreen

        if isinstance(self.screen, ResitScreen):
            self.push_screen(HelpScreen(self.screen.commands))

    # -- small things everywhere ------------------------------------------------------------------------------------

    def say(self, text: str, *, severity: str = "information") -> None:
        """A notice, as plain text."""
        self.notify(one_line(text, 400), severity=severity, markup=False)  # type: ignore[arg-type]

    def get_theme_variable_defaults(self) -> dict[str, str]:
        """Our own colours, for themes that do not know them."""
        theme = self.current_theme
        if theme.ansi:
            return {"row": "ansi_bright_black" if theme.dark else "ansi_white"}
        return {"row": theme.panel or theme.secondary or theme.primary}

    def set_window_title(self, title: str) -> None:
        """What the terminal's tab or window is called."""
        driver = self._driver
        if driver is not None and not self.is_headless:
            driver.write(f"\x1b]2;{one_line(title, 120)}\x1b\\")

    def key_of(self, command: Command) -> str:
        """The key that is bound to a command now, rebinding included."""
        return self.preferences.keys.get(command.id, command.keys).split(",")[0]

    def action_next_theme(self) -> None:
        """The next theme; remembered."""
        at = THEME_ORDER.index(self.theme) if self.theme in THEME_ORDER else -1
        self.theme = THEME_ORDER[(at + 1) % len(THEME_ORDER)]
        problem = self.preferences.remember(self.theme, "theme")
        self.say(problem or f"Theme: {self.theme}", severity="warning" if problem else "information")

    def action_picture(self) -> None:
        """A picture of the screen, as SVG, in the working folder."""
        name = f"resit-{datetime.now(UTC):%Y%m%d-%H%M%S}.svg"
        try:
            self.say(f"Saved {self.save_screenshot(name)}")
        except OSError as error:
            self.say(f"The picture could not be written: {error.strerror or error}", severity="error")

    def copy(self, text: str, what: str) -> None:
        """Copy over OSC 52, which also works through ssh."""
        # A lone surrogate cannot be encoded, and would take the app down.
        self.copy_to_clipboard(text.encode("utf-8", "replace").decode("utf-8"))
        self.say(f"Copied {what} through the terminal (OSC 52).")

    def get_system_commands(self, screen: Screen[Any]) -> Iterable[SystemCommand]:
        """Every action of the screen and the app, by name."""
        for command in (*getattr(screen, "commands", ()), *APP):
            owner = self if command in APP else screen
            yield SystemCommand(command.about, f"key: {self.key_of(command)}", self._runs(owner, command.action))

    def _runs(self, owner: App[Any] | Screen[Any], action: str) -> Any:
        async def run() -> None:
            await self.run_action(action, default_namespace=owner)

        return run

    def get_line_filters(self) -> Sequence[LineFilter]:
        """Textual's filters, and ours as the last."""
        return [*super().get_line_filters(), _GUARD]


def _collect_garbage_again() -> None:
    """Turn the collector on where the command line had it wait for the first paint, and let it look less often.

    Every strip that Textual draws is eight objects, so Python's own limits had it look through all rows of a round
    about once a second: at 12,000 rows 0.2 s each time, in which no key was heard.
    """
    if not gc.isenabled():
        gc.freeze()
        gc.set_threshold(10_000, 10, 50)
        gc.enable()


_GUARD = ControlGuard()
_GIVE_UP_S = 6.0


def _end_for_sure(code: int) -> None:
    """End the process some seconds from now, come what may.

    When the terminal itself is gone, Textual's writing thread is stuck on it, and putting the terminal back would wait
    for ever. What came back of a round is kept long before.
    """
    watchdog = threading.Timer(_GIVE_UP_S, os._exit, (code,))
    watchdog.daemon = True
    watchdog.start()


def write_crash_log(error: Exception) -> Path:
    """Keep a traceback without local variables; returns the file."""
    folder = paths.data_dir() / "logs"
    log = folder / f"crash-{datetime.now(UTC):%Y%m%d-%H%M%S}.log"
    with contextlib.suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True)
        log.write_text("".join(traceback.format_exception(error)), encoding="utf-8", errors="backslashreplace")
    return log


def run_app(suite_paths: Sequence[str] = (), *, demo: bool = False, watch: str = "") -> int:
    """Run the app in this terminal; the exit code.

    Args:
        suite_paths: Suite files or folders to show first.
        demo: Play the recorded round.
        watch: A round to follow: a path, an id or `last`.
    """
    if not (sys.stdin.isatty() and sys.__stderr__ is not None and sys.__stderr__.isatty()):
        # Textual draws on stderr and would run on for ever without a terminal.
        print("resit: the app needs a terminal; `resit run` and `resit show` do without", file=sys.__stderr__)
        return 2
    preferences = Preferences(paths.config_dir())
    app = ResitApp(Start(tuple(suite_paths), demo, watch), preferences=preferences)
    terminal = sys.__stderr__
    terminal.write("\x1b[22;0t\x1b]2;resit\x1b\\")  # remember the window's title, set ours
    try:
        app.run()
    finally:
        with contextlib.suppress(OSError):  # the terminal may be gone
            terminal.write("\x1b[23;0t")
            terminal.flush()
    return app.return_code or 0
