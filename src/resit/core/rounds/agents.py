"""Makes the client that asks a round's command-line agents: what is hidden from them, and what decides about work."""

from __future__ import annotations

from collections.abc import Container

from resit.core.agents.canary import plant, readable_from
from resit.core.agents.command_client import CommandClient, Ground
from resit.core.agents.dask_client import Cluster, DaskClient
from resit.core.agents.jail import best_isolation, hidden_areas
from resit.core.agents.presets import entry_of
from resit.core.agents.verify import CodeKey, code_key
from resit.core.calling.client import Client
from resit.core.config import ModelEntry, ModelsFile
from resit.core.rounds.exposed import Shelter
from resit.core.rounds.hindered import Means
from resit.core.rounds.plan import COMMAND, Plan, RoundPlan


def make_agents(plan: Plan, means: Means, barred: Container[str]) -> Client | None:
    """Who asks all agents of a round; None when it has none that may start.

    A marker is planted for this round, and once more it is looked whether it can be read from inside; where a cluster
    runs the agents, each of its machines looks for itself.

    Raises:
        Exposed: It can, and nobody agreed to that.
    """
    settings = [planned.setting for planned in plan.round.settings if planned.setting.provider == COMMAND]
    if all(setting.label in barred for setting in settings):
        return None
    hidden = hidden_areas(plan.suite, cwd=means.cwd)
    models_file = _told(means.models_file, plan.round)
    if means.dask is not None:
        cluster = Cluster(means.dask, unisolated=means.unisolated)
        ground = Ground(hidden, None, plant(plan.suite), _code_keys(plan))
        return DaskClient(CommandClient(models_file, ground, run=cluster.run), cluster)
    isolation, canary = best_isolation(), plant(plan.suite)
    try:
        accepted = means.shelter is not None and means.shelter.accepted
        error = Shelter(isolation, readable_from(canary, isolation, hidden), accepted).error
        if error is not None:
            raise error
        ground = Ground(hidden, isolation, canary, _code_keys(plan))
        return CommandClient(models_file, ground, environ=means.environ, cwd=means.cwd)
    except BaseException:
        canary.remove()
        raise


def _code_keys(plan: Plan) -> dict[str, CodeKey]:
    """What decides about each workspace that is still to be worked in."""
    owed = [job for job in plan.jobs if job.request.workspace is not None]
    keys = {job.asked: code_key(plan.suite, job.question) for job in owed}
    return {asked: key for asked, key in keys.items() if key is not None}


def _told(models_file: ModelsFile, plan: RoundPlan) -> ModelsFile:
    """The person's models, with the budgets that the round was planned with."""
    changed: dict[str, ModelEntry] = {}
    for planned in plan.settings:
        if planned.setting.provider == COMMAND and planned.budget_usd is not None:
            entry = entry_of(planned.setting.model, models_file)
            changed[planned.setting.model] = entry.model_copy(update={"budget_usd": planned.budget_usd})
    return models_file.model_copy(update={"models": models_file.models | changed})
