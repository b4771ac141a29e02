"""What the tests of batches share: a small round, asked in batches of a server on loopback."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from decimal import Decimal
from pathlib import Path
from typing import Any

from round_kit import PRICES, A, B, make_suite

from mock_server import MockServer, serve_in_thread
from resit.core.rounds.batch_room import PollPace
from resit.core.rounds.batch_runner import BatchRunner
from resit.core.rounds.events import BatchesChanged, Event, RoundEnded, RunKept
from resit.core.rounds.session import Prepared, prepare_round
from resit.core.rounds.store import RoundStore
from resit.core.spend.ledger import Ledger, LedgerEntry
from resit.core.suite import Suite

QUESTIONS = 10
SUITE = make_suite(QUESTIONS)
QUICK = PollPace(first_s=0.01, factor=1.5, most_s=0.05)
COST = Decimal("0.000015")
"""Of one answer of one token, at the batch price of `PRICES`: 20 tokens at 0.50 and 1 at 5 dollars a million."""
KEY = "sk-ant-planted-0123456789abcdef"


@contextmanager
def serving(suite: Suite = SUITE, **options: Any) -> Iterator[MockServer]:
    """A server that answers right."""
    with serve_in_thread(MockServer(answers={q.prompt: q.accept[0] for q in suite.questions}, **options)) as server:
        yield server


class Desk:
    """One person's folder, and the command they type."""

    def __init__(self, folder: Path, server: MockServer | str) -> None:
        self.folder = folder
        self._server = server
        self.events: list[Event] = []
        self.on_event: Callable[[Event], None] = lambda event: None

    @property
    def server(self) -> MockServer:
        """The server, where it is one of this process."""
        assert isinstance(self._server, MockServer)
        return self._server

    def prepare(self, suite: Suite = SUITE, **more: Any) -> Prepared:
        fields: dict[str, Any] = {
            "batch": True,
            "base_url": self._server if isinstance(self._server, str) else self._server.url,
            "models_file": PRICES,
            "rounds_dir": self.folder / "rounds",
            "ledger": Ledger(self.folder / "ledger.jsonl"),
            "environ": {"ANTHROPIC_API_KEY": KEY},
            "cwd": self.folder,
            "poll": QUICK,
        }
        return prepare_round(suite, more.pop("settings", (A, B)), more.pop("repeats", 1), **(fields | more))

    def runner(self, suite: Suite = SUITE, **more: Any) -> BatchRunner:
        runner = self.prepare(suite, **more).start(self.emit)
        assert isinstance(runner, BatchRunner)
        return runner

    async def run(self, suite: Suite = SUITE, **more: Any) -> RoundEnded:
        return await self.runner(suite, **more).run()

    def emit(self, event: Event) -> None:
        self.events.append(event)
        self.on_event(event)

    @property
    def store(self) -> RoundStore:
        return RoundStore.find(self.folder / "rounds", "last")

    @property
    def outcomes(self) -> dict[tuple[str, str], str]:
        """The last outcome of each run, by question and setting."""
        return {(e.row.question, e.row.setting): e.row.outcome for e in self.events if isinstance(e, RunKept)}

    @property
    def said(self) -> list[str]:
        """Every state that a batch was said to be in, each once in a row."""
        states = [b.state for event in self.events if isinstance(event, BatchesChanged) for b in event.batches]
        return [state for at, state in enumerate(states) if at == 0 or states[at - 1] != state]

    @property
    def ledger(self) -> tuple[LedgerEntry, ...]:
        return Ledger(self.folder / "ledger.jsonl").read().entries
