"""Which calls are still owed, and why: the only module that decides it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import Literal

from pydantic import Field

from resit.core.records import Frozen, Isolation, Request, RunRecord, Setting, run_key
from resit.core.rule import digest
from resit.core.scoring.grade import unfair
from resit.core.scoring.work import verify_rules
from resit.core.spend.prices import Price
from resit.core.suite import Question, Suite, Variant
from resit.core.suite_file import attached_files, build_prompt

COMMAND = "command"
"""The provider whose models are command-line agents."""

OwedReason = Literal[
    "new", "prompt changed", "setting changed", "last outcome unusable", "repeat added", "damaged file", "asked again",
    "verification changed",
]  # fmt: skip
"""Why a call is owed. `asked again`: a person wants it, though a usable reply is there. `verification changed`: an
agent's work was tried by other tests than the present ones; `reverify` may try it again without a call."""


class PlannedSetting(Frozen):
    """A setting of a round, where it is asked, and at what price."""

    setting: Setting
    endpoint: str
    """Base URL in force, or `recorded:<name>`."""
    endpoint_source: str = "default"
    """Who named the endpoint: `--base-url`, `models.toml`, `ANTHROPIC_BASE_URL`, `default` or `recorded`."""
    price: Price | None = None
    """In force when the setting joined the round. None: not known, never free."""
    budget_usd: Decimal | None = None
    """What a command-line agent is told to stop at in each run. None: nothing."""


class RoundPlan(Frozen):
    """What a round asks: the file `round.toml`, written before the first call."""

    format: Literal[1] = 1
    id: str
    """Name of the round's folder."""
    suite: str
    """Short name of the suite."""
    title: str
    suite_path: str | None = None
    """Where the suite's file was, as the person named it; only used to find later edits."""
    suite_digest: str
    rule_digest: str
    rule_set_at: datetime
    """When the rules were written down: before the first call."""
    created_at: datetime
    settings: tuple[PlannedSetting, ...]
    repeats: int = Field(ge=1)
    first_repeats: int = Field(ge=1)
    """Repeats the round began with; later ones are `repeat added`."""
    only: tuple[str, ...] = ()
    """Ids or kinds of the questions asked; empty means all."""
    cap_usd: Decimal | None = None
    serial: bool = False
    """One call at a time, so that seconds are clean."""
    concurrency: int = Field(default=8, ge=1)
    """Calls in flight per pool."""
    agents: int = Field(default=2, ge=1)
    """Command-line agents at work at a time."""
    isolation: Isolation | None = None
    """What keeps agents away from the keys; None without agents."""
    unisolated: bool = False
    """True when they could read the keys, and a person let them start nevertheless."""
    batch: bool = False
    """Asked in batches, at the batch price."""
    versions: dict[str, str] = Field(default_factory=dict)

    @property
    def at_a_time(self) -> int:
        """Calls in flight at a time at most, of the pool that takes most."""
        if self.serial:
            return 1
        return self.agents if all(p.setting.provider == COMMAND for p in self.settings) else self.concurrency

    @property
    def labels(self) -> tuple[str, ...]:
        """The settings as a person reads them, in order."""
        return tuple(planned.setting.label for planned in self.settings)

    def questions(self, suite: Suite) -> tuple[Question, ...]:
        """The questions of `suite` that this round asks, in suite order."""
        return chosen_questions(suite, self.only)


def chosen_questions(suite: Suite, only: Iterable[str]) -> tuple[Question, ...]:
    """The asked questions whose id or kind is in `only`; all of them when it is empty."""
    wanted = frozenset(only)
    return tuple(q for q in suite.asked if not wanted or q.id in wanted or q.kind in wanted)


