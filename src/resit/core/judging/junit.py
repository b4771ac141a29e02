"""A round for a build server: what broke since a baseline, and all results as JUnit XML.

A question is broken when it passed in every run of the baseline and is missed in every run now. A setting is held
against itself where the baseline has it, and else against all runs of the baseline: a new model must not lose what
every model had.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from xml.etree import ElementTree

from resit.core.judging.evidence import Evidence
from resit.core.judging.sheet import Miss, Sheet
from resit.core.judging.wording import counted, named
from resit.core.printable import one_line, printable
from resit.core.scoring.grid import Cell, settled_score
from resit.core.suite import Question

_REPLY_CHARS = 2_000
_NO_XML = re.compile("[\ufffe\uffff\U0001fffe\U0001ffff]")
"""XML knows no such characters, however they are written; control characters are pictures by then."""


@dataclass(frozen=True, slots=True)
class Broken:
    """A question that passed in every baseline run and is missed in every run now."""

    question: str
    setting: str
    before: int
    """Runs of the baseline, all with full marks."""
    now: int
    """Runs now, none with full marks."""

    @property
    def said(self) -> str:
        """One line."""
        return (
            f"{self.question} · {self.setting}: passed in {counted(self.before, 'run')}, now missed in all {self.now}"
        )


@dataclass(frozen=True, slots=True)
class Held:
    """A round held against a baseline."""

    broken: tuple[Broken, ...]
    """In suite order, then by setting."""
    compared: int
    """Questions that both ask in the same way."""
    stated: tuple[str, ...]
    """What could not be held against the baseline, and why."""


def hold(now: Evidence, baseline: Evidence) -> Held:
    """What broke since the baseline, on the questions that both ask in the same way."""
    old = {question.id: question for question in baseline.questions}
    out = frozenset(baseline.questions_out)
    alike = [q for q in now.questions if q.id in old and now.asks[q.id] == baseline.asks[q.id] and q.id not in out]
    found = (_broken(question, label, now, baseline) for question in alike for label in now.labels)
    return Held(tuple(one for one in found if one is not None), len(alike), tuple(_stated(now, baseline, alike)))


def _broken(question: Question, label: str, now: Evidence, baseline: Evidence) -> Broken | None:
    labels = [label] if label in baseline.labels else baseline.labels
    before = _scores([baseline.grid.cells.get((question.id, name)) for name in labels])
    present = _scores([now.grid.cells.get((question.id, label))])
    if not before or not present or min(before) < 1.0 or max(present) == 1.0:
        return None
    return Broken(question.id, label, len(before), len(present))


def _scores(cells: Iterable[Cell | None]) -> list[float]:
    rows = [row for cell in cells if cell is not None for row in cell.runs]
    return [score for row in rows if (score := settled_score(row)) is not None]


def _stated(now: Evidence, baseline: Evidence, alike: Sequence[Question]) -> Iterable[str]:
    known = {question.id for question in alike}
    left = [question.id for question in now.questions if question.id not in known]
    if left:
        yield f"not in the baseline, or asked in another way there: {named(left)}"
    gone = [question.id for question in baseline.questions if question.id not in now.asks]
    if gone:
        yield f"only in the baseline: {named(gone)}"
    if new := [label for label in now.labels if label not in baseline.labels]:
        yield f"not a setting of the baseline, so held against all of its runs: {named(new)}"
    if any(cell.count == 1 for cell in (*now.grid.cells.values(), *baseline.grid.cells.values())):
        yield "a side has single runs: untested for variance, so a break may be chance"


def junit_xml(sheet: Sheet, broken: Iterable[Broken] = ()) -> bytes:
    """The round as JUnit XML: a test suite a setting, a test case a question.

    A question below full marks in any run is a failure, of type `broken` where it broke since the baseline; one
    without a fair answer is an error; one that a verdict left out, or that was not asked, is skipped.
    """
    root = ElementTree.Element("testsuites", name=_text(sheet.plan.title))
    breaks = {(one.question, one.setting): one for one in broken}
    misses: dict[tuple[str, str], list[Miss]] = {}
    for miss in sheet.misses:
        misses.setdefault((miss.question.id, miss.setting), []).append(miss)
    for item in sheet.settings:
        _add_setting(root, sheet, item.setting.label, misses, breaks)
    ElementTree.indent(root)
    written: bytes = ElementTree.tostring(root, encoding="utf-8", xml_declaration=True)
    return written + b"\n"


def _add_setting(
    root: ElementTree.Element,
    sheet: Sheet,
    label: str,
    misses: Mapping[tuple[str, str], Sequence[Miss]],
    breaks: Mapping[tuple[str, str], Broken],
) -> None:
    node = ElementTree.SubElement(root, "testsuite", name=_text(label), timestamp=sheet.plan.created_at.isoformat())
    counts = {"failure": 0, "error": 0, "skipped": 0}
    total_s = 0.0
    for question in sheet.questions:
        cell = sheet.grid.cells.get((question.id, label))
        took_s = sum(row.seconds or 0.0 for row in cell.runs) if cell else 0.0
        total_s += took_s
        case = ElementTree.SubElement(
            node, "testcase", classname=_text(question.kind), name=_text(question.id), time=f"{took_s:.3f}"
        )
        place = (question.id, label)
        counted_cell = sheet.evidence.grid.cells.get(place)
        found = _result(cell, counted_cell, breaks.get(place))
        if found is None:
            continue
        tag, kind, said = found
        counts[tag] += 1
        result = ElementTree.SubElement(case, tag, message=_text(said))
        if kind:
            result.set("type", kind)
            result.text = "\n".join(_told(miss) for miss in misses.get(place, ()))
    node.set("tests", str(len(sheet.questions)))
    node.set("failures", str(counts["failure"]))
    node.set("errors", str(counts["error"]))
    node.set("skipped", str(counts["skipped"]))
    node.set("time", f"{total_s:.3f}")


def _result(cell: Cell | None, counts: Cell | None, broken: Broken | None) -> tuple[str, str, str] | None:
    """Element, type and message of a question that did not pass; None for one that did."""
    if cell is None:
        return "skipped", "", "not asked"
    if counts is None:
        return "skipped", "", "left out by a verdict"
    if broken is not None:
        return "failure", "broken", broken.said
    if counts.lowest is not None and counts.lowest < 1.0:
        return "failure", "miss", f"lowest score {min(counts.lowest, 0.99):.2f} of {counted(counts.count, 'run')}"
    if counts.unsettled:
        return "error", "unsettled", f"{counted(counts.unsettled, 'run')} without a fair answer"
    return None


def _told(miss: Miss) -> str:
    said = f"{miss.run_numbers}: {miss.said}. Cause: {miss.cause}. {one_line(miss.why, 400)}"
    reply = "" if miss.reply is None else f"\n{printable(miss.reply, _REPLY_CHARS, invisible=True)}"
    return _NO_XML.sub("<no character>", f"{said}{reply}")


def _text(text: str) -> str:
    return _NO_XML.sub("<no character>", one_line(text, 400))
