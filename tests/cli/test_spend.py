"""`resit spend` and `resit models`."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

import pytest

from resit.cli import main
from resit.core.paths import config_dir
from resit.core.records import Usage
from resit.core.spend.ledger import Ledger, LedgerEntry


def spend(model: str, cost: str | None, at: datetime | None = None, suite: str = "mine") -> None:
    Ledger().append(
        LedgerEntry(
            at=at or datetime.now(UTC), suite=suite, round="r", question="q", model=model, setting=model, run=1,
            attempt=1, provider="anthropic", endpoint="https://api.anthropic.com", ended="end",
            usage=Usage(input_tokens=1000, cache_read_tokens=7, output_tokens=50),
            cost_usd=None if cost is None else Decimal(cost),
        )
    )  # fmt: skip


def test_nothing_spent_is_said_as_such(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["spend"]) == 0
    assert capsys.readouterr().out == "nothing was spent yet: no call is in the ledger\n"


def test_spend_is_shown_by_day_model_suite_and_this_month(capsys: pytest.CaptureFixture[str]) -> None:
    spend("claude-haiku-5-5", "0.25")
    spend("claude-sonnet-5-5", "1.50", suite="other")
    spend("claude-haiku-5-5", "4", at=datetime(2025, 3, 1, 12, tzinfo=UTC))
    assert main(["spend"]) == 0
    out = capsys.readouterr().out
    assert "this month  $1.75, 2 calls" in out
    assert "in all      $5.75, 3 calls" in out
    assert "2025-03-01" in out
    rows = {line.split()[0]: line.split() for line in out.splitlines() if line}
    assert rows["claude-haiku-5-5"][1:] == ["2", "$4.25", "2,000", "0", "14", "100"]
    assert rows["other"][1:3] == ["1", "$1.50"]


def test_an_unknown_cost_reads_at_least_and_never_0(capsys: pytest.CaptureFixture[str]) -> None:
    spend("mystery", None)
    spend("claude-haiku-5-5", "0.25")
    assert main(["spend"]) == 0
    out = capsys.readouterr().out
    assert "in all      at least $0.2500, 2 calls" in out
    assert next(line for line in out.splitlines() if line.startswith("mystery")).split()[2] == "unknown"
    assert main(["spend", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["total"]["at_least"]
    assert [line["cost_usd"] for line in found["by_model"]] == ["0.25", None]


def test_lines_that_cannot_be_read_are_counted(capsys: pytest.CaptureFixture[str]) -> None:
    spend("claude-haiku-5-5", "0.25")
    with Ledger().path.open("ab") as file:
        file.write(b"{half")
    assert main(["spend"]) == 0
    assert "1 line of" in capsys.readouterr().err


def test_models_shows_efforts_price_date_key_and_endpoint(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["models"]) == 0
    out = capsys.readouterr().out
    haiku = next(line for line in out.splitlines() if line.startswith("claude-haiku-5-5"))
    assert "low to max, off" in haiku
    assert "0.10-0.50" in haiku
    assert "genai-prices" in haiku
    assert "asked at https://api.anthropic.com, ANTHROPIC_API_KEY not found" in out


def test_the_persons_own_model_and_price_come_first(capsys: pytest.CaptureFixture[str]) -> None:
    config_dir().mkdir(parents=True, exist_ok=True)
    (config_dir() / "models.toml").write_text(
        '[models."qwen3:4b"]\nbase_url = "http://127.0.0.1:11434"\n'
        '[prices."claude-opus-5-5"]\ninput = 1\noutput = 2\nas_of = 2020-01-01\nsource = "my invoice"\n'
    )
    assert main(["models", "--json"]) == 0
    first, *rest = json.loads(capsys.readouterr().out)["models"]
    assert (first["model"], first["price"], first["key_found"]) == ("qwen3:4b", None, None)
    assert first["endpoint_source"] == "models.toml"
    opus = next(model for model in rest if model["model"] == "claude-opus-5-5")
    assert opus["price"]["source"] == "my invoice"
    assert opus["price"]["input"] == "1"
    assert opus["price"]["stale"]
    assert main(["models"]) == 0
    assert "no price" in capsys.readouterr().out


def test_a_key_is_found_and_never_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / ".env").write_text("ANTHROPIC_API_KEY=sk-ant-planted-0123456789\n")
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "http://127.0.0.1:9")
    assert main(["models"]) == 0
    out, err = capsys.readouterr()
    assert "asked at http://127.0.0.1:9 (from ANTHROPIC_BASE_URL), ANTHROPIC_API_KEY found" in out
    assert "this is resit's own table" in err
    assert "planted" not in out + err
