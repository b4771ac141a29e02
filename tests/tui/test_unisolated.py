"""Where agents could read the answers, the app starts none before a person has written a word."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import agent_kit as kit
from resit.core.config import ModelsFile
from resit.core.records import Setting
from resit.core.rounds import exposed
from resit.core.rounds.exposed import Shelter
from resit.core.rounds.session import Prepared, prepare_round
from resit.core.rounds.store import RoundStore
from resit.core.suite import Suite
from resit.core.suite_file import load_suite
from resit.tui import starting
from resit.tui.app import ResitApp
from resit.tui.choice import Choice, Pick
from resit.tui.messages import Start
from resit.tui.preferences import Preferences
from resit.tui.screens.confirm import LineScreen
from resit.tui.screens.live import LiveScreen
from resit.tui.screens.setup import SetupScreen
from resit.tui.widgets.plan_panel import PlanPanel
from seen import press, until, until_seen

SIZE = (100, 30)
WHY = "a marker planted beside the suite could be read from inside the jail (bubblewrap)"


@pytest.fixture
def suite(tmp_path: Path) -> Suite:
    path = tmp_path / "exam" / "sums.toml"
    path.parent.mkdir()
    path.write_text('title = "Sums"\n[[questions]]\nid = "two"\nprompt = "1+1?"\naccept = ["2"]\n')
    return load_suite(path)


@pytest.fixture
def prepared(suite: Suite, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Prepared:
    monkeypatch.setattr(exposed, "_look", lambda *_: Shelter("bubblewrap", WHY))
    monkeypatch.setattr("resit.core.rounds.agents.readable_from", lambda *_: WHY)
    program = kit.write_program(tmp_path, "agent", "print('2')")
    file = ModelsFile.model_validate({"models": {kit.MODEL: kit.entry(program)}})
    setting = Setting(model=kit.MODEL, provider="command")
    return prepare_round(suite, [setting], 1, models_file=file, environ=dict(os.environ), cwd=tmp_path)


def app_for(suite: Suite) -> ResitApp:
    return ResitApp(Start(), preferences=Preferences(None), first=SetupScreen(suite))


async def test_the_word_has_to_be_written_and_then_the_round_says_so(suite: Suite, prepared: Prepared) -> None:
    app = app_for(suite)
    async with app.run_test(size=SIZE, notifications=True) as pilot:
        await until_seen(pilot, "Pick a model")
        starting.start(app, prepared, suite)
        shown = await until_seen(pilot, "Write unisolated to start nevertheless")
        assert "An agent could read the answers: a marker planted" in " ".join(shown.split())
        await press(pilot, *"yes", "enter")
        await until_seen(pilot, "Nothing was started.")
        assert not app.session.running
        starting.start(app, prepared, suite)
        await until_seen(pilot, "Write unisolated")
        await press(pilot, "escape")
        await until(pilot, lambda: not isinstance(app.screen, LineScreen))
        assert not app.session.running
        starting.start(app, prepared, suite)
        await until_seen(pilot, "Write unisolated")
        await press(pilot, *"unisolated", "enter")
        await until(pilot, lambda: isinstance(app.screen, LiveScreen))
        await until(pilot, lambda: app.session.ended is not None)
        assert app.session.round_path is not None
        plan = RoundStore.open(app.session.round_path).plan()
        assert (plan.unisolated, plan.isolation) == (True, "bubblewrap")


async def test_the_plan_says_why_and_what_enter_does(suite: Suite, prepared: Prepared) -> None:
    app = app_for(suite)
    async with app.run_test(size=(120, 36)) as pilot:
        await until_seen(pilot, "Pick a model")
        choice = Choice(picks=(Pick(kit.MODEL, None, "command"),))
        app.screen.query_one(PlanPanel).show_plan(suite, choice, prepared, prepared.estimate)
        shown = await until_seen(pilot, "asks whether agents may start")
        assert "an agent could read" in shown
        assert "Nothing can start." not in shown
