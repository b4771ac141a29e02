"""What counts: the runs of one or several rounds once a person's verdicts are taken into account.

A verdict `model` lets a run stand. `setup` leaves the run out. `question` leaves the question out for every setting.
`grader` changes no score by itself: the rule must change, or a reason must be written down.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cache

from resit.core.judging.wording import day
from resit.core.records import Row, Setting, run_key
from resit.core.rounds.graded import shown
from resit.core.rounds.memory import without_collecting
from resit.core.rounds.plan import RoundPlan, since_said
from resit.core.rounds.reviews import Review, read_reviews
from resit.core.rounds.shelf import OpenedRound
from resit.core.rule import digest
from resit.core.scoring.grid import Grid, build_grid, summarise, update_grid
from resit.core.suite import Question, Suite, Variant

Place = tuple[str, str, int]
"""Question id, setting label and run: what a run is called in any round."""

LEAST_RUNS = 2
"""Runs of each question that a conclusion needs, whatever a suite says."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """The runs that count, of one round or of several pooled ones."""

    rounds: tuple[str, ...]
    """Ids of the rounds, newest first."""
    suite: str
    """Short name of the suite; of several, with commas."""
    at: datetime
    """When the newest round was begun."""
    grid: Grid
    """Questions and runs that count, and no others."""
    questions_out: tuple[str, ...]
    """Questions that a verdict leaves out for every setting."""
    runs_out: tuple[Row, ...]
    """Runs that the verdict `setup` leaves out."""
    reasons: frozenset[Place]
    """Runs on which a person wrote a note."""
    needed: Mapping[str, int]
    """By question id: runs that its suite wants of it, two at least."""
    asks: Mapping[str, str]
    """By question id: fingerprint of what it shows a model, before the setting's own wording."""
    wordings: Mapping[str, str]
    """By setting label: fingerprint of its variant's wording."""
    endpoints: Mapping[str, str]
    """By setting label: where it was asked."""
    partial: bool = False
    """True when only a part of the suite was asked."""
    suite_digest: str = ""
    """Fingerprint of the newest round's suite as it was asked."""
    rule_said: str = ""
    """When the newest round's rules were set, and how many edits came since: stands beside every score."""
    stated: tuple[str, ...] = ()
    """What a reader must know first: rounds or cells that could not be pooled, and why."""

    @property
    def questions(self) -> tuple[Question, ...]:
        """The questions that count, in suite order."""
        return self.grid.questions

    @property
    def labels(self) -> tuple[str, ...]:
        """The settings, in plan order."""
        return tuple(setting.label for setting in self.grid.settings)

    @property
    def kinds(self) -> tuple[str, ...]:
        """Kinds of work, in suite order."""
        return tuple(dict.fromkeys(question.kind for question in self.questions))

    def setting(self, label: str) -> Setting:
        """The setting of that label."""
        return self.grid.summaries[label].setting

    def of_kind(self, kind: str | None) -> Evidence:
        """What there is for one kind of work; None for all of it."""
        if kind is None:
            return self
        return replace(self, grid=_restricted(self.grid, [q for q in self.questions if q.kind == kind]))


def gather(found: OpenedRound) -> Evidence:
    """What counts in a round.

    Raises:
        RoundError: Its reviews cannot be read.
    """
    return weigh(found.store.id, found.plan, found.suite, found.rows, read_reviews(found.store))


def weigh(
    round_id: str, plan: RoundPlan, suite: Suite, rows: Iterable[Row], reviews: Mapping[str, Review] | None = None
) -> Evidence:
    """What counts of these rows.

    Args:
        round_id: The round's id.
        plan: The round's plan.
        suite: The questions as asked, under the rules that hold now.
        rows: Graded runs with their verdicts.
        reviews: A person's words, by run key.
    """
    with without_collecting():
        return _weighed(round_id, plan, suite, list(rows), reviews or {})


def _weighed(round_id: str, plan: RoundPlan, suite: Suite, rows: list[Row], reviews: Mapping[str, Review]) -> Evidence:
    out = {row.question for row in rows if row.verdict == "question"}
    asked = plan.questions(suite)
    questions = [question for question in asked if question.id not in out]
    settings = [planned.setting for planned in plan.settings]
    kept = [row for row in rows if row.verdict != "setup" and row.question not in out]
    grid = build_grid(kept, questions, settings, repeats=plan.repeats, max_tokens=suite.max_tokens)
    return Evidence(
        rounds=(round_id,),
        suite=plan.suite,
        at=plan.created_at,
        grid=grid,
        questions_out=tuple(question.id for question in asked if question.id in out),
        runs_out=tuple(row for row in rows if row.verdict == "setup" and row.question not in out),
        reasons=_reasons(rows, settings, reviews),
        needed={question.id: max(LEAST_RUNS, suite.repeats) for question in questions},
        asks={question.id: _ask(suite, question) for question in asked},
        wordings={setting.label: _wording(suite, setting.variant) for setting in settings},
        endpoints={planned.setting.label: planned.endpoint for planned in plan.settings},
        partial=bool(plan.only),
        suite_digest=plan.suite_digest,
        rule_said=rule_said(plan, suite),
    )


