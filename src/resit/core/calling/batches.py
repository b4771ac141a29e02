"""Asks models over the Message Batches API: many requests at once, at half the price, within a day.

What the API allows, and what follows from it: a batch has no name of ours, and while it is processed nobody can see
what is in it; only its number of requests and when it was made are listed. Each request carries an id of ours, which
comes back with its result. So a batch whose id was lost, because the process died before it could be written down, is
known again by the first line of its results, once it has ended.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar
from urllib.parse import urlsplit

from resit.core.calling.endings import dropped, unreadable, whole
from resit.core.calling.faults import Asked, ServerError, from_server, inner_status
from resit.core.calling.incoming import UNREADABLE
from resit.core.calling.link import Link, Sdk, request_body
from resit.core.calling.models import TABLE, ModelInfo, model_info
from resit.core.calling.stream import ReplyStream
from resit.core.config import Secret
from resit.core.endpoints import Endpoint
from resit.core.records import Fault, Reply, Request

if TYPE_CHECKING:
    from anthropic.types.messages import MessageBatch

CREATE_S = 600.0
ASK_S = 60.0
STALL_S = 120.0
"""The longest silence while results come in."""
MAX_LINE = 32 * 1024 * 1024
"""Bytes of one result at most: the longest reply there can be has less than a tenth of it."""
_ID = re.compile(r"[A-Za-z0-9_-]{1,120}")

T = TypeVar("T")
BatchStatus = Literal["in_progress", "canceling", "ended"]


@dataclass(frozen=True, slots=True)
class BatchState:
    """A batch, as the server sees it."""

    id: str
    requests: int
    status: BatchStatus
    created_at: datetime
    expires_at: datetime
    gone: bool
    """Its results are no longer kept."""


@dataclass(frozen=True, slots=True)
class Unbilled:
    """A request of a batch that was never worked on, or that failed: it costs nothing."""

    fault: Fault
    canceled: bool = False


Result = Reply | Fault | Unbilled
"""What came of a request. A plain Fault may have been billed: it is a reply that cannot be read."""


class AnthropicBatches:
    """The batches of one server and key. Every call is tried once."""

    def __init__(
        self,
        endpoint: Endpoint,
        key: Secret | None,
        *,
        models: Mapping[str, ModelInfo] | None = None,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        """Nothing is imported or opened before the first call.

        Args:
            endpoint: The server.
            key: What it wants to see; None where it wants none.
            models: What models take, by id; None is our table.
            clock: For waiting times that a server gives as a date.
        """
        self.endpoint = endpoint
        self._link = Link(endpoint, key, clock=clock)
        self._models = TABLE if models is None else models

    async def create(self, requests: Iterable[tuple[str, Request]]) -> BatchState | Fault:
        """Submit a batch.

        Args:
            requests: Each with an id of its own: 1 to 64 of `a-z`, `A-Z`, `0-9`, `_` and `-`.
        """
        if fault := self._link.no_key(""):
            return fault
        bodies = [
            {"custom_id": mark, "params": request_body(request, model_info(request.model, self._models))}
            for mark, request in requests
        ]

        async def ask(sdk: Sdk) -> BatchState:
            return _state(await sdk.client.messages.batches.create(requests=bodies))  # type: ignore[arg-type]

        return await self._told(ask, CREATE_S)

    async def retrieve(self, batch_id: str) -> BatchState | Fault:
        """How far a batch is."""

        async def ask(sdk: Sdk) -> BatchState:
            return _state(await sdk.client.messages.batches.retrieve(batch_id))

        return await self._told(ask, ASK_S)

    async def cancel(self, batch_id: str) -> BatchState | Fault:
        """Ask the server to work on no more of a batch's requests; it still ends, and gives what it has."""

        async def ask(sdk: Sdk) -> BatchState:
            return _state(await sdk.client.messages.batches.cancel(batch_id))

        return await self._told(ask, ASK_S)

    async def recent(self, since: datetime) -> tuple[BatchState, ...] | Fault:
        """The account's batches made since then, newest first."""

        async def ask(sdk: Sdk) -> tuple[BatchState, ...]:
            found = []
            async for batch in sdk.client.messages.batches.list(limit=100):
                if batch.created_at < since:
                    break
                found.append(_state(batch))
            return tuple(found)

        return await self._told(ask, ASK_S)

    async def first_mark(self, batch_id: str) -> str | Fault | None:
        """The id of ours in the first line of an ended batch's results; None when it has none."""

        async def ask(sdk: Sdk) -> str | None:
            start = b""
            async for piece in self._pieces(sdk, batch_id):
                start += piece
                if b"\n" in start or len(start) > MAX_LINE:
                    break
            return mark_of(start.partition(b"\n")[0])

        return await self._told(ask, ASK_S)

    async def save_results(self, batch_id: str, path: Path) -> Fault | None:
        """Write the results of an ended batch to `path` as they come, whole or not at all.

        Raises:
            OSError: They cannot be written.
        """
        part = path.with_suffix(".part")

        async def ask(sdk: Sdk) -> None:
            with part.open("wb") as file:
                async for piece in self._pieces(sdk, batch_id):
                    file.write(piece)
            part.replace(path)

        try:
            return await self._told(ask, None)
        finally:
            part.unlink(missing_ok=True)

    async def close(self) -> None:
        """Let go of connections."""
        await self._link.close()

    def read(self, line: bytes, model: str) -> tuple[str, Result] | None:
        """One line of results: the id of ours, and what came of its request; None when it is no such line."""
        mark = mark_of(line)
        if mark is None:
            return None
        asked = self._link.asked(model)
        try:
            return mark, _result(asked, json.loads(line)["result"], self._link.now())
        except UNREADABLE as error:
            return mark, unreadable(asked, error)

    async def _pieces(self, sdk: Sdk, batch_id: str) -> AsyncIterator[bytes]:
        """The results of a batch in pieces, from the server that has the key and no other."""
        batch = await sdk.client.messages.batches.retrieve(batch_id)
        if batch.results_url is None or not _same_place(batch.results_url, self.endpoint.url):
            raise ValueError("results elsewhere")
        stream = sdk.client.messages.batches.with_streaming_response.results(batch_id)
        async with asyncio.timeout(STALL_S) as limit, stream as response:
            loop = asyncio.get_running_loop()
            async for piece in response.iter_bytes():
                limit.reschedule(loop.time() + STALL_S)
                yield piece

    async def _told(self, ask: Callable[[Sdk], Awaitable[T]], limit_s: float | None) -> T | Fault:
        """What `ask` gives, with whatever goes wrong told as a fault."""
        asked = self._link.asked("a batch")
        sdk = await self._link.open()
        try:
            async with asyncio.timeout(limit_s):
                return await ask(sdk)
        except TimeoutError:
            return asked.fault("timeout", f"{asked.url} did not answer about a batch in time")
        except sdk.status_error as error:
            fault = self._link.refused(asked, error)
            if fault.status == 404:
                return fault.model_copy(update={"said": f"{asked.url} knows no such batch, or takes none (404)"})
            return fault
        except sdk.transport_errors as error:
            return dropped(asked, error.__cause__ or error, sdk.unreached, started=False)
        except (*UNREADABLE, sdk.api_error) as error:
            return unreadable(asked, error)


