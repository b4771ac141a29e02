"""What the work of an agent is worth: decided from what was found out about it right after its run, without I/O."""

from __future__ import annotations

from resit.core.records import Reply, Verified
from resit.core.scoring.checks import CheckResult
from resit.core.suite import Question

VERIFY = "verify"
"""Name of the one item of a `verify` that names no tests."""
_NAMED = 5
"""Failed tests that are named in a sentence."""


def verified_work(reply: Reply, rule: str = "") -> Verified | None:
    """What was found out about the work behind a reply; None when nothing was.

    Args:
        reply: The reply of an agent.
        rule: Fingerprint of what it is to be verified by; what was found out last where it never was.
    """
    if reply.agent is None or reply.agent.verified is None:
        return None
    found = (reply.agent.verified, *reply.agent.verified_before)
    return next((work for work in found if work.rule == rule), found[0])


def verify_rules(reply: Reply) -> tuple[str, ...]:
    """Fingerprints of what the work behind a reply was verified by, as far as there was a verdict."""
    if reply.agent is None or reply.agent.verified is None:
        return ()
    return tuple(work.rule for work in (reply.agent.verified, *reply.agent.verified_before) if not work.stopped)


def why_unverified(question: Question, reply: Reply) -> str:
    """Why the work behind a reply cannot be graded: a grader that did not work is never a wrong answer.

    Empty when it can, and for a question that asks for no work.
    """
    if not question.verify_digest:
        return ""
    work = verified_work(reply, question.verify_digest)
    if work is None:
        return "ungraded: its work was not verified; only a command-line agent can do it"
    if work.stopped:
        return f"ungraded: {work.stopped}"
    if work.rule != question.verify_digest:
        return "ungraded: what verifies it was changed since; resit grade verifies it again, without a call"
    return ""


def work_checks(work: Verified) -> tuple[CheckResult, ...]:
    """Each test, and what else decides about the work, as a check of weight 1; what failed is told first.

    Protected files that were touched come before all.
    """
    touched = [CheckResult(name, False, 1.0, "a protected file") for name in work.changed]
    failed = [CheckResult(name, False, 1.0, "failed") for name in work.failed]
    names = frozenset(work.failed)
    passed = [CheckResult(name, True, 1.0, "passed") for name in work.tests if name not in names]
    found = (*touched, *failed, *passed)
    # Without tests by name, the exit code of `verify` is the one item, and untouched files are where nothing is run.
    return found or (CheckResult(VERIFY, True, 1.0, "passed"),)


def proves_nothing(question: Question, work: Verified) -> bool:
    """Whether what passed counts for nothing: a protected file was touched, or `verify` did not come to its end."""
    return bool(work.changed) or (question.verify is not None and work.exit_code is None)


def work_why(work: Verified) -> str:
    """One sentence."""
    if work.changed:
        return f"protected files were touched: {_some(work.changed)}"
    if work.failed:
        named = f"{len(work.failed)} of {len(work.tests)} tests failed: " if len(work.tests) >= len(work.failed) else ""
        return named + _some(work.failed)
    return f"all {len(work.tests)} tests pass" if work.tests else "verify passes"


def _some(names: tuple[str, ...]) -> str:
    more = len(names) - _NAMED
    return ", ".join(names[:_NAMED]) + (f" and {more:,} more" if more > 0 else "")
