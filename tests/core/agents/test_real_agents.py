"""The real command-line tools, where they are installed, against servers on loopback. No real model is asked."""

from __future__ import annotations

import asyncio
import os
import shutil
from collections.abc import AsyncIterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from mock_gemini import serve_gemini
from mock_responses import serve_responses

import agent_kit as kit
from mock_server import Answer, Failure, MockServer
from resit.core.agents import process
from resit.core.agents.command_client import CommandClient, Ground
from resit.core.config import ModelsFile
from resit.core.records import Effort, Fault, Isolation, Reply, Request

KEY = "sk-ant-planted-0123456789abcdef0123456789"
CLAUDE = "claude-code/claude-haiku-5-5"
SLOW = 120


def installed(program: str) -> pytest.MarkDecorator:
    return pytest.mark.skipif(shutil.which(program) is None, reason=f"{program} is not installed on PATH")


@pytest.fixture
async def server() -> AsyncIterator[MockServer]:
    async with MockServer() as found:
        yield found


async def ask_claude(
    server: MockServer,
    prompt: str = "1+1?",
    *,
    effort: Effort | None = None,
    isolation: Isolation = kit.BEST,
    hidden: tuple[Path, ...] = (),
    **entry: Any,
) -> Reply | Fault:
    table = {"base_url": server.url, "key": "ANTHROPIC_API_KEY", **entry}
    file = ModelsFile.model_validate({"models": {CLAUDE: table}})
    asking = CommandClient(
        file, Ground(hidden, isolation), environ={**os.environ, "ANTHROPIC_API_KEY": KEY, "OTHER_KEY": KEY}
    )
    request = Request(
        "command", CLAUDE, prompt, None, 100, effort, "default", "command:claude-code", files=(("a.txt", "alpha 12"),)
    )
    async with asyncio.timeout(SLOW):
        return await asking.ask(request)


@installed("claude")
@pytest.mark.parametrize("isolation", kit.LEVELS)
async def test_claude_code_answers_at_the_effort_and_with_the_tools_it_was_given(
    server: MockServer, isolation: Isolation
) -> None:
    server.next(Answer("408"))
    answer = await ask_claude(server, "What is 17 * 24?", effort="low", isolation=isolation)
    assert isinstance(answer, Reply)
    assert (answer.text, answer.model, answer.turns) == ("408", "claude-haiku-5-5", 1)
    assert answer.usage.input_tokens == 20
    assert answer.cost_reported_usd == Decimal("0.0000025")
    body = server.calls[0].body
    assert body["output_config"] == {"effort": "low"}
    assert {"Read", "Glob", "Grep"} <= {tool["name"] for tool in body["tools"]}
    assert not {"Bash", "Edit", "Write", "Agent", "Task", "WebFetch"} & {tool["name"] for tool in body["tools"]}
    assert server.calls[0].key == KEY


@installed("claude")
async def test_claude_code_reads_the_questions_file_and_its_steps_are_kept(server: MockServer) -> None:
    server.next(Answer("Let me look.", tool=("Read", {"file_path": "a.txt"})), Answer("12"))
    answer = await ask_claude(server)
    assert isinstance(answer, Reply)
    assert answer.agent is not None
    kinds = [(step.kind, step.tool) for step in answer.agent.steps]
    assert kinds == [("text", ""), ("tool", "Read"), ("result", "Read"), ("text", "")]
    assert "alpha 12" in answer.agent.steps[2].text
    assert answer.turns == 2


@installed("claude")
@pytest.mark.parametrize("isolation", kit.LEVELS)
async def test_claude_code_cannot_read_the_keys(server: MockServer, isolation: Isolation, tmp_path: Path) -> None:
    keys = tmp_path / "exam" / "keys.toml"
    keys.parent.mkdir()
    keys.write_text('accept = ["only-in-the-keys"]')
    server.next(Answer(tool=("Read", {"file_path": str(keys)})), Answer("I could not."))
    answer = await ask_claude(server, isolation=isolation, hidden=(keys.parent,))
    assert isinstance(answer, Reply)
    assert "only-in-the-keys" not in answer.model_dump_json()
    assert "only-in-the-keys" not in str([call.body for call in server.calls])


