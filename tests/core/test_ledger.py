from __future__ import annotations

import os
import subprocess
import sys
from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal
from pathlib import Path

import pytest

from resit.core.errors import RoundError, StoreFull
from resit.core.records import Usage
from resit.core.spend.ledger import Ledger, LedgerEntry, in_month, spend_summary, spend_total

NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)


def entry(
    model: str = "claude-haiku-5-5", cost: str | None = "0.25", at: datetime = NOON, suite: str = "mine", run: int = 1
) -> LedgerEntry:
    return LedgerEntry(
        at=at, suite=suite, round="r", question="q", model=model, setting=f"{model} low", run=run, attempt=1,
        provider="anthropic", endpoint="https://api.anthropic.com", ended="end",
        usage=Usage(input_tokens=10, cache_write_tokens=1, cache_read_tokens=2, output_tokens=5),
        cost_usd=None if cost is None else Decimal(cost),
    )  # fmt: skip


def test_what_is_written_is_read_again_in_order(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "deep" / "ledger.jsonl")
    assert ledger.read().entries == ()
    for run in (1, 2, 3):
        ledger.append(entry(run=run))
    assert [e.run for e in ledger.read().entries] == [1, 2, 3]
    assert ledger.read().entries[0] == entry(run=1)


def test_a_line_cut_off_by_a_crash_is_counted_and_spoils_no_other(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "ledger.jsonl")
    ledger.append(entry(run=1))
    with ledger.path.open("ab") as file:
        file.write(b'{"at":"2026-11-30T12:')
    ledger.append(entry(run=2))
    ledger.path.write_bytes(ledger.path.read_bytes() + b"\xff\x00garbage\n")
    read = ledger.read()
    assert [e.run for e in read.entries] == [1, 2]
    assert read.damaged == 2


WRITER = """
import sys
from pathlib import Path
sys.path.insert(0, {tests!r})
from test_ledger import entry
from resit.core.spend.ledger import Ledger
ledger = Ledger(Path({path!r}))
for run in range(1, 201):
    ledger.append(entry(model=sys.argv[1], run=run))
"""


def test_two_processes_lose_and_mix_no_line(tmp_path: Path) -> None:
    path = tmp_path / "ledger.jsonl"
    script = WRITER.format(tests=str(Path(__file__).parent), path=str(path))
    writers = [subprocess.Popen([sys.executable, "-c", script, name]) for name in ("a", "b", "c")]
    assert [w.wait(timeout=60) for w in writers] == [0, 0, 0]
    read = Ledger(path).read()
    assert read.damaged == 0
    for name in ("a", "b", "c"):
        assert [e.run for e in read.entries if e.model == name] == list(range(1, 201))


def test_a_full_disk_is_said_as_such(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(os, "write", lambda handle, line: 3)
    with pytest.raises(StoreFull):
        Ledger(tmp_path / "ledger.jsonl").append(entry())


def test_a_ledger_that_cannot_be_written_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "ledger.jsonl").mkdir()
    with pytest.raises(RoundError, match="cannot be written"):
        Ledger(tmp_path / "ledger.jsonl").append(entry())
    with pytest.raises(RoundError, match="cannot be read"):
        Ledger(tmp_path / "ledger.jsonl").read()


def test_only_the_person_can_read_it(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "ledger.jsonl")
    ledger.append(entry())
    assert ledger.path.stat().st_mode & 0o077 == 0


def test_spend_is_summed_by_day_model_and_suite_and_unknown_costs_are_counted_apart() -> None:
    entries = [entry(), entry(cost="0.50", suite="other"), entry(model="mystery", cost=None, at=NOON - timedelta(1))]
    by_model = spend_summary(entries, "model")
    assert [(line.name, line.cost_usd, line.calls, line.unknown) for line in by_model] == [
        ("claude-haiku-5-5", Decimal("0.75"), 2, 0),
        ("mystery", Decimal(0), 1, 1),
    ]
    assert [line.name for line in spend_summary(entries, "suite")] == ["mine", "other"]
    assert [line.name for line in spend_summary(entries, "day", UTC)] == ["2026-11-29", "2026-11-30"]
    total = spend_total(entries)
    assert (total.calls, total.cost_usd, total.unknown, total.cache_read_tokens) == (3, Decimal("0.75"), 1, 6)


def test_a_day_and_a_month_begin_where_the_person_is() -> None:
    late = entry(at=datetime(2026, 11, 30, 23, 30, tzinfo=UTC))
    berlin = timezone(timedelta(hours=1))
    assert spend_summary([late], "day", berlin)[0].name == "2026-12-01"
    assert list(in_month([late], NOON, UTC)) == [late]
    assert list(in_month([late], NOON, berlin)) == []
