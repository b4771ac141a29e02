"""Calls that went out and whose end nobody saw, as when a process was killed: their cost is unknown, not nothing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime

from resit.core.records import Setting, run_key
from resit.core.rounds.memory import Entry
from resit.core.rounds.plan import RoundPlan
from resit.core.rounds.sent import SENT, SentLog, read_lost, read_sent
from resit.core.rounds.store import RoundStore
from resit.core.spend.ledger import Ledger, LedgerEntry


def lost_calls(store: RoundStore, entries: Mapping[str, Entry]) -> Mapping[str, int]:
    """By run key, the calls that were sent and are in no attempt that is kept. While a process runs it, they are out.

    Args:
        store: The round.
        entries: What is kept, by run key.

    Raises:
        RoundError: The list of sent calls cannot be read.
    """
    if store.runner_pid() is not None and not store.locked:
        return {}
    kept = {key: entry.row.attempts for key, entry in entries.items()}
    counts = {key: sent.calls - kept.get(key, 0) for key, sent in read_sent(store).items()}
    return {key: count for key, count in counts.items() if count > 0}


def lost_said(count: int) -> str:
    """`2 calls went out and never came back, so the cost is more than is shown`; empty without any."""
    if not count:
        return ""
    calls = "1 call" if count == 1 else f"{count:,} calls"
    return f"{calls} went out and never came back, as when a process is killed: the cost is at least what is shown"


def write_down_lost(
    store: RoundStore, plan: RoundPlan, entries: Mapping[str, Entry], ledger: Ledger | None, questions: Iterable[str]
) -> None:
    """Give each lost call its line in the ledger, once: of unknown cost, so that what was spent reads "at least".

    Only for the holder of the lock.

    Args:
        store: The round.
        plan: Its plan.
        entries: What is kept, by run key.
        ledger: Where every call is written down. None for a round that pays nobody.
        questions: Ids of the questions that are asked.

    Raises:
        RoundError: A file cannot be written or read.
    """
    lost = lost_calls(store, entries) if ledger is not None else {}
    # A result that was set aside as damaged had its line in the ledger when it was kept.
    lost = {key: count for key, count in lost.items() if key not in store.set_aside_keys()} if lost else {}
    if not lost or ledger is None:
        return
    noted, log = read_lost(store), SentLog(store)
    at = datetime.fromtimestamp((store.path / SENT).stat().st_mtime, UTC)
    try:
        for key, question, planned_setting, run in _places(plan, questions):
            for number in range(noted.get(key, 0), lost.get(key, 0)):
                ledger.append(_entry(store, plan, question, planned_setting, run, number + 1, at))
                log.note_lost(key)
    finally:
        log.close()


def _places(plan: RoundPlan, questions: Iterable[str]) -> Iterable[tuple[str, str, Setting, int]]:
    for question in questions:
        for planned in plan.settings:
            for run in range(1, plan.repeats + 1):
                yield run_key(question, planned.setting, run), question, planned.setting, run


def _entry(
    store: RoundStore, plan: RoundPlan, question: str, setting: Setting, run: int, number: int, at: datetime
) -> LedgerEntry:
    endpoint = next(planned.endpoint for planned in plan.settings if planned.setting.label == setting.label)
    return LedgerEntry(
        at=at,
        suite=plan.suite,
        round=store.id,
        question=question,
        model=setting.model,
        setting=setting.label,
        run=run,
        attempt=number,
        provider=setting.provider,
        endpoint=endpoint,
        ended="dropped",
    )
