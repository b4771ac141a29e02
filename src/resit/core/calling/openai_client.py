"""Asks models over chat completions: OpenAI's own, hosted servers that speak the same, and those on this machine."""

from __future__ import annotations

import asyncio
import importlib
import json
import re
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import aclosing
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from resit.core.calling.chat_stream import ChatStream
from resit.core.calling.client import Delta, Listener
from resit.core.calling.endings import Silence, dropped, incomplete, no_reply_at_all, timed_out, unreadable, whole
from resit.core.calling.faults import Asked, ServerError, from_server
from resit.core.calling.incoming import UNREADABLE
from resit.core.calling.models import ModelInfo, cannot_ask, model_info
from resit.core.config import Secret
from resit.core.endpoints import LOCAL_URLS, Endpoint, local_server
from resit.core.records import Fault, Reply, Request

if TYPE_CHECKING:
    import httpx2

CONNECT_S = 10.0
TIMEOUT_S = 600.0
LOCAL_TIMEOUT_S = 1500.0
"""A small machine answers one question after the other, and slowly."""
LONGEST_LINE = 16 << 20
"""Bytes of one chunk, or of a reply in one piece, that are still read."""
_WARM_UP = "Hi"

_VERSION = re.compile(r"/v\d[a-z0-9]*(/|$)")
_UNKNOWN_PARAMETER = re.compile(
    r"un(supported|recognized|known|expected)|not (supported|permitted|allowed)|extra (inputs|fields)", re.IGNORECASE
)
_LIMITS = {"max_tokens": "max_completion_tokens", "max_completion_tokens": "max_tokens"}


@dataclass(slots=True)
class _Dialect:
    """How one model is told what; learnt from what it refuses."""

    limit: str
    """Name of the parameter that limits the reply."""
    counts: bool = True
    """Whether usage is asked for."""

    def learn(self, sent: Mapping[str, Any], refused: Fault) -> bool:
        """True when the call may be sent again in another form: for a parameter the server does not know."""
        if refused.status not in (400, 422) or not _UNKNOWN_PARAMETER.search(refused.said):
            return False
        for limit, other in _LIMITS.items():
            if limit in sent and re.search(rf"\b{limit}\b", refused.said):
                self.limit = other
                return True
        if "stream_options" in sent and "stream_options" in refused.said:
            self.counts = False
            return True
        return False


@dataclass(slots=True)
class _Warmth:
    """Which models of a local server are loaded, and how long that took."""

    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    loaded: set[str] = field(default_factory=set)
    untold_s: float | None = None
    """Seconds that no reply has carried yet."""


