"""The Message Batches endpoints of the mock server."""

from __future__ import annotations

import json
import random
import re
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Literal

from mock_answers import Answer, Failure, Plan, whole_message

CUSTOM_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")
Turn = Plan | Literal["expired", "canceled", "unsaid", "noise"]
"""What a request of a batch meets; `unsaid` has no line in the results, `noise` one that is not JSON."""
Response = tuple[int, bytes, str] | Literal["reset"]


@dataclass(slots=True)
class MockBatch:
    """One batch."""

    id: str
    requests: list[dict[str, Any]]
    key: str | None
    made_at: datetime
    ends_s: float
    """On `time.monotonic()`."""
    canceled: bool = False
    archived: bool = False
    lines: list[bytes] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=dict)

    @property
    def ended(self) -> bool:
        return bool(self.counts)


class MockBatches:
    """All batches of one server. A batch works on its requests when it ends, and only those are billed."""

    def __init__(self, answer: Callable[[dict[str, Any], str | None], Turn]) -> None:
        self.answer = answer
        """What a request meets, given its params and the key."""
        self.stay_s = 0.0
        """How long a new batch is processed."""
        self.creates: deque[Failure | Literal["reset", "lost"]] = deque()
        """What the next creates meet: an error, no answer, or no answer though the batch is made."""
        self.polls: deque[Failure | Literal["reset"]] = deque()
        """What the next looks at a batch meet."""
        self.cut_results = 0
        """How many of the next results break off in the middle."""
        self.hook: Callable[[str], None] = lambda moment: None
        """Told of every moment at which a client could die: `create`, `made`, `poll`, `results`."""
        self.made: dict[str, MockBatch] = {}
        self.largest_bytes = 0

    @property
    def requests(self) -> int:
        """Requests in all batches."""
        return sum(len(batch.requests) for batch in self.made.values())

    def end_all(self) -> None:
        """No batch is processed any longer."""
        for batch in self.made.values():
            batch.ends_s = 0.0

    def handle(self, method: str, target: str, key: str | None, body: bytes, base: str) -> Response:
        path, _, query = target.partition("?")
        parts = path.removeprefix("/v1/messages/batches").strip("/").split("/")
        if parts == [""]:
            return self._create(key, body, base) if method == "POST" else self._list(query, base)
        batch = self.made.get(parts[0])
        if batch is None:
            return _error(404, "not_found_error", "no such batch")
        self._work(batch)
        match method, parts[1:]:
            case "GET", []:
                self.hook("poll")
                if self.polls:
                    met = self.polls.popleft()
                    return "reset" if met == "reset" else _error(met.status, met.type, met.message)
            case "POST", ["cancel"]:
                if not batch.ended:
                    batch.canceled, batch.ends_s = True, 0.0
            case "GET", ["results"]:
                self.hook("results")
                return self._results(batch)
        return _json(200, self._page(batch, base))

    def _create(self, key: str | None, body: bytes, base: str) -> Response:
        self.hook("create")
        met = self.creates.popleft() if self.creates else None
        if isinstance(met, Failure):
            return _error(met.status, met.type, met.message)
        if met == "reset":
            return "reset"
        self.largest_bytes = max(self.largest_bytes, len(body))
        requests = json.loads(body)["requests"]
        marks = [request["custom_id"] for request in requests]
        if len(set(marks)) < len(marks) or not all(CUSTOM_ID.fullmatch(mark) for mark in marks):
            return _error(400, "invalid_request_error", "custom_id")
        if not 1 <= len(requests) <= 100_000 or len(body) > 256 * 1024 * 1024:
            return _error(413, "request_too_large", "too large")
        batch = MockBatch(
            f"msgbatch_{len(self.made) + 1:04d}", requests, key, datetime.now(UTC), time.monotonic() + self.stay_s
        )
        self.made[batch.id] = batch
        self.hook("made")
        return "reset" if met == "lost" else _json(200, self._page(batch, base))

    def _list(self, query: str, base: str) -> Response:
        options = dict(pair.partition("=")[::2] for pair in query.split("&"))
        newest = list(reversed(self.made))
        after = options.get("after_id")
        start = newest.index(after) + 1 if after else 0
        shown = newest[start : start + int(options.get("limit", "20"))]
        for mark in shown:
            self._work(self.made[mark])
        pages = [self._page(self.made[mark], base) for mark in shown]
        return _json(
            200,
            {
                "data": pages,
                "has_more": start + len(shown) < len(newest),
                "first_id": shown[0] if shown else None,
                "last_id": shown[-1] if shown else None,
            },
        )

    def _work(self, batch: MockBatch) -> None:
        if batch.ended or time.monotonic() < batch.ends_s:
            return
        batch.counts = dict.fromkeys(("succeeded", "errored", "canceled", "expired"), 0)
        for request in batch.requests:
            turn: Turn = "canceled" if batch.canceled else self.answer(request["params"], batch.key)
            result = _result(request["params"]["model"], turn)
            batch.counts[result["type"]] += 1
            line = json.dumps({"custom_id": request["custom_id"], "result": result}).encode()
            if turn != "unsaid":
                batch.lines.append(b"{nonsense" if turn == "noise" else line)
        random.Random(len(batch.lines)).shuffle(batch.lines)

    def _results(self, batch: MockBatch) -> Response:
        data = b"".join(line + b"\n" for line in batch.lines)
        if self.cut_results:
            self.cut_results -= 1
            return 200, data[: len(data) // 2], "cut"
        return 200, data, "application/binary"

    def _page(self, batch: MockBatch, base: str) -> dict[str, Any]:
        processing = 0 if batch.ended else len(batch.requests)
        none = dict.fromkeys(("succeeded", "errored", "canceled", "expired"), 0)
        url = f"{base}/v1/messages/batches/{batch.id}/results"
        return {
            "id": batch.id, "type": "message_batch",
            "processing_status": "ended" if batch.ended else "canceling" if batch.canceled else "in_progress",
            "request_counts": {"processing": processing, **(batch.counts or none)},
            "created_at": batch.made_at.isoformat(),
            "expires_at": (batch.made_at + timedelta(days=1)).isoformat(),
            "ended_at": batch.made_at.isoformat() if batch.ended else None,
            "archived_at": batch.made_at.isoformat() if batch.archived else None,
            "cancel_initiated_at": batch.made_at.isoformat() if batch.canceled else None,
            "results_url": url if batch.ended else None,
        }  # fmt: skip


def _result(model: str, turn: Turn) -> dict[str, Any]:
    match turn:
        case Answer():
            message = whole_message(model, turn)
            message["usage"] = {"service_tier": "batch", **message["usage"]}
            return {"type": "succeeded", "message": message}
        case Failure():
            error = {"type": turn.type, "message": turn.message}
            return {"type": "errored", "error": {"type": "error", "error": error}}
        case "expired" | "canceled":
            return {"type": turn}
        case "empty" | "cut_off":
            answer = Answer("half an answer", stop_reason="max_tokens") if turn == "cut_off" else Answer("")
            return {"type": "succeeded", "message": whole_message(model, answer)}
        case _:
            return {"type": "errored", "error": {"type": "error", "error": {"type": "api_error", "message": turn}}}


def _error(status: int, kind: str, message: str) -> Response:
    return _json(status, {"type": "error", "error": {"type": kind, "message": message}})


def _json(status: int, data: object) -> Response:
    return status, json.dumps(data).encode(), "application/json"
