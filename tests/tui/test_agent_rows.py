"""Command-line agents among the models of Set up, and their runs in the miss pane."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from resit.core.judging.agent_words import agent_facts, agent_texts, steps_said
from resit.core.records import AgentRun, QuotaReading, Reply, Step, Verified, run_key
from resit.core.suite import Suite
from resit.tui.app import ResitApp
from resit.tui.figures import short_setting
from resit.tui.miss_text import pane_text
from resit.tui.model_rows import known_rows
from resit.tui.round_view import RoundView
from resit.tui.screens.miss import MissScreen
from saved_round import HAIKU, keep_round, screen_text


def test_an_agent_is_offered_when_it_is_installed_and_says_how_to_get_it_when_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "there"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    Path(os.environ["RESIT_HOME"], "models.toml").write_text(
        f'[models.mine]\nprovider = "command"\ncommand = ["{program}", "-e", "{{effort}}"]\n'
        '[models.gone]\nprovider = "command"\ncommand = ["no-such-agent"]\n'
        '[models."codex/gpt-6-sol"]\n'
    )
    monkeypatch.setenv("PATH", str(tmp_path))
    rows = {row.model: row for row in known_rows(tmp_path)}
    assert (rows["mine"].note, rows["mine"].problem) == ("✓ found", "")
    assert rows["mine"].efforts == (None, "low", "medium", "high", "xhigh", "max")
    assert rows["gone"].note == "✗ missing"
    assert "no-such-agent is not on PATH" in rows["gone"].problem
    assert "npm install -g @openai/codex" in rows["codex/gpt-6-sol"].problem
    assert rows["codex/gpt-6-sol"].provider == "command"


def reply(**agent: object) -> Reply:
    run = AgentRun.model_validate({"isolation": "landlock", **agent})
    return Reply(text="408", seconds=1.0, turns=3, agent=run)


def test_how_an_agent_was_kept_in_and_what_it_was_refused_is_said() -> None:
    quota = (QuotaReading(window_minutes=300, used_percent=37.5), QuotaReading(window_minutes=10_080, used_percent=62))
    facts = dict(agent_facts(reply(denied=("Bash", "Bash"), retries=1, api_seconds=1.25, quota=quota)))
    assert facts["agent"] == "isolated by landlock · 3 turns · 1 retry · its model took 1.2 s"
    assert facts["refused"] == "Bash"
    assert facts["quota"] == "37.5 % of 5 h used, 62 % of 7 days used"
    assert dict(agent_facts(reply(isolation="none")))["agent"].startswith("not isolated")
    assert agent_facts(Reply(text="", seconds=1.0)) == []


def test_what_an_agent_changed_is_told_on_one_line() -> None:
    diff = "--- a/calc.py\n+++ b/calc.py\n@@ -1,1 +1,2 @@\n-a\n+b\n+c\n--- /dev/null\n+++ b/new.py\n@@ -0,0 +1,1 @@\n+d"
    facts = dict(agent_facts(reply(verified=Verified(diff=diff))))
    assert facts["changed"] == "calc.py +2 −1, new.py +1 −0"


def test_the_pane_names_the_tests_that_failed_and_counts_the_others(suite: Suite) -> None:
    names = tuple(f"tests.test_{n}" for n in range(30))
    question = suite.by_id["leap-year"].replaced(accept=(), workspace="given", verify="make check")
    code = suite.replaced(questions=(question,), path=None)
    work = Verified(tests=names, failed=names[:25], exit_code=1, rule=question.verify_digest)
    said = Reply(text="done", seconds=2.0, agent=AgentRun(isolation="bubblewrap", verified=work))
    view = RoundView.at(keep_round(code, {("leap-year", "haiku"): (said,)}, settings=(HAIKU,)))
    text = pane_text(view.miss(run_key("leap-year", HAIKU, 1)), 60).plain
    assert "✗ tests.test_0: failed" in text
    assert "5 more, enter opens" in text
    assert "✓ 5 passed, enter opens" in text
    assert "tests.test_29" not in text


def test_every_step_is_told_in_order_with_who_speaks() -> None:
    steps = (
        Step(kind="thinking", text="hm"),
        Step(kind="tool", text="a.txt", tool="Read"),
        Step(kind="result", text="alpha\nbeta", tool="Read"),
        Step(kind="result", text="", tool="Read"),
        Step(kind="text", text="408"),
        Step(kind="note", text="the server said 529"),
    )
    said = steps_said(AgentRun(isolation="none", steps=steps))
    assert said.split("\n\n") == [
        "thinks: hm", "calls Read: a.txt", "  alpha\n  beta", "  (nothing)", "says: 408", "note: the server said 529",
    ]  # fmt: skip


def test_what_an_agent_changed_and_what_verify_printed_can_be_read() -> None:
    work = Verified(diff="--- a\n+++ b", output="1 failed", exit_code=1)
    headings = dict(agent_texts(AgentRun(isolation="none", verified=work)))
    assert headings == {"What it changed": "--- a\n+++ b", "What verify printed": "1 failed"}


@pytest.mark.parametrize(
    ("label", "short"),
    [
        ("claude-code/claude-haiku-5-5 low", "cc/haiku-5-5 low"),
        ("claude-haiku-5-5 low", "haiku-5-5 low"),
        ("codex/gpt-6-sol default", "codex/gpt-6-sol"),
        ("gemini/gemini-3.8-flash default", "gemini/3.8-flash"),
        ("agy/claude-opus-5-5 high", "agy/opus-5-5 high"),
        ("ollama/llama3.2 default", "llama3.2"),
    ],
)
def test_a_model_asked_by_an_agent_never_reads_like_the_same_model_asked_directly(label: str, short: str) -> None:
    assert short_setting(label) == short


HOSTILE = "[bold red]\x1b[31mred[/] [@click=app.quit]x"


def agent_round(suite: Suite) -> RoundView:
    steps = (
        Step(kind="thinking", text="hm"),
        Step(kind="tool", text=f"cat {HOSTILE}", tool="Bash"),
        Step(kind="result", text=f"{HOSTILE}\nsecond line", tool="Bash"),
    )
    work = Verified(diff="--- a/sum.py\n+++ b/sum.py\n+print(2)", output="1 failed")
    run = AgentRun(isolation="bubblewrap", steps=steps, denied=("Write",), verified=work)
    said = Reply(text="365", seconds=2.0, turns=4, agent=run)
    return RoundView.at(keep_round(suite, {("leap-year", "haiku"): (said,)}, settings=(HAIKU,)))


def test_the_pane_tells_an_agents_steps_and_how_it_was_kept_in(suite: Suite) -> None:
    text = pane_text(agent_round(suite).miss(run_key("leap-year", HAIKU, 1)), 76).plain
    lines = [line.rstrip() for line in text.split("\n")]
    assert any(line.startswith("steps     3, enter opens: Bash cat [bold red]") for line in lines)
    assert any(line.startswith("agent     isolated by bubblewrap · 4 turns") for line in lines)
    assert "refused   Write" in lines
    assert "\x1b" not in text


async def test_the_whole_transcript_and_the_diff_can_be_read_and_nothing_in_them_acts(
    suite: Suite, app_on: Callable[[object], ResitApp]
) -> None:
    app = app_on(MissScreen(agent_round(suite), run_key("leap-year", HAIKU, 1)))
    async with app.run_test(size=(100, 60)) as pilot:
        await pilot.pause()
        text = screen_text(app)
        assert "Steps (3)" in text
        assert "thinks: hm" in text
        assert "calls Bash: cat [bold red]" in text
        assert "second line" in text
        assert "What it changed" in text
        assert "+print(2)" in text
        assert "What verify printed" in text
        assert "\x1b" not in text
