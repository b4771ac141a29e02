"""Right or wrong: the only module that decides it for a reply as a whole."""

from __future__ import annotations

from resit.core.rule import Contains, Exact, Rule
from resit.core.scoring.judged import Judged
from resit.core.scoring.texts import judge_contains, judge_exact

__all__ = ["Judged", "judge"]


def judge(rule: Rule, accept: tuple[str, ...], text: str) -> Judged:
    """What `rule` says of a reply."""
    match rule:
        case Exact():
            return judge_exact(rule, accept, text)
        case Contains():
            return judge_contains(rule, accept, text)
        case _:
            return Judged(False, text, accept, "not read yet")
