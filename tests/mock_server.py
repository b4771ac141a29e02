"""A Messages API server on loopback: known answers, faults on demand, counters. For tests and benches.

In a test:

    async with MockServer(answers={"1+1?": "2"}) as server:
        server.next(Failure(529, "overloaded_error"), "cut")   # what the next two calls meet
        ...ask at server.url...
        assert server.stats.requests == 3

Without a loop of one's own: `with serve_in_thread(...) as server`. As a process of its own, for benches:
`python tests/mock_server.py --latency 0.05`, which prints its address; options become `MockServer`'s arguments.

A prompt is looked up in `answers`; what is not there is answered by `[q123]` in it (the answer is
`A<(123 * 7919) % 10007>`), and everything else by `OK`.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import re
import socket
import struct
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractAsyncContextManager, contextmanager, suppress
from dataclasses import asdict, dataclass, field
from typing import Any, Self, TypeVar

from mock_answers import SHARES, Answer, Broken, Failure, Plan, model_page, right_answer, sse, stream_events
from mock_batches import MockBatches, Turn

__all__ = [
    "Answer",
    "Broken",
    "Call",
    "Failure",
    "MockServer",
    "Plan",
    "Stats",
    "model_page",
    "right_answer",
    "serve_in_thread",
]

QID = re.compile(r"\[q(\d+)\]")


@dataclass(slots=True)
class Call:
    """One call as it arrived."""

    body: dict[str, Any]
    key: str | None
    at: float
    """`time.monotonic()`."""
    headers: dict[str, str]

    @property
    def model(self) -> str:
        return str(self.body["model"])

    @property
    def prompt(self) -> str:
        content = self.body["messages"][-1]["content"]
        return content if isinstance(content, str) else "".join(b.get("text", "") for b in content)


@dataclass(slots=True)
class Stats:
    """Counters."""

    requests: int = 0
    answered: int = 0
    repeats: int = 0
    """Answers to a prompt that this model had answered already: what would be paid twice."""
    in_flight: int = 0
    max_in_flight: int = 0
    connections: int = 0
    dropped_by_client: int = 0
    faults: Counter[str] = field(default_factory=Counter)
    asked: Counter[tuple[str, str]] = field(default_factory=Counter)
    """Calls by model and prompt."""

    def as_json(self) -> dict[str, Any]:
        return {**asdict(self), "asked": [[model, prompt, n] for (model, prompt), n in self.asked.items()]}


class MockServer:
    """The server; `async with` runs it on a free port of 127.0.0.1."""

    def __init__(
        self,
        *,
        answers: Mapping[str, str | Answer] | Callable[[Call], str | Answer] | None = None,
        latency_s: float = 0.0,
        keys: set[str] | None = None,
        models: tuple[str, ...] | None = None,
        shares: Mapping[str, float] | None = None,
        fault_once: bool = False,
        seed: int = 1,
        port: int = 0,
        keep_calls: bool = True,
    ) -> None:
        """Prepare a server.

        Args:
            answers: By prompt, or a function of the call.
            latency_s: Wait before every answer.
            keys: Keys it takes; None takes any.
            models: Models it knows; None knows any.
            shares: Share of calls that meet a fault, by name of `SHARES`.
            fault_once: Each prompt of a model meets at most one of those faults.
            seed: Of the choice which call meets one.
            port: 0 takes a free one.
            keep_calls: Keep every call in `calls`; off for benches.
        """
        self.answers = answers if answers is not None else {}
        self.latency_s = latency_s
        self.keys = keys
        self.models = models
        self.shares = dict(shares or {})
        self.fault_once = fault_once
        self.random = random.Random(seed)
        self.stats = Stats()
        self.calls: list[Call] = []
        self.keep_calls = keep_calls
        self.batch_turns: Callable[[Call], Turn | None] = lambda call: None
        """What a request of a batch meets, where it is not what a call would."""
        self.batches = MockBatches(self._turn)
        """The Message Batches endpoints; what their requests meet is planned as for calls."""
        self.model_pages: dict[str, dict[str, Any]] = {}
        """What `/v1/models` says, by id; see `model_page`."""
        self._port = port
        self._next: deque[Plan] = deque()
        self._faulted: set[tuple[str, str]] = set()
        self._answered: set[tuple[str, str]] = set()
        self._connections: set[_Connection] = set()
        self._server: asyncio.Server | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._port}"

    def next(self, *plans: Plan) -> None:
        """What the next calls meet, in order of arrival, before anything else is looked at."""
        self._next.extend(plans)

    async def __aenter__(self) -> Self:
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(lambda: _Connection(self), "127.0.0.1", self._port, backlog=1024)
        self._port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._server is not None
        self._server.close()
        for connection in list(self._connections):
            connection.abort()
        await self._server.wait_closed()

    def plan(self, call: Call) -> Plan:
        """What this call meets."""
        if self._next:
            return self._next.popleft()
        if self.keys is not None and call.key not in self.keys:
            return Failure(401, "authentication_error", f"invalid x-api-key: {call.key}")
        if self.models is not None and call.model not in self.models:
            return Failure(404, "not_found_error", f"model: {call.model}")
        return self._share(call) or self._answer(call)

    def _turn(self, params: dict[str, Any], key: str | None) -> Turn:
        """What a request of a batch meets."""
        call = Call(params, key, time.monotonic(), {})
        turn: Turn = self.batch_turns(call) or self.plan(call)
        self.stats.asked[call.model, call.prompt] += 1
        if isinstance(turn, Answer) or turn in ("empty", "cut_off", "unsaid", "noise"):
            self.count_answer(call)
        return turn

    def _share(self, call: Call) -> Plan | None:
        draw = self.random.random()
        for name, share in self.shares.items():
            if draw < share:
                once = (call.model, call.prompt)
                if self.fault_once and once in self._faulted:
                    return None
                self._faulted.add(once)
                self.stats.faults[name] += 1
                return SHARES[name]
            draw -= share
        return None

    def _answer(self, call: Call) -> Answer:
        prompt = call.prompt
        found = self.answers(call) if callable(self.answers) else self.answers.get(prompt)
        if isinstance(found, Answer):
            return found
        if found is not None:
            return Answer(found)
        match = QID.search(prompt)
        return Answer(right_answer(int(match[1])) if match else "OK")

    def count_answer(self, call: Call) -> None:
        key = (call.model, call.prompt)
        self.stats.answered += 1
        self.stats.repeats += key in self._answered
        self._answered.add(key)


class _Connection(asyncio.Protocol):
    """One connection: HTTP by hand, one request after the other."""

    def __init__(self, server: MockServer) -> None:
        self.server = server
        self.buffer = bytearray()
        self.waiting: asyncio.TimerHandle | None = None
        self.transport: asyncio.Transport

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        self.server.stats.connections += 1
        self.server._connections.add(self)

    def connection_lost(self, exc: Exception | None) -> None:
        self.server._connections.discard(self)
        if self.waiting is not None:
            self.waiting.cancel()
            self.waiting = None
            self.server.stats.in_flight -= 1
            self.server.stats.dropped_by_client += 1

    def abort(self) -> None:
        self.transport.abort()

    def data_received(self, data: bytes) -> None:
        self.buffer += data
        while self.waiting is None and (request := self._take()) is not None:
            self._handle(*request)

    def _take(self) -> tuple[str, str, dict[str, str], bytes] | None:
        end = self.buffer.find(b"\r\n\r\n")
        if end < 0:
            return None
        line, *fields = self.buffer[:end].decode("latin-1").split("\r\n")
        headers = {name.lower(): value.strip() for name, _, value in (f.partition(":") for f in fields)}
        stop = end + 4 + int(headers.get("content-length", "0"))
        if len(self.buffer) < stop:
            return None
        body = bytes(self.buffer[end + 4 : stop])
        del self.buffer[:stop]
        method, target, _ = line.split(" ", 2)
        return method, target, headers, body

    def _handle(self, method: str, target: str, headers: dict[str, str], body: bytes) -> None:
        path = target.partition("?")[0]
        if method == "POST" and path == "/v1/messages":
            key = headers.get("x-api-key") or headers.get("authorization", "").removeprefix("Bearer ")
            self._message(Call(json.loads(body), key or None, time.monotonic(), headers))
        elif path.startswith("/v1/messages/batches"):
            self._batch(method, target, headers.get("x-api-key"), body)
        elif path == "/stats":
            self._send_json(200, self.server.stats.as_json())
        elif path == "/v1/models":
            pages = list(self.server.model_pages.values())
            self._send_json(200, {"data": pages, "has_more": False, "first_id": None, "last_id": None})
        elif path.removeprefix("/v1/models/") in self.server.model_pages:
            self._send_json(200, self.server.model_pages[path.removeprefix("/v1/models/")])
        else:
            self._send_json(404, {"type": "error", "error": {"type": "not_found_error", "message": path}})

    def _batch(self, method: str, target: str, key: str | None, body: bytes) -> None:
        server = self.server
        if server.keys is not None and key not in server.keys:
            error = {"type": "authentication_error", "message": f"invalid x-api-key: {key}"}
            self._send_json(401, {"type": "error", "error": error})
            return
        response = server.batches.handle(method, target, key, body, server.url)
        if response == "reset":
            self.transport.abort()
            return
        status, data, kind = response
        if kind == "cut":
            head = f"HTTP/1.1 200 X\r\ncontent-type: application/binary\r\ncontent-length: {2 * len(data) + 9}\r\n\r\n"
            self.transport.write(head.encode() + data)
            self.transport.close()
            return
        self._send(status, data, kind, {})

    def _message(self, call: Call) -> None:
        server, stats = self.server, self.server.stats
        if server.keep_calls:
            server.calls.append(call)
        stats.requests += 1
        stats.asked[call.model, call.prompt] += 1
        stats.in_flight += 1
        stats.max_in_flight = max(stats.max_in_flight, stats.in_flight)
        plan = server.plan(call)
        if plan == "hang":
            self.waiting = asyncio.get_running_loop().call_later(3600, self.abort)
        else:
            self.waiting = asyncio.get_running_loop().call_later(server.latency_s, self._finish, call, plan)

    def _finish(self, call: Call, plan: Plan) -> None:
        self.waiting = None
        self.server.stats.in_flight -= 1
        request_id = f"req_mock{self.server.stats.requests:06d}"
        match plan:
            case Answer():
                self.server.count_answer(call)
                self._stream(stream_events(call.model, plan), request_id, plan.piece_s)
            case Failure():
                self._fail(plan, request_id)
            case "reset":
                linger = struct.pack("ii", 1, 0)
                self.transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
                self.transport.abort()
            case "garbage":
                self._send(200, b"<html>not the API</html>", "text/html", {})
            case "nothing":
                self._send(200, b"", "text/event-stream", {"request-id": request_id})
            case _:
                self._break(call, plan, request_id)
        self.data_received(b"")

    def _break(self, call: Call, plan: Broken, request_id: str) -> None:
        """Answers that begin well."""
        answer = Answer("half an answer", stop_reason="max_tokens" if plan == "cut_off" else "end_turn")
        events = stream_events(call.model, answer)
        if plan == "empty":
            events = [events[0], *events[-2:]]
        elif plan == "sse_error":
            error = {"type": "overloaded_error", "message": "Overloaded"}
            events = [*events[:3], sse("error", {"type": "error", "error": error})]
        elif plan == "half_json":
            events = [*events[:3], b'event: content_block_delta\ndata: {"type":\n\n']
        elif plan == "late_noise":
            events.append(b"event: noise\ndata: {\n\n")
        elif plan == "no_stop":
            events.pop()
        elif plan in ("cut", "stall", "late_cut"):
            self._open(request_id)
            self._chunks(events[:-1] if plan == "late_cut" else events[:3])
            if plan != "stall":
                self.transport.close()
            return
        self._stream(events, request_id, 0.0)

    def _open(self, request_id: str) -> None:
        self.transport.write(
            b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream; charset=utf-8\r\ntransfer-encoding: chunked\r\n"
            + f"request-id: {request_id}\r\n\r\n".encode()
        )

    def _chunks(self, parts: list[bytes]) -> None:
        self.transport.write(b"".join(f"{len(part):x}\r\n".encode() + part + b"\r\n" for part in parts))

    def _stream(self, events: list[bytes], request_id: str, piece_s: float) -> None:
        self._open(request_id)
        if not piece_s:
            self._chunks(events)
            self.transport.write(b"0\r\n\r\n")
            return
        loop = asyncio.get_running_loop()
        for number, part in enumerate(events):
            loop.call_later(number * piece_s, self._chunks, [part])
        loop.call_later(len(events) * piece_s, self.transport.write, b"0\r\n\r\n")

    def _fail(self, failure: Failure, request_id: str) -> None:
        error: dict[str, Any] = {"type": failure.type, "message": failure.message}
        if failure.code:
            error["details"] = {"error_code": failure.code}
        body = {"type": "error", "error": error, "request_id": request_id}
        data = json.dumps(body).encode() if failure.body is None else failure.body
        self._send(failure.status, data, "application/json", {"request-id": request_id, **failure.headers})

    def _send_json(self, status: int, data: object) -> None:
        self._send(status, json.dumps(data).encode(), "application/json", {})

    def _send(self, status: int, body: bytes, kind: str, headers: Mapping[str, str]) -> None:
        lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
        head = f"HTTP/1.1 {status} X\r\ncontent-type: {kind}\r\ncontent-length: {len(body)}\r\n{lines}\r\n"
        self.transport.write(head.encode() + body)


_Server = TypeVar("_Server", bound=AbstractAsyncContextManager[Any])


@contextmanager
def serve_in_thread(server: _Server) -> Iterator[_Server]:
    """Run `server` in a thread of its own: for tests that start processes or have no loop."""
    loop = asyncio.new_event_loop()
    ready, done = threading.Event(), asyncio.Event()

    async def serve() -> None:
        async with server:
            ready.set()
            await done.wait()

    thread = threading.Thread(target=lambda: loop.run_until_complete(serve()), daemon=True)
    thread.start()
    if not ready.wait(10):
        raise RuntimeError("the mock server did not start")
    try:
        yield server
    finally:
        loop.call_soon_threadsafe(done.set)
        thread.join(10)
        loop.close()


async def _main() -> None:
    parser = argparse.ArgumentParser(description="A Messages API server on loopback.")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--latency", type=float, default=0.0, metavar="S")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--fault-once", action="store_true")
    for name in SHARES:
        parser.add_argument(f"--{name}", type=float, default=0.0, metavar="SHARE")
    options = parser.parse_args()
    server = MockServer(
        latency_s=options.latency,
        port=options.port,
        seed=options.seed,
        fault_once=options.fault_once,
        shares={name: share for name in SHARES if (share := getattr(options, name))},
        keep_calls=False,
    )
    async with server:
        print(server.url, flush=True)  # noqa: T201
        await asyncio.Event().wait()


if __name__ == "__main__":
    with suppress(KeyboardInterrupt):
        asyncio.run(_main())
