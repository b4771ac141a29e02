"""What a rule says, in one sentence, as a person would put it to another."""

from __future__ import annotations

from collections import Counter

from resit.core.judging.rule_words import rule_sentence
from resit.core.rule import Rule
from resit.core.suite import Question, Suite
from resit.tui.figures import count


def rule_name(rule: Rule) -> str:
    """The rule's name in a cell: `number in reply`."""
    return rule.name.replace("_", " ")


def suite_rule(suite: Suite) -> str:
    """What decides in this suite, in a sentence: its rule, how many questions differ, and the second rule."""
    tested = sum(1 for question in suite.asked if question.verify is not None)
    checked = sum(1 for question in suite.asked if question.checks)
    ruled = [q for q in suite.asked if not q.checks and (q.accept or q.verify is None)]
    parts: list[str] = []
    if ruled:
        rule, most = Counter(question.rule for question in ruled).most_common(1)[0]
        said = rule_sentence(rule)
        parts.append(f"{said[0].upper()}{said[1:]}.")
        if most < len(ruled):
            parts.append(f"{len(ruled) - most} of {len(ruled)} questions have a rule of their own.")
    if checked:
        parts.append(f"{_questions(checked)} scored by the share of named checks that pass.")
    if tested:
        parts.append(f"{_questions(tested)} scored by the share of tests that pass in the agent's workspace.")
    seconds = dict.fromkeys(rule_name(q.second_rule) for q in ruled if q.second_rule is not None)
    if seconds:
        parts.append(f"Beside it, never instead of it: {' or '.join(seconds)}.")
    return " ".join(parts)


def _questions(number: int) -> str:
    return "1 question is" if number == 1 else f"{number} questions are"


def suite_counts(suite: Suite) -> str:
    """`20 questions · 3 kinds · exact, second: number in reply`."""
    questions, kinds = len(suite.asked), len({question.kind for question in suite.asked})
    parts = [count(questions, "question"), count(kinds, "kind")]
    names = list(dict.fromkeys(decides(question) for question in suite.asked))
    parts.append(", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else ""))
    if suite.second_rule is not None:
        parts[-1] += f", second: {rule_name(suite.second_rule)}"
    if drafts := len(suite.questions) - questions:
        parts.append(count(drafts, "draft"))
    if suite.edits:
        parts.append(count(len(suite.edits), "edit"))
    return " · ".join(parts)


def decides(question: Question) -> str:
    """What decides on a question, in a word or two."""
    if question.checks:
        return count(len(question.checks), "check")
    return rule_name(question.rule) if question.accept or question.verify is None else "tests"
