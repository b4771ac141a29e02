"""A responses API on loopback, as much of it as codex asks for: said in order, the shell called on demand."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class ResponsesServer:
    """What it says to each request in turn, and what it was asked."""

    says: list[str]
    """A text, or `$ command` for a call of the shell. The last one is said again and again."""
    url: str = ""
    asked: list[dict[str, Any]] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)

    def next(self) -> str:
        return self.says.pop(0) if len(self.says) > 1 else self.says[0]


@contextmanager
def serve_responses(*says: str) -> Iterator[ResponsesServer]:
    """Serve in a thread."""
    state = ResponsesServer(list(says))

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            self._send(b"{}", "application/json")

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length", 0)))
            state.asked.append(json.loads(body))
            state.keys.append(self.headers.get("authorization", ""))
            self._send(b"".join(_events(state.next(), len(state.asked))), "text/event-stream")

        def _send(self, data: bytes, kind: str) -> None:
            self.send_response(200)
            self.send_header("content-type", kind)
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *args: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    state.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield state
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _events(said: str, number: int) -> Iterator[bytes]:
    item: dict[str, Any]
    if said.startswith("$ "):
        arguments = json.dumps({"cmd": said[2:]})
        item = {"type": "function_call", "id": f"fc_{number}", "call_id": f"call_{number}", "name": "exec_command",
                "arguments": arguments}  # fmt: skip
    else:
        content = [{"type": "output_text", "text": said, "annotations": []}]
        item = {"type": "message", "id": f"msg_{number}", "role": "assistant", "content": content}
    usage = {"input_tokens": 120, "input_tokens_details": {"cached_tokens": 20}, "output_tokens": 9,
             "output_tokens_details": {"reasoning_tokens": 4}, "total_tokens": 129}  # fmt: skip
    yield _event("response.created", {"response": {"id": f"resp_{number}"}})
    yield _event("response.output_item.done", {"output_index": 0, "item": item})
    yield _event("response.completed", {"response": {"id": f"resp_{number}", "usage": usage}})


def _event(kind: str, data: dict[str, Any]) -> bytes:
    return f"event: {kind}\ndata: {json.dumps({'type': kind, **data})}\n\n".encode()
