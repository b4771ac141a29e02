"""The model servers that run on this machine, and the models they list."""

from __future__ import annotations

import asyncio
import importlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeGuard
from urllib.parse import urlsplit

from resit.core.calling.models import ModelInfo
from resit.core.endpoints import LOCAL_URLS

TIMEOUT_S = 1.0
"""For all servers together: they are asked side by side, and one on this machine lists its models in milliseconds."""
_MOST_BYTES = 1 << 20
_MOST_MODELS = 200
_LONGEST_NAME = 200


@dataclass(frozen=True, slots=True)
class LocalServer:
    """A server that answered."""

    name: str
    """What stands before its models' names: `ollama`."""
    url: str
    models: tuple[str, ...]
    """As the server calls them, in its order; never empty."""

    @property
    def infos(self) -> tuple[ModelInfo, ...]:
        """Its models as they are asked for: `ollama/llama3.2`."""
        return tuple(
            ModelInfo(id=f"{self.name}/{model}", provider="openai", label=model, source="its server's list")
            for model in self.models
        )


def find_local_servers(timeout_s: float = TIMEOUT_S, urls: Mapping[str, str] | None = None) -> tuple[LocalServer, ...]:
    """Ask the usual ports of this machine for models. Blocks meanwhile; not for a thread with a loop.

    Who lists nothing, says no in any way, or speaks something else, is not one.

    Args:
        timeout_s: The longest to wait for a connection, and then for the list.
        urls: Where to ask, by name; None is `LOCAL_URLS`.
    """
    return asyncio.run(_find(LOCAL_URLS if urls is None else urls, timeout_s))


async def _find(urls: Mapping[str, str], timeout_s: float) -> tuple[LocalServer, ...]:
    found = await asyncio.gather(*(_models_at(url, timeout_s) for url in urls.values()))
    return tuple(
        LocalServer(name, url, models) for (name, url), models in zip(urls.items(), found, strict=True) if models
    )


async def _models_at(url: str, timeout_s: float) -> tuple[str, ...]:
    if not await _listens(url, timeout_s):
        return ()
    # Imported only where somebody listens: it takes a fifth of a second, and far more beside a busy screen.
    http = await asyncio.to_thread(importlib.import_module, "httpx2")
    try:
        async with asyncio.timeout(timeout_s):
            return _listed(await _get(http, f"{url}/v1/models"))
    except (http.HTTPError, http.StreamError, TimeoutError):
        return ()


async def _listens(url: str, timeout_s: float) -> bool:
    place = urlsplit(url)
    try:
        async with asyncio.timeout(timeout_s):
            _, writer = await asyncio.open_connection(place.hostname, place.port)
    except OSError:  # TimeoutError is one
        return False
    writer.transport.abort()
    return True


async def _get(http: Any, url: str) -> bytes:
    """The beginning of a page; empty for any status but 200."""
    body = b""
    # A proxy is for the network, not for this machine.
    async with http.AsyncClient(trust_env=False, timeout=None) as client, client.stream("GET", url) as response:
        if response.status_code == 200:
            async for piece in response.aiter_bytes():
                body += piece
                if len(body) > _MOST_BYTES:
                    break
    return body


def _listed(body: bytes) -> tuple[str, ...]:
    """The names in a list of models, as far as they are names; those of embedding models are left out."""
    try:
        page = json.loads(body)
    except (ValueError, RecursionError):
        return ()
    entries = page.get("data") if isinstance(page, dict) else None
    names = (entry.get("id") for entry in entries if isinstance(entry, dict)) if isinstance(entries, list) else ()
    chats = [name for name in names if _is_name(name) and "embed" not in name.lower()]
    return tuple(dict.fromkeys(chats))[:_MOST_MODELS]


def _is_name(name: object) -> TypeGuard[str]:
    return isinstance(name, str) and 0 < len(name) <= _LONGEST_NAME and name.isprintable() and name == name.strip()
