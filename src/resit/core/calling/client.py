"""The one shape every provider has."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, Protocol

from resit.core.records import Fault, Reply, Request


@dataclass(frozen=True, slots=True)
class Delta:
    """A piece of a reply as it streams in."""

    kind: Literal["text", "thinking"]
    text: str


Listener = Callable[[Delta], None]


class Client(Protocol):
    """Asks models. One instance serves many calls at a time; a call is tried once, retries are the runner's."""

    async def ask(self, request: Request, listen: Listener | None = None) -> Reply | Fault:
        """Send one request and wait for its end.

        A model's or network's failure is a `Fault`, never an exception; an exception is a defect.

        Args:
            request: All that the model sees.
            listen: Called with each piece as it arrives.
        """
        ...

    async def close(self) -> None:
        """Let go of connections."""
        ...
