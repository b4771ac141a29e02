from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import anthropic  # noqa: F401 - its import takes seconds on a busy machine, which no test here is about
import pytest

from live_round import NOW, after, started
from mock_server import MockServer, serve_in_thread
from resit.core.paths import config_dir, data_dir
from resit.core.records import Usage
from resit.core.rounds.batch_book import open_batches
from resit.core.rounds.events import BatchesChanged, BatchSeen, PoolHold, PoolsHeld
from resit.core.rounds.store import RoundStore
from resit.core.spend.ledger import Ledger, LedgerEntry
from resit.core.suite import Suite
from resit.tui.app import ResitApp
from resit.tui.live_words import status_line, waiting_lines
from resit.tui.messages import Start
from resit.tui.preferences import Preferences
from resit.tui.screens.live import LiveScreen
from resit.tui.screens.setup import SetupScreen
from resit.tui.screens.spend import SpendScreen
from saved_round import HAIKU
from seen import press, until, until_gone, until_seen

SIZE = (120, 36)


@pytest.fixture
def server(suite: Suite, monkeypatch: pytest.MonkeyPatch) -> Iterator[MockServer]:
    answers = {question.prompt: "whatever" for question in suite.questions}
    with serve_in_thread(MockServer(answers=answers)) as server:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
        monkeypatch.setenv("ANTHROPIC_API_KEY", "not-a-real-key-0123456789")
        yield server


def set_up(suite: Suite, folder: Path | None = None) -> ResitApp:
    return ResitApp(Start(), preferences=Preferences(folder), first=SetupScreen(suite))


async def test_one_key_asks_in_batches_at_half_the_price_and_is_remembered(
    suite: Suite, server: MockServer, tmp_path: Path
) -> None:
    app = set_up(suite, tmp_path)
    async with app.run_test(size=SIZE) as pilot:
        await until_seen(pilot, "Pick a model")
        await press(pilot, "space")
        await until_seen(pilot, "8 at a time")
        await press(pilot, "b")
        assert "within a day" in await until_seen(pilot, "in batches, at half price")
    async with set_up(suite, tmp_path).run_test(size=SIZE) as pilot:
        await until_seen(pilot, "in batches, at half price")
        await press(pilot, "b")
        await until_gone(pilot, "in batches")


async def test_a_batch_is_seen_live_and_canceled_from_there(suite: Suite, server: MockServer) -> None:
    server.batches.stay_s = 3600.0
    app = set_up(suite)
    async with app.run_test(size=SIZE) as pilot:
        await until_seen(pilot, "Pick a model")
        await press(pilot, "space", "b")
        await until_seen(pilot, "in batches, at half price")
        await press(pilot, "enter")
        shown = await until_seen(pilot, "batch of 8 requests: submitted", "8 in batches")
        assert "polling until" in shown
        assert isinstance(app.screen, LiveScreen)
        await press(pilot, "x")
        assert "Batches go on at the server" in await until_seen(pilot, "Stop this round?")
        await press(pilot, "k")
        await until_seen(pilot, "the batches are canceled")
        await until(pilot, lambda: not app.session.running)
    assert server.batches.made["msgbatch_0001"].canceled
    assert open_batches(RoundStore.find(data_dir() / "rounds", "last")) == ()


async def test_quitting_leaves_the_batch_to_be_collected(suite: Suite, server: MockServer) -> None:
    server.batches.stay_s = 3600.0
    app = set_up(suite)
    async with app.run_test(size=SIZE) as pilot:
        await until_seen(pilot, "Pick a model")
        await press(pilot, "space", "b")
        await until_seen(pilot, "in batches, at half price")
        await press(pilot, "enter")
        await until_seen(pilot, "batch of 8 requests: submitted")
        await press(pilot, "ctrl+q")
        await until_seen(pilot, "A round is running.")
        await press(pilot, "s")
        await until(pilot, lambda: not app.session.running)
    assert not server.batches.made["msgbatch_0001"].canceled
    assert [note.requests for note in open_batches(RoundStore.find(data_dir() / "rounds", "last"))] == [8]


def test_a_batch_that_may_be_at_the_server_and_a_held_pool_are_named() -> None:
    batch = BatchSeen(mark="resit-1", requests=5000, state="looked for", since=NOW, next_at=NOW + timedelta(seconds=9))
    hold = PoolHold(pool="max", said="pool max: 9 of 10 runs are used", until=NOW + timedelta(hours=1))
    progress = after(started(HAIKU), BatchesChanged(NOW, (batch,)), PoolsHeld(NOW, (hold,)))
    said = waiting_lines(progress, NOW).plain
    assert "pool max: 9 of 10 runs are used; it goes on 29 Nov 15:02 UTC" in said
    assert "batch of 5,000 requests: it may be at the server already" in said
    assert "looked at again" in said
    assert "5,000 in batches" in status_line(progress, NOW).plain
    assert waiting_lines(after(started(HAIKU)), NOW).plain == ""


def test_what_a_pool_is_held_for_is_shown_without_its_control_characters() -> None:
    hold = PoolHold(pool="max", said="pool max: \x1b]0;mine\x07[b]no[/b]")
    said = waiting_lines(after(started(HAIKU), PoolsHeld(NOW, (hold,))), NOW).plain
    assert "\x1b" not in said
    assert "[b]no[/b]" in said


async def test_spend_shows_what_of_each_pool_is_used(suite: Suite) -> None:
    config_dir().mkdir(parents=True, exist_ok=True)
    (config_dir() / "models.toml").write_text(
        '[pools.max]\nwindow = "5h"\nruns = 2\n[models."claude-haiku-5-5"]\npool = "max"\n'
    )
    entry = LedgerEntry(
        at=datetime.now(UTC), suite="sums", round="one", question="q1", model="claude-haiku-5-5",
        setting="claude-haiku-5-5 low", run=1, attempt=1, provider="anthropic", endpoint="http://127.0.0.1:1",
        ended="end", usage=Usage(input_tokens=10, output_tokens=5),
    )  # fmt: skip
    Ledger().append(entry)
    async with ResitApp(Start(), first=SpendScreen()).run_test(size=SIZE) as pilot:
        shown = await until_seen(pilot, "pool max: 1 of 2 runs in 5 hours used, 10% kept in reserve")
        assert "used up until" in shown
        assert "15 tokens" in shown


async def test_a_models_file_with_a_fault_is_said_on_the_spend_screen(suite: Suite) -> None:
    config_dir().mkdir(parents=True, exist_ok=True)
    (config_dir() / "models.toml").write_text('[pools.max]\nwindow = "day"\n')
    async with ResitApp(Start(), first=SpendScreen()).run_test(size=SIZE) as pilot:
        await until_seen(pilot, "pools.max.window")
