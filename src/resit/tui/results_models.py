"""The two shapes of the results: questions by settings, and one row a run."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from rich.cells import cell_len

from resit.core.records import Row
from resit.core.scoring.grid import make_cell
from resit.tui import figures
from resit.tui.looks import LEFT_OUT, PASS, mark
from resit.tui.setting_names import short_names
from resit.tui.widgets.table import Column, Shown, Tone

if TYPE_CHECKING:
    from resit.core.scoring.grid import Cell, SettingSummary
    from resit.core.suite import Question
    from resit.tui.round_view import RoundView

_TONES: dict[str, Tone] = {"✓": "good", "✗": "bad", "½": "half", "?": "half"}


def _scored(score: float | None, text: str) -> Shown:
    sign = mark(score)
    return Shown(f"{sign} {text}", _TONES[sign])


class QuestionsModel:
    """A row a question; a column a setting, holding the lowest of its runs."""

    def __init__(self, view: RoundView, before: object = None) -> None:
        """Take the grid as it is now.

        Args:
            view: The round.
            before: The model that was shown until now; what is the same is taken from it.
        """
        self._view = view
        self._questions = view.questions
        self._grid = view.grid
        self._labels = list(view.settings)
        self._out = frozenset(view.evidence.questions_out)
        self._rows_out = _rows_out(view)
        names = short_names(self._labels)
        like = before if isinstance(before, QuestionsModel) and before._shows_as(self) else None
        known = like._grid.cells if like else {}
        fresh = {place: _cell_shown(cell) for place, cell in self._grid.cells.items() if known.get(place) is not cell}
        fresh |= {place: _with_left_out(fresh.get(place), rows) for place, rows in self._rows_out.items()}
        self._cells: Mapping[tuple[str, str], Shown] = {**like._cells, **fresh} if like else fresh
        self._widths = widths = self._setting_widths(names, fresh, like)
        self.columns: Sequence[Column] = (
            Column("question", "question", _wide([q.id for q in self._questions], 12, 22)),
            Column("kind", "kind", _wide([q.kind for q in self._questions], 4, 12)),
            Column("accepts", "accepts", _wide([self._accepts(q) for q in self._questions], 7, 12)),
            *(Column(f"setting {label}", name, widths[label]) for label, name in zip(self._labels, names, strict=True)),
        )
        self.summaries: Sequence[Sequence[Shown]] = self._summaries()

    def __len__(self) -> int:
        """Questions asked."""
        return len(self._questions)

    def row_id(self, row: int) -> str:
        """The question."""
        return self._questions[row].id

    def cell(self, row: int, column: int) -> Shown:
        """Question, kind, what is accepted, then a setting's lowest."""
        question = self._questions[row]
        out = question.id in self._out
        if column == 0:
            return Shown(question.id, "dim" if out else "strong")
        if column == 1:
            return Shown(question.kind, "dim")
        if column == 2:
            return Shown(self._accepts(question), "dim" if out else "")
        return self._cells.get((question.id, self._labels[column - 3]), Shown("·", "dim"))

    def sort_value(self, row: int, column: int) -> str | float | None:
        """Words for the first columns, scores for the settings: worst first."""
        if column < 3:
            return self.cell(row, column).text
        cell = self._grid.cells.get((self._questions[row].id, self._labels[column - 3]))
        if cell is None:
            return None
        # Unsettled stands between a miss and full marks when worst come first: it is owed, not wrong.
        return cell.lowest if cell.lowest is not None else 0.5

    @staticmethod
    def _accepts(question: Question) -> str:
        if not question.accept and not question.checks and question.verify:
            return "tests"
        return " | ".join(question.accept) or figures.count(len(question.checks), "check")

    def _shows_as(self, other: QuestionsModel) -> bool:
        """Whether all cells of this model are shown as `other` would show them."""
        same = self._labels == other._labels and self._grid.cells.keys() <= other._grid.cells.keys()
        return same and not (self._rows_out or other._rows_out)

    def _setting_widths(
        self, names: Sequence[str], fresh: Mapping[tuple[str, str], Shown], like: QuestionsModel | None
    ) -> dict[str, int]:
        """Of each column, in one pass over the cells that are new; no column becomes narrower under the reader."""
        widths = {label: max(13, cell_len(name)) for label, name in zip(self._labels, names, strict=True)}
        if like is not None:
            widths = dict(like._widths)
        for (_, label), shown in fresh.items():
            # Marks, digits and brackets: each is one cell wide.
            widths[label] = max(widths[label], len(shown.text))
        return {label: min(width, 24) for label, width in widths.items()}

    def label(self, column: int) -> str | None:
        """The setting of a column."""
        return self._labels[column - 3] if column >= 3 else None

    def _summaries(self) -> list[list[Shown]]:
        summaries = [self._grid.summaries[label] for label in self._labels]
        lines: list[tuple[str, Callable[[SettingSummary], Shown]]] = [
            ("lowest", _lowest),
            ("mean · cost", lambda s: Shown(f"{figures.score(s.mean)} {_cost(s)}")),
            ("seconds · ?", lambda s: Shown(f"{figures.seconds(s.seconds_median)} · {_unsettled(s)}")),
        ]
        if any(s.second_mean is not None for s in summaries):
            lines.insert(1, ("second rule", lambda s: Shown(f"{s.second_lowest_full}/{s.of}", "dim")))
        if self._rows_out:
            out = Counter(label for (_, label), rows in self._rows_out.items() for _ in rows)
            lines.append((f"{LEFT_OUT} left out", lambda s: Shown(figures.count(out[s.setting.label], "run"), "dim")))
        return [
            [Shown(name, "strong"), Shown(""), Shown(""), *(line(summary) for summary in summaries)]
            for name, line in lines
        ]


