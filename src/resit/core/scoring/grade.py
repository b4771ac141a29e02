"""The outcome of a run: the only module that decides it. Pure, without I/O, and never stored as truth."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal, assert_never

from resit.core.records import Attempt, Fault, Outcome, Reason, Reply, RunRecord, Stop, Verified
from resit.core.rule import Rule
from resit.core.scoring.checks import CheckResult, run_checks, share
from resit.core.scoring.judged import quoted
from resit.core.scoring.normalise import answer_part, visible
from resit.core.scoring.rules import Judged, judge
from resit.core.scoring.work import proves_nothing, verified_work, why_unverified, work_checks, work_why
from resit.core.suite import Question, Trap

ANSWER: Final = "answer"
"""Name of the accepted answer among the failed items of a question that has checks as well."""


@dataclass(frozen=True, slots=True)
class Grade:
    """One run's outcome, with all that was compared to reach it."""

    outcome: Outcome
    score: float | None
    """0.0 to 1.0; None when there is no fair answer."""
    second_score: float | None
    """What the second rule gives, where the question has one."""
    reason: Reason | None
    """Why it is below full marks; None when it is not, or when there is no fair answer."""
    failed: tuple[str, ...]
    """Names of the checks that did not pass, in order."""
    trap: Trap | None
    """The trap it fell into."""
    reply: str | None
    """The reply as received."""
    judged: Judged | None
    """The rule's word; None when the question has only checks or there was nothing to judge."""
    second: Judged | None
    checks: tuple[CheckResult, ...]
    why: str
    """One plain sentence for the person."""
    doubtful: str
    """Why a pass deserves a look; empty when it does not."""
    asked: str | None
    """Fingerprint of the request whose reply was graded."""
    rule: str
    """Fingerprint of what was accepted and how."""


def counted(record: RunRecord, asked: str | None = None) -> Attempt | None:
    """The attempt that counts: the last usable reply, else the last reply, else the last fault.

    Args:
        record: A run with every attempt it took.
        asked: Only attempts that sent this request count; a reply to another wording is stale.
    """
    attempts: Sequence[Attempt] = record.attempts
    if asked is not None:
        attempts = [attempt for attempt in attempts if attempt.asked == asked]
    if len(attempts) == 1:
        return attempts[0]
    replied = [attempt for attempt in attempts if attempt.reply is not None]
    usable = [attempt for attempt in replied if attempt.reply is not None and unfair(attempt.reply) is None]
    for found in (usable, replied, attempts):
        if found:
            return found[-1]
    return None


_STOPPED: Final[dict[Stop, Outcome | None]] = {
    "end": None,
    "cut_off": "cut_off",
    "context_full": "cut_off",
    "refused": "refused",
    "blocked": "blocked",
}


def unfair(reply: Reply) -> Outcome | None:
    """Why this reply is no fair answer; None when it is one.

    The stop reason decides, never the text, but for two: thinking that never ends was cut off, and a reply in which
    nothing can be seen is empty.
    """
    if reply.agent is not None and reply.agent.key_seen:
        return "void"
    stopped = _STOPPED[reply.stop]
    if stopped is not None:
        return stopped
    work = verified_work(reply)
    # What an agent changed is its answer, whether it says a word or not.
    return None if work is not None and work.diff else no_answer(reply.text)


def no_answer(text: str) -> Literal["cut_off", "empty"] | None:
    """Why a text holds no answer; None when it does."""
    answer = answer_part(text)
    if answer is None:
        return "cut_off"
    return None if visible(answer) else "empty"


def fault_outcome(fault: Fault) -> Outcome:
    """The outcome of a run that ended without a reply."""
    match fault.kind:
        case "limit" | "quota":
            return "limit"
        case "timeout":
            return "timeout"
        case "blocked":
            return "blocked"
        case "key" | "model" | "billing" | "request" | "overloaded" | "server" | "dropped" | "internal":
            return "error"
        case _ as never:
            assert_never(never)


def grade(question: Question, record: RunRecord, asked: str | None = None) -> Grade:
    """Grade one run.

    A question with checks scores their weighted share. Where it accepts an answer as well, that is one more check of
    weight 1, named `answer` and told first: full marks need both.

    Args:
        question: What is accepted, and how.
        record: The run, with every attempt it took.
        asked: Only replies to this request count.
    """
    return grade_attempt(question, record, counted(record, asked))


