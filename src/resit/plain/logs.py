"""`resit logs`: which work goes to which model at which level, and what it costs, out of this machine's own logs.

`--json` prints one object:

    since until            the range as asked for, UTC; null: open
    sources files          what was looked through
    total                  a sum, as below, of everything
    by_model by_effort by_kind by_day   lists of sums
    no_effort_share        share of requests and delegations that set no level, 0 to 1; null without any
    dearest                the model in use with the highest price for output; null: no price known
    candidates             kinds of work that go to it, most requests first: {kind, why, model, count, share, cost_usd,
                           at_least, no_effort, examples}
    prices                 where prices are from, with their dates
    skipped                {damaged_lines, long_lines, unknown_lines: {type: count}, unread: [{path, reason}], own_runs,
                           unanswered}

A sum is {name, requests, delegations, input_tokens, cache_write_tokens, cache_read_tokens, output_tokens,
thinking_tokens, cost_usd, at_least, unpriced, uncounted, no_effort, models: {model: count}, efforts: {level: count},
why}. `requests` are those of persons; `input_tokens` leaves out what was cached; a cost that is not known is null, and
`at_least` says that more than `cost_usd` was spent: `unpriced` names the models without a price, `uncounted` counts
requests whose log holds no tokens.
"""

from __future__ import annotations

import argparse
import gc
import importlib
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from resit.core.judging.wording import day, dollars, named, percent
from resit.core.logs.records import BY, LogIndex, Progress, ScanProgress, Sum, Summary
from resit.core.logs.scan import scan
from resit.core.logs.summary import summarise
from resit.core.logs.when import end_of, start_of
from resit.core.printable import one_line
from resit.plain.text import jsonable, note, plural, say, say_json, table

HANDLERS: dict[str, Callable[[Sequence[str]], int]] = {
    "prompt": lambda argv: _of("logs_prompt")(argv),
    "ask": lambda argv: _of("logs_ask")(argv),
    "audit": lambda argv: _of("logs_audit")(argv),
}
"""What takes the rest of the line after `resit logs WORD`, by its word; every other word is a path."""


def _of(module: str) -> Callable[[Sequence[str]], int]:
    """The command in a module that is imported only when it is wanted."""
    command: Callable[[Sequence[str]], int] = importlib.import_module(f"resit.plain.{module}").main
    return command


_SHOWN = {"model": 12, "effort": 12, "kind": 12, "day": 14}
"""Lines of each table when all of them are shown."""
_UNREAD_SHOWN = 3


def main(args: argparse.Namespace) -> int:
    """Print what the logs add up to; 0."""
    now = datetime.now(UTC)
    with _no_garbage(), _progress() as progress:
        index = scan(
            [Path(path) for path in args.paths] or None,
            None if args.since is None else start_of(args.since, now),
            None if args.until is None else end_of(args.until, now),
            progress,
        )
        summary = summarise(index)
    _notes(index)
    if args.json:
        say_json(as_json(index, summary))
        return 0
    if not index.requests:
        say(one_line(_nothing(index)))
        return 0
    if args.by:
        _print(args.by, _sums(summary, args.by), None)
        return 0
    _head(index, summary)
    for by in BY:
        say()
        _print(by, _sums(summary, by), _SHOWN[by])
    _candidates(summary)
    return 0


@contextmanager
def _no_garbage() -> Iterator[None]:
    """What is read stays until it is shown: looking through it for garbage took two fifths of a second look."""
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.enable()


def as_json(index: LogIndex, summary: Summary) -> dict[str, object]:
    """The object of `--json`."""
    return {
        "since": None if index.since is None else index.since.isoformat(),
        "until": None if index.until is None else index.until.isoformat(),
        "sources": list(index.sources),
        "files": index.files,
        "total": _sum_as_json(summary.total),
        **{f"by_{by}": [_sum_as_json(each) for each in _sums(summary, by)] for by in BY},
        "no_effort_share": summary.no_effort_share,
        "dearest": summary.dearest,
        "candidates": jsonable(summary.candidates),
        "prices": list(index.price_notes),
        "skipped": {
            "damaged_lines": index.damaged_lines,
            "long_lines": index.long_lines,
            "unknown_lines": index.unknown_lines,
            "unread": jsonable(index.unread),
            "own_runs": index.own_runs,
            "unanswered": index.unanswered,
        },
    }


def _sum_as_json(each: Sum) -> dict[str, object]:
    usage = each.usage
    return {
        "name": each.name,
        "requests": each.requests,
        "delegations": each.delegations,
        "input_tokens": usage.input_tokens,
        "cache_write_tokens": usage.cache_write_tokens,
        "cache_read_tokens": usage.cache_read_tokens,
        "output_tokens": usage.output_tokens,
        "thinking_tokens": usage.thinking_tokens,
        "cost_usd": jsonable(each.cost_usd),
        "at_least": each.at_least,
        "unpriced": list(each.unpriced),
        "uncounted": each.uncounted,
        "no_effort": each.no_effort,
        "models": dict(each.models),
        "efforts": dict(each.efforts),
        "why": each.why,
    }


