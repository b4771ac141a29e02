"""What the person set up: keys, and `models.toml` with models, prices and pools."""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Iterable, Mapping
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any, Literal, NoReturn, Self
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field, ValidationError, field_validator, model_validator

from resit.core.agent_names import preset_of
from resit.core.command_entry import CommandEntry
from resit.core.errors import ConfigError
from resit.core.paths import config_dir
from resit.core.pool_entry import PoolEntry
from resit.core.records import Effort, Frozen

ANTHROPIC_KEY = "ANTHROPIC_API_KEY"
ANTHROPIC_HEADERS_VARIABLE = "ANTHROPIC_CUSTOM_HEADERS"
OPENAI_KEY = "OPENAI_API_KEY"
HIDDEN = "[key hidden]"
"""What stands where a key stood."""

Provider = Literal["anthropic", "openai", "command", "recorded"]
ThinkingOff = Literal["disabled", "between_tools", "impossible"]
"""How a model is told not to think: a value of `thinking.type`, or that it cannot be told."""

_GRAM = 8
"""A run of this many of a key's characters is taken for the key."""
_LOOKS_LIKE_A_KEY = re.compile(r"\bsk-[A-Za-z0-9_*.…-]{6,}")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,79}")
_ENV_LINE = re.compile(
    r"""^[ \t]*(?:export[ \t]+)?(?P<name>[A-Za-z_][A-Za-z0-9_.]*)[ \t]*=[ \t]*
        (?: '(?P<single>[^']*)'                     # as it stands
          | "(?P<double>(?:[^"\\]|\\.)*)"           # with escapes
          | (?P<bare>[^\r\n]*?)                     # to the line's end or a comment
        )[ \t]*(?:(?<![^\s'"=])\#[^\r\n]*)?\r?$""",
    re.MULTILINE | re.VERBOSE | re.DOTALL,
)


class Secret:
    """A key. It shows itself to nobody: not in a repr, a traceback's values, a format string or a pickle."""

    __slots__ = ("_value", "source")

    def __init__(self, value: str, source: str) -> None:
        """Keep `value`, found at `source` (`environment`, or the path of a `.env` file)."""
        self._value = value
        self.source = source

    def reveal(self) -> str:
        """The key itself; only for the client that sends it and for `scrub`."""
        return self._value

    def __repr__(self) -> str:
        return "Secret(hidden)"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and other._value == self._value

    def __hash__(self) -> int:
        return hash(self._value)

    def __reduce__(self) -> NoReturn:
        raise TypeError("a key is never written")


def find_key(name: str, cwd: Path, environ: Mapping[str, str] | None = None) -> Secret | None:
    """The key called `name`: from the environment, else from the nearest `.env` that has it.

    Args:
        name: The variable's name, such as `ANTHROPIC_API_KEY`.
        cwd: Folder where the search for `.env` starts; its parents follow.
        environ: Stands in for the process's environment.

    Raises:
        ConfigError: What is there cannot be a key; it is not shown.
    """
    value = (os.environ if environ is None else environ).get(name, "").strip()
    if value:
        return _secret(name, value, "environment")
    for folder in (cwd, *cwd.parents):
        path = folder / ".env"
        value = _read_env(path).get(name, "").strip()
        if value:
            return _secret(name, value, str(path))
    return None


def header_secrets(environ: Mapping[str, str] | None = None) -> tuple[Secret, ...]:
    """The values of the headers that the SDK adds from the environment: a gateway's token may be among them."""
    text = (os.environ if environ is None else environ).get(ANTHROPIC_HEADERS_VARIABLE, "")
    values = (line.partition(":")[2].strip() for line in text.splitlines())
    # A scheme such as `Bearer` is no secret, and short values are words that stand everywhere.
    words = (word for value in values for word in value.split())
    return tuple(Secret(word, ANTHROPIC_HEADERS_VARIABLE) for word in words if len(word) > _GRAM)