class OpenAIClient:
    """One server and key, for many calls at a time. Every call is streamed and tried once.

    A parameter that the server does not know is the exception: such a refusal is no answer and costs nothing, so the
    call is sent again in the other form. A local server gets one call that is not timed before each model's first.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        key: Secret | None,
        *,
        models: Mapping[str, ModelInfo] | None = None,
        concurrency: int = 32,
        timeout_s: float | None = None,
        stall_s: float = 120.0,
        warm: bool | None = None,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        """Nothing is imported or opened before the first call.

        Args:
            endpoint: The server; the environment is never asked for it.
            key: What the server wants to see; None where it wants none.
            models: What models take, by id, so that the impossible is refused before it is sent.
            concurrency: Calls at a time that connections are kept for.
            timeout_s: The longest one call may take; None is 600, and 1,500 for a server on this machine.
            stall_s: The longest silence once a reply has begun.
            warm: Whether a model gets an untimed call before its first question; None is: on this machine.
            clock: For waiting times that a server gives as a date.
        """
        self.endpoint = endpoint
        self._key = key
        self._warm = endpoint.local if warm is None else warm
        self._models = models or {}
        self._concurrency = concurrency
        self._timeout_s = timeout_s or (LOCAL_TIMEOUT_S if endpoint.local else TIMEOUT_S)
        self._stall_s = stall_s
        self._clock = clock
        self._http: _Http | None = None
        self._opening = asyncio.Lock()
        self._dialects: dict[str, _Dialect] = {}
        self._warmth = _Warmth()

    async def ask(self, request: Request, listen: Listener | None = None) -> Reply | Fault:
        """Send one request and wait for its end, streamed, without retries."""
        model = wire_name(request.model, self.endpoint)
        asked = Asked(model, self.endpoint.url, self.endpoint.key, (self._key,) if self._key else ())
        info = model_info(request.model, self._models) or ModelInfo(id=request.model, provider="openai")
        if self._key is None and self.endpoint.official:
            return asked.fault("key", f"{self.endpoint.key or 'a key'} is not set; without it no call was made")
        if problem := cannot_ask(info, request.effort, request.thinking):
            return asked.fault("request", problem)
        http = self._http or await self._open()
        if self._warm and (cold := await self._warm_up(http, asked)):
            return cold
        answer = await self._ask(http, asked, self._body(model, request), request.max_tokens, listen)
        return self._with_warm_up(answer) if isinstance(answer, Reply) else answer

    async def close(self) -> None:
        """Let go of connections."""
        if self._http is not None:
            await self._http.client.aclose()
            self._http = None

    async def _open(self) -> _Http:
        """Import the transport in a thread, once, while screens go on drawing."""
        async with self._opening:
            if self._http is None:
                await asyncio.to_thread(importlib.import_module, "httpx2")
                self._http = self._connect(importlib.import_module("httpx2"))
            return self._http

    def _connect(self, http: Any) -> _Http:
        headers = {
            "accept": "text/event-stream, application/json",
            "accept-encoding": "identity",
            "content-type": "application/json",
        }
        if self._key is not None:
            headers["authorization"] = f"Bearer {self._key.reveal()}"
        client = http.AsyncClient(
            headers=headers,
            timeout=http.Timeout(None, connect=CONNECT_S),
            limits=http.Limits(max_connections=None, max_keepalive_connections=max(1, self._concurrency)),
            # A redirect would carry the key to whoever it names.
            follow_redirects=False,
            # A proxy is for the network, not for this machine.
            trust_env=not self.endpoint.local,
        )
        return _Http(
            client=client,
            url=chat_url(self.endpoint.url),
            errors=(http.HTTPError, http.InvalidURL, http.StreamError, TimeoutError),
            unreached=(http.ConnectError, http.ConnectTimeout, http.UnsupportedProtocol),
        )

    def _body(self, model: str, request: Request) -> dict[str, Any]:
        """The request as JSON, its limit aside. What the setting leaves at its default is not sent."""
        system = [{"role": "system", "content": request.system}] if request.system else []
        body: dict[str, Any] = {
            "model": model,
            "messages": [*system, {"role": "user", "content": request.prompt}],
            "stream": True,
        }
        if request.effort is not None:
            body["reasoning_effort"] = request.effort
        if request.thinking == "off":
            body["reasoning_effort"] = "none"
            if self.endpoint.local:
                # What llama.cpp and vLLM go by; OpenAI's own would refuse it.
                body["chat_template_kwargs"] = {"enable_thinking": False}
        return body

    # --- a model that is not loaded yet

    async def _warm_up(self, http: _Http, asked: Asked) -> Fault | None:
        """One short call before a model's first question, so that loading it is in nobody's seconds."""
        async with self._warmth.lock:
            if asked.model in self._warmth.loaded:
                return None
            body = {"model": asked.model, "messages": [{"role": "user", "content": _WARM_UP}], "stream": True}
            answer = await self._ask(http, asked, body, 1, None)
            if isinstance(answer, Fault) and answer.kind != "request":
                return answer
            self._warmth.loaded.add(asked.model)
            if isinstance(answer, Reply):
                self._warmth.untold_s = (self._warmth.untold_s or 0.0) + (answer.seconds or 0.0)
            return None

    def _with_warm_up(self, reply: Reply) -> Reply:
        """The first reply after a warm-up carries what that took, apart from its own seconds."""
        untold_s, self._warmth.untold_s = self._warmth.untold_s, None
        return reply if untold_s is None else reply.model_copy(update={"warm_up_s": round(untold_s, 6)})

    # --- one call

    async def _ask(
        self, http: _Http, asked: Asked, body: dict[str, Any], max_tokens: int, listen: Listener | None
    ) -> Reply | Fault:
        """One call, sent again only where the server does not know the form of it."""
        usual = "max_completion_tokens" if self.endpoint.official else "max_tokens"
        dialect = self._dialects.setdefault(asked.model, _Dialect(usual))
        for attempts_left in (2, 1, 0):
            sent = body | {dialect.limit: max_tokens}
            if dialect.counts:
                sent["stream_options"] = {"include_usage": True}
            stream = ChatStream(watched=listen is not None, max_tokens=max_tokens)
            answer = await self._send(http, asked, sent, stream, listen)
            if isinstance(answer, Reply):
                return answer
            if not attempts_left or not dialect.learn(sent, answer):
                break
        return answer.model_copy(update={"usage": stream.usage_so_far(), "seconds": round(stream.elapsed_s(), 6)})

    async def _send(
        self, http: _Http, asked: Asked, body: dict[str, Any], stream: ChatStream, listen: Listener | None
    ) -> Reply | Fault:
        """One call, with whatever goes wrong told as a fault."""
        try:
            async with asyncio.timeout(self._timeout_s) as limit:
                # As ASCII: a prompt may hold half a surrogate pair, which no other encoding can send.
                content = json.dumps(body).encode()
                async with http.client.stream("POST", http.url, content=content) as response:
                    silence = Silence(limit, self._stall_s)
                    return await self._read(asked, response, stream, silence, listen)
        except http.errors as error:
            stream.end()
            if stream.complete:  # all of it had come before the connection broke
                return whole(asked, stream)
            if isinstance(error, TimeoutError):
                return timed_out(asked, stream.elapsed_s(), self._timeout_s, self._stall_s)
            if self.endpoint.local and not self._warmth.loaded and isinstance(error, http.unreached):
                return self._not_there(asked)
            return dropped(asked, error, http.unreached, started=stream.started)

    async def _read(
        self,
        asked: Asked,
        response: httpx2.Response,
        stream: ChatStream,
        silence: Silence,
        listen: Listener | None,
    ) -> Reply | Fault:
        """The reply as it comes in."""
        stream.request_id = response.headers.get("x-request-id")
        if response.status_code != 200:
            error = ServerError.from_body(response.status_code, await _beginning(response), response.headers)
            return from_server(asked, error, self._clock())
        kind = response.headers.get("content-type", "")
        try:
            if "json" in kind:
                _hand_out(stream.take_whole(await _beginning(response)), listen)
            else:
                await _take_all(response, stream, silence, listen)
        except UNREADABLE as error:
            if not stream.complete and (stream.started or "event-stream" in kind):
                return unreadable(asked, error)
        stream.end()
        if stream.error is not None:
            return from_server(asked, ServerError.from_body(200, stream.error, response.headers), self._clock())
        if stream.complete:
            return whole(asked, stream)
        is_stream = stream.started or "event-stream" in kind
        return incomplete(asked, stream) if is_stream else no_reply_at_all(asked, stream.request_id)

    def _not_there(self, asked: Asked) -> Fault:
        """A local server that does not run: no use in asking the next question."""
        server = next((name for name, url in LOCAL_URLS.items() if url == self.endpoint.url), "the server")
        return asked.fault("model", f"nothing listens at {asked.url}; start {server}, then run the same command again")


@dataclass(frozen=True, slots=True)
class _Http:
    """What of the late import is used, and the connection made with it."""

    client: httpx2.AsyncClient
    url: str
    errors: tuple[type[Exception], ...]
    unreached: tuple[type[Exception], ...]


def wire_name(model: str, endpoint: Endpoint) -> str:
    """The model as its server calls it: without the `ollama/` that says where it is, unless `models.toml` says that."""
    named = local_server(model) if endpoint.source != "models.toml" else None
    return model.removeprefix(f"{named}/") if named else model


def chat_url(base_url: str) -> str:
    """Where a server takes chats: under `/v1`, unless its base URL names a version of its own."""
    version = "" if _VERSION.search(base_url) else "/v1"
    return f"{base_url}{version}/chat/completions"


async def _take_all(response: httpx2.Response, stream: ChatStream, silence: Silence, listen: Listener | None) -> None:
    """Take chunk after chunk until the stream's end, or until there is no use in going on."""
    async with aclosing(_chunks(response, silence)) as chunks:
        async for data in chunks:
            _hand_out(stream.take(data), listen)
            if stream.overlong:
                stream.cut()
            if stream.overlong or stream.error is not None:
                return


async def _chunks(response: httpx2.Response, silence: Silence) -> AsyncGenerator[bytes, None]:
    """The data lines of an event stream. Each is a chunk of its own, also where a server leaves out the blank lines.

    Raises:
        ValueError: A line has no end.
    """
    rest = bytearray()
    async for piece in response.aiter_bytes():
        silence.broken()  # comments too: they say that the server is at work
        rest += piece
        if b"\n" in piece:
            *lines, rest = rest.split(b"\n")
            for line in lines:
                if data := _data(line):
                    yield data
        if len(rest) > LONGEST_LINE:
            raise ValueError("a line without an end")
    if data := _data(rest):
        yield data


def _data(line: bytearray) -> bytes:
    return bytes(line[5:].strip()) if line.startswith(b"data:") else b""


async def _beginning(response: httpx2.Response) -> bytes:
    """A body that is no stream, as far as anyone would read it."""
    pieces, size = [], 0
    async for piece in response.aiter_bytes():
        pieces.append(piece)
        size += len(piece)
        if size > LONGEST_LINE:
            break
    return b"".join(pieces)


def _hand_out(pieces: tuple[Delta, ...], listen: Listener | None) -> None:
    if listen is not None:
        for piece in pieces:
            listen(piece)
