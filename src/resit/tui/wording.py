"""What a rule says, in one sentence, as a person would put it to another."""

from __future__ import annotations

from collections import Counter
from typing import assert_never

from resit.core.rule import (
    Choice,
    Contains,
    Date,
    Exact,
    ItemList,
    ItemSet,
    Json,
    LastLine,
    NumberInReply,
    Numeric,
    Regex,
    Rule,
    Time,
    YesNo,
)
from resit.core.suite import Question, Suite
from resit.tui.figures import count


def rule_name(rule: Rule) -> str:
    """The rule's name in a cell: `number in reply`."""
    return rule.name.replace("_", " ")


def rule_sentence(rule: Rule) -> str:
    """What makes a reply pass under `rule`."""
    match rule:
        case Exact():
            return "The whole reply equals an accepted answer" + ("" if rule.case else "; case does not matter") + "."
        case Numeric():
            return f"The reply is one accepted number and nothing else{_tolerance(rule)}."
        case NumberInReply():
            which = {"only": "only", "last": "last", "first": "first", "marked": "marked"}[rule.pick]
            return f"The {which} number in the reply is an accepted one{_tolerance(rule)}."
        case Contains():
            what = "every accepted answer stands" if rule.all else "an accepted answer stands"
            return f"In the reply {what} as {'whole words' if rule.whole else 'text'}."
        case Regex():
            return f"An accepted pattern {'matches the whole reply' if rule.full else 'is found in the reply'}."
        case Choice():
            return "The reply chooses the accepted option and no other."
        case YesNo():
            return "The reply says yes or no as accepted, and not both."
        case Date():
            return "The reply is the accepted day, in any unambiguous form."
        case Time():
            return "The reply is the accepted time of day."
        case ItemSet():
            return "The reply lists the accepted items, in any order."
        case ItemList():
            return "The reply lists the accepted items, in order."
        case Json():
            return "The reply is JSON and equals the accepted value."
        case LastLine():
            inner = rule_sentence(rule.rule)
            return f"The last line decides: {inner[0].lower()}{inner[1:]}"
        case _ as never:
            assert_never(never)


def _tolerance(rule: Numeric | NumberInReply) -> str:
    if rule.tolerance:
        return f", within {rule.tolerance}"
    return f", within {rule.relative * 100:f} %" if rule.relative else ""


def suite_rule(suite: Suite) -> str:
    """What decides in this suite, in a sentence: its rule, how many questions differ, and the second rule."""
    checked = sum(1 for question in suite.asked if question.checks)
    ruled = [question for question in suite.asked if not question.checks]
    parts: list[str] = []
    if ruled:
        rule, most = Counter(question.rule for question in ruled).most_common(1)[0]
        parts.append(rule_sentence(rule))
        if most < len(ruled):
            parts.append(f"{len(ruled) - most} of {len(ruled)} questions have a rule of their own.")
    if checked:
        parts.append(f"{_questions(checked)} scored by the share of named checks that pass.")
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
    return count(len(question.checks), "check") if question.checks else rule_name(question.rule)