def grade_attempt(question: Question, record: RunRecord, attempt: Attempt | None) -> Grade:
    """Grade one run by the attempt that `counted` chose; None when none is to this request."""
    if attempt is None:
        said = "no attempt was made" if not record.attempts else "its reply is to another request than the present one"
        return _unsettled(question, "error", said, None)
    if attempt.reply is None:
        fault = attempt.fault
        outcome: Outcome = fault_outcome(fault) if fault else "error"
        return _unsettled(question, outcome, fault.said if fault else "neither reply nor fault was kept", attempt)
    stopped = unfair(attempt.reply)
    if stopped is not None:
        return _unsettled(question, stopped, _stop_sentence(stopped, attempt.reply), attempt)
    unverified = why_unverified(question, attempt.reply)
    if unverified:
        return _unsettled(question, "error", unverified, attempt)
    work = verified_work(attempt.reply, question.verify_digest) if question.verify_digest else None
    found = _graded_safely(question, attempt.reply.text, attempt.asked, work)
    denied = _denied(attempt.reply)
    if found.outcome == "miss" and denied and not (work is not None and work.changed):
        # It may be wrong for want of a tool, and that is nobody's lack of ability.
        why = f"it was refused {denied}, which it may have needed; a verdict settles it"
        return _unsettled(question, "blocked", why, attempt)
    return found


def _denied(reply: Reply) -> str:
    """The tools that an agent was refused, as a part of a sentence; empty when none."""
    return ", ".join(dict.fromkeys(reply.agent.denied)) if reply.agent is not None else ""


_SAID: Final[dict[Stop | Literal["empty"], str]] = {
    "end": "cut off: its thinking never ended",
    "cut_off": "cut off at the token limit",
    "context_full": "cut off: the context window is full",
    "refused": "the model declined to answer",
    "blocked": "the reply was held back by a filter",
    "empty": "nothing in the reply can be seen",
}


def _stop_sentence(outcome: Outcome, reply: Reply) -> str:
    """Why a reply is no fair answer, in words."""
    if outcome == "void" and reply.agent is not None:
        return f"void: key seen ({reply.agent.key_seen})"
    if reply.agent is not None and reply.stop == "cut_off" and reply.stop_detail:
        # A budget, a number of turns or a length; a token limit is only one of them.
        return f"cut off: {reply.stop_detail}"
    said = _SAID["empty" if outcome == "empty" else reply.stop]
    return f"{said} ({reply.stop_detail})" if reply.stop_detail else said


def _unsettled(question: Question, outcome: Outcome, why: str, attempt: Attempt | None) -> Grade:
    """No fair answer: no score, and never a wrong answer."""
    reply = attempt.reply.text if attempt and attempt.reply else None
    return _scoreless(question, outcome, why, reply, attempt.asked if attempt else None)


def _scoreless(question: Question, outcome: Outcome, why: str, reply: str | None, asked: str | None) -> Grade:
    return Grade(
        outcome=outcome,
        score=None,
        second_score=None,
        reason=None,
        failed=(),
        trap=None,
        reply=reply,
        judged=None,
        second=None,
        checks=(),
        why=why,
        doubtful="",
        asked=asked,
        rule=question.rule_digest,
    )


def grade_text(question: Question, text: str, *, asked: str | None = None) -> Grade:
    """Grade the text of a reply that ended by itself, as `resit score` does with saved answers.

    Args:
        question: What is accepted, and how.
        text: The reply, thinking that starts it included.
        asked: Fingerprint of the request, for the record.
    """
    stopped = no_answer(text)
    if stopped is not None:
        return _scoreless(question, stopped, _SAID["empty" if stopped == "empty" else "end"], text, asked)
    return _graded_safely(question, text, asked)


def _graded_safely(question: Question, text: str, asked: str | None, work: Verified | None = None) -> Grade:
    try:
        return _graded(question, text, asked, work)
    # A grader that fails must not look like a wrong answer, whatever it failed with, nor stop the other grades.
    except Exception as error:
        return _scoreless(question, "error", f"ungraded: {type(error).__name__}: {error}", text, asked)


