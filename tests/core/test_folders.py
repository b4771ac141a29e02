"""Folders that a stranger may have filled: read in bounds, copied through no link, removed whatever is in them."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from resit.core.folders import (
    Bounds,
    TooMuch,
    copy_tree,
    digest_tree,
    leads_inside,
    make_way,
    read_left,
    read_tree,
    remove_tree,
)


def fill(folder: Path, **files: str) -> Path:
    for name, text in files.items():
        path = folder / name.replace("__", "/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


def test_the_same_content_has_the_same_fingerprint_anywhere(tmp_path: Path) -> None:
    one, two = fill(tmp_path / "one", a="1", b__c="2"), fill(tmp_path / "two", b__c="2", a="1")
    assert digest_tree(one) == digest_tree(two)


@pytest.mark.parametrize("change", ["content", "name", "added", "removed", "executable", "link"])
def test_every_change_shows_in_the_fingerprint(tmp_path: Path, change: str) -> None:
    folder = fill(tmp_path, a="1", b__c="2")
    before = digest_tree(folder)
    match change:
        case "content":
            (folder / "b" / "c").write_text("3")
        case "name":
            (folder / "a").rename(folder / "A")
        case "added":
            (folder / "b" / "d").touch()
        case "removed":
            (folder / "a").unlink()
        case "executable":
            (folder / "a").chmod(0o755)
        case _:
            (folder / "a").unlink()
            (folder / "a").symlink_to("b/c")
    assert digest_tree(folder) != before


def test_what_tools_leave_behind_changes_nothing(tmp_path: Path) -> None:
    folder = fill(tmp_path, a="1")
    before = digest_tree(folder)
    for name in ("__pycache__/a.cpython-311.pyc", "b/.pytest_cache/x", "a.pyc", ".DS_Store", ".resit-canary-1"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).touch()
    assert digest_tree(folder) == before


def test_a_folder_that_is_too_large_is_refused(tmp_path: Path) -> None:
    fill(tmp_path, a="1", b="2", c="3")
    with pytest.raises(TooMuch, match="more than 2 files"):
        read_tree(tmp_path, Bounds(files=2))
    with open(tmp_path / "hole", "wb") as file:
        file.truncate(10**12)  # takes no room on disk, and would take for ever to read
    with pytest.raises(TooMuch, match="more than 5 MB"):
        read_tree(tmp_path, Bounds(mb=5))


def test_pipes_sockets_and_depths_are_noted_and_not_entered(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(os.path.relpath(tmp_path / "socket"))
    deep = tmp_path / "/".join(["d"] * 70)
    deep.mkdir(parents=True)
    found = read_tree(tmp_path, pry=True)
    assert {name[:6]: entry.kind for name, entry in found.items()} == {"pipe": "odd", "socket": "odd", "d/d/d/": "odd"}


def test_what_is_locked_in_a_folder_of_ours_is_read_and_its_permissions_are_noted(tmp_path: Path) -> None:
    folder = fill(tmp_path, a="1", b__c="2")
    (folder / "a").chmod(0)
    (folder / "b").chmod(0)
    found = read_tree(folder, pry=True)
    assert found["a"].mode == 0
    assert (found["a"].kind, found["b/c"].kind) == ("file", "file")


def test_a_copy_writes_through_no_link(tmp_path: Path) -> None:
    elsewhere = fill(tmp_path / "elsewhere", kept="as it was")
    source = fill(tmp_path / "source", tests__t="hidden", top="hidden", d__e="hidden")
    target = fill(tmp_path / "target", d="a file where a folder goes")
    (target / "tests").symlink_to(elsewhere)
    (target / "top").symlink_to(elsewhere / "kept")
    copy_tree(source, target, read_tree(source))
    assert read_tree(target) == read_tree(source)
    assert {path.name: path.read_text() for path in elsewhere.iterdir()} == {"kept": "as it was"}


def test_a_copy_leaves_out_links_that_lead_away(tmp_path: Path) -> None:
    source, target = fill(tmp_path / "source", a="1", b__c="2"), tmp_path / "target"
    target.mkdir()
    for name, leads in {"in": "b/c", "up": "../x", "away": "/etc/passwd", "b/back": "../a", "b/out": "../../a"}.items():
        (source / name).symlink_to(leads)
    copy_tree(source, target, read_tree(source))
    assert set(read_tree(target)) == {"a", "b/c", "b/back", "in"}


@pytest.mark.parametrize(
    ("name", "target", "inside"),
    [
        ("a", "b", True),
        ("a/b", "../c", True),
        ("a/b", "../../c", False),
        ("a", "b/../../c", False),
        ("a", "/b", False),
        ("a", "..", False),
        ("a", "", False),
        ("a", "./b/./c", True),
    ],
)
def test_where_a_link_leads_is_told_from_its_text(name: str, target: str, inside: bool) -> None:
    assert leads_inside(name, target) is inside


def test_a_folder_in_the_way_of_a_file_is_removed_with_all_in_it(tmp_path: Path) -> None:
    fill(tmp_path, a__b__c="1")
    assert make_way(tmp_path, "a") == tmp_path / "a"
    assert not (tmp_path / "a").exists()


def test_anything_can_be_removed(tmp_path: Path) -> None:
    folder = fill(tmp_path / "folder", a__b="1")
    os.mkfifo(folder / "pipe")
    (folder / "link").symlink_to(tmp_path)
    (folder / os.fsdecode(b"\xff\n'\"")).touch()
    inner = folder
    for _ in range(400):  # deeper than a path may be long
        os.mkdir(inner / ("d" * 20))
        os.chdir(inner)
        inner = Path("d" * 20)
    os.chdir(tmp_path)
    (folder / "a").chmod(0)
    folder.chmod(0o500)
    (tmp_path / "beside").touch()
    remove_tree(folder)
    assert [path.name for path in tmp_path.iterdir()] == ["beside"]


def test_a_file_that_was_left_is_read_only_when_it_is_one(tmp_path: Path) -> None:
    folder = fill(tmp_path / "left", answer="408" * 10, inner__answer="17")
    secret = fill(tmp_path / "kept", answer="the key")
    (folder / "link").symlink_to(secret / "answer")
    (folder / "away").symlink_to(secret)
    os.mkfifo(folder / "pipe")
    assert read_left(folder, "answer", 3) == b"408"
    assert read_left(folder, "inner/answer", 99) == b"17"
    for name in ("link", "away/answer", "pipe", "inner", "none", "../kept/answer", str(secret / "answer")):
        assert read_left(folder, name, 99) is None, name
