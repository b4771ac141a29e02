from pathlib import Path
from typing import get_args

import pytest

from resit.core.rule import CheckKind
from resit.core.scoring.checks import run_checks
from resit.core.scoring.rules import judge
from resit.core.suite import Suite
from resit.core.suite_file import build_prompt, load_suite, sample_suites
from resit.core.suite_formats.rule_form import RULES

SUITES = {path.stem: load_suite(path, edits=False) for path in sample_suites()}


def test_the_samples_are_there_the_first_ones_first() -> None:
    assert list(SUITES)[:3] == ["short-answers", "several-asks", "ledger"]
    assert "every-rule" in SUITES


@pytest.mark.parametrize(("name", "count"), [("short-answers", 20), ("several-asks", 6), ("ledger", 8)])
def test_a_sample_has_the_questions_it_promises(name: str, count: int) -> None:
    assert len(SUITES[name].asked) == count


@pytest.mark.parametrize("name", SUITES)
def test_a_sample_has_neither_fault_nor_cleaned_text(name: str) -> None:
    assert [warning for warning in SUITES[name].warnings if warning.code == "cleaned"] == []


@pytest.mark.parametrize("name", ["short-answers", "ledger"])
def test_every_question_is_built_to_catch_something(name: str) -> None:
    for question in SUITES[name].questions:
        assert question.traps
        assert all(trap.why for trap in question.traps)


def test_every_short_answer_in_a_sentence_fails_the_strict_rule_and_passes_the_second() -> None:
    for question in SUITES["short-answers"].questions:
        sentence = f"The answer is {question.accept[0]}."
        assert question.second_rule is not None
        assert not judge(question.rule, question.accept, sentence).passed, question.id
        assert judge(question.second_rule, question.accept, sentence).passed, question.id


def test_no_trap_in_a_sentence_passes_a_second_rule() -> None:
    for question in (*SUITES["short-answers"].questions, *SUITES["ledger"].questions):
        for trap in question.traps:
            assert question.second_rule is not None
            assert not judge(question.second_rule, question.accept, f"The answer is {trap.reply}.").passed, question.id


def test_several_asks_have_a_negative_one_and_a_fixed_last_line() -> None:
    for question in SUITES["several-asks"].questions:
        kinds = {check.kind for check in question.checks}
        assert any(kind.startswith(("no_", "not_")) for kind in kinds), question.id
        assert question.reference
        assert "last_line" in kinds or question.kind == "extraction"


def test_every_rule_and_every_check_is_shown() -> None:
    suite = SUITES["every-rule"]
    assert {question.rule.name for question in suite.questions if question.accept} == set(RULES)
    shown = {check.kind for question in suite.questions for check in question.checks}
    assert shown == set(get_args(CheckKind))


def test_an_empty_reply_passes_nothing() -> None:
    for suite in SUITES.values():
        for question in suite.questions:
            if question.accept:
                assert not judge(question.rule, question.accept, "").passed
            if question.checks:
                assert not all(result.passed for result in run_checks(question.checks, ""))


def _prompts(suite: Suite) -> list[str]:
    return [build_prompt(suite, question) for question in suite.questions]


def test_data_files_stand_in_the_prompts() -> None:
    for prompt, question in zip(_prompts(SUITES["ledger"]), SUITES["ledger"].questions, strict=True):
        assert question.files
        assert prompt.count("</file>") == len(question.files)
        assert prompt.endswith("Give the final answer and nothing else.")


def test_samples_are_ordinary_files_of_their_folder() -> None:
    assert all(path.parent.name == "sample_suites" and Path(path).is_file() for path in sample_suites())
