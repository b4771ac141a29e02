"""What each model can be asked: efforts, thinking off or not, how much it may write.

Three sources, the later one wins: a small dated table, the API's own model information (asked, then cached for a
week), and the person's `models.toml`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any, Literal, Protocol

from pydantic import ValidationError

from resit.core.config import ModelEntry, ModelsFile, ThinkingOff
from resit.core.endpoints import provider_for
from resit.core.paths import atomic_write, cache_dir
from resit.core.records import EFFORTS, Effort, Fault, Frozen, Setting

CACHE_DAYS = 7
TABLE_DATE = date(2026, 11, 29)
TABLE_SOURCE = "platform.claude.com model pages"


class ModelInfo(Frozen):
    """What is known of one model. None: not known, so it is sent and the server decides."""

    id: str
    provider: str = "anthropic"
    label: str = ""
    efforts: tuple[Effort, ...] | None = None
    default_effort: Effort | None = None
    """What the API takes when no effort is sent."""
    thinking_off: ThinkingOff | None = None
    off_efforts: tuple[Effort, ...] | None = None
    """The efforts that go with thinking off, where not all do."""
    max_output: int | None = None
    retires_on: date | None = None
    source: str = TABLE_SOURCE
    as_of: date | None = None


def _row(
    model: str,
    default: Effort,
    thinking_off: ThinkingOff,
    off_efforts: tuple[Effort, ...] | None = None,
) -> ModelInfo:
    label = model.removeprefix("claude-").replace("-", " ", 1).replace("-", ".").title()
    return ModelInfo(
        id=model,
        label=label,
        efforts=EFFORTS,
        default_effort=default,
        thinking_off=thinking_off,
        off_efforts=off_efforts,
        max_output=128_000,
        as_of=TABLE_DATE,
    )


_TO_HIGH: tuple[Effort, ...] = ("low", "medium", "high")
TABLE: dict[str, ModelInfo] = {
    info.id: info
    for info in (
        _row("claude-haiku-5-5", "medium", "disabled", _TO_HIGH),
        _row("claude-sonnet-5-5", "high", "between_tools"),
        _row("claude-opus-5-5", "medium", "impossible"),
        # Its effort default is not on a page we saw; always-on thinking is (vercel.com/ai-gateway/models).
        _row("claude-fable-5-2", "high", "impossible").model_copy(update={"default_effort": None}),
        _row("claude-fable-5-1", "high", "impossible"),
        _row("claude-opus-5", "high", "disabled", _TO_HIGH),
    )
}
"""Models that are current, where the API's own information is not at hand."""

ALIASES = {
    "haiku": "claude-haiku-5-5",
    "sonnet": "claude-sonnet-5-5",
    "opus": "claude-opus-5-5",
    "fable": "claude-fable-5-2",
}


class ModelLister(Protocol):
    """Whoever can ask a server for its models."""

    async def list_models(self) -> tuple[dict[str, Any], ...] | Fault:
        """What `/v1/models` says, one dictionary a model."""
        ...


class _Cache(Frozen):
    """The file that keeps what the API said."""

    format: Literal[1] = 1
    asked_at: datetime
    models: tuple[ModelInfo, ...]


def known_models(models_file: ModelsFile, *, now: datetime | None = None) -> dict[str, ModelInfo]:
    """Every model that something is known of, by id; no call is made.

    Args:
        models_file: The person's, whose word is last.
        now: The time, to tell whether the cached information is too old.
    """
    known = dict(TABLE)
    for info in cached_models(now or datetime.now(UTC)):
        known[info.id] = _merge(known.get(info.id), info)
    for model, entry in models_file.models.items():
        info = model_info(model, known) or ModelInfo(id=model, label=model)
        known[model] = _with_entry(info, model, entry, provider_for(model, models_file))
    return known


def model_info(model: str, known: Mapping[str, ModelInfo]) -> ModelInfo | None:
    """What is known of `model`; a dated id (`claude-haiku-5-5-20261007`) is the model without its date."""
    return known.get(model) or known.get(re.sub(r"-20\d{6}$", "", model))


def resolve_model(text: str, known: Mapping[str, ModelInfo]) -> str:
    """The id that `text` means: an alias, a known id without `claude-`, or itself.

    An alias after `claude-code/` is one, too: what it stands for would otherwise change with the next model.
    """
    name = text.strip()
    if name in known:
        return name
    agent, slash, alias = name.partition("/")
    if slash and agent == "claude-code" and alias in ALIASES:
        return f"{agent}/{ALIASES[alias]}"
    plain = name.lower().replace(".", "-").replace(" ", "-")
    if plain in ALIASES:
        return ALIASES[plain]
    return f"claude-{plain}" if f"claude-{plain}" in known else name


