"""A saved or running round as the screens read it: rows, grid, misses, and what a person may do to them."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from resit.core.edits import EditStore
from resit.core.errors import EditError, ResitError, RoundError
from resit.core.judging.evidence import Evidence, reweigh, weigh
from resit.core.judging.review_queue import State, count_states, grader_said, left_to_read, state_of
from resit.core.records import Row, Setting, VerdictWord, run_key
from resit.core.rounds.former import FormerGrade, read_former
from resit.core.rounds.graded import GradedRound
from resit.core.rounds.lost import lost_calls
from resit.core.rounds.plan import RoundPlan, build_request
from resit.core.rounds.regrade import Flip, Preview, compare, graded_by, preview
from resit.core.rounds.reviews import Review, read_reviews, set_review, standing
from resit.core.rounds.shelf import present_suite, rounds_of
from resit.core.rounds.store import RoundStore
from resit.core.scoring.grade import counted, grade
from resit.core.scoring.grid import Grid, make_row
from resit.core.scoring.misses import failed_names, grader_suspects
from resit.core.suite import Edit, Question, Suite
from resit.core.suite_file import edit_faults, edits_file, load_suite
from resit.tui.figures import count
from resit.tui.filters import below_full
from resit.tui.miss import Miss
from resit.tui.running_sums import RunningSums

if TYPE_CHECKING:
    from resit.core.rounds.events import RunKept


class RoundView:
    """One round. Everything it tells is made from the store; it keeps no truth of its own."""

    def __init__(self, store: RoundStore, suite: Suite | None = None) -> None:
        """Open the round of `store`.

        Args:
            store: The round.
            suite: The suite with the rules that hold now; else it is read from the file the round names.

        Raises:
            RoundError: The round cannot be read.
        """
        self.store = store
        self.plan: RoundPlan = store.plan()
        self.asked: Suite = store.suite()
        self.suite_problem = ""
        self.current: Suite | None = suite or self._read_suite()
        self._graded = GradedRound(store)
        self.settings: dict[str, Setting] = {p.setting.label: p.setting for p in self.plan.settings}
        self._endpoints = {p.setting.label: p.endpoint for p in self.plan.settings}
        self._order: list[str] = []
        self._rows: dict[str, Row] = {}
        self._evidence: Evidence | None = None
        self._sums = RunningSums()
        self._misses: list[str] | None = None
        self._open: list[str] | None = None
        self._former: Mapping[str, tuple[FormerGrade, ...]] = {}
        self._places: dict[str, int] = {}
        self.damaged = self.lost = 0
        self.reviews: dict[str, Review] = {}
        self.reload()

    @classmethod
    def at(cls, path: Path, suite: Suite | None = None) -> RoundView:
        """Open the round in a folder.

        Raises:
            RoundError: There is none, or it cannot be read.
        """
        return cls(RoundStore.open(path), suite)

    # -- reading ----------------------------------------------------------------------------------------------------

    def reload(self) -> None:
        """Grade what is on disk under the rules that hold now."""
        self.suite = graded_by(self.asked, self.current)
        self.questions = self.plan.questions(self.suite)
        self._question_at = {q.id: at for at, q in enumerate(self.suite.questions)}
        self._label_at = {label: at for at, label in enumerate(self.settings)}
        graded = self._graded.grade(self.suite, self.plan)
        self.damaged = len(graded.damaged)
        self.lost = sum(lost_calls(self.store, graded.entries).values())
        self.reviews = read_reviews(self.store)
        self._former = read_former(self.store)
        self._rows = {self._key(row): row for row in graded.rows}
        self._order = list(self._rows)
        self._renew()

    def take(self, kept: Iterable[RunKept]) -> None:
        """Lay runs of a running round over what is known; the order stays that of the suite."""
        # Models of the grid hold the list as it was: they must not see it change under them.
        self._order = list(self._order)
        touched: set[tuple[str, str]] = set()
        for event in kept:
            row = event.row
            if row.setting not in self.settings or row.question not in self.suite.by_id:
                continue
            now, review = self.suite.by_id[row.question], self.reviews.get(event.record.key)
            if now.rule_digest != self.asked.by_id[row.question].rule_digest or review is not None:
                # The runner grades by the rules and verdicts it began with; what was said meanwhile counts here.
                asked = self._asked_digest(now, row.setting)
                attempt = counted(event.record, asked)
                row = make_row(now, event.record, standing(review, attempt.at if attempt else None), asked=asked)
            key = self._key(row)
            if key not in self._rows:
                at = bisect_left(self._ranks, self._rank(row))
                self._ranks.insert(at, self._rank(row))
                self._order.insert(at, key)
                self._of_question.setdefault(row.question, []).append(key)
            self._rows[key] = row
            touched.add((row.question, row.setting))
        self._renew_places()
        for question in {place[0] for place in touched}:
            self._of_question[question].sort(key=self._places.__getitem__)
        if self._evidence is not None:
            self._evidence = self._sums.lay(self._evidence, {place: self._runs(*place) for place in touched})

    def _runs(self, question: str, label: str) -> list[Row]:
        rows = (self._rows[key] for key in self.of_question(question))
        return [row for row in rows if row.setting == label]

    def sum_up(self, seconds: float) -> None:
        """Bring sums up to what was taken, for about so long."""
        self._evidence = self._sums.sum_up(self.evidence, seconds)

    @property
    def sums_due(self) -> bool:
        """Whether a sum is older than what was taken."""
        return self._sums.due

    def _rank(self, row: Row) -> tuple[int, int, int]:
        return self._question_at[row.question], self._label_at[row.setting], row.run

    def _renew(self) -> None:
        self._evidence = None
        self._sums.forget()
        self._ranks = [self._rank(row) for row in self._rows.values()]
        self._renew_places()
        self._of_question: dict[str, list[str]] = {}
        for key in self._order:
            self._of_question.setdefault(self._rows[key].question, []).append(key)

    def _renew_places(self) -> None:
        self._misses = self._open = None
        self._places = {key: at for at, key in enumerate(self._order)}

    def _read_suite(self) -> Suite | None:
        found, self.suite_problem = present_suite(self.plan)
        return found

    def read_suite_again(self) -> None:
        """Lay the suite's rules as they are now over the round."""
        found = self._read_suite()
        if found is not None:
            self.current = found
        self.reload()

    def _key(self, row: Row) -> str:
        return run_key(row.question, self.settings[row.setting], row.run)

    @property
    def rows(self) -> list[Row]:
        """In suite order, then by setting and run."""
        return [self._rows[key] for key in self._order]

    @property
    def keys(self) -> list[str]:
        """Of `rows`."""
        return self._order

    def row(self, key: str) -> Row:
        """One run's row."""
        return self._rows[key]

    def has(self, key: str) -> bool:
        """Whether that run is known."""
        return key in self._rows

    @property
    def evidence(self) -> Evidence:
        """The runs that count once verdicts are weighed: every score that is shown comes from these."""
        if self._evidence is None:
            self._evidence = weigh(self.store.id, self.plan, self.suite, self.rows, self.reviews)
        return self._evidence

    @property
    def grid(self) -> Grid:
        """Cells and summaries of what counts."""
        return self.evidence.grid

    def left_out(self, row: Row) -> bool:
        """Whether a verdict takes this run, or its whole question, out of the score."""
        return row.verdict == "setup" or row.question in self.evidence.questions_out

    @property
    def left_out_said(self) -> str:
        """`left out: 1 question, 2 runs`, the runs being those of other questions; empty when all counts."""
        questions, runs = len(self.evidence.questions_out), len(self.evidence.runs_out)
        parts = [count(questions, "question")] if questions else []
        parts += [count(runs, "run")] if runs else []
        return f"left out: {', '.join(parts)}" if parts else ""

    @property
    def misses(self) -> list[str]:
        """Keys of all runs below full marks, in order."""
        if self._misses is None:
            self._misses = [key for key in self._order if below_full(self._rows[key])]
        return self._misses

    @property
    def open_misses(self) -> list[str]:
        """Keys of the runs that wait for a person, in order."""
        if self._open is None:
            self._open = [key for key in self.misses if left_to_read(self._rows[key], self.evidence)]
        return self._open

    @property
    def unread(self) -> int:
        """How many runs wait for a person: a gate."""
        return len(self.open_misses)

    def next_open(self, key: str | None) -> str | None:
        """The next run that waits for a person, from the first again after the last; None when none waits."""
        waiting = self.open_misses
        if not waiting or key is None or key not in self._places:
            return waiting[0] if waiting else None
        here = self._places[key]
        return next((other for other in waiting if self._places[other] > here), waiting[0])

    @property
    def states(self) -> Mapping[State, int]:
        """How many runs are in each state."""
        planned = len(self.questions) * len(self.settings) * self.plan.repeats
        return count_states(self._rows.values(), planned, self.evidence)

    @property
    def grader_said(self) -> str:
        """`3 of 11 misses were the grader's`; empty without any."""
        return grader_said(self._rows.values())

    def waits_for_grader(self, key: str) -> bool:
        """Whether the grader is blamed for a run, and neither a changed rule nor a reason answers that yet."""
        row = self._rows[key]
        return row.verdict == "grader" and left_to_read(row, self.evidence)

    def of_question(self, question: str) -> list[str]:
        """Keys of all runs of a question, in order."""
        return self._of_question.get(question, [])

    def miss(self, key: str) -> Miss:
        """All that a pane shows of that run."""
        row = self._rows[key]
        question = self.suite.by_id[row.question]
        record, problem = None, ""
        try:
            record = self.store.read(key)
        except RoundError as error:
            problem = error.message
        return Miss(
            key=key,
            question=question,
            row=row,
            record=record,
            grade=grade(question, record, self._asked_digest(question, row.setting)) if record else None,
            siblings=tuple(self._rows[other] for other in self.of_question(row.question)),
            review=self.reviews.get(key),
            suspect=self._suspect(row),
            number=self._number(key),
            of=len(self.misses),
            state=state_of(row, self.evidence),
            former=self._former.get(key, ()),
            edited_at=tuple(edit.at for edit in self.suite.edits if edit.question == row.question),
            problem=problem,
        )

    def _number(self, key: str) -> int | None:
        at = bisect_left(self.misses, self._places[key], key=self._places.__getitem__)
        return at + 1 if at < len(self.misses) and self.misses[at] == key else None

    def _asked_digest(self, question: Question, label: str) -> str:
        return build_request(self.suite, question, self.settings[label], self._endpoints[label]).digest()

    def _suspect(self, row: Row) -> str:
        failed = failed_names(row)
        rows = [self._rows[key] for key in self.of_question(row.question)] if failed else []
        return next((suspect.why for suspect in grader_suspects(rows) if suspect.check in failed), "")

    def after(self, key: str | None, step: int) -> str | None:
        """The miss `step` places on from a run that need not be a miss; stops at the ends."""
        misses = self.misses
        if not misses:
            return None
        if key is None or key not in self._rows:
            return misses[0]
        here = self._places[key]
        at = bisect_left(misses, here, key=self._places.__getitem__)
        on_a_miss = at < len(misses) and misses[at] == key
        target = at + step if step < 0 or on_a_miss else at + step - 1
        return misses[max(0, min(len(misses) - 1, target))]

    # -- changing ---------------------------------------------------------------------------------------------------

    @property
    def editable(self) -> str:
        """Why no edit can be kept; empty when one can."""
        if self.current is None or self.current.path is None:
            return self.suite_problem or "The suite's file is not known, so there is nowhere to keep an edit."
        return ""

    def edit_stores(self) -> list[RoundStore]:
        """Every saved round of this suite's file, this one first."""
        others = [p for p in rounds_of(self.current or self.suite) if p.resolve() != self.store.path.resolve()]
        stores = [self.store]
        for path in others:
            try:
                stores.append(RoundStore.open(path))
            except RoundError:
                continue
        return stores

    def preview(self, edit: Edit) -> Preview:
        """What `edit` would change in every saved round of this suite.

        Raises:
            ResitError: The edit cannot be made.
        """
        assert self.current is not None
        if faults := edit_faults(self.current, edit):
            raise EditError(faults[0].message, hint=faults[0].mend)
        return preview(edit, self.current, self.edit_stores())

    def keep(self, edit: Edit) -> tuple[Flip, ...]:
        """Write `edit` beside the suite and grade again; what flipped in this round.

        Raises:
            ResitError: It cannot be kept; nothing has changed.
        """
        EditStore(self.edits_file(), self._suite_path().name).append(edit)
        return self._regraded(edit)

    def undo(self) -> tuple[Edit, tuple[Flip, ...]]:
        """Take the last edit of this suite back; it, and what flipped in this round.

        Raises:
            ResitError: There is none, or it cannot be taken back.
        """
        edit = EditStore(self.edits_file()).undo()
        return edit, self._regraded(edit)

    def _suite_path(self) -> Path:
        if self.current is None or self.current.path is None:
            raise ResitError(self.editable)
        return self.current.path

    def edits_file(self) -> Path:
        """Where edits of this suite are kept."""
        self._suite_path()
        assert self.current is not None
        return edits_file(self.current)

    def _regraded(self, edit: Edit) -> tuple[Flip, ...]:
        evidence, known, weights = self._evidence, self._rows, self._weights()
        before = [self._rows[key] for key in self.of_question(edit.question)]
        self.current = load_suite(self._suite_path())
        self.reload()
        after = [self._rows[key] for key in self.of_question(edit.question)]
        if evidence is not None and weights == self._weights() and self._only_differs_in(edit.question, known):
            # Only the cells of one question are others; making all of them anew took 0.4 s at 30,000.
            self._evidence = reweigh(evidence, self.plan, self.suite, edit.question, after)
        return compare(before, after, self.store.id)

    def _weights(self) -> list[float]:
        return [question.weight for question in self.questions]

    def _only_differs_in(self, question: str, known: dict[str, Row]) -> bool:
        """Whether all rows of other questions are those of `known`: nothing else changed on disk meanwhile."""
        rows = self._rows
        return known.keys() == rows.keys() and all(
            row is known[key] or row == known[key] for key, row in rows.items() if row.question != question
        )

    def settle(self, key: str, verdict: VerdictWord | None, note: str) -> None:
        """Write a verdict and a note down.

        Raises:
            RoundError: They could not be written; what was there before is unchanged.
        """
        set_review(self.store, key, datetime.now(UTC), verdict, note)
        self.reload()
