"""`resit watch`: a round that another process runs, followed as text until it ends."""

from __future__ import annotations

import argparse
import time
from dataclasses import dataclass

from resit.core.printable import one_line
from resit.core.records import Row
from resit.core.rounds.graded import GradedRound
from resit.core.rounds.live import read_live
from resit.core.rounds.regrade import graded_by
from resit.core.rounds.store import RoundStore
from resit.core.suite import Suite
from resit.plain.lines import row_said
from resit.plain.opened import current_suite, find_round, open_round
from resit.plain.show import print_round
from resit.plain.text import note, say

POLL_S = 0.5


@dataclass(slots=True)
class _Follower:
    """What of a round was shown so far."""

    store: RoundStore
    suite: Suite
    keeper: GradedRound
    shown: dict[tuple[str, str, int], Row]

    def news(self) -> list[Row]:
        """Rows that are new, or turned out otherwise, since the last look."""
        rows = self.keeper.grade(self.suite).rows
        fresh = [row for row in rows if self.shown.get((row.question, row.setting, row.run)) != row]
        self.shown.update({(row.question, row.setting, row.run): row for row in fresh})
        return fresh


def main(args: argparse.Namespace) -> int:
    """Follow it to its end, then print the table; 0."""
    store = find_round(args.round)
    pid = store.runner_pid()
    if pid is None:
        note(f"no process runs round {store.id}; this is what is kept of it")
    else:
        holder = f"process {pid}" if pid else "another process"
        note(f"following round {store.id}, run by {holder}; ctrl+c leaves it alone")
        _follow(store)
    print_round(open_round(str(store.path)))
    return 0


def _follow(store: RoundStore) -> None:
    plan = store.plan()
    follower = _Follower(store, graded_by(store.suite(), current_suite(plan)), GradedRound(store), {})
    follower.news()
    live = read_live(store)
    planned = live.planned if live is not None else 0
    say(f"{len(follower.shown)} of {planned} kept so far")
    running = True
    while running:
        time.sleep(POLL_S)
        # Looked at before the rows: what is kept between the two looks is then still shown.
        running = store.runner_pid() is not None
        for row in follower.news():
            say(one_line(f"[{len(follower.shown)}/{planned}] {row_said(row)}"))
    live = read_live(store)
    if live is not None and live.ended is not None:
        note(live.ended.said)
    say()
