"""From a choice to a round that runs in the app: preparing, starting, going on, following another process's."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from resit.core.errors import Exposed, ResitError, RoundError
from resit.core.records import Setting
from resit.tui.choice import Choice, Pick
from resit.tui.messages import ProgressChanged

if TYPE_CHECKING:
    from resit.core.calling.client import Client
    from resit.core.rounds.follow import RoundFollower
    from resit.core.rounds.session import Prepared
    from resit.core.suite import Suite
    from resit.tui.app import ResitApp
    from resit.tui.session import RunnerLike

FOLLOW_S = 0.5
"""How often a round of another process is looked at; it writes its state as often."""
UNISOLATED = "unisolated"
"""What a person writes to let agents start that could read the answers."""
DEMO_PACE = 0.6
"""Share of the recorded seconds that a reply takes in the app: slow enough to watch, fast enough to wait for."""


@dataclass(frozen=True, slots=True)
class Begun:
    """A started runner, as the session wants it."""

    runner: RunnerLike


def clients_for(settings: Iterable[Setting]) -> Mapping[str, Client] | None:
    """The player of the demo's recording, when a setting is a recorded one; else the usual clients."""
    if not any(setting.provider == "recorded" for setting in settings):
        return None
    from resit.demo import demo_client

    return {"recorded": demo_client(pace=DEMO_PACE)}


def prepare(suite: Suite, choice: Choice, round_path: Path | None, *, fresh: bool = False) -> Prepared:
    """A round as chosen, ready to start.

    Raises:
        ResitError: It cannot be prepared.
    """
    from resit.core.rounds.session import NEW, prepare_round

    settings = choice.settings
    return prepare_round(
        suite,
        settings,
        choice.repeats,
        cap_usd=choice.cap_usd,
        no_cap=choice.cap_usd is None,
        serial=choice.serial,
        batch=choice.batch,
        round=NEW if fresh else str(round_path) if round_path else None,
        clients=clients_for(settings),
    )


def start(app: ResitApp, prepared: Prepared, suite: Suite, begun: Callable[[], None] = lambda: None) -> None:
    """Start a prepared round and go to the live screen, after which `begun` is called; says why when it cannot.

    Where agents could read the answers, a person is asked first, and has to write a word.
    """
    if app.session.running:
        app.say("A round runs already: ctrl+l goes to it. Stop it first, or wait for its end.", severity="warning")
        return
    exposed = next((problem.error for problem in prepared.problems if isinstance(problem.error, Exposed)), None)
    if exposed is not None:
        _ask_unisolated(app, prepared, suite, exposed, begun)
    else:
        _start(app, prepared, suite, begun)


def _ask_unisolated(
    app: ResitApp, prepared: Prepared, suite: Suite, exposed: Exposed, begun: Callable[[], None]
) -> None:
    from resit.tui.screens.confirm import LineScreen

    def written(word: str | None) -> None:
        if word is None:
            return
        if word.strip().lower() == UNISOLATED:
            _start(app, prepared.unisolated(), suite, begun)
        else:
            app.say("Nothing was started.")

    title = f"{exposed.message}. Write {UNISOLATED} to start nevertheless: the round's note will say so."
    app.push_screen(LineScreen(title[:1].upper() + title[1:], placeholder=UNISOLATED), written)


def _start(app: ResitApp, prepared: Prepared, suite: Suite, begun: Callable[[], None]) -> None:
    try:
        runner = prepared.start(app.session.emit)
    except ResitError as error:
        app.say(str(error), severity="error")
        return
    app.start_round(Begun(runner), suite, runner.store.path)
    begun()
    if getattr(app.screen, "GROUP", "") != "live":
        app.open("live")


def go_on(app: ResitApp, path: Path) -> None:
    """Ask what a saved round still owes."""
    from resit.core.rounds.session import prepare_round
    from resit.core.rounds.shelf import present_suite
    from resit.core.rounds.store import RoundStore

    try:
        store = RoundStore.open(path)
        plan = store.plan()
        suite = present_suite(plan)[0] or store.suite()
        clients = clients_for(planned.setting for planned in plan.settings)
        prepared = prepare_round(suite, round=str(path), clients=clients)
    except ResitError as error:
        app.say(str(error), severity="error")
        return
    if not prepared.plan.jobs:
        app.say("Nothing is owed: every run of this round has a reply.")
    else:
        start(app, prepared, suite)


def choice_of(path: Path, start: Choice) -> Choice:
    """`start` with the settings, runs and pace of a saved round; as it is when that cannot be read."""
    from resit.core.rounds.store import RoundStore

    try:
        plan = RoundStore.open(path).plan()
    except RoundError:
        return start
    settings = [planned.setting for planned in plan.settings]
    return replace(
        start,
        picks=tuple(dict.fromkeys(Pick(s.model, s.effort, s.provider) for s in settings)),
        quiet=frozenset(s.model for s in settings if s.thinking == "off"),
        variants=tuple(dict.fromkeys(s.variant for s in settings)),
        repeats=plan.repeats,
        cap_usd=plan.cap_usd,
        serial=plan.serial,
        batch=plan.batch,
    )


def follow(app: ResitApp, ref: str | Path) -> None:
    """Show a round that another process runs, as it goes on; it is not touched."""
    from resit.core import paths
    from resit.core.rounds.follow import RoundFollower
    from resit.core.rounds.store import RoundStore

    session = app.session
    if session.running:
        app.say("A round runs here already: ctrl+l goes to it.", severity="warning")
        return
    try:
        store = RoundStore.open(ref) if isinstance(ref, Path) else RoundStore.find(paths.rounds_dir(), ref)
        session.suite, session.round_path = store.suite(), store.path
        session.progress = RoundFollower(store).progress()
    except ResitError as error:
        app.say(str(error), severity="error")
        return
    session.ended = session.progress.ended
    session.watching = True
    app.run_worker(_follow(app, RoundFollower(store)), group="follow", exclusive=True, exit_on_error=False)
    app.open("live")


async def _follow(app: ResitApp, follower: RoundFollower) -> None:
    """Hand every new picture to the screens until the round has ended, or another one is looked at."""
    session = app.session
    path = session.round_path
    while session.watching and session.round_path == path:
        # Reading a large round takes tens of milliseconds, which keys would feel.
        progress = await asyncio.to_thread(follower.progress)
        if not session.watching or session.round_path != path:
            return
        session.progress, session.ended = progress, progress.ended
        for screen in app.screen_stack:
            screen.post_message(ProgressChanged(progress, (), ()))
        if progress.ended is not None:
            return
        await asyncio.sleep(FOLLOW_S)
