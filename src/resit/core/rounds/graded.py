"""A round's rows: graded from its replies, remembered in `graded.json`, and never taken for truth.

A remembered row counts only while the result file, the question's rule, what was asked, the verdict and resit's
version are those it was made from. The file may be deleted at any time.
"""

from __future__ import annotations

import gc
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, fields
from decimal import Decimal
from operator import attrgetter, itemgetter
from typing import Any

from resit import __version__
from resit.core.errors import RoundError
from resit.core.records import FAIR, Row, RunRecord, VerdictWord, file_part
from resit.core.rounds.plan import Held, RoundPlan, build_request, held
from resit.core.rounds.reviews import read_reviews
from resit.core.rounds.store import FileMark, RoundStore
from resit.core.rule import digest
from resit.core.scoring.grid import make_row
from resit.core.suite import Question, Suite

GRADED = "graded.json"
FORMAT = 1
_NOT_A_MEMORY = (OSError, ValueError, KeyError, TypeError, IndexError, ArithmeticError)
_WORTH_SAVING = 0.1
"""The cache is written again when more than this share of the rows had to be made anew: writing takes longer."""

_ROW_FIELDS = tuple(field.name for field in fields(Row))
_HELD_FIELDS = len(fields(Held))
_row_values = attrgetter(*_ROW_FIELDS)
_row_items = itemgetter(*_ROW_FIELDS)
_COST, _FAILED = _ROW_FIELDS.index("cost_usd"), _ROW_FIELDS.index("failed")


@dataclass(frozen=True, slots=True)
class Entry:
    """One run's row, and what it was made from."""

    mark: FileMark
    frame: str
    """Fingerprint of the question's rule and of all that was asked."""
    row: Row
    held_values: Sequence[Any]
    """What planning needs, as it is remembered; most openings never look at it."""

    @property
    def held(self) -> Held:
        """What planning needs to know of the run."""
        usable, asked, prompt, last, cost_usd, cost_unknown = self.held_values
        return Held(tuple(usable), tuple(asked), prompt, last, Decimal(cost_usd), cost_unknown)


@dataclass(frozen=True, slots=True)
class Score:
    """What a setting got in a round, as last graded."""

    setting: str
    points: float
    graded: int
    """Runs with a fair answer: what `points` is out of."""
    done: int
    """Runs with a result."""


@dataclass(frozen=True, slots=True)
class Sums:
    """A round in a few figures, as last graded."""

    scores: tuple[Score, ...]
    cost_usd: Decimal
    at_least: bool
    """True when a run of unknown cost is not in `cost_usd`."""


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
        plan = plan or self.store.plan()
        frames = self._frames = Frames(suite, plan)
        verdicts = {key: review.verdict for key, review in read_reviews(self.store).items()}
        known = {} if afresh else self._remembered()
        entries: dict[str, Entry] = {}
        damaged: list[DamagedResult] = []
        read = 0
        for key, mark in self.store.marks():
            entry = known.get(key)
            if entry is None or not _still_true(entry, mark, frames, verdicts.get(key)):
                read += 1
                try:
                    entry = self._read(key, mark, frames, verdicts.get(key))
                except RoundError as error:
                    damaged.append(DamagedResult(key, error.message))
                    continue
            if entry is not None:
                entries[key] = entry
        self._entries = entries
        if read > _WORTH_SAVING * len(entries):
            self.save()
        rows = sorted((entry.row for entry in entries.values()), key=frames.place)
        return Graded(suite, tuple(rows), entries, tuple(sorted(damaged, key=attrgetter("key"))), read)

    def remembered_rows(self) -> tuple[Row, ...]:
        """The rows as last graded, by this object or by `graded.json`; true or not any more."""
        return tuple(entry.row for entry in self._remembered().values())

    def remember(self, record: RunRecord, row: Row, kept: Held) -> None:
        """Take up a run that was just kept and graded as `grade` would, so that the next opening need not."""
        frame = self._frames.frame(record.question, record.setting.label) if self._frames else None
        mark = self.store.mark(record.key)
        if frame is not None and mark is not None:
            self._remembered()[record.key] = Entry(mark, frame, row, _held_values(kept))

    def save(self) -> None:
        """Remember the rows; a disk without room for them costs nothing but time later."""
        if self._entries is None:
            return
        with suppress(RoundError):
            self.store.write_file(GRADED, _dumped(self._entries))

    def _remembered(self) -> dict[str, Entry]:
        if self._entries is None:
            self._entries = load_entries(self.store)
        return self._entries

    def _read(self, key: str, mark: FileMark, frames: Frames, verdict: VerdictWord | None) -> Entry | None:
        record = self.store.read(key)
        if record is None:
            return None
        found = frames.of(record)
        if found is None:
            return None
        question, frame, asked = found
        return Entry(mark, frame, make_row(question, record, verdict, asked=asked), _held_values(held(record)))


