"""A round as it is written down: what note, page and report tell of it, read and worked out once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from itertools import groupby

from resit.core.judging.evidence import Evidence, weigh
from resit.core.judging.figures import Figures, is_open
from resit.core.judging.gates import UNTESTED, Gated, judge_settings, suspects_said
from resit.core.judging.growth import Growth, make_growth
from resit.core.judging.review_queue import grader_said
from resit.core.judging.wording import counted, day, named
from resit.core.records import FAIR, Outcome, Reason, Row, VerdictWord, run_key
from resit.core.rounds.lost import lost_said
from resit.core.rounds.plan import PlannedSetting, RoundPlan, build_request, since_said
from resit.core.rounds.reviews import Review, read_reviews
from resit.core.rounds.shelf import OpenedRound
from resit.core.scoring.grade import grade, grade_text
from resit.core.scoring.grid import Grid, build_grid
from resit.core.scoring.misses import grader_suspects, miss_queue
from resit.core.suite import Edit, Question

CAUSES: dict[VerdictWord | None, str] = {
    "model": "the model's",
    "grader": "the grader's",
    "question": "the question's",
    "setup": "the set-up's",
    None: "not read yet",
}
"""Whose fault a miss is, by its verdict."""

_REASONS: dict[Reason, str] = {
    "trap": "miss: fell into a trap",
    "format": "miss: only the wording fails",
    "wrong": "miss",
}
_UNFAIR: dict[Outcome, str] = {
    "empty": "empty reply",
    "cut_off": "cut off",
    "refused": "refused",
    "blocked": "held back by a filter",
    "void": "void: the key was seen",
    "limit": "met a limit",
    "timeout": "timed out",
    "error": "error",
}


@dataclass(frozen=True, slots=True)
class Miss:
    """Runs of one question under one setting, to be read, with the same reply and the same verdict."""

    question: Question
    setting: str
    runs: tuple[Row, ...]
    """In order."""
    said: str
    """`miss: fell into a trap`, `part 0.50`, `unsettled: cut off`."""
    why: str
    """The grader's sentence."""
    reply: str | None
    cause: str
    """Whose fault it is: the verdict in words."""
    notes: tuple[str, ...]
    """What a person wrote on these runs."""

    @property
    def run_numbers(self) -> str:
        """`run 1`, `runs 1, 2 and 3`."""
        numbers = [str(row.run) for row in self.runs]
        if len(numbers) == 1:
            return f"run {numbers[0]}"
        return f"runs {', '.join(numbers[:-1])} and {numbers[-1]}"


@dataclass(frozen=True, slots=True)
class Sheet:
    """A graded round, ready to be written down. It follows from the stored replies and the person's words alone."""

    id: str
    plan: RoundPlan
    questions: tuple[Question, ...]
    """All that were asked, under the rules that hold now."""
    rows: tuple[Row, ...]
    evidence: Evidence
    """The runs that count."""
    grid: Grid
    """All runs, those that a verdict leaves out as well."""
    gated: tuple[Gated, ...]
    """Every setting with its figures before the gates, in plan order, on all of its work."""
    by_kind: Mapping[str, tuple[Gated, ...]]
    """The same for each kind of work, in suite order."""
    growth: Growth
    """How scores move as questions are added."""
    edits: tuple[Edit, ...]
    """Made after the rules were set, oldest first."""
    changed_in_file: tuple[str, ...]
    """Questions whose rule the suite's file itself changed since, with no edit that says when or why."""
    rule_said: str
    """`rule of 30 Nov 2026, 2 edits since`: stands beside every score."""
    rule_now: str
    """Fingerprint of the rules that made these grades; that of the plan while nothing was changed."""
    misses: tuple[Miss, ...]
    """In suite order, then by setting."""
    look_first: tuple[str, ...]
    """What looks like the grader's fault rather than the models'."""
    untested: tuple[str, ...]
    """What this round does not show, in sentences."""
    lost: int = 0
    """Calls that went out and are in no result."""

    @property
    def settings(self) -> tuple[PlannedSetting, ...]:
        """The settings, in plan order."""
        return self.plan.settings

    @property
    def figures(self) -> tuple[Figures, ...]:
        """The figures of every setting on all of its work, in plan order."""
        return tuple(gated.figures for gated in self.gated)

    @property
    def planned(self) -> int:
        """Runs that belong to the plan."""
        return len(self.questions) * len(self.settings) * self.plan.repeats

    @property
    def graded(self) -> int:
        """Runs with a fair answer."""
        return sum(row.outcome in FAIR for row in self.rows)

    @property
    def unsettled(self) -> int:
        """Runs without a fair answer and without a verdict."""
        return sum(summary.unsettled for summary in self.grid.summaries.values())

    @property
    def cost_usd(self) -> Decimal | None:
        """What all runs cost whose price is known; None when none is."""
        known = [row.cost_usd for row in self.rows if row.cost_usd is not None]
        return sum(known, Decimal(0)) if known else None

    @property
    def cost_at_least(self) -> bool:
        """True when a call of unknown cost is not in `cost_usd`."""
        return self.lost > 0 or any(row.cost_usd is None for row in self.rows)

    @property
    def has_second(self) -> bool:
        """True when a question has a second rule."""
        return any(question.second_rule is not None for question in self.questions)

    @property
    def asked_said(self) -> str:
        """`20 questions × 3 settings × 2 runs: 118 of 120 graded, 2 unsettled`."""
        size = (
            f"{counted(len(self.questions), 'question')} × {counted(len(self.settings), 'setting')}"
            f" × {counted(self.plan.repeats, 'run')}"
        )
        missing = self.planned - len(self.rows)
        rest = f", {missing:,} not asked" if missing else ""
        return f"{size}: {self.graded:,} of {self.planned:,} graded, {self.unsettled:,} unsettled{rest}"

    @property
    def misses_said(self) -> str:
        """How many runs a person should read, how many were read, and whose fault they were."""
        runs = [row for miss in self.misses for row in miss.runs]
        if not runs:
            return "No run below full marks."
        read = sum(row.verdict is not None for row in runs)
        said = f"{counted(len(runs), 'run')} to read, {read:,} of {len(runs):,} with a verdict"
        blamed = grader_said(self.rows)
        return f"{said}; {blamed}." if blamed else f"{said}."