def reweigh(before: Evidence, plan: RoundPlan, suite: Suite, question: str, rows: Iterable[Row]) -> Evidence:
    """What counts of a round once an edit of one question's rule has graded its runs again.

    The same as `weigh` on all rows, in the time that one question takes.

    Args:
        before: What counted.
        plan: The round's plan.
        suite: The questions as asked, under the rules that hold now; weights are as they were.
        question: The id of the question that was graded again.
        rows: All its runs.
    """
    rows = [row for row in rows if row.question == question]
    if question in before.questions_out:
        return replace(before, rule_said=rule_said(plan, suite))
    grid = update_grid(before.grid, question, (row for row in rows if row.verdict != "setup"))
    out = {place(row): row for row in rows if row.verdict == "setup"}
    return replace(
        before,
        grid=replace(grid, questions=tuple(suite.by_id[asked.id] for asked in grid.questions)),
        runs_out=tuple(out.get(place(row), row) for row in before.runs_out),
        rule_said=rule_said(plan, suite),
    )


def rule_said(plan: RoundPlan, suite: Suite) -> str:
    """`rule of 28 Nov 2026, 2 edits since`."""
    since = since_said(plan, suite)
    return f"rule of {day(plan.rule_set_at)}" + (f", {since}" if since else "")


def place(row: Row) -> Place:
    """What stays the same of a run when it is graded again."""
    return row.question, row.setting, row.run


def _reasons(rows: Sequence[Row], settings: Sequence[Setting], reviews: Mapping[str, Review]) -> frozenset[Place]:
    if not any(review.note.strip() for review in reviews.values()):
        return frozenset()
    by_label = {setting.label: setting for setting in settings}
    noted = {key for key, review in reviews.items() if review.note.strip()}
    judged = [row for row in rows if row.verdict is not None and row.setting in by_label]
    return frozenset(place(row) for row in judged if run_key(row.question, by_label[row.setting], row.run) in noted)


def _ask(suite: Suite, question: Question) -> str:
    return digest([suite.instruction, question.max_tokens or suite.max_tokens, *shown(suite, question)])


def _wording(suite: Suite, variant: str) -> str:
    return digest(suite.variants.get(variant, Variant()).model_dump(mode="json"))


def _restricted(grid: Grid, questions: Sequence[Question]) -> Grid:
    """The grid of some of its questions."""
    names = {question.id for question in questions}
    cells = {cell_place: cell for cell_place, cell in grid.cells.items() if cell_place[0] in names}
    part = replace(grid, cells=cells, questions=tuple(questions))
    return replace(part, summaries={setting.label: summarise(part, setting) for setting in grid.settings})


def _like(grid: Grid, rows: Iterable[Row], questions: Sequence[Question]) -> Grid:
    """A grid of other rows and questions under the same plan."""
    return build_grid(rows, questions, grid.settings, repeats=grid.repeats, max_tokens=grid.max_tokens)


def pool(parts: Sequence[Evidence]) -> Evidence:
    """Several rounds as one body of evidence.

    Of each suite the newest round says which questions there are. The runs of a question under a setting come from
    the newest round that has any; runs that were asked or graded in another way then are left out, and this is
    stated. Where there are several suites, a question is called `suite/question`.

    Args:
        parts: What counts of each round; one at least.
    """
    newest_first = sorted(parts, key=lambda part: part.at, reverse=True)
    suites = list(dict.fromkeys(part.suite for part in newest_first))
    merged = [_merge([part for part in newest_first if part.suite == suite]) for suite in suites]
    if len(merged) == 1:
        return merged[0]
    return _joined([_renamed(part) for part in merged])


def _merge(parts: Sequence[Evidence]) -> Evidence:
    """Rounds of one suite, newest first, as one."""
    merged = parts[0]
    for older in parts[1:]:
        merged = _laid_over(merged, older)
    return merged


