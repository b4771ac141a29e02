from __future__ import annotations

import asyncio
from decimal import Decimal
from pathlib import Path

from round_kit import PRICES, A, B, ScriptedClient, clients, make_suite

from resit.core.judging.sheet import make_sheet
from resit.core.rounds.lost import lost_calls, lost_said
from resit.core.rounds.sent import SentLog
from resit.core.rounds.session import open_round, prepare_round
from resit.core.rounds.store import RoundStore
from resit.core.spend.ledger import Ledger, spend_total

SUITE = make_suite(2)


def start(folder: Path, repeats: int = 1) -> RoundStore:
    """One start of the round, in which every call is answered."""
    prepared = prepare_round(
        SUITE,
        (A, B),
        repeats,
        clients=clients(ScriptedClient()),
        models_file=PRICES,
        rounds_dir=folder / "rounds",
        ledger=Ledger(folder / "ledger.jsonl"),
        environ={},
    )
    runner = prepared.start(lambda event: None)
    asyncio.run(runner.run())
    return runner.store


def lose(store: RoundStore, *keys: str) -> None:
    """Calls that a killed process had sent."""
    log = SentLog(store)
    for key in keys:
        log.note(key, Decimal("0.01"))
    log.close()


def test_a_round_whose_calls_all_came_back_has_lost_none(tmp_path: Path) -> None:
    found = open_round(start(tmp_path).path)
    assert found.lost == 0
    assert not make_sheet(found).cost_at_least
    assert lost_said(0) == ""


def test_after_a_kill_totals_read_at_least(tmp_path: Path) -> None:
    store = start(tmp_path)
    lose(store, "q1__model-a-low__r2", "q1__model-a-low__r2", "q2__model-a-low__r1")
    found = open_round(store.path)
    assert found.lost == 3
    sheet = make_sheet(found)
    assert sheet.cost_at_least
    assert any("3 calls went out and never came back" in said for said in sheet.untested)


def test_calls_are_not_lost_while_a_process_is_out_for_them(tmp_path: Path) -> None:
    store = start(tmp_path)
    lose(store, "q1__model-a-low__r2")
    store.lock()
    assert lost_calls(RoundStore(store.path), {}) == {}
    store.unlock()


def test_the_next_start_gives_each_lost_call_a_line_in_the_ledger_and_no_second_one(tmp_path: Path) -> None:
    store = start(tmp_path)
    lose(store, "q1__model-a-low__r1", "q2__model-b-default__r2")
    before = spend_total(Ledger(tmp_path / "ledger.jsonl").read().entries)
    assert before.unknown == 0
    for repeats in (2, 3):
        assert start(tmp_path, repeats).path == store.path
        after = Ledger(tmp_path / "ledger.jsonl").read().entries
        lost = [entry for entry in after if entry.cost_usd is None]
        assert [(entry.question, entry.model, entry.run, entry.ended) for entry in lost] == [
            ("q1", "model-a", 1, "dropped"),
            ("q2", "model-b", 2, "dropped"),
        ]
    assert spend_total(after).unknown == 2