@dataclass(frozen=True, slots=True)
class Held:
    """What the store holds of one run, as far as planning needs it."""

    usable: tuple[str, ...]
    """`asked` digests of the attempts with a usable reply, each with how its work was verified, if it was."""
    asked: tuple[str, ...]
    """`asked` digests of all attempts."""
    prompt: str
    """Fingerprint of the prompt of the last attempt."""
    last: str
    """Outcome or fault of the last attempt, for a sentence."""
    cost_usd: Decimal
    """Known cost of all attempts."""
    cost_unknown: int
    """How many attempts have no known cost."""


@dataclass(frozen=True, slots=True)
class Job:
    """One run that is owed."""

    index: int
    """Place in the order of asking."""
    key: str
    question: Question
    setting: Setting
    run: int
    request: Request
    asked: str
    """The request's fingerprint."""
    reason: OwedReason

    @property
    def wanted(self) -> str:
        """What `Held.usable` says of a run once this is done."""
        return _wanted(self.asked, self.question, self.setting)


@dataclass(frozen=True, slots=True)
class Plan:
    """A round's jobs, and what it holds already."""

    round: RoundPlan
    suite: Suite
    jobs: tuple[Job, ...]
    """Owed, in the order of asking: interleaved over the settings, so that none lags behind."""
    done: tuple[str, ...]
    """Keys of the planned runs with a usable reply, in suite order."""
    planned: int

    @property
    def reasons(self) -> dict[OwedReason, int]:
        """How many jobs are owed for which reason."""
        counts: dict[OwedReason, int] = {}
        for job in self.jobs:
            counts[job.reason] = counts.get(job.reason, 0) + 1
        return counts

    @property
    def said(self) -> str:
        """One line: how many are done, how many are owed, and why."""
        why = ", ".join(f"{count} {reason}" for reason, count in self.reasons.items())
        return f"{len(self.done)} of {self.planned} done, {len(self.jobs)} to do" + (f" ({why})" if why else "")


def since_said(plan: RoundPlan, suite: Suite) -> str:
    """What became of the rules since the round wrote them down: `2 edits since`; nothing when they are as they were."""
    edits = sum(edit.at > plan.rule_set_at for edit in suite.edits)
    if edits:
        return f"{edits:,} edit{'' if edits == 1 else 's'} since"
    return "" if suite.rule_digest == plan.rule_digest else "changed in the file since"


def held(record: RunRecord) -> Held:
    """What planning needs to know of a stored run. Only replies that are fair answers are ever reused."""
    replied = ((a.asked, a.reply) for a in record.attempts if a.reply is not None and unfair(a.reply) is None)
    usable = (_proven(asked, rule) for asked, reply in replied for rule in verify_rules(reply) or ("",))
    last = record.attempts[-1] if record.attempts else None
    if last is not None and last.reply is not None:
        outcome = str(unfair(last.reply) or "answered")
    else:
        outcome = last.fault.kind if last is not None and last.fault is not None else "never sent"
    return Held(
        usable=tuple(dict.fromkeys(usable)),
        asked=tuple(dict.fromkeys(a.asked for a in record.attempts)),
        prompt=digest(record.prompt),
        last=outcome,
        cost_usd=sum((a.cost_usd for a in record.attempts if a.cost_usd is not None), Decimal(0)),
        cost_unknown=sum(a.cost_usd is None for a in record.attempts),
    )


def build_request(
    suite: Suite, question: Question, setting: Setting, endpoint: str, prompt: str | None = None
) -> Request:
    """All that the model will see of a question, and how.

    Args:
        suite: Where instruction, variants and limits come from.
        question: The question.
        setting: Model, effort and variant.
        endpoint: Base URL in force.
        prompt: The built prompt, when the caller has it already.
    """
    variant = suite.variants.get(setting.variant, Variant())
    agent = setting.provider == COMMAND
    return Request(
        provider=setting.provider,
        model=setting.model,
        prompt=build_prompt(suite, question, setting.variant, inlined=not agent) if prompt is None else prompt,
        system=variant.system if variant.system is not None else question.system,
        max_tokens=question.max_tokens or suite.max_tokens,
        effort=setting.effort,
        thinking=setting.thinking,
        endpoint=endpoint,
        files=attached_files(suite, question) if agent else (),
        workspace=_workspace(suite, question) if agent else None,
        workspace_digest=question.workspace_digest if agent else "",
    )


