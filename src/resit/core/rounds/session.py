"""From a wish to a round that can start: the one place where plan, store, clients and money are put together."""

from __future__ import annotations

import platform
import random
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from decimal import Decimal
from difflib import get_close_matches
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from resit import __version__
from resit.core.calling.client import Client
from resit.core.calling.faults import RetryPolicy
from resit.core.calling.models import cannot_ask, known_models, model_info
from resit.core.calling.providers import key_for
from resit.core.calling.recorded_client import RecordedClient
from resit.core.config import Endpoint, ModelsFile, endpoint_for, load_models_file
from resit.core.errors import ResitError, RoundError, Unpriced, UsageError
from resit.core.paths import rounds_dir as default_rounds_dir
from resit.core.records import Row, Setting, Usage
from resit.core.rounds.clock import Clock
from resit.core.rounds.graded import GradedRound, load_entries
from resit.core.rounds.plan import Plan, PlannedSetting, RoundPlan
from resit.core.rounds.runner import Emit, Runner
from resit.core.rounds.shelf import OpenedRound, RoundSummary, list_rounds, open_round, portable_path
from resit.core.rounds.starting import RECORDED, Parts, Problem, plan_against, start_round
from resit.core.rounds.store import RoundStore, find_rounds
from resit.core.spend.ledger import Ledger
from resit.core.spend.prices import Estimate, PastCall, PlannedCall, Price, estimate, price_for
from resit.core.suite import PLAIN, Suite
from resit.core.suite_file import find_suite

__all__ = [
    "NEW", "OpenedRound", "Prepared", "Problem", "RoundSummary", "list_rounds", "open_round", "prepare_round",
]  # fmt: skip

NEW = "new"
"""As a round's reference: start another one, though one with these settings is there."""
CONCURRENCY = 8
ATTEMPTS = 10
"""Calls on behalf of one run at most. At one fault in four, one run in a million ends without a reply."""
_PAST_ROUNDS = 10
"""How many of a suite's last rounds an estimate looks at."""
RECORDED_PRICE = Price(input=Decimal(0), output=Decimal(0), source="recorded replies")
"""Playing a recording pays nobody."""


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
    def endpoints(self) -> tuple[str, ...]:
        """Where calls will go, as a person reads it; to be shown before any is made."""
        return tuple(dict.fromkeys(_endpoint_said(planned) for planned in self.round.settings))

    @property
    def notes(self) -> tuple[str, ...]:
        """What a person should know before starting."""
        notes = [self.plan.said, *(f"asked at {said}" for said in self.endpoints)]
        if not self.plan.jobs:
            notes.append(f"round {self.round.id} is complete; --round {NEW} asks everything again")
        if self.round.repeats < 2:
            notes.append("one run proves nothing about variance")
        notes += (f"{result.why}: it will be set aside and asked again" for result in self._parts.damaged)
        return tuple(notes)

    @property
    def estimate(self) -> Estimate:
        """What the owed calls are expected to cost and take."""
        prices = {planned.setting.label: planned.price for planned in self.round.settings}
        calls = [PlannedCall(j.question.id, j.setting, j.request, prices[j.setting.label]) for j in self.plan.jobs]
        return estimate(calls, self._parts.past)

    def start(self, emit: Emit) -> Runner:
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
) -> Prepared:
    """Put a round together, or find the one that goes on, without writing or calling anything.

    Without `round`, the newest round of this suite with the same questions goes on when its settings are among
    `settings` and its repeats not more than `repeats`: the same command resumes, a longer one asks what is missing.

    Args:
        suite: The suite, edits laid over it.
        settings: The settings to ask; none with `round` means those of the round.
        repeats: Runs of each question and setting; None is the round's, else the suite's.
        cap_usd: The most the whole round may cost, earlier starts included.
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

    Raises:
        UsageError: A setting, question or round that is not there.
        ConfigError: `models.toml` or a base URL cannot be used.
        RoundError: The round cannot be read.
    """
    models_file = models_file if models_file is not None else load_models_file()
    folder = rounds_dir or default_rounds_dir()
    clock = clock or Clock()
    _check_wish(suite, settings, only, repeats)
    store = _find_store(folder, suite, settings, repeats, only, round)
    former = store.plan() if store is not None else None
    wanted = settings or tuple(planned.setting for planned in former.settings) if former else tuple(settings)
    if not wanted:
        raise UsageError("no model is named", hint="-m MODEL names one; resit models lists them")
    planned, endpoints = _planned_settings(wanted, former, models_file, base_url, clients, environ, clock.now())
    round_plan = _round_plan(suite, former, planned, repeats, cap_usd, serial, concurrency, only, clock.now())
    parts = Parts(
        rounds_dir=folder,
        clients=clients,
        endpoints=endpoints,
        models=known_models(models_file, now=clock.now()),
        cwd=cwd or Path.cwd(),
        environ=environ,
        clock=clock,
        rng=rng or random.Random(),
        ledger=ledger if ledger is not None else Ledger(),
        policy=policy or RetryPolicy(max_attempts=ATTEMPTS),
        again=frozenset(again),
        only=tuple(only),
        past=_past_calls(folder, suite),
    )
    keeper = GradedRound(store) if store is not None else None
    plan, graded = plan_against(keeper, suite, round_plan, parts.again, parts.only)
    parts.damaged = graded.damaged if graded is not None else ()
    return Prepared(plan, store, parts, _problems(round_plan, parts))


