"""`resit pools`: what of each quota pool is used, readings by hand, and what rounds used of a pool."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from datetime import UTC, datetime
from difflib import get_close_matches

from resit.core.config import ModelsFile, load_models_file
from resit.core.errors import UsageError
from resit.core.spend.ledger import Ledger, LedgerEntry
from resit.core.spend.pool_words import limit_said, points_said, pool_said, since_said, state_said, used_said
from resit.core.spend.pools import PoolUse, RoundPoints, points_by_round, pool_use, pool_uses
from resit.core.spend.readings import Reading, Readings, parse_percent
from resit.plain.text import jsonable, note, say, say_json, table

_SHOWN_READINGS = 10
_HOW = '[pools.NAME] in models.toml makes one, and pool = "NAME" in [models."ID"] puts a model in it'


def main(args: argparse.Namespace) -> int:
    """Print the pools, or write a reading down; 0."""
    models_file, ledger, readings = load_models_file(), Ledger(), Readings()
    calls = ledger.read().entries
    now = datetime.now(UTC)
    if args.pool is None:
        if args.reading is not None:
            raise UsageError("a reading is one of a pool", hint="resit pools NAME --reading 43%")
        _print_all(pool_uses(models_file, calls, now, readings), as_json=args.json)
        return 0
    name = _named(args.pool, models_file)
    own = [call for call in calls if call.model in models_file.members(name)]
    if args.reading is not None:
        _take_down(name, args.reading, own, now, models_file, readings)
    use = pool_use(name, models_file.pools[name], own, now, readings.of(name))
    _print_one(use, own, readings.of(name), as_json=args.json)
    return 0


def print_pools(calls: Sequence[LedgerEntry]) -> None:
    """A line a pool, for those who look at what was spent; nothing where there is none."""
    uses = pool_uses(load_models_file(), calls, datetime.now(UTC))
    if uses:
        say()
        say(_table(uses))


def _named(name: str, models_file: ModelsFile) -> str:
    if name in models_file.pools:
        return name
    near = get_close_matches(name, models_file.pools, 1)
    raise UsageError(f"there is no pool {name!r}", hint=f"did you mean {near[0]!r}?" if near else _HOW)


def _take_down(
    name: str, text: str, calls: Sequence[LedgerEntry], now: datetime, models_file: ModelsFile, readings: Readings
) -> None:
    """Keep a reading by hand, and say what was used since the one before."""
    try:
        percent = parse_percent(text)
    except ValueError as error:
        raise UsageError(f"--reading {text!r}: {error}") from None
    former = readings.of(name)
    readings.add(Reading(at=now, pool=name, used_percent=percent, by="hand"))
    if former:
        last, entry = former[-1], models_file.pools[name]
        between = pool_use(name, entry, [call for call in calls if call.at >= last.at], now, ())
        note(since_said((last.at, last.used_percent), percent, between.calls, between.tokens))


def _print_all(uses: Sequence[PoolUse], *, as_json: bool) -> None:
    if as_json:
        say_json({"pools": [_as_json(use) for use in uses]})
    elif uses:
        say(_table(uses))
    else:
        say(f"there are no pools: {_HOW}")


def _table(uses: Sequence[PoolUse]) -> str:
    head = ("pool", "used", "limit", "reserve", "state", "calls", "tokens")
    rows = [
        [
            use.name,
            used_said(use),
            limit_said(use.entry),
            f"{use.entry.reserve * 100:.0f}%",
            state_said(use),
            f"{use.calls:,}",
            f"{use.tokens:,}",
        ]
        for use in uses
    ]
    return table(head, rows, right=(3, 5, 6))


def _print_one(use: PoolUse, calls: Sequence[LedgerEntry], readings: Sequence[Reading], *, as_json: bool) -> None:
    rounds = points_by_round(use.entry, calls, readings)
    if as_json:
        found = [{"at": r.at.isoformat(), "used_percent": r.used_percent, "by": r.by} for r in readings]
        say_json({"pools": [_as_json(use)], "readings": found, "rounds": [jsonable(r) for r in rounds]})
        return
    say(pool_said(use))
    if readings:
        say()
        shown = readings[-_SHOWN_READINGS:]
        rows = [[f"{r.at:%d %b %Y %H:%M} UTC", f"{r.used_percent.normalize():f}%", r.by] for r in shown]
        say(table(("reading", "used", "by"), rows, right=(1,)))
    if rounds:
        say()
        say(_rounds_table(rounds))


def _rounds_table(rounds: Sequence[RoundPoints]) -> str:
    rows = [[r.round, f"{r.calls:,}", f"{r.tokens:,}", points_said(r)] for r in rounds]
    return table(("round", "calls", "tokens", "used of the pool"), rows, right=(1, 2))


def _as_json(use: PoolUse) -> dict[str, object]:
    entry = use.entry
    return {
        "pool": use.name,
        "unit": entry.unit,
        "window": entry.window,
        "starts_at": use.starts_at.isoformat(),
        "limit": entry.limit,
        "reserve": entry.reserve,
        "used": use.used,
        "at_least": use.at_least,
        "used_up": use.used_up,
        "free_at": use.free_at.isoformat() if use.free_at is not None else None,
        "calls": use.calls,
        "tokens": use.tokens,
    }
