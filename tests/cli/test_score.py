"""`resit score`: saved answers, both shapes, against suites of any form."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from resit.cli import main

PUBLISHED = Path(__file__).parent.parent / "data" / "published_run.json"


@pytest.fixture
def published(tmp_path: Path) -> Path:
    """The questions of the published run as a plain JSON list: their texts are not public."""
    accept = json.loads(PUBLISHED.read_text())["accept"]
    path = tmp_path / "questions.json"
    path.write_text(json.dumps([{"id": key, "accept": forms} for key, forms in accept.items()]))
    return path


def write(path: Path, data: object) -> str:
    path.write_text(json.dumps(data))
    return str(path)


def scored(capsys: pytest.CaptureFixture[str], *argv: str) -> tuple[int, dict[str, Any]]:
    code = main(["score", *argv, "--json"])
    return code, json.loads(capsys.readouterr().out)


def test_the_published_run_grades_to_20_and_19_with_its_costs(
    published: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, found = scored(capsys, str(PUBLISHED), str(published))
    assert code == 0
    sums = {s["model"]: (s["full"], s["of"], s["unsettled"], Decimal(s["cost_usd"])) for s in found["settings"]}
    assert sums == {
        "claude-haiku-5-5": (20, 20, 0, Decimal("0.0001264")),
        "claude-sonnet-5-5": (19, 20, 0, Decimal("0.002568")),
    }
    assert Decimal(found["totals"]["cost_usd"]) == Decimal("0.0026944")
    missed = [(run["question"], run["model"]) for run in found["runs"] if run["outcome"] != "pass"]
    assert missed == [("5", "claude-sonnet-5-5")]


def test_the_table_shows_question_accepted_marks_totals_and_every_failure(
    published: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["score", str(PUBLISHED), str(published)]) == 0
    out = capsys.readouterr().out
    lines = out.splitlines()
    assert lines[0].split() == ["question", "accepted", "claude-haiku-5-5", "claude-sonnet-5-5"]
    assert lines[5].split() == ["5", "210", "pass", "miss"]
    assert lines[7].split() == ["7", "3", "|", "three", "pass", "pass"]
    assert "20/20" in out
    assert "19/20" in out
    assert "$0.000126" in out
    assert "$0.00257" in out
    failures = out[out.index("5 · claude-sonnet-5-5") :]
    assert "expected  210\n" in failures
    assert "got       210 minutes\n" in failures
    assert failures.count("expected") == 1


QUESTIONS = [
    {"id": "a", "question": "1+1?", "answer": "2", "match": "numeric"},
    {"id": "b", "question": "Capital of France?", "answer": "Paris", "match": "contains"},
    {"id": "c", "question": "Yes?", "answer": "yes", "match": "exact"},
]


def test_answers_by_id_are_one_model_named_by_the_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    replies = write(tmp_path / "mine.json", {"a": 2, "b": "It is Paris.", "c": "Yes."})
    code, found = scored(capsys, replies, write(tmp_path / "q.json", QUESTIONS))
    assert code == 0
    assert [(s["model"], s["full"], s["of"]) for s in found["settings"]] == [("mine", 3, 3)]
    assert set(found) == {"round", "suite", "settings", "runs", "totals"}
    assert found["settings"][0]["cost_usd"] is None


@pytest.mark.parametrize("absent", [{}, {"c": None}, {"c": ""}, {"c": " \u200b "}])
def test_an_answer_that_is_missing_or_blank_is_unsettled_and_not_wrong(
    absent: dict[str, str | None], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    replies = write(tmp_path / "r.json", {"a": "2", "b": "Paris"} | absent)
    questions = write(tmp_path / "q.json", QUESTIONS)
    code, found = scored(capsys, replies, questions)
    assert code == 4
    assert found["totals"] | {"cost_usd": None} == {
        "planned": 3, "graded": 2, "passed": 2, "unsettled": 1, "cost_usd": None, "at_least": True,
    }  # fmt: skip
    assert found["runs"][2]["score"] is None
    assert main(["score", replies, questions]) == 4
    out = capsys.readouterr().out
    assert "2/3" in out
    assert "c · r · unsettled" in out


def test_a_toml_suite_with_checks_names_what_failed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    suite = tmp_path / "s.toml"
    suite.write_text(
        '[[questions]]\nid = "q"\nprompt = "p"\nchecks = [{ name = "product", contains = "391" },'
        ' { name = "sign_off", last_line = "Cheers" }]\n'
    )
    replies = write(tmp_path / "r.json", {"models": {"m": {"answers": {"q": {"answer": "It is 391.\nBye"}}}}})
    assert main(["score", replies, str(suite)]) == 0
    out = capsys.readouterr().out
    assert "0.50" in out
    assert "failed    sign_off" in out
    assert "    It is 391.\n    Bye\n" in out


def test_a_reply_cannot_style_or_move_anything(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    replies = write(tmp_path / "r.json", {"a": "\x1b[31m3\x07\ud800", "b": "Paris", "c": "yes"})
    assert main(["score", replies, write(tmp_path / "q.json", QUESTIONS)]) == 0
    out = capsys.readouterr().out
    assert "␛[31m3␇<U+D800>" in out
    assert "\x1b" not in out


def test_answers_to_no_question_are_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    replies = write(tmp_path / "r.json", {"a": "2", "b": "Paris", "c": "yes", "zz": "?"})
    assert main(["score", replies, write(tmp_path / "q.json", QUESTIONS)]) == 0
    assert "1 answer to no question of this suite, not graded: zz" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[]", "no answers by question id"),
        ("{}", "no answers by question id"),
        ('{"models": {}}', "no answers by question id"),
        ("not json", "is not JSON"),
        ('{"a": "1", "a": "2"}', "'a' is given twice"),
        ('{"a": NaN}', "is not JSON"),
        ('{"a": ["2"]}', "neither text nor a number"),
        ('{"models": {"m": {}}}', "has no answers"),
        ('{"models": {"m": {"answers": {}, "input_tokens": "many"}}}', "no numbers"),
        ('{"models": {"m": {"answers": {}, "price_usd_per_mtok": {"in": 1}}}}', "no numbers"),
    ],
)
def test_another_shape_is_refused_in_one_line(
    text: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    replies = tmp_path / "r.json"
    replies.write_text(text)
    assert main(["score", str(replies), write(tmp_path / "q.json", QUESTIONS)]) == 2
    err = capsys.readouterr().err
    assert said in err
    assert err.count("\n") == 1


def test_a_model_without_a_price_has_an_unknown_cost_and_never_0(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = {"answers": {"a": "2", "b": "Paris", "c": "yes"}, "input_tokens": 10, "output_tokens": 3}
    replies = write(tmp_path / "r.json", {"models": {"nobody-knows": model}})
    questions = write(tmp_path / "q.json", QUESTIONS)
    assert main(["score", replies, questions]) == 0
    out = capsys.readouterr().out
    assert "unknown" in out
    assert "$0" not in out
    _, found = scored(capsys, replies, questions)
    assert found["settings"][0]["cost_usd"] is None
    assert found["totals"]["cost_usd"] is None
