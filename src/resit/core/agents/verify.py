"""Whether an agent's work holds: protected files compared, hidden tests put in place, `verify` run and read."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from resit.core.agents.scratch import Scratch
from resit.core.records import Isolation, Verified
from resit.core.suite import Question, Suite


@dataclass(frozen=True, slots=True)
class CodeKey:
    """What decides about a workspace: the part of a question that no agent sees."""

    workspace: Path
    protect: tuple[str, ...] = ()
    hidden: Path | None = None
    verify: str | None = None
    rule: str = ""
    """Fingerprint of how it is verified."""


def code_key(suite: Suite, question: Question) -> CodeKey | None:
    """The key of a question; None when it has no workspace."""
    raise NotImplementedError


def verify(scratch: Scratch, key: CodeKey, isolation: Isolation, hidden: tuple[Path, ...]) -> Verified:
    """Verify what an agent left in `scratch`; blocks until `verify` ends or is ended. Never raises for bad work.

    Args:
        scratch: The run's folders; the agent and all that it started must have ended.
        key: What decides.
        isolation: How `verify` is kept away from the keys and the person's files.
        hidden: What it must not see.
    """
    raise NotImplementedError
