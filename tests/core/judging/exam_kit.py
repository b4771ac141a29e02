"""Exams small enough to work out by hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from decimal import Decimal

from resit.core.judging.evidence import Evidence, weigh
from resit.core.records import Row, Setting, VerdictWord, run_key
from resit.core.rounds.plan import PlannedSetting, RoundPlan
from resit.core.rounds.reviews import Review
from resit.core.suite import Question, Suite, Variant

LOW = Setting(model="haiku", effort="low")
HIGH = Setting(model="sonnet", effort="high")
TOP = Setting(model="opus", effort="max")
NOW = datetime(2026, 11, 30, 9, 0, tzinfo=UTC)

Scores = Sequence[float | None]
Table = Mapping[str, Mapping[Setting, Scores]]
"""By question id and setting, the scores of the runs in order; None is a reply that was cut off."""

COSTS = {LOW.label: Decimal("0.001"), HIGH.label: Decimal("0.010"), TOP.label: Decimal("0.100")}


def exam(
    table: Table,
    *,
    kinds: Mapping[str, str] | None = None,
    weights: Mapping[str, float] | None = None,
    prompts: Mapping[str, str] | None = None,
    accept: Mapping[str, str] | None = None,
    repeats: int = 2,
    costs: Mapping[str, Decimal | None] = COSTS,
    verdicts: Mapping[tuple[str, Setting, int], VerdictWord] | None = None,
    reasons: Sequence[tuple[str, Setting, int]] = (),
    round_id: str = "round-1",
    suite: str = "exam",
    days: int = 0,
    only: tuple[str, ...] = (),
    variants: Mapping[str, str] | None = None,
    settings: Sequence[Setting] | None = None,
) -> Evidence:
    """What counts of a round with these scores."""
    questions = tuple(
        Question(
            id=name,
            prompt=(prompts or {}).get(name, f"{name}?"),
            accept=((accept or {}).get(name, "yes"),),
            kind=(kinds or {}).get(name, "general"),
            weight=(weights or {}).get(name, 1.0),
        )
        for name in table
    )
    made = Suite(
        name=suite,
        title="Exam",
        repeats=repeats,
        questions=questions,
        variants={name: Variant(append=text) for name, text in (variants or {}).items()},
    )
    found = settings or list(dict.fromkeys(setting for cells in table.values() for setting in cells))
    begun = NOW + timedelta(days=days)
    plan = RoundPlan(
        id=round_id,
        suite=suite,
        title="Exam",
        suite_digest=made.digest,
        rule_digest=made.rule_digest,
        rule_set_at=begun,
        created_at=begun,
        settings=tuple(PlannedSetting(setting=setting, endpoint="http://127.0.0.1:1") for setting in found),
        repeats=max([len(runs) for cells in table.values() for runs in cells.values()] or [1]),
        first_repeats=1,
        only=only,
    )
    words = {(name, setting.label, run): word for (name, setting, run), word in (verdicts or {}).items()}
    rows = [
        _row(question, setting, run, score, costs.get(setting.label), words)
        for question in questions
        for setting, scores in table[question.id].items()
        for run, score in enumerate(scores, 1)
    ]
    reviews = {run_key(*place): Review(verdict="grader", note="the rule is right", at=NOW) for place in reasons}
    return weigh(round_id, plan, made, rows, reviews)


def _row(
    question: Question,
    setting: Setting,
    run: int,
    score: float | None,
    cost: Decimal | None,
    words: Mapping[tuple[str, str, int], VerdictWord],
) -> Row:
    return Row(
        question=question.id,
        kind=question.kind,
        setting=setting.label,
        model=setting.model,
        effort=setting.effort,
        variant=setting.variant,
        run=run,
        outcome="cut_off" if score is None else "pass" if score == 1.0 else "part" if score else "miss",
        score=score,
        second_score=None,
        reason=None if score in (None, 1.0) else "wrong",
        failed=(),
        reply="x",
        seconds=float(run),
        attempts=1,
        input_tokens=10,
        cache_write_tokens=None,
        cache_read_tokens=0,
        output_tokens=5,
        thinking_tokens=None,
        cost_usd=cost,
        turns=None,
        verdict=words.get((question.id, setting.label, run)),
    )


def rights(setting: Setting, *runs: str) -> dict[str, dict[Setting, Scores]]:
    """Questions q1, q2, … of one setting; each text holds the runs of a question: `10` is right, then wrong."""
    return {f"q{at}": {setting: [float(mark) for mark in text]} for at, text in enumerate(runs, 1)}


def together(*tables: Table) -> dict[str, dict[Setting, Scores]]:
    """Several settings on the same questions."""
    joined: dict[str, dict[Setting, Scores]] = {}
    for table in tables:
        for name, cells in table.items():
            joined.setdefault(name, {}).update(cells)
    return joined


KINDS = {"q1": "sums", "q2": "sums", "q3": "words", "q4": "words", "q5": "easy"}
TODAY = TOP.label


def three() -> Evidence:
    """Sums: low flaps. Words: only the top setting passes, one miss of low is unread. Easy: all are full."""
    return exam(
        together(
            rights(LOW, "10", "11", "00", "11", "11"),
            rights(HIGH, "11", "11", "11", "00", "11"),
            rights(TOP, "11", "11", "11", "11", "11"),
        ),
        kinds=KINDS,
        verdicts={("q1", LOW, 2): "model", ("q4", HIGH, 1): "model", ("q4", HIGH, 2): "model"},
    )