@installed("claude")
async def test_claude_codes_errors_are_what_they_are_and_its_key_is_kept_nowhere(server: MockServer) -> None:
    server.next(*[Failure(401, "authentication_error", f"invalid key {KEY}")] * 3)
    refused = await ask_claude(server)
    assert isinstance(refused, Fault)
    assert refused.kind == "key"
    server.next(*[Failure(429, "rate_limit_error", "slow down")] * 3)
    limited = await ask_claude(server)
    assert isinstance(limited, Fault)
    assert limited.kind == "limit"
    assert KEY not in refused.model_dump_json() + limited.model_dump_json()


@installed("claude")
async def test_claude_code_that_says_nothing_is_ended_at_its_limit(
    server: MockServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process, "FINISH_S", 20.0)
    server.next("hang")
    answer = await ask_claude(server, timeout_s=4)
    assert isinstance(answer, Fault)
    assert answer.kind == "timeout"


@installed("claude")
async def test_claude_code_stops_at_its_budget_and_that_is_no_wrong_answer(server: MockServer) -> None:
    dear = {"input_tokens": 5_000_000, "output_tokens": 1_000_000}
    server.next(Answer("Looking.", tool=("Read", {"file_path": "a.txt"}), usage=dear), Answer("12"))
    answer = await ask_claude(server, budget_usd=Decimal("0.01"))
    assert isinstance(answer, Reply)
    assert answer.stop == "cut_off"
    assert "budget" in answer.stop_detail


async def ask_codex(url: str, *, effort: Effort | None = None, isolation: Isolation = kit.BEST) -> Reply | Fault:
    file = ModelsFile.model_validate({"models": {"codex/gpt-6-sol": {"base_url": url, "key": "OPENAI_API_KEY"}}})
    asking = CommandClient(file, Ground(isolation=isolation), environ={**os.environ, "OPENAI_API_KEY": KEY})
    request = Request(
        "command",
        "codex/gpt-6-sol",
        "What?",
        None,
        100,
        effort,
        "default",
        "command:codex",
        files=(("a.txt", "hi 12"),),
    )
    async with asyncio.timeout(SLOW):
        return await asking.ask(request)


@installed("codex")
@pytest.mark.parametrize("isolation", kit.LEVELS)
async def test_codex_answers_reads_its_file_and_cannot_write(isolation: Isolation) -> None:
    with serve_responses("$ cat a.txt; touch made", "408") as server:
        answer = await ask_codex(server.url, effort="low", isolation=isolation)
    assert isinstance(answer, Reply)
    assert (answer.text, answer.model, answer.turns) == ("408", "gpt-6-sol", 2)
    assert (answer.usage.input_tokens, answer.usage.cache_read_tokens) == (200, 40)
    assert (answer.usage.output_tokens, answer.usage.thinking_tokens) == (18, 8)
    assert answer.agent is not None
    result = next(step for step in answer.agent.steps if step.kind == "result")
    assert "hi 12" in result.text
    assert "Read-only file system" in result.text or "Permission denied" in result.text
    assert server.asked[0]["reasoning"]["effort"] == "low"


@installed("codex")
async def test_codex_cannot_read_the_persons_home_or_another_variable() -> None:
    with serve_responses("$ ls -A ~ | tr '\\n' ' '; env", "done") as server:
        answer = await ask_codex(server.url)
    assert isinstance(answer, Reply)
    assert answer.agent is not None
    text = next(step.text for step in answer.agent.steps if step.kind == "result")
    assert ".ssh" not in text.splitlines()[0]
    assert KEY not in answer.model_dump_json()


