"""`resit run`: a round from the command line."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import shlex
import signal
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from resit.core.calling.models import known_models, resolve_model
from resit.core.config import ModelsFile, load_models_file
from resit.core.endpoints import provider_for
from resit.core.errors import Unpriced, UsageError
from resit.core.records import EFFORTS, Attempt, Effort, Outcome, Setting
from resit.core.rounds.batch_runner import BatchRunner
from resit.core.rounds.events import Event, RoundEnded, SettingStopped
from resit.core.rounds.session import Prepared, prepare_round
from resit.core.rounds.starting import AnyRunner
from resit.core.scoring.grid import unsettled
from resit.core.suite import PLAIN
from resit.core.suite_file import find_suite, load_suite
from resit.plain.baseline import find_wanted, say_held
from resit.plain.dry_run import print_dry_run
from resit.plain.lines import Lines
from resit.plain.opened import Opened, open_round
from resit.plain.show import print_round, round_json
from resit.plain.text import note, plural, say, say_json

GRACE_S = 5.0
"""How long an interrupt waits for the calls that are out; a second one does not wait."""

_CAUSES = 5
_UNFAIR: dict[str, str] = {
    "empty": "empty",
    "cut_off": "cut off at its token limit",
    "refused": "a refusal",
    "blocked": "held back by a filter",
    "void": "void: the key was seen",
}
BELOW, CAP_OR_QUOTA, UNSETTLED, INTERRUPTED = 1, 3, 4, 130


def main(args: argparse.Namespace) -> int:
    """Ask what is owed, print the table; the exit code says how it ended."""
    suite = load_suite(find_suite(args.suite))
    models_file = load_models_file()
    settings = parse_settings(args.models, args.variants, models_file)
    if args.base_url and len({setting.provider for setting in settings}) > 1:
        mend = "run them apart, or give each its base_url in models.toml"
        raise UsageError("--base-url is one server, and these models are asked in different ways", hint=mend)
    prepared = prepare_round(
        suite,
        settings,
        args.runs,
        cap_usd=args.cap,
        serial=args.serial or None,
        concurrency=args.concurrency,
        only=tuple(args.only),
        round=args.round,
        base_url=args.base_url,
        models_file=models_file,
        batch=True if args.cancel_batch else args.batch,
        unisolated=args.unisolated,
        dask=args.dask,
    )
    if args.cancel_batch and not prepared.out:
        raise UsageError("this round has no batch out", hint="resit show last has what came back")
    if args.dry_run:
        print_dry_run(prepared, as_json=args.json)
        return 0
    _check_problems(prepared)
    wanted = find_wanted(args.baseline, args.junit, prepared.store.path if prepared.store else None)
    played = play(prepared, as_json=args.json, cancel=args.cancel_batch)
    ended, folder = played.ended, played.folder
    found = open_round(folder)
    held = wanted.hold(folder)
    _print(found, ended, {"baseline": wanted.json(held)} if held else {}, as_json=args.json)
    _say_how_it_ended(found, played, args.argv)
    if held is not None:
        say_held(held)
    return exit_code(found, ended, args.fail_under) or (BELOW if held is not None and held.broken else 0)


def parse_settings(models: Sequence[str], variants: Sequence[str], models_file: ModelsFile) -> tuple[Setting, ...]:
    """What `-m` and `--variant` ask for: every model at every of its efforts in every wording, each once.

    Raises:
        UsageError: An effort that no model has, or wordings without a model.
    """
    if variants and not models:
        raise UsageError("--variant needs a model", hint="-m MODEL names one")
    known = known_models(models_file)
    found: dict[Setting, None] = {}
    for text in models:
        name, efforts = _split(text)
        model = resolve_model(name, known)
        for effort, off in efforts:
            for variant in variants or [PLAIN]:
                setting = Setting(
                    model=model,
                    effort=effort,
                    variant=variant,
                    thinking="off" if off else "default",
                    provider=provider_for(model, models_file),
                )
                found[setting] = None
    return tuple(found)


def _split(text: str) -> tuple[str, list[tuple[Effort | None, bool]]]:
    """Model and efforts of `MODEL[@EFFORT,...]`. A model's own name may hold an `@`, before the last one."""
    name, at, tail = text.rpartition("@")
    if not at:
        name, tail = text, "default"
    if not name.strip():
        raise UsageError(f"-m {text!r} names no model", hint="resit models lists them")
    return name.strip(), [_effort(word.strip(), text) for word in tail.split(",")]


def _effort(word: str, text: str) -> tuple[Effort | None, bool]:
    if word == "off":
        return None, True
    off = word.endswith("+off")
    level = word.removesuffix("+off")
    for effort in (None, *EFFORTS):
        if level == (effort or "default"):
            return effort, off
    raise UsageError(f"-m {text}: there is no effort {word!r}", hint=f"it can be {', '.join(EFFORTS)}, off or low+off")


@dataclass(frozen=True, slots=True)
class Played:
    """A round that was run."""

    ended: RoundEnded
    folder: Path
    stopped: tuple[str, ...]
    """What was said of settings that could not go on, when it happened."""


