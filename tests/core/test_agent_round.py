"""Agents in a round: how many at a time, at what price, under which cap, and what the round says of them."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from round_kit import HeldClock, make_suite, of_kind, reply

import agent_kit as kit
from resit.core.agents.command_client import CommandClient, Ground
from resit.core.calling.client import Listener
from resit.core.config import ModelsFile
from resit.core.records import Fault, Reply, Request, Setting
from resit.core.rounds.clock import Clock
from resit.core.rounds.events import Event, RunKept, SettingStopped, Streamed
from resit.core.rounds.session import Prepared, open_round, prepare_round
from resit.core.spend.ledger import Ledger
from resit.core.suite import Question, Suite

AGENT = Setting(model=kit.MODEL, provider="command")
CODEX = Setting(model="codex/gpt-6-sol", effort="low", provider="command")


class Held:
    """Stands in for all agents: counts how many are at work."""

    def __init__(self) -> None:
        self.asked: list[Request] = []
        self.out = self.most_out = 0

    async def ask(self, request: Request, listen: Listener | None = None) -> Reply | Fault:
        self.asked.append(request)
        self.out += 1
        self.most_out = max(self.most_out, self.out)
        for _ in range(5):
            await asyncio.sleep(0)
        self.out -= 1
        return reply("2")

    async def close(self) -> None:
        """Nothing to do."""


@pytest.fixture
def suite_file(tmp_path: Path) -> Path:
    path = tmp_path / "exam" / "sums.toml"
    path.parent.mkdir()
    path.write_text("")
    return path


def prepare(
    folder: Path, suite: Suite, settings: Sequence[Setting], table: dict[str, Any] | None = None, **more: Any
) -> Prepared:
    file = ModelsFile.model_validate({"models": {kit.MODEL: table} if table else {}})
    fields: dict[str, Any] = {
        "rounds_dir": folder / "rounds", "models_file": file, "environ": dict(os.environ), "cwd": folder,
        "ledger": Ledger(folder / "ledger.jsonl"), "clock": Clock(),
    }  # fmt: skip
    return prepare_round(suite, settings, **(fields | more))


async def test_a_round_of_agents_is_asked_kept_graded_and_not_asked_again(tmp_path: Path, suite_file: Path) -> None:
    suite = make_suite(2).replaced(path=suite_file)
    program = kit.write_program(
        tmp_path, "agent", "print(int(prompt.partition('+')[0]) * 2 if prompt.startswith('1') else 'no')"
    )
    events: list[Event] = []
    prepared = prepare(tmp_path, suite, [AGENT], kit.entry(program))
    assert prepared.problems == ()
    assert prepared.endpoints == ("command:my-agent",)
    runner = prepared.start(events.append)
    ended = await runner.run()
    assert ended.reason == "done"
    rows = [event.row for event in of_kind(events, RunKept)]
    assert sorted((row.outcome, row.cost_usd) for row in rows) == [("miss", None), ("pass", None)]
    found = open_round(runner.store.path)
    record = found.store.read("q1__my-agent-default__r1")
    assert record is not None
    attempt = record.attempts[0].reply
    assert attempt is not None
    assert attempt.agent is not None
    assert attempt.agent.isolation == kit.BEST
    again = prepare(tmp_path, suite, [AGENT], kit.entry(program))
    assert again.resumes
    assert again.plan.jobs == ()


async def test_what_an_agent_says_is_heard_by_whoever_watches(tmp_path: Path, suite_file: Path) -> None:
    suite = make_suite(1).replaced(path=suite_file)
    program = kit.write_program(tmp_path, "agent", "print('2')")
    events: list[Event] = []
    runner = prepare(tmp_path, suite, [AGENT], kit.entry(program)).start(events.append)
    runner.watch("q1__my-agent-default__r1")
    await runner.run()
    assert "".join(event.text for event in of_kind(events, Streamed)) == "2\n"


async def test_two_agents_work_at_a_time_unless_more_are_wanted(tmp_path: Path, suite_file: Path) -> None:
    suite = make_suite(9).replaced(path=suite_file)
    for wanted, most in ((None, 2), (5, 5)):
        held = Held()
        prepared = prepare(
            tmp_path / str(most), suite, [AGENT], kit.entry(Path("/bin/cat")), clients={"command": held},
            concurrency=wanted, clock=HeldClock(),
        )  # fmt: skip
        await prepared.start(lambda event: None).run()
        assert held.most_out == most


def test_an_agent_gets_its_files_beside_the_prompt_and_a_model_in_it(tmp_path: Path, suite_file: Path) -> None:
    question = Question(id="q", prompt="Sum it.", accept=("42",), files=("data.csv",))
    suite = make_suite(1, questions=(question,), attached={"data.csv": "12,30"}).replaced(path=suite_file)
    both = prepare(tmp_path, suite, [AGENT, Setting(model="m")], kit.entry(Path("/bin/cat")))
    agent, model = (job.request for job in both.plan.jobs)
    assert agent.files == (("data.csv", "12,30"),)
    assert "12,30" not in agent.prompt
    assert "data.csv" in agent.prompt
    assert (model.files, "12,30" in model.prompt) == ((), True)
    assert agent.digest() != model.digest()


def test_an_agent_that_is_not_installed_stops_itself_alone_with_a_mend(tmp_path: Path, suite_file: Path) -> None:
    suite = make_suite(1).replaced(path=suite_file)
    prepared = prepare(tmp_path, suite, [CODEX, AGENT], kit.entry(Path("/bin/cat")), environ={"PATH": str(tmp_path)})
    assert [problem.setting for problem in prepared.problems] == [CODEX]
    assert "codex is not on PATH" in prepared.problems[0].said
    assert "npm install" in prepared.problems[0].said


async def test_an_agent_that_stops_being_there_ends_its_setting_and_not_the_round(
    tmp_path: Path, suite_file: Path
) -> None:
    suite = make_suite(3).replaced(path=suite_file)
    program = kit.write_program(tmp_path, "agent", "print('2')")
    prepared = prepare(tmp_path, suite, [AGENT], kit.entry(program))
    events: list[Event] = []
    runner = prepared.start(events.append)
    program.unlink()
    ended = await runner.run()
    assert ended.reason == "settings"
    assert "is not on PATH" in of_kind(events, SettingStopped)[0].fault.said


def test_under_a_cap_a_run_is_told_to_stop_at_a_budget_and_that_much_is_held(tmp_path: Path, suite_file: Path) -> None:
    suite = make_suite(1).replaced(path=suite_file)
    capped = prepare(tmp_path, suite, [CODEX], cap_usd=Decimal(5), clients={"command": Held()})
    assert capped.round.settings[0].budget_usd == Decimal(1)
    free = prepare(tmp_path, suite, [CODEX], clients={"command": Held()})
    assert free.round.settings[0].budget_usd is None
    unpriced = prepare(tmp_path, suite, [AGENT], kit.entry(Path("/bin/cat")), cap_usd=Decimal(5))
    assert "no price" in unpriced.problems[0].said


async def test_a_planted_key_is_in_no_file_that_a_round_leaves(tmp_path: Path, suite_file: Path) -> None:
    secret = "planted-0123456789-abcdefghij-secret"
    suite = make_suite(2).replaced(path=suite_file)
    code = """
        print(os.environ["MY_KEY"], file=sys.stderr)
        print("2", os.environ["MY_KEY"])
        sys.exit(0 if prompt.startswith("1") else 3)
    """
    program = kit.write_program(tmp_path, "agent", code)
    events: list[Event] = []
    prepared = prepare(
        tmp_path, suite, [AGENT], kit.entry(program, env=["MY_KEY"]), environ={**os.environ, "MY_KEY": secret}
    )
    runner = prepared.start(events.append)
    runner.watch("q1__my-agent-default__r1")
    await runner.run()
    assert len(of_kind(events, RunKept)) == 2
    left = [path for path in (tmp_path / "rounds").rglob("*") if path.is_file()]
    assert len(left) > 4
    kept = b"".join(path.read_bytes() for path in (*left, tmp_path / "ledger.jsonl"))
    assert b"[key hidden]" in kept
    assert b"planted-0123" not in kept
    assert "planted-0123" not in repr(events)


def test_a_small_cap_makes_the_budgets_small(tmp_path: Path, suite_file: Path) -> None:
    suite = make_suite(2).replaced(path=suite_file)
    prepared = prepare(tmp_path, suite, [CODEX], cap_usd=Decimal("0.50"), clients={"command": Held()})
    assert prepared.round.settings[0].budget_usd == Decimal("0.125")
    assert (prepared.estimate.worst_usd, prepared.estimate.unbounded) == (Decimal("0.25"), ())


async def test_a_cap_below_one_runs_budget_starts_no_agent(tmp_path: Path, suite_file: Path) -> None:
    suite = make_suite(2).replaced(path=suite_file)
    held = Held()
    file = ModelsFile.model_validate({"models": {CODEX.model: {"budget_usd": 2}}})
    prepared = prepare(
        tmp_path, suite, [CODEX], cap_usd=Decimal(1), clients={"command": held}, clock=HeldClock(), models_file=file
    )
    ended = await prepared.start(lambda event: None).run()
    assert (ended.reason, held.asked) == ("cap", [])


def test_without_a_budget_nothing_bounds_an_agents_run_and_that_is_said(tmp_path: Path, suite_file: Path) -> None:
    suite = make_suite(1).replaced(path=suite_file)
    expected = prepare(tmp_path, suite, [CODEX], clients={"command": Held()}).estimate
    assert (expected.worst_usd, expected.unbounded) == (Decimal(0), (CODEX.model,))


def test_the_version_of_an_agent_is_written_into_the_round(
    tmp_path: Path, suite_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "node_modules/@openai/codex"
    (package / "bin").mkdir(parents=True)
    (package / "package.json").write_text('{"version": "0.171.0"}')
    kit.write_program(package / "bin", "codex", "print(1)")
    monkeypatch.setenv("PATH", f"{package / 'bin'}{os.pathsep}{os.environ['PATH']}")
    prepared = prepare(tmp_path, make_suite(1).replaced(path=suite_file), [CODEX], clients={"command": Held()})
    assert prepared.round.versions["codex"] == "0.171.0"


def test_a_job_holds_nothing_of_what_is_accepted(tmp_path: Path, suite_file: Path) -> None:
    question = Question(id="q", prompt="Which?", accept=("accepted-answer",))
    suite = make_suite(1, questions=(question,)).replaced(path=suite_file)
    prepared = prepare(tmp_path, suite, [CODEX], clients={"command": Held()})
    asking = CommandClient(ModelsFile(), Ground())
    assert "accepted-answer" not in repr(asking.job(prepared.plan.jobs[0].request))
