"""What a round will be: its settings with endpoint and price, and the plan that is written down."""

from __future__ import annotations

import platform
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from importlib.metadata import PackageNotFoundError, version

from resit import __version__
from resit.core.agents.presets import entry_of
from resit.core.agents.versions import command_versions
from resit.core.calling.client import Client
from resit.core.calling.recorded_client import RecordedClient
from resit.core.config import ModelsFile
from resit.core.endpoints import Endpoint, endpoint_for
from resit.core.errors import UsageError
from resit.core.records import Setting
from resit.core.rounds.plan import COMMAND, PlannedSetting, RoundPlan
from resit.core.rounds.shelf import portable_path
from resit.core.rounds.wish import Wish
from resit.core.spend.prices import Price, price_for, priced_for
from resit.core.suite import Suite

CONCURRENCY = 8
AGENTS = 2
"""Agents at work at a time: more of them slow each other's start by seconds."""
CAPPED_RUN_USD, CAPPED_RUN_SHARE = Decimal(1), 4
"""What an agent is told to stop at under a cap, where nothing is said: so much, or this part of a smaller cap."""
RECORDED = "recorded"
"""The provider that plays saved replies and pays nobody."""
RECORDED_PRICE = Price(input=Decimal(0), output=Decimal(0), source="recorded replies")
"""Playing a recording pays nobody."""


@dataclass(frozen=True, slots=True)
class Sources:
    """Who says where a setting is asked, and at what price."""

    models_file: ModelsFile
    base_url: str | None
    """What `--base-url` says."""
    clients: Mapping[str, Client] | None
    """Who asks, by provider, instead of the usual ones."""
    environ: Mapping[str, str] | None
    now: datetime


def plan_settings(
    wish: Wish, former: RoundPlan | None, sources: Sources
) -> tuple[tuple[PlannedSetting, ...], dict[str, Endpoint]]:
    """All settings of the round, former ones first, and where each is asked, by label.

    Raises:
        UsageError: No setting is named.
        ConfigError: A base URL cannot be used.
    """
    before = {planned.setting.label: planned for planned in former.settings} if former else {}
    all_settings = {setting.label: setting for setting in (*(p.setting for p in before.values()), *wish.settings)}
    if not all_settings:
        raise UsageError("no model is named", hint="-m MODEL names one; resit models lists them")
    found, endpoints = [], {}
    for label, setting in all_settings.items():
        endpoint, price = _place(setting, before.get(label), sources, _in_batches(wish, former))
        endpoints[label] = endpoint
        planned = PlannedSetting(setting=setting, endpoint=endpoint.url, endpoint_source=endpoint.source, price=price)
        if setting.provider == COMMAND:
            cap = _cap_usd(wish, former)
            usual = None if cap is None else min(CAPPED_RUN_USD, cap / CAPPED_RUN_SHARE)
            told = entry_of(setting.model, sources.models_file).budget_usd or usual
            planned = planned.model_copy(update={"budget_usd": told})
        found.append(planned)
    return tuple(found), endpoints


def _cap_usd(wish: Wish, former: RoundPlan | None) -> Decimal | None:
    """The cap as wished, else as the round has it."""
    if wish.cap_usd is not None or wish.no_cap or former is None:
        return wish.cap_usd
    return former.cap_usd


def _place(
    setting: Setting, before: PlannedSetting | None, sources: Sources, batch: bool
) -> tuple[Endpoint, Price | None]:
    """Where a setting is asked and what it costs; a price that nobody knows any more stays what it was."""
    if setting.provider == RECORDED:
        return _recorded_endpoint(sources.clients, before), RECORDED_PRICE
    endpoint = endpoint_for(setting, sources.models_file, sources.base_url, sources.environ)
    price = price_for(setting, sources.models_file, sources.now, endpoint.url)
    if price is None and before is not None:
        price = before.price
    return endpoint, price if price is None else priced_for(price, batch=batch)


def _in_batches(wish: Wish, former: RoundPlan | None) -> bool:
    return bool(wish.batch if wish.batch is not None or former is None else former.batch)


def _recorded_endpoint(clients: Mapping[str, Client] | None, before: PlannedSetting | None) -> Endpoint:
    client = (clients or {}).get(RECORDED)
    url = client.endpoint if isinstance(client, RecordedClient) else before.endpoint if before else "recorded:none"
    return Endpoint(url, "recorded", None)


def plan_round(
    suite: Suite, former: RoundPlan | None, settings: tuple[PlannedSetting, ...], wish: Wish, now: datetime
) -> RoundPlan:
    """The plan of a new round, or of the `former` one with what the wish adds."""
    count = wish.repeats or suite.repeats
    new = RoundPlan(
        id=f"{now:%Y%m%d-%H%M%S}-{suite.name}",
        suite=suite.name,
        title=suite.title,
        suite_path=portable_path(suite.path),
        suite_digest=suite.digest,
        rule_digest=suite.rule_digest,
        rule_set_at=now,
        created_at=now,
        settings=settings,
        repeats=count,
        first_repeats=count,
        only=wish.only,
        cap_usd=wish.cap_usd,
        serial=bool(wish.serial),
        concurrency=wish.concurrency or CONCURRENCY,
        agents=wish.concurrency or AGENTS,
        batch=_in_batches(wish, former),
        versions={
            "resit": __version__,
            "python": platform.python_version(),
            **_library_versions(),
            **command_versions(p.setting for p in settings),
        },
    )
    return new if former is None else _going_on(new, former, wish)


def _going_on(new: RoundPlan, former: RoundPlan, wish: Wish) -> RoundPlan:
    """What a round keeps of its beginning, and what a later start changes."""
    return new.model_copy(
        update={
            "id": former.id,
            "suite_path": new.suite_path or former.suite_path,
            "created_at": former.created_at,
            "rule_digest": former.rule_digest,
            "rule_set_at": former.rule_set_at,
            "repeats": max(former.repeats, wish.repeats or 1),
            "first_repeats": former.first_repeats,
            "only": former.only,
            "cap_usd": _cap_usd(wish, former),
            "serial": former.serial if wish.serial is None else wish.serial,
            "concurrency": wish.concurrency or former.concurrency,
            "agents": wish.concurrency or former.agents,
            "unisolated": former.unisolated,
            "versions": former.versions | new.versions,
        }
    )


def _library_versions() -> dict[str, str]:
    found = {}
    for name in ("anthropic", "genai-prices"):
        with suppress(PackageNotFoundError):
            found[name] = version(name)
    return found
