"""A saved round as the text commands read it: its rows under the rules that hold now, and their grid."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from resit.core.judging.evidence import Evidence, weigh
from resit.core.paths import rounds_dir
from resit.core.rounds.graded import Graded
from resit.core.rounds.lost import lost_calls
from resit.core.rounds.plan import RoundPlan, since_said
from resit.core.rounds.reviews import read_reviews
from resit.core.rounds.shelf import open_round as open_saved
from resit.core.rounds.store import RoundStore
from resit.core.scoring.grid import Grid, build_grid
from resit.core.suite import Suite
from resit.plain.text import note


@dataclass(frozen=True, slots=True)
class Opened:
    """One round, graded."""

    store: RoundStore
    plan: RoundPlan
    graded: Graded
    grid: Grid
    """All runs, those that a verdict leaves out as well."""
    evidence: Evidence
    """The runs that count: every score that is shown comes from these."""

    @property
    def suite(self) -> Suite:
        """The questions as asked, under the rules that hold now."""
        return self.graded.suite

    @property
    def lost(self) -> int:
        """Calls that went out and are in no result: with any, the cost is "at least"."""
        return sum(lost_calls(self.store, self.graded.entries).values())

    @property
    def edits_since(self) -> int:
        """Edits made after the rules were set."""
        return sum(edit.at > self.plan.rule_set_at for edit in self.suite.edits)

    @property
    def rule_said(self) -> str:
        """When the rules were set, and what became of them since: stands beside every score."""
        set_at = self.plan.rule_set_at
        since = since_said(self.plan, self.suite)
        return f"rule of {set_at.day} {set_at:%b %Y}" + (f", {since}" if since else "")


def find_round(ref: str) -> RoundStore:
    """The round that a person names.

    Raises:
        RoundError: None, or more than one, is named so.
    """
    return RoundStore.find(rounds_dir(), ref)


def open_round(ref: str | Path) -> Opened:
    """Read and grade a round.

    Raises:
        RoundError: It cannot be found or read.
    """
    found = open_saved(ref)
    if found.note:
        note(found.note)
    return opened(found.store, found.plan, found.graded)


def opened(store: RoundStore, plan: RoundPlan, graded: Graded) -> Opened:
    """A graded round with its grid."""
    for damaged in graded.damaged:
        note(f"{damaged.why}; the same `resit run` asks it again")
    suite = graded.suite
    grid = build_grid(
        graded.rows,
        plan.questions(suite),
        [planned.setting for planned in plan.settings],
        repeats=plan.repeats,
        max_tokens=suite.max_tokens,
    )
    evidence = weigh(store.id, plan, suite, graded.rows, read_reviews(store))
    return Opened(store, plan, graded, grid, evidence)
