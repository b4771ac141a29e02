from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path

import pytest

from resit.cli import main
from resit.core.suite import Suite
from saved_round import ANSWERS, BEGAN, keep_round

LATER = {**ANSWERS, ("product", "haiku"): ("no", "no")}


@pytest.fixture
def two_rounds(suite: Suite) -> str:
    keep_round(suite, ANSWERS, name="20261128-1")
    keep_round(suite, LATER, name="20261129-1", at=BEGAN + timedelta(days=1))
    return str(suite.path)


def test_the_history_tells_settings_over_time_and_what_became_of_questions(
    two_rounds: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["history", two_rounds]) == 0
    said = capsys.readouterr().out
    lines = said.splitlines()
    assert lines[0] == "Short answers · 2 rounds"
    haiku = [line.split() for line in lines if line.startswith("20261") and "haiku" in line]
    assert [(line[0], line[6], line[7]) for line in haiku] == [
        ("20261128-1", "2/4", "66.7%"),
        ("20261129-1", "1/4", "41.7%"),
    ]
    (product,) = (line for line in lines if line.startswith("product"))
    assert "broke once" in product
    assert "right in 20261128-1, wrong in 20261129-1" in product
    (steps,) = (line for line in lines if "66.7% → 41.7%" in line)
    assert "▆▄" in steps


def test_the_history_as_json_holds_the_same(two_rounds: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["history", two_rounds, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["rounds"] == ["20261128-1", "20261129-1"]
    assert [(one["round_id"], one["full"]) for one in found["standings"] if "haiku" in one["setting"]] == [
        ("20261128-1", 2),
        ("20261129-1", 1),
    ]
    assert [one["question"] for one in found["breaks"]] == ["product"]


def test_rounds_are_found_by_their_name_when_the_suite_is_gone(
    two_rounds: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path(two_rounds).unlink()
    assert main(["history", "short-answers"]) == 0
    captured = capsys.readouterr()
    assert "Short answers · 2 rounds" in captured.out
    assert "graded by the rules it was asked with" in captured.err


def test_a_suite_without_a_round_says_how_to_start_one(suite: Suite, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["history", str(suite.path)]) == 2
    assert "there is no round of" in capsys.readouterr().err
    assert main(["history", "no-such-suite"]) == 2


def test_a_damaged_round_is_named_and_the_others_are_told(
    two_rounds: str, suite: Suite, capsys: pytest.CaptureFixture[str]
) -> None:
    path = keep_round(suite, ANSWERS, name="20261130-1", at=BEGAN + timedelta(days=2))
    (path / "suite.toml").write_text("no", encoding="utf-8")
    assert main(["history", two_rounds]) == 0
    captured = capsys.readouterr()
    assert "not in the history" in captured.err
    assert "2 rounds" in captured.out
