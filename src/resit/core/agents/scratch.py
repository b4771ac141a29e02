"""The folder an agent's run starts in: fresh, outside every suite, and gone afterwards."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

from resit.core.records import Request

PREFIX = "resit-run-"
"""How the folder of every run is named, so that its logs can be told from a person's own work."""


@dataclass(frozen=True, slots=True)
class Scratch:
    """The folders of one run; a context manager that removes them."""

    root: Path
    """`resit-run-…`, which holds the others; the agent sees only those."""
    work: Path
    """Where the agent starts: question files, or the copy of the workspace."""
    home: Path
    """Its private home."""
    writable: bool
    """True for a workspace."""
    source: Path | None
    """The suite's workspace that was copied."""

    def remove(self) -> None:
        """Remove all of it, whatever an agent left there."""
        raise NotImplementedError

    def __enter__(self) -> Scratch:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.remove()


def prepare(request: Request, *, outside: Sequence[Path] = (), sign_in: Sequence[Path] = ()) -> Scratch:
    """Make the folders of a run and fill them with what the question gives.

    Args:
        request: Its files and its workspace.
        outside: Folders it must not lie in: what `hidden_areas` says.
        sign_in: Files and folders of the person's home, copied to the same place in the private one.

    Raises:
        ResitError: There is no room, or the workspace cannot be read.
    """
    raise NotImplementedError
