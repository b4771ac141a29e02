"""A saved round as the text commands read it: its rows under the rules that hold now."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from resit.core.errors import SuiteError
from resit.core.paths import rounds_dir
from resit.core.rounds.graded import Graded, GradedRound
from resit.core.rounds.plan import RoundPlan
from resit.core.rounds.regrade import graded_by
from resit.core.rounds.store import RoundStore
from resit.core.scoring.grid import Grid, build_grid
from resit.core.suite import Suite
from resit.core.suite_file import load_suite
from resit.plain.text import note, plural


@dataclass(frozen=True, slots=True)
class Opened:
    """One round, graded."""

    store: RoundStore
    plan: RoundPlan
    graded: Graded
    grid: Grid

    @property
    def suite(self) -> Suite:
        """The questions as asked, under the rules that hold now."""
        return self.graded.suite

    @property
    def rule_said(self) -> str:
        """When the rules were set, and how many edits came since: stands beside every score."""
        set_at = self.plan.rule_set_at
        since = sum(edit.at > set_at for edit in self.suite.edits)
        return f"rule of {set_at.day} {set_at:%b %Y}" + (f", {plural(since, 'edit')} since" if since else "")


def find_round(ref: str) -> RoundStore:
    """The round that a person names.

    Raises:
        RoundError: None, or more than one, is named so.
    """
    return RoundStore.find(rounds_dir(), ref)


def current_suite(plan: RoundPlan) -> Suite | None:
    """The suite as its file and edits say now; None, and a word of it, when that cannot be read."""
    if plan.suite_path is None:
        return None
    try:
        return load_suite(Path(plan.suite_path))
    except SuiteError as error:
        note(f"{error}; graded under the rules as asked")
        return None


def open_round(ref: str) -> Opened:
    """Read and grade a round.

    Raises:
        RoundError: It cannot be found or read.
    """
    store = find_round(ref)
    plan = store.plan()
    graded = GradedRound(store).grade(graded_by(store.suite(), current_suite(plan)), plan)
    return opened(store, plan, graded)


def opened(store: RoundStore, plan: RoundPlan, graded: Graded) -> Opened:
    """A graded round with its grid."""
    for damaged in graded.damaged:
        note(f"{damaged.key}: {damaged.why}; the same `resit run` asks it again")
    settings = [planned.setting for planned in plan.settings]
    return Opened(store, plan, graded, build_grid(graded.rows, plan.questions(graded.suite), settings))
