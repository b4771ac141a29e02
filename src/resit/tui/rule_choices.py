"""Which rules make sense for a question, and which form of a reply would be accepted under the one it has."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

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
    Rule,
    Time,
    YesNo,
)
from resit.core.scoring.guard import question_faults
from resit.core.scoring.normalise import answer_part

if TYPE_CHECKING:
    from resit.core.suite import Question
    from resit.tui.miss import Miss

_NUMBER = re.compile(r"[^\d]*\d[\d.,' ]*[^\d]*")

SAID: dict[str, str] = {
    "exact": "the reply is exactly an accepted form",
    "numeric": "the reply is one number, nothing else",
    "contains": "an accepted form stands in the reply",
    "regex": "a pattern is found in the reply",
    "choice": "the reply chooses this option",
    "yes_no": "the reply says yes or no, and only one",
    "date": "the reply is that day",
    "time": "the reply is that time of day",
    "set": "the same items in any order",
    "list": "the same items in order",
    "json": "the reply is that JSON value",
    "last_line": "the last line is an accepted form",
}
"""Each rule in one line."""


_PICKS = {
    "only": "the one number in a longer reply",
    "last": "the last number in the reply",
    "first": "the first number in the reply",
    "marked": "the number after `answer is` or the like",
}


def rule_said(rule: Rule) -> str:
    """A rule in words, with what is not as usual."""
    picks = isinstance(rule, NumberInReply)
    text = f"{rule.name.replace('_', ' ')}: {_PICKS[rule.pick] if isinstance(rule, NumberInReply) else SAID[rule.name]}"
    changed = rule.model_dump(mode="json", exclude_defaults=True, exclude={"name", "pick"} if picks else {"name"})
    if changed:
        text += f" ({', '.join(f'{name} = {json.dumps(value)}' for name, value in changed.items())})"
    return text


def sensible_rules(question: Question) -> list[Rule]:
    """Rules that can decide this question, other than the one it has."""
    found: list[Rule] = []
    for rule in _candidates(question):
        if rule == question.rule or rule in found:
            continue
        if not question_faults(question.model_copy(update={"rule": rule})):
            found.append(rule)
    return found


def _candidates(question: Question) -> Iterator[Rule]:
    accept = question.accept
    if question.second_rule is not None:
        yield question.second_rule
    yield Exact()
    if accept and all(_NUMBER.fullmatch(form) for form in accept):
        yield Numeric()
        yield NumberInReply()
        yield NumberInReply(pick="last")
        yield NumberInReply(pick="marked")
    yield Contains()
    yield LastLine()
    if accept and all(len(form) == 1 and form.isalpha() for form in accept):
        yield Choice()
    if accept and all(form.casefold() in ("yes", "no") for form in accept):
        yield YesNo()
    if accept and all(re.search(r"[,;\n]", form) for form in accept):
        yield ItemSet()
        yield ItemList()
    if accept and all(form.lstrip()[:1] in ("{", "[") for form in accept):
        yield Json()
    if accept and all(re.search(r"\d{4}", form) for form in accept):
        yield Date()
    if accept and all(re.search(r"\d:\d\d|noon|midnight|[ap]m", form.casefold()) for form in accept):
        yield Time()


def form_to_accept(miss: Miss, reply: str) -> str:
    """What would be written into the accept list so that this reply passes.

    A rule that picks something out of a reply gets what it picked; a pattern rule gets the reply as a pattern.
    """
    text = (answer_part(reply) or reply).strip()
    rule = miss.question.rule
    if isinstance(rule, NumberInReply | Choice | YesNo) and miss.grade and miss.grade.judged:
        picked = miss.grade.judged.picked
        return picked if picked else text
    if isinstance(rule, LastLine):
        return next((line.strip() for line in reversed(text.split("\n")) if line.strip()), text)
    if rule.name == "regex":
        return re.escape(text)
    return text
