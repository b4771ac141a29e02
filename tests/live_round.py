"""A round that runs, made of events and of a runner that does what a test says; the time stands still."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from decimal import Decimal

from resit.core.records import Outcome, Row, RunRecord, Setting, run_key
from resit.core.rounds.events import AttemptSent, EndReason, Event, RoundEnded, RoundStarted, RunKept
from resit.core.rounds.progress import Progress, fold
from resit.tui.app import ResitApp
from saved_round import HAIKU

NOW = datetime(2026, 11, 29, 14, 2, 30, tzinfo=UTC)


class StubRunner:
    """A round that goes on until it is stopped, and remembers what it was told."""

    def __init__(self) -> None:
        self.told: list[str] = []
        self.over = asyncio.Event()
        self.end = ended("stopped", "stopped; all that came is kept", owed=3)

    async def run(self) -> RoundEnded:
        await self.over.wait()
        return self.end

    def stop(self, grace_s: float = 5.0) -> None:
        self.told.append("stop")
        self.over.set()

    def pause(self) -> None:
        self.told.append("pause")

    def resume(self) -> None:
        self.told.append("resume")

    def watch(self, key: str | None) -> None:
        self.told.append(f"watch {key}")


def ended(reason: EndReason, said: str, owed: int = 0) -> RoundEnded:
    return RoundEnded(NOW, reason, said, owed)


def started(*settings: Setting, planned: int = 40, rows: tuple[Row, ...] = ()) -> RoundStarted:
    each = tuple((setting, planned) for setting in settings)
    return RoundStarted(
        NOW - timedelta(seconds=20), planned * len(settings), len(rows), rows, "r1", each, cap_usd=Decimal("0.50")
    )


def row(question: str, setting: Setting, run: int = 1, outcome: Outcome = "pass", said: str = "210") -> Row:
    score = {"pass": 1.0, "part": 0.5, "miss": 0.0}.get(outcome)
    return Row(
        question=question, kind="sums", setting=setting.label, model=setting.model, effort=setting.effort,
        variant="plain", run=run, outcome=outcome, score=score, second_score=None,
        reason="format" if outcome == "miss" else None, failed=(), reply=said, seconds=0.8, attempts=1,
        input_tokens=40, cache_write_tokens=0, cache_read_tokens=0, output_tokens=5, thinking_tokens=None,
        cost_usd=Decimal("0.0001"), turns=None, verdict=None,
    )  # fmt: skip


def kept(number: int, setting: Setting = HAIKU, outcome: Outcome = "pass", said: str = "210") -> RunKept:
    question = f"q{number}"
    record = RunRecord(question=question, setting=setting, run=1, prompt="p", attempts=())
    return RunKept(NOW - timedelta(seconds=10 - number * 0.01), record, row(question, setting, 1, outcome, said))


def sent(question: str, setting: Setting = HAIKU, ago_s: float = 1.0) -> AttemptSent:
    return AttemptSent(NOW - timedelta(seconds=ago_s), run_key(question, setting, 1), question, setting, 1, 1)


def after(*events: Event) -> Progress:
    progress = Progress()
    for event in events:
        progress = fold(progress, event)
    return progress


def feed(app: ResitApp, *events: Event) -> None:
    for event in events:
        app.session.emit(event)
    app.tell_news()
