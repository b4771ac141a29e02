"""A prepared round starts: lock, plan on disk, clients and money, and then its runner."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path

from resit.core.agents.presets import entry_of
from resit.core.calling.batches import AnthropicBatches
from resit.core.calling.client import Client
from resit.core.calling.faults import RetryPolicy
from resit.core.calling.providers import make_batches, make_client
from resit.core.endpoints import Endpoint
from resit.core.errors import KeyMissing, ResitError
from resit.core.records import Fault, Setting, run_key
from resit.core.rounds.agents import make_agents
from resit.core.rounds.batch_book import BatchNote
from resit.core.rounds.batch_room import PollPace
from resit.core.rounds.batch_runner import BatchRunner
from resit.core.rounds.clock import Clock
from resit.core.rounds.graded import DamagedResult, Graded, GradedRound
from resit.core.rounds.hindered import Means, Problem
from resit.core.rounds.lost import lost_calls, write_down_lost
from resit.core.rounds.outfit import Emit, Outfit
from resit.core.rounds.plan import COMMAND, Plan, RoundPlan, chosen_questions, make_plan
from resit.core.rounds.planned import RECORDED
from resit.core.rounds.pool_gate import PoolGate
from resit.core.rounds.reviews import read_reviews, settled_keys
from resit.core.rounds.runner import CALL_LIMIT_S, Runner
from resit.core.rounds.sent import read_sent
from resit.core.rounds.store import RoundStore
from resit.core.spend.budget import Budget
from resit.core.spend.ledger import Ledger
from resit.core.spend.prices import PastCall
from resit.core.suite import Suite

AFTER_S = 60.0
"""How long an agent's run may go on after its limit, until it is ended, besides what verifying its work takes."""


@dataclass(slots=True)
class Parts:
    """What a start needs besides the plan."""

    rounds_dir: Path
    means: Means
    clock: Clock
    rng: random.Random
    ledger: Ledger | None
    policy: RetryPolicy
    again: frozenset[str]
    only: tuple[str, ...]
    past: tuple[PastCall, ...]
    poll: PollPace
    out: tuple[BatchNote, ...] = ()
    """The batches that are out."""
    damaged: tuple[DamagedResult, ...] = ()


AnyRunner = Runner | BatchRunner
"""Whoever runs a round; all have one face."""


def start_round(
    plan: Plan, store: RoundStore | None, parts: Parts, problems: Sequence[Problem], emit: Emit
) -> AnyRunner:
    """Take the lock of a round, new or gone on with, write its plan, and put its runner together.

    Raises:
        RoundBusy: Another process runs it.
        StoreFull: The disk has no room.
    """
    opened = store or RoundStore.create(parts.rounds_dir, plan.round, plan.suite)
    opened.lock()
    try:
        if store is not None:
            opened.save_plan(plan.round)
            opened.save_suite(plan.suite)
        return _runner(plan, opened, parts, problems, emit)
    except BaseException:
        opened.unlock()
        raise


def _runner(wish: Plan, store: RoundStore, parts: Parts, problems: Sequence[Problem], emit: Emit) -> AnyRunner:
    """The runner of a locked round. What is owed is worked out again, for another process may have run it since."""
    round_plan = wish.round.model_copy(update={"id": store.id})
    keeper = GradedRound(store)
    plan, graded = plan_against(keeper, wish.suite, round_plan, parts.again, parts.only)
    assert graded is not None
    for result in graded.damaged:
        store.set_aside(result.key)
    barred = {problem.setting.label: _as_fault(problem.error) for problem in problems}
    paid = any(p.setting.provider != RECORDED for p in round_plan.settings)
    ledger = parts.ledger if paid else None
    write_down_lost(store, round_plan, graded.entries, ledger, (q.id for q in wish.suite.questions))
    done = frozenset(plan.done)
    reviews = read_reviews(store)
    keys = {p.setting.label: p.setting for p in round_plan.settings}
    rows = tuple(r for r in graded.rows if run_key(r.question, keys[r.setting], r.run) in done)
    outfit = Outfit(
        plan,
        store,
        {} if round_plan.batch else _clients(plan, parts.means, barred),
        _budget(plan, graded, store),
        ledger,
        emit,
        keeper=keeper,
        rows=rows,
        verdicts={key: review.verdict for key, review in reviews.items() if review.verdict is not None},
        barred=barred,
        policy=parts.policy,
        clock=parts.clock,
        rng=parts.rng,
        gate=_gate(keys, parts),
    )
    if round_plan.batch:
        return BatchRunner(outfit, _batches(round_plan, parts.means, barred), parts.poll)
    return Runner(outfit, call_limit_s=_call_limit_s(plan, parts.means))


