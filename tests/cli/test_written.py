"""`resit note`, `resit export`, and what `resit run` writes and exits with for a build server."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from xml.etree import ElementTree

import pytest
from served import ANSWERS, serving, write_suite

from mock_server import MockServer
from resit.cli import main
from resit.core.paths import rounds_dir
from resit.core.records import run_key
from resit.core.rounds.reviews import set_review
from resit.core.rounds.store import RoundStore


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[MockServer]:
    with serving(monkeypatch) as running:
        yield running


@pytest.fixture
def suite(tmp_path: Path) -> str:
    return write_suite(tmp_path)


def ask(suite: str, *more: str) -> int:
    return main(["run", suite, "-m", "haiku", "-n", "2", *more])


def said(capsys: pytest.CaptureFixture[str], *argv: str) -> tuple[int, str, str]:
    capsys.readouterr()
    code = main(list(argv))
    out, err = capsys.readouterr()
    return code, out, err


# --- note


def test_a_note_is_written_into_the_round_and_says_where(
    server: MockServer, suite: str, capsys: pytest.CaptureFixture[str]
) -> None:
    ask(suite)
    calls = server.stats.requests
    code, out, _ = said(capsys, "note", "last")
    path = Path(out.strip())
    assert (code, path.name) == (0, "note.md")
    assert path.read_text(encoding="utf-8").startswith("# Tiny\n")
    assert server.stats.requests == calls


def test_a_note_whose_figures_follow_from_the_replies_passes_its_check(
    server: MockServer, suite: str, capsys: pytest.CaptureFixture[str]
) -> None:
    ask(suite)
    main(["note", "last"])
    assert said(capsys, "note", "last", "--check")[:2] == (
        0,
        "every line of the note follows from the stored replies\n",
    )


def test_a_note_whose_figures_do_not_follow_fails_its_check(
    server: MockServer, suite: str, capsys: pytest.CaptureFixture[str]
) -> None:
    ask(suite)
    path = Path(said(capsys, "note", "last")[1].strip())
    text = path.read_text(encoding="utf-8")
    assert "6 of 6 graded" in text
    path.write_text(text.replace("6 of 6 graded", "7 of 7 graded"), encoding="utf-8")
    code, _, err = said(capsys, "note", "last", "--check")
    assert code == 1
    assert "7 of 7 graded" in err
    assert "resit note" in err


def test_there_is_nothing_to_check_before_a_note_is_written(
    server: MockServer, suite: str, capsys: pytest.CaptureFixture[str]
) -> None:
    ask(suite)
    code, _, err = said(capsys, "note", "last", "--check")
    assert code == 2
    assert "has no note" in err


# --- the same figures everywhere


def test_table_note_and_page_show_the_same_figures_whatever_a_verdict_leaves_out(
    server: MockServer, suite: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ask(suite)
    store = RoundStore.find(rounds_dir(), "last")
    key = run_key("three", store.plan().settings[0].setting, 1)
    set_review(store, key, datetime.now(UTC), "question", "it has two answers")
    shown = json.loads(said(capsys, "show", "last", "--json")[1])
    (setting,) = shown["settings"]
    assert (setting["lowest_full"], setting["of"], setting["lowest_score"]) == (1, 2, 0.5)
    assert shown["left_out"] == {"questions": ["three"], "runs": []}
    table = said(capsys, "show", "last")[1]
    note = Path(said(capsys, "note", "last")[1].strip()).read_text(encoding="utf-8")
    page = said(capsys, "export", "last", "--format", "html")[1]
    for text in (table, note, page):
        assert "1/2" in text
        assert "50.0%" in text
        assert "eft out for every setting, the question being at fault: three" in text
    assert main(["run", suite, "-m", "haiku", "-n", "2", "--fail-under", "50%"]) == 0
    assert main(["run", suite, "-m", "haiku", "-n", "2", "--fail-under", "51%"]) == 1


# --- export


def test_rows_go_to_standard_output(server: MockServer, suite: str, capsys: pytest.CaptureFixture[str]) -> None:
    ask(suite)
    rows = list(csv.DictReader(io.StringIO(said(capsys, "export", "last", "--format", "csv")[1], newline="")))
    lines = [json.loads(line) for line in said(capsys, "export", "last", "--format", "jsonl")[1].splitlines()]
    shown = json.loads(said(capsys, "show", "last", "--json")[1])["runs"]
    assert lines == shown
    assert [row["outcome"] for row in rows] == [line["outcome"] for line in lines]


def test_a_page_goes_to_a_file(
    server: MockServer, suite: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ask(suite)
    code, out, _ = said(capsys, "export", "last", "--format", "html", "-o", str(tmp_path / "page.html"))
    assert (code, out) == (0, "")
    assert (tmp_path / "page.html").read_text(encoding="utf-8").startswith("<!doctype html>")
    code, _, err = said(capsys, "export", "last", "--format", "html", "-o", str(tmp_path))
    assert code == 2
    assert "cannot be written" in err


# --- baseline and JUnit


def test_a_question_lost_since_the_baseline_ends_with_1_and_is_named(
    server: MockServer, suite: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert ask(suite) == 0
    server.answers = {**ANSWERS, "1+1?": "3"}
    report = tmp_path / "out" / "junit.xml"
    capsys.readouterr()
    assert ask(suite, "--round", "new", "--baseline", "last", "--junit", str(report)) == 1
    err = capsys.readouterr().err
    assert "broken: one · claude-haiku-5-5 default: passed in 2 runs, now missed in all 2" in err
    assert "baseline: 3 questions compared, 1 broken" in err
    root = ElementTree.parse(report).getroot()
    assert [(case.get("name"), failure.get("type")) for case in root.iter("testcase") for failure in case] == [
        ("one", "broken"), ("two", "miss"), ("three", "miss")
    ]  # fmt: skip


def test_a_round_as_good_as_its_baseline_ends_with_0(
    server: MockServer, suite: str, capsys: pytest.CaptureFixture[str]
) -> None:
    ask(suite)
    capsys.readouterr()
    assert ask(suite, "--round", "new", "--baseline", "last", "--json") == 0
    found = json.loads(capsys.readouterr().out)["baseline"]
    assert (found["compared"], found["broken"]) == (3, [])
    first, second = sorted(path.parent.name for path in rounds_dir().glob("*/*/round.toml"))
    assert found["round"] in (first, second)


@pytest.mark.parametrize(
    ("more", "said_so"),
    [
        (["--baseline", "nope"], "there is no round 'nope'"),
        (["--junit", "."], "is a folder"),
        (["--baseline", "last"], "is the round that goes on here"),
    ],
)
def test_a_baseline_that_cannot_be_used_is_refused_before_any_call(
    server: MockServer, suite: str, capsys: pytest.CaptureFixture[str], more: list[str], said_so: str
) -> None:
    ask(suite)
    calls = server.stats.requests
    capsys.readouterr()
    assert ask(suite, "-m", "sonnet", *more) == 2
    assert said_so in capsys.readouterr().err
    assert server.stats.requests == calls
