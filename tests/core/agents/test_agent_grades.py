"""An agent's run that is no fair answer is told apart from a wrong one."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from resit.core.records import AgentRun, Attempt, Reply, RunRecord, Setting, Stop, Verified
from resit.core.scoring.grade import Grade, grade
from resit.core.suite import Question

AT = datetime(2026, 11, 30, tzinfo=UTC)
QUESTION = Question(id="q", prompt="?", accept=("408",))


def graded(text: str, stop: Stop = "end", detail: str = "", *, denied: tuple[str, ...] = (), **agent: object) -> Grade:
    run = AgentRun.model_validate({"isolation": "bubblewrap", "denied": denied, **agent})
    reply = Reply(text=text, stop=stop, stop_detail=detail, seconds=1.0, agent=run)
    attempt = Attempt(number=1, at=AT, asked="a", reply=reply)
    setting = Setting(model="codex/m", provider="command")
    return grade(QUESTION, RunRecord(question="q", setting=setting, run=1, prompt="?", attempts=(attempt,)))


def test_a_miss_of_an_agent_that_was_refused_a_tool_is_blocked_and_says_which() -> None:
    found = graded("I cannot run it", denied=("Bash", "Bash", "Read"))
    assert (found.outcome, found.score) == ("blocked", None)
    assert "Bash, Read" in found.why


def test_a_right_answer_counts_though_a_tool_was_refused() -> None:
    assert graded("408", denied=("Bash",)).outcome == "pass"


def test_a_miss_without_a_refused_tool_is_a_miss() -> None:
    assert graded("409").outcome == "miss"


def test_a_key_that_was_seen_is_void_even_when_a_tool_was_refused() -> None:
    assert graded("408", denied=("Bash",), key_seen="the planted marker, in its reply").outcome == "void"


def test_touched_protected_files_are_no_excuse_of_a_refused_tool() -> None:
    question = QUESTION.model_copy(
        update={"workspace": "w", "verify": "true", "protect": ("t.py",), "verify_digest": "v"}
    )
    verified = Verified(changed=("t.py",), exit_code=0, diff="d", rule="v")
    run = AgentRun(isolation="bubblewrap", denied=("Bash",), verified=verified)
    attempt = Attempt(number=1, at=AT, asked="a", reply=Reply(text="408", seconds=1.0, agent=run))
    record = RunRecord(question="q", setting=Setting(model="m"), run=1, prompt="?", attempts=(attempt,))
    assert grade(question, record).outcome == "miss"


@pytest.mark.parametrize(
    "detail", ["Reached maximum budget ($0.5), having spent $2.8", "Reached maximum number of turns"]
)
def test_a_budget_or_a_number_of_turns_is_not_called_a_token_limit(detail: str) -> None:
    found = graded("40", "cut_off", detail)
    assert (found.outcome, found.why) == ("cut_off", f"cut off: {detail}")
