"""From a wish to a round that can start: the one place where plan, store, clients and money are put together."""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

from resit.core.calling.client import Client
from resit.core.calling.faults import RetryPolicy
from resit.core.calling.models import known_models
from resit.core.config import ModelsFile, load_models_file
from resit.core.errors import UsageError
from resit.core.paths import rounds_dir as default_rounds_dir
from resit.core.records import Setting
from resit.core.rounds.batch_book import BatchNote, open_batches
from resit.core.rounds.batch_room import PollPace
from resit.core.rounds.clock import Clock
from resit.core.rounds.exposed import find_shelter
from resit.core.rounds.graded import GradedRound
from resit.core.rounds.hindered import Means, Problem, find_problems
from resit.core.rounds.outfit import Emit
from resit.core.rounds.past import past_calls
from resit.core.rounds.plan import COMMAND, Plan, PlannedSetting, RoundPlan
from resit.core.rounds.planned import RECORDED, Sources, plan_round, plan_settings
from resit.core.rounds.shelf import OpenedRound, RoundSummary, list_rounds, open_round
from resit.core.rounds.starting import AnyRunner, Parts, plan_against, start_round
from resit.core.rounds.store import RoundStore
from resit.core.rounds.wish import NEW, Wish, check_wish, find_store
from resit.core.spend.ledger import Ledger
from resit.core.spend.prices import Estimate, PlannedCall, estimate
from resit.core.suite import Suite

__all__ = [
    "NEW", "OpenedRound", "Prepared", "Problem", "RoundSummary", "list_rounds", "open_round", "prepare_round",
]  # fmt: skip

ATTEMPTS = 10
"""Calls on behalf of one run at most. At one fault in four, one run in a million ends without a reply."""


class Prepared:
    """A round that is ready to start. Nothing has been written yet, and no call made."""

    def __init__(self, plan: Plan, store: RoundStore | None, parts: Parts, problems: tuple[Problem, ...]) -> None:
        """Hold what `prepare_round` put together."""
        self.plan = plan
        self.store = store
        self.problems = problems
        self._parts = parts

    @property
    def round(self) -> RoundPlan:
        """What is planned: settings with endpoints and prices, repeats, cap."""
        return self.plan.round

    @property
    def startable(self) -> bool:
        """True when at least one setting can start."""
        barred = {problem.setting.label for problem in self.problems}
        return any(label not in barred for label in self.round.labels)

    @property
    def resumes(self) -> bool:
        """True when a round that is there goes on."""
        return self.store is not None

    @property
    def out(self) -> int:
        """Requests that earlier starts have out in batches."""
        return sum(note.requests for note in self._parts.out)

    @property
    def endpoints(self) -> tuple[str, ...]:
        """Where calls will go, as a person reads it; to be shown before any is made."""
        return tuple(dict.fromkeys(_endpoint_said(planned) for planned in self.round.settings))

    @property
    def waits_in_line(self) -> bool:
        """True when calls go side by side to a server on this machine, whose seconds then may hold its queue."""
        side_by_side = not self.round.serial and not self.round.batch
        return side_by_side and any(endpoint.local for endpoint in self._parts.means.endpoints.values())

    @property
    def notes(self) -> tuple[str, ...]:
        """What a person should know before starting."""
        notes = [self.plan.said, *(f"asked at {said}" for said in self.endpoints)]
        if self._parts.out:
            notes.append(f"the round {_out_said(self._parts.out)}: they are collected before anything is asked again")
        if not self.plan.jobs:
            notes.append(f"round {self.round.id} is complete; --round {NEW} asks everything again")
        if self.round.repeats < 2:
            notes.append("one run proves nothing about variance")
        if self.waits_in_line:
            notes.append(
                "calls may wait in line at a server on this machine, and seconds count that; --serial avoids it"
            )
        if self.plan.reasons.get("verification changed"):
            notes.append(f"resit grade {self.round.id} verifies that work again by the present tests, without a call")
        if self._parts.means.shelter is not None:
            notes.append(self._parts.means.shelter.said)
        if self._parts.means.dask is not None:
            notes.append(f"agents run on the Dask cluster at {self._parts.means.dask}")
        notes += (f"{result.why}: it will be set aside and asked again" for result in self._parts.damaged)
        return tuple(notes)

    @property
    def estimate(self) -> Estimate:
        """What the owed calls are expected to cost and take."""
        planned = {each.setting.label: each for each in self.round.settings}
        asked = [(job, planned[job.setting.label]) for job in self.plan.jobs]
        calls = [PlannedCall(j.question.id, j.setting, j.request, p.price, p.budget_usd) for j, p in asked]
        return estimate(calls, self._parts.past)

    def unisolated(self) -> Prepared:
        """The same, agents being allowed to start though they could read the answers."""
        shelter = self._parts.means.shelter
        if shelter is None:
            return self
        shelter = replace(shelter, accepted=True)
        parts = replace(self._parts, means=replace(self._parts.means, shelter=shelter))
        plan = replace(self.plan, round=shelter.recorded(self.plan.round))
        return Prepared(plan, self.store, parts, find_problems(plan.round, plan.suite, parts.means))

    def start(self, emit: Emit) -> AnyRunner:
        """Take the round's lock, write its plan, and hand over the runner, whose `run` makes the calls.

        Raises:
            KeyMissing: No setting can start, for want of a key; or another error that says why.
            RoundBusy: Another process runs this round.
            StoreFull: The disk has no room.
        """
        if not self.startable:
            raise self.problems[0].error
        return start_round(self.plan, self.store, self._parts, self.problems, emit)


