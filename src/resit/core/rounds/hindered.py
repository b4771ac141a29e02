"""Why a setting cannot start: said before anything is written, and before any call."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from resit.core.agents.presets import cannot_run
from resit.core.calling.client import Client
from resit.core.calling.models import ModelInfo, cannot_ask, info_of
from resit.core.calling.providers import key_for
from resit.core.config import ModelsFile
from resit.core.endpoints import Endpoint
from resit.core.errors import ResitError, Unpriced, UsageError
from resit.core.records import Setting
from resit.core.rounds.exposed import Shelter
from resit.core.rounds.plan import COMMAND, PlannedSetting, RoundPlan
from resit.core.rounds.planned import RECORDED
from resit.core.spend.prices import how_to_price
from resit.core.suite import Suite

BATCHED = "anthropic"
"""The provider that takes batches."""


@dataclass(frozen=True, slots=True)
class Problem:
    """Why a setting cannot start."""

    setting: Setting
    error: ResitError
    """The sentence and its mend."""

    @property
    def said(self) -> str:
        """The one line."""
        return f"{self.setting.label}: {self.error}"


@dataclass(frozen=True, slots=True)
class Means:
    """What the settings of a round are asked with."""

    clients: Mapping[str, Client] | None
    """Who asks, by provider, instead of the usual ones."""
    endpoints: Mapping[str, Endpoint]
    """Where each setting is asked, by label."""
    models: Mapping[str, ModelInfo]
    """What models take, by id."""
    cwd: Path
    """Where `.env` is looked for."""
    environ: Mapping[str, str] | None
    """Stands in for the process's environment."""
    models_file: ModelsFile = field(default_factory=ModelsFile)
    """The person's models, for the commands of agents."""
    shelter: Shelter | None = None
    """What keeps agents away from the keys; None without agents, and where they run elsewhere."""
    dask: str | None = None
    """Address of the Dask cluster that runs agents; None runs them here."""
    unisolated: bool = False
    """Whether a person lets agents start where they could read the answers."""


def find_problems(plan: RoundPlan, suite: Suite, means: Means) -> tuple[Problem, ...]:
    """The settings of `plan` that cannot start."""
    found = ((planned.setting, _cannot_start(planned, plan, suite, means)) for planned in plan.settings)
    return tuple(Problem(setting, error) for setting, error in found if error is not None)


def _cannot_start(planned: PlannedSetting, plan: RoundPlan, suite: Suite, means: Means) -> ResitError | None:
    setting, endpoint = planned.setting, means.endpoints[planned.setting.label]
    code = sum(question.workspace is not None for question in plan.questions(suite))
    if code and setting.provider not in (COMMAND, RECORDED):
        what = "1 question has" if code == 1 else f"{code} questions have"
        return UsageError(
            f"{what} a workspace, which only a command-line agent can work in",
            hint="name an agent with -m, or leave such questions out with --only",
        )
    if plan.cap_usd is not None and planned.price is None:
        return Unpriced(
            f"{setting.model} has no price, so a cap cannot hold it",
            hint=f"{how_to_price(setting.model)}; or run without a cap",
        )
    pool = means.models_file.pool_of(setting.model)
    if pool is not None and means.models_file.pools[pool].usd is not None and planned.price is None:
        return Unpriced(
            f"{setting.model} has no price, so pool {pool} cannot hold it", hint=how_to_price(setting.model)
        )
    if plan.batch and setting.provider != BATCHED:
        return UsageError(
            "only Anthropic's models are asked in batches", hint="ask this one in a round without --batch"
        )
    if means.clients is not None and setting.provider in means.clients:
        return None
    if setting.provider == RECORDED:
        return UsageError("recorded replies are played by resit demo", hint="name a model that can be asked")
    if setting.provider == COMMAND:
        error = cannot_run(setting, means.models_file, means.environ, here=means.dask is None)
        return error or (means.shelter.error if means.shelter is not None else None)
    try:
        key_for(endpoint, means.cwd, means.environ)
    except ResitError as error:
        return error
    refused = cannot_ask(info_of(setting, means.models), setting.effort, setting.thinking)
    return UsageError(refused) if refused else None