def may_exist(fault: Fault) -> bool:
    """True when a batch may have been made though its maker was told nothing of it, or only half."""
    return fault.status is None or fault.status < 300 or fault.status in (408, 409) or fault.status >= 500


def mark_of(line: bytes) -> str | None:
    """The id of ours in one line of results; None when it is no such line."""
    try:
        mark = json.loads(line)["custom_id"]
    except UNREADABLE:
        return None
    return mark if isinstance(mark, str) else None


def result_lines(path: Path) -> Iterator[bytes]:
    """The lines of saved results, one at a time, however many there are; none is longer than `MAX_LINE`.

    Raises:
        OSError: They cannot be read.
    """
    with path.open("rb") as file:
        while line := file.readline(MAX_LINE):
            if line.strip():
                yield line


def _state(batch: MessageBatch) -> BatchState:
    # The SDK takes whatever came: what is not as the API sends it must not go further.
    if not isinstance(batch.id, str) or not _ID.fullmatch(batch.id):
        raise ValueError("no id")
    counts = batch.request_counts
    if batch.processing_status not in ("in_progress", "canceling", "ended"):
        raise ValueError("no status")
    return BatchState(
        id=batch.id,
        requests=counts.processing + counts.succeeded + counts.errored + counts.canceled + counts.expired,
        status=batch.processing_status,
        created_at=batch.created_at.astimezone(UTC),
        expires_at=batch.expires_at.astimezone(UTC),
        gone=batch.archived_at is not None,
    )


def _result(asked: Asked, result: Mapping[str, Any], now: datetime) -> Result:
    match result["type"]:
        case "succeeded":
            reply = ReplyStream(watched=False)
            reply.take_whole(result["message"])
            return whole(asked, reply)
        case "errored":
            error = ServerError.from_body(200, result["error"], {})
            return Unbilled(from_server(asked, replace(error, status=inner_status(error)), now))
        case "expired":
            return Unbilled(asked.fault("timeout", "the batch expired before this request had its turn"))
        case "canceled":
            return Unbilled(asked.fault("dropped", "the batch was canceled before this request had its turn"), True)
        case other:
            raise ValueError(f"unknown result {other!r:.40}")


def _same_place(url: str, base: str) -> bool:
    """True when `url` leads to the server of `base`, so that no key goes elsewhere."""
    there, here = urlsplit(url), urlsplit(base)
    return (there.scheme, there.hostname, there.port) == (here.scheme, here.hostname, here.port)
