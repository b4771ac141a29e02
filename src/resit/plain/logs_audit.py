"""`resit logs audit`: which settings were used for which kind of work, beside what the exam says of them."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from resit.core.judging.audit import KindAudit, Used, audit, gather_exams
from resit.core.logs.scan import scan
from resit.core.logs.when import end_of, start_of
from resit.core.printable import one_line
from resit.plain.text import jsonable, note, say, say_json, table


def main(argv: Sequence[str]) -> int:
    """Print the audit; 0."""
    args = _parser().parse_args(argv)
    now = datetime.now(UTC)
    index = scan(
        [Path(path) for path in args.paths] or None,
        None if args.since is None else start_of(args.since, now),
        None if args.until is None else end_of(args.until, now),
    )
    exams = gather_exams()
    for why in exams.unread:
        note(f"a round was left out: {why}")
    found = audit(index.requests, exams.evidence)
    if args.json:
        rounds = [] if exams.evidence is None else list(exams.evidence.rounds)
        say_json({"rounds": rounds, "kinds": [_as_json(each) for each in found]})
        return 0
    if not found:
        say("no request was found in the logs")
        return 0
    head = ("kind", "times", "use and exam")
    say(table(head, [(each.kind, f"{each.count:,}", each.said) for each in found], right=(1,), limit=160))
    say()
    say(_summary(found))
    return 0


def _summary(found: Sequence[KindAudit]) -> str:
    lower = [each.kind for each in found if each.saves]
    if lower:
        return one_line(f"a cheaper setting passed for: {', '.join(lower)}", 400)
    if not any(each.route for each in found):
        return "no exam covers any of these kinds yet: in the app's logs, space marks requests and d drafts a suite"
    return "no cheaper setting passed for any of these kinds"


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="resit logs audit",
        description="Which model at which level was used for which kind of work, beside what your rounds say of it.",
    )
    add = parser.add_argument
    add("paths", metavar="PATH", nargs="*", help="folders, files and exports; none: where the agents keep their logs")
    add("--since", metavar="WHEN", help="not before: 30d, 12h, 2w ago, or 2026-11-01")
    add("--until", metavar="WHEN", help="not after; a day counts whole")
    add("--json", action="store_true", help="one JSON object on standard output")
    return parser


def _as_json(each: KindAudit) -> dict[str, object]:
    chosen = each.route.chosen if each.route is not None else None
    return {
        "kind": each.kind,
        "count": each.count,
        "said": each.said,
        "exam": each.route is not None,
        "use": chosen.label if chosen is not None else None,
        "saves": each.saves,
        "settings": [_used_json(used) for used in each.used],
    }


def _used_json(used: Used) -> dict[str, object]:
    return {
        "model": used.model,
        "effort": used.effort,
        "ran_at": used.ran_at,
        "count": used.count,
        "cost_usd": jsonable(used.cost_usd),
        "at_least": used.at_least,
        "passed": None if used.judged is None else used.judged.passed,
        "gates": None if used.judged is None else used.judged.said,
    }
