"""`resit compare`: what a person may call a side, and what is said of the two."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path

import pytest

from resit.cli import main
from resit.core.errors import UsageError
from resit.core.judging.naming import find_label, round_before
from resit.core.rounds.shelf import open_round
from resit.core.suite import Suite
from saved_round import ANSWERS, BEGAN, HAIKU, SONNET, keep_round

LATER = "20261129-0900"


@pytest.fixture
def later(round_path: Path, suite: Suite) -> Path:
    """A round a day later, in which haiku gets leap years right and products wrong."""
    answers = {**ANSWERS, ("leap-year", "haiku"): ("366", "366"), ("product", "haiku"): ("400", "401")}
    return keep_round(suite, answers, settings=[HAIKU], name=LATER, at=BEGAN + timedelta(days=1))


@pytest.mark.usefixtures("round_path")
def test_two_settings_of_the_last_round_by_letter(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", "A", "B"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("before: round 20261128-1402, rule of 28 Nov 2026\n")
    assert "claude-haiku-5-5 low → claude-sonnet-5-5 low" in out
    assert "No difference is shown: " in out
    # One run of sonnet's was cut off, one met a limit: both pairs are held together by the first run alone.
    assert "    fixed         leap-year  0 → 1\n" in out
    assert "    noise         minutes  1 1 → 0 1\n" in out


@pytest.mark.usefixtures("later")
def test_two_rounds_with_what_is_unequal_first(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", "20261128-1402", "last"]) == 0
    out = capsys.readouterr().out.splitlines()
    assert out[3] == "claude-haiku-5-5 low"
    assert any(line.startswith("    broken        product  1 1 → 0 0") for line in out)
    assert any(line.startswith("    noise         leap-year  0 1 → 1 1") for line in out)
    assert not any("sonnet" in line for line in out)


@pytest.mark.usefixtures("later")
def test_json_holds_every_figure_and_nothing_else(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", "20261128-1402:claude-sonnet-5-5@low", f"{LATER}:A", "--json"]) == 0
    (found,) = json.loads(capsys.readouterr().out)["comparisons"]
    assert found["before"] == {"round": "20261128-1402", "setting": "claude-sonnet-5-5 low"}
    assert found["after"] == {"round": LATER, "setting": "claude-haiku-5-5 low"}
    assert [pair["change"] for pair in found["pairs"]] == ["noise", "still missed", "held", "held"]
    low, high = found["interval_95"]
    assert low <= found["difference"] <= high
    assert 0 < found["p_value"] <= 1


@pytest.mark.usefixtures("later")
@pytest.mark.parametrize(
    ("sides", "said"),
    [
        (["last", "last"], "a round is compared with itself: name its settings as ROUND:SETTING"),
        (["nowhere", "last"], "there is no round 'nowhere', and no setting of the last round either: ROUND"),
        (["last:gpt", "last"], "'gpt' names no setting: there is claude-haiku-5-5 low"),
        (["nowhere:A", "last"], "there is no round 'nowhere'"),
    ],
)
def test_a_side_that_is_not_there_is_said_in_one_line(
    sides: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["compare", *sides]) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert said in err


def test_a_rule_that_changed_between_two_rounds_grades_both(
    round_path: Path, suite: Suite, capsys: pytest.CaptureFixture[str]
) -> None:
    assert suite.path is not None
    text = suite.path.read_text(encoding="utf-8").replace('accept = ["408"]', 'accept = ["408", "400"]')
    suite.path.write_text(text, encoding="utf-8")
    from resit.core.suite_file import load_suite

    changed = load_suite(suite.path)
    keep_round(changed, ANSWERS, name=LATER, at=BEGAN + timedelta(days=1))
    # The file goes, so each round could only be graded by the rules it was asked with.
    suite.path.unlink()
    assert main(["compare", round_path.name, LATER]) == 0
    assert "graded under another rule" not in capsys.readouterr().out


def test_a_setting_is_named_by_label_effort_letter_or_beginning() -> None:
    settings = [HAIKU, SONNET]
    for text in ("claude-haiku-5-5 low", "claude-haiku-5-5@low", "A", "a", "claude-h", "CLAUDE-HAIKU-5-5-LOW"):
        assert find_label(settings, text) == HAIKU.label
    with pytest.raises(UsageError, match="names more than one setting"):
        find_label(settings, "claude")
    with pytest.raises(UsageError, match="names no setting"):
        find_label(settings, "gpt")


def test_the_round_before_is_the_last_one_of_the_same_suite(later: Path, round_path: Path) -> None:
    assert round_before(open_round(later)) == round_path
    assert round_before(open_round(round_path)) is None