def _sums(summary: Summary, by: str) -> tuple[Sum, ...]:
    found: tuple[Sum, ...] = getattr(summary, f"by_{by}")
    return found


def _head(index: LogIndex, summary: Summary) -> None:
    total = summary.total
    first, last = index.requests[0].when.astimezone(), index.requests[-1].when.astimezone()
    delegated = f" and {plural(total.delegations, 'delegation')} to sub-agents" if total.delegations else ""
    say(f"{plural(total.requests, 'request')}{delegated}, {day(first)} to {day(last)}")
    say(one_line(f"cost         {_cost(total)}{_missing(total)}"))
    if index.price_notes:
        say(one_line(f"prices       {named(index.price_notes, 3)}"))
    say(f"no level     {percent(summary.no_effort_share)} set no effort ({total.no_effort:,} of {total.count:,})")


def _print(by: str, sums: Sequence[Sum], limit: int | None) -> None:
    shown = sums if limit is None else sums[-limit:] if by == "day" else sums[:limit]
    head = (by, "asked", "agents", "cost", "input", "cached", "output", "no level")
    say(table(head, [_cells(each) for each in shown], right=range(1, len(head)), limit=24))
    if len(shown) < len(sums):
        say(f"… {len(sums) - len(shown):,} more; --by {by} has all of them")
    if by == "kind":
        say()
        say(table((by, "because"), [(each.name, each.why) for each in shown], limit=60))


def _cells(each: Sum) -> tuple[str, ...]:
    usage = each.usage
    return (
        each.name,
        f"{each.requests:,}",
        f"{each.delegations:,}",
        _cost(each).replace("at least ", "≥ "),
        _short((usage.input_tokens or 0) + (usage.cache_write_tokens or 0)),
        _short(usage.cache_read_tokens or 0),
        _short(usage.output_tokens or 0),
        f"{each.no_effort:,}",
    )


def _candidates(summary: Summary) -> None:
    if not summary.candidates:
        return
    say()
    say(one_line(f"Most asked of {summary.dearest}, the dearest model in use: would a cheaper one do?"))
    head = ("kind", "times", "share", "cost", "no level")
    rows = [
        (each.kind, f"{each.count:,}", percent(each.share),
         dollars(each.cost_usd, at_least=each.at_least).replace("at least ", "≥ "), f"{each.no_effort:,}")
        for each in summary.candidates
    ]  # fmt: skip
    say(table(head, rows, right=range(1, 5), limit=24))


def _cost(each: Sum) -> str:
    return dollars(each.cost_usd, at_least=each.at_least)


def _missing(each: Sum) -> str:
    """Why a sum is only the least that was spent."""
    reasons = [f"no price for {named(each.unpriced, 3)}"] if each.unpriced else []
    if each.uncounted:
        reasons.append(f"no token counts for {plural(each.uncounted, 'request')}")
    return f" ({'; '.join(reasons)})" if reasons else ""


def _short(tokens: int) -> str:
    """Tokens in as few digits as a table has room for."""
    for size, letter in ((10**9, "G"), (10**6, "M"), (10**4, "k")):
        if tokens >= size:
            size = min(size, 1000) if letter == "k" else size
            return f"{tokens / size:.1f}{letter}"
    return f"{tokens:,}"


def _nothing(index: LogIndex) -> str:
    if not index.sources:
        return "no logs were found: `resit logs PATH` reads a folder, or an export of Claude.ai or ChatGPT"
    return f"no request was found in {plural(index.files, 'file')} of {named(index.sources, 3)}"


def _notes(index: LogIndex) -> None:
    """What was not read, on standard error."""
    for unread in index.unread[:_UNREAD_SHOWN]:
        note(f"{unread.path} was not read: {unread.reason}")
    if len(index.unread) > _UNREAD_SHOWN:
        note(f"{plural(len(index.unread) - _UNREAD_SHOWN, 'more file')} could not be read; --json names all of them")
    if count := index.damaged_lines:
        note(f"{plural(count, 'line')} of the logs cannot be read and {_are(count)} in no sum")
    if count := index.long_lines:
        note(f"{plural(count, 'line')} of the logs {_are(count)} too long to be read and {_are(count)} in no sum")
    if index.unknown_lines:
        kinds = named([f"{name} ({count:,})" for name, count in index.unknown_lines.items()], 3)
        note(f"lines of kinds that resit does not know were passed over: {kinds}")


def _are(count: int) -> str:
    return "is" if count == 1 else "are"


@contextmanager
def _progress() -> Iterator[Progress | None]:
    """What shows how far a scan is, on one line of the terminal that is gone at the end; None without a terminal."""
    if not sys.stderr.isatty():
        yield None
        return

    def show(progress: ScanProgress) -> None:
        share = progress.bytes / max(1, progress.bytes_total)
        sys.stderr.write(f"\rreading logs: {share:4.0%}, {progress.requests:,} requests\x1b[K")
        sys.stderr.flush()

    try:
        yield show
    finally:
        sys.stderr.write("\r\x1b[K")
        sys.stderr.flush()
