"""Which tests ran and which failed, as far as their output says: JUnit XML, pytest, unittest, go test -json, TAP."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from xml.etree import ElementTree

from resit.core.printable import one_line

MAX_TESTS = 2_000
_NAME_CHARS = 200
_NAMED_RUNNER = re.compile(r"\bpytest\b|\bunittest\b|\bgo\s+test\b.*-json\b|\{junit\}", re.DOTALL)
_UNITTEST = re.compile(r"^(?P<name>[\w.]+) \((?P<place>[\w.]+)\)(?P<rest>$| \.\.\. .*)", re.MULTILINE)
_RAN = re.compile(r"^Ran (\d+) tests? in ", re.MULTILINE)
_BROKEN = re.compile(r"^(?:FAIL|ERROR|UNEXPECTED SUCCESS): (?P<name>[\w.]+) \((?P<place>[\w.]+)\)", re.MULTILINE)
_SKIPPED = re.compile(r"^(?:OK|FAILED) \(.*?skipped=(\d+)", re.MULTILINE)
_TAP = re.compile(
    r"^(?P<not>not )?ok\b[ ]*(?P<number>\d+)?[ ]*(?:- )?(?P<name>[^#\n]*)(?P<directive>#[^\n]*)?$", re.MULTILINE
)
_PYTEST_FAILED = re.compile(r"^(?:FAILED|ERROR) (.+?)(?: - .*)?$", re.MULTILINE)
_PYTEST_SUMMARY = re.compile(r"^=*[ ]*((?:\d+ [a-z]+(?:, )?)+) in [\d.]+s", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Report:
    """What a run of tests said."""

    tests: tuple[str, ...]
    """All that gave a verdict; those that were skipped gave none. Those without a name are numbered."""
    failed: tuple[str, ...]


def promises_report(command: str) -> bool:
    """Whether a command runs tests of a kind that always say how they went."""
    return _NAMED_RUNNER.search(command) is not None


def read_report(output: str, junit: bytes | None) -> Report | None:
    """The tests that ran; None when nothing says so.

    Args:
        output: All that was printed.
        junit: A JUnit XML file that was left, if any.
    """
    found = _junit(junit) if junit else None
    return found or _go(output) or _unittest(output) or _pytest(output) or _tap(output)


def _report(verdicts: list[tuple[str, bool]]) -> Report | None:
    """The report of tests by name, a name that comes twice being numbered."""
    seen: dict[str, int] = {}
    tests, failed = [], []
    for name, passed in verdicts[:MAX_TESTS]:
        shown = one_line(name.strip(), _NAME_CHARS) or "unnamed"
        seen[shown] = seen.get(shown, 0) + 1
        shown += f" ({seen[shown]})" if seen[shown] > 1 else ""
        tests.append(shown)
        if not passed:
            failed.append(shown)
    return Report(tuple(tests), tuple(failed)) if tests else None


def _junit(data: bytes) -> Report | None:
    try:
        text = data.decode("utf-8")
        # A document type may define entities that grow without end.
        if "<!" in text.replace("<![CDATA[", "").replace("<!--", ""):
            return None
        root = ElementTree.fromstring(text)
    except (UnicodeDecodeError, ElementTree.ParseError, ValueError):
        return None
    verdicts = []
    for case in root.iter("testcase"):
        kinds = {child.tag for child in case}
        if "skipped" not in kinds:
            place, name = case.get("classname") or "", case.get("name") or ""
            verdicts.append((f"{place}::{name}" if place else name, not kinds & {"failure", "error"}))
    return _report(verdicts)


def _go(output: str) -> Report | None:
    ended: dict[str, bool] = {}
    for line in output.splitlines():
        if not line.startswith('{"'):
            continue
        try:
            event = json.loads(line)
            action, test, package = event.get("Action"), event.get("Test"), event.get("Package")
        except (ValueError, RecursionError, AttributeError):
            continue
        if action in ("pass", "fail") and isinstance(test, str):
            ended[f"{package}.{test}"] = action == "pass"
        elif action == "fail" and isinstance(package, str) and not any(n.startswith(f"{package}.") for n in ended):
            ended[package] = False  # it did not build
    return _report(list(ended.items()))


def _unittest(output: str) -> Report | None:
    ran = list(_RAN.finditer(output))
    if not ran:
        return None
    total = sum(int(found[1]) for found in ran) - sum(int(found[1]) for found in _SKIPPED.finditer(output))
    verdicts = dict.fromkeys(map(_dotted, _BROKEN.finditer(output)), False)
    for found in _UNITTEST.finditer(output):
        if not found["rest"].startswith(" ... skipped"):
            verdicts.setdefault(_dotted(found), True)
    # Without -v only those that failed are named.
    rest = min(total, MAX_TESTS) - len(verdicts)
    return _report([*verdicts.items(), *((f"test {number}", True) for number in range(1, rest + 1))])


def _dotted(found: re.Match[str]) -> str:
    """A test's path; Python 3.11 repeats its name in it."""
    name, place = found["name"], found["place"].removeprefix("unittest.loader._FailedTest.")
    return place if f".{place}".endswith(f".{name}") else f"{place}.{name}"


def _pytest(output: str) -> Report | None:
    summaries = list(_PYTEST_SUMMARY.finditer(output))
    if not summaries:
        return None
    counts = {word: int(number) for number, word in re.findall(r"(\d+) ([a-z]+)", summaries[-1][1])}
    failed = list(dict.fromkeys(found[1] for found in _PYTEST_FAILED.finditer(output)))
    passed = min(counts.get("passed", 0) + counts.get("xfailed", 0), MAX_TESTS)
    unnamed = counts.get("failed", 0) + counts.get("error", 0) + counts.get("errors", 0) - len(failed)
    verdicts = [(name, False) for name in failed]
    verdicts += [(f"failed test {number}", False) for number in range(1, min(unnamed, MAX_TESTS) + 1)]
    return _report(verdicts + [(f"test {number}", True) for number in range(1, passed + 1)])


def _tap(output: str) -> Report | None:
    if re.search(r"^TAP version \d+|^1\.\.\d+", output, re.MULTILINE) is None:
        return None
    verdicts = []
    for found in _TAP.finditer(output):
        directive = (found["directive"] or "").lower()
        if "skip" not in directive and "todo" not in directive:
            verdicts.append((found["name"].strip() or f"test {found['number']}", found["not"] is None))
    return _report(verdicts)
