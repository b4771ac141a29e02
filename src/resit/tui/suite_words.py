"""What the first screen says of a suite: its line in the list, what is in it, or every fault of it.

The words for rules are imported where a suite is there to be told of: the models of rules take 0.15 s to build, and
the first paint does not wait for them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.content import Content

from resit.core.printable import one_line, printable
from resit.tui.figures import count
from resit.tui.looks import MISS
from resit.tui.shelf import ORIGINS, Shelved

if TYPE_CHECKING:
    from resit.core.suite import Suite, SuiteFault

LIST_WIDTH = 24
"""Cells of a line in the list."""
_SHOWN_QUESTIONS = 400


def list_line(item: Shelved) -> Content:
    """The suite in the list: its title, and how many questions or faults."""
    if item.faults:
        return _two(f"{MISS} {item.title}", count(len(item.faults), "fault"), "$error")
    if item.suite is None:
        return Content.styled(f"  {one_line(item.title, LIST_WIDTH)}", "$text-muted")
    return _two(f"  {item.title}", f"{len(item.suite.asked)} q", "")


def _two(left: str, right: str, style: str) -> Content:
    left = one_line(left, LIST_WIDTH - len(right) - 1)
    line = Content.styled(left, style)
    return line + Content.styled(right.rjust(LIST_WIDTH - line.cell_length), style or "$text-muted")


def nothing(words: str) -> str:
    """What stands in the pane when the list is empty."""
    return f"No suite matches {one_line(words, 40)!r}; esc in the filter shows all." if words else "No suite was found."


def suite_text(item: Shelved, rounds: tuple[Content, ...]) -> Content:
    """What is in a sound suite: what it is for, what decides, its last rounds, where it is."""
    from resit.tui.wording import suite_counts, suite_rule

    assert item.suite is not None
    suite = item.suite
    lines = [Content(printable(suite.about, 2000))] if suite.about else []
    lines += [Content.styled(one_line(suite_counts(suite), 300), "$text-muted"), Content(suite_rule(suite))]
    if suite.instruction:
        lines.append(Content.styled(f"Every prompt ends: {one_line(suite.instruction, 300)}", "$text-muted"))
    lines += list(rounds) or [Content.styled("No round yet: enter sets one up.", "$text-muted")]
    lines += [Content.styled(f"? {_where(fault)}{fault.message}", "$warning") for fault in suite.warnings[:5]]
    lines.append(Content.styled(f"{ORIGINS[item.origin]}: {one_line(str(item.path), 300)}", "$text-muted"))
    return Content("\n").join([*lines, Content("")])


def question_table(item: Shelved) -> Content:
    """The questions of a sound suite, a line each; empty for one with faults."""
    return Content("\n").join(_question_lines(item.suite)) if item.suite else Content("")


def _question_lines(suite: Suite) -> list[Content]:
    from resit.tui.wording import decides

    cells = [("id", "kind", "accepts", "rule", "traps")]
    for question in suite.asked[:_SHOWN_QUESTIONS]:
        accepts = question.accept[0] if question.accept else "" if question.checks or question.verify else "-"
        more = f" +{len(question.accept) - 1}" if len(question.accept) > 1 else ""
        traps = str(len(question.traps)) if question.traps else ""
        cells.append((question.id, question.kind, one_line(accepts, 16) + more, decides(question), traps))
    limits = (22, 14, 20, 16, 5)
    shown = [[one_line(cell, limit) for cell, limit in zip(row, limits, strict=True)] for row in cells]
    widths = [max(Content(row[column]).cell_length for row in shown) for column in range(len(limits))]
    lines = [Content("  ").join(_cell(text, width) for text, width in zip(row, widths, strict=True)) for row in shown]
    lines[0] = lines[0].stylize("bold $text-muted")
    if (left := len(suite.asked) - _SHOWN_QUESTIONS) > 0:
        lines.append(Content.styled(f"… and {left:,} more questions", "$text-muted"))
    return lines


def _cell(text: str, width: int) -> Content:
    cell = Content(text)
    return cell + " " * max(0, width - cell.cell_length)


def fault_text(item: Shelved) -> Content:
    """Every fault of a suite: what, where, and the mend."""
    if not item.read:
        return Content.styled("Reading …", "$text-muted")
    number = len(item.faults)
    until = "it is" if number == 1 else "they are"
    head = f"{count(number, 'fault')}: nothing of this suite is asked until {until} mended."
    lines = [Content.styled(head, "$error"), Content("")]
    for fault in item.faults:
        lines.append(Content.assemble((f"{MISS} ", "$error"), (_where(fault), "bold"), printable(fault.message, 1000)))
        if fault.mend:
            lines.append(Content.styled(f"  {printable(fault.mend, 1000)}", "$text-muted"))
    lines += [Content(""), Content(f"{one_line(str(item.path), 300)}")]
    lines.append(Content.styled("e opens it in your editor; it is read again by itself when saved.", "$text-muted"))
    return Content("\n").join(lines)


def _where(fault: SuiteFault) -> str:
    line = f"line {fault.line} · " if fault.line is not None else ""
    return line + (f"{one_line(fault.question, 40)} · " if fault.question else "")
