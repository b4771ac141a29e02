"""A small round on disk, as a runner would leave it, and an app to read it in; its fixtures are in conftest."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from resit.core.records import Attempt, Fault, Reply, RunRecord, Setting, Stop, Usage

if TYPE_CHECKING:
    from resit.core.suite import Suite
    from resit.tui.app import ResitApp
    from resit.tui.round_view import RoundView

BEGAN = datetime(2026, 11, 28, 14, 2, tzinfo=UTC)
HAIKU = Setting(model="claude-haiku-5-5", effort="low")
SONNET = Setting(model="claude-sonnet-5-5", effort="low")
ENDPOINT = "https://api.anthropic.com"

SUITE = """
title = "Short answers"
about = "Facts and small sums with one checkable answer each."
instruction = "Give the final answer and nothing else."
second_rule = "number_in_reply"
max_tokens = 200

[[questions]]
id = "minutes"
kind = "arithmetic"
prompt = "How many minutes are in 3.5 h?"
accept = ["210"]
traps = [{ reply = "305", why = "hours read as hundreds" }]

[[questions]]
id = "product"
kind = "arithmetic"
prompt = "What is 17 times 24?"
accept = ["408"]

[[questions]]
id = "leap-year"
kind = "dates"
prompt = "How many days does a leap year have?"
accept = ["366"]
traps = [{ reply = "365", why = "an ordinary year" }]

[[questions]]
id = "sign-off"
kind = "instructions"
prompt = "Name the product of 17 and 23 in one sentence and end with Cheers."
checks = [
  { name = "product", contains = "391" },
  { name = "no_list", no_list = true },
  { name = "cheers", last_line = "Cheers" },
]
"""


def reply(text: str, stop: Stop = "end", **more: object) -> Reply:
    fields: dict[str, object] = {
        "text": text,
        "stop": stop,
        "usage": Usage(input_tokens=41, output_tokens=5),
        "seconds": 0.8,
        "first_token_s": 0.31,
        "model": "claude-sonnet-5-5-20261001",
        "request_id": "req_01",
    }
    return Reply.model_validate(fields | more)


Answers = dict[tuple[str, str], tuple[str | Reply | Fault, ...]]
ANSWERS: Answers = {
    ("minutes", "haiku"): ("210", "210"),
    ("minutes", "sonnet"): ("210 minutes", "210"),
    ("product", "haiku"): ("408", "408"),
    ("product", "sonnet"): ("408", "The product is 408."),
    ("leap-year", "haiku"): ("365", "366"),
    ("leap-year", "sonnet"): ("366", reply("A leap year has", "cut_off")),
    ("sign-off", "haiku"): ("It is 391.\nCheers", "- 391\nCheers"),
    ("sign-off", "sonnet"): ("It is 391.\nCheers", Fault(kind="limit", said="rate limit: 50 calls a minute")),
}
"""By question and setting, one a run."""


@pytest.fixture
def suite(tmp_path: Path) -> Suite:
    """The suite, in a file of its own."""
    from resit.core.suite_file import load_suite

    path = tmp_path / "short-answers.toml"
    path.write_text(SUITE, encoding="utf-8")
    return load_suite(path)


def keep_round(
    suite: Suite,
    answers: Answers,
    *,
    settings: Sequence[Setting] = (HAIKU, SONNET),
    name: str = "20261128-1402",
    at: datetime = BEGAN,
) -> Path:
    """Write a round of `suite` with these answers; its folder."""
    from resit.core import paths
    from resit.core.rounds.plan import PlannedSetting, RoundPlan, build_request
    from resit.core.rounds.store import RoundStore

    repeats = max(len(said) for said in answers.values())
    plan = RoundPlan(
        id=name,
        suite=suite.name,
        title=suite.title,
        suite_path=str(suite.path),
        suite_digest=suite.digest,
        rule_digest=suite.rule_digest,
        rule_set_at=at,
        created_at=at,
        settings=tuple(PlannedSetting(setting=s, endpoint=ENDPOINT) for s in settings),
        repeats=repeats,
        first_repeats=repeats,
    )
    store = RoundStore.create(paths.rounds_dir(), plan, suite)
    words = {setting.model.split("-")[1]: setting for setting in settings}
    for (question, word), said in answers.items():
        if word not in words:
            continue
        request = build_request(suite, suite.by_id[question], words[word], ENDPOINT)
        for run, answer in enumerate(said, 1):
            attempt = Attempt(
                number=1,
                at=at + timedelta(seconds=run),
                asked=request.digest(),
                reply=reply(answer) if isinstance(answer, str) else answer if isinstance(answer, Reply) else None,
                fault=answer if isinstance(answer, Fault) else None,
                cost_usd=Decimal("0.0001"),
            )
            store.put(
                RunRecord(question=question, setting=words[word], run=run, prompt=request.prompt, attempts=(attempt,))
            )
    return store.path


@pytest.fixture
def round_path(suite: Suite) -> Path:
    """A finished round: 16 runs, six of them below full marks."""
    return keep_round(suite, ANSWERS)


@pytest.fixture
def view(round_path: Path) -> RoundView:
    """The round, opened."""
    from resit.tui.round_view import RoundView

    return RoundView.at(round_path)


@pytest.fixture
def app_on() -> Callable[[object], ResitApp]:
    """An app that begins with a given screen."""
    from textual.screen import Screen

    from resit.tui.app import ResitApp

    def make(screen: object) -> ResitApp:
        assert isinstance(screen, Screen)
        return ResitApp(first=screen)

    return make


def screen_lines(app: ResitApp) -> list[str]:
    """What stands on the screen."""
    return [strip.text.rstrip() for strip in app.screen._compositor.render_strips()]


def screen_text(app: ResitApp) -> str:
    """What stands on the screen, as one text."""
    return "\n".join(screen_lines(app))
