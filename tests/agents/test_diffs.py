"""What an agent changed, as a diff, and the same change made again from it."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from resit.core.agents.diffs import MAX_DIFF_CHARS, Unusable, change_again, count_changes, diff
from resit.core.folders import copy_tree, digest_tree, read_tree


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


def changes(before: Path, after: Path) -> str:
    return diff(before, read_tree(before), after, read_tree(after, pry=True))


def test_the_diff_shows_what_was_changed_added_and_removed(before: Path, after: Path) -> None:
    (after / "solve.py").write_text("# solve.py\nsolved = True\n")
    (after / "new.py").write_text("new\n")
    (after / "data" / "note.txt").unlink()
    assert changes(before, after).splitlines() == [
        "--- a/data/note.txt", "+++ /dev/null", "@@ -1,1 +0,0 @@", "-# data/note.txt",
        "--- /dev/null", "+++ b/new.py", "@@ -0,0 +1,1 @@", "+new",
        "--- a/solve.py", "+++ b/solve.py", "@@ -1,1 +1,2 @@", " # solve.py", "+solved = True",
    ]  # fmt: skip


def test_the_diff_has_the_right_lines_around_a_change_deep_in_a_file(before: Path, after: Path) -> None:
    lines = [f"line {n}" for n in range(1, 1001)]
    (before / "solve.py").write_text("\n".join(lines))
    lines[499] = "changed"
    (after / "solve.py").write_text("\n".join(lines))
    assert changes(before, after).splitlines()[2:] == [
        "@@ -497,7 +497,7 @@", " line 497", " line 498", " line 499", "-line 500", "+changed",
        " line 501", " line 502", " line 503",
    ]  # fmt: skip


def test_what_is_no_text_is_told_in_words(before: Path, after: Path) -> None:
    (after / "solve.py").write_bytes(b"\x00\x01")
    (after / "big.txt").write_text("x" * 1_500_000)
    (after / "link").symlink_to("/etc/passwd")
    said = changes(before, after)
    assert "+a file of 2 bytes that is no text" in said
    assert "+a file of 1,500,000 bytes" in said
    assert "+a link to /etc/passwd" in said


def test_a_diff_without_end_is_cut_and_says_so(before: Path, after: Path) -> None:
    for number in range(10):
        (after / f"more{number}.txt").write_text("line\n" * 10_000)
    said = changes(before, after)
    assert len(said) < MAX_DIFF_CHARS + 200
    assert said.splitlines()[-1] == "… 7 more changed files are not shown"


def test_lines_made_to_be_slow_to_match_are_not_matched(before: Path, after: Path) -> None:
    (before / "solve.py").write_text("".join(f"{n % 150}\n" for n in range(20_000)))
    (after / "solve.py").write_text("".join(f"{n * 7 % 150}\n" for n in range(20_000)))
    said = changes(before, after)
    assert said.count("@@ ") == 1
    assert "-149" in said


def made_again(before: Path, after: Path, tmp_path: Path) -> bool:
    """Whether the diff leads from one folder to the other."""
    again = tmp_path / "again"
    again.mkdir()
    copy_tree(before, again, read_tree(before))
    change_again(again, changes(before, after))
    return digest_tree(again) == digest_tree(after)


def test_a_change_can_be_made_again_from_its_diff(before: Path, after: Path, tmp_path: Path) -> None:
    (after / "solve.py").write_text("one\ntwo\n\nthree")
    (after / "new" / "deep").mkdir(parents=True)
    (after / "new" / "deep" / "é ü.py").write_text("--- a/x\n+++ b/x\n@@ -1,1 +1,1 @@\n")
    (after / "empty.py").touch()
    (after / 'odd "name"\n.py').write_text("x\r\ny\x0cz\u2028")
    (after / "data" / "note.txt").unlink()
    assert made_again(before, after, tmp_path)


@settings(max_examples=150, deadline=None)
@given(st.lists(st.sampled_from("ab\n\r-+ @\\"), max_size=40), st.lists(st.sampled_from("ab\n\r-+ @\\"), max_size=40))
def test_any_text_can_be_made_again_from_its_diff(one: list[str], two: list[str]) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for place, text in (("before", one), ("after", two)):
            (folder / place).mkdir()
            (folder / place / "file").write_text("".join(text), newline="")
        assert made_again(folder / "before", folder / "after", folder)


def test_a_long_change_can_be_made_again(before: Path, after: Path, tmp_path: Path) -> None:
    lines = [f"line {n}" for n in range(3000)]
    (before / "solve.py").write_text("\n".join(lines))
    for n in (0, 7, 1500, 2999):
        lines[n] = "changed"
    (after / "solve.py").write_text("\n".join([*lines[:200], "added", *lines[200:]]))
    assert made_again(before, after, tmp_path)


@pytest.mark.parametrize("what", ["link", "no text", "too large", "executable"])
def test_what_is_told_in_words_cannot_be_made_again(before: Path, after: Path, tmp_path: Path, what: str) -> None:
    match what:
        case "link":
            (after / "link").symlink_to("solve.py")
        case "no text":
            (after / "solve.py").write_bytes(b"\xff\x00")
        case "too large":
            (after / "solve.py").write_text("x" * 2_000_000)
        case _:
            (after / "solve.py").chmod(0o755)
    with pytest.raises(Unusable):
        made_again(before, after, tmp_path)


@pytest.mark.parametrize(
    "text",
    [
        "nonsense",
        "--- a/solve.py\n+++ b/solve.py\n@@ -1,1 +1,1 @@\n-# another\n+new",
        "--- a/solve.py\n+++ b/solve.py\n@@ -9,1 +9,1 @@\n-# solve.py\n+new",
        "--- /dev/null\n+++ b/../outside\n@@ -0,0 +1,1 @@\n+planted",
        "--- /dev/null\n+++ b//etc/outside\n@@ -0,0 +1,1 @@\n+planted",
        "--- /dev/null\n+++ /dev/null\n",
        "--- a/solve.py",
        "… 3 more changed files are not shown",
    ],
)
def test_a_diff_that_does_not_fit_changes_nothing_outside(before: Path, tmp_path: Path, text: str) -> None:
    kept = digest_tree(before)
    with pytest.raises(Unusable):
        change_again(before, text)
    assert digest_tree(before) == kept
    assert not (tmp_path / "outside").exists()


def test_changed_lines_are_counted_by_file_whatever_they_say(before: Path, after: Path) -> None:
    (before / "solve.py").write_text("-- a/x\nkept\n")
    (after / "solve.py").write_text("kept\n++ b/x\nlast")
    (after / "new.py").write_text("one\ntwo\n")
    (after / "data" / "note.txt").unlink()
    (after / "link").symlink_to("solve.py")
    assert count_changes(changes(before, after)) == [
        ("data/note.txt", 0, 1), ("link", 0, 0), ("new.py", 2, 0), ("solve.py", 2, 1),
    ]  # fmt: skip
    assert count_changes("") == []
    assert count_changes('--- "broken\n+++ b/x\n@@ -1,9 +1,9 @@\n+') == [("x", 1, 0)]
