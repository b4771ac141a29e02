"""What a running round says while it runs. Front ends fold these into `progress.Progress`."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Literal

from resit.core.records import Fault, Row, RunRecord, Setting

EndReason = Literal["done", "stopped", "cap", "quota", "disk", "settings"]
"""Why it ended: all asked, on request, at the cap, at a quota, no room on disk, or no setting could go on."""


@dataclass(frozen=True, slots=True)
class RoundStarted:
    """The first event: what is planned and what is already there."""

    at: datetime
    planned: int
    done: int
    """Usable already, not asked again."""
    rows: tuple[Row, ...]
    """The rows of what is already there."""
    round_id: str = ""
    settings: tuple[tuple[Setting, int], ...] = ()
    """Every setting with the number of runs planned for it."""
    spent_usd: Decimal = Decimal(0)
    """Known cost of earlier starts of this round."""
    at_least: bool = False
    cap_usd: Decimal | None = None


@dataclass(frozen=True, slots=True)
class AttemptSent:
    """A call left."""

    at: datetime
    key: str
    question: str
    setting: Setting
    run: int
    attempt: int


@dataclass(frozen=True, slots=True)
class AttemptFailed:
    """A call failed and will be tried again at `next_at`."""

    at: datetime
    key: str
    fault: Fault
    attempt: int
    next_at: datetime


@dataclass(frozen=True, slots=True)
class Streamed:
    """A piece of a reply; only sent for the run that is being watched."""

    key: str
    kind: Literal["text", "thinking"]
    text: str


@dataclass(frozen=True, slots=True)
class RunKept:
    """A run ended and its result is safely on disk."""

    at: datetime
    record: RunRecord
    row: Row


@dataclass(frozen=True, slots=True)
class SettingStopped:
    """A setting cannot go on; the others do."""

    at: datetime
    setting: Setting
    fault: Fault


@dataclass(frozen=True, slots=True)
class Spent:
    """Money after a call settled."""

    spent_usd: Decimal
    in_flight_usd: Decimal
    at_least: bool
    """True when a call without a price is not in `spent_usd`."""


@dataclass(frozen=True, slots=True)
class PauseChanged:
    """The round was paused or goes on."""

    at: datetime
    paused: bool


@dataclass(frozen=True, slots=True)
class RoundEnded:
    """The last event."""

    at: datetime
    reason: EndReason
    said: str
    """One sentence, with the mend where there is one."""
    owed: int
    """Runs still without a usable reply."""


Event = (
    RoundStarted | AttemptSent | AttemptFailed | Streamed | RunKept | SettingStopped | Spent | PauseChanged | RoundEnded
)
