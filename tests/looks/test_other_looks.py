"""Pictures of the other screens over fixed data, in both sizes and both themes; made anew as those of the results."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from pathlib import Path

import pytest
from kept_pictures import assert_looks, one_time_and_place  # noqa: F401 - a fixture for all of them
from textual.pilot import Pilot

from live_round import NOW, StubRunner, ended, feed, kept, row, sent, started
from resit.core import paths, suite_file
from resit.core.records import Effort, Fault, RunRecord, Usage, run_key
from resit.core.rounds.events import AttemptFailed, RunKept, SettingStopped, Spent, Streamed
from resit.core.spend.ledger import Ledger, LedgerEntry
from resit.core.suite import Suite
from resit.core.suite_file import load_suite
from resit.tui import figures, history
from resit.tui.app import ResitApp
from resit.tui.messages import Start
from resit.tui.round_view import RoundView
from resit.tui.screens import live
from resit.tui.screens.compare import CompareScreen
from resit.tui.screens.gates import GatesScreen
from resit.tui.screens.history import HistoryScreen
from resit.tui.screens.live import LiveScreen
from resit.tui.screens.rounds_list import RoundsScreen
from resit.tui.screens.setup import SetupScreen
from resit.tui.screens.spend import SpendScreen
from resit.tui.screens.suites import SuitesScreen
from resit.tui.widgets.model_grid import ModelRow
from saved_round import ANSWERS, ENDPOINT, HAIKU, SONNET, SUITE, keep_round, reply
from seen import press, until_seen

BROKEN = SUITE.replace('title = "Short answers"', 'title = "Letters"').replace('accept = ["408"]', 'acept = ["408"]')
ROUTES = """title = "Routing of mails"
[[questions]]
id = "refund"
kind = "routing"
prompt = "Which team answers: 'I was charged twice'? One word."
accept = ["billing"]
"""
EFFORTS: tuple[Effort | None, ...] = (None, "low", "medium", "high")
MODELS = (
    ModelRow("claude-haiku-5-5", "anthropic", EFFORTS, "$0.10/$0.50", "✓ key",
             detail="claude-haiku-5-5 · $0.10 in, $0.50 out per Mtok · asked at https://api.anthropic.com"),
    ModelRow("claude-sonnet-5-5", "anthropic", EFFORTS, "$2.00/$10.00", "✓ key", thinking_off=True),
    ModelRow("qwen3-8b", "openai", (None,), "unknown", "✗ no key", "LAB_KEY is not set."),
)  # fmt: skip
MODELS_FILE = """
[prices."claude-haiku-5-5"]
input = "0.10"
output = "0.50"
[prices."claude-sonnet-5-5"]
input = "2"
output = "10"
"""


@dataclass
class Place:
    """Where a screen is drawn: a suite with two rounds of it."""

    suite: Suite
    before: Path
    now: Path


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "not-a-real-key-0123456789")
    monkeypatch.setattr(suite_file, "sample_suites", list)
    month_line = history.month_line
    monkeypatch.setattr(history, "month_line", lambda now=None: month_line(NOW))
    monkeypatch.setattr(figures, "today", lambda: NOW.date())
    monkeypatch.setattr(live, "_SECOND", 3600.0)
    for name, text in (("letters", BROKEN), ("routing", ROUTES), ("short-answers", SUITE)):
        path = tmp_path / "exams" / f"{name}.toml"
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    suite = load_suite(tmp_path / "exams" / "short-answers.toml")
    paths.config_dir().mkdir(parents=True, exist_ok=True)
    (paths.config_dir() / "models.toml").write_text(MODELS_FILE, encoding="utf-8")
    before = keep_round(suite, ANSWERS)
    better = {
        **ANSWERS,
        ("minutes", "sonnet"): ("210", "210"),
        ("product", "haiku"): ("406", "408"),
        ("sign-off", "sonnet"): ("It is 391.\nCheers", reply("", "refused")),
    }
    del better["leap-year", "sonnet"]
    now = keep_round(suite, better, name="20261129-0910", at=NOW - timedelta(hours=5))
    for path in (before, now):
        RoundView.at(path)  # graded once, as every round that was run
    for day, (suite_name, setting, cost) in enumerate(
        [("short-answers", HAIKU, "0.0012"), ("short-answers", SONNET, "0.0310"), ("routing", SONNET, None)] * 2
    ):
        Ledger().append(
            LedgerEntry(
                at=NOW - timedelta(days=day), suite=suite_name, round=f"r{day}", question="q", model=setting.model,
                setting=setting.label, run=1, attempt=1, provider="anthropic", endpoint=ENDPOINT, ended="end",
                usage=Usage(input_tokens=41_000 + day, output_tokens=900, cache_read_tokens=12_000),
                cost_usd=None if cost is None else Decimal(cost),
            )
        )  # fmt: skip
    return Place(suite, before, now)


def suites(place: Place) -> ResitApp:
    return ResitApp(Start(("exams",)), first=SuitesScreen(cwd=Path("nowhere")))


async def suites_shown(pilot: Pilot[int]) -> None:
    await until_seen(pilot, "✗ Letters")
    await press(pilot, "down", "down")
    await until_seen(pilot, "Last round", "spent this month")


async def faults_shown(pilot: Pilot[int]) -> None:
    await until_seen(pilot, "did you mean")


def setup(place: Place) -> ResitApp:
    return ResitApp(first=SetupScreen(place.suite, rows=lambda: MODELS))


async def setup_shown(pilot: Pilot[int]) -> None:
    await until_seen(pilot, "Pick a model")
    await press(pilot, "right", "space", "down", "right", "space")
    await until_seen(pilot, "2 settings", "at worst")


def live_round(place: Place) -> ResitApp:
    app = ResitApp(first=LiveScreen(now=lambda: NOW))
    app.session.begin(StubRunner(), place.suite, place.now)
    return app


async def live_shown(pilot: Pilot[int]) -> None:
    app = pilot.app
    assert isinstance(app, ResitApp)
    record = RunRecord(question="minutes", setting=SONNET, run=1, prompt="p", attempts=())
    fault = Fault(kind="limit", said="rate limit: 50 calls a minute")
    await press(pilot, "w")
    feed(
        app,
        started(HAIKU, SONNET),
        *(kept(n, HAIKU) for n in range(18)),
        *(kept(n, HAIKU, "miss", "211") for n in range(18, 20)),
        *(kept(n, SONNET) for n in range(20, 29)),
        kept(29, SONNET, "empty", ""),
        RunKept(NOW, record, row("minutes", SONNET, 1, "miss", "210 minutes")),
        sent("product", SONNET),
        AttemptFailed(NOW, run_key("product", SONNET, 1), fault, 1, NOW + timedelta(seconds=31)),
        sent("leap-year", SONNET, ago_s=75),
        sent("minutes", HAIKU, ago_s=2),
        Spent(Decimal("0.0031"), Decimal("0.0004"), False),
    )
    await until_seen(pilot, "210 minutes")
    feed(app, Streamed(run_key("minutes", HAIKU, 1), "text", "3.5 hours of 60 minutes each are"))
    await until_seen(pilot, "3.5 hours of")


async def ended_shown(pilot: Pilot[int]) -> None:
    app = pilot.app
    assert isinstance(app, ResitApp)
    fault = Fault(kind="model", said="no model claude-sonnet-5-5 here: resit models lists them")
    app.session._runner = None
    end = app.session.ended = ended("settings", "a setting could not go on; all that came is kept", owed=40)
    feed(app, started(HAIKU, SONNET), *(kept(n, HAIKU, "miss" if n % 7 == 3 else "pass", "211") for n in range(40)))
    feed(app, SettingStopped(NOW, SONNET, fault), end)
    await until_seen(pilot, "all that came is kept", "stopped")


def rounds(place: Place) -> ResitApp:
    return ResitApp(first=RoundsScreen(place.suite))


async def rounds_shown(pilot: Pilot[int]) -> None:
    await until_seen(pilot, "2 rounds")
    await press(pilot, "space", "down")
    await until_seen(pilot, "One round marked")


def spend(place: Place) -> ResitApp:
    return ResitApp(first=SpendScreen())


async def spend_shown(pilot: Pilot[int]) -> None:
    await until_seen(pilot, "total", "spent this month", "$0┤")


def over_time(place: Place) -> ResitApp:
    return ResitApp(first=HistoryScreen(place.suite))


async def over_time_shown(pilot: Pilot[int]) -> None:
    await until_seen(pilot, "2 rounds", "100%┤")


def gates(place: Place) -> ResitApp:
    return ResitApp(first=GatesScreen(place.suite, [place.before]))


async def gates_shown(pilot: Pilot[int]) -> None:
    await until_seen(pilot, "kinds decided", "4 ceiling")


def compare(place: Place) -> ResitApp:
    return ResitApp(first=CompareScreen(place.suite, place.before, place.now))


async def compare_shown(pilot: Pilot[int]) -> None:
    await until_seen(pilot, "28 Nov 14:02 → 29 Nov 09:02", "leap-year")


async def help_shown(pilot: Pilot[int]) -> None:
    await until_seen(pilot, "Pick a model")
    await press(pilot, "question_mark")
    await until_seen(pilot, "This screen")


async def quit_shown(pilot: Pilot[int]) -> None:
    await live_shown(pilot)
    await press(pilot, "ctrl+q")
    await until_seen(pilot, "stop and save, then quit")


Shown = Callable[[Pilot[int]], Awaitable[None]]
SCENES: dict[str, tuple[Callable[[Place], ResitApp], Shown]] = {
    "suites": (suites, suites_shown),
    "setup": (setup, setup_shown),
    "live": (live_round, live_shown),
    "rounds": (rounds, rounds_shown),
    "spend": (spend, spend_shown),
    "compare": (compare, compare_shown),
    "history": (over_time, over_time_shown),
    "gates": (gates, gates_shown),
    "help": (setup, help_shown),
    "quit": (live_round, quit_shown),
}


OTHER_STATES: dict[str, tuple[Callable[[Place], ResitApp], Shown]] = {
    "faults": (suites, faults_shown),
    "ended": (live_round, ended_shown),
}
BOTH_SIZES = ((80, 24), (120, 40))
LOOKS: list[tuple[str, tuple[int, int], str]] = [
    *((scene, size, theme) for scene in SCENES for size in BOTH_SIZES for theme in ("dark", "light")),
    *((scene, BOTH_SIZES[0], "dark") for scene in OTHER_STATES),
]


@pytest.mark.parametrize(
    ("scene", "size", "theme"), LOOKS, ids=[f"{scene}-{wide}x{high}-{theme}" for scene, (wide, high), theme in LOOKS]
)
async def test_looks_as_kept(place: Place, scene: str, size: tuple[int, int], theme: str) -> None:
    make, shown = (SCENES | OTHER_STATES)[scene]
    app = make(place)
    app.theme = f"resit-{theme}"
    async with app.run_test(size=size) as pilot:
        await shown(pilot)
        await pilot.pause()
        await pilot.pause()
        assert_looks(app, f"{scene}-{size[0]}x{size[1]}-{theme}")
