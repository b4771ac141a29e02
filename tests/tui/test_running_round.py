"""A round that runs while it is read: what counts is kept up in steps, and comes out as if weighed at once."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from resit.core.rounds.events import RunKept
from resit.core.suite import Suite
from resit.tui.round_view import RoundView
from saved_round import ANSWERS, keep_round

BEGUN: dict[tuple[str, str], tuple[str, ...]] = {("leap-year", "haiku"): ("365",), ("product", "haiku"): ("408", "408")}


def kept_runs(whole: RoundView) -> list[RunKept]:
    """What the runner would tell of every run of that round, the last of the suite first."""
    found = []
    for key in reversed(whole.keys):
        record = whole.store.read(key)
        assert record is not None
        found.append(RunKept(at=datetime.now(UTC), record=record, row=whole.row(key)))
    return found


@pytest.mark.parametrize("step", [1, 3, 16])
def test_what_counts_of_a_running_round_is_what_counts_of_it_weighed_anew(suite: Suite, step: int) -> None:
    whole = RoundView.at(keep_round(suite, ANSWERS, name="whole"))
    view = RoundView.at(keep_round(suite, dict(BEGUN), name="begun"))
    assert view.evidence.grid.cells
    events = kept_runs(whole)
    for at in range(0, len(events), step):
        view.take(events[at : at + step])
    while view.sums_due:
        view.sum_up(0.0)
    assert view.evidence.grid == whole.evidence.grid
    assert list(view.evidence.grid.cells) == list(whole.evidence.grid.cells)
    assert [view.of_question(q.id) for q in view.questions] == [whole.of_question(q.id) for q in whole.questions]


def test_the_sums_of_a_setting_wait_until_there_is_time(suite: Suite) -> None:
    whole = RoundView.at(keep_round(suite, ANSWERS, name="whole"))
    view = RoundView.at(keep_round(suite, dict(BEGUN), name="begun"))
    before = view.evidence.grid
    view.take(kept_runs(whole))
    assert view.evidence.grid.cells == whole.evidence.grid.cells
    assert view.evidence.grid.summaries == before.summaries
    view.sum_up(0.0)
    assert view.sums_due, "one setting of two was summed up"


def test_a_run_that_a_verdict_takes_out_has_all_weighed_anew(suite: Suite) -> None:
    whole = RoundView.at(keep_round(suite, ANSWERS, name="whole"))
    whole.settle(whole.keys[0], "setup", "")
    view = RoundView.at(keep_round(suite, dict(BEGUN), name="begun"))
    view.take(kept_runs(whole))
    assert view.left_out_said == "left out: 1 run"
    assert view.evidence.grid == whole.evidence.grid
