"""Every key that `commands` declares, pressed on its screen: it does something to be seen, or says why not."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from datetime import timedelta
from functools import cached_property
from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.screen import Screen

from live_round import NOW, StubRunner, feed, kept, row, sent, started
from resit.core.logs.draft_files import DraftBook
from resit.core.logs.drafts import Draft, Proposal
from resit.core.records import RunRecord
from resit.core.rounds.events import RunKept
from resit.core.suite import Suite
from resit.tui.app import ResitApp
from resit.tui.commands import APP, SCREENS, Command
from resit.tui.round_view import RoundView
from resit.tui.screens.compare import CompareScreen
from resit.tui.screens.drafting import DraftingScreen
from resit.tui.screens.gates import GatesScreen
from resit.tui.screens.history import HistoryScreen
from resit.tui.screens.live import LiveScreen
from resit.tui.screens.logs import LogsScreen
from resit.tui.screens.miss import MissScreen
from resit.tui.screens.results import ResultsScreen
from resit.tui.screens.rounds_list import RoundsScreen
from resit.tui.screens.setup import SetupScreen
from resit.tui.screens.spend import SpendScreen
from resit.tui.screens.suites import SuitesScreen
from saved_round import ANSWERS, HAIKU, SONNET, keep_round
from seen import until_seen

SIZE = (120, 40)
FULL = {place: said for place, said in ANSWERS.items() if place[0] != "sign-off"}


class Place:
    """A suite with two rounds, of which the newer one owes runs."""

    def __init__(self, suite: Suite) -> None:
        self.suite = suite
        self.before = keep_round(suite, ANSWERS)
        self.now = keep_round(suite, FULL, name="20261129-0910", at=NOW - timedelta(hours=5))

    @cached_property
    def view(self) -> RoundView:
        return RoundView.at(self.before)


@pytest.fixture
def place(suite: Suite) -> Place:
    return Place(suite)


LOGS = Path(__file__).parents[1] / "data" / "logs"
_PROPOSED = Proposal(model="m", about="Totals")
_DRAFT = Draft(id="total", kind="reading", prompt="Total?", source="a log", accept=("119",), no_trap=True)
BOOK = DraftBook(title="Bills", drafts=(_DRAFT, _DRAFT.replaced(id="other", proposed=_PROPOSED)))

Make = Callable[[Place], Screen[None]]
MADE: dict[str, tuple[Make, str]] = {
    "suites": (lambda place: SuitesScreen(cwd=place.now.parent), "spent this month"),
    "rounds": (lambda place: RoundsScreen(place.suite), "2 rounds"),
    "compare": (lambda place: CompareScreen(place.suite, place.before, place.now), "leap-year"),
    "spend": (lambda place: SpendScreen(), "Nothing was spent yet"),
    "history": (lambda place: HistoryScreen(place.suite), "2 rounds"),
    "gates": (lambda place: GatesScreen(place.suite, [place.before, place.now]), "kinds decided"),
    "setup": (lambda place: SetupScreen(place.suite), "✗ no key"),
    "live": (lambda place: LiveScreen(now=lambda: NOW), "Misses as they come"),
    "results": (lambda place: ResultsScreen(place.view), "miss 1 of"),
    "miss": (lambda place: MissScreen(place.view, place.view.misses[0]), "miss 1 of"),
    "logs": (lambda place: LogsScreen([LOGS]), "12 requests"),
    "drafting": (lambda place: DraftingScreen(BOOK), "draft 1 of 2"),
}
"""Each screen with words that stand on it once it is ready."""
BEFORE = {"spend.by_day": ("m",), "logs.kinds": ("2",)}
"""Keys without which one would find nothing to change."""
MISS = row("minutes", SONNET, 1, "miss", "210 minutes")


def picture(app: ResitApp) -> tuple[object, ...]:
    """All that a person can see: text, colours, the cursor's place, and what went to the clipboard."""
    strips = app.screen._compositor.render_strips()
    return (type(app.screen), [list(strip) for strip in strips], app.clipboard, app.return_code)


async def show(pilot: Pilot[int], app: ResitApp, place: Place, group: str) -> None:
    """The group's screen, new, alone on the first one, with nothing left of the key before."""
    while len(app.screen_stack) > 1:
        await app.pop_screen()
    app.clear_notifications()
    app.session.watching = False
    if group == "live":
        app.session.begin(StubRunner(), place.suite, place.before)
    make, words = MADE[group]
    await app.push_screen(make(place))
    if group == "live":
        minutes = RunKept(NOW, RunRecord(question="minutes", setting=SONNET, run=1, prompt="p", attempts=()), MISS)
        feed(app, started(HAIKU, SONNET), *(kept(n, HAIKU, "miss") for n in range(40)), minutes, sent("product"))
    await until_seen(pilot, words)
    await pilot.pause(0.02)


async def answers(pilot: Pilot[int], app: ResitApp, *keys: str) -> bool:
    """Whether the last of `keys` changes what is seen."""
    for key in keys:
        before = picture(app)
        await pilot.press(key)
        await pilot.pause()
    end = time.monotonic() + 3.0
    while picture(app) == before and time.monotonic() < end:
        await pilot.pause(0.02)
    return picture(app) != before


def test_each_screen_with_keys_is_pressed_here() -> None:
    assert set(MADE) == set(SCREENS)


@pytest.mark.parametrize("group", SCREENS)
def test_no_key_stands_for_two_things_on_a_screen(group: str) -> None:
    keys = Counter(key for command in (*SCREENS[group], *APP) for key in command.keys.split(","))
    assert [key for key, number in keys.items() if number > 1] == []
    assert len({command.id for command in (*SCREENS[group], *APP)}) == len(SCREENS[group]) + len(APP)


@pytest.mark.parametrize("group", SCREENS)
async def test_every_key_does_something_to_be_seen_or_says_why_not(place: Place, group: str) -> None:
    app = ResitApp(first=SpendScreen())
    silent = []
    async with app.run_test(size=SIZE, notifications=True) as pilot:
        for command in SCREENS[group]:
            for key in command.keys.split(","):
                await show(pilot, app, place, group)
                if not await answers(pilot, app, *BEFORE.get(command.id, ()), key):
                    silent.append(f"{key}: {command.about}")
    assert silent == []


@pytest.mark.parametrize("command", APP, ids=[command.action for command in APP])
async def test_every_key_that_works_everywhere_does_so_on_a_screen(place: Place, command: Command) -> None:
    for key in command.keys.split(","):
        app = ResitApp(first=RoundsScreen(place.suite))
        async with app.run_test(size=SIZE, notifications=True) as pilot:
            await until_seen(pilot, "2 rounds")
            assert await answers(pilot, app, key)