def play(prepared: Prepared, *, as_json: bool = False, cancel: bool = False) -> Played:
    """Run a prepared round, showing it as this terminal or pipe can.

    With `cancel` nothing is asked: the round's batches are canceled, and what they had done is collected.
    """
    on_terminal = sys.stdout.isatty()
    lines = Lines(live=sys.stderr.isatty() and (on_terminal or as_json), plain=not on_terminal and not as_json)
    stopped: list[str] = []

    def emit(event: Event) -> None:
        if isinstance(event, SettingStopped):
            stopped.append(f"{event.setting.label}: {event.fault.said}")
        lines.emit(event)

    for text in prepared.notes:
        note(text)
    runner = prepared.start(emit)
    if cancel and isinstance(runner, BatchRunner):
        runner.cancel()
    try:
        ended = asyncio.run(_run(runner, lines))
    finally:
        lines.clear()
    return Played(ended, runner.store.path, tuple(stopped))


async def _run(runner: AnyRunner, lines: Lines) -> RoundEnded:
    loop = asyncio.get_running_loop()
    asked = 0

    def interrupted() -> None:
        nonlocal asked
        asked += 1
        if asked == 1:
            what = "batches go on at the server" if isinstance(runner, BatchRunner) else "calls that are out get"
            grace = "" if isinstance(runner, BatchRunner) else f" {GRACE_S:.0f} s"
            lines.line(f"stopping: {what}{grace}; again to stop at once", problem=True)
        runner.stop(GRACE_S if asked == 1 else 0.0)

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        with contextlib.suppress(NotImplementedError, RuntimeError, ValueError):
            loop.add_signal_handler(number, interrupted)
    return await runner.run()


def exit_code(found: Opened, ended: RoundEnded, fail_under: float | None = None) -> int:
    """The exit code for how a round ended; the first that applies: interrupted, cap or quota, unsettled, below."""
    if ended.reason == "stopped":
        return INTERRUPTED
    if ended.reason in ("cap", "quota"):
        return CAP_OR_QUOTA
    if ended.owed or any(unsettled(row) for row in found.graded.rows):
        return UNSETTLED
    lowest = [found.evidence.grid.summaries[p.setting.label].lowest_score for p in found.plan.settings]
    if fail_under is not None and any(share is None or share < fail_under for share in lowest):
        return BELOW
    return 0


def _check_problems(prepared: Prepared) -> None:
    """Settings that cannot start are named; without a price under a cap nothing starts.

    Raises:
        Unpriced: A model has no price, and there is a cap.
        ResitError: No setting can start; why the first of them cannot.
    """
    for problem in prepared.problems:
        if isinstance(problem.error, Unpriced):
            raise problem.error
    if not prepared.startable:
        raise prepared.problems[0].error
    for problem in prepared.problems:
        note(f"{problem.said}; the other settings go on")


def _print(found: Opened, ended: RoundEnded, more: Mapping[str, object], *, as_json: bool) -> None:
    # A closed pipe or terminal is no reason to lose the exit code.
    with contextlib.suppress(OSError):
        if as_json:
            end = {"reason": ended.reason, "said": ended.said, "owed": ended.owed}
            say_json({**round_json(found), "ended": end, **more})
        else:
            say()
            print_round(found)


def _say_how_it_ended(found: Opened, played: Played, argv: Sequence[str]) -> None:
    ended = played.ended
    with contextlib.suppress(OSError):
        # What stopped the settings was said when it did.
        if ended.reason != "done" and ended.said != "; ".join(played.stopped):
            note(ended.said)
        open_runs = sum(unsettled(row) for row in found.graded.rows)
        if ended.reason == "done":
            _say_why_open(found)
        again = shlex.join(["resit", *_going_on(argv, found.store.id)])
        if ended.owed or open_runs:
            saved = plural(len(found.graded.rows) - open_runs, "run")
            note(f"{saved} saved in round {found.store.id}; {plural(max(ended.owed, open_runs), 'run')} owed: {again}")
        below = sum(row.outcome in ("miss", "part") for row in found.graded.rows)
        if below:
            note(f"{plural(below, 'run')} below full marks: resit show {found.store.id} --misses")


def _going_on(argv: Sequence[str], round_id: str) -> list[str]:
    """The command that goes on with this round: the same, but that it no longer asks for a new one."""
    words = [f"--round={round_id}" if word == "--round=new" else word for word in argv]
    return [round_id if word == "new" and words[at - 1] == "--round" else word for at, word in enumerate(words)]


def _say_why_open(found: Opened) -> None:
    """Why runs ended without a fair answer, each cause once, with its count."""
    causes: Counter[str] = Counter()
    for key, entry in found.graded.entries.items():
        if unsettled(entry.row):
            record = found.store.read(key)
            if record is not None and record.attempts:
                causes[_cause(record.attempts[-1], entry.row.outcome)] += 1
    for said, count in causes.most_common(_CAUSES):
        note(f"{plural(count, 'run')} without a fair answer: {said}")


def _cause(last: Attempt, outcome: Outcome) -> str:
    if last.fault is not None:
        return last.fault.said
    if outcome == "cut_off" and last.reply is not None and last.reply.stop != "cut_off":
        return "the context window was full" if last.reply.stop == "context_full" else "its thinking never ended"
    return f"the reply is {_UNFAIR.get(outcome, 'no answer')}"
