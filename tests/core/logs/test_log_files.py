"""Files as they really lie about: torn, huge, linked in rings, locked, growing; and the cache of what was read."""

from __future__ import annotations

import json
import os
import shutil
import stat
import tempfile
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from log_kit import FIXTURES, START, reply, scanned, user, write

from resit.core.logs import cache, lines
from resit.core.logs.records import LogIndex, ScanProgress
from resit.core.logs.sources import default_sources, find_logs
from resit.core.logs.texts import read_texts
from resit.core.paths import cache_dir

SESSION = [user("Fix it"), reply("m1", "done")]
LATER = [user("Now test it", 20), reply("m2", "passes", number=21)]


def as_bytes(rows: list[dict[str, object]]) -> bytes:
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)


def asked(index: LogIndex) -> list[str]:
    return [request.first_line for request in index.requests]


# ---- odd files -------------------------------------------------------------------------------------------------------


def test_torn_lines_are_counted_and_the_rest_is_read(tmp_path: Path) -> None:
    data = as_bytes(SESSION)
    (tmp_path / "s.jsonl").write_bytes(data[:200] + b"\n\x00\x00\x00\n" + data + b'{"type":"user","mess\n')
    index = scanned(tmp_path)
    assert (asked(index), index.damaged_lines) == (["Fix it"], 3)


def test_a_last_line_that_is_only_half_written_is_not_damaged(tmp_path: Path) -> None:
    (tmp_path / "s.jsonl").write_bytes(as_bytes(SESSION) + as_bytes(LATER)[:90])
    index = scanned(tmp_path)
    assert (asked(index), index.damaged_lines) == (["Fix it"], 0)


def test_a_last_line_without_an_end_is_read_when_it_is_whole(tmp_path: Path) -> None:
    (tmp_path / "s.jsonl").write_bytes(as_bytes(SESSION).rstrip(b"\n"))
    assert asked(scanned(tmp_path)) == ["Fix it"]


def test_a_huge_line_is_passed_over_and_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines, "MAX_LINE", 100_000)
    huge = json.dumps(user("x" * 3_000_000)).encode() + b"\n"
    (tmp_path / "s.jsonl").write_bytes(huge + as_bytes(SESSION))
    index = scanned(tmp_path)
    assert (asked(index), index.long_lines, index.damaged_lines) == (["Fix it"], 1, 0)
    assert read_texts(index.requests[0]).reply == "done"


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-be", "utf-32", "cp1252"])
def test_a_log_in_another_encoding_is_read(encoding: str, tmp_path: Path) -> None:
    rows = [user("Prüfe die Größe"), reply("m1", "größer"), *LATER]
    text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    mark = b"\xfe\xff" if encoding == "utf-16-be" else b""
    (tmp_path / "s.jsonl").write_bytes(mark + text.encode(encoding))
    index = scanned(tmp_path)
    assert (asked(index), index.damaged_lines) == (["Prüfe die Größe", "Now test it"], 0)
    assert [read_texts(request).reply for request in index.requests] == ["größer", "passes"]


def test_half_an_emoji_loses_no_request(tmp_path: Path) -> None:
    data = as_bytes([user("Fix it HERE"), reply("m1", "done")]).replace(b"HERE", b"\\ud83d")
    (tmp_path / "s.jsonl").write_bytes(data)
    assert asked(scanned(tmp_path)) == ["Fix it ?"]
    assert asked(scanned(tmp_path)) == ["Fix it ?"]


@pytest.mark.parametrize(
    "rows", [SESSION, [user("Fix it", uuid=None), SESSION[1]], [{"prompt": "Fix it", "reply": "ok"}]]
)
def test_a_log_whose_name_is_no_text_is_read_like_any_other(rows: list[dict[str, object]], tmp_path: Path) -> None:
    folder = os.fsencode(tmp_path) + b"/caf\xe9"
    os.mkdir(folder)
    for name in (b"a\xff.jsonl", b"agent-\xff.jsonl", b"session-\xfe.json"):
        with open(folder + b"/" + name, "wb") as file:
            file.write(as_bytes(rows))
    for _ in range(2):
        index = scanned(tmp_path)
        assert set(asked(index)) == {"Fix it"}
        assert all(read_texts(request).prompt == "Fix it" for request in index.requests)


def test_links_are_followed_and_a_ring_of_them_ends(tmp_path: Path) -> None:
    write(tmp_path / "real" / "deep" / "s.jsonl", SESSION)
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / "linked").symlink_to(tmp_path / "real")
    (tmp_path / "real" / "deep" / "up").symlink_to(tmp_path / "real")
    (tmp_path / "logs" / "again.jsonl").symlink_to(tmp_path / "real" / "deep" / "s.jsonl")
    index = scanned(tmp_path / "logs", tmp_path / "real")
    assert (asked(index), index.files) == (["Fix it"], 1)


