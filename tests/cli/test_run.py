"""`resit run`, `show`, `grade` and `watch` against a server on loopback."""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from served import KEY, TINY, serving, write_suite

from mock_server import Answer, Failure, MockServer
from resit.cli import main
from resit.core.config import ModelEntry, ModelsFile
from resit.core.errors import UsageError
from resit.core.paths import config_dir, data_dir
from resit.plain.run import parse_settings

ROW = [
    "question", "kind", "setting", "model", "effort", "variant", "run", "outcome", "score", "second_score", "reason",
    "failed", "reply", "seconds", "attempts", "input_tokens", "cache_write_tokens", "cache_read_tokens",
    "output_tokens", "thinking_tokens", "cost_usd", "turns", "verdict", "rule", "doubt",
]  # fmt: skip


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[MockServer]:
    with serving(monkeypatch) as running:
        yield running


@pytest.fixture
def suite(tmp_path: Path) -> str:
    return write_suite(tmp_path)


def as_json(capsys: pytest.CaptureFixture[str], *argv: str) -> tuple[int, dict[str, Any]]:
    capsys.readouterr()
    code = main([*argv, "--json"])
    out = capsys.readouterr().out
    assert out.count("\n") == 1
    return code, json.loads(out)


# --- settings


def labels(*models: str, variants: tuple[str, ...] = ()) -> list[str]:
    return [s.label for s in parse_settings(models, variants, ModelsFile())]


def test_models_efforts_and_wordings_multiply_and_each_setting_comes_once() -> None:
    assert labels("haiku@low,medium", "haiku@low", variants=("plain", "long")) == [
        "claude-haiku-5-5 low",
        "claude-haiku-5-5 low long",
        "claude-haiku-5-5 medium",
        "claude-haiku-5-5 medium long",
    ]


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("haiku", "claude-haiku-5-5 default"),
        ("sonnet@off", "claude-sonnet-5-5 default thinking off"),
        ("haiku@low+off", "claude-haiku-5-5 low thinking off"),
        ("haiku@default", "claude-haiku-5-5 default"),
        ("my@model@max", "my@model max"),
        ("qwen3:4b", "qwen3:4b default"),
    ],
)
def test_what_follows_the_last_at_sign_is_the_effort(text: str, label: str) -> None:
    assert labels(text) == [label]


@pytest.mark.parametrize("text", ["haiku@", "haiku@off+low", "haiku@low+", "haiku@low,,high", "haiku@ultra", "  "])
def test_an_effort_that_no_model_has_is_refused(text: str) -> None:
    with pytest.raises(UsageError):
        assert labels(text) == []


def test_the_provider_comes_from_models_toml() -> None:
    models_file = ModelsFile(models={"x": ModelEntry(provider="recorded")})
    assert parse_settings(["x"], [], models_file)[0].provider == "recorded"


# --- a round


