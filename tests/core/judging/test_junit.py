from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest
from exam_kit import HIGH, LOW, TOP, exam
from sheet_kit import SUITE, hostile_replies, sheet, store_round

from resit.core.judging.junit import Broken, hold, junit_xml
from resit.core.judging.sheet import make_sheet
from resit.core.rounds.shelf import open_round
from resit.core.suite import Question

BASE = exam({"held": {LOW: [1, 1]}, "broke": {LOW: [1, 1]}, "shaky": {LOW: [1, 0]}, "lost": {LOW: [0, 0]}})


def test_what_passed_in_every_run_and_is_missed_in_every_run_is_broken() -> None:
    now = exam({"held": {LOW: [1, 1]}, "broke": {LOW: [0, 0.5]}, "shaky": {LOW: [0, 0]}, "lost": {LOW: [0, 0]}})
    held = hold(now, BASE)
    assert held.broken == (Broken("broke", LOW.label, 2, 2),)
    assert held.compared == 4
    assert held.stated == ()
    assert held.broken[0].said == f"broke · {LOW.label}: passed in 2 runs, now missed in all 2"


def test_one_run_that_still_passes_is_no_break() -> None:
    assert hold(exam({"broke": {LOW: [0, 1]}}), BASE).broken == ()


def test_a_cut_reply_is_no_miss_and_breaks_nothing() -> None:
    assert hold(exam({"broke": {LOW: [None, None]}}), BASE).broken == ()
    assert len(hold(exam({"broke": {LOW: [None, 0]}}), BASE).broken) == 1


def test_a_setting_that_is_new_is_held_against_all_runs_of_the_baseline() -> None:
    baseline = exam({"easy": {LOW: [1, 1], HIGH: [1, 1]}, "hard": {LOW: [0, 1], HIGH: [1, 1]}})
    held = hold(exam({"easy": {TOP: [0, 0]}, "hard": {TOP: [0, 0]}}), baseline)
    assert held.broken == (Broken("easy", TOP.label, 4, 2),)
    assert held.stated == (f"not a setting of the baseline, so held against all of its runs: {TOP.label}",)


def test_a_question_that_was_asked_in_another_way_is_named_and_not_compared() -> None:
    now = exam({"broke": {LOW: [0, 0]}, "new": {LOW: [0, 0]}}, prompts={"broke": "Another prompt?"})
    held = hold(now, BASE)
    assert (held.broken, held.compared) == ((), 0)
    assert held.stated == (
        "not in the baseline, or asked in another way there: broke, new",
        "only in the baseline: held, shaky, lost",
    )


def test_a_question_that_a_verdict_left_out_cannot_break() -> None:
    blamed = exam({"broke": {LOW: [0, 0]}}, verdicts={("broke", LOW, 1): "question"})
    assert hold(blamed, BASE).broken == ()


def test_single_runs_are_said_to_be_untested_for_variance() -> None:
    held = hold(exam({"broke": {LOW: [0]}}), BASE)
    assert len(held.broken) == 1
    assert "a side has single runs: untested for variance, so a break may be chance" in held.stated


# --- the report


def test_each_sum_of_the_report_is_that_of_its_cases(tmp_path: Path) -> None:
    root = ElementTree.fromstring(junit_xml(sheet(tmp_path)))
    for suite in root:
        cases = suite.findall("testcase")
        assert int(suite.get("tests", "")) == len(cases) == 5
        for key, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
            assert int(suite.get(key, "")) == sum(case.find(tag) is not None for case in cases)
        assert float(suite.get("time", "")) == sum(float(case.get("time", "")) for case in cases)


def test_a_break_is_a_failure_of_its_own_type(tmp_path: Path) -> None:
    made = sheet(tmp_path)
    label = made.settings[0].setting.label
    root = ElementTree.fromstring(junit_xml(made, [Broken("leap-year", label, 2, 2)]))
    failure = root.find("testsuite/testcase[@name='leap-year']/failure")
    assert failure is not None
    assert failure.get("type") == "broken"
    assert failure.get("message") == f"leap-year · {label}: passed in 2 runs, now missed in all 2"
    assert "365" in (failure.text or "")


def test_a_question_that_was_not_asked_is_skipped(tmp_path: Path) -> None:
    store = store_round(tmp_path, answers={("capital", LOW): ["Paris"]}, verdicts={}, repeats=1)
    root = ElementTree.fromstring(junit_xml(make_sheet(open_round(store.path, suite=SUITE))))
    assert {node.get("message") for node in root.iter("skipped")} == {"not asked"}
    assert root[0].get("skipped") == "4"


@pytest.mark.parametrize("text", hostile_replies(), ids=lambda text: ascii(text[:20]))
def test_any_reply_makes_a_report_that_can_be_read(tmp_path: Path, text: str) -> None:
    suite = SUITE.replaced(questions=(Question(id="one", prompt="?", accept=("no",)),))
    store = store_round(tmp_path, suite, {("one", LOW): [text]}, {}, repeats=1)
    root = ElementTree.fromstring(junit_xml(make_sheet(open_round(store.path, suite=suite))))
    assert [node.get("name") for node in root.iter("testcase")] == ["one"]
