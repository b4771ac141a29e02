"""Time as the runner sees it, so that tests can hold it in their hand."""

from __future__ import annotations

import asyncio
import time
from datetime import UTC, datetime


class Clock:
    """The system's time."""

    def now(self) -> datetime:
        """Time of day, UTC."""
        return datetime.now(UTC)

    def monotonic_s(self) -> float:
        """Seconds that never run backwards."""
        return time.monotonic()

    async def wait(self, event: asyncio.Event, timeout_s: float | None) -> None:
        """Return when `event` is set or `timeout_s` is over; None waits for the event alone."""
        if timeout_s is None:
            await event.wait()
            return
        # `asyncio.wait_for` makes a task each time; a timer that sets the event costs a tenth of it.
        timer = asyncio.get_running_loop().call_later(max(0.0, timeout_s), event.set)
        try:
            await event.wait()
        finally:
            timer.cancel()