def load_entries(store: RoundStore) -> dict[str, Entry]:
    """What `graded.json` remembers; nothing when it is damaged or of another version of resit."""
    try:
        with _without_collecting():
            table = json.loads((store.path / GRADED).read_bytes())
            if table["format"] != FORMAT or table["resit"] != __version__:
                return {}
            return {file[0]: _loaded(file, row) for file, row in zip(table["files"], table["rows"], strict=True)}
    except _NOT_A_MEMORY:
        return {}


def load_sums(store: RoundStore) -> Sums | None:
    """The sums that `graded.json` begins with, without reading the rest; None when it is damaged or not there."""
    try:
        with open(store.path / GRADED, "rb") as file:
            head = json.loads(file.readline().rstrip(b",\n") + b"}")
        scores = tuple(Score(label, points, graded, done) for label, points, graded, done in head["scores"])
        return Sums(scores, Decimal(head["cost_usd"]), bool(head["at_least"]))
    except _NOT_A_MEMORY:
        return None


@contextmanager
def _without_collecting() -> Iterator[None]:
    """Making 20,000 rows costs twice the time when the collector looks through them again and again."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def question_keys(store: RoundStore, question: str) -> tuple[str, ...]:
    """Names of the stored runs of one question."""
    start = f"{file_part(question)}__"
    return tuple(sorted(key for key, _ in store.marks() if key.startswith(start)))


def shown(suite: Suite, question: Question) -> tuple[object, ...]:
    """What a question shows the model of its own: all that must be the same for its replies to stay valid."""
    files = tuple((name, suite.attached.get(name)) for name in question.files)
    return question.prompt, files, question.system, question.max_tokens


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


def _still_true(entry: Entry, mark: FileMark, frames: Frames, verdict: VerdictWord | None) -> bool:
    row = entry.row
    return entry.mark == mark and row.verdict == verdict and entry.frame == frames.frame(row.question, row.setting)


def _dumped(entries: Mapping[str, Entry]) -> bytes:
    """One JSON object, with what a list of rounds needs on its first line."""
    sums = _sums([entry.row for entry in entries.values()])
    head = {
        "format": FORMAT,
        "resit": __version__,
        "scores": [[s.setting, s.points, s.graded, s.done] for s in sums.scores],
        "cost_usd": str(sums.cost_usd),
        "at_least": sums.at_least,
    }
    files = [[key, *e.mark, e.frame, *e.held_values] for key, e in entries.items()]
    parts = (
        _compact(head)[:-1],
        f'"rows":{_compact(rows_json(e.row for e in entries.values()))}',
        f'"files":{_compact(files)}}}',
    )
    return ",\n".join(parts).encode()


def _compact(value: object) -> str:
    return json.dumps(value, separators=(",", ":"))


def _sums(rows: Sequence[Row]) -> Sums:
    by_setting: dict[str, list[Row]] = {}
    for row in rows:
        by_setting.setdefault(row.setting, []).append(row)
    scores = (
        Score(label, sum(r.score or 0.0 for r in found), sum(r.outcome in FAIR for r in found), len(found))
        for label, found in by_setting.items()
    )
    cost_usd = sum((row.cost_usd for row in rows if row.cost_usd is not None), Decimal(0))
    return Sums(tuple(scores), cost_usd, any(row.cost_usd is None for row in rows))


def _held_values(kept: Held) -> Sequence[Any]:
    return kept.usable, kept.asked, kept.prompt, kept.last, str(kept.cost_usd), kept.cost_unknown


def rows_json(rows: Iterable[Row]) -> list[dict[str, Any]]:
    """Rows as every export holds them: money as a decimal string, what is unknown as null."""
    return [row_json(row) for row in rows]


def row_json(row: Row) -> dict[str, Any]:
    """One row as every export holds it."""
    table = dict(zip(_ROW_FIELDS, _row_values(row), strict=True))
    table["cost_usd"] = None if row.cost_usd is None else format(row.cost_usd, "f")
    table["failed"] = list(row.failed)
    return table


def _loaded(file: list[Any], row: dict[str, Any]) -> Entry:
    key, mtime_ns, size, frame, *held_values = file
    if not isinstance(key, str) or len(held_values) != _HELD_FIELDS:
        raise ValueError("not a file's line")
    values = list(_row_items(row))
    values[_FAILED] = tuple(values[_FAILED])
    if values[_COST] is not None:
        values[_COST] = Decimal(values[_COST])
    return Entry(FileMark(mtime_ns, size), frame, Row(*values), held_values)
