"""What a running round says while it runs. Front ends fold these into `progress.Progress`."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Literal, assert_never

from resit.core.records import Fault, Frozen, Row, RunRecord, Setting

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

    @property
    def loaded(self) -> str:
        """What loading a local model took, in a sentence that the first run it answered brings; empty for others."""
        reply = self.record.attempts[-1].reply if self.record.attempts else None
        if reply is None or reply.warm_up_s is None:
            return ""
        return f"{self.record.setting.model} was ready after {reply.warm_up_s:.1f} s, which no run's seconds count"


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


class BatchSeen(Frozen):
    """A batch that is out, as it is shown."""

    mark: str
    """Ours, for as long as the batch is known."""
    requests: int
    state: Literal["submitting", "looked for", "submitted", "canceling", "coming in", "done", "lost"]
    """`looked for`: it was being submitted when a process or connection ended, and may be there. `lost`: the server
    no longer has its results, or never had the batch."""
    since: datetime
    """When it was submitted."""
    next_at: datetime | None = None
    """When it is looked at again."""
    until: datetime | None = None
    """When the server ends it at the latest."""

    @property
    def said(self) -> str:
        """The batch in a line."""
        head = f"batch of {self.requests:,} requests"
        until = f", polling until {self.until:%d %b %H:%M} UTC" if self.until is not None else ""
        match self.state:
            case "submitting":
                return f"{head}: submitting"
            case "looked for":
                return f"{head}: it may be at the server already; looking for it there before anything is asked again"
            case "submitted":
                return f"{head}: submitted {self.since:%d %b %H:%M} UTC{until}"
            case "canceling":
                return f"{head}: being canceled; what is done already still comes"
            case "coming in":
                return f"{head}: has ended, its results come in"
            case "done":
                return f"{head}: all results are in"
            case "lost":
                return f"{head}: the server does not have it; its requests are owed again"
            case _ as never:
                assert_never(never)


class PoolHold(Frozen):
    """A quota pool of which nothing starts."""

    pool: str
    said: str
    """Why, in a sentence."""
    until: datetime | None = None
    """When it goes on. None: nobody knows."""

    @property
    def line(self) -> str:
        """Why and until when."""
        return self.said + (f"; it goes on {self.until:%d %b %H:%M} UTC" if self.until is not None else "")


@dataclass(frozen=True, slots=True)
class PoolsHeld:
    """Other pools than before start nothing."""

    at: datetime
    holds: tuple[PoolHold, ...]
    """All of them; none when every pool goes on."""


@dataclass(frozen=True, slots=True)
class BatchesChanged:
    """Batches went out, ended, or are looked at at another time."""

    at: datetime
    batches: tuple[BatchSeen, ...]
    """All that are out, and those that just ended."""


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
    RoundStarted
    | AttemptSent
    | AttemptFailed
    | Streamed
    | RunKept
    | SettingStopped
    | Spent
    | PauseChanged
    | BatchesChanged
    | PoolsHeld
    | RoundEnded
)
