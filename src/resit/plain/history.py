"""`resit history`: a suite over its rounds."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

from resit.core.errors import ResitError, RoundError
from resit.core.judging.gates import UNTESTED
from resit.core.judging.history import Break, History, Standing, make_history
from resit.core.judging.wording import day, dollars, percent
from resit.core.paths import rounds_dir
from resit.core.printable import one_line
from resit.core.rounds.shelf import OpenedRound, open_round, rounds_of
from resit.core.rounds.store import find_rounds
from resit.core.suite import Suite
from resit.core.suite_file import find_suite, load_suite
from resit.plain.text import jsonable, note, plural, say, say_json, table

_STEPS = "▁▂▃▄▅▆▇█"


def main(args: argparse.Namespace) -> int:
    """Print the history; 0."""
    found = list(_opened(*_folders(args.suite)))
    history = make_history(found)
    if args.json:
        say_json(history_json(history, found[0].plan.suite if found else args.suite))
        return 0
    title = found[0].plan.title if found else args.suite
    say(one_line(f"{title} · {plural(len(history.rounds), 'round')}"))
    for line in history.stated:
        say(one_line(line))
    say()
    say(_standings(history))
    for text in (_over_time(history), _fates(history)):
        if text:
            say()
            say(text)
    return 0


def _folders(text: str) -> tuple[list[Path], Suite | None]:
    """The rounds of a suite's file, or those of a name for which no file is there any more.

    Raises:
        RoundError: There are none.
        ResitError: The suite cannot be read.
    """
    named = find_rounds(rounds_dir(), text) if text.replace("-", "").replace("_", "").isalnum() else []
    try:
        path = find_suite(text)
    except ResitError:
        if named:
            return named, None
        raise
    suite = load_suite(path)
    if folders := rounds_of(suite):
        return folders, suite
    others = find_rounds(rounds_dir(), suite.name)
    mend = f"{plural(len(others), 'round')} of another file of that name: resit history {suite.name}"
    raise RoundError(
        f"there is no round of {text} yet", hint=mend if others else f"resit run {text} -m MODEL starts one"
    )


def _opened(folders: list[Path], suite: Suite | None) -> Iterator[OpenedRound]:
    """Each round that can be read, under the rules that hold now; the others are named."""
    for path in folders:
        try:
            found = open_round(path, suite=suite)
        except RoundError as error:
            note(f"not in the history: {error.message}")
            continue
        for text in (found.note, *found.damaged):
            if text:
                note(f"round {found.store.id}: {text}")
        yield found


def _standings(history: History) -> str:
    head = ["round", "day", "setting", "full marks", "lowest score", "graded", "cost", "one run of each", ""]
    rows = [
        [
            standing.round_id,
            day(standing.at.astimezone()),
            standing.setting,
            f"{standing.full}/{standing.of}",
            percent(standing.share),
            f"{standing.graded}/{standing.planned}",
            dollars(standing.cost_usd, at_least=standing.cost_at_least),
            dollars(standing.cost_each_usd),
            UNTESTED if standing.runs_least == 1 else "",
        ]
        for standing in history.standings
    ]
    return table(head, rows, right=range(3, 8))


def _over_time(history: History) -> str:
    """A line of steps for each setting that was asked more than once."""
    found = [(label, history.of_setting(label)) for label in history.settings]
    rows = [
        [label, steps(told), f"{percent(told[0].share)} → {percent(told[-1].share)}"]
        for label, told in found
        if len(told) > 1
    ]
    return table(["setting", "lowest score over time", ""], rows) if rows else ""


def steps(standings: tuple[Standing, ...]) -> str:
    """Lowest scores as blocks of eight heights, oldest first; a point where nothing was settled."""
    return "".join(
        "·" if found.share is None else _STEPS[min(int(found.share * len(_STEPS)), len(_STEPS) - 1)]
        for found in standings
    )


def _fates(history: History) -> str:
    rows = [
        [fate.question, fate.said, "; ".join(_break_said(found) for found in fate.breaks)] for fate in history.fates
    ]
    return table(["question", "what became of it", ""], rows, limit=120) if rows else ""


def _break_said(found: Break) -> str:
    return f"{found.setting}: right in {found.before}, wrong in {found.after}"


def history_json(history: History, suite: str) -> dict[str, object]:
    """The history as `--json` prints it."""
    return {
        "suite": suite,
        "rounds": history.rounds,
        "stated": history.stated,
        "standings": [{**jsonable(standing), "at": standing.at.isoformat()} for standing in history.standings],
        "breaks": jsonable(history.breaks),
        "flapping": history.flapping,
        "always_full": history.always_full,
        "never_full": history.never_full,
        "mixed": history.mixed,
        "unequal": history.unequal,
    }
