"""What the person says about a quota that several settings share: `[pools.NAME]` of `models.toml`."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from typing import Annotated, Literal

from pydantic import Field, model_validator

from resit.core.records import Frozen

Unit = Literal["runs", "tokens", "usd", "percent"]
Window = Literal["5h", "week", "month"]


class PoolEntry(Frozen):
    """One pool: in which window what may be used, and how much of it is left alone."""

    window: Window
    runs: Annotated[int, Field(gt=0)] | None = None
    tokens: Annotated[int, Field(gt=0)] | None = None
    """Of all kinds together."""
    usd: Annotated[Decimal, Field(gt=0, allow_inf_nan=False)] | None = None
    command: tuple[str, ...] = ()
    """Prints how much is used, or left. It is run as it stands here, without a shell."""
    path: str | None = None
    """Where in the JSON that it prints the number is, by names and places: `five_hour.utilization`. None: the first
    number of its output."""
    counts: Literal["used", "left"] = "used"
    """What the number says."""
    full: Annotated[Decimal, Field(gt=0, allow_inf_nan=False)] = Decimal(100)
    """The number that stands for all of it: 100, or 1 where a command prints shares."""
    reserve: Annotated[Decimal, Field(ge=0, lt=1, allow_inf_nan=False)] = Decimal("0.10")
    """Share of the limit that is left alone: at or below it no job starts."""
    resets_at: datetime | None = None
    """A moment at which a window begins; the others follow it. None: the window is the last hours or days."""

    @model_validator(mode="after")
    def _one_limit(self) -> PoolEntry:
        limits = [self.runs, self.tokens, self.usd, self.command or None]
        if sum(limit is not None for limit in limits) > 1:
            raise ValueError("takes one limit: runs, tokens, usd or command")
        if self.resets_at is not None and self.resets_at.tzinfo is None:
            raise ValueError("resets_at needs its offset, as in 2026-11-30T12:00:00Z")
        return self

    @property
    def unit(self) -> Unit:
        """What is counted; percent also where only a person's readings say how much is used."""
        if self.runs is not None:
            return "runs"
        if self.tokens is not None:
            return "tokens"
        return "usd" if self.usd is not None else "percent"

    @property
    def limit(self) -> Decimal:
        """The most that may be used in a window, in its unit."""
        return Decimal(self.runs or self.tokens or self.usd or 100)

    @property
    def stop_line(self) -> Decimal:
        """Where the reserve begins: nothing may be used beyond."""
        return self.limit * (1 - self.reserve)
