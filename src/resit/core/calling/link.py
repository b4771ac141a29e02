"""Anthropic's SDK: the only module that loads it, late and by name, and knows how its errors are told as faults."""

from __future__ import annotations

import asyncio
import importlib
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from resit.core.calling.faults import Asked, ServerError, from_server
from resit.core.calling.models import ModelInfo, thinking_off_type
from resit.core.config import Secret, header_secrets
from resit.core.endpoints import Endpoint
from resit.core.records import Fault, Request

if TYPE_CHECKING:
    import anthropic

NO_KEY = "none"
"""Sent where no key is: the SDK wants one, a local server does not look at it."""
CONNECT_S = 10.0


@dataclass(frozen=True, slots=True)
class Sdk:
    """What of the late import is used, and the connection made with it."""

    client: anthropic.AsyncAnthropic
    message: Any
    stream: Any
    status_error: type[anthropic.APIStatusError]
    api_error: type[anthropic.APIError]
    transport_errors: tuple[type[Exception], ...]
    unreached: tuple[type[Exception], ...]


class Link:
    """One server and key. Nothing is imported or opened before the first `open`."""

    def __init__(
        self,
        endpoint: Endpoint,
        key: Secret | None,
        *,
        concurrency: int = 32,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        """Hold what a connection is made with.

        Args:
            endpoint: The server; the environment is never asked for it.
            key: What the server wants to see; None where it wants none.
            concurrency: Calls at a time that connections are kept for.
            clock: For waiting times that a server gives as a date.
        """
        self.endpoint = endpoint
        self.key = key
        self.now = clock
        self._secrets = (*((key,) if key else ()), *header_secrets())
        self._concurrency = concurrency
        self._sdk: Sdk | None = None
        self._opening = asyncio.Lock()

    def asked(self, model: str) -> Asked:
        """What the sentences about a call of `model` name."""
        return Asked(model, self.endpoint.url, self.endpoint.key, self._secrets)

    def no_key(self, model: str) -> Fault | None:
        """The fault of a call that needs a key and has none."""
        if self.key is not None or not self.endpoint.official:
            return None
        name = self.endpoint.key or "a key"
        return self.asked(model).fault("key", f"{name} is not set; without it no call was made")

    async def open(self) -> Sdk:
        """Import the SDK in a thread, once: it takes a second or two, and screens go on drawing."""
        async with self._opening:
            if self._sdk is None:
                for name in ("httpx2", "anthropic", "anthropic.types"):
                    await asyncio.to_thread(importlib.import_module, name)
                self._sdk = self._connect(importlib.import_module("anthropic"), importlib.import_module("httpx2"))
            return self._sdk

    async def close(self) -> None:
        """Let go of connections."""
        if self._sdk is not None:
            await self._sdk.client.close()
            self._sdk = None

    def refused(self, asked: Asked, error: anthropic.APIStatusError) -> Fault:
        """The fault that a server's status is."""
        found = ServerError.from_body(error.status_code, error.body, error.response.headers)
        return from_server(asked, found, self.now())

    def _connect(self, sdk: Any, http: Any) -> Sdk:
        timeout = http.Timeout(None, connect=CONNECT_S)
        client = sdk.AsyncAnthropic(
            api_key=self.key.reveal() if self.key else NO_KEY,
            base_url=self.endpoint.url,
            max_retries=0,
            timeout=timeout,
            open_telemetry=False,
            http_client=sdk.DefaultAsyncHttpxClient(
                timeout=timeout,
                limits=http.Limits(max_connections=None, max_keepalive_connections=max(1, self._concurrency)),
                # A redirect would carry the key to whoever it names.
                follow_redirects=False,
            ),
        )
        return Sdk(
            client=client,
            message=sdk.types.Message,
            stream=sdk.AsyncStream[sdk.types.RawMessageStreamEvent],
            status_error=sdk.APIStatusError,
            api_error=sdk.APIError,
            transport_errors=(sdk.APIConnectionError, http.HTTPError, TimeoutError),
            unreached=(http.ConnectError, http.ConnectTimeout, http.UnsupportedProtocol),
        )


def request_body(request: Request, info: ModelInfo | None) -> dict[str, Any]:
    """The request as JSON. What the setting leaves at its default is not sent, for compatible servers' sake."""
    body: dict[str, Any] = {
        "model": request.model,
        "max_tokens": request.max_tokens,
        "messages": [{"role": "user", "content": request.prompt}],
    }
    if request.system:
        body["system"] = request.system
    if request.effort is not None:
        body["output_config"] = {"effort": request.effort}
    if request.thinking == "off":
        body["thinking"] = {"type": thinking_off_type(info)}
    return body
