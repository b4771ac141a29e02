"""All that a runner of a round is given."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from resit.core.calling.client import Client
from resit.core.calling.faults import RetryPolicy
from resit.core.records import Fault, Row, VerdictWord
from resit.core.rounds.clock import Clock
from resit.core.rounds.events import Event
from resit.core.rounds.graded import GradedRound
from resit.core.rounds.plan import Plan
from resit.core.rounds.pool_gate import PoolGate
from resit.core.rounds.store import RoundStore
from resit.core.spend.budget import Budget
from resit.core.spend.ledger import Ledger

Emit = Callable[[Event], None]
"""Takes an event at once; it must be quick, for the calls wait meanwhile."""


@dataclass(frozen=True, slots=True)
class Outfit:
    """What one start of a round is made with."""

    plan: Plan
    """What is owed."""
    store: RoundStore
    """Where results go; its lock is held, and the runner lets it go at the end."""
    clients: Mapping[str, Client]
    """Who asks, by setting label; closed at the end."""
    budget: Budget
    """The round's money, earlier starts included."""
    ledger: Ledger | None
    """Where every call is written down. None for a round that pays nobody."""
    emit: Emit
    keeper: GradedRound | None = None
    """Remembers the rows for the next opening."""
    rows: tuple[Row, ...] = ()
    """The rows of the runs that are done."""
    verdicts: Mapping[str, VerdictWord] = field(default_factory=dict)
    """A person's words so far, by run key."""
    barred: Mapping[str, Fault] = field(default_factory=dict)
    """Settings that cannot start, by label, and why."""
    policy: RetryPolicy = field(default_factory=RetryPolicy)
    """When a failed call is tried again."""
    clock: Clock = field(default_factory=Clock)
    rng: random.Random = field(default_factory=random.Random)
    """Where jitter comes from."""
    gate: PoolGate | None = None
    """The quotas that its settings share. None: there are none."""
