"""What a person would see, and waiting until they see it."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from textual.app import App
from textual.pilot import Pilot

LIMIT_S = 8.0
"""Far more than anything here takes: a busy machine is slow, a test that waits in vain must end."""


def seen(app: App[Any]) -> str:
    """All that stands on the screen."""
    return "\n".join(strip.text.rstrip() for strip in app.screen._compositor.render_strips())


async def until(pilot: Pilot[Any], done: Callable[[], bool]) -> None:
    """Wait until `done`; what stands on the screen is the failure's message."""
    end = time.monotonic() + LIMIT_S
    while not done():
        assert time.monotonic() < end, seen(pilot.app)
        await pilot.pause(0.02)


async def until_seen(pilot: Pilot[Any], *texts: str) -> str:
    """Wait until all of `texts` stand on the screen; the screen."""
    await until(pilot, lambda: all(text in seen(pilot.app) for text in texts))
    return seen(pilot.app)


async def until_gone(pilot: Pilot[Any], text: str) -> str:
    """Wait until `text` no longer stands on the screen; the screen."""
    await until(pilot, lambda: text not in seen(pilot.app))
    return seen(pilot.app)


async def press(pilot: Pilot[Any], *keys: str) -> None:
    """Press keys and let the screen follow."""
    for key in keys:
        await pilot.press(key)
        await pilot.pause()