def moment(at: datetime) -> str:
    """`30 Nov 2026 09:00 UTC`."""
    utc = at.astimezone(UTC)
    return f"{day(utc)} {utc:%H:%M} UTC"


def make_sheet(found: OpenedRound) -> Sheet:
    """What there is to write down of a round.

    Raises:
        RoundError: Its reviews cannot be read.
    """
    plan, suite = found.plan, found.suite
    reviews = read_reviews(found.store)
    questions = plan.questions(suite)
    settings = [planned.setting for planned in plan.settings]
    grid = build_grid(found.rows, questions, settings, repeats=plan.repeats, max_tokens=suite.max_tokens)
    evidence = weigh(found.store.id, plan, suite, found.rows, reviews)
    gated = judge_settings(evidence)
    by_kind = {kind: judge_settings(evidence, kind) for kind in evidence.kinds}
    edits = tuple(edit for edit in suite.edits if edit.at > plan.rule_set_at)
    return Sheet(
        id=found.store.id,
        plan=plan,
        questions=questions,
        rows=found.rows,
        evidence=evidence,
        grid=grid,
        gated=gated,
        by_kind=by_kind,
        growth=make_growth(evidence),
        edits=edits,
        changed_in_file=_changed_in_file(found, questions, edits),
        rule_said=f"rule of {day(plan.rule_set_at)}, {since_said(plan, suite) or 'not changed since'}",
        rule_now=suite.rule_digest,
        misses=tuple(_misses(found, grid, reviews)),
        look_first=suspects_said(grader_suspects(found.rows), 20),
        untested=tuple(_untested(found, evidence, gated, by_kind)),
        lost=found.lost,
    )


def _changed_in_file(found: OpenedRound, questions: Sequence[Question], edits: Sequence[Edit]) -> tuple[str, ...]:
    edited = {edit.question for edit in edits}
    before = {question.id: question.rule_digest for question in found.asked.questions}
    return tuple(q.id for q in questions if q.id not in edited and q.rule_digest != before.get(q.id))


def _misses(found: OpenedRound, grid: Grid, reviews: Mapping[str, Review]) -> Iterator[Miss]:
    planned = {item.setting.label: item for item in found.plan.settings}
    for (name, label), runs in groupby(miss_queue(grid), key=lambda row: (row.question, row.setting)):
        question, setting = found.suite.by_id[name], planned[label]
        alike: dict[tuple[VerdictWord | None, Outcome, str | None, str], list[Row]] = {}
        for row in runs:
            why = _why(found, question, setting, row)
            alike.setdefault((row.verdict, row.outcome, row.reply, why), []).append(row)
        for (_, _, _, why), same in alike.items():
            keys = [run_key(name, setting.setting, row.run) for row in same]
            notes = [reviews[key].note for key in keys if key in reviews and reviews[key].note]
            yield Miss(
                question=question,
                setting=label,
                runs=tuple(same),
                said=_said(same[0]),
                why=why,
                reply=same[0].reply,
                cause=CAUSES[same[0].verdict],
                notes=tuple(dict.fromkeys(notes)),
            )


