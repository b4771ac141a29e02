"""The command line: parse, choose a front end, turn errors into one line and an exit code.

Exit codes: 0 done; 1 below `--fail-under`, broken since `--baseline`, faults found by `check` or a note that fails its
check; 2 usage or a refused suite; 3 stopped by cap or quota; 4 some runs have no fair answer; 70 a defect of resit's
own, with a log file; 130 interrupted, saved.
"""

from __future__ import annotations

import argparse
import difflib
import gc
import importlib
import os
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn, TextIO

from resit import __version__

if TYPE_CHECKING:
    from resit.core.config import Secret

USAGE, DEFECT, INTERRUPTED = 2, 70, 130

COMMANDS: dict[str, str] = {
    "demo": "the app on a sample suite with recorded replies; off a terminal: the same, as text",
    "run": "ask a suite's questions of models, and go on where an earlier run of it stopped",
    "watch": "follow a round that another process runs",
    "check": "what is wrong with suites, and the self-test",
    "explain": "each question in a sentence: which work it stands for, how it is graded, which trap it carries",
    "score": "grade answers that are already saved, no calls",
    "grade": "grade a round again, no calls: how many regraded, how many flipped",
    "show": "the table of a round, as text",
    "compare": "two settings or two rounds, question by question: fixed, broken, noise, and what that shows",
    "note": "a round's result as a page of Markdown, with every miss; `--check` recomputes every figure in it",
    "export": "a round's rows as CSV or JSON Lines, or the round as one self-contained HTML page",
    "rules": "for each kind of work the cheapest setting that passes all gates",
    "history": "a suite over its rounds: scores and costs, and which questions broke, flap or separate nobody",
    "spend": "what was spent, by day, model and suite",
    "pools": "what of each quota is used, and readings of it",
    "logs": "what your own logs say: which work goes to which model, at which level and cost",
    "models": "what can be asked: efforts, prices with date and source, keys",
}

_ROUND = "a round: its folder, its id, or `last`"
_SUITE = "a suite file, or sample:NAME"


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command line; the exit code."""
    _make_streams_forgiving()
    code = _guarded(list(sys.argv[1:] if argv is None else argv))
    _flush()
    return code


def _guarded(argv: list[str]) -> int:
    try:
        return _run(argv)
    except SystemExit as leaving:
        return leaving.code if isinstance(leaving.code, int) else USAGE
    except KeyboardInterrupt:
        sys.stderr.write("resit: interrupted\n")
        return INTERRUPTED
    except BrokenPipeError:
        return 0  # The reader of our output left; it has what it wanted.
    except Exception as error:
        return _report(error)


def _flush() -> None:
    """Write out what is buffered. Where nobody reads it, Python would fail at exit, with a code of its own."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            with suppress(OSError):
                os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _run(argv: list[str]) -> int:
    if not argv or (argv[0] not in COMMANDS and not argv[0].startswith("-")):
        return _open_app(argv)
    if argv[0] == "--":
        return _open_app(argv[1:])
    if argv[0] == "logs" and len(argv) > 1:
        handlers: dict[str, Callable[[list[str]], int]] = importlib.import_module("resit.plain.logs").HANDLERS
        if argv[1] in handlers:
            return handlers[argv[1]](argv[2:])
    args = _parser().parse_args(argv)
    args.argv = argv
    if args.command == "demo" and _on_terminal():
        return _start_app([], demo=True)
    command: Callable[[argparse.Namespace], int] = importlib.import_module(f"resit.plain.{args.command}").main
    return command(args)


def _open_app(paths: list[str]) -> int:
    """The app, with these suites first."""
    for path in paths:
        if path.startswith("-"):
            return _usage(f"unknown option {path!r}: resit --help lists what there is")
        if not Path(path).exists() and not path.startswith("sample:"):
            return _usage(_no_such(path))
    if not _on_terminal():
        return _usage("the app needs a terminal: `resit demo`, `resit run` and `resit show` work without one")
    return _start_app([_suite_path(path) for path in paths])


def _start_app(suite_paths: list[str], *, demo: bool = False) -> int:
    # What is built until the first paint is there to stay: looking through it for garbage took a quarter of the start.
    # The app turns the collector on again.
    gc.disable()
    # The pane beside the cursor is the next frame: at 60 a second it came 16 ms after the key, whatever it took.
    os.environ.setdefault("TEXTUAL_FPS", "120")
    from resit.tui.app import run_app

    return run_app(suite_paths, demo=demo)


def _suite_path(text: str) -> str:
    if not text.startswith("sample:"):
        return text
    from resit.core.suite_file import find_suite

    return str(find_suite(text))


def _no_such(word: str) -> str:
    near = difflib.get_close_matches(word, COMMANDS, n=1)
    mend = f"did you mean `resit {near[0]}`?" if near else "resit --help lists the commands"
    return f"there is no command or file {word!r}: {mend}"


