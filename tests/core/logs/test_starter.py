"""The starter prompt: what it shows is what `resit check` accepts."""

from __future__ import annotations

import re
from pathlib import Path
from typing import get_args

from resit.core.logs.starter import starter_prompt
from resit.core.rule import CheckKind
from resit.core.suite_file import read_suite
from resit.core.suite_formats.questions import KEYS
from resit.core.suite_formats.rule_form import RULES


def shown_example() -> str:
    (found,) = re.findall(r"```toml\n(.*?)```", starter_prompt(), re.DOTALL)
    return str(found)


def test_the_example_suite_in_the_prompt_is_sound(tmp_path: Path) -> None:
    path = tmp_path / "my-exam.toml"
    path.write_text(shown_example(), encoding="utf-8")
    suite, faults = read_suite(path)
    assert faults == ()
    assert suite is not None
    assert suite.warnings == ()
    assert len(suite.asked) == 3
    assert all(question.about and question.traps for question in suite.questions)


def test_the_prompt_names_every_rule_and_every_check() -> None:
    text = starter_prompt()
    assert [name for name in (*RULES, *get_args(CheckKind)) if f"`{name}`" not in text] == []


def test_every_key_the_prompt_names_is_a_key_of_a_question_or_suite() -> None:
    names = set(re.findall(r"^- (?:optional: )?((?:`\w+`(?: \(.*?\))?, )*`[a-z_]+)", starter_prompt(), re.MULTILINE))
    keys = {key for line in names for key in re.findall(r"`(\w+)", line)}
    assert {"id", "accept", "rule", "checks", "traps", "reference"} <= keys
    assert keys <= {*KEYS, "about"}


def test_no_line_of_the_prompt_is_too_long_for_a_terminal() -> None:
    assert max(map(len, starter_prompt().splitlines())) <= 140
