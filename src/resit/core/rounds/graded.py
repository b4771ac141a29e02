"""A round's rows: graded from its replies, remembered in `graded.json`, and never taken for truth.

A remembered row counts only while the result file, the question's rule, what was asked, the verdict and resit's
version are those it was made from. The file may be deleted at any time.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from operator import attrgetter

from resit.core.errors import RoundError
from resit.core.records import Attempt, Row, RunRecord, file_part
from resit.core.rounds.former import mark_of, note_former
from resit.core.rounds.memory import GRADED, Entry, dumped, held_values, load_entries, without_collecting
from resit.core.rounds.plan import Held, RoundPlan, build_request, held
from resit.core.rounds.reviews import Review, read_reviews, standing
from resit.core.rounds.store import FileMark, RoundStore
from resit.core.rule import digest
from resit.core.scoring.grade import counted
from resit.core.scoring.grid import make_row
from resit.core.suite import Question, Suite

_WORTH_SAVING = 0.1
"""The cache is written again when more than this share of the rows had to be made anew: writing takes longer."""
_SAVED_AT_ONCE = 2_000
"""Of rounds up to this size it is written whenever a row is another one, in some 20 ms: lists of rounds show it."""


@dataclass(frozen=True, slots=True)
class DamagedResult:
    """A result file that cannot be read, still where it was."""

    key: str
    why: str


@dataclass(frozen=True, slots=True)
class Graded:
    """A round's rows."""

    suite: Suite
    """The questions asked, under the rules that graded them."""
    rows: tuple[Row, ...]
    """In suite order, then by setting and run, whatever order the jobs finished in."""
    entries: Mapping[str, Entry]
    """The same with what each was made from, by run key."""
    damaged: tuple[DamagedResult, ...]
    read: int
    """How many result files had to be read and graded for this."""

    @property
    def held(self) -> dict[str, Held]:
        """What the store holds, by run key."""
        return {key: entry.held for key, entry in self.entries.items()}


class GradedRound:
    """The rows of one round, kept up with its files, its suite's rules and its verdicts."""

    def __init__(self, store: RoundStore) -> None:
        """Look at the round of `store`; nothing is read yet."""
        self.store = store
        self._entries: dict[str, Entry] | None = None
        self._frames: Frames | None = None

    def grade(self, suite: Suite, plan: RoundPlan | None = None, *, afresh: bool = False) -> Graded:
        """All rows under the rules of `suite`.

        Args:
            suite: The questions as asked, with the rules that decide now.
            plan: The round's plan, when the caller has read it already.
            afresh: Grade every run again, whatever is remembered.
        """
        with without_collecting():
            return self._grade(suite, plan or self.store.plan(), afresh)

    def _grade(self, suite: Suite, plan: RoundPlan, afresh: bool) -> Graded:
        frames = self._frames = Frames(suite, plan)
        reviews = read_reviews(self.store)
        former = self._remembered()
        entries: dict[str, Entry] = {}
        damaged: list[DamagedResult] = []
        read = 0
        for key, mark in self.store.marks():
            entry = None if afresh else former.get(key)
            if entry is None or not _still_true(entry, mark, frames, reviews.get(key)):
                read += 1
                try:
                    entry = self._read(key, mark, frames, reviews.get(key))
                except RoundError as error:
                    damaged.append(DamagedResult(key, error.message))
                    continue
            if entry is not None:
                entries[key] = entry
        others = _under_other_rules(former, entries) if read else []
        if others:
            note_former(self.store, ((key, row) for key, row in others if mark_of(row) != mark_of(entries[key].row)))
        self._entries = entries
        changed = (
            read > 0 and len(entries) <= _SAVED_AT_ONCE and any(entries.get(key) != e for key, e in former.items())
        )
        if changed or read > _WORTH_SAVING * len(entries):
            self.save()
        rows = sorted((entry.row for entry in entries.values()), key=frames.place)
        return Graded(suite, tuple(rows), entries, tuple(sorted(damaged, key=attrgetter("key"))), read)

    def remembered(self) -> Mapping[str, Entry]:
        """What was last graded, by run key, by this object or by `graded.json`; true or not any more."""
        return self._remembered()

    def remembered_rows(self) -> tuple[Row, ...]:
        """The rows as last graded, by this object or by `graded.json`; true or not any more."""
        return tuple(entry.row for entry in self._remembered().values())

    def remember(self, record: RunRecord, row: Row, kept: Held) -> None:
        """Take up a run that was just kept and graded as `grade` would, so that the next opening need not."""
        found = self._frames.of(record) if self._frames else None
        mark = self.store.mark(record.key)
        if found is not None and mark is not None:
            sent = _sent(counted(record, found[2]))
            self._remembered()[record.key] = Entry(mark, found[1], sent, row, held_values(kept))

    def save(self) -> None:
        """Remember the rows; a disk without room for them costs nothing but time later."""
        if self._entries is None:
            return
        with suppress(RoundError):
            self.store.write_file(GRADED, dumped(self._entries))

    def _remembered(self) -> dict[str, Entry]:
        if self._entries is None:
            self._entries = load_entries(self.store)
        return self._entries

    def _read(self, key: str, mark: FileMark, frames: Frames, review: Review | None) -> Entry | None:
        record = self.store.read(key)
        if record is None:
            return None
        found = frames.of(record)
        if found is None:
            return None
        question, frame, asked = found
        attempt = counted(record, asked)
        verdict = standing(review, attempt.at if attempt else None)
        row = make_row(question, record, verdict, asked=asked)
        return Entry(mark, frame, _sent(attempt), row, held_values(held(record)))


