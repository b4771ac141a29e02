"""What the tests of rounds share: suites, scripted clients, time held in the hand."""

from __future__ import annotations

import asyncio
from collections import Counter, deque
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import TypeVar

from resit.core.calling.client import Client, Delta, Listener
from resit.core.config import ModelsFile, PriceEntry
from resit.core.records import Attempt, Fault, Reply, Request, RunRecord, Setting, Usage
from resit.core.rounds.clock import Clock
from resit.core.rounds.events import Event
from resit.core.rounds.plan import PlannedSetting, RoundPlan
from resit.core.spend.prices import Price
from resit.core.suite import Question, Suite

START = datetime(2026, 11, 30, 9, 0, tzinfo=UTC)
A = Setting(model="model-a", effort="low")
B = Setting(model="model-b")
ENDPOINT = "http://127.0.0.1:1"
PRICE = Price(input=Decimal(1), output=Decimal(10), source="test")
PRICES = ModelsFile(
    prices={name: PriceEntry(input=Decimal(1), output=Decimal(10)) for name in ("model-a", "model-b", "model-c")}
)
USAGE = Usage(input_tokens=100, output_tokens=10)
"""Costs 0.0002 dollars at `PRICE`."""


def make_suite(count: int = 3, *, name: str = "sums", **changes: object) -> Suite:
    questions = tuple(Question(id=f"q{n}", prompt=f"{n}+{n}?", accept=(str(2 * n),)) for n in range(1, count + 1))
    fields: dict[str, object] = {"name": name, "title": "Sums", "repeats": 1, "max_tokens": 50, "questions": questions}
    return Suite.model_validate(fields | changes)


def make_round_plan(
    suite: Suite, settings: Iterable[Setting] = (A,), *, repeats: int = 1, price: Price | None = PRICE, **more: object
) -> RoundPlan:
    fields: dict[str, object] = {
        "id": f"20261130-090000-{suite.name}",
        "suite": suite.name,
        "title": suite.title,
        "suite_digest": suite.digest,
        "rule_digest": suite.rule_digest,
        "rule_set_at": START,
        "created_at": START,
        "settings": tuple(PlannedSetting(setting=s, endpoint=ENDPOINT, price=price) for s in settings),
        "repeats": repeats,
        "first_repeats": repeats,
    }
    return RoundPlan.model_validate(fields | more)


def reply(text: str, **changes: object) -> Reply:
    return Reply.model_validate({"text": text, "seconds": 0.5, "usage": USAGE, **changes})


def record(
    request: Request, answer: Reply | Fault, *, question: str = "q1", setting: Setting = A, run: int = 1
) -> RunRecord:
    attempt = Attempt(
        number=1,
        at=START,
        asked=request.digest(),
        reply=answer if isinstance(answer, Reply) else None,
        fault=answer if isinstance(answer, Fault) else None,
        cost_usd=Decimal("0.0002"),
    )
    return RunRecord(question=question, setting=setting, run=run, prompt=request.prompt, attempts=(attempt,))


def right(request: Request) -> Reply:
    """The right answer to `n+n?`."""
    return reply(str(2 * int(request.prompt.partition("+")[0])))


E = TypeVar("E")
Script = Callable[[Request], Reply | Fault]


class ScriptedClient:
    """Answers by a function; counts what it is asked and how many calls are out at once."""

    def __init__(self, script: Script = right, *, first: Mapping[str, list[Reply | Fault]] | None = None) -> None:
        self.script = script
        self.first = {prompt: deque(answers) for prompt, answers in (first or {}).items()}
        """What the first calls with a prompt meet, before the script is asked."""
        self.asked: list[Request] = []
        self.out = self.most_out = 0
        self.closed = False
        self.gate: asyncio.Event | None = None
        """When there is one, calls wait for it."""

    async def ask(self, request: Request, listen: Listener | None = None) -> Reply | Fault:
        self.asked.append(request)
        self.out += 1
        self.most_out = max(self.most_out, self.out)
        try:
            await asyncio.sleep(0)
            if self.gate is not None:
                await self.gate.wait()
            answer = self._answer(request)
        finally:
            self.out -= 1
        if listen is not None and isinstance(answer, Reply):
            listen(Delta("text", answer.text))
        return answer

    async def close(self) -> None:
        self.closed = True

    @property
    def counts(self) -> Counter[tuple[str, str]]:
        """Calls by model and prompt."""
        return Counter((request.model, request.prompt) for request in self.asked)

    def _answer(self, request: Request) -> Reply | Fault:
        planned = self.first.get(request.prompt)
        return planned.popleft() if planned else self.script(request)


class HeldClock(Clock):
    """Time that passes only while everybody waits."""

    def __init__(self) -> None:
        self.passed_s = 0.0

    def now(self) -> datetime:
        return START + timedelta(seconds=self.passed_s)

    def monotonic_s(self) -> float:
        return self.passed_s

    async def wait(self, event: asyncio.Event, timeout_s: float | None) -> None:
        for _ in range(30):
            if event.is_set():
                return
            await asyncio.sleep(0)
        if timeout_s is None:
            await event.wait()
        else:
            self.passed_s += timeout_s


class Full:
    """A disk that is full after some result files."""

    def __init__(self, write: Callable[[Path, bytes], None], results: int) -> None:
        self.write = write
        self.left = results

    def __call__(self, path: Path, data: bytes) -> None:
        if path.parent.name == "results":
            if self.left == 0:
                raise OSError(28, "No space left on device")
            self.left -= 1
        self.write(path, data)


def of_kind(events: Iterable[Event], kind: type[E]) -> list[E]:
    return [event for event in events if isinstance(event, kind)]


def clients(client: Client) -> dict[str, Client]:
    """The same client for the usual provider."""
    return {"anthropic": client}
