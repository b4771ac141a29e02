"""Edits and what they turn, in words: what is shown before one is written, and what is said after."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.content import Content

from resit.core.edits import EditStore
from resit.core.printable import one_line, printable
from resit.core.records import Row
from resit.core.suite import Edit
from resit.tui import figures
from resit.tui.looks import mark, mark_style
from resit.tui.rule_choices import rule_said

if TYPE_CHECKING:
    from resit.core.rounds.regrade import Flip, Preview

_SHOWN_FLIPS = 40


def flipped_said(flips: tuple[Flip, ...]) -> str:
    """How many marks an edit has changed in the round in front."""
    return f"{figures.count(len(flips), 'mark')} of this round changed." if flips else "No mark of this round changed."


def edit_said(edit: Edit) -> str:
    """An edit in one line."""
    match edit.what:
        case "accept":
            what = f"accept {one_line(edit.accept or '', 80)!r}"
        case "rule" | "second_rule":
            what = f"{edit.what.replace('_', ' ')} {rule_said(edit.rule) if edit.rule else ''}"
        case "trap":
            what = f"trap {one_line(edit.trap.reply if edit.trap else '', 80)!r}"
        case "weight":
            what = f"weight {edit.weight}"
    return f"{one_line(edit.question, 60)}: {what}"


def preview_text(edit: Edit, preview: Preview, path: str, front: Row) -> Content:
    """What will be written, and every mark it turns in saved rounds."""
    lines = [
        Content.styled(f"Written to {one_line(path, 200)}", "$text-muted"),
        Content.styled(printable(EditStore.text_of(edit).strip(), 1_000), "$primary"),
        Content(""),
        Content.styled(preview.said, "bold"),
    ]
    if not any(_same_run(flip.after, front) for flip in preview.flips):
        lines.append(Content.styled("The run in front keeps its mark under this edit.", "$warning"))
    for flip in preview.flips[:_SHOWN_FLIPS]:
        lines.append(_flip_line(flip))
    if len(preview.flips) > _SHOWN_FLIPS:
        lines.append(Content.styled(f"and {len(preview.flips) - _SHOWN_FLIPS} more", "$text-muted"))
    return Content("\n").join(lines)


def _same_run(one: Row, other: Row) -> bool:
    return (one.question, one.setting, one.run) == (other.question, other.setting, other.run)


def _flip_line(flip: Flip) -> Content:
    before, after = mark(flip.before.score), mark(flip.after.score)
    return Content.assemble(
        (f"{before} ", mark_style(before)),
        "→ ",
        (f"{after} ", mark_style(after)),
        f"{one_line(figures.short_setting(flip.after.setting), 28)} r{flip.after.run}  ",
        (one_line(flip.round_id, 30), "$text-muted"),
        f"  {one_line(flip.after.reply or '', 60)}",
    )