def _wide(texts: Sequence[str], least: int, most: int) -> int:
    return max(least, min(most, max((cell_len(text) for text in texts), default=0)))


def _cell_shown(cell: Cell) -> Shown:
    """`✗ 0.00 1/2 (✓)`: mark, lowest, runs at full marks where runs differ, and what the second rule says."""
    full = sum(1 for row in cell.runs if row.score == 1.0) if cell.spread else 0
    return _cell_of(cell.lowest, full, cell.count if cell.spread else 0, cell.unsettled, cell.second_lowest)


@cache
def _cell_of(lowest: float | None, full: int, of: int, unsettled: int, second: float | None) -> Shown:
    # Few cells of many thousand are different.
    text = figures.score(lowest)
    if of:
        text += f" {full}/{of}"
    if unsettled and lowest is not None:
        text += f" ?{unsettled}"
    if second is not None and second != lowest:
        text += f" ({mark(second)})"
    return _scored(lowest, text)


def _rows_out(view: RoundView) -> dict[tuple[str, str], list[Row]]:
    """Runs that a verdict leaves out, by question and setting."""
    found: dict[tuple[str, str], list[Row]] = defaultdict(list)
    if view.evidence.questions_out or view.evidence.runs_out:
        for row in view.rows:
            if view.left_out(row):
                found[row.question, row.setting].append(row)
    return dict(found)


def _with_left_out(counting: Shown | None, rows: Sequence[Row]) -> Shown:
    """What counts, and how many runs do not; where nothing counts, what was left out, dimmed."""
    if counting is not None:
        return Shown(f"{counting.text} {LEFT_OUT}{len(rows)}", counting.tone)
    return Shown(f"{LEFT_OUT} {_cell_shown(make_cell(rows)).text}", "dim")


def _lowest(summary: SettingSummary) -> Shown:
    full = 0 < summary.of == summary.lowest_full
    return Shown(f"{PASS if full else ' '} {summary.lowest_full}/{summary.of}", "good" if full else "strong")


def _cost(summary: SettingSummary) -> str:
    return figures.money(summary.cost_usd, at_least=summary.cost_at_least)


def _unsettled(summary: SettingSummary) -> str:
    return f"{summary.unsettled}?" if summary.unsettled else "0"


@dataclass(frozen=True, slots=True)
class _Field:
    column: Column
    shown: Callable[[Row], Shown]
    value: Callable[[Row], str | float | None]


def _text(value: Callable[[Row], str | None], tone: Tone = "") -> Callable[[Row], Shown]:
    return lambda row: Shown(value(row) or "", tone)