def _workspace(suite: Suite, question: Question) -> Path | None:
    """The folder that an agent gets a copy of; None without one, and for a suite that was read from a round."""
    if question.workspace is None or suite.path is None:
        return None
    return suite.path.resolve().parent / question.workspace


def make_plan(
    suite: Suite,
    round_plan: RoundPlan,
    stored: Mapping[str, Held],
    *,
    damaged: Iterable[str] = (),
    settled: Iterable[str] = (),
    again: Iterable[str] = (),
) -> Plan:
    """Hold what is planned against what is stored.

    Args:
        suite: The suite as it is asked now.
        round_plan: Settings and repeats.
        stored: What the store holds, by run key.
        damaged: Keys of runs whose file could not be read.
        settled: Keys of runs without a fair answer that a person's verdict has settled.
        again: Keys of runs that a person wants asked again whatever is stored.
    """
    requests = _requests(suite, round_plan)
    broken, closed, wanted = frozenset(damaged), frozenset(settled), frozenset(again)
    jobs: list[Job] = []
    done: list[str] = []
    for run in range(1, round_plan.repeats + 1):
        for question in round_plan.questions(suite):
            for planned in round_plan.settings:
                request, asked, shown = requests[question.id, planned.setting.label]
                key = run_key(question.id, planned.setting, run)
                have = stored.get(key)
                if key in wanted:
                    reason: OwedReason | None = "asked again"
                elif have is None:
                    reason = _why_missing(round_plan, run, key in broken)
                else:
                    proven = _wanted(asked, question, planned.setting)
                    reason = None if key in closed else _why_owed(have, asked, proven, shown)
                if reason is None:
                    done.append(key)
                else:
                    jobs.append(Job(len(jobs), key, question, planned.setting, run, request, asked, reason))
    return Plan(round_plan, suite, tuple(jobs), tuple(done), len(jobs) + len(done))


def _why_missing(round_plan: RoundPlan, run: int, damaged: bool) -> OwedReason:
    if damaged:
        return "damaged file"
    return "repeat added" if run > round_plan.first_repeats else "new"


def _wanted(asked: str, question: Question, setting: Setting) -> str:
    return _proven(asked, question.verify_digest if setting.provider == COMMAND else "")


def _proven(asked: str, rule: str) -> str:
    return f"{asked}/{rule}" if rule else asked


def _why_owed(have: Held, asked: str, wanted: str, shown: str) -> OwedReason | None:
    if wanted in have.usable:
        return None
    if wanted != asked and any(usable.startswith(f"{asked}/") for usable in have.usable):
        return "verification changed"
    if asked in have.asked:
        return "last outcome unusable"
    return "prompt changed" if have.prompt != shown else "setting changed"


def _requests(suite: Suite, round_plan: RoundPlan) -> dict[tuple[str, str], tuple[Request, str, str]]:
    """Request, `asked` digest and prompt digest by question and setting; each prompt is built once per variant."""
    prompts: dict[tuple[str, str, bool], tuple[str, str]] = {}
    found: dict[tuple[str, str], tuple[Request, str, str]] = {}
    for question in round_plan.questions(suite):
        for planned in round_plan.settings:
            inlined = planned.setting.provider != COMMAND
            place = (question.id, planned.setting.variant, inlined)
            if place not in prompts:
                text = build_prompt(suite, question, planned.setting.variant, inlined=inlined)
                prompts[place] = (text, digest(text))
            text, shown = prompts[place]
            request = build_request(suite, question, planned.setting, planned.endpoint, text)
            found[question.id, planned.setting.label] = (request, request.digest(), shown)
    return found
