"""`resit models`: what can be asked, at what price, with which key."""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path

from resit.core.agents.installed import agent_infos
from resit.core.calling.local_servers import LocalServer, find_local_servers
from resit.core.calling.models import ALIASES, ModelInfo, ask_models, cached_models, known_models
from resit.core.config import ANTHROPIC_KEY, ModelsFile, find_key, load_models_file
from resit.core.endpoints import Endpoint, endpoint_for
from resit.core.printable import one_line
from resit.core.records import EFFORTS, Fault, Setting
from resit.core.spend.prices import Price, price_for
from resit.plain.text import jsonable, note, say, say_json, table


@dataclass(frozen=True, slots=True)
class Listed:
    """One model as it can be asked from here."""

    info: ModelInfo
    price: Price | None
    endpoint: Endpoint
    key_found: bool | None
    """None: its server is sent no key."""

    @property
    def aliases(self) -> list[str]:
        """Short names for it."""
        return [alias for alias, model in ALIASES.items() if model == self.info.id]

    @property
    def efforts(self) -> str:
        """What it takes, as it is written after `@`."""
        if self.info.efforts is None:
            return "not known"
        off = "" if self.info.thinking_off in (None, "impossible") else ", off"
        every = "low to max" if self.info.efforts == EFFORTS else " ".join(self.info.efforts)
        return (every or "none") + off

    @property
    def asked_at(self) -> str:
        """Where it is asked, and whether the key for that is there."""
        if self.info.provider == "command":
            return f"{self.endpoint.said}, signed in as you are"
        if self.key_found is None:
            return f"{self.endpoint.said}, no key needed"
        return f"{self.endpoint.said}, {self.endpoint.key} {'found' if self.key_found else 'not found'}"


def main(args: argparse.Namespace) -> int:
    """Print the models; 0."""
    models_file, now = load_models_file(), datetime.now(UTC)
    _refresh(models_file, now)
    listed = list_models(models_file, now, find_local_servers())
    if args.json:
        say_json({"models": [_as_json(model, now.date()) for model in listed]})
        return 0
    _print(listed, now.date())
    return 0


def _print(listed: Sequence[Listed], today: date) -> None:
    head = ("model", "efforts", "input", "output", "price from")
    say(table(head, [_cells(model, today) for model in listed], right=(2, 3), limit=60))
    say()
    say("US dollars per million tokens, from low to high where long prompts cost more")
    places: dict[str, list[str]] = {}
    for model in listed:
        places.setdefault(model.asked_at, []).append(model.info.id)
    for place, models in places.items():
        say(one_line(f"asked at {place}" + (f": {', '.join(models)}" if len(places) > 1 else "")))
    say(f"short names: {', '.join(f'{alias} = {model}' for alias, model in ALIASES.items())}")
    say("models.toml in the settings folder adds models, servers and prices")


def list_models(models_file: ModelsFile, now: datetime, servers: Sequence[LocalServer] = ()) -> list[Listed]:
    """Every model that something is known of: the person's own first, those of `servers` on this machine last."""
    known = known_models(models_file, now=now) | {info.id: info for info in agent_infos(models_file)}
    keys: dict[str, bool] = {}
    own = [info for model, info in known.items() if model in models_file.models]
    rest = [info for model, info in known.items() if model not in models_file.models]
    local = [info for server in servers for info in server.infos if info.id not in known]
    return [_listed(info, models_file, keys, now) for info in (*own, *rest, *local)]


def _listed(info: ModelInfo, models_file: ModelsFile, keys: dict[str, bool], now: datetime) -> Listed:
    setting = Setting(model=info.id, provider=info.provider)
    endpoint = endpoint_for(setting, models_file)
    return Listed(info, price_for(setting, models_file, now, endpoint.url), endpoint, _key_found(endpoint, keys))


def _key_found(endpoint: Endpoint, keys: dict[str, bool]) -> bool | None:
    if endpoint.key is None:
        return None
    if endpoint.key not in keys:
        keys[endpoint.key] = find_key(endpoint.key, Path.cwd()) is not None
    return keys[endpoint.key]


def _refresh(models_file: ModelsFile, now: datetime) -> None:
    """Ask the API what its models take, once a week, where there is a key to ask with."""
    if cached_models(now) or find_key(ANTHROPIC_KEY, Path.cwd()) is None:
        return
    endpoint = endpoint_for(Setting(model=""), models_file)
    found = asyncio.run(_ask(endpoint, known_models(models_file, now=now), now))
    if isinstance(found, Fault):
        note(f"{endpoint.said} did not say what its models take ({found.said}): this is resit's own table")


async def _ask(endpoint: Endpoint, known: Mapping[str, ModelInfo], now: datetime) -> tuple[ModelInfo, ...] | Fault:
    from resit.core.calling.anthropic_client import AnthropicClient
    from resit.core.calling.providers import key_for

    client = AnthropicClient(endpoint, key_for(endpoint, Path.cwd()), models=known)
    try:
        return await ask_models(client, now=now)
    finally:
        await client.close()


def _cells(model: Listed, today: date) -> list[str]:
    price = model.price
    rates = ["no price", "no price"] if price is None else [_rate(price, "input"), _rate(price, "output")]
    source = "" if price is None else price.label + (", old" if price.stale(today) else "")
    return [model.info.id, model.efforts, *rates, source]


def _rate(price: Price, kind: str) -> str:
    """`0.10`, and `0.10-0.50` where long prompts cost more."""
    rates = [getattr(tier, kind) for tier in (price, *price.tiers)]
    low, high = min(rates), max(rates)
    return f"{low:.2f}" if low == high else f"{low:.2f}-{high:.2f}"


def _as_json(model: Listed, today: date) -> dict[str, object]:
    price, info = model.price, model.info
    return {
        "model": info.id,
        "aliases": model.aliases,
        "provider": info.provider,
        "efforts": info.efforts,
        "default_effort": info.default_effort,
        "thinking_off": info.thinking_off,
        "max_output": info.max_output,
        "source": info.source,
        "as_of": info.as_of.isoformat() if info.as_of else None,
        "price": None if price is None else _price_json(price, today),
        "key": model.endpoint.key,
        "key_found": model.key_found,
        "endpoint": model.endpoint.url,
        "endpoint_source": model.endpoint.source,
    }


def _price_json(price: Price, today: date) -> object:
    return jsonable(price.model_dump() | {"as_of": price.as_of.isoformat() if price.as_of else None}) | {
        "stale": price.stale(today)
    }