def test_a_round_is_asked_kept_and_printed(server: MockServer, suite: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", suite, "-m", "haiku@low", "-n", "2", "--cap", "0.50"]) == 0
    out, err = capsys.readouterr()
    assert server.stats.requests == 6
    assert out.count("run 1") == out.count("run 2") == 3
    assert f"asked at {server.url} (from ANTHROPIC_BASE_URL)" in out
    assert re.search(r"claude-haiku-5-5 low +1/3 ", out)
    assert "asked at" in err
    assert "4 runs below full marks: resit show" in err


def test_the_second_run_of_a_finished_round_makes_no_call(
    server: MockServer, suite: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", suite, "-m", "haiku"]) == 0
    asked = server.stats.requests
    assert main(["run", suite, "-m", "haiku"]) == 0
    assert server.stats.requests == asked
    assert "6 of 6 done, 0 to do" in capsys.readouterr().err


def test_json_is_one_object_with_the_rows_of_the_design(
    server: MockServer, suite: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code, found = as_json(capsys, "run", suite, "-m", "haiku@low", "-n", "1")
    assert code == 0
    assert {"round", "suite", "settings", "runs", "totals"} <= set(found)
    assert list(found["runs"][0]) == ROW
    assert [(r["question"], r["outcome"], r["reason"]) for r in found["runs"]] == [
        ("one", "pass", None), ("two", "miss", "format"), ("three", "miss", "trap"),
    ]  # fmt: skip
    assert all(isinstance(row["cost_usd"], str) for row in found["runs"])
    assert Decimal(found["totals"]["cost_usd"]) == sum(Decimal(row["cost_usd"]) for row in found["runs"])
    assert as_json(capsys, "show", "last")[1]["runs"] == found["runs"]
    assert as_json(capsys, "grade", found["round"])[1]["runs"] == found["runs"]


def test_show_has_the_second_rule_beside_the_strict_one_and_the_rule_date(
    server: MockServer, suite: str, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["run", suite, "-m", "haiku", "-m", "sonnet", "-n", "1"])
    capsys.readouterr()
    assert main(["show", "last"]) == 0
    out = capsys.readouterr().out
    assert re.search(r"^two +easy +0 \| 1 +0 \| 1$", out, re.MULTILINE)
    assert re.search(r"rule of \d+ \w+ 20\d\d\n", out)
    assert "one run of each question: untested for variance" in out


def test_misses_show_accepted_reply_compared_reason_and_trap(
    server: MockServer, suite: str, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["run", suite, "-m", "haiku", "-n", "1"])
    capsys.readouterr()
    assert main(["show", "last", "--misses"]) == 0
    out = capsys.readouterr().out
    two = out[out.index("two · claude") : out.index("three · claude")]
    assert "run 1 · miss (format)" in two
    assert "  accepted  4\n" in two
    assert "  reply, as received\n    It is 4.\n" in two
    assert "  compared  " in two
    three = out[out.index("three · claude") :]
    assert "miss (trap)" in three
    assert "  trap      7: one too many\n" in three


def test_an_edit_after_the_round_flips_marks_and_is_counted(
    server: MockServer, suite: str, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["run", suite, "-m", "haiku", "-n", "1"])
    capsys.readouterr()
    assert main(["grade", "last"]) == 0
    assert "regraded 3, flipped 0" in capsys.readouterr().out
    Path(suite).write_text(TINY.replace('accept = ["6"]', 'accept = ["6", "7"]').split("traps")[0])
    asked = server.stats.requests
    assert main(["grade", "last"]) == 0
    out = capsys.readouterr().out
    assert "regraded 3, flipped 1" in out
    assert "three · claude-haiku-5-5 default · run 1: miss (trap) → pass" in out
    assert server.stats.requests == asked


# --- how it ends


@pytest.mark.parametrize(("under", "code"), [("0.3", 0), ("30%", 0), ("50", 1), ("1", 1)])
def test_below_fail_under_is_exit_1(server: MockServer, suite: str, under: str, code: int) -> None:
    assert main(["run", suite, "-m", "haiku", "-n", "1", "--fail-under", under]) == code


def test_a_reply_that_is_no_fair_answer_is_exit_4_and_asked_again(
    server: MockServer, suite: str, capsys: pytest.CaptureFixture[str]
) -> None:
    server.next("empty", Answer("...", stop_reason="max_tokens"))
    assert main(["run", suite, "-m", "haiku", "-n", "1", "--serial"]) == 4
    out, err = capsys.readouterr()
    assert "unsettled: empty" in out
    assert "1 of 3 cut off at 100 tokens" in out
    assert "2 runs owed: resit run" in err
    assert "1 run without a fair answer: the reply is empty" in err
    assert "1 run without a fair answer: the reply is cut off at its token limit" in err
    assert main(["run", suite, "-m", "haiku", "-n", "1", "--serial"]) == 0
    assert server.stats.requests == 5


def test_a_cap_reached_is_exit_3_is_never_passed_and_a_higher_one_goes_on(
    server: MockServer, suite: str, capsys: pytest.CaptureFixture[str]
) -> None:
    # One call costs at worst (104 bytes × 0.10 + 100 tokens × 0.50) / 1,000,000 dollars.
    argv = ["run", suite, "-m", "haiku", "-n", "1", "--serial"]
    assert main([*argv, "--cap", "0.000065"]) == 3
    assert "the cap of" in capsys.readouterr().err
    asked = server.stats.requests
    assert 1 <= asked < 3
    assert main([*argv, "--cap", "0.01"]) == 0
    assert server.stats.requests == 3


def test_a_model_without_a_price_does_not_start_under_a_cap(
    server: MockServer, suite: str, capsys: pytest.CaptureFixture[str]
) -> None:
    argv = ["run", suite, "-m", "haiku", "-m", "local-one", "-n", "1"]
    assert main([*argv, "--cap", "1"]) == 2
    assert "local-one has no price" in capsys.readouterr().err
    assert server.stats.requests == 0
    assert main(argv) == 0
    out = capsys.readouterr().out
    assert re.search(r"local-one default .*unknown$", out, re.MULTILINE)
    config_dir().mkdir(parents=True, exist_ok=True)
    (config_dir() / "models.toml").write_text('[prices."local-one"]\ninput = 0\noutput = 0\nas_of = 2026-11-30\n')
    assert main([*argv, "--cap", "1", "--round", "new"]) == 0


def test_a_wrong_key_is_exit_4_and_its_characters_are_nowhere(
    server: MockServer, suite: str, capsys: pytest.CaptureFixture[str]
) -> None:
    server.keys = {"another"}
    assert main(["run", suite, "-m", "haiku", "-n", "1"]) == 4
    out, err = capsys.readouterr()
    assert err.count("claude-haiku-5-5 default stopped: ") == 1
    assert sum("claude-haiku-5-5 default" in line for line in err.splitlines()) == 1, "what stopped it is said once"
    kept = "".join(path.read_text(errors="replace") for path in data_dir().rglob("*") if path.is_file())
    assert KEY not in out + err + kept
    assert "planted" not in out + err + kept


def test_no_key_is_said_before_anything_is_written(
    suite: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", suite, "-m", "haiku"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert "ANTHROPIC_API_KEY" in err
    assert not (data_dir() / "rounds").exists()


@pytest.mark.parametrize("new", [["--round", "new"], ["--round=new"]])
def test_what_goes_on_with_a_new_round_does_not_start_another(
    server: MockServer, suite: str, new: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    server.next(Failure(400, "invalid_request_error", "no such thing"))
    argv = ["run", suite, "-m", "haiku", "-n", "1", "--serial", *new]
    assert main(argv) == 4
    err = capsys.readouterr().err
    assert re.search("1 run without a fair answer: .*no such thing", err)
    again = re.search("1 run owed: resit (.*)", err)
    assert again is not None
    assert main(shlex.split(again[1])) == 0
    assert server.stats.requests == 4


def test_a_quota_wall_is_exit_3(server: MockServer, suite: str, capsys: pytest.CaptureFixture[str]) -> None:
    server.next(Failure(429, "rate_limit_error", "weekly limit", {"retry-after": "90000"}))
    assert main(["run", suite, "-m", "haiku", "-n", "1", "--serial"]) == 3
    assert "runs owed: resit run" in capsys.readouterr().err


def test_a_dry_run_says_jobs_reasons_cost_endpoint_and_asks_nothing(
    server: MockServer, suite: str, capsys: pytest.CaptureFixture[str]
) -> None:
    argv = ["run", suite, "-m", "haiku", "--variant", "plain", "--variant", "long", "--dry-run"]
    assert main([*argv, "--cap", "0.50"]) == 0
    out = capsys.readouterr().out
    assert "3 questions × 2 settings × 2 runs = 12" in out
    assert "0 of 12 done, 12 to do (12 new)" in out
    assert "no history" in out
    assert "at worst" in out
    assert server.url in out
    assert "cap      $0.5000" in out
    assert server.stats.requests == 0
    assert not (data_dir() / "rounds").exists()


def test_an_estimate_follows_from_the_suites_own_past(
    server: MockServer, suite: str, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["run", suite, "-m", "haiku", "-n", "1"])
    code, found = as_json(capsys, "run", suite, "-m", "haiku", "-n", "3", "--dry-run")
    assert code == 0
    totals = found["totals"]
    assert (totals["done"], totals["to_do"], totals["reasons"]) == (3, 6, {"repeat added": 6})
    assert totals["history"]
    assert Decimal(totals["expected_usd"][1]) < Decimal(totals["worst_usd"])
    assert totals["minutes"] is not None


def test_only_asks_what_is_named(server: MockServer, suite: str) -> None:
    assert main(["run", suite, "-m", "haiku", "-n", "1", "--only", "hard", "--only", "one"]) == 0
    assert server.stats.requests == 2


# --- signals and other processes


def start(suite: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "resit", "run", suite, "-m", "haiku", "-n", "20", "--concurrency", "2"]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def wait_for_calls(server: MockServer, count: int) -> None:
    until = time.monotonic() + 30
    while server.stats.answered < count:
        assert time.monotonic() < until
        time.sleep(0.02)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_keeps_what_came_back_and_says_how_to_go_on(
    number: signal.Signals, suite: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving(monkeypatch, latency_s=0.2) as server, start(suite) as process:
        wait_for_calls(server, 3)
        process.send_signal(number)
        _, err = process.communicate(timeout=30)
        assert process.returncode == 130
        answered = server.stats.answered
    assert "stopping" in err
    saved = re.search(r"(\d+) runs saved in round \S+; (\d+) runs owed: resit run", err)
    assert saved is not None
    assert (int(saved[1]), int(saved[2])) == (answered, 60 - answered)


def test_watch_follows_another_process_to_its_end(
    suite: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with serving(monkeypatch, latency_s=0.05) as server, start(suite) as process:
        wait_for_calls(server, 2)
        assert main(["watch", "last"]) == 0
        process.communicate(timeout=30)
        assert process.returncode == 0
    out, err = capsys.readouterr()
    assert f"run by process {process.pid}" in err
    assert "[60/60]" in out
    assert "60/60" in out.split("full marks")[1]


def test_a_second_runner_is_refused_and_told_to_watch(
    suite: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with serving(monkeypatch, latency_s=0.1) as server, start(suite) as process:
        wait_for_calls(server, 2)
        assert main(["run", suite, "-m", "haiku", "-n", "20"]) == 2
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=30)
    assert f"is run by process {process.pid}: resit watch" in capsys.readouterr().err


def test_a_pipe_that_closes_does_not_end_a_paid_round(suite: str, server: MockServer) -> None:
    with start(suite) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        process.stderr.read()
        assert process.wait(timeout=30) == 0
    assert server.stats.answered == 60


def test_on_a_terminal_one_line_shows_the_progress(suite: str, server: MockServer) -> None:
    reader, writer = os.openpty()
    command = [sys.executable, "-m", "resit", "run", suite, "-m", "haiku", "-n", "2"]
    process = subprocess.Popen(command, stdout=writer, stderr=writer, stdin=subprocess.DEVNULL)
    os.close(writer)
    shown = b""
    try:
        while piece := os.read(reader, 65536):
            shown += piece
    except OSError:
        pass  # Linux reports the other end's closing as an error.
    os.close(reader)
    assert process.wait(timeout=30) == 0
    text = shown.decode()
    assert re.search(r"\r\d/6 · \d pass, \d part, \d miss", text)
    assert "run 1" not in text
    assert "\x1b" not in text
    assert "full marks" in text


def test_a_terminal_that_goes_away_does_not_end_a_paid_round(suite: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(monkeypatch, latency_s=0.05) as server:
        reader, writer = os.openpty()
        command = [sys.executable, "-m", "resit", "run", suite, "-m", "haiku", "-n", "6", "--concurrency", "2"]
        process = subprocess.Popen(command, stdout=writer, stderr=writer, stdin=subprocess.DEVNULL)
        os.close(writer)
        wait_for_calls(server, 3)
        os.close(reader)
        assert process.wait(timeout=30) == 0
        assert server.stats.answered == 18
