"""A marker planted with the keys: if it can be read from inside the jail, so could they be."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from resit.core.records import Isolation, Reply
from resit.core.suite import Suite


@dataclass(frozen=True, slots=True)
class Canary:
    """The planted marker, and what else must not show up in a run."""

    marker: str
    files: tuple[Path, ...]
    """Where it was planted: beside the suite and in resit's data folder."""
    paths: tuple[str, ...]
    """Paths whose mention shows that a run found the keys: of the suite, its hidden tests and the planted files."""

    def remove(self) -> None:
        """Take the planted files away."""
        raise NotImplementedError

    def seen_in(self, reply: Reply) -> str:
        """Where the marker or a key's path shows up in a reply, its transcript or its diff; empty when nowhere."""
        raise NotImplementedError


def plant(suite: Suite) -> Canary:
    """Plant a random marker beside the suite and in resit's data folder.

    Raises:
        ResitError: It could be written nowhere, so nothing could be proven.
    """
    raise NotImplementedError


def readable_from(canary: Canary, isolation: Isolation) -> str:
    """Try to read the marker from inside the jail of an agent: where that succeeds, else empty."""
    raise NotImplementedError
