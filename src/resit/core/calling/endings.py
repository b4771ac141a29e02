"""How a call ends that brought no whole reply: the sentences, whatever its server speaks."""

from __future__ import annotations

import asyncio

from resit.core.calling.faults import Asked
from resit.core.calling.incoming import UNREADABLE, Incoming
from resit.core.records import Fault, Reply


class Silence:
    """Brings a call's time limit forward while nothing comes in."""

    __slots__ = ("_end", "_limit", "_loop", "_next", "_stall_s")

    def __init__(self, limit: asyncio.Timeout, stall_s: float) -> None:
        """Watch a call that has begun to answer, from now on.

        Args:
            limit: The call's own limit, which is never put later.
            stall_s: The longest silence.
        """
        self._limit = limit
        self._stall_s = stall_s
        self._loop = asyncio.get_running_loop()
        self._end = limit.when() or self._loop.time()
        self._next = 0.0

    def broken(self) -> None:
        """Something came in."""
        now = self._loop.time()
        # Moved some times in each span only: a timer a piece would cost more than reading the piece.
        if now >= self._next:
            self._next = now + self._stall_s / 8
            self._limit.reschedule(min(self._end, now + self._stall_s))


def whole(asked: Asked, reply: Incoming) -> Reply | Fault:
    """The reply of a stream that is complete."""
    try:
        return reply.reply()
    except UNREADABLE as error:
        return unreadable(asked, error)


def incomplete(asked: Asked, reply: Incoming) -> Fault:
    """The stream ended as it should, and yet not all of it came."""
    if reply.started:
        return asked.fault("dropped", f"the reply of {asked.model} broke off before its end", status=200)
    return asked.fault("server", f"{asked.url} sent nothing at all (200)", status=200)


def unreadable(asked: Asked, error: Exception) -> Fault:
    """Something came that is not of the API."""
    return asked.fault("server", f"{asked.url} sent something that is no reply ({type(error).__name__})", status=200)


def no_reply_at_all(asked: Asked, request_id: str | None) -> Fault:
    """A 200 with something else in it, such as a proxy's page."""
    said = f"{asked.url} answers, but not with a reply (200); check the base URL"
    return asked.fault("server", said, status=200, request_id=request_id)


def timed_out(asked: Asked, elapsed_s: float, timeout_s: float, stall_s: float) -> Fault:
    """It took too long, or fell silent."""
    if elapsed_s < timeout_s:
        said = f"{asked.model} fell silent for {stall_s:g} s in mid-reply"
    else:
        said = f"{asked.model} was not done after {timeout_s:g} s; a longer time limit may help"
    return asked.fault("timeout", said)


def dropped(asked: Asked, error: BaseException, unreached: tuple[type[Exception], ...], *, started: bool) -> Fault:
    """No answer, or only half of one.

    Args:
        asked: The call.
        error: What the transport raised.
        unreached: Errors of a server that was never reached.
        started: The reply had begun.
    """
    reason = type(error).__name__
    if isinstance(error, unreached):
        return asked.fault("dropped", f"{asked.url} cannot be reached ({reason}); check the network and the base URL")
    when = "in mid-reply" if started else "before a reply"
    return asked.fault("dropped", f"the connection to {asked.url} was dropped {when} ({reason})")
