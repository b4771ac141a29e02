"""Which server a model is asked at, and who said so."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal
from urllib.parse import urlsplit

from resit.core.agent_names import preset_of
from resit.core.config import ANTHROPIC_KEY, OPENAI_KEY, ModelEntry, ModelsFile, clean_url
from resit.core.errors import ConfigError
from resit.core.records import Setting

ANTHROPIC_URL = "https://api.anthropic.com"
ANTHROPIC_URL_VARIABLE = "ANTHROPIC_BASE_URL"
OPENAI_URL = "https://api.openai.com"
OPENAI_URL_VARIABLE = "OPENAI_BASE_URL"
LOCAL_URLS = {
    "ollama": "http://127.0.0.1:11434",
    "llama.cpp": "http://127.0.0.1:8080",
    "lm-studio": "http://127.0.0.1:1234",
    "vllm": "http://127.0.0.1:8000",
}
"""Where the usual local servers are, by the name that stands before a model of theirs: `ollama/llama3.2`."""
COMMAND = "command:"
"""How the endpoint of a command-line agent starts."""
EndpointSource = Literal[
    "--base-url", "models.toml", "ANTHROPIC_BASE_URL", "OPENAI_BASE_URL", "model name", "default", "recorded"
]


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where a setting is asked, and who said so: always shown, always recorded."""

    url: str
    """Base URL without `/v1`, `recorded:<name>`, or `command:<name>` with the server it is told to ask."""
    source: EndpointSource
    key: str | None = ANTHROPIC_KEY
    """Name of the variable that holds the key to send; None sends none."""

    @property
    def official(self) -> bool:
        """True for a provider's own server, which takes nobody without a key."""
        host = urlsplit(self.url).hostname or ""
        return any(host == own or host.endswith(f".{own}") for own in ("anthropic.com", "openai.com"))

    @property
    def local(self) -> bool:
        """True for a server on this machine."""
        host = urlsplit(self.url).hostname or ""
        return host in ("localhost", "::1") or re.fullmatch(r"127(\.\d{1,3}){3}", host) is not None

    @property
    def said(self) -> str:
        """The endpoint as a person reads it, with its source unless it is the usual one."""
        return self.url if self.source in ("default", "recorded") else f"{self.url} (from {self.source})"


def endpoint_for(
    setting: Setting,
    models_file: ModelsFile,
    base_url_flag: str | None = None,
    environ: Mapping[str, str] | None = None,
) -> Endpoint:
    """Where `setting` is asked: the flag, else `models.toml`, else its name, else the environment, else its provider.

    A server named in `models.toml`, and a local one, gets no key unless the model's entry names one: nobody's key
    goes to a stranger's server by oversight.

    Raises:
        ConfigError: The flag's or the environment's URL cannot be used.
    """
    entry = models_file.models.get(setting.model, ModelEntry())
    if setting.provider == "command":
        return _command_endpoint(setting, entry, os.environ if environ is None else environ)
    usual_url, usual_key, variable = _OPENAI if setting.provider == "openai" else _ANTHROPIC
    local = local_server(setting.model) if setting.provider == "openai" else None
    key = entry.key or (None if local else usual_key)
    if base_url_flag:
        return Endpoint(_url_from("--base-url", base_url_flag), "--base-url", key)
    if entry.base_url:
        own = setting.provider == "openai" and entry.base_url == OPENAI_URL
        return Endpoint(entry.base_url, "models.toml", key if own else entry.key)
    if local:
        return Endpoint(LOCAL_URLS[local], "model name", key)
    found = (os.environ if environ is None else environ).get(variable, "").strip()
    if found:
        url = _url_from(variable, found)
        return Endpoint(url, "default" if url == usual_url else variable, key)
    return Endpoint(usual_url, "default", key)


_ANTHROPIC: tuple[str, str, Literal["ANTHROPIC_BASE_URL"]] = (ANTHROPIC_URL, ANTHROPIC_KEY, "ANTHROPIC_BASE_URL")
_OPENAI: tuple[str, str, Literal["OPENAI_BASE_URL"]] = (OPENAI_URL, OPENAI_KEY, "OPENAI_BASE_URL")
"""A provider's own server, the variable with its key, and the one that names another server."""


_SERVER_VARIABLES: dict[str, EndpointSource] = {"claude-code": "ANTHROPIC_BASE_URL"}
"""Presets that ask another server when a variable of their own says so."""


def _command_endpoint(setting: Setting, entry: ModelEntry, environ: Mapping[str, str]) -> Endpoint:
    """The command that is asked, and the server that it is told to ask, where that is not its own."""
    name = entry.preset or preset_of(setting.model) or setting.model
    if entry.base_url:
        return Endpoint(f"{COMMAND}{name}@{entry.base_url}", "models.toml", None)
    variable = _SERVER_VARIABLES.get(name)
    found = environ.get(variable, "").strip() if variable else ""
    if variable and found:
        return Endpoint(f"{COMMAND}{name}@{_url_from(variable, found)}", variable, None)
    return Endpoint(f"{COMMAND}{name}", "default", None)


def local_server(model: str) -> str | None:
    """The local server that a model's name begins with: `ollama` for `ollama/llama3.2`; None when with none."""
    server, slash, name = model.partition("/")
    return server if slash and name and server in LOCAL_URLS else None


def provider_for(model: str, models_file: ModelsFile) -> str:
    """Which kind of client asks `model`: as its entry says, else as its name says, else Anthropic's."""
    entry = models_file.models.get(model, ModelEntry())
    if "provider" not in entry.model_fields_set and preset_of(model):
        return "command"
    if "provider" not in entry.model_fields_set and entry.base_url is None and local_server(model):
        return "openai"
    return entry.provider


def _url_from(source: str, url: str) -> str:
    try:
        return clean_url(url)
    except ValueError as error:
        raise ConfigError(f"{source} {error}") from None