def _number(value: Callable[[Row], float | None], show: Callable[[float | None], str]) -> Callable[[Row], Shown]:
    return lambda row: Shown(show(value(row)))


def _tokens(value: float | None) -> str:
    return "–" if value is None else f"{int(value):,}"


def _score_of(row: Row) -> Shown:
    text = figures.score(row.score) if row.score is not None else row.outcome.replace("_", " ")
    return _scored(row.score, text)


def _second(row: Row) -> Shown:
    return (
        Shown("") if row.second_score is None else Shown(f"{mark(row.second_score)} {figures.score(row.second_score)}")
    )


def _money(row: Row) -> float | None:
    return None if row.cost_usd is None else float(row.cost_usd)


_FIELDS: tuple[_Field, ...] = (
    _Field(Column("question", "question", 20), _text(lambda r: r.question, "strong"), lambda r: r.question),
    _Field(
        Column("setting", "setting", 20),
        _text(lambda r: figures.short_setting(r.setting)),
        lambda r: figures.short_setting(r.setting),
    ),
    _Field(Column("run", "run", 3, right=True), lambda r: Shown(str(r.run)), lambda r: r.run),
    _Field(Column("score", "score", 9), _score_of, lambda r: r.score),
    _Field(Column("second", "second", 6), _second, lambda r: r.second_score),
    _Field(Column("reason", "miss", 6), _text(lambda r: r.reason), lambda r: r.reason),
    _Field(Column("verdict", "verdict", 8), _text(lambda r: r.verdict), lambda r: r.verdict),
    _Field(Column("reply", "reply", 28), _text(lambda r: r.reply), lambda r: r.reply),
    _Field(
        Column("seconds", "seconds", 7, right=True), _number(lambda r: r.seconds, figures.seconds), lambda r: r.seconds
    ),
    _Field(
        Column("tokens", "tokens", 7, right=True),
        _number(lambda r: r.output_tokens, _tokens),
        lambda r: r.output_tokens,
    ),
    _Field(Column("cost", "cost", 9, right=True), lambda r: Shown(figures.money(r.cost_usd)), _money),
    _Field(Column("turns", "turns", 5, right=True), _number(lambda r: r.turns, _tokens), lambda r: r.turns),
    _Field(Column("failed", "failed", 24), _text(lambda r: ", ".join(r.failed)), lambda r: ", ".join(r.failed) or None),
    _Field(Column("kind", "kind", 12), _text(lambda r: r.kind, "dim"), lambda r: r.kind),
    _Field(Column("outcome", "outcome", 8), _text(lambda r: r.outcome), lambda r: r.outcome),
)


class RunsModel:
    """A row a run; every column sorts."""

    columns: Sequence[Column] = tuple(field.column for field in _FIELDS)

    def __init__(
        self, keys: Sequence[str], rows: Sequence[Row], summary: str = "", out: Set[str] = frozenset()
    ) -> None:
        """Show `rows`, whose names are `keys`; the questions in `out` do not count."""
        self._keys, self._rows, self._out = keys, rows, out
        blank = [Shown("")] * (len(self.columns) - 1)
        self.summaries: Sequence[Sequence[Shown]] = [[Shown(summary, "strong"), *blank]] if summary else []

    def __len__(self) -> int:
        """Runs."""
        return len(self._rows)

    def row_id(self, row: int) -> str:
        """The run's name."""
        return self._keys[row]

    def row(self, row: int) -> Row:
        """The run."""
        return self._rows[row]

    def cell(self, row: int, column: int) -> Shown:
        """One field of a run; a miss that is read looks read."""
        found = self._rows[row]
        shown = _FIELDS[column].shown(found)
        if column == 3 and (found.verdict == "setup" or found.question in self._out):
            return Shown(f"{LEFT_OUT} {shown.text}", "dim")
        if (found.verdict is not None or found.question in self._out) and column in (0, 3):
            return Shown(shown.text, "dim")
        return shown

    def sort_value(self, row: int, column: int) -> str | float | None:
        """That field, comparable."""
        return _FIELDS[column].value(self._rows[row])
