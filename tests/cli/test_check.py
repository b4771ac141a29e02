"""`resit check`: all faults at once, with line and mend."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from resit.cli import main
from resit.core.suite_file import sample_suites

FAULTY = """\
[[questions]]
id = "one"
prompt = "?"
accept = ["x"]
rule = "exat"

[[questions]]
id = "One "
prompt = "?"
acept = ["y"]
"""


def test_every_sample_suite_is_sound(capsys: pytest.CaptureFixture[str]) -> None:
    names = [f"sample:{path.stem}" for path in sample_suites()]
    assert len(names) >= 4
    assert main(["check", *names]) == 0
    assert capsys.readouterr().out.count("no faults") == len(names)


def test_all_faults_are_said_at_once_with_line_question_and_mend(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    suite = tmp_path / "s.toml"
    suite.write_text(FAULTY)
    assert main(["check", str(suite)]) == 1
    out = capsys.readouterr().out
    assert "faults" in out.splitlines()[0]
    assert "did you mean 'exact'" in out or "exact" in out
    assert "acept" in out
    assert "line " in out
    assert "question 'one'" in out


def test_the_json_has_one_object_a_suite(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    suite = tmp_path / "s.toml"
    suite.write_text(FAULTY)
    assert main(["check", "sample:short-answers", str(suite), str(tmp_path / "none.toml"), "--json"]) == 1
    good, bad, absent = json.loads(capsys.readouterr().out)["suites"]
    assert (good["ok"], good["faults"]) == (True, [])
    assert not bad["ok"]
    assert set(bad["faults"][0]) == {"code", "question", "line", "message", "mend"}
    assert len(bad["faults"]) >= 3
    assert not absent["ok"]


def test_a_hostile_suite_cannot_move_the_cursor(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    suite = tmp_path / "s.json"
    suite.write_text(json.dumps([{"id": "\x1b[2J", "question": "?", "accept": ["x"], "match": "\x1b]0;x\x07"}]))
    assert main(["check", str(suite)]) == 1
    assert "\x1b" not in capsys.readouterr().out


DRAFTS = FAULTY[: FAULTY.index('\n[[questions]]\nid = "One')].replace('"exat"', '"exact"') + (
    '\n[[questions]]\nid = "two"\nprompt = "??"\ndraft = true\n'
)


def test_drafts_are_named_and_are_no_faults(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    suite = tmp_path / "s.toml"
    suite.write_text(DRAFTS)
    assert main(["check", str(suite)]) == 0
    out = capsys.readouterr().out
    assert "1 question, no faults" in out
    assert "1 draft, never asked as long as it is one: two" in out
    assert main(["check", str(suite), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["suites"][0]["drafts"] == ["two"]


def test_a_suite_of_drafts_alone_passes_the_check_and_no_round_of_it_starts(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    suite = tmp_path / "s.toml"
    suite.write_text('[[questions]]\nid = "two"\nprompt = "??"\ndraft = true\n')
    assert main(["check", str(suite)]) == 0
    assert "every question is a draft" in capsys.readouterr().out
    assert main(["run", str(suite), "-m", "haiku", "--dry-run"]) == 2
    assert "every question is a draft" in capsys.readouterr().err
