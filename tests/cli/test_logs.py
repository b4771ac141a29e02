"""`resit logs`."""

from __future__ import annotations

import json
import os
import shutil
import socket
from pathlib import Path
from typing import NoReturn

import pytest

from resit.cli import main
from resit.core.paths import cache_dir, data_dir
from resit.plain import logs

FIXTURES = Path(__file__).parents[1] / "data" / "logs"


def found(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert main(["logs", str(FIXTURES), *words]) == 0
    return capsys.readouterr().out


def test_it_says_what_goes_to_which_model_at_what_cost(capsys: pytest.CaptureFixture[str]) -> None:
    out = found(capsys)
    assert "9 requests and 3 delegations to sub-agents" in out
    assert "at least $0.0169 (no price for fake-large)" in out
    assert "genai-prices 0.2.3 (10 Nov 2026)" in out
    assert "25.0% set no effort (3 of 12)" in out
    rows = {line.split("  ")[0]: line.split() for line in out.splitlines() if line}
    assert rows["claude-sonnet-5-5"][1:] == ["4", "0", "$0.00660", "1,729", "0", "314", "0"]
    assert rows["fake-large"][3] == "unknown"
    assert rows["no level set"][3:5] == ["1", "2"]
    assert "Most asked of claude-opus-5-5, the dearest model in use" in out


def test_every_line_of_its_tables_has_room_in_80_columns(capsys: pytest.CaptureFixture[str]) -> None:
    for by in ("model", "effort", "day"):
        assert max(len(line) for line in found(capsys, "--by", by).splitlines()) <= 80


@pytest.mark.parametrize("by", ["model", "effort", "kind", "day"])
def test_one_table_alone_can_be_asked_for(by: str, capsys: pytest.CaptureFixture[str]) -> None:
    heads = [line.split()[0] for line in found(capsys, "--by", by).splitlines() if "agents" in line.split()[:3]]
    assert heads == [by]


def test_json_is_one_object_with_all_of_it(capsys: pytest.CaptureFixture[str]) -> None:
    held = json.loads(found(capsys, "--json"))
    assert held["total"]["requests"] == 9
    assert held["total"]["cost_usd"] == "0.0168890"
    assert held["total"]["at_least"] is True
    assert held["total"]["unpriced"] == ["fake-large"]
    fake = next(each for each in held["by_model"] if each["name"] == "fake-large")
    assert (fake["cost_usd"], fake["requests"]) == (None, 2)
    assert held["no_effort_share"] == 0.25
    assert held["skipped"]["unanswered"] == 1
    assert {each["model"] for each in held["candidates"]} == {"claude-opus-5-5"}
    for name in ("by_effort", "by_kind", "by_day", "prices", "sources", "files", "since", "until", "dearest"):
        assert name in held
        assert f"{name} " in (logs.__doc__ or "").replace("\n", " ")


def test_a_range_of_days_is_kept_to(capsys: pytest.CaptureFixture[str]) -> None:
    assert json.loads(found(capsys, "--until", "2026-11-28", "--json"))["total"]["requests"] == 0
    day = json.loads(found(capsys, "--since", "2026-11-28", "--until", "2026-11-30", "--json"))
    assert day["total"]["requests"] == 9
    assert main(["logs", str(FIXTURES), "--since", "soon"]) == 2
    assert "such as 30d" in capsys.readouterr().err


def test_where_nothing_is_found_it_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert main(["logs", str(tmp_path)]) == 0
    assert "no request was found in 0 files" in capsys.readouterr().out
    monkeypatch.setenv("HOME", str(tmp_path))
    assert main(["logs"]) == 0
    assert "no logs were found" in capsys.readouterr().out


def test_without_a_path_the_agents_own_folders_are_read(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    shutil.copytree(FIXTURES / "claude", tmp_path / ".claude")
    monkeypatch.setenv("CODEX_HOME", str(FIXTURES / "codex"))
    assert main(["logs", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["total"]["requests"] == 8


def test_what_could_not_be_read_is_said_on_standard_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "gone.jsonl").symlink_to(tmp_path / "nowhere")
    (tmp_path / "s.jsonl").write_text('{"prompt": "Fix it", "reply": "ok"}\n{"torn\n{"note": 1}\n')
    assert main(["logs", str(tmp_path)]) == 0
    err = capsys.readouterr().err
    assert "gone.jsonl was not read: No such file or directory" in err
    assert "1 line of the logs cannot be read and are in no sum" not in err
    assert "1 line of the logs cannot be read and is in no sum" in err
    assert "no prompt (1)" in err


def test_nothing_in_a_log_reaches_the_terminal_as_it_came(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    evil = "claude\x1b[31m\u202e\n[bold]x[/bold]"
    row = {"prompt": f"review {evil}", "reply": "ok", "model": evil, "effort": evil, "usage": {"input_tokens": 5}}
    odd = {"sessionId": "s", "type": f"odd{evil}"}
    (tmp_path / "s.jsonl").write_text(json.dumps(row) + "\n")
    (tmp_path / "t.jsonl").write_text(json.dumps(odd) + "\n")
    assert main(["logs", str(tmp_path)]) == 0
    out, err = capsys.readouterr()
    assert "\x1b" not in out + err
    assert "\u202e" not in out + err
    assert "[bold]x[/bold]" in out


def test_no_network_is_touched_and_nothing_is_written_but_the_cache(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def refuse(*_: object, **__: object) -> NoReturn:
        raise AssertionError("a connection was opened")

    for name in ("connect", "connect_ex", "sendto", "bind"):
        monkeypatch.setattr(socket.socket, name, refuse, raising=False)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    copied = tmp_path / "logs"
    shutil.copytree(FIXTURES, copied)
    before = _state(copied)
    assert main(["logs", str(copied), "--json"]) == 0
    assert _state(copied) == before
    kept = [path for path in data_dir().rglob("*") if path.is_file()]
    assert kept == [cache_dir() / "logs.sqlite3"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["logs"]


def _state(folder: Path) -> list[tuple[str, int, int]]:
    return sorted((str(p), os.stat(p).st_size, os.stat(p).st_mtime_ns) for p in folder.rglob("*"))


def test_a_word_with_a_handler_takes_the_rest_of_the_line(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[list[str]] = []

    def handle(words: object) -> int:
        assert isinstance(words, list)
        seen.append(words)
        return 3

    monkeypatch.setitem(logs.HANDLERS, "prompt", handle)
    assert main(["logs", "prompt", "-x", "--any", "thing"]) == 3
    assert seen == [["-x", "--any", "thing"]]
