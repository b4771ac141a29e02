"""`resit explain`: what each question stands for, in a sentence."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from resit.cli import main

SUITE = """\
title = "Bills"

[[questions]]
id = "total"
kind = "reading"
about = "Reading the total out of a bill."
prompt = "Net 100, VAT 19. Total?"
accept = ["119"]
rule = { name = "numeric", tolerance = 0.5 }
traps = [{ reply = "100", why = "the net sum" }]

[[questions]]
id = "thanks"
kind = "writing"
prompt = "Thank Ida in one line."
checks = [{ name = "ida", contains = "Ida" }, { name = "short", max_words = 20 }]
no_trap = true

[[questions]]
id = "later"
kind = "reading"
prompt = "And then?"
draft = true
"""


@pytest.fixture
def suite(tmp_path: Path) -> str:
    path = tmp_path / "bills.toml"
    path.write_text(SUITE)
    return str(path)


def test_each_question_is_a_sentence_on_its_work_its_grading_and_its_trap(
    suite: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["explain", suite]) == 0
    out = capsys.readouterr().out
    assert out.splitlines()[0] == "Bills: 2 questions, and 1 draft that no model is asked"
    assert (
        "total: Reading the total out of a bill. Passes when the reply is one accepted number and nothing else, within "
        "0.5: '119'. Catches '100' (the net sum)." in out
    )
    assert (
        "thanks: asks 'Thank Ida in one line.'. Scores the share of 2 checks that pass: ida, short. Its author says "
        "that no wrong answer tempts." in out
    )
    assert "later: asks 'And then?'. Nothing decides yet. No trap is named. A draft: it is not asked." in out


def test_questions_stand_under_their_kind_of_work(suite: str, capsys: pytest.CaptureFixture[str]) -> None:
    main(["explain", suite])
    lines = capsys.readouterr().out.splitlines()
    assert [line for line in lines if line and not line.startswith(" ")][1:] == ["reading", "writing"]


def test_the_json_holds_the_same_parts(suite: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", suite, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [each["question"] for each in found["questions"]] == ["total", "thanks", "later"]
    assert found["questions"][0]["work"] == "Reading the total out of a bill"
    assert found["questions"][2]["draft"] is True


def test_a_hostile_suite_cannot_move_the_cursor(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "s.toml"
    path.write_text('[[questions]]\nid = "a"\nprompt = "\\u001b[2J x"\nabout = "\\u001b[31m red"\naccept = ["1"]\n')
    assert main(["explain", str(path)]) == 0
    assert "\x1b" not in capsys.readouterr().out


def test_a_suite_that_is_not_there_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "none.toml"]) == 2
    assert len(capsys.readouterr().err.splitlines()) == 1
