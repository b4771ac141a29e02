"""What became of a workspace: which protected files were touched, whatever the trick."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from resit.core.agents.workspace import is_protected, touched
from resit.core.folders import copy_tree, read_tree

PROTECT = ("tests/**", "conftest.py", "data/*.csv")


@pytest.fixture
def before(tmp_path: Path) -> Path:
    folder = tmp_path / "before"
    for name in ("solve.py", "tests/test_one.py", "tests/deep/test_two.py", "data/in.csv", "data/note.txt"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(f"# {name}\n")
    (folder / "tests" / "run.sh").write_text("#!/bin/sh\n")
    (folder / "tests" / "run.sh").chmod(0o755)
    return folder


@pytest.fixture
def after(before: Path, tmp_path: Path) -> Path:
    folder = tmp_path / "after"
    folder.mkdir()
    copy_tree(before, folder, read_tree(before))
    return folder


def found(before: Path, after: Path) -> tuple[str, ...]:
    return touched(read_tree(before), read_tree(after, pry=True), PROTECT)


def test_work_beside_protected_files_touches_none(before: Path, after: Path) -> None:
    (after / "solve.py").write_text("solved")
    (after / "new.py").write_text("new")
    (after / "data" / "out.json").write_text("{}")
    (after / "tests" / "__pycache__").mkdir()
    (after / "tests" / "__pycache__" / "test_one.cpython-311.pyc").write_text("compiled")
    assert found(before, after) == ()


def _change(path: Path) -> None:
    path.write_text("# weaker\n")


def _same_length(path: Path) -> None:
    before = path.stat()
    path.write_text(path.read_text().replace("one", "two"))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def _link(path: Path) -> None:
    path.unlink()
    path.symlink_to("../solve.py")


def _pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def _folder(path: Path) -> None:
    path.unlink()
    path.mkdir()
    (path / "x").touch()


@pytest.mark.parametrize(
    ("trick", "said"),
    [
        (_change, "tests/test_one.py changed"),
        (_same_length, "tests/test_one.py changed"),
        (Path.unlink, "tests/test_one.py removed"),
        (_link, "tests/test_one.py replaced by a link"),
        (_pipe, "tests/test_one.py replaced: no ordinary file"),
        (_folder, "tests/test_one.py removed"),
        (lambda path: path.chmod(0), "tests/test_one.py permissions changed"),
        (lambda path: path.chmod(0o755), "tests/test_one.py permissions changed"),
        (lambda path: path.rename(path.with_name("Test_One.py")), "tests/test_one.py removed"),
        (lambda path: (path.parent / "test_more.py").touch(), "tests/test_more.py added"),
        (lambda path: path.with_name("\n[red]").touch(), "tests/\n[red] added"),
    ],
)
def test_every_trick_with_a_protected_file_is_named(
    before: Path, after: Path, trick: Callable[[Path], object], said: str
) -> None:
    trick(after / "tests" / "test_one.py")
    assert said in found(before, after)


def test_a_hard_link_to_other_content_is_a_change(before: Path, after: Path) -> None:
    (after / "tests" / "test_one.py").unlink()
    os.link(after / "solve.py", after / "tests" / "test_one.py")
    assert found(before, after) == ("tests/test_one.py changed",)


def test_a_folder_swapped_for_a_link_takes_its_protected_files_along(before: Path, after: Path) -> None:
    (after / "tests").rename(after / "elsewhere")
    (after / "tests").symlink_to("elsewhere")
    assert found(before, after) == (
        "tests/deep/test_two.py removed", "tests/run.sh removed", "tests/test_one.py removed",
    )  # fmt: skip


@pytest.mark.parametrize("name", ["conftest.py", "Conftest.py", "TESTS/test_one.py", "data/IN.CSV", "data/more.csv"])
def test_nothing_is_added_where_nothing_may_be_not_even_in_other_case(before: Path, after: Path, name: str) -> None:
    (after / name).parent.mkdir(exist_ok=True)
    (after / name).write_text("planted")
    assert f"{name} added" in found(before, after)


@pytest.mark.parametrize(
    ("pattern", "name", "expected"),
    [
        ("tests", "tests/a/b.py", True),
        ("tests/", "tests/a.py", True),
        ("./tests/**", "tests/a.py", True),
        ("tests/*", "tests/a/b.py", True),
        ("tests/*.py", "tests/a.txt", False),
        ("tests/*.py", "tests/a/b.py", False),
        ("**/test_*.py", "test_a.py", True),
        ("**/test_*.py", "x/y/test_a.py", True),
        ("**/test_*.py", "x/y/a_test_b.py", False),
        ("a?c", "abc", True),
        ("a?c", "a/c", False),
        ("a[b]c", "a[b]c", True),
        ("a.c", "abc", False),
        ("caf\u00e9", "cafe\u0301", True),
    ],
)
def test_a_pattern_means_what_it_says(pattern: str, name: str, expected: bool) -> None:
    assert is_protected(name, [pattern]) is expected