def _on_terminal() -> bool:
    return sys.stdin is not None and sys.stdin.isatty() and sys.stdout.isatty() and sys.stderr.isatty()


def _usage(message: str) -> int:
    from resit.core.printable import one_line

    sys.stderr.write(f"resit: {one_line(message)}\n")
    return USAGE


def _report(error: Exception) -> int:
    from resit.core.errors import ResitError

    if isinstance(error, ResitError):
        return _usage(str(error))
    return _report_defect(error)


def _report_defect(error: Exception) -> int:
    """Two lines for the person; the rest, without any value, in a file."""
    import traceback

    from resit.core.config import scrub
    from resit.core.paths import atomic_write, data_dir

    lines = traceback.format_exception(error)
    path = data_dir() / "logs" / f"defect-{os.getpid()}.log"
    try:
        atomic_write(path, scrub("".join(lines), _known_keys()).encode(errors="backslashreplace"))
        where = f"the whole story is in {path}"
    except OSError:
        where = "its story could not be written down"
    _usage(f"a defect of resit's own ({type(error).__name__}); what was kept is safe, and the same command goes on")
    _usage(f"{where}; please report it")
    return DEFECT


def _known_keys() -> tuple[Secret, ...]:
    """Every key that may have been at hand: the providers' own, and those that `models.toml` names."""
    from resit.core.config import ANTHROPIC_KEY, OPENAI_KEY, find_key, load_models_file
    from resit.core.errors import ConfigError

    names = [ANTHROPIC_KEY, OPENAI_KEY]
    with suppress(ConfigError, OSError):
        names += [entry.key for entry in load_models_file().models.values() if entry.key]
    found = []
    for name in names:
        with suppress(ConfigError, OSError):
            found.append(find_key(name, Path.cwd()))
    return tuple(key for key in found if key is not None)


def _make_streams_forgiving() -> None:
    """A terminal that cannot write a character gets its escape, not an exception."""
    # A stream that was closed before the start is none at all.
    sys.stdout = sys.stdout or _nowhere()
    sys.stderr = sys.stderr or _nowhere()
    for stream in (sys.stdout, sys.stderr):
        with suppress(AttributeError, ValueError):
            stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]


def _nowhere() -> TextIO:
    return open(os.devnull, "w", encoding="utf-8")


class _Parser(argparse.ArgumentParser):
    """Complains in one line."""

    def error(self, message: str) -> NoReturn:
        """Say what is wrong and where help is; exit 2."""
        _usage(f"{message}: {self.prog} --help says what it takes")
        raise SystemExit(USAGE)


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="resit",
        usage="resit [PATH...]            the app\n       resit COMMAND ... [--help]",
        description="A private exam for language models, retaken with every new model.",
        epilog=__doc__.split("\n\n")[1] if __doc__ else None,
    )
    parser.add_argument("--version", action="version", version=f"resit {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    made = {
        name: commands.add_parser(name, prog=f"resit {name}", help=about, description=about)
        for name, about in COMMANDS.items()
    }
    _add_run(made["run"])
    made["watch"].add_argument("round", metavar="ROUND", help=_ROUND)
    made["check"].add_argument("suites", metavar="SUITE", nargs="+", help=_SUITE)
    made["explain"].add_argument("suite", metavar="SUITE", help=_SUITE)
    made["score"].add_argument("replies", metavar="REPLIES", help='{"ID": "answer"} or {"models": {NAME: {"answers": …')
    made["score"].add_argument("questions", metavar="QUESTIONS", help="a suite file of any form; needs no prompts")
    made["grade"].add_argument("round", metavar="ROUND", help=_ROUND)
    made["show"].add_argument("round", metavar="ROUND", help=_ROUND)
    made["show"].add_argument("--misses", action="store_true", help="every run below full marks, in full")
    made["history"].add_argument("suite", metavar="SUITE", help=f"{_SUITE}, or the name that its rounds are kept under")
    made["pools"].add_argument("pool", metavar="NAME", nargs="?", help="one pool: its readings, and what rounds used")
    made["pools"].add_argument("--reading", metavar="43%%", help="how much of it is used now, read by you")
    _add_compare(made["compare"])
    _add_rules(made["rules"])
    _add_note(made["note"])
    _add_export(made["export"])
    _add_logs(made["logs"])
    with_json = "run check explain score grade show compare rules history spend pools logs models"
    for name in with_json.split():
        made[name].add_argument("--json", action="store_true", help="one JSON object on standard output")
    return parser


