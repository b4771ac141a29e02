"""What one question stands for, how it is graded and which trap it carries: in words, for whoever reads a score."""

from __future__ import annotations

from dataclasses import dataclass

from resit.core.judging.rule_words import rule_sentence
from resit.core.judging.wording import counted, named
from resit.core.suite import Question

_PROMPT_SHOWN = 90
_ANSWER_SHOWN = 40


@dataclass(frozen=True, slots=True)
class Explained:
    """A question in words; each part is a sentence without its full stop."""

    question: str
    kind: str
    draft: bool
    work: str
    """The work it stands for: the person's own line, else what it asks."""
    graded: str
    trap: str


def explain(question: Question) -> Explained:
    """Say `question` in words."""
    return Explained(question.id, question.kind, question.draft, _work(question), _graded(question), _trap(question))


def _work(question: Question) -> str:
    if question.about:
        return question.about.rstrip(".")
    asked = _short(question.prompt, _PROMPT_SHOWN)
    return f"asks {asked!r}" if asked else "has no prompt"


def _short(text: str, most: int) -> str:
    line = " ".join(text.split())
    return line if len(line) <= most else f"{line[: most - 1].rstrip()}…"


def _graded(question: Question) -> str:
    parts = []
    if question.accept:
        forms = named([repr(_short(form, _ANSWER_SHOWN)) for form in question.accept], 3)
        parts.append(f"passes when {rule_sentence(question.rule)}: {forms}")
    if question.checks:
        names = named([check.name for check in question.checks], 6)
        many = len(question.checks) > 1
        share = (
            f"scores the share of {counted(len(question.checks), 'check')} that pass" if many else "passes one check"
        )
        parts.append(f"{share}: {names}")
    if question.verify is not None:
        parts.append(
            f"scores the share of tests that {_short(question.verify, _ANSWER_SHOWN)!r} passes in the workspace"
        )
    if not parts:
        return "Nothing decides yet"
    said = ", and ".join(parts) + (f"; weighs {question.weight:g}" if question.weight != 1 else "")
    return said[0].upper() + said[1:]


def _trap(question: Question) -> str:
    if question.no_trap:
        return "Its author says that no wrong answer tempts"
    if not question.traps:
        return "No trap is named"
    traps = [
        f"{_short(trap.reply, _ANSWER_SHOWN)!r}" + (f" ({_short(trap.why, _PROMPT_SHOWN)})" if trap.why else "")
        for trap in question.traps
    ]
    return f"Catches {named(traps, 3)}"
