"""From the name of a provider to the client that asks it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from resit.core.calling.anthropic_client import AnthropicClient
from resit.core.calling.batches import AnthropicBatches
from resit.core.calling.client import Client
from resit.core.calling.models import ModelInfo
from resit.core.calling.openai_client import OpenAIClient
from resit.core.config import Secret, find_key
from resit.core.endpoints import Endpoint
from resit.core.errors import ConfigError, KeyMissing


def key_for(endpoint: Endpoint, cwd: Path, environ: Mapping[str, str] | None = None) -> Secret | None:
    """The key that `endpoint` is to be shown; None where none is needed.

    Raises:
        KeyMissing: It needs one, and there is none.
        ConfigError: What was found cannot be a key.
    """
    if endpoint.key is None:
        return None
    key = find_key(endpoint.key, cwd, environ)
    # A server of the person's own may take no key, unless `models.toml` names the one it takes.
    if key is None and (endpoint.official or endpoint.source in ("models.toml", "model name")):
        raise KeyMissing(
            f"{endpoint.key} is neither in the environment nor in a .env file here or above",
            hint=f"set {endpoint.key}, or try resit demo, which needs none",
        )
    return key


def make_batches(
    endpoint: Endpoint,
    *,
    cwd: Path,
    models: Mapping[str, ModelInfo],
    environ: Mapping[str, str] | None = None,
) -> AnthropicBatches:
    """Who takes batches for one endpoint; its arguments and errors are those of `make_client`."""
    return AnthropicBatches(endpoint, key_for(endpoint, cwd, environ), models=models)


def make_client(
    provider: str,
    endpoint: Endpoint,
    *,
    cwd: Path,
    models: Mapping[str, ModelInfo],
    concurrency: int = 32,
    environ: Mapping[str, str] | None = None,
) -> Client:
    """The client for one endpoint; recordings are opened with `RecordedClient.load`.

    Args:
        provider: `anthropic` or `openai`, the two with servers.
        endpoint: Where it asks.
        cwd: Where the search for `.env` starts.
        models: What models take, as `known_models` has it.
        concurrency: Calls at a time.
        environ: Stands in for the process's environment.

    Raises:
        KeyMissing: The endpoint needs a key, and there is none.
        ConfigError: An unknown provider, or a key that cannot be one.
    """
    match provider:
        case "anthropic":
            return AnthropicClient(endpoint, key_for(endpoint, cwd, environ), models=models, concurrency=concurrency)
        case "openai":
            return OpenAIClient(endpoint, key_for(endpoint, cwd, environ), models=models, concurrency=concurrency)
        case _:
            raise ConfigError(f"unknown provider {provider!r}", hint="it can be anthropic or openai")
