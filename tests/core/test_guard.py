"""What the guard refuses before any money is spent."""

from __future__ import annotations

from typing import Any

import pytest

from resit.core.rule import Check, Contains, Exact
from resit.core.scoring.guard import question_faults, question_warnings
from resit.core.suite import Question, Trap


def codes(**fields: Any) -> list[str]:
    return [fault.code for fault in question_faults(Question.model_validate({"id": "q", **fields}))]


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({}, "accept-missing"),
        ({"accept": ("",)}, "accept-empty"),
        ({"accept": ("many",), "rule": {"name": "numeric"}}, "accept-number"),
        ({"accept": ("3 or 4",), "rule": {"name": "numeric"}}, "accept-numbers"),
        ({"accept": ("1/0",), "rule": {"name": "numeric"}}, "accept-number"),
        ({"accept": ("E",), "rule": {"name": "choice"}}, "accept-option"),
        ({"accept": ("A",), "rule": {"name": "choice", "options": ("A", "a")}}, "rule-options"),
        ({"accept": ("03/04/2026",), "rule": {"name": "date"}}, "accept-date"),
        ({"accept": ("25:00",), "rule": {"name": "time"}}, "accept-time"),
        ({"accept": ("red", "Red."), "rule": {"name": "set"}}, "accept-twice"),
        ({"accept": ("{",), "rule": {"name": "json"}}, "accept-json"),
        ({"accept": ("1",), "rule": {"name": "json", "path": "a..b"}}, "rule-path"),
        ({"accept": ("(a+)+",), "rule": {"name": "regex"}}, "accept-regex"),
        ({"accept": ("perhaps",), "rule": {"name": "yes_no"}}, "accept-word"),
        ({"accept": ("365", "366"), "traps": ({"reply": "365"},)}, "trap-passes"),
        ({"accept": ("366",), "traps": ({"reply": " "},)}, "trap-empty"),
        ({"accept": ("366",), "reference": "365"}, "reference"),
        ({"accept": ("a, b", "c"), "rule": {"name": "set", "separator": ","}}, "accept-fails"),
        ({"accept": ("<think>x",)}, "accept-fails"),
        ({"verify": "pytest"}, "verify-workspace"),
        ({"accept": ("366",), "protect": ("tests/**",)}, "protect-workspace"),
        ({"accept": ("366",), "hidden": "kept"}, "hidden-workspace"),
        ({"workspace": "given", "accept": ("366",), "hidden": "kept"}, "hidden-verify"),
        ({"workspace": "given", "verify": " "}, "verify-empty"),
        ({"workspace": "given", "verify": "pytest", "protect": ("../kept",)}, "protect-path"),
        (
            {"accept": ("5",), "rule": {"name": "last_line", "rule": {"name": "regex"}}, "traps": ({"reply": "5"},)},
            "trap-passes",
        ),
    ],
)
def test_a_question_that_cannot_be_decided_soundly_is_refused(fields: dict[str, Any], code: str) -> None:
    assert code in codes(**fields)


@pytest.mark.parametrize(
    "fields",
    [
        {"accept": ("366",), "traps": ({"reply": "365"},)},
        {"accept": ("3", "three"), "rule": {"name": "numeric"}},
        {"accept": ("72",), "rule": {"name": "number_in_reply", "pick": "marked"}, "traps": ({"reply": "71"},)},
        {"accept": ("canberra",), "second_rule": {"name": "number_in_reply"}},
        {"accept": ("red", "salt and pepper"), "rule": {"name": "set"}},
        {"accept": ("alpha", "beta"), "rule": {"name": "contains", "all": True}},
        {"accept": (r"total: \d{1,6} EUR",), "rule": {"name": "regex"}},
        {"workspace": "given", "verify": "pytest", "protect": ("tests/**",), "hidden": "kept"},
    ],
)
def test_a_sound_question_has_no_fault(fields: dict[str, Any]) -> None:
    assert codes(**fields) == []


def test_every_fault_names_its_question_and_a_mend() -> None:
    question = Question(id="q7", accept=("", "x"), line=12)
    (fault,) = question_faults(question)
    assert (fault.question, fault.line) == ("q7", 12)
    assert fault.message
    assert fault.mend


def test_a_reference_that_misses_a_check_is_refused_and_the_check_is_named() -> None:
    check = Check(name="product", kind="contains", value="391")
    (fault,) = question_faults(Question(id="q", checks=(check,), reference="It is 390."))
    assert fault.code == "reference"
    assert "product" in fault.message


def test_a_trap_under_contains_is_doubtful_and_not_contains_is_suggested() -> None:
    question = Question(id="q", accept=("Mars",), rule=Contains(), traps=(Trap(reply="Venus"),))
    assert question_faults(question) == []
    (warning,) = question_warnings(question)
    assert "not_contains" in warning.mend


def test_an_answer_that_is_listed_twice_is_only_said() -> None:
    question = Question(id="q", accept=("Red", "red."), rule=Exact())
    assert question_faults(question) == []
    assert [warning.code for warning in question_warnings(question)] == ["accept-twice"]