def _check_wish(suite: Suite, settings: Sequence[Setting], only: Sequence[str], repeats: int | None) -> None:
    for setting in settings:
        if setting.variant != PLAIN and setting.variant not in suite.variants:
            known = ", ".join((PLAIN, *suite.variants))
            raise UsageError(f"{suite.name} has no variant {setting.variant!r}", hint=f"it has {known}")
    known_names = {q.id for q in suite.asked} | {q.kind for q in suite.asked}
    for name in only:
        if name not in known_names:
            near = get_close_matches(name, known_names, 1)
            hint = f"did you mean {near[0]!r}?" if near else "resit check lists them"
            raise UsageError(f"{suite.name} has no question or kind {name!r}", hint=hint)
    if repeats is not None and repeats < 1:
        raise UsageError(f"{repeats} runs cannot be asked", hint="-n 2 asks each question twice")


def _find_store(
    folder: Path,
    suite: Suite,
    settings: Sequence[Setting],
    repeats: int | None,
    only: Sequence[str],
    ref: str | None,
) -> RoundStore | None:
    """The round that goes on; None for a new one."""
    if ref == NEW:
        return None
    if ref is not None:
        store = RoundStore.find(folder, ref, suite.name if ref == "last" else None)
        if store.plan().suite != suite.name:
            raise UsageError(f"round {store.id} asks {store.plan().suite}, not {suite.name}", hint="name its own suite")
        return store
    wanted = {setting.label for setting in settings}
    for path in find_rounds(folder, suite.name):
        try:
            store = RoundStore.open(path)
            plan = store.plan()
        except RoundError as error:
            # It may be the one that goes on: to begin anew in silence would pay for its replies twice.
            mend = f"mend it or move {path} away, or start anew with --round new"
            raise RoundError(error.message, hint=mend) from error
        if _is_of_another_file(plan, suite):
            continue
        if set(plan.labels) <= wanted and plan.only == tuple(only) and plan.repeats <= (repeats or suite.repeats):
            return store
    return None


def _is_of_another_file(plan: RoundPlan, suite: Suite) -> bool:
    """Two files of one name in two folders are two suites; a file that was moved is still the one."""
    if plan.suite_path is None or suite.path is None:
        return False
    try:
        return not find_suite(plan.suite_path).samefile(suite.path)
    except (ResitError, OSError):
        return False


def _planned_settings(
    wanted: Sequence[Setting],
    former: RoundPlan | None,
    models_file: ModelsFile,
    base_url: str | None,
    clients: Mapping[str, Client] | None,
    environ: Mapping[str, str] | None,
    now: datetime,
) -> tuple[tuple[PlannedSetting, ...], dict[str, Endpoint]]:
    """All settings of the round, former ones first, and where each is asked."""
    before = {planned.setting.label: planned for planned in former.settings} if former else {}
    all_settings = {setting.label: setting for setting in (*(p.setting for p in before.values()), *wanted)}
    found, endpoints = [], {}
    for label, setting in all_settings.items():
        if setting.provider == RECORDED:
            endpoint = _recorded_endpoint(clients, before.get(label))
            price: Price | None = RECORDED_PRICE
        else:
            endpoint = endpoint_for(setting, models_file, base_url, environ)
            price = price_for(setting, models_file, now)
        if price is None and label in before:
            price = before[label].price
        endpoints[label] = endpoint
        found.append(
            PlannedSetting(setting=setting, endpoint=endpoint.url, endpoint_source=endpoint.source, price=price)
        )
    return tuple(found), endpoints


