"""`resit spend`: what the ledger says, by day, model and suite."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from datetime import UTC, datetime

from resit.core.judging.wording import dollars
from resit.core.spend.ledger import By, Ledger, SpendLine, in_month, spend_summary, spend_total
from resit.plain.pools import print_pools
from resit.plain.text import jsonable, note, plural, say, say_json, table

_SHOWN_DAYS = 31
_BY: tuple[By, ...] = ("day", "model", "suite")


def main(args: argparse.Namespace) -> int:
    """Print the sums; 0."""
    ledger = Ledger()
    read = ledger.read()
    month = spend_total(in_month(read.entries, datetime.now(UTC)))
    total = spend_total(read.entries)
    lines = {by: spend_summary(read.entries, by) for by in _BY}
    if read.damaged:
        note(f"{plural(read.damaged, 'line')} of {ledger.path} cannot be read and are in no sum")
    if args.json:
        say_json(
            {
                "ledger": str(ledger.path),
                "this_month": _as_json(month),
                "total": _as_json(total),
                "damaged_lines": read.damaged,
                **{f"by_{by}": [_as_json(line) for line in found] for by, found in lines.items()},
            }
        )
        return 0
    if not read.entries:
        say("nothing was spent yet: no call is in the ledger")
        print_pools(read.entries)
        return 0
    say(f"this month  {_cost(month)}, {plural(month.calls, 'call')}")
    say(f"in all      {_cost(total)}, {plural(total.calls, 'call')}")
    for by, found in lines.items():
        say()
        _print(by, found)
    print_pools(read.entries)
    return 0


def _print(by: By, lines: tuple[SpendLine, ...]) -> None:
    shown = lines[-_SHOWN_DAYS:] if by == "day" else lines
    head = (by, "calls", "cost", "input", "cache write", "cache read", "output")
    say(table(head, _cells(shown), right=range(1, len(head))))
    if len(shown) < len(lines):
        say(f"… {plural(len(lines) - len(shown), 'earlier day')}; --json has all of them")


def _cells(lines: Iterable[SpendLine]) -> list[list[str]]:
    return [
        [
            line.name,
            f"{line.calls:,}",
            _cost(line),
            f"{line.input_tokens:,}",
            f"{line.cache_write_tokens:,}",
            f"{line.cache_read_tokens:,}",
            f"{line.output_tokens:,}",
        ]
        for line in lines
    ]


def _cost(line: SpendLine) -> str:
    if line.unknown == line.calls and line.calls:
        return "unknown"
    return dollars(line.cost_usd, at_least=line.unknown > 0)


def _as_json(line: SpendLine) -> dict[str, object]:
    found: dict[str, object] = jsonable(line)
    if line.unknown == line.calls and line.calls:
        found["cost_usd"] = None
    return found | {"at_least": line.unknown > 0}