def test_a_link_to_nowhere_is_named(tmp_path: Path) -> None:
    (tmp_path / "gone.jsonl").symlink_to(tmp_path / "nowhere")
    (unread,) = scanned(tmp_path).unread
    assert (Path(unread.path).name, unread.reason) == ("gone.jsonl", "No such file or directory")


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "s.jsonl")
    assert scanned(tmp_path).files == 0
    (unread,) = scanned(tmp_path / "s.jsonl").unread
    assert unread.reason == "neither a file nor a folder"


def test_what_may_not_be_read_is_named_and_the_rest_is_read() -> None:
    folder = Path(tempfile.mkdtemp())
    try:
        write(folder / "open.jsonl", SESSION)
        write(folder / "locked.jsonl", LATER).chmod(0)
        write(folder / "locked" / "s.jsonl", LATER)
        (folder / "locked").chmod(0)
        folder.chmod(0o755)
        reasons, found = _as_nobody(folder)
        assert found == ["Fix it"]
        assert reasons == {"locked.jsonl": "Permission denied", "locked": "Permission denied"}
    finally:
        (folder / "locked").chmod(0o700)
        shutil.rmtree(folder)


def _as_nobody(folder: Path) -> tuple[dict[str, str], list[str]]:
    """What a person without rights finds: nothing is locked for root, so that is given up in a process of its own."""
    scanned(FIXTURES)  # All that is imported late has to be there before.
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            if os.geteuid() == 0:
                os.setuid(65534)
            index = scanned(folder)
            said = [{Path(each.path).name: each.reason for each in index.unread}, asked(index)]
            os.write(writing, json.dumps(said).encode())
        finally:
            os._exit(0)
    os.close(writing)
    with open(reading, "rb") as file:
        said = json.loads(file.read())
    os.waitpid(child, 0)
    return said[0], said[1]


def test_only_logs_are_read_out_of_a_folder_but_a_named_file_is_always_one(tmp_path: Path) -> None:
    write(tmp_path / "package.json", [{"prompt": "no", "reply": "no"}])
    named = write(tmp_path / "notes.txt", [{"prompt": "Fix it", "reply": "ok"}])
    assert scanned(tmp_path).files == 0
    assert asked(scanned(named)) == ["Fix it"]


def test_the_agents_own_variables_say_where_their_logs_lie(tmp_path: Path) -> None:
    for folder in ("c/projects", "x/sessions", "g/.gemini/tmp", "home/.claude/projects", "home/.codex/sessions"):
        (tmp_path / folder).mkdir(parents=True)
    usual = default_sources({}, tmp_path / "home")
    assert [path.relative_to(tmp_path).as_posix() for path in usual] == [
        "home/.claude/projects",
        "home/.codex/sessions",
    ]
    moved = {"CLAUDE_CONFIG_DIR": tmp_path / "c", "CODEX_HOME": tmp_path / "x", "GEMINI_CLI_HOME": tmp_path / "g"}
    found = default_sources({name: str(path) for name, path in moved.items()}, tmp_path / "home")
    assert [path.relative_to(tmp_path).as_posix() for path in found] == ["c/projects", "x/sessions", "g/.gemini/tmp"]


def test_a_source_that_is_not_there_is_named(tmp_path: Path) -> None:
    files, unread = find_logs([tmp_path / "nothing"])
    assert (files, [each.reason for each in unread]) == ((), ["No such file or directory"])


# ---- a range of time and progress ------------------------------------------------------------------------------------


def test_only_a_range_of_time_is_found(tmp_path: Path) -> None:
    path = write(tmp_path / "s.jsonl", [*SESSION, *LATER])
    late = START + timedelta(seconds=20)
    assert asked(scanned(path, since=late)) == ["Now test it"]
    assert asked(scanned(path, until=late)) == ["Fix it"]


def test_a_file_that_was_not_touched_since_is_not_opened(tmp_path: Path) -> None:
    path = write(tmp_path / "s.jsonl", SESSION)
    old = (START - timedelta(days=90)).timestamp()
    os.utime(path, (old, old))
    assert scanned(path, since=START - timedelta(days=30)).files == 0