def _sent(attempt: Attempt | None) -> str:
    return attempt.at.isoformat() if attempt is not None else ""


def question_keys(store: RoundStore, question: str) -> tuple[str, ...]:
    """Names of the stored runs of one question."""
    start = f"{file_part(question)}__"
    return tuple(sorted(key for key, _ in store.marks() if key.startswith(start)))


def shown(suite: Suite, question: Question) -> tuple[object, ...]:
    """What a question shows the model of its own: all that must be the same for its replies to stay valid."""
    files = tuple((name, suite.attached.get(name)) for name in question.files)
    workspace = (question.workspace_digest,) if question.workspace_digest else ()
    return question.prompt, files, *workspace, question.system, question.max_tokens


class Frames:
    """What rows depend on besides their files, fingerprinted once a question and not once a run."""

    def __init__(self, suite: Suite, plan: RoundPlan) -> None:
        self._suite = suite
        self._settings = {planned.setting.label: planned for planned in plan.settings}
        self._places = (
            {question.id: at for at, question in enumerate(suite.questions)},
            {label: at for at, label in enumerate(self._settings)},
        )
        variants = {name: variant.model_dump(mode="json") for name, variant in suite.variants.items()}
        self._common = digest([suite.instruction, suite.max_tokens, variants])
        self._questions: dict[str, str] = {}
        self._frames: dict[tuple[str, str], str] = {}
        self._asked: dict[tuple[str, str], str] = {}

    def frame(self, question: str, label: str) -> str | None:
        """The fingerprint for a question under a setting; None when the round does not hold both."""
        found = self._frames.get((question, label))
        if found is None:
            if question not in self._suite.by_id or label not in self._settings:
                return None
            found = f"{self._question(self._suite.by_id[question])} {self._settings[label].endpoint}"
            self._frames[question, label] = found
        return found

    def of(self, record: RunRecord) -> tuple[Question, str, str] | None:
        """Question, fingerprint and `asked` digest for a stored run; None when the round no longer holds it."""
        place = (record.question, record.setting.label)
        frame = self.frame(*place)
        if frame is None:
            return None
        question = self._suite.by_id[record.question]
        if place not in self._asked:
            planned = self._settings[record.setting.label]
            self._asked[place] = build_request(self._suite, question, planned.setting, planned.endpoint).digest()
        return question, frame, self._asked[place]

    def place(self, row: Row) -> tuple[int, int, int]:
        """Where a row stands: question, setting, run."""
        return self._places[0][row.question], self._places[1][row.setting], row.run

    def _question(self, question: Question) -> str:
        if question.id not in self._questions:
            sent = shown(self._suite, question)
            self._questions[question.id] = digest([self._common, question.rule_digest, question.kind, *sent])
        return self._questions[question.id]


def _under_other_rules(former: Mapping[str, Entry], entries: Mapping[str, Entry]) -> list[tuple[str, Row]]:
    """The former rows of runs whose reply is the same and whose rule is another one now."""
    return [
        (key, before.row)
        for key, before in former.items()
        if (now := entries.get(key)) is not None and now.mark == before.mark and now.row.rule != before.row.rule
    ]


def _still_true(entry: Entry, mark: FileMark, frames: Frames, review: Review | None) -> bool:
    row = entry.row
    verdict = standing(review, entry.sent_at) if review is not None else None
    return entry.mark == mark and row.verdict == verdict and entry.frame == frames.frame(row.question, row.setting)
