"""Runs a wrapped command to its end: its prompt in, its output out in bounds, and nothing of it left afterwards."""

from __future__ import annotations

import asyncio
import codecs
import signal
import time
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any, TypeVar

from resit.core.agents.bounded import HeadTail
from resit.core.agents.jail import Wrapped
from resit.core.agents.outputs.reader import Ended

FINISH_S = 8.0
"""How long a command that is asked to finish may take to write its last words."""
END_S = 3.0
"""How long each harder way of ending it may take."""
NOT_STARTED = 127
"""Exit code of a command that could not be started, as shells have it."""
STOP_S = 0.5
"""How long a command that is stopped may take to end by itself."""
_CHUNK = 65_536
_STDERR_CHARS = 20_000

Hear = Callable[[str], None]
T = TypeVar("T")


async def run_command(wrapped: Wrapped, stdin: bytes, hear: Hear, timeout_s: float) -> Ended:
    """Start the command and wait for its end; at the timeout, or when cancelled, all that it started is ended.

    Args:
        wrapped: The command in its jail.
        stdin: What it reads.
        hear: Takes its standard output piece by piece.
        timeout_s: How long it may take.
    """
    began = time.perf_counter()
    try:
        process = await asyncio.create_subprocess_exec(
            *wrapped.argv,
            env=wrapped.env,
            stdin=PIPE if stdin else DEVNULL,
            stdout=PIPE,
            stderr=PIPE,
            start_new_session=True,
        )
    except OSError as error:
        return Ended(NOT_STARTED, time.perf_counter() - began, error.strerror or str(error))
    errors = HeadTail(_STDERR_CHARS, _STDERR_CHARS)
    assert process.stdout is not None
    assert process.stderr is not None
    pipes = [
        asyncio.create_task(_write(process, stdin)),
        asyncio.create_task(_read(process.stdout, hear)),
        asyncio.create_task(_read(process.stderr, errors.add)),
    ]
    overdue = False
    try:
        async with asyncio.timeout(timeout_s):
            await process.wait()
    except TimeoutError:
        overdue = True
        await _end(process, FINISH_S)
    except asyncio.CancelledError:
        # Nobody waits for its last words.
        await to_the_end(_end(process, STOP_S))
        raise
    finally:
        seconds = time.perf_counter() - began
        await to_the_end(_drain(pipes))
    return Ended(_exit_code(process.returncode), seconds, errors.text, overdue, timeout_s)


async def to_the_end(work: Coroutine[Any, Any, T]) -> T:
    """Wait for what must be done before all else, however often the wait is cancelled meanwhile."""
    task = asyncio.ensure_future(work)
    cancelled = False
    while not task.done():
        try:
            await asyncio.shield(task)
        except asyncio.CancelledError:
            cancelled = True
    if cancelled:
        raise asyncio.CancelledError
    return task.result()


async def _end(process: Process, finish_s: float) -> None:
    """End it: asked, told, killed; what is above it ends all that it started."""
    ways = ((signal.SIGINT, finish_s), (signal.SIGTERM, END_S), (signal.SIGKILL, END_S))
    for way, seconds in ways:
        with suppress(ProcessLookupError):
            process.send_signal(way)
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await process.wait()
                return


async def _write(process: Process, data: bytes) -> None:
    if process.stdin is None:
        return
    with suppress(BrokenPipeError, ConnectionResetError):
        process.stdin.write(data)
        await process.stdin.drain()
        process.stdin.close()


async def _read(stream: asyncio.StreamReader, hear: Hear) -> None:
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    while chunk := await stream.read(_CHUNK):
        hear(decoder.decode(chunk))
    hear(decoder.decode(b"", final=True))


async def _drain(pipes: list[asyncio.Task[None]]) -> None:
    """Wait for what is still in the pipes; one that something outside holds open is let go."""
    _, still = await asyncio.wait(pipes, timeout=END_S)
    for task in still:
        task.cancel()
    for outcome in await asyncio.gather(*pipes, return_exceptions=True):
        if isinstance(outcome, Exception):
            raise outcome


def _exit_code(code: int | None) -> int | None:
    """As a shell says it: 128 and the number of the signal that ended it."""
    return code if code is None or code >= 0 else 128 - code