def _graded(question: Question, text: str, asked: str | None, work: Verified | None) -> Grade:
    """The grade of a fair answer: of what a reply says, and of the work an agent did."""
    judged = judge(question.rule, question.accept, text) if question.accept else None
    second = judge(question.second_rule, question.accept, text) if question.accept and question.second_rule else None
    said = run_checks(question.checks, text) if question.checks else ()
    checks = (*said, *(work_checks(work) if work is not None else ()))
    void = work is not None and proves_nothing(question, work)
    score = 0.0 if void else _score(judged, checks)
    trap = None if score == 1.0 or (judged and judged.passed) else trap_of(question, text)
    reason: Reason | None = None if score == 1.0 else _reason(judged, second, trap)
    return Grade(
        outcome="pass" if score == 1.0 else "part" if score > 0.0 else "miss",
        score=score,
        second_score=None if second is None else 0.0 if void else _score(second, checks),
        reason=reason,
        failed=_failed(judged, checks),
        trap=trap,
        reply=text,
        judged=judged,
        second=second,
        checks=checks,
        why="; ".join(filter(None, (work_why(work) if work else "", _why(judged, second, said, trap, work is None)))),
        doubtful=_doubt(question, text) if judged and judged.passed else "",
        asked=asked,
        rule=question.rule_digest,
    )


def _score(judged: Judged | None, checks: tuple[CheckResult, ...]) -> float:
    """The share that passed, the accepted answer being one more check of weight 1."""
    if judged is None:
        return share(checks)
    if not checks:
        return float(judged.passed)
    return share((CheckResult(ANSWER, judged.passed, 1.0, judged.why), *checks))


def _failed(judged: Judged | None, checks: tuple[CheckResult, ...]) -> tuple[str, ...]:
    """Names of what did not pass; a question without checks has no named items."""
    answer = (ANSWER,) if checks and judged is not None and not judged.passed else ()
    return answer + tuple(check.name for check in checks if not check.passed)


def _reason(judged: Judged | None, second: Judged | None, trap: Trap | None) -> Reason:
    if trap is not None:
        return "trap"
    if judged is not None and second is not None and second.passed and not judged.passed:
        return "format"
    return "wrong"


def trap_of(question: Question, text: str) -> Trap | None:
    """The first trap whose wrong answer the reply gives, under the question's own rule."""
    return next((trap for trap in question.traps if passes_trap(question.rule, trap, text)), None)


def passes_trap(rule: Rule, trap: Trap, text: str) -> bool:
    """Whether the reply passes `rule` with the trap's wrong answer in the place of what is accepted."""
    return judge(rule, _as_accepted(rule, trap.reply), text).passed


def _as_accepted(rule: Rule, reply: str) -> tuple[str, ...]:
    """A trap's reply as an author would have written it under `accept`: a pattern, where patterns are accepted."""
    match rule.name:
        case "regex":
            return (re.escape(reply),)
        case "last_line":
            return _as_accepted(rule.rule, reply)
        case _:
            return (reply,)


def _doubt(question: Question, text: str) -> str:
    """Why a pass deserves a look: `contains` does not read meaning, so a reply may name a trap beside the answer."""
    if not question.traps:
        return ""
    rule = question.rule.rule if question.rule.name == "last_line" else question.rule
    if rule.name != "contains":
        return ""
    trap = trap_of(question, text)
    return f"it names the trap {quoted(trap.reply)} as well; a check not_contains would decide" if trap else ""


def _why(
    judged: Judged | None, second: Judged | None, checks: tuple[CheckResult, ...], trap: Trap | None, alone: bool
) -> str:
    """One sentence, or two where the two rules disagree; nothing where not `alone` and there is nothing to say."""
    said = [judged.why] if judged is not None and (not judged.passed or not checks) else []
    said += [f"{check.name}: {check.why}" for check in checks if not check.passed]
    if not said and (checks or alone):
        said = [f"all {len(checks)} checks pass" if checks else "nothing to decide by"]
    if trap is not None:
        said.append(f"it is the trap {quoted(trap.reply)}" + (f" ({trap.why})" if trap.why else ""))
    if judged is not None and second is not None and judged.passed != second.passed:
        said.append("only the second rule passes" if second.passed else "the second rule does not pass")
    return "; ".join(said)