def _laid_over(newer: Evidence, older: Evidence) -> Evidence:
    """`newer` with the runs of `older` where it has none and the same was asked and graded in the same way."""
    out = tuple(dict.fromkeys((*newer.questions_out, *older.questions_out)))
    # What a whole round no longer asks was taken out of the suite; a round of a part says nothing on the rest.
    added = [question for question in older.questions if newer.partial and question.id not in newer.asks]
    questions = [question for question in (*newer.questions, *added) if question.id not in out]
    asks, wordings = {**older.asks, **newer.asks}, {**older.wordings, **newer.wordings}
    rules = {question.id: question.rule_digest for question in questions}
    same = {
        question.id
        for question in older.questions
        if older.asks[question.id] == asks[question.id] and question.rule_digest == rules.get(question.id)
    }
    labels = {label for label in older.labels if older.wordings[label] == wordings[label]}
    rows = [row for cell in newer.grid.cells.values() for row in cell.runs]
    for cell_place, cell in older.grid.cells.items():
        if cell_place[0] in same and cell_place[1] in labels and cell_place not in newer.grid.cells:
            rows += cell.runs
    settings = {setting.label: setting for setting in (*newer.grid.settings, *older.grid.settings)}
    return replace(
        newer,
        rounds=newer.rounds + older.rounds,
        grid=build_grid(rows, questions, list(settings.values()), max_tokens=newer.grid.max_tokens),
        questions_out=out,
        runs_out=newer.runs_out + older.runs_out,
        reasons=newer.reasons | older.reasons,
        needed={**older.needed, **newer.needed},
        asks=asks,
        wordings=wordings,
        endpoints={**older.endpoints, **newer.endpoints},
        partial=newer.partial and older.partial,
        stated=newer.stated + _not_pooled(older, [q for q in rules if q in older.asks and q not in same], labels),
    )


def _not_pooled(older: Evidence, other: Sequence[str], labels: Set[str]) -> tuple[str, ...]:
    """Sentences on what an older round holds and the pool leaves out."""
    stated = []
    if other:
        named = ", ".join(other[:3]) + (", …" if len(other) > 3 else "")
        stated.append(f"round {older.rounds[0]}: asked or graded in another way then, not counted: {named}")
    if left := [label for label in older.labels if label not in labels]:
        stated.append(f"round {older.rounds[0]}: worded in another way then, not counted: {', '.join(left)}")
    return tuple(stated)


def _renamed(part: Evidence) -> Evidence:
    """The same with the suite's name before every question's."""

    @cache
    def name(question: str) -> str:
        return f"{part.suite}/{question}"

    questions = [question.replaced(id=name(question.id)) for question in part.questions]
    rows = [replace(r, question=name(r.question)) for cell in part.grid.cells.values() for r in cell.runs]
    return replace(
        part,
        grid=build_grid(
            rows, questions, part.grid.settings, repeats=part.grid.repeats, max_tokens=part.grid.max_tokens
        ),
        questions_out=tuple(name(question) for question in part.questions_out),
        runs_out=tuple(replace(row, question=name(row.question)) for row in part.runs_out),
        reasons=frozenset((name(question), label, run) for question, label, run in part.reasons),
        needed={name(question): runs for question, runs in part.needed.items()},
        asks={name(question): ask for question, ask in part.asks.items()},
    )


def _joined(parts: Sequence[Evidence]) -> Evidence:
    """Several suites as one exam."""
    settings = {setting.label: setting for part in parts for setting in part.grid.settings}
    rows = [row for part in parts for cell in part.grid.cells.values() for row in cell.runs]
    limits = {part.grid.max_tokens for part in parts}
    return Evidence(
        rounds=tuple(name for part in parts for name in part.rounds),
        suite=", ".join(part.suite for part in parts),
        at=max(part.at for part in parts),
        grid=build_grid(
            rows,
            [question for part in parts for question in part.questions],
            list(settings.values()),
            max_tokens=limits.pop() if len(limits) == 1 else None,
        ),
        questions_out=tuple(name for part in parts for name in part.questions_out),
        runs_out=tuple(row for part in parts for row in part.runs_out),
        reasons=frozenset().union(*(part.reasons for part in parts)),
        needed={name: runs for part in parts for name, runs in part.needed.items()},
        asks={name: ask for part in parts for name, ask in part.asks.items()},
        wordings={label: text for part in parts for label, text in part.wordings.items()},
        endpoints={label: where for part in parts for label, where in part.endpoints.items()},
        rule_said="; ".join(f"{part.suite}: {part.rule_said}" for part in parts),
        stated=tuple(line for part in parts for line in part.stated),
    )
