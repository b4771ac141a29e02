"""A question's replies of two sides beside each other, in full."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.screen import ModalScreen

from resit.core.printable import one_line
from resit.tui.figures import score
from resit.tui.looks import mark
from resit.tui.widgets.plain import PlainStatic
from resit.tui.widgets.text_view import Part, TextView

if TYPE_CHECKING:
    from resit.core.judging.compare import Pair
    from resit.core.scoring.grid import Cell


class RepliesScreen(ModalScreen[None]):
    """Every run of both sides; tab goes from one side to the other."""

    BINDINGS: ClassVar = [("escape,q,enter", "dismiss(None)", "back")]

    def __init__(self, pair: Pair, before: str, now: str) -> None:
        """Show the replies of `pair`.

        Args:
            pair: The question and its runs on both sides.
            before: What the first side is called.
            now: What the second side is called.
        """
        super().__init__()
        self._pair, self._names = pair, (before, now)

    def compose(self) -> ComposeResult:
        """The question, the two sides, the keys."""
        question = self._pair.question
        accepted = " | ".join(question.accept) or "decided by checks"
        with Vertical(classes="dialog replies"):
            yield PlainStatic(one_line(f"{question.id}: {self._pair.change}", 200), classes="dialog-title")
            yield PlainStatic(one_line(f"accepts {accepted}", 200), id="replies-accepted")
            with Horizontal():
                yield TextView(id="replies-before")
                yield TextView(id="replies-now")
            yield PlainStatic("tab the other side · esc back", classes="dialog-about")

    def on_mount(self) -> None:
        """Fill both sides."""
        cells = (self._pair.before, self._pair.after)
        for name, title, cell in zip(("before", "now"), self._names, cells, strict=True):
            side = self.query_one(f"#replies-{name}", TextView)
            side.border_title = Content(one_line(title, 60))
            side.show(_parts(cell))
        self.query_one("#replies-before").focus()


def _parts(cell: Cell) -> Sequence[Part]:
    heads = [f"{mark(row.score)} run {row.run} · {score(row.score)}" for row in cell.runs]
    texts = [row.reply if row.reply is not None else row.outcome.replace("_", " ") for row in cell.runs]
    return [Part(head, text) for head, text in zip(heads, texts, strict=True)]
