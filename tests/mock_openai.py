"""A chat-completions server on loopback: known answers, any odd bytes on demand, and every call as it arrived.

    async with ChatServer(answers={"1+1?": "2"}) as server:
        server.next(Raw(body=b"data: {...", ends="cut"))   # what the next call meets
        ...ask at server.url...
        assert server.calls[0].body["model"] == "m"

`with serve_in_thread(ChatServer())`, of `mock_server`, runs it without a loop of one's own.
"""

from __future__ import annotations

import asyncio
import json
from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, Literal, Self

import pytest

from mock_server import serve_in_thread

EVENTS = "text/event-stream"


@dataclass(frozen=True, slots=True)
class Raw:
    """What a server sends, byte for byte."""

    body: bytes = b""
    status: int = 200
    kind: str = EVENTS
    headers: Mapping[str, str] = field(default_factory=dict)
    ends: Literal["whole", "cut", "hang", "endless"] = "whole"
    """As HTTP wants it, by closing the connection, never and silent, or never and with `body` again and again."""
    gate: asyncio.Event | None = None
    """Sent only when this is set."""


@dataclass(slots=True)
class ChatCall:
    """One call as it arrived."""

    path: str
    headers: dict[str, str]
    body: dict[str, Any]

    @property
    def prompt(self) -> str:
        return str(self.body["messages"][-1]["content"])


def chunk(**parts: Any) -> bytes:
    """One chunk of a stream as a data line."""
    return b"data: " + json.dumps({"object": "chat.completion.chunk", "model": "m", **parts}).encode() + b"\n\n"


def delta(finish_reason: str | None = None, **parts: Any) -> bytes:
    return chunk(choices=[{"index": 0, "delta": parts, "finish_reason": finish_reason}])


def chat(text: str = "OK", *, prompt_tokens: int = 20) -> Raw:
    """A well-behaved reply, streamed in pieces of eight characters."""
    pieces = b"".join(delta(content=text[at : at + 8]) for at in range(0, len(text), 8))
    usage = {"prompt_tokens": prompt_tokens, "completion_tokens": len(text) // 3 + 1}
    counted = chunk(choices=[], usage=usage | {"total_tokens": sum(usage.values())})
    return Raw(delta(role="assistant", content="") + pieces + delta("stop") + counted + b"data: [DONE]\n\n")


def failure(status: int, error: object, **headers: str) -> Raw:
    """An error as JSON."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Raw(json.dumps(error).encode(), status, "application/json", named)


class ChatServer:
    """The server; `async with` runs it on a free port of 127.0.0.1."""

    def __init__(self, *, answers: Mapping[str, str] | None = None, models: tuple[str, ...] = ("m",)) -> None:
        """Prepare a server.

        Args:
            answers: By prompt; every other prompt is answered by `OK`.
            models: What `/v1/models` lists.
        """
        self.answers = answers or {}
        self.listing: Raw = Raw(
            json.dumps({"object": "list", "data": [{"id": model, "object": "model"} for model in models]}).encode(),
            kind="application/json",
        )
        self.calls: list[ChatCall] = []
        self.arrived = asyncio.Event()
        """Set by every call."""
        self._next: deque[Raw] = deque()
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self.port = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def next(self, *plans: Raw) -> None:
        """What the next calls meet, in order of arrival."""
        self._next.extend(plans)

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._server is not None
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        try:
            with suppress(asyncio.IncompleteReadError, ConnectionError, asyncio.CancelledError):
                while await self._answer(reader, writer):
                    pass
        finally:
            self._tasks.discard(task)
            writer.transport.abort()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """One exchange; False when the connection is over."""
        line, *fields = (await reader.readuntil(b"\r\n\r\n")).decode().rstrip().split("\r\n")
        headers = {name.lower(): value.strip() for name, _, value in (f.partition(":") for f in fields)}
        body = await reader.readexactly(int(headers.get("content-length", "0")))
        path = line.split(" ")[1]
        if path.endswith("/models"):
            return await _send(writer, self.listing)
        call = ChatCall(path, headers, json.loads(body))
        self.calls.append(call)
        self.arrived.set()
        plan = self._next.popleft() if self._next else chat(self.answers.get(call.prompt, "OK"))
        return await _send(writer, plan)


@contextmanager
def as_ollama(
    monkeypatch: pytest.MonkeyPatch,
    *,
    models: tuple[str, ...] = ("llama3.2",),
    answers: Mapping[str, str] | None = None,
) -> Iterator[ChatServer]:
    """A server where Ollama's is looked for."""
    with serve_in_thread(ChatServer(answers=answers, models=models)) as server:
        for place in ("endpoints", "calling.local_servers", "calling.openai_client"):
            monkeypatch.setattr(f"resit.core.{place}.LOCAL_URLS", {"ollama": server.url})
        yield server


async def _send(writer: asyncio.StreamWriter, plan: Raw) -> bool:
    if plan.gate is not None:
        await plan.gate.wait()
    lines = "".join(f"{name}: {value}\r\n" for name, value in plan.headers.items())
    length = f"content-length: {len(plan.body)}\r\n" if plan.ends == "whole" else "transfer-encoding: chunked\r\n"
    writer.write(f"HTTP/1.1 {plan.status} X\r\ncontent-type: {plan.kind}\r\n{length}{lines}\r\n".encode())
    if plan.ends == "whole":
        writer.write(plan.body)
        await writer.drain()
        return True
    if plan.body:
        writer.write(f"{len(plan.body):x}\r\n".encode() + plan.body + b"\r\n")
    await writer.drain()
    while plan.ends == "endless":
        writer.write(f"{len(plan.body):x}\r\n".encode() + plan.body + b"\r\n")
        await writer.drain()
    if plan.ends == "hang":
        await asyncio.Event().wait()
    return False
