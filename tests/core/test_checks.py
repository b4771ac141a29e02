from __future__ import annotations

import time
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from resit.core.rule import Check, CheckKind
from resit.core.scoring.check_form import KINDS
from resit.core.scoring.checks import CheckResult, check_faults, parse_check, run_checks, share

SAMPLE: dict[CheckKind, Any] = {
    "contains": "red", "not_contains": "red", "exact": "red", "numeric": "42", "regex": r"\d+", "not_regex": r"\d+",
    "starts_with": "red", "ends_with": "red", "first_line": "red", "last_line": "red", "no_list": True,
    "no_table": True, "no_markdown": True, "no_code": True, "max_words": 3, "min_words": 3, "max_lines": 3,
    "exact_lines": 3, "max_chars": 10, "language": "en", "json": True, "one_of": ("red", "green"),
}  # fmt: skip
EACH = tuple(Check(name=kind, kind=kind, value=value) for kind, value in SAMPLE.items())


def check(kind: CheckKind, value: Any, weight: float = 1.0) -> Check:
    return Check(name=kind, kind=kind, value=value, weight=weight)


def faults_of(raw: dict[str, object]) -> list[str]:
    found = parse_check(raw, question="q", line=7, path="s.toml")
    faults = check_faults([found]) if isinstance(found, Check) else found
    return [f"{fault.message} -> {fault.mend}" for fault in faults]


def test_every_kind_runs_and_says_why() -> None:
    assert set(SAMPLE) == set(KINDS)
    results = run_checks(EACH, "A red lamp costs 42.")
    assert [result.name for result in results] == [each.name for each in EACH]
    assert all(result.why for result in results)


@given(st.text())
@settings(max_examples=300, deadline=None)
def test_any_reply_gets_a_yes_or_no_from_every_check(text: str) -> None:
    assert len(run_checks(EACH, text)) == len(EACH)


@given(st.text(alphabet="-*|`#_~[](){}<>1.) \t\n:=+a•", max_size=80))
@settings(max_examples=400, deadline=None)
def test_any_marks_get_a_yes_or_no_from_every_check(text: str) -> None:
    assert len(run_checks(EACH, text)) == len(EACH)


@given(st.text(min_size=1, max_size=30), st.text(max_size=30))
@settings(max_examples=200, deadline=None)
def test_contains_and_not_contains_never_agree(value: str, reply: str) -> None:
    pair = [check("contains", value), check("not_contains", value)]
    if not check_faults(pair[:1]):
        passed = [result.passed for result in run_checks(pair, reply + "x")]
        assert passed[0] != passed[1]


@given(st.lists(st.sampled_from(["one", "well-known", "don't", "42", "3.14"]), min_size=1, max_size=20))
def test_words_are_counted_one_by_one(words: list[str]) -> None:
    text = " ".join(words)
    limits = [check("max_words", len(words)), check("min_words", len(words)), check("max_words", len(words) - 1)]
    assert [result.passed for result in run_checks(limits, text)] == [True, True, False]


@pytest.mark.parametrize("text", ["", "  \n", "\u200b", "<think>a</think>", "<think>never closed"])
def test_a_reply_without_an_answer_passes_no_check_not_even_a_negative_one(text: str) -> None:
    assert not any(result.passed for result in run_checks(EACH, text))


def test_the_score_is_the_weighted_share_that_passes() -> None:
    results = run_checks([check("contains", "red", 3.0), check("no_list", True), check("contains", "blue", 2)], "Red")
    assert share(results) == pytest.approx(4 / 6)


def test_full_marks_are_exactly_one_whatever_the_weights() -> None:
    results = [CheckResult(str(n), True, 0.1, "") for n in range(7)]
    assert share(results) == 1.0
    assert share([*results, CheckResult("x", False, 1e-9, "")]) < 1.0


def test_a_language_that_cannot_be_told_says_so() -> None:
    (result,) = run_checks([check("language", "en")], "Good day")
    assert not result.passed
    assert result.why.startswith("undecided")


def test_the_sentence_says_what_was_found() -> None:
    found = run_checks([check("max_words", 2), check("no_list", True), check("last_line", "Bye")], "Buy:\n- oat milk")
    assert [result.why for result in found] == [
        "3 words, at most 2",
        'there is a list line: "- oat milk"',
        'the last line is "- oat milk", not "Bye"',
    ]


def test_a_misspelt_check_is_refused_with_the_nearest_known_one() -> None:
    assert faults_of({"name": "a", "no_lists": True}) == [
        "check 'a': unknown check 'no_lists' -> did you mean 'no_list'?"
    ]


def test_all_faults_of_a_check_come_at_once_with_their_place() -> None:
    found = parse_check({"no_list": False, "weight": "2"}, question="q", line=7, path="s.toml")
    assert isinstance(found, list)
    assert [fault.code for fault in found] == ["check-name", "weight", "check-value"]
    assert {(fault.question, fault.line, fault.path) for fault in found} == {("q", 7, "s.toml")}
    assert all(fault.mend for fault in found)


@pytest.mark.parametrize("weight", [True, -1, float("nan"), float("inf"), "2", None])
def test_a_weight_that_is_no_number_from_zero_up_is_refused(weight: object) -> None:
    assert len(faults_of({"name": "a", "no_list": True, "weight": weight})) == 1


def test_an_unquoted_number_keeps_its_text() -> None:
    found = parse_check({"name": "a", "contains": Decimal("3.10")})
    assert isinstance(found, Check)
    assert found.value == "3.10"


def test_a_check_that_was_read_is_the_check_that_was_written() -> None:
    for kind, value in SAMPLE.items():
        raw = {"name": " a ", kind: list(value) if isinstance(value, tuple) else value, "weight": 2}
        assert parse_check(raw) == Check(name="a", kind=kind, value=value, weight=2.0)


HOSTILE = {
    "letters": "a", "words": "w ", "blank lines": "\n", "bars": "|a\n", "stars": "*a ", "ticks": "`a",
    "fences": "```\n",
    "brackets": "[a](", "rules": "- - \n", "numbers": "42. x\n", "tabs": "a\tb\nc\n",
    "emoji": "👍 ", "accents": "e\u0301 ", "tags": "<table ", "nesting": '{"a":',
}  # fmt: skip


@pytest.mark.parametrize("unit", HOSTILE.values(), ids=HOSTILE.keys())
def test_a_hostile_reply_of_a_megabyte_takes_every_check_no_more_than_moments(unit: str) -> None:
    text = "x" + unit * (1_000_000 // len(unit))
    for each in EACH:
        started = time.process_time()
        run_checks([each], text)
        assert time.process_time() - started < 0.5, each.kind
