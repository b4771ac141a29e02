"""What decides, in a sentence: the rules of a round's questions, and what was changed in them later."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import assert_never

from resit.core.judging.wording import counted
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
from resit.core.suite import Edit, Question


def rule_sentence(rule: Rule) -> str:
    """What makes a reply pass under `rule`, without the full stop."""
    match rule:
        case Exact():
            return "the whole reply equals an accepted answer" + ("" if rule.case else " (case does not matter)")
        case Numeric():
            return f"the reply is one accepted number and nothing else{_tolerance(rule)}"
        case NumberInReply():
            return f"the {rule.pick} number in the reply is an accepted one{_tolerance(rule)}"
        case Contains():
            which = "every accepted answer" if rule.all else "an accepted answer"
            return f"{which} stands in the reply as {'whole words' if rule.whole else 'text'}"
        case Regex():
            return f"an accepted pattern {'matches the whole reply' if rule.full else 'is found in the reply'}"
        case Choice():
            return "the reply chooses the accepted option and no other"
        case YesNo():
            return "the reply says yes or no as accepted, and not both"
        case Date():
            return "the reply is the accepted day, in any unambiguous form"
        case Time():
            return "the reply is the accepted time of day"
        case ItemSet():
            return "the reply lists the accepted items, in any order"
        case ItemList():
            return "the reply lists the accepted items, in order"
        case Json():
            return "the reply is JSON and equals the accepted value"
        case LastLine():
            return f"the last line decides: {rule_sentence(rule.rule)}"
        case _ as never:
            assert_never(never)


def _tolerance(rule: Numeric | NumberInReply) -> str:
    if rule.tolerance:
        return f", within {rule.tolerance}"
    return f", within {rule.relative * 100:f} %" if rule.relative else ""


def rules_sentence(questions: Iterable[Question]) -> str:
    """All that decides on these questions, each rule with the number of questions under it, in one sentence."""
    ways = Counter(way for question in questions for way in _ways(question))
    alone = len(ways) == 1
    said = "; ".join(way if alone else f"{way} ({counted(count, 'question')})" for way, count in ways.most_common())
    return f"{said[:1].upper()}{said[1:]}." if said else "Nothing decides."


def _ways(question: Question) -> list[str]:
    ways = []
    if question.accept:
        ways.append(f"a reply passes when {rule_sentence(question.rule)}")
    if question.checks:
        ways.append("the score is the share of named checks that pass")
    if question.verify is not None:
        ways.append(
            "the score is the share of tests that pass in the agent's workspace, and nothing once it touched them"
        )
    if question.accept and question.second_rule is not None:
        ways.append(f"beside it, never instead of it, when {rule_sentence(question.second_rule)}")
    return ways


def edit_sentence(edit: Edit) -> str:
    """What an edit changed; texts in it are as the person wrote them."""
    match edit.what:
        case "accept":
            return f"accepts {edit.accept!r} as well"
        case "rule" | "second_rule":
            which = "the second rule" if edit.what == "second_rule" else "the rule"
            return f"{which} is now: {rule_sentence(edit.rule)}" if edit.rule is not None else f"{which} is taken away"
        case "trap":
            return f"knows the trap {edit.trap.reply!r}" if edit.trap is not None else "knows another trap"
        case "weight":
            return f"weighs {edit.weight:g}" if edit.weight is not None else "weighs as before"
        case _ as never:
            assert_never(never)
