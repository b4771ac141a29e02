"""What decides in a suite, as the first screen says it."""

from __future__ import annotations

from resit.core.suite import Question, Suite
from resit.core.suite_file import load_suite, sample_suites
from resit.tui.wording import decides, suite_counts, suite_rule


def test_code_questions_are_said_to_be_decided_by_tests_and_by_no_rule() -> None:
    (path,) = (path for path in sample_suites() if path.stem == "code-work")
    suite = load_suite(path)
    assert suite_counts(suite) == "2 questions · 2 kinds · tests"
    assert suite_rule(suite) == "2 questions are scored by the share of tests that pass in the agent's workspace."


def test_a_code_question_beside_others_is_told_apart() -> None:
    code = Question(id="code", workspace="given", verify="make check")
    plain = Question(id="plain", accept=("366",))
    suite = Suite(name="s", title="S", questions=(plain, code))
    assert [decides(question) for question in suite.questions] == ["exact", "tests"]
    assert suite_rule(suite).startswith("The whole reply equals an accepted answer")
    assert suite_rule(suite).endswith("1 question is scored by the share of tests that pass in the agent's workspace.")
