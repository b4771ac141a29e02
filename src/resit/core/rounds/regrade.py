"""Grading again without a call: what an edit changes, and which grades flip."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from resit.core.edits import apply_edits
from resit.core.errors import RoundError
from resit.core.records import Row
from resit.core.rounds.former import mark_of
from resit.core.rounds.graded import Graded, GradedRound, question_keys, shown
from resit.core.rounds.plan import build_request
from resit.core.rounds.reviews import read_reviews, standing
from resit.core.rounds.store import RoundStore
from resit.core.scoring.grade import counted
from resit.core.scoring.grid import make_row
from resit.core.suite import Edit, Question, Suite

_RULES = (
    "accept", "rule", "second_rule", "checks", "traps", "reference", "weight", "kind",
    "protect", "hidden", "hidden_digest", "verify", "verify_seconds",
)  # fmt: skip
"""What may change after results: never anything that the model saw."""


@dataclass(frozen=True, slots=True)
class Flip:
    """A run whose grade an edit turns."""

    round_id: str
    before: Row
    after: Row

    @property
    def better(self) -> bool:
        """True when the run gets a higher score than before."""
        return (self.after.score or 0.0) > (self.before.score or 0.0)


@dataclass(frozen=True, slots=True)
class Preview:
    """What an edit would do, before it is kept."""

    regraded: int
    """Saved runs that it touches, flipped or not."""
    flips: tuple[Flip, ...]
    rounds: int
    """Rounds that hold such runs."""

    @property
    def said(self) -> str:
        """One sentence; zero is said too."""
        runs = "1 saved reply" if self.regraded == 1 else f"{self.regraded} saved replies"
        marks = "1 mark changes" if len(self.flips) == 1 else f"{len(self.flips)} marks change"
        return f"{runs} in {self.rounds} round{'' if self.rounds == 1 else 's'} graded again, {marks}"


@dataclass(frozen=True, slots=True)
class Regraded:
    """A round graded again."""

    graded: Graded
    regraded: int
    flips: tuple[Flip, ...]

    @property
    def said(self) -> str:
        """One sentence; zero is said too."""
        runs = "1 run" if self.regraded == 1 else f"{self.regraded} runs"
        marks = "1 mark" if len(self.flips) == 1 else f"{len(self.flips)} marks"
        return f"{runs} regraded, {marks} changed"


def graded_by(asked: Suite, current: Suite | None) -> Suite:
    """The questions as they were asked, under the rules that hold now.

    A question whose prompt has changed since is another question: it keeps the rules it was asked with.
    """
    if current is None:
        return asked
    same_frame = current.instruction == asked.instruction and current.variants == asked.variants
    questions = tuple(_under(asked, q, current) if same_frame else q for q in asked.questions)
    return asked.replaced(questions=questions, edits=current.edits, path=current.path)


def _under(asked: Suite, question: Question, current: Suite) -> Question:
    now = current.by_id.get(question.id)
    if now is None or shown(current, now)[:-1] != shown(asked, question)[:-1]:
        return question
    return question.replaced(**{name: getattr(now, name) for name in _RULES})


def regrade(store: RoundStore, suite: Suite | None = None, *, keeper: GradedRound | None = None) -> Regraded:
    """Grade every reply of a round again.

    Args:
        store: The round.
        suite: The suite with the rules that hold now; None grades under the rules it was asked with.
        keeper: The round's rows as already opened; they are the grades before.
    """
    keeper = keeper or GradedRound(store)
    asked = store.suite()
    before = {(r.question, r.setting, r.run): r for r in keeper.remembered_rows()}
    if not before:
        before = {(r.question, r.setting, r.run): r for r in keeper.grade(asked).rows}
    graded = keeper.grade(graded_by(asked, suite), afresh=True)
    flips = compare(list(before.values()), graded.rows, store.id)
    return Regraded(graded, len(graded.rows), flips)


def compare(before: Iterable[Row], after: Iterable[Row], round_id: str = "") -> tuple[Flip, ...]:
    """The runs in both whose outcome, score, reason or failed items differ, in the order of `after`."""
    former = {(row.question, row.setting, row.run): row for row in before}
    flips = []
    for row in after:
        then = former.get((row.question, row.setting, row.run))
        if then is not None and mark_of(then) != mark_of(row):
            flips.append(Flip(round_id, then, row))
    return tuple(flips)


def preview(edit: Edit, suite: Suite, stores: Sequence[RoundStore]) -> Preview:
    """What `edit` would change in saved rounds. Only the runs of its question are read, and nothing is written."""
    after = apply_edits(suite, (edit,))
    regraded, rounds = 0, 0
    flips: list[Flip] = []
    for store in stores:
        pairs = _regrade_question(store, edit.question, suite, after)
        regraded += len(pairs)
        rounds += bool(pairs)
        flips += (flip for flip in pairs if mark_of(flip.before) != mark_of(flip.after))
    return Preview(regraded, tuple(flips), rounds)


def _regrade_question(store: RoundStore, question: str, before: Suite, after: Suite) -> list[Flip]:
    keys = question_keys(store, question)
    if not keys:
        return []
    asked, plan = store.suite(), store.plan()
    old, new = graded_by(asked, before).by_id.get(question), graded_by(asked, after).by_id.get(question)
    if old is None or new is None:
        return []
    sent = {p.setting.label: build_request(asked, old, p.setting, p.endpoint).digest() for p in plan.settings}
    reviews = read_reviews(store)
    pairs = []
    for key in keys:
        try:
            record = store.read(key)
        except RoundError:
            continue
        if record is None or record.question != question or record.setting.label not in sent:
            continue
        asked_digest = sent[record.setting.label]
        attempt = counted(record, asked_digest)
        verdict = standing(reviews.get(key), attempt.at if attempt else None)
        was, is_now = (make_row(q, record, verdict, asked=asked_digest) for q in (old, new))
        pairs.append(Flip(store.id, was, is_now))
    return pairs
