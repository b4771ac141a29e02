"""Asks models over the Messages API, one streamed call at a time."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from resit.core.calling.client import Listener
from resit.core.calling.endings import Silence, dropped, incomplete, no_reply_at_all, timed_out, unreadable, whole
from resit.core.calling.faults import Asked, ServerError, from_server
from resit.core.calling.incoming import UNREADABLE
from resit.core.calling.link import Link, Sdk, request_body
from resit.core.calling.models import TABLE, ModelInfo, cannot_ask, model_info
from resit.core.calling.stream import ReplyStream
from resit.core.config import Secret
from resit.core.endpoints import Endpoint
from resit.core.records import Fault, Reply, Request

if TYPE_CHECKING:
    import anthropic
    import httpx2

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
        self._link = Link(endpoint, key, concurrency=concurrency, clock=clock)
        self._models = TABLE if models is None else models
        self._timeout_s = timeout_s
        self._stall_s = stall_s

    async def ask(self, request: Request, listen: Listener | None = None) -> Reply | Fault:
        """Send one request and wait for its end, streamed, without retries."""
        asked = self._link.asked(request.model)
        info = model_info(request.model, self._models)
        if fault := self._link.no_key(request.model):
            return fault
        if problem := cannot_ask(info, request.effort, request.thinking):
            return asked.fault("request", problem)
        sdk = await self._link.open()
        reply = ReplyStream(watched=listen is not None)
        body = {**request_body(request, info), "stream": True}
        answer = await self._stream(sdk, asked, body, reply, listen)
        if isinstance(answer, Reply):
            return answer
        return answer.model_copy(update={"usage": reply.usage_so_far(), "seconds": round(reply.elapsed_s(), 6)})

    async def list_models(self) -> tuple[dict[str, Any], ...] | Fault:
        """What the server says about its models, as `/v1/models` has it."""
        asked = self._link.asked("")
        sdk = await self._link.open()
        try:
            async with asyncio.timeout(LIST_S):
                return tuple([page.to_dict(mode="json") async for page in sdk.client.models.list(limit=100)])
        except TimeoutError:
            return asked.fault("timeout", f"{asked.url} did not list its models within {LIST_S:g} s")
        except sdk.status_error as error:
            fault = self._link.refused(asked, error)
            unlisted = f"{asked.url} lists no models ({fault.status})"
            return fault.model_copy(update={"said": unlisted}) if fault.kind == "model" else fault
        except sdk.transport_errors as error:
            return dropped(asked, error.__cause__ or error, sdk.unreached, started=False)
        except (*UNREADABLE, sdk.api_error) as error:
            return unreadable(asked, error)

    async def close(self) -> None:
        """Let go of connections."""
        await self._link.close()

    async def _stream(
        self, sdk: Sdk, asked: Asked, body: dict[str, Any], reply: ReplyStream, listen: Listener | None
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
            return self._link.refused(asked, error)
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
            return from_server(asked, ServerError.from_body(200, reply.error, response.headers), self._link.now())
        return whole(asked, reply) if reply.complete else incomplete(asked, reply)

    async def _no_stream(self, asked: Asked, response: httpx2.Response) -> Fault:
        """A 200 that is no stream: an error in disguise, or not the Messages API at all."""
        error = ServerError.from_body(200, (await response.aread())[:20_000], response.headers)
        if error.type is not None:
            return from_server(asked, error, self._link.now())
        return no_reply_at_all(asked, error.request_id)