def _gate(settings: Mapping[str, Setting], parts: Parts) -> PoolGate | None:
    """The quotas that a round's settings share; None when they share none."""
    models = parts.means.models_file
    if parts.ledger is None or not any(models.pool_of(setting.model) for setting in settings.values()):
        return None
    return PoolGate(models, settings, parts.ledger, parts.clock)


def _as_fault(error: ResitError) -> Fault:
    return Fault(kind="key" if isinstance(error, KeyMissing) else "request", said=str(error))


def _budget(plan: Plan, graded: Graded, store: RoundStore) -> Budget:
    """The round's money, with what its earlier starts cost, and may have cost at worst where no bill came."""
    held = graded.held.values()
    budget = Budget(
        plan.round.cap_usd,
        spent_usd=sum((h.cost_usd for h in held), Decimal(0)),
        at_least=any(h.cost_unknown for h in held) or bool(lost_calls(store, graded.entries)),
    )
    for key, sent in read_sent(store).items():
        entry = graded.entries.get(key)
        billed = entry.row.attempts - entry.held.cost_unknown if entry is not None else 0
        budget.take_doubtful(max(0, sent.calls - billed) * sent.worst_usd)
    return budget


def _call_limit_s(plan: Plan, means: Means) -> float:
    """The longest that a call may take: an agent ends itself at its own limit, and then its work is verified.

    That may take twice its time, once for the work and once for the untouched workspace.
    """
    agents = [p.setting.model for p in plan.round.settings if p.setting.provider == COMMAND]
    after_s = AFTER_S + 2 * max((q.verify_seconds for q in plan.suite.asked if q.verify), default=0)
    return max([CALL_LIMIT_S, *(entry_of(model, means.models_file).timeout_s + after_s for model in agents)])


def _clients(wish: Plan, means: Means, barred: Mapping[str, Fault]) -> dict[str, Client]:
    """Who asks, by setting label; settings of one provider, server and key share a client, and so do all agents."""
    given, plan = means.clients or {}, wish.round
    agents = None if COMMAND in given else make_agents(wish, means, barred)
    made: dict[tuple[str, Endpoint], Client] = {}
    found: dict[str, Client] = {}
    for planned in plan.settings:
        setting, endpoint = planned.setting, means.endpoints[planned.setting.label]
        if setting.provider in given:
            found[setting.label] = given[setting.provider]
            continue
        if setting.label in barred:
            continue
        if setting.provider == COMMAND and agents is not None:
            found[setting.label] = agents
            continue
        place = (setting.provider, endpoint)
        if place not in made:
            made[place] = make_client(
                setting.provider,
                endpoint,
                cwd=means.cwd,
                models=means.models,
                concurrency=plan.concurrency,
                environ=means.environ,
            )
        found[setting.label] = made[place]
    return found


def _batches(plan: RoundPlan, means: Means, barred: Mapping[str, Fault]) -> dict[str, AnthropicBatches]:
    """Who takes batches, by setting label; settings of one server and key share one."""
    made: dict[Endpoint, AnthropicBatches] = {}
    found: dict[str, AnthropicBatches] = {}
    for label in plan.labels:
        endpoint = means.endpoints[label]
        if label in barred:
            continue
        if endpoint not in made:
            made[endpoint] = make_batches(endpoint, cwd=means.cwd, models=means.models, environ=means.environ)
        found[label] = made[endpoint]
    return found


def plan_against(
    keeper: GradedRound | None, suite: Suite, round_plan: RoundPlan, again: frozenset[str], only: Sequence[str]
) -> tuple[Plan, Graded | None]:
    """What is owed, held against what the round holds; None of it for a round that is not there yet."""
    if keeper is None:
        return make_plan(suite, round_plan, {}), None
    graded = keeper.grade(suite, round_plan)
    plan = make_plan(
        suite,
        round_plan,
        graded.held,
        damaged=[*(result.key for result in graded.damaged), *keeper.store.set_aside_keys()],
        settled=settled_keys(read_reviews(keeper.store)),
        again=again,
    )
    if only and tuple(only) != round_plan.only:
        now = {question.id for question in chosen_questions(suite, only)}
        plan = replace(plan, jobs=tuple(job for job in plan.jobs if job.question.id in now))
    return plan, graded
