"""`resit rules`: routing as Markdown, TOML, JSON, or in a marked block of a file."""

from __future__ import annotations

import json
import tomllib
from datetime import UTC, datetime
from pathlib import Path

import pytest

from resit.cli import main
from resit.core.records import run_key
from resit.core.rounds.reviews import set_review
from resit.core.rounds.store import RoundStore
from resit.core.suite import Suite
from saved_round import ANSWERS, HAIKU, SONNET, keep_round

NOW = datetime(2026, 11, 30, tzinfo=UTC)


@pytest.fixture
def read_round(round_path: Path) -> Path:
    """A round whose misses of sonnet's were all read."""
    store = RoundStore.open(round_path)
    for question in ("minutes", "product", "leap-year", "sign-off"):
        for run in (1, 2):
            set_review(store, run_key(question, SONNET, run), NOW, "model")
    return round_path


@pytest.mark.usefixtures("read_round")
def test_each_kind_of_work_has_its_rule_or_the_reason_why_not(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rules", "last", "--json"]) == 0
    found = {kind["kind"]: kind for kind in json.loads(capsys.readouterr().out)["kinds"]}
    assert found["arithmetic"]["use"] == HAIKU.label
    assert found["dates"]["use"] is None
    assert [one["setting"] for one in found["dates"]["failing"]] == [HAIKU.label, SONNET.label]
    assert found["arithmetic"]["passing"][0]["cost_each_usd"] == "0.0002"
    assert found["arithmetic"]["more_questions"]


@pytest.mark.usefixtures("read_round")
def test_a_lower_bar_and_what_is_used_today(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rules", "last", "--bar", "0", "--today", "arithmetic=B"]) == 0
    out = capsys.readouterr().out
    assert "used today: claude\\-sonnet" not in out
    assert "used today: claude-sonnet-5-5 low, $0.000200 for 2 questions, so this costs 100% of it" in out


@pytest.mark.usefixtures("read_round")
def test_toml_on_standard_output_can_be_read(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rules", "last", "--toml"]) == 0
    assert tomllib.loads(capsys.readouterr().out)["rules"][0]["model"] == HAIKU.model


@pytest.mark.usefixtures("round_path")
def test_a_file_is_only_written_with_consent_and_only_in_its_block(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "AGENTS.md"
    path.write_text("# Mine\n")
    assert main(["rules", "last", "--into", str(path)]) == 0
    out, err = capsys.readouterr()
    assert "+<!-- resit rules: begin -->" in out
    assert "--yes writes it" in err
    assert path.read_text() == "# Mine\n"
    assert main(["rules", "last", "--into", str(path), "--yes"]) == 0
    assert path.read_text().startswith("# Mine\n\n<!-- resit rules: begin -->\n## Which model for which work\n")
    capsys.readouterr()
    assert main(["rules", "last", "--into", str(path), "--yes"]) == 0
    out, err = capsys.readouterr()
    assert (out, "holds these rules already" in err) == ("", True)


def test_single_runs_write_no_rule(suite: Suite, capsys: pytest.CaptureFixture[str]) -> None:
    keep_round(suite, {place: said[:1] for place, said in ANSWERS.items()})
    assert main(["rules", "last", "--toml"]) == 0
    found = tomllib.loads(capsys.readouterr().out)
    assert "rules" not in found
    assert "untested for variance" in found["undecided"][0]["rejected"][0]["why"]


@pytest.mark.usefixtures("round_path")
def test_hostile_names_reach_a_terminal_as_escapes(capsys: pytest.CaptureFixture[str], suite: Suite) -> None:
    assert suite.path is not None
    hostile = suite.replaced(
        questions=tuple(question.replaced(kind="a\x1b[31m\u202e") for question in suite.questions), path=None
    )
    keep_round(hostile, ANSWERS, name="20261130-0900")
    assert main(["rules", "20261130-0900", "--toml"]) == 0
    out = capsys.readouterr().out
    assert "\x1b" not in out
    assert "\u202e" not in out
    assert "a\x1b[31m\u202e" in {kind["kind"] for kind in tomllib.loads(out)["undecided"]}
    assert main(["rules", "20261130-0900"]) == 0
    out = capsys.readouterr().out
    assert "\x1b" not in out
    assert "\u202e" not in out


@pytest.mark.usefixtures("round_path")
def test_json_goes_with_no_other_form(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rules", "last", "--json", "--into", "AGENTS.md"]) == 2
    assert capsys.readouterr().out == ""
    assert not Path("AGENTS.md").exists()
