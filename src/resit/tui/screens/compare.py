"""Two rounds of a suite side by side: what may be concluded, then each question that both answered."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.containers import Vertical, VerticalScroll
from textual.content import Content

from resit.core.errors import ResitError
from resit.core.judging.compare import CHANGES, Change, Comparison, Pair, compare, compare_rounds
from resit.core.judging.naming import gather_both
from resit.core.judging.wording import named
from resit.core.printable import one_line
from resit.core.scoring.grid import settled_score
from resit.tui.figures import score, short_setting, when
from resit.tui.screens.base import ResitScreen
from resit.tui.widgets.plain import Hung, PlainStatic
from resit.tui.widgets.table import Column, ResultsGrid, Shown, Tone

if TYPE_CHECKING:
    from resit.core.judging.evidence import Evidence
    from resit.core.records import Row
    from resit.core.scoring.grid import Cell
    from resit.core.suite import Suite

_SIGNS: dict[Change, tuple[str, Tone]] = {
    "broken": ("✗", "bad"),
    "fixed": ("✓", "good"),
    "noise": ("~", "half"),
    "still missed": ("✗", "half"),
    "held": ("✓", "dim"),
}


class PairLines:
    """One row a question and setting, what changed first."""

    summaries: Sequence[Sequence[Shown]] = ()

    def __init__(self, comparisons: Sequence[Comparison], width: int) -> None:
        """Show the pairs of `comparisons` in `width` cells."""
        every = [(found, pair) for found in comparisons for pair in found.pairs]
        every.sort(key=lambda entry: CHANGES.index(entry[1].change))
        self.pairs: Sequence[tuple[str, Pair]] = [(_sides(found), pair) for found, pair in every]
        self.of: Sequence[Comparison] = [found for found, _ in every]
        """The comparison of each of `pairs`."""
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
        setting, pair = self.pairs[row]
        return f"{pair.question.id}\n{setting}"

    def cell(self, row: int, column: int) -> Shown:
        """What stands there."""
        setting, pair = self.pairs[row]
        sign, tone = _SIGNS[pair.change]
        cells = (
            Shown(pair.question.id),
            Shown(setting),
            Shown(f"{sign} {pair.change}", tone),
            Shown(score(pair.before.lowest)),
            Shown(score(pair.after.lowest)),
            Shown(_said(pair.before), "dim"),
            Shown(_said(pair.after)),
        )
        return cells[column]

    def sort_value(self, row: int, column: int) -> str | float | None:
        """Changes in their order, scores by size, the rest as words."""
        pair = self.pairs[row][1]
        match self.columns[column].key:
            case "change":
                return CHANGES.index(pair.change)
            case "before":
                return pair.before.lowest
            case "now":
                return pair.after.lowest
            case _:
                return self.cell(row, column).text


def _sides(found: Comparison) -> str:
    before, after = short_setting(found.before.label), short_setting(found.after.label)
    return after if before == after else f"{before} → {after}"


def _said(cell: Cell) -> str:
    """The reply of the lowest run."""
    scored = [row for row in cell.runs if settled_score(row) is not None]
    lowest: Row | None = min(scored, key=lambda row: settled_score(row) or 0.0, default=None)
    return "" if lowest is None or lowest.reply is None else one_line(lowest.reply, 200)


def _held_together(before: Evidence, after: Evidence, labels: tuple[str, str] | None) -> tuple[Comparison, ...]:
    """The two settings that are named, else every one against itself; where each round has a single one, these two."""
    if labels is not None:
        return (compare(before, labels[0], after, labels[1]),)
    found = compare_rounds(before, after)
    if not found and len(before.labels) == len(after.labels) == 1:
        return (compare(before, before.labels[0], after, after.labels[0]),)
    return found


def _told(comparisons: Sequence[Comparison]) -> Iterator[Content]:
    """Counts, what makes the sides unequal, then what may be concluded of each setting."""
    counts = Counter(pair.change for found in comparisons for pair in found.pairs)
    yield Content(
        " · ".join(f"{counts[change]:,} {change}" for change in CHANGES if counts[change]) or "nothing in both"
    )
    if not comparisons:
        yield Content.styled("No setting is in both rounds: nothing can be compared.", "$warning")
    for line in _unequal(comparisons):
        yield Content.styled(one_line(line, 400), "$warning")
    for found in comparisons:
        yield Content.assemble((f"{one_line(_sides(found), 60)}: ", "bold"), one_line(found.said, 400))


def _unequal(comparisons: Sequence[Comparison]) -> Iterator[str]:
    """What makes the sides unequal, each sentence once; of which settings, where it is not all of them."""
    for line in dict.fromkeys(line for found in comparisons for line in found.stated):
        of = [_sides(found) for found in comparisons if line in found.stated]
        yield line if len(of) == len(comparisons) else f"{named(of)}: {line}"


class CompareScreen(ResitScreen):
    """An earlier and a later round, or two settings."""

    GROUP: ClassVar[str] = "compare"

    def __init__(self, suite: Suite, before: Path, now: Path, labels: tuple[str, str] | None = None) -> None:
        """Hold the round in `now` against the one in `before`, both under the suite's rules as they are now.

        Args:
            suite: The suite of both.
            before: Folder of the first round.
            now: Folder of the second one; the same for two settings of one round.
            labels: The setting of either side. None holds every setting against itself.
        """
        super().__init__()
        self._suite, self._paths, self._labels = suite, (before, now), labels
        self._lines: PairLines | None = None
        self._changes_only = False

    def compose_body(self) -> ComposeResult:
        """What is unequal, the counts, the table."""
        with VerticalScroll(id="compare-top"):
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
            comparisons = _held_together(*gather_both(before, now), self._labels)
        except ResitError as error:
            self.app.call_from_thread(self.query_one("#compare-head", PlainStatic).update, f" {error}")
            return
        first_day, last_day = when(before.plan.created_at), when(now.plan.created_at)
        same = before.store.path == now.store.path
        rounds = Content.assemble((first_day if same else f"{first_day} → {last_day}", "bold"), " · ")
        first, *rest = _told(comparisons)
        head = Content("\n").join(Content(" ") + line for line in (rounds + first, *rest))
        self.app.call_from_thread(self._show_pairs, comparisons, head)

    def _show_pairs(self, comparisons: Sequence[Comparison], head: Content) -> None:
        self.query_one("#compare-head", PlainStatic).update(Hung(head, 3))
        table = self.query_one(ResultsGrid)
        self._lines = PairLines(comparisons, table.size.width)
        table.show_model(self._lines)

    def action_changes(self) -> None:
        """Only what differs, or everything."""
        lines = self._lines
        if lines is None:
            return
        self._changes_only = not self._changes_only
        keep = (lambda row: lines.pairs[row][1].change != "held") if self._changes_only else None
        self.query_one(ResultsGrid).keep_only(keep)

    @on(ResultsGrid.Opened)
    def action_replies(self) -> None:
        """Both replies in full, side by side."""
        at = self.query_one(ResultsGrid).chosen
        if self._lines is None or at is None:
            self.say("No question is chosen.")
            return
        _, pair = self._lines.pairs[at]
        found = self._lines.of[at]
        from resit.tui.screens.replies import RepliesScreen

        alike = found.before.label == found.after.label
        sides = [side.round_id if alike else short_setting(side.label) for side in (found.before, found.after)]
        self.app.push_screen(RepliesScreen(pair, *sides))

    def action_sort(self) -> None:
        """Sort by the cursor's column."""
        self.query_one(ResultsGrid).sort_at_cursor()
