"""A marked block in a person's own file, and not a byte beside it."""

from __future__ import annotations

from pathlib import Path

import pytest

from resit.core.errors import UsageError
from resit.core.judging.marked import plan_block

BEGIN, END = "<!-- resit rules: begin -->", "<!-- resit rules: end -->"


def test_a_file_without_marks_gets_the_block_at_its_end(tmp_path: Path) -> None:
    path = tmp_path / "AGENTS.md"
    path.write_bytes(b"# Mine\n\nKeep it.\n")
    plan_block(path, "new\nrules\n").write()
    assert path.read_bytes() == f"# Mine\n\nKeep it.\n\n{BEGIN}\nnew\nrules\n{END}\n".encode()


def test_nothing_but_the_block_is_touched(tmp_path: Path) -> None:
    path = tmp_path / "AGENTS.md"
    before, after = "\ufeff# Mine \t\r\n\r\nodd \u202e spacing  \r\n", "\r\nno end of line"
    path.write_bytes(f"{before}{BEGIN}\r\nold\r\n{END}{after}".encode())
    plan_block(path, "new\nrules").write()
    assert path.read_bytes() == f"{before}{BEGIN}\r\nnew\r\nrules\r\n{END}{after}".encode()


def test_the_same_rules_again_change_nothing(tmp_path: Path) -> None:
    path = tmp_path / "AGENTS.md"
    plan_block(path, "rules").write()
    again = plan_block(path, "rules")
    assert not again.changes
    assert again.diff == ""


def test_the_change_is_a_diff_and_nothing_is_written_before(tmp_path: Path) -> None:
    path = tmp_path / "AGENTS.md"
    path.write_text(f"mine\n{BEGIN}\nold\n{END}\n")
    edit = plan_block(path, "new")
    assert [line for line in edit.diff.splitlines() if line[0] in "+-"] == [
        "--- AGENTS.md",
        "+++ AGENTS.md",
        "-old",
        "+new",
    ]
    assert path.read_text() == f"mine\n{BEGIN}\nold\n{END}\n"


def test_a_new_file_is_made(tmp_path: Path) -> None:
    edit = plan_block(tmp_path / "new.md", "rules")
    assert edit.diff.startswith("--- /dev/null")
    edit.write()
    assert (tmp_path / "new.md").read_text() == f"{BEGIN}\nrules\n{END}\n"


@pytest.mark.parametrize("text", [BEGIN, END, f"{END}\n{BEGIN}", f"{BEGIN}{BEGIN}{END}", f"{BEGIN}{END}\n{BEGIN}{END}"])
def test_marks_that_are_not_one_pair_are_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "AGENTS.md"
    path.write_text(text)
    with pytest.raises(UsageError, match="leave one pair"):
        plan_block(path, "rules")
    assert path.read_text() == text


def test_a_file_that_changed_since_the_diff_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "AGENTS.md"
    path.write_text("mine\n")
    edit = plan_block(path, "rules")
    path.write_text("mine, and more\n")
    with pytest.raises(UsageError, match="has changed meanwhile"):
        edit.write()
    assert path.read_text() == "mine, and more\n"


def test_what_is_no_text_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "picture.png"
    path.write_bytes(b"\x89PNG\xff")
    with pytest.raises(UsageError, match="no UTF-8 text"):
        plan_block(path, "rules")
    with pytest.raises(UsageError, match="cannot be read"):
        plan_block(tmp_path, "rules")


def test_a_text_with_a_mark_in_it_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="holds a mark itself"):
        plan_block(tmp_path / "x.md", f"a {END} b")