def _recorded_endpoint(clients: Mapping[str, Client] | None, before: PlannedSetting | None) -> Endpoint:
    client = (clients or {}).get(RECORDED)
    url = client.endpoint if isinstance(client, RecordedClient) else before.endpoint if before else "recorded:none"
    return Endpoint(url, "recorded", None)


def _round_plan(
    suite: Suite,
    former: RoundPlan | None,
    planned: tuple[PlannedSetting, ...],
    repeats: int | None,
    cap_usd: Decimal | None,
    serial: bool | None,
    concurrency: int | None,
    only: Sequence[str],
    now: datetime,
) -> RoundPlan:
    count = repeats or suite.repeats
    new = RoundPlan(
        id=f"{now:%Y%m%d-%H%M%S}-{suite.name}",
        suite=suite.name,
        title=suite.title,
        suite_path=portable_path(suite.path),
        suite_digest=suite.digest,
        rule_digest=suite.rule_digest,
        rule_set_at=now,
        created_at=now,
        settings=planned,
        repeats=count,
        first_repeats=count,
        only=tuple(only),
        cap_usd=cap_usd,
        serial=bool(serial),
        concurrency=concurrency or CONCURRENCY,
        versions={"resit": __version__, "python": platform.python_version(), **_library_versions()},
    )
    if former is None:
        return new
    return new.model_copy(
        update={
            "id": former.id,
            "suite_path": portable_path(suite.path) or former.suite_path,
            "created_at": former.created_at,
            "rule_digest": former.rule_digest,
            "rule_set_at": former.rule_set_at,
            "repeats": max(former.repeats, repeats or 1),
            "first_repeats": former.first_repeats,
            "only": former.only,
            "cap_usd": former.cap_usd if cap_usd is None else cap_usd,
            "serial": former.serial if serial is None else serial,
            "concurrency": concurrency or former.concurrency,
        }
    )


def _library_versions() -> dict[str, str]:
    found = {}
    for name in ("anthropic", "genai-prices"):
        with suppress(PackageNotFoundError):
            found[name] = version(name)
    return found


def _problems(plan: RoundPlan, parts: Parts) -> tuple[Problem, ...]:
    found = []
    for planned in plan.settings:
        error = _cannot_start(planned, plan, parts)
        if error is not None:
            found.append(Problem(planned.setting, error))
    return tuple(found)


def _cannot_start(planned: PlannedSetting, plan: RoundPlan, parts: Parts) -> ResitError | None:
    setting, endpoint = planned.setting, parts.endpoints[planned.setting.label]
    if plan.cap_usd is not None and planned.price is None:
        return Unpriced(
            f"{setting.model} has no price, so a cap cannot hold it",
            hint="add its price to models.toml, or run without --cap",
        )
    if parts.clients is not None and setting.provider in parts.clients:
        return None
    if setting.provider == RECORDED:
        return UsageError("recorded replies are played by resit demo", hint="name a model that can be asked")
    try:
        key_for(endpoint, parts.cwd, parts.environ)
    except ResitError as error:
        return error
    refused = cannot_ask(model_info(setting.model, parts.models), setting.effort, setting.thinking)
    return UsageError(refused) if refused else None


def _past_calls(folder: Path, suite: Suite) -> tuple[PastCall, ...]:
    """What this suite's answered calls took in its last rounds, as far as they were graded."""
    found = []
    for path in find_rounds(folder, suite.name)[:_PAST_ROUNDS]:
        try:
            store = RoundStore.open(path)
            settings = {planned.setting.label: planned.setting for planned in store.plan().settings}
        except RoundError:
            continue
        for entry in load_entries(store).values():
            if entry.row.setting in settings and entry.row.seconds is not None:
                found.append(_past_call(entry.row, settings[entry.row.setting]))
    return tuple(found)


def _past_call(row: Row, setting: Setting) -> PastCall:
    usage = Usage(
        input_tokens=row.input_tokens,
        cache_write_tokens=row.cache_write_tokens,
        cache_read_tokens=row.cache_read_tokens,
        output_tokens=row.output_tokens,
        thinking_tokens=row.thinking_tokens,
    )
    return PastCall(row.question, setting, usage, row.seconds or 0.0)


def _endpoint_said(planned: PlannedSetting) -> str:
    usual = planned.endpoint_source in ("default", RECORDED)
    return planned.endpoint if usual else f"{planned.endpoint} (from {planned.endpoint_source})"
