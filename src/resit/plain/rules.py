"""`resit rules`: for each kind of work the cheapest setting that passes all gates."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from resit.core.errors import UsageError
from resit.core.judging.compare import Comparison
from resit.core.judging.evidence import Evidence, gather, pool
from resit.core.judging.gates import Gated
from resit.core.judging.growth import make_growth
from resit.core.judging.marked import BlockEdit, plan_block
from resit.core.judging.naming import find_label
from resit.core.judging.routing import Route, Routing, make_routing
from resit.core.judging.routing_text import routing_markdown, routing_toml
from resit.core.printable import printable
from resit.core.rounds.shelf import open_round
from resit.plain.compare import comparison_json
from resit.plain.opened import find_round
from resit.plain.text import jsonable, note, say, say_json


def main(args: argparse.Namespace) -> int:
    """Decide, and print the rules or write them into a file; 0."""
    if args.json and (args.toml or args.into is not None):
        raise UsageError("--json is a form of its own", hint="leave out --toml and --into")
    paths = dict.fromkeys(find_round(ref).path.resolve() for ref in args.rounds)
    evidence = pool([_gathered(path) for path in paths])
    routing = make_routing(evidence, bar=args.bar, today=_today(args.today, evidence))
    if args.into is not None:
        return _write_into(plan_block(Path(args.into), routing_markdown(routing)), sure=args.yes)
    if args.json:
        say_json(routing_json(routing))
    elif args.toml:
        say(_visible_toml(routing_toml(routing)).rstrip("\n"))
    else:
        say(routing_markdown(routing).rstrip("\n"))
    return 0


def _gathered(path: Path) -> Evidence:
    found = open_round(path)
    if found.note:
        note(f"round {found.store.id}: {found.note}")
    for damaged in found.damaged:
        note(f"round {found.store.id}: {damaged}")
    return gather(found)


def _today(named: list[str], evidence: Evidence) -> dict[str, str]:
    """By kind of work, the label of what is used today."""
    used: dict[str, str] = {}
    for text in named:
        kind, equals, setting = text.partition("=")
        label = find_label(evidence.grid.settings, setting if equals else text)
        used |= {kind: label} if equals else dict.fromkeys(evidence.kinds, label)
    return used


def _visible_toml(text: str) -> str:
    """Characters that could steer a terminal as TOML's own escapes."""
    return "".join(
        character if character == "\n" or character.isprintable() else f"\\U{ord(character):08X}" for character in text
    )


def _write_into(edit: BlockEdit, *, sure: bool) -> int:
    """Show the change; write it once the person agrees."""
    if not edit.changes:
        note(f"{edit.path} holds these rules already")
        return 0
    say(printable(edit.diff))
    if not sure and not _agrees(edit.path):
        note(f"nothing was written: --yes writes it into {edit.path}")
        return 0
    edit.write()
    note(f"written into {edit.path}")
    return 0


def _agrees(path: Path) -> bool:
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        return False
    sys.stderr.write(f"resit: write this into {printable(str(path))}? [y/N] ")
    sys.stderr.flush()
    return sys.stdin.readline().strip().casefold() in ("y", "yes")


def routing_json(routing: Routing) -> dict[str, object]:
    """The rules as `--json` prints them."""
    evidence = routing.evidence
    return {
        "rounds": evidence.rounds,
        "suite": evidence.suite,
        "rule": evidence.rule_said,
        "bar": routing.bar,
        "not_counted": {"stated": evidence.stated, "questions": evidence.questions_out, "runs": len(evidence.runs_out)},
        "kinds": [_route_json(routing, route) for route in routing.routes],
    }


def _route_json(routing: Routing, route: Route) -> dict[str, object]:
    versus: Comparison | None = route.versus
    return {
        "kind": route.kind,
        "questions": route.questions,
        "use": route.chosen.label if route.chosen else None,
        "said": route.said,
        "too_easy": route.ceiling,
        "today": route.today.label if route.today else None,
        "versus_today": comparison_json(versus) if versus else None,
        "passing": [_gated_json(one) for one in route.passing],
        "failing": [_gated_json(one) for one in route.failing],
        "not_asked": route.not_asked,
        "more_questions": make_growth(routing.evidence, route.kind).said,
    }


def _gated_json(gated: Gated) -> dict[str, object]:
    figures = gated.figures
    return {
        "setting": gated.label,
        "said": gated.said,
        "gates": [{"number": g.number, "name": g.name, "state": g.state, "said": g.said} for g in gated.gates],
        "lowest_score": figures.lowest.share,
        "interval_95": None if figures.interval is None else [figures.interval.low, figures.interval.high],
        "lowest_full": figures.summary.lowest_full,
        "of": figures.summary.of,
        "mean": figures.summary.mean,
        "runs_least": figures.runs_least,
        "cost_each_usd": jsonable(figures.cost_each_usd),
        "seconds_median": figures.summary.seconds_median,
        "seconds_95": figures.seconds_95,
        "grader_suspects": [suspect.why for suspect in gated.suspects],
    }
