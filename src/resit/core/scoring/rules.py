"""Right or wrong: the only module that decides it for a reply as a whole.

To add a rule: a class in `core.rule`, a function in a module of its own, an arm here, a table of cases.
"""

from __future__ import annotations

from dataclasses import replace
from typing import assert_never

from resit.core.rule import (
    LastLine,
    Rule,
)
from resit.core.scoring.choice import judge_choice, judge_yes_no
from resit.core.scoring.dates import judge_date, judge_time
from resit.core.scoring.items import judge_items
from resit.core.scoring.json_rule import judge_json
from resit.core.scoring.judged import Judged
from resit.core.scoring.normalise import LINE_ENDS, UNSEEN, answer_part, visible
from resit.core.scoring.number_rules import judge_number_in_reply, judge_numeric
from resit.core.scoring.regexes import judge_regex
from resit.core.scoring.texts import judge_contains, judge_exact

__all__ = ["Judged", "judge", "last_line"]


def judge(rule: Rule, accept: tuple[str, ...], text: str) -> Judged:
    """What a rule says of a reply: total and bounded, whatever the text.

    A thinking block at the start is dropped first; `picked_at` counts in `text` as it was given.
    """
    answer = answer_part(text)
    if answer is None:
        return Judged(False, "", accept, "the reply opens a thinking block and never closes it")
    if not visible(answer):
        return Judged(False, "", accept, "nothing of the reply can be seen")
    judged = _judge(rule, accept, answer)
    skipped = len(text) - len(answer)
    if skipped and judged.picked_at:
        return replace(judged, picked_at=(judged.picked_at[0] + skipped, judged.picked_at[1] + skipped))
    return judged


def _judge(rule: Rule, accept: tuple[str, ...], text: str) -> Judged:
    # By name, not by class: a look at the class of a model that is another one is slow.
    match rule.name:
        case "exact":
            return judge_exact(rule, accept, text)
        case "numeric":
            return judge_numeric(rule, accept, text)
        case "number_in_reply":
            return judge_number_in_reply(rule, accept, text)
        case "contains":
            return judge_contains(rule, accept, text)
        case "regex":
            return judge_regex(rule, accept, text)
        case "choice":
            return judge_choice(rule, accept, text)
        case "yes_no":
            return judge_yes_no(rule, accept, text)
        case "date":
            return judge_date(rule, accept, text)
        case "time":
            return judge_time(rule, accept, text)
        case "set" | "list":
            return judge_items(rule, accept, text)
        case "json":
            return judge_json(rule, accept, text)
        case "last_line":
            return _judge_last_line(rule, accept, text)
        case _ as never:
            assert_never(never)


def last_line(text: str) -> str:
    """The last line on which something can be seen; lines end in any way."""
    text = text.rstrip(UNSEEN)
    start = max(text.rfind(mark) for mark in LINE_ENDS) + 1
    return text[start:]


def _judge_last_line(rule: LastLine, accept: tuple[str, ...], text: str) -> Judged:
    line = last_line(text)
    judged = judge(rule.rule, accept, line)
    start = text.rfind(line)
    at = (judged.picked_at[0] + start, judged.picked_at[1] + start) if judged.picked_at else None
    return replace(judged, why=f"last line: {judged.why}", picked_at=at)
