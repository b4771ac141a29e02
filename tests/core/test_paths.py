from __future__ import annotations

import os
from pathlib import Path

import pytest

from resit.core import paths


def test_resit_home_moves_all_that_resit_keeps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RESIT_HOME", str(tmp_path / "home"))
    folders = (paths.data_dir(), paths.config_dir(), paths.cache_dir(), paths.rounds_dir())
    assert all(folder.is_relative_to(tmp_path / "home") for folder in folders)


def test_without_it_the_systems_own_folders_are_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("RESIT_HOME")
    assert paths.data_dir().name == paths.config_dir().name == paths.cache_dir().name == "resit"
    assert paths.rounds_dir() == paths.data_dir() / "rounds"


@pytest.mark.parametrize("sync", [True, False])
def test_a_file_is_written_whole_and_nothing_else_stays(tmp_path: Path, sync: bool) -> None:
    path = tmp_path / "new" / "a.json"
    paths.atomic_write(path, b"one", sync=sync)
    paths.atomic_write(path, b"two", sync=sync)
    assert path.read_bytes() == b"two"
    assert [p.name for p in path.parent.iterdir()] == ["a.json"]


def test_a_write_that_fails_leaves_what_was_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.json"
    path.write_bytes(b"before")

    def no_room(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", no_room)
    with pytest.raises(OSError, match="No space"):
        paths.atomic_write(path, b"after")
    assert path.read_bytes() == b"before"
    assert [p.name for p in tmp_path.iterdir()] == ["a.json"]


def test_a_link_is_followed_and_permissions_are_kept(tmp_path: Path) -> None:
    real = tmp_path / "real.toml"
    real.write_text("before")
    real.chmod(0o640)
    link = tmp_path / "link.toml"
    link.symlink_to(real)
    paths.atomic_write(link, b"after")
    assert link.is_symlink()
    assert real.read_text() == "after"
    assert real.stat().st_mode & 0o777 == 0o640


def test_a_name_as_long_as_a_name_may_be_can_be_written(tmp_path: Path) -> None:
    path = tmp_path / ("n" * 255)
    paths.atomic_write(path, b"x")
    assert path.read_bytes() == b"x"
