"""Every rule is total and bounded, and says what it compared."""

from __future__ import annotations

import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from resit.core.rule import Exact, NumberInReply, Numeric, Regex, Rule
from resit.core.scoring.regexes import LIMIT_S
from resit.core.scoring.rules import judge, last_line

RULES: TypeAdapter[Rule] = TypeAdapter(Rule)
ALL: list[tuple[dict[str, Any], tuple[str, ...]]] = [
    ({"name": "exact"}, ("408",)),
    ({"name": "exact", "plain": True}, ("408",)),
    ({"name": "numeric"}, ("408", "four hundred")),
    ({"name": "number_in_reply"}, ("408",)),
    ({"name": "number_in_reply", "pick": "last"}, ("408",)),
    ({"name": "number_in_reply", "pick": "marked"}, ("408",)),
    ({"name": "number_in_reply", "plain": True}, ("408",)),
    ({"name": "contains"}, ("needle", "a")),
    ({"name": "regex"}, (r"\d{3} EUR",)),
    ({"name": "choice"}, ("A",)),
    ({"name": "choice", "options": {"A": "Paris", "B": "Rome"}}, ("A",)),
    ({"name": "yes_no"}, ("yes",)),
    ({"name": "date"}, ("2026-11-29",)),
    ({"name": "time"}, ("17:20",)),
    ({"name": "set"}, ("red", "blue")),
    ({"name": "list"}, ("red", "blue")),
    ({"name": "json"}, ('{"a": 1}',)),
    ({"name": "last_line", "rule": "exact"}, ("408",)),
]
NAMES = [str(rule) for rule, _ in ALL]
HOSTILE = ("1 2 ", "(", "<think>", "a, ", "`", "12:30 ", "[", "\u200b", "1,", "answer: ", "Жы ", "\n", '"', "{")


@pytest.mark.parametrize(("rule", "accept"), ALL, ids=NAMES)
@given(text=st.text(max_size=80))
def test_any_text_gets_a_grade_and_a_sentence(rule: dict[str, Any], accept: tuple[str, ...], text: str) -> None:
    judged = judge(RULES.validate_python(rule), accept, text)
    assert judged.why
    assert judged.picked_at is None or 0 <= judged.picked_at[0] <= judged.picked_at[1] <= len(text)
    assert judge(RULES.validate_python(rule), accept, text) == judged


@pytest.mark.parametrize(("rule", "accept"), ALL, ids=NAMES)
def test_a_megabyte_of_anything_grades_in_bounded_time(rule: dict[str, Any], accept: tuple[str, ...]) -> None:
    read = RULES.validate_python(rule)
    for piece in HOSTILE:
        text = piece * (1_000_000 // len(piece))
        started = time.process_time()
        judge(read, accept, text)
        assert time.process_time() - started < 1.0, piece


@given(st.text(min_size=1, max_size=40))
def test_an_accepted_text_passes_exact(text: str) -> None:
    judged = judge(Exact(), (text,), text)
    assert judged.passed or not judged.accepted or "<" in text or judged.compared == ""


def test_a_pattern_that_runs_away_is_stopped_and_fails() -> None:
    started = time.process_time()
    judged = judge(Regex(), (r"(?:x+x+)+y",), "x" * 5000)
    assert not judged.passed
    assert time.process_time() - started < 4 * LIMIT_S


def test_a_reply_is_never_evaluated() -> None:
    assert not judge(Numeric(), ("8",), "4+4").passed
    assert not judge(NumberInReply(), ("0",), "None null NaN").passed


@pytest.mark.parametrize(
    ("text", "line"), [("a\nb\n \n", "b"), ("a\r\nb", "b"), ("a\u2028b\u200b\n", "b"), ("", ""), ("\n\n", "")]
)
def test_the_last_line_is_the_last_on_which_something_is_seen(text: str, line: str) -> None:
    assert last_line(text) == line


@pytest.mark.parametrize(
    "rule",
    [
        {"name": "numeric", "tolerance": "0.1"},
        {"name": "numeric", "tolerance": True},
        {"name": "numeric", "tolerance": -1},
        {"name": "numeric", "tolerance": float("inf")},
        {"name": "numeric", "tolerance": float("nan")},
        {"name": "numeric", "tolerence": 1},
        {"name": "number_in_reply", "pick": "best"},
        {"name": "regex", "flags": ["quick"]},
        {"name": "date", "order": "ymd-ish"},
        {"name": "nobody"},
    ],
)
def test_a_parameter_that_cannot_be_meant_is_refused(rule: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        RULES.validate_python(rule)


@pytest.mark.parametrize(
    "rule",
    [
        {"name": "numeric", "tolerance": 0.1, "unit": ["km"]},
        {"name": "set", "item": {"name": "numeric", "relative": 0.25}},
        {"name": "choice", "options": {"A": "Paris"}},
        {"name": "yes_no", "words": {"yes": ["oui"], "no": ["non"]}},
        {"name": "last_line", "rule": "exact"},
    ],
)
def test_a_rule_written_to_a_file_is_the_same_rule_when_read_again(rule: dict[str, Any]) -> None:
    read = RULES.validate_python(rule)
    assert RULES.validate_python(read.model_dump(mode="json")) == read
    assert RULES.validate_json(read.model_dump_json()) == read
