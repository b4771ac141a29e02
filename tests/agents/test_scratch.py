"""The folders of a run: fresh, outside every suite, holding what the question gives and nothing else."""

from __future__ import annotations

import os
import tempfile
import time
from pathlib import Path

import pytest
from code_kit import begin, code_suite, request_for

from resit.core.agents.areas import hidden_areas, suite_area
from resit.core.agents.scratch import PREFIX, prepare
from resit.core.errors import ResitError
from resit.core.folders import digest_tree
from resit.core.paths import cache_dir, config_dir, data_dir
from resit.core.records import Request
from resit.core.suite import Suite

PLAIN = Request("command", "agent", "?", None, 1, None, "default", "command:agent")


@pytest.fixture
def suite(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Suite:
    return code_suite(tmp_path / "suite", monkeypatch)


def test_every_run_has_a_folder_of_its_own_that_is_gone_afterwards(suite: Suite) -> None:
    with begin(suite) as one, begin(suite) as two:
        assert one.root != two.root
        assert one.root.name.startswith(PREFIX)
        assert one.root.stat().st_mode & 0o077 == 0
        assert suite.path is not None
        assert suite.path.parent not in one.root.parents
    assert not one.root.exists()
    assert not two.root.exists()


def test_a_question_without_a_workspace_finds_its_files_and_nothing_else() -> None:
    request = Request(**{name: getattr(PLAIN, name) for name in PLAIN.__slots__} | {
        "files": (("data/in.csv", "a\r\nb\n"), ("note.txt", "é")),
    })  # fmt: skip
    with prepare(request) as scratch:
        found = {str(p.relative_to(scratch.work)): p for p in scratch.work.rglob("*") if p.is_file()}
        assert set(found) == {"data/in.csv", "note.txt"}
        assert found["data/in.csv"].read_bytes() == b"a\r\nb\n"
        assert not scratch.writable
        assert all(path.stat().st_mode & 0o222 == 0 for path in (scratch.work, *scratch.work.rglob("*")))
        assert list(scratch.home.iterdir()) == []
    assert not scratch.root.exists()


@pytest.mark.parametrize("name", ["../up", "/etc/new", "a/../../up"])
def test_no_file_is_written_outside_of_the_folder(name: str) -> None:
    request = Request(**{name_: getattr(PLAIN, name_) for name_ in PLAIN.__slots__} | {"files": ((name, "x"),)})
    with pytest.raises(ResitError, match="outside"):
        prepare(request)


def test_a_workspace_is_copied_and_the_suites_own_is_left_alone(suite: Suite) -> None:
    assert suite.path is not None
    given = suite.path.parent / "given"
    before = digest_tree(given)
    with begin(suite) as scratch:
        assert digest_tree(scratch.work) == before == digest_tree(scratch.before)
        assert scratch.writable
        (scratch.work / "calc.py").write_text("changed")
    assert digest_tree(given) == before


def test_files_beside_a_workspace_are_given_and_no_change_of_the_agents(suite: Suite) -> None:
    asked = request_for(suite)
    request = Request(**{name: getattr(asked, name) for name in asked.__slots__} | {"files": (("in/a.csv", "1"),)})
    with prepare(request) as scratch:
        assert (scratch.work / "in" / "a.csv").read_text() == "1"
        assert digest_tree(scratch.work) == digest_tree(scratch.before) == scratch.given != asked.workspace_digest


def test_a_workspace_that_changed_since_the_round_was_planned_is_not_asked(suite: Suite) -> None:
    assert suite.path is not None
    request = request_for(suite)
    (suite.path.parent / "given" / "calc.py").write_text("changed\n")
    with pytest.raises(ResitError, match="changed after the round was planned: start the round again"):
        prepare(request)
    assert not list(Path(tempfile.gettempdir()).glob(f"{PREFIX}{os.getpid()}-*"))


def test_only_the_named_files_of_the_home_are_lent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    person = tmp_path / "person"
    for name in (".agent/login.json", ".agent/history.jsonl", ".ssh/id", "tokens/a"):
        (person / name).parent.mkdir(parents=True, exist_ok=True)
        (person / name).write_text(name)
    (tmp_path / "other").write_text("x")
    monkeypatch.setenv("HOME", str(person))
    lent = [person / ".agent" / "login.json", person / "tokens", person / "missing", tmp_path / "other"]
    with prepare(PLAIN, sign_in=lent) as scratch:
        found = {str(p.relative_to(scratch.home)) for p in scratch.home.rglob("*") if p.is_file()}
        assert found == {".agent/login.json", "tokens/a"}
        assert (scratch.home / ".agent" / "login.json").stat().st_mode & 0o077 == 0


def test_a_suite_among_temporary_files_moves_the_run_elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with prepare(PLAIN, outside=[tmp_path]) as scratch:
        assert tmp_path not in scratch.root.parents
    with pytest.raises(ResitError, match="set TMPDIR"):
        prepare(PLAIN, outside=[tmp_path, Path("/var/tmp")])


def test_what_a_killed_process_left_is_removed_by_a_later_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    gone, lives, fresh = (tmp_path / f"{PREFIX}{name}-x" for name in (2**22 + 1, os.getppid(), 2**22 + 2))
    for folder in (gone, lives, fresh):
        (folder / "work").mkdir(parents=True)
    two_days_ago = time.time() - 48 * 3600
    for folder in (gone, lives):
        os.utime(folder, (two_days_ago, two_days_ago))
    prepare(PLAIN).remove()
    assert sorted(tmp_path.iterdir()) == sorted([lives, fresh])


def test_all_that_could_tell_an_answer_is_hidden(suite: Suite, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert suite.path is not None
    for folder in (data_dir(), config_dir(), cache_dir()):
        folder.mkdir(parents=True, exist_ok=True)
    (tmp_path / ".env").write_text("KEY=1")
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)
    (tmp_path / "codex").mkdir()
    monkeypatch.setenv("CODEX_HOME", str(tmp_path / "codex"))
    found = hidden_areas(suite, cwd=inner)
    expected = {suite.path.parent, data_dir(), config_dir(), cache_dir(), tmp_path / ".env"}
    assert {path.resolve() for path in (*expected, tmp_path / "codex")} <= set(found)


def test_of_a_suite_in_a_folder_that_everything_needs_only_its_own_files_are_hidden(
    suite: Suite, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert suite.path is not None
    folder = suite.path.parent.resolve()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    found = suite_area(suite, suite.path)
    assert folder not in found
    assert {folder / "code.toml", folder / "given", folder / "kept"} <= set(found)
