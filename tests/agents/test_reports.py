"""Which tests ran and which failed, read from what real runners print."""

from __future__ import annotations

import time

import pytest

from resit.core.agents.reports import MAX_TESTS, Report, promises_report, read_report

UNITTEST = """\
test_one (tests.test_a.T.test_one) ... ok
test_sub (tests.test_a.T.test_sub) ...
  test_sub (tests.test_a.T.test_sub) (i=0) ... FAIL
  test_sub (tests.test_a.T.test_sub) (i=2) ... FAIL
test_three (tests.test_a.T.test_three) ... skipped 'x'
test_two (tests.test_a.T.test_two)
Doc line. ... noise
FAIL
test_old (tests.test_a.T) ... ok

======================================================================
FAIL: test_sub (tests.test_a.T.test_sub) (i=0)
----------------------------------------------------------------------
FAIL: test_sub (tests.test_a.T.test_sub) (i=2)
----------------------------------------------------------------------
FAIL: test_two (tests.test_a.T.test_two)
Doc line.
----------------------------------------------------------------------
Ran 5 tests in 0.002s

FAILED (failures=3, skipped=1)
"""

JUNIT = b"""<?xml version="1.0" encoding="utf-8"?><testsuites><testsuite name="pytest" errors="1" failures="1">
<testcase classname="tests.test_a" name="test_ok" time="0.001" />
<testcase classname="tests.test_a" name="test_bad[1-&gt;2]"><failure message="x">long</failure></testcase>
<testcase classname="" name="tests.test_b"><error message="collection failure">E</error></testcase>
<testcase classname="tests.test_a" name="test_not"><skipped type="pytest.skip" /></testcase>
</testsuite></testsuites>"""


def test_unittest_names_its_tests_when_it_is_told_to() -> None:
    found = read_report(UNITTEST, None)
    assert found == Report(
        ("tests.test_a.T.test_sub", "tests.test_a.T.test_two", "tests.test_a.T.test_one", "tests.test_a.T.test_old"),
        ("tests.test_a.T.test_sub", "tests.test_a.T.test_two"),
    )


def test_unittest_without_names_still_says_how_many_passed() -> None:
    text = ".F.\n=====\nFAIL: test_two (test_a.T.test_two)\n-----\n\nRan 3 tests in 0.1s\n\nFAILED (failures=1)\n"
    assert read_report(text, None) == Report(("test_a.T.test_two", "test 1", "test 2"), ("test_a.T.test_two",))


def test_a_module_that_cannot_be_imported_is_a_failed_test() -> None:
    text = (
        "E\n=====\nERROR: tests.test_a (unittest.loader._FailedTest.tests.test_a)\n-----\n"
        "ImportError: Failed to import test module: tests.test_a\n\nRan 1 test in 0.0s\n\nFAILED (errors=1)\n"
    )
    found = read_report(text, None)
    assert found is not None
    assert found.tests == found.failed == ("tests.test_a",)


def test_junit_is_taken_before_what_was_printed() -> None:
    assert read_report(UNITTEST, JUNIT) == Report(
        ("tests.test_a::test_ok", "tests.test_a::test_bad[1->2]", "tests.test_b"),
        ("tests.test_a::test_bad[1->2]", "tests.test_b"),
    )


@pytest.mark.parametrize(
    "junit",
    [
        b"",
        b"<testsuite>",
        b"\xff\xfe<",
        b"<testsuite></testsuite>",
        b'<!DOCTYPE x [<!ENTITY a "aaaa">]><testsuite><testcase name="&a;"/></testsuite>',
    ],
)
def test_a_broken_or_malicious_junit_file_says_nothing(junit: bytes) -> None:
    assert read_report("", junit) is None


def test_pytest_without_junit_is_read_from_its_summary() -> None:
    text = "FAILED tests/test_a.py::test_b[x y] - assert 1 == 2\nERROR tests/test_c.py\n"
    text += "== 1 failed, 3 passed, 1 error in 0.12s ==\n"
    found = read_report(text, None)
    assert found is not None
    assert len(found.tests) == 5
    assert found.failed == ("tests/test_a.py::test_b[x y]", "tests/test_c.py")


def test_go_names_packages_and_tests() -> None:
    text = (
        '{"Action":"run","Package":"m/a","Test":"TestOne"}\n{"Action":"pass","Package":"m/a","Test":"TestOne"}\n'
        '{"Action":"fail","Package":"m/a","Test":"TestTwo/sub"}\n{"Action":"skip","Package":"m/a","Test":"TestNo"}\n'
        '{"Action":"fail","Package":"m/a"}\n{"Action":"fail","Package":"m/broken"}\n{"Action": not json\n'
    )
    assert read_report(text, None) == Report(
        ("m/a.TestOne", "m/a.TestTwo/sub", "m/broken"), ("m/a.TestTwo/sub", "m/broken")
    )


def test_tap_is_read_without_what_is_skipped_or_still_to_do() -> None:
    text = "TAP version 13\nok 1 - adds\nnot ok 2 - subtracts\nok 3 # SKIP later\nnot ok 4 - x # TODO\nok 5\n1..5\n"
    assert read_report(text, None) == Report(("adds", "subtracts", "test 5"), ("subtracts",))


@pytest.mark.parametrize("text", ["", "ok", "all good", "not ok, sorry", "Ran away", "5 passed the exam"])
def test_words_are_no_report(text: str) -> None:
    assert read_report(text, None) is None


def test_tests_of_one_name_are_told_apart() -> None:
    assert read_report("1..2\nok 1 - same\nnot ok 2 - same\n", None) == Report(("same", "same (2)"), ("same (2)",))


@pytest.mark.parametrize(
    "text",
    [
        "1 passed, " * 200_000,
        "=" * 2_000_000,
        "ok " * 500_000,
        "test_a (" * 300_000,
        "FAIL: " * 300_000,
        '{"' * 1_000_000,
        '{"Action":' + "[" * 100_000 + "\n",
        "FAILED a" + " - b" * 300_000,
        "1..1\n" + "ok 1 - x\n" * 200_000,
    ],
    ids=range(9),
)
def test_output_made_to_be_slow_to_read_is_read_in_bounded_time(text: str) -> None:
    began = time.process_time()
    found = read_report(text, None)
    assert time.process_time() - began < 5
    assert found is None or len(found.tests) <= MAX_TESTS


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("python3 -m unittest -v", True),
        ("pytest -q", True),
        ("go test -json ./...", True),
        ("./run --xml {junit}", True),
        ("make check", False),
        ("go build ./...", False),
    ],
)
def test_a_runner_that_always_reports_is_known_by_its_name(command: str, expected: bool) -> None:
    assert promises_report(command) is expected
