"""`resit watch`: a round that another process runs, followed as text until it ends."""

from __future__ import annotations

import argparse
import asyncio

from resit.core.printable import one_line
from resit.core.rounds.follow import RoundFollower
from resit.core.rounds.regrade import graded_by
from resit.core.rounds.shelf import present_suite
from resit.core.rounds.store import RoundStore
from resit.plain.lines import progress_said, row_said
from resit.plain.opened import find_round, open_round
from resit.plain.show import print_round
from resit.plain.text import note, say


def main(args: argparse.Namespace) -> int:
    """Follow it to its end, then print the table; 0."""
    store = find_round(args.round)
    pid = store.runner_pid()
    if pid is None:
        note(f"no process runs round {store.id}; this is what is kept of it")
    else:
        holder = f"process {pid}" if pid else "another process"
        note(f"following round {store.id}, run by {holder}; ctrl+c leaves it alone")
        asyncio.run(_follow(store))
        say()
    print_round(open_round(store.path))
    return 0


async def _follow(store: RoundStore) -> None:
    """A line for each run that is kept from now on, and the last word."""
    suite, why_not = present_suite(store.plan())
    if why_not:
        note(why_not)
    follower = RoundFollower(store, graded_by(store.suite(), suite))
    seen: int | None = None
    async for progress in follower.follow():
        if seen is None:
            say(one_line(progress_said(progress, progress.started_at or store.plan().created_at)))
            seen = len(progress.rows)
        for row in progress.rows[seen:]:
            seen += 1
            say(one_line(f"[{seen}/{progress.planned}] {row_said(row)}"))
        if progress.ended is not None:
            note(progress.ended.said)
