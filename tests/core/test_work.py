"""What an agent's work is worth, decided from what was found out about it."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from resit.core.records import AgentRun, Attempt, Reply, RunRecord, Setting, Verified
from resit.core.rounds.plan import held
from resit.core.scoring.grade import Grade, grade
from resit.core.suite import Question, Suite

QUESTION = Question(id="q", prompt="?", workspace="given", verify="python3 -m unittest -v", protect=("tests/**",))
AGENT = Setting(model="agent", provider="command")


def record(text: str = "done", **verified: Any) -> RunRecord:
    fields = {"exit_code": 0, "rule": QUESTION.verify_digest, **verified}
    agent = AgentRun(isolation="bubblewrap", verified=Verified.model_validate(fields))
    reply = Reply(text=text, seconds=1.0, agent=agent)
    attempt = Attempt(number=1, at=datetime(2026, 11, 30, tzinfo=UTC), asked="a", reply=reply)
    return RunRecord(question="q", setting=AGENT, run=1, prompt="?", attempts=(attempt,))


def graded(text: str = "done", *, question: Question = QUESTION, **verified: Any) -> Grade:
    return grade(question, record(text, **verified))


@pytest.mark.parametrize(
    ("verified", "outcome", "score", "failed"),
    [
        ({"tests": ("a", "b")}, "pass", 1.0, ()),
        ({}, "pass", 1.0, ()),
        ({"tests": ("a", "b", "c", "d"), "failed": ("c",), "exit_code": 1}, "part", 0.75, ("c",)),
        ({"tests": ("a", "b"), "failed": ("a", "b"), "exit_code": 1}, "miss", 0.0, ("a", "b")),
        ({"failed": ("verify: exit code 2",), "exit_code": 2}, "miss", 0.0, ("verify: exit code 2",)),
        # Told by a runner that hides its failures: the names decide.
        ({"tests": ("a", "b"), "failed": ("b",)}, "part", 0.5, ("b",)),
        # Ended at its limit: what had passed by then counts for nothing.
        (
            {"tests": ("a",), "failed": ("verify: it took longer than 2 s",), "exit_code": None},
            "miss", 0.0, ("verify: it took longer than 2 s",),
        ),
        ({"tests": ("a",), "changed": ("tests/a.py changed",)}, "miss", 0.0, ("tests/a.py changed",)),
        (
            {"tests": ("a", "b"), "failed": ("b",), "exit_code": 1, "changed": ("tests/a.py removed",)},
            "miss", 0.0, ("tests/a.py removed", "b"),
        ),
        # Every test passes and the run fails all the same, for one more reason.
        (
            {"tests": ("a", "b", "c"), "failed": ("verify: exit code 4",), "exit_code": 4},
            "part", 0.75, ("verify: exit code 4",),
        ),
    ],
)  # fmt: skip
def test_the_share_of_tests_that_pass_is_the_score_and_those_that_fail_are_named(
    verified: dict[str, Any], outcome: str, score: float, failed: tuple[str, ...]
) -> None:
    found = graded(**verified)
    assert (found.outcome, found.score, found.failed) == (outcome, score, failed)


def test_a_touched_test_is_said_first() -> None:
    found = graded(changed=("tests/a.py changed",), tests=("a",), failed=("a",), exit_code=1)
    assert found.why.startswith("protected files were touched: tests/a.py changed")
    assert [check.name for check in found.checks if not check.passed] == ["tests/a.py changed", "a"]


@pytest.mark.parametrize(
    ("verified", "why"),
    [
        ({"stopped": "verify could not be run: No space left on device"}, "No space left on device"),
        ({"rule": "another"}, "changed since"),
    ],
)
def test_a_verify_that_gave_no_verdict_is_never_a_miss(verified: dict[str, Any], why: str) -> None:
    found = graded(**verified)
    assert (found.outcome, found.score) == ("error", None)
    assert why in found.why


def test_work_that_was_not_verified_is_never_a_miss() -> None:
    bare = record()
    reply = bare.attempts[0].reply
    assert reply is not None
    for agent in (None, AgentRun(isolation="none")):
        attempt = bare.attempts[0].model_copy(update={"reply": reply.model_copy(update={"agent": agent})})
        found = grade(QUESTION, bare.model_copy(update={"attempts": (attempt,)}))
        assert (found.outcome, found.score) == ("error", None)
        assert "only a command-line agent" in found.why


def test_an_accepted_answer_is_one_more_item_beside_the_tests() -> None:
    question = QUESTION.replaced(accept=("408",))
    assert graded("408", question=question, tests=("a",)).score == 1.0
    wrong = graded("409", question=question, tests=("a",))
    assert (wrong.score, wrong.failed) == (0.5, ("answer",))


def test_the_work_is_the_answer_of_an_agent_that_says_nothing() -> None:
    assert graded("", diff="+ solved").outcome == "pass"
    assert graded("", diff="").outcome == "empty"


def test_the_verdict_of_a_question_without_tests_is_that_nothing_was_touched() -> None:
    question = Question(id="q", workspace="given", protect=("data/**",), accept=("408",))
    assert graded("408", question=question, rule=question.verify_digest, exit_code=None).outcome == "pass"
    touched = graded("408", question=question, rule=question.verify_digest, changed=("data/a.csv changed",))
    assert (touched.score, touched.failed) == (0.0, ("data/a.csv changed",))


def test_many_failed_tests_make_one_short_sentence() -> None:
    names = tuple(f"test_{n}" for n in range(300))
    found = graded(tests=names, failed=names, exit_code=1)
    assert len(found.why) < 200
    assert found.why.startswith("300 of 300 tests failed: test_0, ")
    assert len(found.failed) == 300


@pytest.mark.parametrize("key", ["verify", "protect", "hidden_digest", "verify_seconds"])
def test_what_verifies_it_is_part_of_the_rule(key: str) -> None:
    changed = {"verify": "other", "protect": ("a",), "hidden_digest": "1", "verify_seconds": 7}[key]
    other = QUESTION.replaced(**{key: changed})
    assert other.verify_digest != QUESTION.verify_digest
    assert other.rule_digest != QUESTION.rule_digest


def test_a_question_without_work_keeps_the_fingerprint_it_had() -> None:
    question = Question(id="q", prompt="?", accept=("408",))
    assert question.rule_digest == "476fdbc55791e2f4"
    assert Suite(name="s", title="S", questions=(question,)).digest == "98b237b7c2dc1220"


def test_only_work_with_a_verdict_is_done() -> None:
    assert held(record()).usable == (f"a/{QUESTION.verify_digest}",)
    assert held(record(stopped="no room")).usable == ("a",)