@installed("gemini")
async def test_gemini_reads_its_file_and_answers() -> None:
    with serve_gemini("read a.txt", "408") as server:
        file = ModelsFile.model_validate(
            {"models": {"gemini/gemini-3.8-flash": {"base_url": server.url, "key": "GEMINI_API_KEY"}}}
        )
        asking = CommandClient(file, Ground(), environ={**os.environ, "GEMINI_API_KEY": KEY})
        request = Request(
            "command", "gemini/gemini-3.8-flash", "What?", None, 100, None, "default", "command:gemini",
            files=(("a.txt", "hi 12"),),
        )  # fmt: skip
        async with asyncio.timeout(SLOW):
            answer = await asking.ask(request)
    assert isinstance(answer, Reply)
    assert answer.text == "408"
    # Both requests of 50 and 10 tokens, 10 of the first from the cache; thoughts are output, too.
    assert (answer.usage.input_tokens, answer.usage.cache_read_tokens, answer.usage.output_tokens) == (80, 20, 20)
    assert answer.agent is not None
    assert [step.tool for step in answer.agent.steps if step.kind == "tool"] == ["read_file"]
    assert "hi 12" in str(server.asked[1])


@installed("claude")
@pytest.mark.parametrize("isolation", kit.LEVELS)
async def test_claude_code_edits_and_runs_commands_in_its_copy_of_a_workspace(
    server: MockServer, isolation: Isolation, tmp_path: Path
) -> None:
    workspace = tmp_path / "work"
    workspace.mkdir()
    (workspace / "sum.py").write_text("print(1 - 1)\n")
    server.next(
        Answer(tool=("Read", {"file_path": "sum.py"})),
        Answer(tool=("Edit", {"file_path": "sum.py", "old_string": "1 - 1", "new_string": "1 + 1"})),
        Answer(tool=("Bash", {"command": "cat sum.py; touch made; ls", "description": "Look"})),
        Answer("Done."),
    )
    file = ModelsFile.model_validate({"models": {CLAUDE: {"base_url": server.url, "key": "OTHER_KEY"}}})
    asking = CommandClient(
        file, Ground(isolation=isolation), environ={**os.environ, "ANTHROPIC_API_KEY": KEY, "OTHER_KEY": KEY}
    )
    request = Request(
        "command", CLAUDE, "Mend it.", None, 100, "low", "default", "command:claude-code", workspace=workspace
    )
    async with asyncio.timeout(SLOW):
        answer = await asking.ask(request)
    assert isinstance(answer, Reply)
    assert answer.agent is not None
    assert answer.agent.denied == ()
    seen = [step.text for step in answer.agent.steps if step.kind == "result"]
    assert "print(1 + 1)" in seen[2]
    assert "made" in seen[2]
    # It was a copy.
    assert (workspace / "sum.py").read_text() == "print(1 - 1)\n"
    assert not (workspace / "made").exists()


@installed("codex")
@pytest.mark.parametrize("isolation", kit.LEVELS)
async def test_codex_changes_files_in_its_copy_of_a_workspace(isolation: Isolation, tmp_path: Path) -> None:
    workspace = tmp_path / "work"
    workspace.mkdir()
    (workspace / "a.txt").write_text("before\n")
    with serve_responses("$ echo after > a.txt; cat a.txt", "Done.") as server:
        file = ModelsFile.model_validate({"models": {"codex/gpt-6-sol": {"base_url": server.url}}})
        asking = CommandClient(file, Ground(isolation=isolation), environ={**os.environ, "OPENAI_API_KEY": KEY})
        request = Request(
            "command", "codex/gpt-6-sol", "Mend it.", None, 100, None, "default", "command:codex", workspace=workspace
        )
        async with asyncio.timeout(SLOW):
            answer = await asking.ask(request)
    assert isinstance(answer, Reply)
    assert answer.agent is not None
    assert "after" in next(step.text for step in answer.agent.steps if step.kind == "result")
    assert (workspace / "a.txt").read_text() == "before\n"
