"""The Gemini API on loopback, as much of it as gemini-cli asks for."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class GeminiServer:
    """What it says to each request in turn, and what it was asked."""

    says: list[str]
    """A text, or `read NAME` for a call that reads a file. The last one is said again and again."""
    url: str = ""
    asked: list[dict[str, Any]] = field(default_factory=list)

    def next(self) -> str:
        return self.says.pop(0) if len(self.says) > 1 else self.says[0]


@contextmanager
def serve_gemini(*says: str) -> Iterator[GeminiServer]:
    """Serve in a thread."""
    state = GeminiServer(list(says))

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers.get("content-length", 0))) or b"{}")
            state.asked.append(body)
            answer = json.dumps(_answer(state.next())).encode()
            streamed = "stream" in self.path
            data = b"data: " + answer + b"\r\n\r\n" if streamed else answer
            self.send_response(200)
            self.send_header("content-type", "text/event-stream" if streamed else "application/json")
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


def _answer(said: str) -> dict[str, Any]:
    part: dict[str, Any] = {"text": said}
    if said.startswith("read "):
        part = {"functionCall": {"name": "read_file", "args": {"file_path": said.removeprefix("read ")}}}
    return {
        "candidates": [{"content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0}],
        "usageMetadata": {"promptTokenCount": 50, "candidatesTokenCount": 3, "thoughtsTokenCount": 7,
                          "totalTokenCount": 60, "cachedContentTokenCount": 10},
        "modelVersion": "gemini-3.8-flash",
    }  # fmt: skip
