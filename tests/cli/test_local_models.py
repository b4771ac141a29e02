"""A model on this machine, from the command line: found, asked without set-up, loaded apart, no price guessed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from served import ANSWERS, write_suite

from mock_openai import as_ollama
from resit.cli import main
from resit.core.endpoints import LOCAL_URLS
from resit.core.paths import config_dir, data_dir

FREE = '[prices."ollama/*"]\ninput = 0\noutput = 0\nsource = "my own machine"\n'
KEYS = ("ANTHROPIC_API_KEY", "OPENAI_API_KEY")


def as_json(capsys: pytest.CaptureFixture[str], *argv: str) -> tuple[int, dict[str, Any]]:
    capsys.readouterr()
    code = main([*argv, "--json"])
    return code, json.loads(capsys.readouterr().out)


def own_prices(text: str) -> None:
    config_dir().mkdir(parents=True, exist_ok=True)
    (config_dir() / "models.toml").write_text(text)


def test_a_running_server_is_listed_with_its_models(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with as_ollama(monkeypatch, models=("llama3.2", "qwen3:4b")) as server:
        assert main(["models"]) == 0
    shown = capsys.readouterr().out
    assert "ollama/llama3.2" in shown
    assert "no price" in shown
    assert f"asked at {server.url} (from model name), no key needed: ollama/llama3.2, ollama/qwen3:4b" in shown
    assert main(["models"]) == 0
    assert "ollama" not in capsys.readouterr().out


def test_a_local_model_is_asked_by_its_name_alone_and_sees_no_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in KEYS:
        monkeypatch.setenv(name, f"sk-planted-{name.lower()}")
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "http://127.0.0.1:9")
    with as_ollama(monkeypatch, answers=ANSWERS) as server:
        code, found = as_json(capsys, "run", write_suite(tmp_path), "-m", "ollama/llama3.2", "-n", "1")
    assert code == 0
    assert {row["outcome"] for row in found["runs"]} == {"pass", "miss"}
    assert {(row["model"], row["cost_usd"], row["input_tokens"]) for row in found["runs"]} == {
        ("ollama/llama3.2", None, 20)
    }
    assert {call.body["model"] for call in server.calls} == {"llama3.2"}
    assert not any("planted" in str(call.headers) for call in server.calls)


def test_loading_the_model_is_told_once_and_in_no_runs_seconds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with as_ollama(monkeypatch, answers=ANSWERS) as server:
        main(["run", write_suite(tmp_path), "-m", "ollama/llama3.2", "-n", "2"])
    shown = capsys.readouterr()
    assert shown.out.count("ollama/llama3.2 was ready after 0.") == 1
    assert "seconds count that; --serial avoids it" in shown.err
    assert [call.body["max_tokens"] for call in server.calls] == [1] + [100] * 6
    kept = [json.loads(path.read_text()) for path in data_dir().rglob("results/*.json")]
    told = [run["attempts"][0]["reply"].get("warm_up_s") for run in kept]
    assert len([seconds for seconds in told if seconds is not None]) == 1
    assert len(told) == 6


def test_under_a_cap_a_local_model_wants_a_word_on_its_price_and_then_costs_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["run", write_suite(tmp_path), "-m", "ollama/llama3.2", "-n", "1", "--cap", "0.01"]
    with as_ollama(monkeypatch, answers=ANSWERS) as server:
        assert main(command) == 2
        said = capsys.readouterr().err
        assert 'say so in models.toml: [prices."ollama/*"] with input = 0 and output = 0' in said
        assert not server.calls
        own_prices(FREE)
        code, found = as_json(capsys, *command)
    assert code == 0
    assert {row["cost_usd"] for row in found["runs"]} == {"0"}


def test_a_local_server_that_does_not_run_is_named_with_what_to_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with as_ollama(monkeypatch) as server:
        url = server.url
    monkeypatch.setattr("resit.core.calling.openai_client.LOCAL_URLS", {"ollama": url})
    monkeypatch.setattr("resit.core.endpoints.LOCAL_URLS", {"ollama": url})
    assert main(["run", write_suite(tmp_path), "-m", "ollama/llama3.2", "-n", "1"]) == 4
    assert f"nothing listens at {url}; start ollama, then run the same command again" in capsys.readouterr().err


def test_base_url_moves_a_local_model_elsewhere_and_is_one_kind_of_server_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    suite = write_suite(tmp_path)
    with as_ollama(monkeypatch, answers=ANSWERS) as server:
        monkeypatch.setattr("resit.core.endpoints.LOCAL_URLS", LOCAL_URLS)
        code, found = as_json(capsys, "run", suite, "-m", "vllm/big", "-n", "1", "--base-url", f"{server.url}/v1")
        assert (code, len(found["runs"])) == (0, 3)
        assert {call.body["model"] for call in server.calls} == {"big"}
    assert main(["run", suite, "-m", "vllm/big", "-m", "haiku", "--base-url", "http://127.0.0.1:9"]) == 2
    assert "--base-url is one server" in capsys.readouterr().err