def parse_env(text: str) -> dict[str, str]:
    """The variables of a `.env` file: `export`, quotes and comments understood; the last of two wins."""
    values = {}
    for match in _ENV_LINE.finditer(text):
        single, double = match["single"], match["double"]
        if single is not None:
            values[match["name"]] = single
        elif double is not None:
            values[match["name"]] = re.sub(r"\\(.)", _unescape, double, flags=re.DOTALL)
        else:
            values[match["name"]] = match["bare"]
    return values


def scrub(text: str, secrets: Iterable[Secret]) -> str:
    """`text` without any key: neither a known one, nor a piece of one, nor what looks like one.

    To be called before a text is cut, for half a key is not found.
    """
    for secret in secrets:
        text = _hide(text, secret.reveal())
    return _LOOKS_LIKE_A_KEY.sub(HIDDEN, text)


class ModelEntry(CommandEntry):
    """What the person says about a model: `[models."id"]`."""

    provider: Provider = "anthropic"
    base_url: Annotated[str, AfterValidator(lambda url: clean_url(url))] | None = None
    """Server that speaks the provider's API; None is the provider's own."""
    key: Annotated[str, AfterValidator(lambda name: _variable_name(name))] | None = None
    """Name of the environment variable that holds the key, never the key."""
    efforts: tuple[Effort, ...] | None = None
    """None: as resit knows the model, and none for an unknown one."""
    thinking_off: ThinkingOff | None = None
    max_tokens: Annotated[int, Field(gt=0)] | None = None
    """The most output tokens the model can be asked for."""
    pool: str | None = None
    """Name of the quota that it shares with others: one of `[pools.NAME]`."""

    @model_validator(mode="after")
    def _asked_one_way(self) -> Self:
        if self.is_command and self.provider != "command":
            raise ValueError("a preset or command needs provider = 'command'")
        if self.provider == "command" and not self.is_command:
            raise ValueError("provider = 'command' needs a preset or a command")
        return self


class PriceEntry(Frozen):
    """A price of the person's, in US dollars per million tokens: `[prices."id"]`."""

    input: Annotated[Decimal, Field(ge=0, allow_inf_nan=False)]
    output: Annotated[Decimal, Field(ge=0, allow_inf_nan=False)]
    cache_read: Annotated[Decimal, Field(ge=0, allow_inf_nan=False)] | None = None
    cache_write: Annotated[Decimal, Field(ge=0, allow_inf_nan=False)] | None = None
    as_of: date | None = None
    source: str = "models.toml"


class ModelsFile(Frozen):
    """The person's `models.toml`."""

    models: dict[str, ModelEntry] = Field(default_factory=dict)
    prices: dict[str, PriceEntry] = Field(default_factory=dict)
    pools: dict[str, PoolEntry] = Field(default_factory=dict)

    @field_validator("models", mode="before")
    @classmethod
    def _named_presets(cls, tables: Any) -> Any:
        """`[models."codex/gpt-6-sol"]` says by its name which preset it is."""
        if not isinstance(tables, dict):
            return tables
        return {model: _as_preset(model, table) for model, table in tables.items()}

    @model_validator(mode="after")
    def _know_their_models(self) -> Self:
        for model, entry in self.models.items():
            if entry.preset is not None and entry.model is None and preset_of(model) is None:
                raise ValueError(f"models.{model}: a preset under a name of your own needs model = its model's name")
        return self

    @model_validator(mode="after")
    def _known_pools(self) -> ModelsFile:
        for model, entry in self.models.items():
            if entry.pool is not None and entry.pool not in self.pools:
                raise ValueError(f"{model} names a pool that is not there; [pools.NAME] makes one")
        return self

    def pool_of(self, model: str) -> str | None:
        """Name of the pool that a model shares; None when it shares none."""
        entry = self.models.get(model)
        return entry.pool if entry is not None else None

    def members(self, pool: str) -> frozenset[str]:
        """The models that share a pool."""
        return frozenset(model for model, entry in self.models.items() if entry.pool == pool)


