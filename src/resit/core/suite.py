"""A suite and its questions, as everything above the file formats sees them."""

from __future__ import annotations

from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import Annotated, Literal, Self, cast

from pydantic import BaseModel, ConfigDict, Field

from resit.core.rule import Check, Exact, Rule, digest

PLAIN = "plain"
"""The variant that adds nothing; every suite has it."""

DEFAULT_MAX_TOKENS = 1024


class Frozen(BaseModel):
    """Base of what is read from or written to disk: frozen, unknown keys refused."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    def replaced(self, **values: object) -> Self:
        """A copy with other values, none of them checked; unlike `model_copy` it keeps no cached property."""
        fields = {name: getattr(self, name) for name in type(self).model_fields}
        return cast("Self", type(self).model_construct(**fields | values))


class Trap(Frozen):
    """A wrong answer the question is built to catch."""

    reply: str
    why: str = ""


class Variant(Frozen):
    """A wording wrapped around every prompt."""

    prepend: str = ""
    append: str = ""
    system: str | None = None


class Question(Frozen):
    """A prompt, what is accepted, and the rule that decides."""

    id: str
    prompt: str = ""
    kind: str = "general"
    """The kind of work it stands for; routing is decided per kind."""
    about: str = ""
    """A line on the work it stands for, for whoever reads the suite; no model sees it."""
    accept: tuple[str, ...] = ()
    rule: Rule = Exact()
    second_rule: Rule | None = None
    """Scored beside the first, never instead of it."""
    checks: tuple[Check, ...] = ()
    traps: tuple[Trap, ...] = ()
    no_trap: bool = False
    """The person's word that no wrong answer tempts; it is no part of what decides."""
    reference: str | None = None
    """A reply that must get full marks."""
    weight: Annotated[float, Field(ge=0, allow_inf_nan=False)] = 1.0
    system: str | None = None
    max_tokens: int | None = None
    files: tuple[str, ...] = ()
    """Paths relative to the suite's folder."""
    workspace: str | None = None
    """Folder, relative to the suite's, of which an agent gets a copy to work in."""
    protect: tuple[str, ...] = ()
    """Paths or patterns within the workspace that must come back byte for byte, nothing added or removed."""
    hidden: str | None = None
    """Folder, relative to the suite's, whose files are put into the agent's copy before `verify`: the hidden tests."""
    verify: str | None = None
    """Command that runs in the copy afterwards; it decides."""
    verify_seconds: Annotated[int, Field(gt=0)] = 120
    """How long `verify` may take."""
    workspace_digest: str = ""
    """Fingerprint of the workspace, as it was when the suite was read."""
    hidden_digest: str = ""
    """Fingerprint of the hidden tests, as they were then."""
    draft: bool = False
    """Never asked."""
    line: int | None = Field(default=None, exclude=True)
    """Line of the suite file it starts on, where the format has lines."""

    @cached_property
    def rule_digest(self) -> str:
        """Fingerprint of what is accepted and how: whatever can change a grade without a new call."""
        rule = self.model_dump(mode="json", include={"accept", "rule", "second_rule", "checks", "traps", "weight"})
        return digest([rule, self.verify_digest] if self.verify_digest else rule)

    @cached_property
    def verify_digest(self) -> str:
        """Fingerprint of how an agent's work is verified; empty when it is not."""
        if self.verify is None and not self.protect:
            return ""
        return digest([self.protect, self.hidden_digest, self.verify, self.verify_seconds])


_LATER = ("about", "no_trap", "hidden", "verify_seconds", "workspace_digest", "hidden_digest")
"""Keys that came later: a question that does not use them keeps the fingerprint it had before there were any."""


class Edit(Frozen):
    """A change of what is accepted, made after results were seen. The prompt can never be edited this way."""

    at: datetime
    question: str
    what: Literal["accept", "rule", "second_rule", "trap", "weight"]
    accept: str | None = None
    rule: Rule | None = None
    trap: Trap | None = None
    weight: float | None = None
    run: str | None = None
    """Key of the run that caused it, `question__setting__rN`."""
    note: str = ""


class SuiteFault(Frozen):
    """One thing wrong with a suite."""

    code: str
    message: str
    mend: str = ""
    question: str | None = None
    line: int | None = None
    path: str = ""


class Suite(Frozen):
    """A file of questions, with the person's edits laid over it."""

    name: str
    """Short name used in folders: the file's stem made safe."""
    title: str
    about: str = ""
    instruction: str = ""
    rule: Rule = Exact()
    second_rule: Rule | None = None
    max_tokens: int = DEFAULT_MAX_TOKENS
    repeats: int = 2
    """What a conclusion needs at least."""
    variants: dict[str, Variant] = {}
    attached: dict[str, str] = {}
    """Texts of the files that questions name, as they were when the suite was read."""
    questions: tuple[Question, ...]
    path: Path | None = Field(default=None, exclude=True)
    edits: tuple[Edit, ...] = Field(default=(), exclude=True)
    """Those already laid over `questions`, oldest first."""
    warnings: tuple[SuiteFault, ...] = Field(default=(), exclude=True)
    """What was cleaned or is doubtful, but stops nothing."""

    @cached_property
    def by_id(self) -> dict[str, Question]:
        """Questions by id, in suite order."""
        return {q.id: q for q in self.questions}

    @cached_property
    def asked(self) -> tuple[Question, ...]:
        """The questions that are asked: all but drafts."""
        return tuple(q for q in self.questions if not q.draft)

    @cached_property
    def rule_digest(self) -> str:
        """Fingerprint of every rule of the suite."""
        return digest([[q.id, q.rule_digest] for q in self.questions])

    @cached_property
    def digest(self) -> str:
        """Fingerprint of the whole suite, edits included."""
        table = self.model_dump(mode="json")
        for question in table["questions"]:
            for name in _LATER:
                if question[name] == Question.model_fields[name].default:
                    del question[name]
        return digest(table)
