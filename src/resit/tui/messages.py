"""What travels from the App to its screens: whole snapshots, never half a picture."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual.message import Message

if TYPE_CHECKING:
    from resit.core.rounds.events import RoundEnded, RunKept, Streamed
    from resit.core.rounds.progress import Progress


class ProgressChanged(Message):
    """The running round moved on; sent at most ten times a second to every open screen."""

    def __init__(self, progress: Progress, kept: tuple[RunKept, ...], streamed: tuple[Streamed, ...]) -> None:
        """Carry the whole snapshot.

        Args:
            progress: The picture as it is now.
            kept: Runs that ended since the last message, oldest first.
            streamed: Pieces of the watched reply since the last message.
        """
        super().__init__()
        self.progress = progress
        self.kept = kept
        self.streamed = streamed


class RoundOver(Message):
    """The running round ended, for whatever reason."""

    def __init__(self, ended: RoundEnded | None, problem: str = "") -> None:
        """Say how it ended.

        Args:
            ended: The round's own last word; None when it broke.
            problem: One sentence when it broke, else empty.
        """
        super().__init__()
        self.ended = ended
        self.problem = problem


class SuiteChanged(Message):
    """The rules of a suite changed (an edit, an undo, or the file itself); grades are to be made again."""

    def __init__(self, path: str) -> None:
        """Name the suite file."""
        super().__init__()
        self.path = path


@dataclass(frozen=True, slots=True)
class Start:
    """Where the app begins."""

    paths: tuple[str, ...] = ()
    """Suite files or folders given on the command line."""
    demo: bool = False
    """Play the recorded round."""
    watch: str = ""
    """Round to follow or open."""