def load_models_file(path: Path | None = None) -> ModelsFile:
    """Read `models.toml`; a file that is not there is an empty one.

    Args:
        path: The file; None is the one in `config_dir()`.

    Raises:
        ConfigError: It cannot be read or says something that is not understood. The value is never shown, for it
            may be a key in the wrong place.
    """
    path = path or config_dir() / "models.toml"
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8-sig"), parse_float=Decimal)
        return ModelsFile.model_validate(table)
    except FileNotFoundError:
        return ModelsFile()
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path} cannot be read ({type(error).__name__})") from None
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{path} is not TOML: {scrub(str(error), ())}") from None
    except ValidationError as error:
        raise ConfigError(f"{path}: {_first_fault(error)}", hint=_MODELS_HINT) from None


def _as_preset(model: str, table: Any) -> Any:
    preset = preset_of(model)
    if preset is None or not isinstance(table, dict) or not {"provider", "preset", "command"}.isdisjoint(table):
        return table
    return {**table, "provider": "command", "preset": preset}


def clean_url(url: str) -> str:
    """A base URL as the SDK takes it: no slash and no `/v1` at its end.

    Raises:
        ValueError: Not http(s), or with a password or query in it, which every result would then carry.
    """
    text = url.strip()
    try:
        parts = urlsplit(text)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port is None or parts.port > 0)
    except ValueError:
        usable = False
    if not usable or not text.isascii() or not text.isprintable() or " " in text:
        raise ValueError("must be an http:// or https:// address")
    if parts.username is not None or parts.password is not None or parts.query or parts.fragment:
        raise ValueError("must not hold a user, password or query: it is shown and recorded")
    path = re.sub(r"(/v1)?/*$", "", parts.path.rstrip("/"))
    return f"{parts.scheme}://{parts.netloc}{path}"


_MODELS_HINT = 'models.toml holds [models."ID"], [prices."ID"] and [pools.NAME] tables; the README lists their keys'


def _secret(name: str, value: str, source: str) -> Secret:
    if not value.isascii() or not value.isprintable() or " " in value:
        raise ConfigError(f"{name} ({source}) holds characters that no key has", hint="copy the key again")
    return Secret(value, source)


def _read_env(path: Path) -> dict[str, str]:
    """The variables of `path`; none when it is not there, not readable or not a file."""
    try:
        return parse_env(path.read_text(encoding="utf-8-sig", errors="replace"))
    except OSError:
        return {}


def _unescape(match: re.Match[str]) -> str:
    return {"n": "\n", "r": "\r", "t": "\t"}.get(match[1], match[1])


def _hide(text: str, key: str) -> str:
    """`text` with `key`, and every run of eight of its characters, replaced."""
    if len(key) <= _GRAM:
        return text.replace(key, HIDDEN) if key else text
    grams = {key[at : at + _GRAM] for at in range(len(key) - _GRAM + 1)}
    # Looking for each is a hundred times as fast as taking the text apart, and nearly no text holds one.
    if not any(gram in text for gram in grams):
        return text
    pieces: list[str] = []
    shown_to = hidden_to = 0
    for at in range(len(text) - _GRAM + 1):
        if text[at : at + _GRAM] in grams:
            if at >= hidden_to:
                pieces += [text[shown_to:at], HIDDEN]
            hidden_to = shown_to = at + _GRAM
    return "".join([*pieces, text[shown_to:]])


def _variable_name(name: str) -> str:
    if not _VARIABLE.fullmatch(name) or name.startswith("sk_"):
        raise ValueError("must be the name of an environment variable, never the key itself")
    return name


def _first_fault(error: ValidationError) -> str:
    """Where and what, without the value."""
    found: Any = error.errors(include_input=False, include_url=False, include_context=False)[0]
    said = found["msg"].removeprefix("Value error, ")
    where = ".".join(str(part) for part in found["loc"])
    return scrub(f"{where}: {said}" if where else said, ())
