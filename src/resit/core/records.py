"""What is asked and what came back: the records that cross every border of the house."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from functools import cached_property
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from resit.core.rule import digest

Effort = Literal["low", "medium", "high", "xhigh", "max"]
EFFORTS: tuple[Effort, ...] = ("low", "medium", "high", "xhigh", "max")

Stop = Literal["end", "cut_off", "context_full", "refused", "blocked"]
"""Why the model stopped: by itself, at `max_tokens`, at the window's end, by declining, or held back by a filter."""

Outcome = Literal["pass", "part", "miss", "empty", "cut_off", "refused", "blocked", "void", "limit", "timeout", "error"]
FAIR: frozenset[str] = frozenset({"pass", "part", "miss"})
"""Outcomes that are an answer; the others are unsettled and never count as wrong. `void`: the key was seen."""

Reason = Literal["trap", "format", "wrong"]
VerdictWord = Literal["model", "grader", "question", "setup"]

FaultKind = Literal[
    "key", "model", "billing", "request", "limit", "quota", "overloaded", "server", "dropped", "timeout", "blocked",
    "internal",
]  # fmt: skip
RETRIED: frozenset[str] = frozenset({"limit", "overloaded", "server", "dropped", "timeout"})
"""Faults that another attempt may cure."""
ENDS_SETTING: frozenset[str] = frozenset({"key", "model", "billing", "quota"})
"""Faults that every other job of the setting would meet as well."""


class Frozen(BaseModel):
    """Base of what is read from or written to disk: frozen, unknown keys refused."""

    model_config = ConfigDict(frozen=True, extra="forbid")


# Figures of a file or a server that was not ours: in bounds in which every sum and product of them stays a figure.
Tokens = Annotated[int, Field(ge=0, le=10**12)]
Seconds = Annotated[float, Field(ge=0, le=10**12)]
Usd = Annotated[Decimal, Field(ge=0, le=10**9)]


class Setting(Frozen):
    """One model × effort × variant."""

    model: str
    effort: Effort | None = None
    """None sends no effort: the model's own default."""
    variant: str = "plain"
    thinking: Literal["default", "off"] = "default"
    provider: str = "anthropic"

    @cached_property
    def label(self) -> str:
        """How a person reads it: `claude-haiku-5-5 low`, with what differs from the usual after it."""
        parts = [self.model, self.effort or "default"]
        if self.thinking == "off":
            parts.append("thinking off")
        if self.variant != "plain":
            parts.append(self.variant)
        return " ".join(parts)

    @cached_property
    def slug(self) -> str:
        """How a file name holds it; two settings never share one."""
        plain = "-".join(
            [self.model, self.effort or "default"]
            + (["off"] if self.thinking == "off" else [])
            + ([self.variant] if self.variant != "plain" else [])
        )
        return file_part(plain)


def file_part(text: str) -> str:
    """`text` as part of a file name on any system; what had to change gets a fingerprint, so names stay distinct."""
    safe = re.sub(r"[^A-Za-z0-9.-]+", "_", text).strip("._")
    # `__` separates the parts of a result's name, and some file systems fold case.
    if safe == text and len(safe) <= 80 and text == text.lower():
        return safe
    return f"{safe[:60].lower()}~{digest(text)[:6]}"


def run_key(question: str, setting: Setting, run: int) -> str:
    """The name of one run everywhere: `<question>__<model>-<effort>__r<run>`."""
    return f"{file_part(question)}__{setting.slug}__r{run}"


@dataclass(frozen=True, slots=True)
class Request:
    """All that the model sees of a question, and how. It has no field for what is accepted."""

    provider: str
    model: str
    prompt: str
    """Instruction, variant and attached files already in it."""
    system: str | None
    max_tokens: int
    effort: Effort | None
    thinking: Literal["default", "off"]
    endpoint: str
    """Base URL in force, `recorded:<name>`, or `command:<name>`."""
    files: tuple[tuple[str, str], ...] = ()
    """Name and text of each file that an agent finds in its folder; a chat model has them in its prompt."""
    workspace: Path | None = None
    """Folder of which an agent gets a copy to work in."""
    workspace_digest: str = ""
    """Fingerprint of all that is in `workspace`."""

    def digest(self) -> str:
        """The `asked` fingerprint: a reply is only ever reused for a request with the same one."""
        parts: list[object] = [
            self.provider,
            self.model,
            self.prompt,
            self.system,
            self.max_tokens,
            self.effort,
            self.thinking,
            self.endpoint,
        ]
        if self.files or self.workspace_digest:
            parts += [[list(file) for file in self.files], self.workspace_digest]
        return digest(parts)


class Usage(Frozen):
    """Tokens of one call, in the four kinds that are priced apart. None: the server did not say."""

    input_tokens: Tokens | None = None
    """Uncached only."""
    cache_write_tokens: Tokens | None = None
    cache_read_tokens: Tokens | None = None
    output_tokens: Tokens | None = None
    """All that is billed as output, thinking included."""
    thinking_tokens: Tokens | None = None


Isolation = Literal["bubblewrap", "sandbox-exec", "landlock", "command's own rules", "none"]
"""What kept an agent's run away from the keys and the person's files, strongest first."""