def test_progress_ends_with_all_and_what_it_raises_ends_the_scan(tmp_path: Path) -> None:
    for name in "ab":
        write(tmp_path / f"{name}.jsonl", SESSION)
    told: list[ScanProgress] = []
    scanned(tmp_path, progress=told.append)
    assert (told[-1].files, told[-1].bytes) == (2, told[-1].bytes_total)

    def stop(progress: ScanProgress) -> None:
        raise InterruptedError

    with pytest.raises(InterruptedError):
        scanned(tmp_path, progress=stop)


# ---- the cache -------------------------------------------------------------------------------------------------------


def _aged(path: Path) -> Path:
    """As if it had been written a minute ago: what is a moment old is looked at again."""
    past = path.stat().st_mtime - 60
    os.utime(path, (past, past))
    return path


def test_a_second_look_reads_nothing_and_finds_the_same(tmp_path: Path) -> None:
    shutil.copytree(FIXTURES, tmp_path / "logs")
    for path in (tmp_path / "logs").rglob("*"):
        _aged(path)
    first, second = scanned(tmp_path / "logs"), scanned(tmp_path / "logs")
    assert (first.files_cached, second.files_cached, second.bytes_read) == (0, first.files, 0)
    assert second.requests == first.requests
    assert second == replace(first, files_cached=first.files, bytes_read=0)


def test_of_a_log_that_has_grown_only_the_end_is_read_again(tmp_path: Path) -> None:
    rows = [row for n in range(50) for row in (user(f"Fix {n}", n), reply(f"m{n}", "ok" * 100, number=n))]
    path = write(tmp_path / "s.jsonl", rows)
    whole = scanned(path).bytes_read
    with path.open("ab") as file:
        file.write(as_bytes(LATER))
    grown = scanned(path)
    assert "Now test it" in asked(grown)
    assert len(grown.requests) == 51
    assert grown.bytes_read < whole / 10


FILES = sorted(path for path in FIXTURES.rglob("*.jsonl"))


@given(file=st.sampled_from(FILES), share=st.floats(0, 1))
@settings(max_examples=60, deadline=None)
def test_wherever_a_log_was_cut_reading_on_finds_what_one_look_would(file: Path, share: float) -> None:
    with tempfile.TemporaryDirectory() as folder:
        data = file.read_bytes()
        path = Path(folder) / file.name
        path.write_bytes(data[: int(len(data) * share)])
        scanned(path, cache=Path(folder) / "one.sqlite3")
        with path.open("ab") as more:
            more.write(data[int(len(data) * share) :])
        twice = scanned(path, cache=Path(folder) / "one.sqlite3")
        once = scanned(path, cache=Path(folder) / "other.sqlite3")
        assert replace(twice, bytes_read=once.bytes_read) == once


def test_a_log_that_was_replaced_is_read_anew(tmp_path: Path) -> None:
    path = write(tmp_path / "s.jsonl", [*SESSION, *LATER])
    scanned(path)
    with path.open("r+b") as file:
        file.write(as_bytes([user("Quite another session", uuid="u9"), *SESSION, *LATER, *LATER]))
    assert asked(scanned(path))[0] == "Fix it"
    assert len(scanned(path).requests) == len(scanned(path, cache=tmp_path / "new.sqlite3").requests)


def test_the_cache_is_for_its_owner_alone(tmp_path: Path) -> None:
    scanned(write(tmp_path / "s.jsonl", SESSION))
    found = list(cache_dir().iterdir())
    assert [path.name for path in found] == ["logs.sqlite3"]
    assert stat.S_IMODE(found[0].stat().st_mode) == 0o600


@pytest.mark.parametrize("damage", [b"", b"no database at all" * 100, b"SQLite format 3\x00" + b"\xff" * 5000])
def test_a_damaged_cache_is_begun_anew(damage: bytes, tmp_path: Path) -> None:
    path = _aged(write(tmp_path / "s.jsonl", SESSION))
    kept = tmp_path / "cache" / "logs.sqlite3"
    scanned(path, cache=kept)
    kept.write_bytes(damage)
    assert asked(scanned(path, cache=kept)) == ["Fix it"]
    assert scanned(path, cache=kept).files_cached == 1


def test_what_another_version_kept_is_read_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = _aged(write(tmp_path / "s.jsonl", SESSION))
    scanned(path)
    monkeypatch.setattr(cache, "FORMAT", cache.FORMAT + 1)
    assert scanned(path).files_cached == 0
    assert scanned(path).files_cached == 1


def test_a_cache_that_cannot_be_written_changes_nothing(tmp_path: Path) -> None:
    path = write(tmp_path / "s.jsonl", SESSION)
    (tmp_path / "no-folder").write_text("a file")
    assert asked(scanned(path, cache=tmp_path / "no-folder" / "logs.sqlite3")) == ["Fix it"]
