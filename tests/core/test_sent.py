from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pytest
from round_kit import make_round_plan, make_suite

from resit.core.errors import RoundError
from resit.core.rounds.sent import SENT, SentLog, SentRun, read_sent
from resit.core.rounds.store import RoundStore


@pytest.fixture
def store(tmp_path: Path) -> RoundStore:
    suite = make_suite()
    return RoundStore.create(tmp_path, make_round_plan(suite), suite)


def test_every_call_is_counted_over_all_starts_with_its_dearest(store: RoundStore) -> None:
    for worst in ("0.5", "0.25"):
        log = SentLog(store)
        log.note("q1__a__r1", Decimal(worst))
        log.note("q2__a__r1", None)
        log.close()
    assert read_sent(store) == {
        "q1__a__r1": SentRun(2, Decimal("0.5")),
        "q2__a__r1": SentRun(2, Decimal(0)),
    }


def test_a_round_without_calls_has_no_list(store: RoundStore) -> None:
    SentLog(store).close()
    assert read_sent(store) == {}
    assert not (store.path / SENT).exists()


def test_a_line_cut_short_or_spoilt_takes_no_other_with_it(store: RoundStore) -> None:
    (store.path / SENT).write_bytes(b"\nq1__a__r1 0.5\n\xff\x00 NaN\nq9 -1\nq9 1e99999999\nq9__a__")
    log = SentLog(store)
    log.note("q1__a__r1", Decimal("0.5"))
    log.close()
    assert read_sent(store) == {"q1__a__r1": SentRun(2, Decimal("0.5"))}


def test_a_call_that_cannot_be_noted_is_refused(store: RoundStore) -> None:
    (store.path / SENT).symlink_to("/dev/full")
    with pytest.raises(RoundError, match=r"the disk has no room for sent\.log"):
        SentLog(store).note("q1__a__r1", None)