class Step(Frozen):
    """One step of an agent's transcript."""

    kind: Literal["text", "thinking", "tool", "result", "note"]
    """What it said or thought, a tool it called, what that gave, or a word of the command's own."""
    text: str
    tool: str = ""
    """Name of the tool that was called or answered."""


class Verified(Frozen):
    """What became of the workspace of an agent's run, found out right after it and before the copy was dropped."""

    changed: tuple[str, ...] = ()
    """Protected files that were changed, added or removed."""
    tests: tuple[str, ...] = ()
    """Names of all tests that ran, as far as the output names them."""
    failed: tuple[str, ...] = ()
    """Names of those that failed."""
    exit_code: int | None = None
    """Of `verify`. None: it was not run, or ended at its limit."""
    stopped: str = ""
    """Why `verify` gave no verdict; empty when it did."""
    output: str = ""
    """The end of what it printed."""
    diff: str = ""
    """What the agent changed, as a unified diff."""
    rule: str = ""
    """Fingerprint of what it was verified by: `Question.verify_digest`."""
    left: str = ""
    """Fingerprint of the folder as the agent left it, by which it is known when it is made again from the diff."""


class QuotaReading(Frozen):
    """How much of a plan's quota is used, as the command itself said at the end of a run."""

    window_minutes: Annotated[int, Field(gt=0, le=10**7)]
    """300 is the window of five hours, 10,080 that of a week."""
    used_percent: Annotated[float, Field(ge=0, le=10**6)]
    resets_at: datetime | None = None


class AgentRun(Frozen):
    """How an agent came to its answer."""

    isolation: Isolation
    steps: tuple[Step, ...] = ()
    """The transcript, cut in the middle where it is very long."""
    denied: tuple[str, ...] = ()
    """Tools that it was refused."""
    key_seen: str = ""
    """Where the marker of the keys, or their path, showed up; empty when nowhere."""
    exit_code: int | None = None
    retries: int = 0
    """Calls that the command repeated by itself."""
    api_seconds: Seconds | None = None
    """What the command says its model took."""
    quota: tuple[QuotaReading, ...] = ()
    """What is used of the plan it runs on; none where it does not say."""
    verified: Verified | None = None
    """None for a question without a workspace."""
    verified_before: tuple[Verified, ...] = ()
    """What the same work was worth by earlier tests, the latest first; without its diff."""


class Reply(Frozen):
    """What a model answered, untouched."""

    text: str
    thinking: str = ""
    stop: Stop = "end"
    stop_detail: str = ""
    usage: Usage = Usage()
    seconds: Seconds | None = None
    """From sending to the last byte, of this attempt alone. None in a batch, where nobody says it."""
    first_token_s: Seconds | None = None
    warm_up_s: Seconds | None = None
    """What loading a local model took just before, in a call of its own: no part of `seconds`."""
    model: str = ""
    """As the server named it."""
    request_id: str | None = None
    service_tier: str | None = None
    """How it was served and billed, in the server's word: `standard`, `priority` or `batch`."""
    turns: Tokens | None = None
    cost_reported_usd: Usd | None = None
    """What a command says it cost, beside what resit works out."""
    agent: AgentRun | None = None
    """None for a model that was asked directly."""


class Fault(Frozen):
    """Why no reply came."""

    kind: FaultKind
    said: str
    """One line for the person, free of keys."""
    status: int | None = None
    retry_after_s: Seconds | None = None
    request_id: str | None = None
    usage: Usage | None = None
    """What was billed although nothing usable came, where the server said so."""
    seconds: Seconds | None = None


class Attempt(Frozen):
    """One call on behalf of a run."""

    number: int
    at: datetime
    """When it was sent, UTC."""
    waited_s: Seconds = 0.0
    """Back-off before it."""
    batch: str | None = None
    """Mark of the batch it was a part of. None: a call of its own."""
    asked: str
    """Fingerprint of the request it sent."""
    reply: Reply | None = None
    fault: Fault | None = None
    cost_usd: Usd | None = None
    """At the price in force then. None: not known."""


class RunRecord(Frozen):
    """One asking of one question to one setting, with every attempt it took: a result file."""

    format: Literal[1] = 1
    question: str
    setting: Setting
    run: int
    prompt: str
    """What the last attempt showed the model, so that a miss can be read years later."""
    attempts: tuple[Attempt, ...]

    @property
    def key(self) -> str:
        """The run's name, also the stem of its file."""
        return run_key(self.question, self.setting, self.run)


@dataclass(frozen=True, slots=True)
class Row:
    """One run, graded: a row of the results, of `--json`, graded.json and every export."""

    question: str
    kind: str
    setting: str
    """`Setting.label`."""
    model: str
    effort: str | None
    variant: str
    run: int
    outcome: Outcome
    score: float | None
    """0.0 to 1.0; None when there is no fair answer."""
    second_score: float | None
    reason: Reason | None
    failed: tuple[str, ...]
    reply: str | None
    seconds: float | None
    attempts: int
    input_tokens: int | None
    cache_write_tokens: int | None
    cache_read_tokens: int | None
    output_tokens: int | None
    thinking_tokens: int | None
    cost_usd: Decimal | None
    """Of all attempts together. None when one of them has no price."""
    turns: int | None
    verdict: VerdictWord | None
    rule: str = ""
    """Fingerprint of what was accepted, and how, when it was graded."""
    doubt: str = ""
    """Why a pass deserves a look; empty when it does not."""
