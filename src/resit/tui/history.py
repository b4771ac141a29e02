"""Rounds that are on disk and money that was spent, as lists and lines for screens."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING

from textual.content import Content

from resit.core.errors import ResitError
from resit.core.printable import one_line
from resit.tui.figures import count, money, short_setting, when

if TYPE_CHECKING:
    from resit.core.records import Row
    from resit.core.rounds.memory import Entry
    from resit.core.rounds.plan import RoundPlan
    from resit.core.rounds.store import RoundStore
    from resit.core.suite import Suite


@dataclass(frozen=True, slots=True)
class Mark:
    """How one setting stood in a round, as last graded."""

    setting: str
    full: int
    """Questions whose lowest run has full marks."""
    of: int


@dataclass(frozen=True, slots=True)
class PastRound:
    """One round on disk."""

    path: Path
    plan: RoundPlan | None
    """None when it cannot be read."""
    kept: int = 0
    """Result files."""
    planned: int = 0
    ungraded: int = 0
    """Results that no row is remembered of, as after a kill: opening the round grades them."""
    older_rule: int = 0
    """Results last graded by a rule that was changed since: the marks are of mixed rules until it is opened."""
    marks: tuple[Mark, ...] = ()
    cost_usd: Decimal | None = Decimal(0)
    """Of the kept runs. None: no price is known."""
    at_least: bool = False
    running_pid: int | None = None
    """The process that runs it now."""
    problem: str = ""

    @property
    def name(self) -> str:
        """Its date, as a person says it, else its folder."""
        return when(self.plan.created_at) if self.plan else self.path.name


def past_rounds(suite: Suite, limit: int | None = None) -> tuple[PastRound, ...]:
    """The rounds of a suite, newest first. What was graded last is shown; opening a round grades it afresh."""
    from resit.core.rounds.shelf import rounds_of

    return tuple(_past(path, suite) for path in rounds_of(suite)[:limit])


def _past(path: Path, suite: Suite) -> PastRound:
    from resit.core.judging.evidence import weigh
    from resit.core.rounds.graded import GradedRound
    from resit.core.rounds.lost import lost_calls
    from resit.core.rounds.regrade import graded_by
    from resit.core.rounds.store import RoundStore

    try:
        store = RoundStore.open(path)
        plan = store.plan()
        remembered = GradedRound(store).remembered()
        asked = graded_by(store.suite(), suite)
        rows = _as_reviewed(store, plan, remembered.values())
        grid = weigh(store.id, plan, asked, rows).grid
        rules = {question.id: question.rule_digest for question in asked.questions}
        kept = sum(1 for _ in store.marks())
        lost = lost_calls(store, remembered)
    except (ResitError, OSError) as error:
        return PastRound(path, None, problem=str(error))
    known = [row.cost_usd for row in rows if row.cost_usd is not None]
    unknown = max(kept, len(rows)) - len(known)
    return PastRound(
        path=path,
        plan=plan,
        kept=kept,
        planned=len(plan.questions(asked)) * len(plan.settings) * plan.repeats,
        ungraded=max(0, kept - len(rows)),
        older_rule=sum(row.rule != rules.get(row.question, row.rule) for row in rows),
        marks=tuple(Mark(label, s.lowest_full, s.of) for label, s in grid.summaries.items()) if rows else (),
        cost_usd=None if unknown and not known else sum(known, Decimal(0)),
        at_least=bool(known and (unknown or lost)),
        running_pid=store.runner_pid(),
    )


def _as_reviewed(store: RoundStore, plan: RoundPlan, entries: Iterable[Entry]) -> list[Row]:
    """Remembered rows with the verdicts of now: a verdict is written without grading anything again."""
    from resit.core.records import run_key
    from resit.core.rounds.reviews import read_reviews, standing

    reviews = read_reviews(store)
    settings = {planned.setting.label: planned.setting for planned in plan.settings}
    found = []
    for entry in entries:
        row = entry.row
        review = reviews.get(run_key(row.question, settings[row.setting], row.run)) if row.setting in settings else None
        verdict = standing(review, entry.sent_at) if review else None
        found.append(row if row.verdict == verdict else replace(row, verdict=verdict))
    return found


def last_rounds(suite: Suite, limit: int = 3) -> tuple[Content, ...]:
    """A line for each of the newest rounds."""
    heads = ["Last round", *["Before"] * (limit - 1)]
    return tuple(round_line(past, head) for past, head in zip(past_rounds(suite, limit), heads, strict=False))


def round_line(past: PastRound, head: str) -> Content:
    """`Last round  29 Nov 14:02  haiku-5-5 low 20/20  sonnet-5-5 low 19/20  $0.0027`."""
    line = Content.assemble((f"{head:<10}  ", "$text-muted"), (past.name, "bold"))
    if past.problem:
        return line + Content.styled(f"  {one_line(past.problem, 120)}", "$error")
    if past.running_pid is not None:
        line = line + Content.styled("  running", "$primary")
    elif past.kept < past.planned:
        line = line + Content.styled(f"  {past.planned - past.kept:,} still to do", "$warning")
    if past.ungraded:
        line = line + Content.styled(f"  {past.ungraded:,} not graded yet", "$warning")
    if past.older_rule:
        line = line + Content.styled("  mixed rules: open it to grade again", "$warning")
    for mark in past.marks[:4]:
        line = line + f"  {one_line(short_setting(mark.setting), 30)} {mark.full}/{mark.of}"
    if len(past.marks) > 4:
        line = line + f"  and {len(past.marks) - 4} more"
    return line + Content.styled(f"  {money(past.cost_usd, at_least=past.at_least)}", "$text-muted")


def month_line(now: datetime | None = None) -> Content:
    """`spent this month $0.42 · 3 rounds`."""
    from resit.core.spend.ledger import Ledger, in_month, spend_total

    now = now or datetime.now(UTC)
    try:
        entries = tuple(in_month(Ledger().read().entries, now))
    except ResitError as error:
        return Content.styled(one_line(str(error), 60), "$error")
    total = spend_total(entries)
    cost = None if total.unknown and total.unknown == total.calls else total.cost_usd
    rounds = len({(entry.suite, entry.round) for entry in entries})
    spent = money(cost, at_least=bool(total.unknown) and cost is not None, places=2)
    return Content(f"spent this month {spent} · {count(rounds, 'round')}")
