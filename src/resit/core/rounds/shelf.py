"""Rounds that are there: opened to look at, and listed."""

from __future__ import annotations

import os
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from pathlib import Path

from resit.core.errors import ResitError, RoundError
from resit.core.paths import rounds_dir as default_rounds_dir
from resit.core.records import Row
from resit.core.rounds.graded import Graded, GradedRound
from resit.core.rounds.lost import lost_calls
from resit.core.rounds.memory import Score, load_sums
from resit.core.rounds.plan import RoundPlan
from resit.core.rounds.regrade import graded_by
from resit.core.rounds.store import RoundStore, find_rounds
from resit.core.suite import Suite
from resit.core.suite_file import find_suite, load_suite, sample_suites

SAMPLE = "sample:"


@dataclass(frozen=True, slots=True)
class OpenedRound:
    """A round as a person looks at it."""

    store: RoundStore
    plan: RoundPlan
    asked: Suite
    """The suite as asked."""
    suite: Suite
    """The same questions under the rules that hold now."""
    graded: Graded
    keeper: GradedRound
    """Grades again quickly after an edit."""
    note: str = ""
    """Why the present suite could not be used, when it could not."""

    @property
    def rows(self) -> tuple[Row, ...]:
        """One row a run, in suite order."""
        return self.graded.rows

    @property
    def lost(self) -> int:
        """Calls that went out and are in no result: with any, the cost is "at least".

        Raises:
            RoundError: The list of sent calls cannot be read.
        """
        return sum(lost_calls(self.store, self.graded.entries).values())

    @property
    def damaged(self) -> tuple[str, ...]:
        """A line for each result file that cannot be read."""
        return tuple(result.why for result in self.graded.damaged)


@dataclass(frozen=True, slots=True)
class RoundSummary:
    """A round in a list of rounds."""

    path: Path
    suite: str
    plan: RoundPlan | None
    """None when it cannot be read."""
    done: int
    """Runs with a result."""
    scores: tuple[Score, ...]
    cost_usd: Decimal
    cost_at_least: bool
    runner_pid: int | None
    """The process that runs it now; 0 when its number is not known."""
    problem: str = ""
    """Why it cannot be opened."""

    @property
    def id(self) -> str:
        """The round's name."""
        return self.path.name

    @property
    def created_at(self) -> datetime | None:
        """When it was begun."""
        return self.plan.created_at if self.plan else None


def open_round(
    ref: str | Path, *, rounds_dir: Path | None = None, suite: Suite | None = None, under_present: bool = True
) -> OpenedRound:
    """Open a round to look at; nothing in it is changed but what is remembered of its grades.

    Args:
        ref: `last`, an id or the beginning of one, or a folder.
        rounds_dir: Folder of all rounds.
        suite: The suite whose rules hold now; None looks for the file that was asked.
        under_present: False grades under the rules that the round was asked with.

    Raises:
        RoundError: There is no such round, or it cannot be read.
    """
    folder = rounds_dir or default_rounds_dir()
    store = RoundStore.open(ref) if isinstance(ref, Path) else RoundStore.find(folder, ref)
    plan, asked = store.plan(), store.suite()
    note = ""
    if suite is None and under_present:
        suite, note = present_suite(plan)
    now = graded_by(asked, suite)
    keeper = GradedRound(store)
    return OpenedRound(store, plan, asked, now, keeper.grade(now, plan), keeper, note)


def present_suite(plan: RoundPlan) -> tuple[Suite | None, str]:
    """The suite that a round asked, as its file is now; else None and why."""
    if plan.suite_path is None:
        return None, ""
    try:
        return load_suite(find_suite(plan.suite_path)), ""
    except ResitError as error:
        return None, f"graded by the rules it was asked with: {error.message}"


def is_of_another_file(plan: RoundPlan, suite: Suite) -> bool:
    """Two files of one name in two folders are two suites; a file that was moved is still the one."""
    if plan.suite_path is None or suite.path is None:
        return False
    try:
        return not find_suite(plan.suite_path).samefile(suite.path)
    except (ResitError, OSError):
        return False


def rounds_of(suite: Suite, *, rounds_dir: Path | None = None) -> list[Path]:
    """Folders of the rounds that asked this suite's file, newest first; one that cannot be read may be of it too."""
    return [path for path in find_rounds(rounds_dir or default_rounds_dir(), suite.name) if _may_be_of(path, suite)]


def _may_be_of(path: Path, suite: Suite) -> bool:
    try:
        return not is_of_another_file(RoundStore(path).plan(), suite)
    except RoundError:
        return True


def list_rounds(suite: str | None = None, *, rounds_dir: Path | None = None) -> list[RoundSummary]:
    """All rounds, or those of one suite, newest first; one that cannot be read is in it too and says why."""
    return [summarise(path) for path in find_rounds(rounds_dir or default_rounds_dir(), suite)]


def summarise(path: Path) -> RoundSummary:
    """What a list shows of the round in `path`: taken from what is remembered, nothing is graded."""
    store = RoundStore(path)
    try:
        plan, problem = store.plan(), ""
    except RoundError as error:
        plan, problem = None, error.message
    sums = load_sums(store)
    return RoundSummary(
        path=path,
        suite=path.parent.name,
        plan=plan,
        done=sum(1 for _ in store.marks()),
        scores=sums.scores if sums is not None else (),
        cost_usd=sums.cost_usd if sums is not None else Decimal(0),
        cost_at_least=sums.at_least if sums is not None else True,
        runner_pid=store.runner_pid(),
        problem=problem,
    )


def portable_path(path: Path | None) -> str | None:
    """A suite's path as a round keeps it, readable on another machine: a sample by name, the home folder as `~`."""
    if path is None:
        return None
    full = Path(os.path.abspath(path))  # `..` must not stand in it
    if any(full == sample.absolute() for sample in sample_suites()):
        return f"{SAMPLE}{path.stem}"
    try:
        return str(Path("~") / full.relative_to(Path.home()))
    except ValueError:
        return str(full)
