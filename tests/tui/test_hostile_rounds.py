"""Hostile texts on the screens that list suites, set up a round and show it while it runs."""

from __future__ import annotations

import json
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from rich.cells import cell_len

from resit.core.records import Fault, Row, RunRecord, Setting, run_key
from resit.core.rounds.events import (
    AttemptFailed,
    AttemptSent,
    RoundEnded,
    RoundStarted,
    RunKept,
    SettingStopped,
    Streamed,
)
from resit.core.suite import Question, Suite, Trap
from resit.tui.app import ResitApp
from resit.tui.looks import BAD_CHARACTERS
from resit.tui.screens.live import LiveScreen
from resit.tui.screens.setup import SetupScreen
from resit.tui.shelf import Shelved
from resit.tui.suite_words import question_table, suite_text
from seen import press, until

BOUND_S = 4.0
"""For four keys and their frames, whatever is shown; a busy machine included."""
NOW = datetime(2026, 11, 29, 14, 2, tzinfo=UTC)
CORPUS: list[dict[str, Any]] = json.loads(
    (Path(__file__).parents[1] / "data" / "hostile_replies.json").read_text(encoding="utf-8")
)["cases"]
TEXTS = [
    str(case["text"]) + "".join(unit * times for unit, times in [case.get("repeat") or ("", 0)]) for case in CORPUS
]


def assert_harmless(app: ResitApp) -> None:
    """Nothing drawn holds a control character, links anywhere, or is wider than the screen."""
    for strip in app.screen._compositor.render_strips():
        assert not BAD_CHARACTERS.search(strip.text), repr(strip.text)
        for segment in strip:
            assert segment.style is None or not (segment.style.link or segment.style.meta.get("@click"))
        assert cell_len(strip.text) == app.size.width


def row(question: str, setting: Setting, text: str) -> Row:
    return Row(
        question=question, kind=text, setting=setting.label, model=setting.model, effort=None, variant="plain", run=1,
        outcome="miss", score=0.0, second_score=None, reason="format", failed=(), reply=text, seconds=0.1, attempts=1,
        input_tokens=1, cache_write_tokens=0, cache_read_tokens=0, output_tokens=1, thinking_tokens=None,
        cost_usd=None, turns=None, verdict=None,
    )  # fmt: skip


def hostile_suite(texts: list[str]) -> Suite:
    questions = tuple(
        Question(id=f"{text[:200]}{at}", prompt=text, kind=text[:200] or "k", accept=(text,), traps=(Trap(reply=text),))
        for at, text in enumerate(texts)
    )
    first = texts[0]
    return Suite(name="hostile", title=first, about=first, instruction=first, questions=questions)


@pytest.mark.parametrize("texts", [TEXTS[at : at + 12] for at in range(0, len(TEXTS), 12)])
async def test_hostile_replies_faults_and_names_are_only_text_while_a_round_runs(texts: list[str]) -> None:
    app = ResitApp(first=LiveScreen(now=lambda: NOW))
    suite = hostile_suite(texts)
    async with app.run_test(size=(110, 40)) as pilot:
        app.session.suite = suite
        settings = tuple(Setting(model=text[:300] or "m") for text in texts[:3])
        emit = app.session.emit
        emit(RoundStarted(NOW - timedelta(seconds=9), 99, 0, (), "r", tuple((setting, 33) for setting in settings)))
        emit(SettingStopped(NOW, settings[0], Fault(kind="model", said=texts[0][:5000])))
        for number, text in enumerate(texts):
            question, setting = suite.questions[number].id, settings[number % len(settings)]
            key = run_key(question, setting, 1)
            emit(AttemptSent(NOW, key, question, setting, 1, 1))
            record = RunRecord(question=question, setting=setting, run=1, prompt="p", attempts=())
            emit(RunKept(NOW, record, row(question, setting, text)))
            emit(AttemptSent(NOW, key, question, setting, 2, 1))
            if number % 2:
                emit(AttemptFailed(NOW, key, Fault(kind="limit", said=text[:5000]), 1, NOW + timedelta(seconds=9)))
        app.tell_news()
        await until(pilot, lambda: app.session.progress is not None and len(app.session.progress.rows) == len(texts))
        await press(pilot, "w")
        pane = app.screen.query_one("#stream")
        for text in texts:
            emit(Streamed(str(getattr(pane, "key", "")), "text", text))
            emit(Streamed(str(getattr(pane, "key", "")), "thinking", text))
        app.tell_news()
        began = time.monotonic()
        for key in ("a", "a", "f", "a"):
            await press(pilot, key)
            assert_harmless(app)
        assert time.monotonic() - began < BOUND_S
        emit(RoundEnded(NOW, "stopped", texts[0][:5000], 3))
        app.tell_news()
        await pilot.pause(0.1)
        assert_harmless(app)


@pytest.mark.parametrize("texts", [TEXTS[at : at + 12] for at in range(0, len(TEXTS), 12)])
async def test_a_hostile_suite_is_only_text_on_the_first_screen_and_in_the_set_up(texts: list[str]) -> None:
    suite = hostile_suite([text[:20_000] for text in texts])
    item = Shelved(Path("x.toml"), "here", ((1, 1), (0, 0)), suite)
    for content in (suite_text(item, ()), question_table(item)):
        assert not BAD_CHARACTERS.search(content.plain.replace("\n", ""))
        assert not content.spans or all("@click" not in str(span.style) for span in content.spans)
    app = ResitApp(first=SetupScreen(suite))
    async with app.run_test(size=(110, 40)) as pilot:
        await pilot.pause(0.3)
        assert_harmless(app)
