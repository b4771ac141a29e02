"""Worked cases of grading: a rule, what is accepted, a reply, and what the grade must be."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from resit.core.rule import Rule
from resit.core.scoring.guard import question_faults
from resit.core.scoring.normalise import visible
from resit.core.scoring.rules import judge
from resit.core.suite import Question, Trap

DATA = Path(__file__).parent.parent / "data"
FILES = ("grading.jsonl", "grading-own.jsonl", "grading_neighbours.jsonl")
RULES: TypeAdapter[Rule] = TypeAdapter(Rule)


def cases() -> Iterator[Any]:
    for name in FILES:
        for line in (DATA / name).read_text("utf-8").split("\n"):
            if line:
                case = json.loads(line)
                yield pytest.param(case, id=f"{case['id']}-{case['kind']}")


def reply_of(case: dict[str, Any]) -> str:
    return case["reply"] if "reply" in case else "".join(piece * times for piece, times in case["pieces"])


def accepted_of(case: dict[str, Any]) -> tuple[str, ...]:
    given = case["accept"] if "accept" in case else [case["answer"]]
    if any(form is None or isinstance(form, bool) for form in given):
        raise ValueError("null and truth values are no texts")
    return tuple(str(form) for form in given)


def faults_of(case: dict[str, Any]) -> list[str]:
    """What refuses the question: a parameter, an accepted form, or the guard."""
    try:
        rule, accept = RULES.validate_python(case["rule"]), accepted_of(case)
    except (ValidationError, ValueError) as error:
        return [str(error)]
    traps = (Trap(reply=case["trap"]),) if "trap" in case else ()
    question = Question(id=case["id"], accept=accept, rule=rule, traps=traps)
    return [fault.message for fault in question_faults(question)]


@pytest.mark.parametrize("case", list(cases()))
def test_the_grade_is_the_one_that_is_written_down(case: dict[str, Any]) -> None:
    expected, faults = case["expect"], faults_of(case)
    if expected == "invalid-suite":
        assert faults, case["why"]
        return
    assert not faults, case["why"]
    reply = reply_of(case)
    judged = judge(RULES.validate_python(case["rule"]), accepted_of(case), reply)
    assert visible(reply) == (expected != "empty")
    assert judged.passed == (expected is True), f"{case['why']}: {judged.why}"
    assert judged.why
    assert "\n" not in judged.why or "\n" in reply
    if judged.picked_at is not None:
        start, end = judged.picked_at
        assert 0 <= start <= end <= len(reply)