def prepare_round(
    suite: Suite,
    settings: Sequence[Setting] = (),
    repeats: int | None = None,
    *,
    cap_usd: Decimal | None = None,
    no_cap: bool = False,
    serial: bool | None = None,
    concurrency: int | None = None,
    only: Sequence[str] = (),
    round: str | None = None,  # noqa: A002 - the word of the command line
    again: Iterable[str] = (),
    base_url: str | None = None,
    models_file: ModelsFile | None = None,
    clients: Mapping[str, Client] | None = None,
    rounds_dir: Path | None = None,
    ledger: Ledger | None = None,
    cwd: Path | None = None,
    environ: Mapping[str, str] | None = None,
    clock: Clock | None = None,
    rng: random.Random | None = None,
    policy: RetryPolicy | None = None,
    batch: bool | None = None,
    poll: PollPace | None = None,
    unisolated: bool = False,
    dask: str | None = None,
) -> Prepared:
    """Put a round together, or find the one that goes on, without writing or calling anything.

    Without `round`, the newest round of this suite with the same questions goes on when its settings are among
    `settings` and its repeats not more than `repeats`: the same command resumes, a longer one asks what is missing.

    Args:
        suite: The suite, edits laid over it.
        settings: The settings to ask; none with `round` means those of the round.
        repeats: Runs of each question and setting; None is the round's, else the suite's.
        cap_usd: The most the whole round may cost, earlier starts included. None: as the round has it.
        no_cap: With `cap_usd` None: lift the cap that the round has.
        serial: One call at a time. None: as the round says.
        concurrency: Calls in flight per provider. None: as the round says.
        only: Ids or kinds of the questions to ask.
        round: Id or path of a round to go on with, `last`, or `new`.
        again: Keys of runs to ask again though a usable reply is there.
        base_url: What `--base-url` says.
        models_file: The person's models and prices; None reads `models.toml`.
        clients: Who asks, by provider, instead of the usual ones.
        rounds_dir: Folder of all rounds.
        ledger: Where calls are written down.
        cwd: Where `.env` is looked for.
        environ: Stands in for the process's environment.
        clock: The time.
        rng: Where jitter comes from.
        policy: When a failed call is tried again.
        batch: In batches, at the batch price. None: as the round says.
        poll: How often a batch is looked at.
        unisolated: Let agents start though they could read the answers.
        dask: Address of the Dask cluster that is to run agents.

    Raises:
        UsageError: A setting, question or round that is not there.
        ConfigError: `models.toml` or a base URL cannot be used.
        RoundError: The round cannot be read.
    """
    folder, clock = rounds_dir or default_rounds_dir(), clock or Clock()
    wish = Wish(tuple(settings), repeats, cap_usd, serial, concurrency, tuple(only), round, batch, unisolated, no_cap)
    sources = Sources(
        models_file if models_file is not None else load_models_file(), base_url, clients, environ, clock.now()
    )
    check_wish(suite, wish)
    store = find_store(folder, suite, wish)
    former = store.plan() if store is not None else None
    out = open_batches(store) if store is not None else ()
    planned, endpoints = plan_settings(wish, former, sources)
    round_plan = plan_round(suite, former, planned, wish, sources.now)
    if out and not round_plan.batch:
        mend = "go on in batches (--batch; b in Set up) to collect them, or cancel them with --cancel-batch"
        raise UsageError(f"round {round_plan.id} {_out_said(out)}", hint=mend)
    models = known_models(sources.models_file, now=sources.now)
    shelter = None if dask or COMMAND in (clients or {}) else find_shelter(suite, planned, cwd or Path.cwd())
    if shelter is not None:
        shelter = replace(shelter, accepted=unisolated)
        round_plan = shelter.recorded(round_plan)
    elif dask and unisolated:
        round_plan = round_plan.model_copy(update={"unisolated": True})
    parts = Parts(
        rounds_dir=folder,
        means=Means(
            clients, endpoints, models, cwd or Path.cwd(), environ, sources.models_file, shelter, dask, unisolated
        ),
        clock=clock,
        rng=rng or random.Random(),
        ledger=ledger if ledger is not None else Ledger(),
        policy=policy or RetryPolicy(max_attempts=ATTEMPTS),
        again=frozenset(again),
        only=wish.only,
        past=past_calls(folder, suite),
        poll=poll or PollPace(),
        out=out,
    )
    keeper = GradedRound(store) if store is not None else None
    plan, graded = plan_against(keeper, suite, round_plan, parts.again, parts.only)
    parts.damaged = graded.damaged if graded is not None else ()
    return Prepared(plan, store, parts, find_problems(round_plan, suite, parts.means))


def _out_said(out: Sequence[BatchNote]) -> str:
    count = sum(note.requests for note in out)
    return f"has {count:,} requests out in {'a batch' if len(out) == 1 else f'{len(out)} batches'}"


def _endpoint_said(planned: PlannedSetting) -> str:
    usual = planned.endpoint_source in ("default", RECORDED)
    return planned.endpoint if usual else f"{planned.endpoint} (from {planned.endpoint_source})"
