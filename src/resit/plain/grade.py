"""`resit grade`: a round graded again, without a call."""

from __future__ import annotations

import argparse

from resit.core.printable import one_line
from resit.core.records import FAIR, Row
from resit.core.rounds.graded import GradedRound
from resit.core.rounds.memory import row_json
from resit.core.rounds.regrade import Flip, regrade
from resit.core.rounds.reverify import reverify
from resit.core.rounds.shelf import present_suite
from resit.plain.opened import find_round, opened
from resit.plain.show import round_json
from resit.plain.text import note, say, say_json, score


def main(args: argparse.Namespace) -> int:
    """Grade again, and say how many were regraded and how many flipped, zero included; 0."""
    store = find_round(args.round)
    plan = store.plan()
    suite, why_not = present_suite(plan)
    if why_not:
        note(why_not)
    if suite is not None and (again := reverify(store, suite).said):
        note(again)
    done = regrade(store, suite, keeper=GradedRound(store))
    if args.json:
        flips = [{"before": row_json(flip.before), "after": row_json(flip.after)} for flip in done.flips]
        found = opened(store, plan, done.graded)
        say_json({**round_json(found), "regraded": done.regraded, "flipped": len(done.flips), "flips": flips})
        return 0
    found = opened(store, plan, done.graded)
    say(one_line(f"{found.plan.title} · round {store.id} · {found.rule_said}"))
    say(f"regraded {done.regraded}, flipped {len(done.flips)}")
    for flip in done.flips:
        say(one_line(f"  {_flip_said(flip)}"))
    return 0


def _flip_said(flip: Flip) -> str:
    row = flip.after
    return f"{row.question} · {row.setting} · run {row.run}: {_mark(flip.before)} → {_mark(row)}"


def _mark(row: Row) -> str:
    if row.outcome not in FAIR:
        return f"unsettled ({row.outcome})"
    return (
        row.outcome
        + (f" {score(row.score)}" if row.outcome == "part" else "")
        + (f" ({row.reason})" if row.reason else "")
    )
