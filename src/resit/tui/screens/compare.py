"""Two rounds of a suite side by side: fixed, broken, still wrong, not in both."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual import work
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content

from resit.core.errors import ResitError
from resit.core.printable import one_line
from resit.tui.figures import score, short_setting, when
from resit.tui.pairing import ORDER, Change, Pair, counts, pair_rows, unequal
from resit.tui.screens.base import ResitScreen
from resit.tui.widgets.plain import PlainStatic
from resit.tui.widgets.table import Column, ResultsGrid, Shown, Tone

if TYPE_CHECKING:
    from resit.core.records import Row
    from resit.core.suite import Suite

_SIGNS: dict[Change, tuple[str, Tone]] = {
    "broken": ("✗", "bad"),
    "fixed": ("✓", "good"),
    "still wrong": ("✗", "half"),
    "unsettled": ("?", "half"),
    "only before": ("-", "dim"),
    "only now": ("+", "dim"),
    "right in both": ("✓", "dim"),
}


class PairLines:
    """One row a question and setting."""

    summaries: Sequence[Sequence[Shown]] = ()

    def __init__(self, pairs: Sequence[Pair], width: int) -> None:
        """Show `pairs` in `width` cells."""
        self.pairs = pairs
        reply = max(14, (width - 78) // 2)
        self.columns = (
            Column("question", "question", 18),
            Column("setting", "setting", 18),
            Column("change", "change", 15),
            Column("before", "before", 6, right=True),
            Column("now", "now", 6, right=True),
            Column("said-before", "reply before", reply),
            Column("said-now", "reply now", reply),
        )

    def __len__(self) -> int:
        """One a pair."""
        return len(self.pairs)

    def row_id(self, row: int) -> str:
        """Question and setting."""
        return f"{self.pairs[row].question}\n{self.pairs[row].setting}"

    def cell(self, row: int, column: int) -> Shown:
        """What stands there."""
        pair = self.pairs[row]
        sign, tone = _SIGNS[pair.change]
        cells = (
            Shown(pair.question),
            Shown(short_setting(pair.setting)),
            Shown(f"{sign} {pair.change}", tone),
            Shown(_score(pair.before)),
            Shown(_score(pair.now)),
            Shown(_said(pair.before), "dim"),
            Shown(_said(pair.now)),
        )
        return cells[column]

    def sort_value(self, row: int, column: int) -> str | float | None:
        """Changes in their order, scores by size, the rest as words."""
        pair = self.pairs[row]
        match self.columns[column].key:
            case "change":
                return ORDER.index(pair.change)
            case "before":
                return pair.before.score if pair.before else None
            case "now":
                return pair.now.score if pair.now else None
            case _:
                return self.cell(row, column).text


def _score(row: Row | None) -> str:
    return "" if row is None else score(row.score)


def _said(row: Row | None) -> str:
    return "" if row is None or row.reply is None else one_line(row.reply, 200)


class CompareScreen(ResitScreen):
    """An earlier and a later round."""

    GROUP: ClassVar[str] = "compare"

    def __init__(self, suite: Suite, before: Path, now: Path) -> None:
        """Hold the round in `now` against the one in `before`, both under the suite's rules as they are now."""
        super().__init__()
        self._suite, self._paths = suite, (before, now)
        self._pairs: tuple[Pair, ...] = ()
        self._changes_only = False

    def compose_body(self) -> ComposeResult:
        """What is unequal, the counts, the table."""
        yield PlainStatic(" Grading both rounds …", id="compare-head")
        with Vertical(classes="panel"):
            yield ResultsGrid(id="compare-table")

    def on_mount(self) -> None:
        """Grade both beside the screen."""
        self.where(self._suite.title, "Compare")
        self.query_one(ResultsGrid).focus()
        self._open_both()

    @work(thread=True, exclusive=True, exit_on_error=False)
    def _open_both(self) -> None:
        from resit.core.rounds.shelf import open_round

        try:
            before, now = (open_round(path, suite=self._suite) for path in self._paths)
        except ResitError as error:
            self.app.call_from_thread(self.query_one("#compare-head", PlainStatic).update, f" {error}")
            return
        pairs = pair_rows(before.rows, now.rows)
        head = [
            Content.assemble(" ", (when(before.plan.created_at), "bold"), " → ", (when(now.plan.created_at), "bold"))
        ]
        head[0] = head[0] + f" · {counts(pairs)}"
        head += [Content.styled(f" {said}", "$warning") for said in unequal(before, now)]
        self.app.call_from_thread(self._show_pairs, pairs, Content("\n").join(head))

    def _show_pairs(self, pairs: tuple[Pair, ...], head: Content) -> None:
        self._pairs = pairs
        self.query_one("#compare-head", PlainStatic).update(head)
        table = self.query_one(ResultsGrid)
        table.show_model(PairLines(pairs, table.size.width))

    def action_changes(self) -> None:
        """Only what differs, or everything."""
        self._changes_only = not self._changes_only
        keep = (lambda row: self._pairs[row].change != "right in both") if self._changes_only else None
        self.query_one(ResultsGrid).keep_only(keep)

    def action_sort(self) -> None:
        """Sort by the cursor's column."""
        self.query_one(ResultsGrid).sort_at_cursor()
