"""Code questions: what solves, what does not, and every way to cheat that is known to us."""

from __future__ import annotations

import os
import py_compile
from collections.abc import Iterator
from importlib.util import cache_from_source
from pathlib import Path

import pytest
from code_kit import FILES, GIVEN, KEPT, SOLVED, begin, code_suite, verdict
from jail_kit import REAL, skip_without

from resit.core.agents.scratch import Scratch
from resit.core.agents.verify import code_key, verify
from resit.core.folders import digest_tree
from resit.core.records import Isolation, Verified
from resit.core.suite import Suite

ALL = {f"{GIVEN}.test_nothing", f"{GIVEN}.test_small", f"{KEPT}.test_large", f"{KEPT}.test_zero"}
UNSOLVED = {f"{GIVEN}.test_small", f"{KEPT}.test_large"}


@pytest.fixture(params=REAL)
def isolation(request: pytest.FixtureRequest) -> Isolation:
    skip_without(request.param)
    found: Isolation = request.param
    return found


@pytest.fixture
def suite(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Suite:
    return code_suite(tmp_path / "suite", monkeypatch)


@pytest.fixture
def scratch(suite: Suite) -> Iterator[Scratch]:
    with begin(suite) as found:
        yield found


def test_what_solves_it_passes_every_test_and_leaves_a_diff(
    suite: Suite, scratch: Scratch, isolation: Isolation
) -> None:
    (scratch.work / "calc.py").write_text(SOLVED)
    found = verdict(suite, scratch, isolation)
    assert (set(found.tests), found.failed, found.changed, found.exit_code) == (ALL, (), (), 0)
    assert (found.stopped, found.rule) == ("", suite.questions[0].verify_digest)
    assert "-    return a - b\n+    return a + b" in found.diff


def test_what_does_not_solve_it_fails_by_name(suite: Suite, scratch: Scratch, isolation: Isolation) -> None:
    found = verdict(suite, scratch, isolation)
    assert (set(found.tests), set(found.failed), found.exit_code, found.diff) == (ALL, UNSOLVED, 1, "")


def test_a_weakened_test_is_named_and_does_not_run(suite: Suite, scratch: Scratch, isolation: Isolation) -> None:
    (scratch.work / "tests" / "test_given.py").write_text("import unittest\n")
    found = verdict(suite, scratch, isolation)
    assert found.changed == ("tests/test_given.py changed",)
    assert set(found.failed) == UNSOLVED


@pytest.mark.parametrize("trick", ["file", "link", "folder for a link", "pipe", "locked"])
def test_nothing_planted_where_the_hidden_tests_go_takes_their_place(
    suite: Suite, scratch: Scratch, isolation: Isolation, trick: str
) -> None:
    tests, planted = scratch.work / "tests", scratch.work / "tests" / "test_kept.py"
    match trick:
        case "file":
            planted.write_text("import unittest\n")
        case "link":
            (scratch.work / "empty.py").touch()
            planted.symlink_to("../empty.py")
        case "folder for a link":
            tests.rename(scratch.work / "others")
            tests.symlink_to("others")
        case "pipe":
            os.mkfifo(planted)
        case _:
            planted.mkdir(mode=0)
            tests.chmod(0o500)
    found = verdict(suite, scratch, isolation)
    assert set(found.failed) == UNSOLVED
    assert found.changed or trick == "locked"


def test_nothing_is_written_through_a_link_that_leads_out(suite: Suite, scratch: Scratch, tmp_path: Path) -> None:
    skip_without("landlock")
    (tmp_path / "elsewhere").mkdir()
    (scratch.work / "tests" / "test_given.py").unlink()
    (scratch.work / "tests" / "__init__.py").unlink()
    (scratch.work / "tests").rmdir()
    (scratch.work / "tests").symlink_to(tmp_path / "elsewhere")
    assert set(verdict(suite, scratch, "landlock").failed) == UNSOLVED
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_a_compiled_file_planted_for_a_test_does_not_run(suite: Suite, scratch: Scratch, isolation: Isolation) -> None:
    test = scratch.work / "tests" / "test_given.py"
    real, weak = test.read_text(), scratch.work / "weak.py"
    weak.write_text("import unittest\n".ljust(len(real)))
    os.utime(weak, ns=(test.stat().st_mtime_ns, test.stat().st_mtime_ns))
    py_compile.compile(str(weak), cfile=cache_from_source(str(test)))
    weak.unlink()
    found = verdict(suite, scratch, isolation)
    assert (found.changed, set(found.failed)) == ((), UNSOLVED)


def test_a_run_that_ends_itself_well_before_any_test_reports_is_no_pass(
    suite: Suite, scratch: Scratch, isolation: Isolation
) -> None:
    (scratch.work / "calc.py").write_text("import os\nos._exit(0)\n")
    found = verdict(suite, scratch, isolation)
    assert (found.exit_code, found.failed, found.stopped) == (0, ("verify: no test reported",), "")


def test_work_that_ends_the_tests_with_an_error_is_a_miss_for_the_untouched_workspace_reports(
    suite: Suite, scratch: Scratch, isolation: Isolation
) -> None:
    (scratch.work / "calc.py").write_text("import os\nos._exit(3)\n")
    found = verdict(suite, scratch, isolation)
    assert (found.exit_code, found.failed, found.stopped) == (3, ("verify: no test reported",), "")


@pytest.mark.parametrize(
    "command", ["no-such-runner", "echo 'No module named pytest' >&2; exit 1 # pytest", "exec ./not-executable"]
)
def test_a_verify_that_does_not_work_is_no_miss(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, isolation: Isolation, command: str
) -> None:
    suite = code_suite(tmp_path / "suite", monkeypatch, command=command)
    with begin(suite) as scratch:
        found = verdict(suite, scratch, isolation)
    assert found.stopped.startswith("verify does not run on the untouched workspace either")
    assert (found.failed, found.exit_code) == ((), None)


def test_a_verify_without_tests_by_name_decides_by_its_exit_code(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, isolation: Isolation
) -> None:
    suite = code_suite(tmp_path / "suite", monkeypatch, command="grep -q 'a + b' calc.py")
    with begin(suite) as scratch:
        assert verdict(suite, scratch, isolation).failed == ("verify: exit code 1",)
    with begin(suite) as scratch:
        (scratch.work / "calc.py").write_text(SOLVED)
        found = verdict(suite, scratch, isolation)
        assert (found.failed, found.exit_code, found.tests) == ((), 0, ())


def test_work_that_never_ends_fails_at_the_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, isolation: Isolation
) -> None:
    suite = code_suite(tmp_path / "suite", monkeypatch, more="verify_seconds = 2")
    with begin(suite) as scratch:
        (scratch.work / "calc.py").write_text("while True: pass\n")
        found = verdict(suite, scratch, isolation)
    assert (found.failed, found.exit_code, found.stopped) == (("verify: it took longer than 2 s",), None, "")


