"""`resit check`: every fault of every suite, with its mend."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass

from resit.core.errors import ResitError, SuiteRefused
from resit.core.printable import one_line
from resit.core.suite import Suite, SuiteFault
from resit.core.suite_file import find_suite, read_suite
from resit.plain.text import plural, say, say_json


@dataclass(frozen=True, slots=True)
class Checked:
    """One suite, looked through."""

    path: str
    suite: Suite | None
    faults: tuple[SuiteFault, ...]

    @property
    def warnings(self) -> tuple[SuiteFault, ...]:
        """What was cleaned or is doubtful."""
        return self.suite.warnings if self.suite else ()


def main(args: argparse.Namespace) -> int:
    """Print what is wrong; 1 when anything is."""
    found = [check(name) for name in args.suites]
    if args.json:
        say_json({"suites": [_as_json(checked) for checked in found]})
    else:
        for checked in found:
            _print(checked)
    return 1 if any(checked.faults for checked in found) else 0


def check(name: str) -> Checked:
    """Look through one suite; one that cannot be read at all has one fault."""
    try:
        path = find_suite(name)
        suite, faults = read_suite(path)
    except SuiteRefused as refused:
        return Checked(refused.path, None, refused.faults)
    except ResitError as error:
        return Checked(name, None, (SuiteFault(code="unreadable", message=error.message, mend=error.hint),))
    return Checked(str(path), suite, faults)


def fault_line(fault: SuiteFault) -> str:
    """Where, what and the mend, on one line."""
    where = [f"line {fault.line}"] if fault.line is not None else []
    where += [f"question {fault.question!r}"] if fault.question is not None else []
    place = f"{', '.join(where)}: " if where else ""
    return one_line(f"{place}{fault.message}" + (f": {fault.mend}" if fault.mend else ""))


def _print(checked: Checked) -> None:
    if checked.faults:
        say(one_line(f"{checked.path}: {plural(len(checked.faults), 'fault')}"))
        _print_lines(checked.faults, "  ✗ ")
    else:
        suite = checked.suite
        asked = plural(len(suite.asked) if suite else 0, "question")
        drafts = [question.id for question in suite.questions if question.draft] if suite else []
        say(one_line(f"{checked.path}: {asked}, no faults; each accepted answer passes its rule, each trap fails it"))
        if drafts:
            say(
                one_line(
                    f"  · {plural(len(drafts), 'draft')}, never asked as long as it is one: {', '.join(drafts)}", 400
                )
            )
    _print_lines(checked.warnings, "  ! ")


def _print_lines(faults: Sequence[SuiteFault], mark: str) -> None:
    for fault in faults:
        say(f"{mark}{fault_line(fault)}")


def _as_json(checked: Checked) -> dict[str, object]:
    return {
        "path": checked.path,
        "ok": not checked.faults,
        "drafts": [question.id for question in checked.suite.questions if question.draft] if checked.suite else [],
        "faults": [_fault_json(fault) for fault in checked.faults],
        "warnings": [_fault_json(fault) for fault in checked.warnings],
    }


def _fault_json(fault: SuiteFault) -> dict[str, object]:
    return {
        "code": fault.code,
        "question": fault.question,
        "line": fault.line,
        "message": fault.message,
        "mend": fault.mend,
    }