def _said(row: Row) -> str:
    if row.outcome not in FAIR:
        return f"unsettled: {_UNFAIR[row.outcome]}"
    if row.outcome == "part":
        return f"part {min(row.score or 0.0, 0.99):.2f}"
    return _REASONS[row.reason] if row.reason is not None else "miss"


def _why(found: OpenedRound, question: Question, planned: PlannedSetting, row: Row) -> str:
    """The grader's sentence. A fair answer is graded from its row; for anything else the record says what came.

    What an agent did is more than its words, and only the record has it.
    """
    if row.outcome in FAIR and row.reply is not None and not question.verify_digest:
        return grade_text(question, row.reply).why
    record = found.store.read(run_key(question.id, planned.setting, row.run))
    if record is None:
        return "nothing is kept of this run"
    asked = build_request(found.suite, question, planned.setting, planned.endpoint).digest()
    return grade(question, record, asked).why


def _untested(
    found: OpenedRound, evidence: Evidence, gated: Sequence[Gated], by_kind: Mapping[str, tuple[Gated, ...]]
) -> Iterator[str]:
    """What the round does not show; words that a reader looks for first come first."""
    figures = [one.figures for one in gated]
    yield from _single_said(evidence, figures)
    for kind, judged in by_kind.items():
        yield from (f"{kind}: {gate.said}." for gate in judged[0].gates if gate.state == "limit")
    for figure in figures:
        yield from _unanswered_said(figure)
    open_runs = [row for row in miss_queue(evidence.grid) if is_open(row, evidence)]
    if open_runs:
        runs = counted(len(open_runs), "run")
        yield f"{runs} below full marks not read yet, or waiting for what the verdict asks for."
    yield from _left_out_said(evidence)
    if found.plan.only:
        yield f"Only a part of the suite was asked: {named(found.plan.only)}."
    drafts = [question.id for question in found.suite.questions if question.draft]
    if drafts:
        yield f"{counted(len(drafts), 'draft')} not asked: {named(drafts)}."
    for damaged in found.graded.damaged:
        yield f"A result cannot be read and counts nowhere: {damaged.why}."
    yield from _price_said(found.plan)
    if lost := lost_said(found.lost):
        yield f"{lost}."
    recorded = all(item.endpoint_source == "recorded" for item in found.plan.settings)
    if not found.plan.serial and not recorded:
        yield "Calls went out side by side, so seconds hold what the server's queue added."


def _single_said(evidence: Evidence, figures: Sequence[Figures]) -> Iterator[str]:
    if figures and all(figure.runs_most == 1 for figure in figures):
        yield f"One run of each question: {UNTESTED}."
        return
    for figure in figures:
        cells = ((name, cell) for (name, label), cell in evidence.grid.cells.items() if label == figure.label)
        single = [name for name, cell in cells if cell.count == 1]
        if single:
            count = counted(len(single), "question")
            yield f"{figure.label}: a single scored run of {count}, {UNTESTED}: {named(single)}."


def _unanswered_said(figure: Figures) -> Iterator[str]:
    summary = figure.summary
    asked = summary.graded + summary.unsettled
    if not summary.graded:
        yield f"{figure.label} was not reached: 0 of {summary.planned:,} runs have a fair answer."
    elif summary.planned > asked:
        yield f"{figure.label}: {summary.planned - asked:,} of {summary.planned:,} runs not asked or left out."
    if summary.unsettled:
        yield f"{figure.label}: {summary.unsettled:,} of {summary.planned:,} runs unsettled, without a fair answer."
    if summary.cut_off_said:
        yield f"{figure.label}: {summary.cut_off_said}; such a limit looks like weakness."


def _left_out_said(evidence: Evidence) -> Iterator[str]:
    if evidence.questions_out:
        names = evidence.questions_out
        yield f"Left out for every setting, the question being at fault: {named(names)}."
    if evidence.runs_out:
        yield f"{counted(len(evidence.runs_out), 'run')} left out, the set-up being at fault: to be asked again."


def _price_said(plan: RoundPlan) -> Iterator[str]:
    for setting, price in {item.setting.model: item.price for item in plan.settings}.items():
        if price is None:
            yield f"{setting} has no known price: its cost is unknown, not nothing."
        elif price.stale(plan.created_at.date()):
            yield f"{setting}: its price was old when the round began: {price.label}."
