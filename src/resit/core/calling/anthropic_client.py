"""Asks models over the Messages API with Anthropic's SDK: the only module that knows it."""

from __future__ import annotations

import asyncio
import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from resit.core.calling.client import Listener
from resit.core.calling.endings import Silence, dropped, incomplete, no_reply_at_all, timed_out, unreadable, whole
from resit.core.calling.faults import Asked, ServerError, from_server
from resit.core.calling.incoming import UNREADABLE
from resit.core.calling.models import TABLE, ModelInfo, cannot_ask, model_info, thinking_off_type
from resit.core.calling.stream import ReplyStream
from resit.core.config import Endpoint, Secret, header_secrets
from resit.core.records import Fault, Reply, Request

if TYPE_CHECKING:
    import anthropic
    import httpx2

NO_KEY = "none"
"""Sent where no key is: the SDK wants one, a local server does not look at it."""
CONNECT_S = 10.0
LIST_S = 30.0
"""The longest that asking for the list of models may take."""


class AnthropicClient:
    """One server and key, for many calls at a time. Every call is streamed and tried once."""

    def __init__(
        self,
        endpoint: Endpoint,
        key: Secret | None,
        *,
        models: Mapping[str, ModelInfo] | None = None,
        concurrency: int = 32,
        timeout_s: float = 600.0,
        stall_s: float = 120.0,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        """Nothing is imported or opened before the first call.

        Args:
            endpoint: The server; the environment is never asked for it.
            key: What the server wants to see; None where it wants none.
            models: What models take, by id, so that the impossible is refused before it is sent; None is our table.
            concurrency: Calls at a time that connections are kept for.
            timeout_s: The longest one call may take.
            stall_s: The longest silence once a reply has begun.
            clock: For waiting times that a server gives as a date.
        """
        self.endpoint = endpoint
        self._key = key
        self._secrets = (*((key,) if key else ()), *header_secrets())
        self._models = TABLE if models is None else models
        self._concurrency = concurrency
        self._timeout_s = timeout_s
        self._stall_s = stall_s
        self._clock = clock
        self._sdk: _Sdk | None = None
        self._opening = asyncio.Lock()

    async def ask(self, request: Request, listen: Listener | None = None) -> Reply | Fault:
        """Send one request and wait for its end, streamed, without retries."""
        asked = self._asked(request.model)
        info = model_info(request.model, self._models)
        if self._key is None and self.endpoint.official:
            return asked.fault("key", f"{self.endpoint.key or 'a key'} is not set; without it no call was made")
        if problem := cannot_ask(info, request.effort, request.thinking):
            return asked.fault("request", problem)
        sdk = self._sdk or await self._open()
        reply = ReplyStream(watched=listen is not None)
        fault = await self._stream(sdk, asked, _body(request, info), reply, listen)
        if isinstance(fault, Reply):
            return fault
        return fault.model_copy(update={"usage": reply.usage_so_far(), "seconds": round(reply.elapsed_s(), 6)})

    async def list_models(self) -> tuple[dict[str, Any], ...] | Fault:
        """What the server says about its models, as `/v1/models` has it."""
        asked = self._asked("")
        sdk = self._sdk or await self._open()
        try:
            async with asyncio.timeout(LIST_S):
                return tuple([page.to_dict(mode="json") async for page in sdk.client.models.list(limit=100)])
        except TimeoutError:
            return asked.fault("timeout", f"{asked.url} did not list its models within {LIST_S:g} s")
        except sdk.status_error as error:
            fault = from_server(asked, _server_error(error), self._clock())
            unlisted = f"{asked.url} lists no models ({fault.status})"
            return fault.model_copy(update={"said": unlisted}) if fault.kind == "model" else fault
        except sdk.transport_errors as error:
            return dropped(asked, error.__cause__ or error, sdk.unreached, started=False)
        except (*UNREADABLE, sdk.api_error) as error:
            return unreadable(asked, error)

    async def close(self) -> None:
        """Let go of connections."""
        if self._sdk is not None:
            await self._sdk.client.close()
            self._sdk = None

    def _asked(self, model: str) -> Asked:
        return Asked(model, self.endpoint.url, self.endpoint.key, self._secrets)

    async def _open(self) -> _Sdk:
        """Import the SDK in a thread, once: it takes a second or two, and screens go on drawing."""
        async with self._opening:
            if self._sdk is None:
                for name in ("httpx2", "anthropic", "anthropic.types"):
                    await asyncio.to_thread(importlib.import_module, name)
                self._sdk = self._connect(importlib.import_module("anthropic"), importlib.import_module("httpx2"))
            return self._sdk

    def _connect(self, sdk: Any, http: Any) -> _Sdk:
        timeout = http.Timeout(None, connect=CONNECT_S)
        client = sdk.AsyncAnthropic(
            api_key=self._key.reveal() if self._key else NO_KEY,
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
        return _Sdk(
            client=client,
            message=sdk.types.Message,
            stream=sdk.AsyncStream[sdk.types.RawMessageStreamEvent],
            status_error=sdk.APIStatusError,
            api_error=sdk.APIError,
            transport_errors=(sdk.APIConnectionError, http.HTTPError, TimeoutError),
            unreached=(http.ConnectError, http.ConnectTimeout, http.UnsupportedProtocol),
        )

    async def _stream(
        self, sdk: _Sdk, asked: Asked, body: dict[str, Any], reply: ReplyStream, listen: Listener | None
    ) -> Reply | Fault:
        """One call, with whatever goes wrong told as a fault."""
        try:
            async with asyncio.timeout(self._timeout_s) as limit:
                # As `messages.create` does it, but that warns on stderr of every call to a deprecated model.
                stream = await sdk.client.post(
                    "/v1/messages", cast_to=sdk.message, body=body, stream=True, stream_cls=sdk.stream
                )
                async with stream:
                    return await self._read(asked, stream, reply, listen, limit)
        except sdk.status_error as error:
            return from_server(asked, _server_error(error), self._clock())
        except sdk.transport_errors as error:
            reply.end()
            if reply.complete:  # all of it had come before the connection broke
                return whole(asked, reply)
            if isinstance(error, TimeoutError):
                return timed_out(asked, reply.elapsed_s(), self._timeout_s, self._stall_s)
            return dropped(asked, error.__cause__ or error, sdk.unreached, started=reply.started)

    async def _read(
        self,
        asked: Asked,
        stream: anthropic.AsyncStream[Any],
        reply: ReplyStream,
        listen: Listener | None,
        limit: asyncio.Timeout,
    ) -> Reply | Fault:
        """The reply as it comes in."""
        response = stream.response
        reply.request_id = response.headers.get("request-id")
        if "text/event-stream" not in response.headers.get("content-type", ""):
            return await self._no_stream(asked, response)
        silence = Silence(limit, self._stall_s)
        # Raw events: the SDK's models of each piece cost more CPU than all else on our side of a call.
        events = stream.raw_events(response)
        while True:
            try:
                event = await anext(events, None)
                piece = reply.take(event.data) if event is not None and event.data else None
            except UNREADABLE as error:
                return whole(asked, reply) if reply.complete else unreadable(asked, error)
            if event is None or reply.error is not None:
                break
            silence.broken()
            if piece is not None and listen is not None:
                listen(piece)
        reply.end()
        if reply.error is not None:
            return from_server(asked, ServerError.from_body(200, reply.error, response.headers), self._clock())
        return whole(asked, reply) if reply.complete else incomplete(asked, reply)

    async def _no_stream(self, asked: Asked, response: httpx2.Response) -> Fault:
        """A 200 that is no stream: an error in disguise, or not the Messages API at all."""
        error = ServerError.from_body(200, (await response.aread())[:20_000], response.headers)
        if error.type is not None:
            return from_server(asked, error, self._clock())
        return no_reply_at_all(asked, error.request_id)


@dataclass(frozen=True, slots=True)
class _Sdk:
    """What of the late import is used, and the connection made with it."""

    client: anthropic.AsyncAnthropic
    message: Any
    stream: Any
    status_error: type[anthropic.APIStatusError]
    api_error: type[anthropic.APIError]
    transport_errors: tuple[type[Exception], ...]
    unreached: tuple[type[Exception], ...]


def _body(request: Request, info: ModelInfo | None) -> dict[str, Any]:
    """The request as JSON. What the setting leaves at its default is not sent, for compatible servers' sake."""
    body: dict[str, Any] = {
        "model": request.model,
        "max_tokens": request.max_tokens,
        "messages": [{"role": "user", "content": request.prompt}],
        "stream": True,
    }
    if request.system:
        body["system"] = request.system
    if request.effort is not None:
        body["output_config"] = {"effort": request.effort}
    if request.thinking == "off":
        body["thinking"] = {"type": thinking_off_type(info)}
    return body


def _server_error(error: anthropic.APIStatusError) -> ServerError:
    return ServerError.from_body(error.status_code, error.body, error.response.headers)