def _add_note(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("round", metavar="ROUND", help=_ROUND)
    parser.add_argument("--check", action="store_true", help="exit 1 when a line does not follow from the replies")


def _add_logs(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("paths", metavar="PATH", nargs="*", help="folders, files and exports; none: where the agents keep their logs")
    add("--since", metavar="WHEN", help="not before: 30d, 12h, 2w ago, or 2026-11-01")
    add("--until", metavar="WHEN", help="not after; a day counts whole")
    add("--by", choices=("model", "effort", "kind", "day"), help="this table alone, all of it")


def _add_export(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("round", metavar="ROUND", help=_ROUND)
    parser.add_argument("--format", choices=("csv", "jsonl", "html"), required=True, help="csv, jsonl or html")
    parser.add_argument("-o", "--output", metavar="FILE", help="where to; standard output else")


def _add_compare(parser: argparse.ArgumentParser) -> None:
    side = "ROUND, ROUND:SETTING, or a setting of the last round (its label, model@effort, or letter)"
    parser.add_argument("before", metavar="A", help=side)
    parser.add_argument("after", metavar="B", help="what is held against A, named in the same way")


def _add_rules(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("rounds", metavar="ROUND", nargs="+", help=f"{_ROUND}; several are pooled, the newest runs count")
    add("--bar", metavar="X", type=_share, default=1.0, help="lowest score that is good enough (1: full marks)")
    add(
        "--today", metavar="[KIND=]SETTING", action="append", default=[],
        help="what is used today, for all kinds of work or for one; repeatable",
    )  # fmt: skip
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--toml", action="store_true", help="as TOML")
    form.add_argument("--into", metavar="FILE", help="write a marked block of FILE, nothing else in it; a diff first")
    add("--yes", action="store_true", help="write without asking")


def _add_run(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("suite", metavar="SUITE", help=_SUITE)
    add(
        "-m", "--model", metavar="MODEL[@EFFORT,...]", action="append", dest="models", default=[],
        help="a model, with efforts (low, medium, high, xhigh, max; off or low+off without thinking); repeatable",
    )  # fmt: skip
    add("-n", "--runs", metavar="RUNS", type=_count, help="runs of each question (the suite's own number)")
    add("--variant", action="append", dest="variants", default=[], metavar="V", help="a wording; repeatable")
    add("--only", action="append", default=[], metavar="ID|KIND", help="only this question or kind; repeatable")
    add("--cap", metavar="USD", type=_money, help="the most the round may cost")
    pace = parser.add_mutually_exclusive_group()
    pace.add_argument("--serial", action="store_true", help="one call at a time, so that seconds are clean")
    pace.add_argument("--concurrency", metavar="N", type=_count, help="calls at a time")
    add(
        "--round",
        metavar="R",
        help="the round to go on with or add to: its folder, its id, `last`; `new` starts another",
    )
    batch = parser.add_mutually_exclusive_group()
    batch.add_argument(
        "--batch", action=argparse.BooleanOptionalAction, default=None,
        help="as Message Batches: half the price, within a day; the same command collects what is out",
    )  # fmt: skip
    batch.add_argument(
        "--cancel-batch", action="store_true", help="cancel the round's batches, collect what was done, ask nothing"
    )
    add("--base-url", metavar="URL", help="a compatible server; shown and recorded")
    add("--dask", metavar="ADDRESS", help="let the workers of this Dask cluster run agents; asks models from here")
    add("--unisolated", action="store_true", help="let agents start though they could read the answers; recorded")
    add("--dry-run", action="store_true", help="say what would be asked and what it may cost; ask nothing")
    add(
        "--fail-under", metavar="X", type=_share,
        help="exit 1 when a setting's lowest score is below X: 0.9, 90 and 90%% mean the same, 1 means full marks",
    )  # fmt: skip
    add(
        "--baseline", metavar="ROUND",
        help="exit 1 when a question that passed in every run of ROUND is now missed in every run",
    )  # fmt: skip
    add("--junit", metavar="FILE", help="write the results as JUnit XML")


def _count(text: str) -> int:
    try:
        number = int(text)
    except ValueError:
        number = 0
    if not 1 <= number <= 100_000:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from 1 on")
    return number


def _money(text: str) -> Decimal:
    try:
        amount = Decimal(text.removeprefix("$"))
    except InvalidOperation:
        amount = Decimal("NaN")
    if not amount.is_finite() or amount < 0:
        raise argparse.ArgumentTypeError(f"{text!r} is not an amount in US dollars")
    return amount


def _share(text: str) -> float:
    try:
        amount = Decimal(text.removesuffix("%"))
    except InvalidOperation:
        amount = Decimal("NaN")
    share = amount / 100 if text.endswith("%") or (amount.is_finite() and amount > 1) else amount
    if not share.is_finite() or not 0 <= share <= 1:
        raise argparse.ArgumentTypeError(f"{text!r} is neither a share from 0 to 1 nor a percentage")
    return float(share)
