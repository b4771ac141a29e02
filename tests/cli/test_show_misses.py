"""What `resit show --misses` tells: equal replies once, doubtful passes, and how far the reading has come."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from resit.cli import main
from resit.core.edits import EditStore
from resit.core.records import run_key
from resit.core.rounds.reviews import set_review
from resit.core.rounds.store import RoundStore
from resit.core.suite import Edit, Suite
from resit.core.suite_file import edits_file, load_suite
from saved_round import ANSWERS, HAIKU, SONNET, keep_round

MARS = """
title = "Planets"
rule = "contains"
[[questions]]
id = "planet"
prompt = "Which planet is red?"
accept = ["Mars"]
traps = [{ reply = "Venus", why = "the other neighbour" }]
"""


def shown(capsys: pytest.CaptureFixture[str], *more: str) -> str:
    capsys.readouterr()
    assert main(["show", "last", "--misses", *more]) == 0
    return capsys.readouterr().out


def test_equal_replies_of_a_setting_are_told_once_with_their_number(
    suite: Suite, capsys: pytest.CaptureFixture[str]
) -> None:
    keep_round(suite, {("minutes", "haiku"): ("210 minutes", "210 minutes", "211")})
    said = shown(capsys)
    assert "minutes · claude-haiku-5-5 low · 2 alike, runs 1, 2 · miss (format)" in said
    assert "minutes · claude-haiku-5-5 low · run 3 · miss (wrong)" in said
    assert said.count("    210 minutes\n") == 1


def test_runs_that_met_different_faults_are_not_folded(suite: Suite, capsys: pytest.CaptureFixture[str]) -> None:
    keep_round(suite, ANSWERS)
    said = shown(capsys)
    assert "sign-off · claude-sonnet-5-5 low · run 2 · unsettled: limit" in said
    assert "2 without a fair answer · 10 graded · 4 to review" in said
    assert "6 misses left to read\n" in said


def test_a_pass_that_deserves_a_look_is_listed_with_its_doubt(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "planets.toml"
    path.write_text(MARS, encoding="utf-8")
    keep_round(load_suite(path), {("planet", "haiku"): ("Mars, or else Venus", "Mars")})
    said = shown(capsys)
    assert "no misses" in said
    assert "1 pass that deserves a look" in said
    assert "planet · claude-haiku-5-5 low · run 1 · pass 1" in said
    assert "  doubt     " in said
    assert "Venus" in said


def test_verdicts_and_grades_before_an_edit_are_told(suite: Suite, capsys: pytest.CaptureFixture[str]) -> None:
    path = keep_round(suite, {("minutes", "haiku"): ("3.5 hours", "210"), ("minutes", "sonnet"): ("305", "210")})
    shown(capsys)
    now = datetime.now(UTC)
    set_review(RoundStore(path), run_key("minutes", HAIKU, 1), now, "grader", "fair enough")
    assert suite.path is not None
    EditStore(edits_file(suite), suite.path.name).append(
        Edit(at=now, question="minutes", what="trap", trap={"reply": "3.5 hours", "why": "the question again"})
    )
    said = shown(capsys)
    assert "1 miss left to read; 1 of 2 misses were the grader's" in said
    assert "  state     reviewed" in said
    assert "  before    miss (wrong) until" in said
    assert run_key("minutes", SONNET, 1) not in said