def info_of(setting: Setting, known: Mapping[str, ModelInfo]) -> ModelInfo:
    """What is known of a setting's model, were it only who asks it."""
    return model_info(setting.model, known) or ModelInfo(id=setting.model, provider=setting.provider)


def cannot_ask(info: ModelInfo | None, effort: Effort | None, thinking: Literal["default", "off"]) -> str | None:
    """Why a model cannot be asked that way, as a sentence; None when it can, or nobody knows."""
    if info is None:
        return None
    if effort is not None and info.efforts is not None and effort not in info.efforts:
        return f"{info.id} takes no effort {effort}; it takes {', '.join(info.efforts) or 'none'}"
    if thinking == "default":
        return None
    if effort is not None and info.provider == "openai":
        # Both are values of `reasoning_effort`.
        return f"{info.id} takes an effort or thinking off, not both"
    if info.thinking_off == "impossible":
        return f"{info.id} always thinks; leave thinking at its default and choose an effort"
    if effort is not None and info.off_efforts is not None and effort not in info.off_efforts:
        return f"{info.id} cannot turn thinking off at effort {effort}; it can at {', '.join(info.off_efforts)}"
    return None


def thinking_off_type(info: ModelInfo | None) -> str:
    """The `thinking.type` that turns a model's thinking off; `disabled` where nothing else is known."""
    return "between_tools" if info is not None and info.thinking_off == "between_tools" else "disabled"


async def ask_models(client: ModelLister, *, now: datetime) -> tuple[ModelInfo, ...] | Fault:
    """Ask the API what its models take, and keep the answer for a week."""
    pages = await client.list_models()
    if isinstance(pages, Fault):
        return pages
    models = tuple(info for page in pages if (info := _from_api(page, now.date())) is not None)
    # A folder that cannot be written costs a call next time, nothing else.
    with suppress(OSError):
        atomic_write(_cache_path(), _Cache(asked_at=now, models=models).model_dump_json(indent=1).encode())
    return models


def cached_models(now: datetime) -> tuple[ModelInfo, ...]:
    """What the API said last, unless that is older than a week, unreadable, or of another version."""
    try:
        cache = _Cache.model_validate_json(_cache_path().read_bytes())
    except (OSError, ValidationError):
        return ()
    age = now - cache.asked_at if cache.asked_at.tzinfo else timedelta.max
    return cache.models if timedelta(0) <= age < timedelta(days=CACHE_DAYS) else ()


def _cache_path() -> Path:
    return cache_dir() / "models.json"


def _merge(row: ModelInfo | None, asked: ModelInfo) -> ModelInfo:
    """The API's word, and of the table what the API does not say."""
    if row is None:
        return asked
    unsaid = [name for name in ModelInfo.model_fields if getattr(asked, name) is None]
    return asked.model_copy(update={name: getattr(row, name) for name in unsaid})


def _with_entry(info: ModelInfo, model: str, entry: ModelEntry, provider: str) -> ModelInfo:
    """The person's word over what was known."""
    said: dict[str, Any] = {
        "efforts": entry.efforts,
        "thinking_off": entry.thinking_off,
        "max_output": entry.max_tokens,
    }
    changed = {name: value for name, value in said.items() if value is not None}
    if "efforts" in changed or "thinking_off" in changed:
        changed["off_efforts"] = None
    return info.model_copy(update={**changed, "id": model, "provider": provider, "source": "models.toml"})


def _from_api(page: Mapping[str, Any], today: date) -> ModelInfo | None:
    """One model of `/v1/models`; None when it is retired or cannot be read."""
    model = page.get("id")
    if not isinstance(model, str) or not model or page.get("lifecycle") == "retired":
        return None
    capabilities = _table(page.get("capabilities"))
    effort = _table(capabilities.get("effort"))
    limit = page.get("max_tokens")
    return ModelInfo(
        id=model,
        label=str(page.get("display_name") or model),
        efforts=tuple(level for level in EFFORTS if _supported(effort.get(level))) if effort else None,
        thinking_off=_thinking_off(_table(_table(capabilities.get("thinking")).get("types"))),
        max_output=limit if isinstance(limit, int) and limit > 0 else None,
        retires_on=_day(page.get("retires_at")),
        source="the API's model information",
        as_of=today,
    )


def _thinking_off(types: Mapping[str, Any]) -> ThinkingOff | None:
    """How thinking is turned off, going by the supported types; None when the API does not say."""
    if not types:
        return None
    if _supported(types.get("disabled")):
        return "disabled"
    return "between_tools" if _supported(types.get("between_tools")) else "impossible"


def _supported(value: object) -> bool:
    return _table(value).get("supported") is True


def _table(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _day(value: object) -> date | None:
    try:
        return datetime.fromisoformat(value).date() if isinstance(value, str) else None
    except ValueError:
        return None