def test_work_that_prints_without_end_is_cut(suite: Suite, scratch: Scratch, isolation: Isolation) -> None:
    noise = "import sys\nfor _ in range(100): sys.stdout.write('x' * 1_000_000)\nsys.stdout.write('[red]\\x1b[2J\\n')\n"
    (scratch.work / "calc.py").write_text(noise + SOLVED)
    found = verdict(suite, scratch, isolation)
    assert (found.failed, found.exit_code) == ((), 0)
    assert len(found.output) <= 8_000


def test_the_work_under_test_sees_neither_keys_nor_suite(suite: Suite, scratch: Scratch, isolation: Isolation) -> None:
    assert suite.path is not None
    spy = (
        "import sys\nfor place in {places}:\n"
        "  try: print('SEEN', open(place).read(), file=sys.stderr)\n  except OSError: pass\n"
    )
    places = [str(suite.path), str(suite.path.parent / "kept/tests/test_kept.py"), str(scratch.before / "calc.py")]
    (scratch.work / "calc.py").write_text(spy.format(places=places) + SOLVED)
    found = verdict(suite, scratch, isolation)
    assert found.exit_code == 0
    assert "SEEN" not in found.output


def test_a_test_that_changed_after_the_round_was_planned_gives_no_verdict(
    suite: Suite, scratch: Scratch, isolation: Isolation
) -> None:
    assert suite.path is not None
    (suite.path.parent / "kept" / "tests" / "test_kept.py").write_text("")
    assert "the hidden tests changed" in verdict(suite, scratch, isolation).stopped


def test_an_agent_that_reached_the_untouched_copy_gets_no_verdict(suite: Suite, scratch: Scratch) -> None:
    for folder in (scratch.before, scratch.work):
        (folder / "tests" / "test_given.py").write_text("import unittest\n")
    found = verdict(suite, scratch, "none")
    assert found.stopped == "the untouched copy was changed: the agent reached outside its folder"


def test_more_than_can_be_read_gives_no_verdict(suite: Suite, scratch: Scratch) -> None:
    inner = scratch.work / "many"
    inner.mkdir()
    with open(inner / "hole", "wb") as file:
        file.truncate(10**12)
    found = verdict(suite, scratch, "none")
    assert found.stopped.startswith("what the agent left cannot be read")


def test_the_python_of_pytest_reports_by_junit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, isolation: Isolation
) -> None:
    suite = code_suite(tmp_path / "suite", monkeypatch, command="python -m pytest -q -p no:cacheprovider tests")
    with begin(suite) as scratch:
        found = verdict(suite, scratch, isolation)
    assert set(found.failed) == {
        "tests.test_given.Given::test_small", "tests.test_kept.Kept::test_large",
    }  # fmt: skip
    assert len(found.tests) == 4


def test_without_a_verify_the_protected_files_alone_decide(suite: Suite, scratch: Scratch) -> None:
    key = code_key(suite, suite.questions[0].replaced(verify=None, hidden=None))
    assert key is not None
    found = verify(scratch, key, "none", ())
    assert found == Verified(rule=key.rule, left=digest_tree(scratch.before))
    (scratch.work / "conftest.py").touch()
    assert verify(scratch, key, "none", ()).changed == ("conftest.py added",)


def test_a_question_without_a_workspace_has_no_key(suite: Suite) -> None:
    assert code_key(suite, suite.questions[0].replaced(workspace=None)) is None


def test_what_was_given_is_what_the_suite_has(suite: Suite, scratch: Scratch) -> None:
    for name, text in FILES.items():
        if name.startswith("given/"):
            assert (scratch.work / name.removeprefix("given/")).read_text() == text
