"""`resit show`: a round's table as text, and its misses in full."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from datetime import UTC, datetime
from decimal import Decimal
from string import ascii_uppercase

from resit.core.judging.evidence import Evidence
from resit.core.judging.gates import UNTESTED, judge_settings
from resit.core.judging.wording import dollars, percent
from resit.core.printable import one_line
from resit.core.records import FAIR
from resit.core.rounds.lost import lost_said
from resit.core.rounds.memory import rows_json
from resit.core.scoring.grid import Cell, SettingSummary
from resit.core.suite import Question
from resit.plain.misses import misses
from resit.plain.opened import Opened, open_round
from resit.plain.text import jsonable, plural, say, say_json, score, table


def main(args: argparse.Namespace) -> int:
    """Print the table; 0."""
    found = open_round(args.round)
    if args.json:
        say_json(round_json(found))
        return 0
    print_round(found)
    if args.misses:
        for text in misses(found):
            say()
            say(text)
    return 0


def round_json(found: Opened) -> dict[str, object]:
    """The round as `--json` of run, show and grade prints it."""
    rows = found.graded.rows
    counts = [found.evidence.grid.summaries[p.setting.label] for p in found.plan.settings]
    sums = [found.grid.summaries[p.setting.label] for p in found.plan.settings]
    costs = [row.cost_usd for row in rows if row.cost_usd is not None]
    return {
        "round": found.store.id,
        "suite": found.plan.suite,
        "suite_digest": found.plan.suite_digest,
        "rule": {
            "digest": found.suite.rule_digest,
            "set_at": found.plan.rule_set_at.isoformat(),
            "edits_since": found.edits_since,
            "changed_since": found.suite.rule_digest != found.plan.rule_digest,
        },
        "settings": [
            {"endpoint": planned.endpoint, **_summary_json(summary), "kinds": _kinds_json(found, summary)}
            for planned, summary in zip(found.plan.settings, counts, strict=True)
        ],
        "left_out": {
            "questions": list(found.evidence.questions_out),
            "runs": [[row.question, row.setting, row.run] for row in found.evidence.runs_out],
        },
        "runs": rows_json(rows),
        "totals": {
            "planned": sum(s.planned for s in sums),
            "graded": sum(row.outcome in FAIR for row in rows),
            "unsettled": sum(s.unsettled for s in sums),
            "passed": sum(row.outcome == "pass" for row in rows),
            "cost_usd": jsonable(sum(costs, Decimal(0)) if costs else None),
            "at_least": len(costs) < len(rows) or found.lost > 0,
            "lost_calls": found.lost,
        },
    }


def _kinds_json(found: Opened, summary: SettingSummary) -> dict[str, object]:
    """The same figures for each kind of work."""
    parts = {kind: found.evidence.of_kind(kind).grid.summaries for kind in found.evidence.kinds}
    names = ("setting", "model", "effort", "variant", "thinking")
    told = {kind: _summary_json(sums[summary.setting.label]) for kind, sums in parts.items()}
    return {kind: {key: value for key, value in sums.items() if key not in names} for kind, sums in told.items()}


def _summary_json(summary: SettingSummary) -> dict[str, object]:
    return {
        "setting": summary.setting.label,
        "model": summary.setting.model,
        "effort": summary.setting.effort,
        "variant": summary.setting.variant,
        "thinking": summary.setting.thinking,
        "graded": summary.graded,
        "planned": summary.planned,
        "lowest_score": summary.lowest_score,
        "lowest_full": summary.lowest_full,
        "of": summary.of,
        "mean": summary.mean,
        "second_lowest_score": summary.second_lowest_score,
        "second_lowest_full": summary.second_lowest_full,
        "unsettled": summary.unsettled,
        "cut_off": summary.cut_off,
        "cost_usd": jsonable(summary.cost_usd),
        "cost_at_least": summary.cost_at_least,
        "seconds_median": summary.seconds_median,
    }


def print_round(found: Opened) -> None:
    """The settings with their sums, then every question."""
    plan = found.plan
    say(one_line(f"{plan.title} · round {found.store.id} · {found.rule_said}"))
    for line in _notes(found):
        say(one_line(line))
    say()
    say(_settings_table(found))
    say()
    say(_questions_table(found))
    say()
    say(_legend(found))


def _notes(found: Opened) -> Iterator[str]:
    for place in dict.fromkeys((p.endpoint, p.endpoint_source) for p in found.plan.settings):
        endpoint, source = place
        yield f"asked at {endpoint}" + ("" if source in ("default", "recorded") else f" (from {source})")
    if found.plan.repeats == 1:
        yield f"one run of each question: {UNTESTED}"
    if lost := lost_said(found.lost):
        yield lost
    yield from _left_out(found.evidence)
    for kind in found.evidence.kinds:
        for gate in judge_settings(found.evidence, kind)[0].gates:
            if gate.state == "limit":
                yield f"{kind}: {gate.said}"
    for planned in found.plan.settings:
        if planned.price is not None and planned.price.stale(datetime.now(UTC).date()):
            yield f"{planned.setting.model}: the price is old, from {planned.price.label}"
        summary = found.grid.summaries[planned.setting.label]
        if summary.cut_off:
            yield f"{summary.setting.label}: {summary.cut_off_said}"


def _left_out(evidence: Evidence) -> Iterator[str]:
    if evidence.questions_out:
        yield f"left out for every setting, the question being at fault: {', '.join(evidence.questions_out)}"
    if evidence.runs_out:
        yield f"{plural(len(evidence.runs_out), 'run')} left out, the set-up being at fault"


def _second(found: Opened) -> bool:
    """True when a question of the round has a second rule."""
    return any(q.second_rule is not None for q in found.plan.questions(found.suite))


def _settings_table(found: Opened) -> str:
    second = _second(found)
    head = [
        "",
        "setting",
        "full marks",
        "lowest score",
        *(["second rule"] if second else []),
        "graded",
        "unsettled",
        "median",
        "cost",
    ]
    rows = []
    for letter, planned in zip(_letters(), found.plan.settings, strict=False):
        s = found.evidence.grid.summaries[planned.setting.label]
        row = [letter, s.setting.label, f"{s.lowest_full}/{s.of}", percent(s.lowest_score)]
        row += [f"{s.second_lowest_full}/{s.of}"] if second else []
        row += [f"{s.graded}/{s.planned}", str(s.unsettled), _seconds(s.seconds_median)]
        rows.append([*row, dollars(s.cost_usd, at_least=s.cost_at_least)])
    return table(head, rows, right=range(2, len(head)))


def _questions_table(found: Opened) -> str:
    settings = [planned.setting.label for planned in found.plan.settings]
    letters = [letter for letter, _ in zip(_letters(), settings, strict=False)]
    rows = [
        [q.id, q.kind, *(_cell(found.grid.cells.get((q.id, label)), q) for label in settings)]
        for q in found.plan.questions(found.suite)
    ]
    return table(["question", "kind", *letters], rows, limit=32)


def _cell(cell: Cell | None, question: Question) -> str:
    """The lowest score, the second rule's beside it where it says something else, and what is unsettled."""
    if cell is None or not (cell.count or cell.unsettled):
        return "·"
    text = score(cell.lowest)
    if question.second_rule is not None and cell.second_lowest not in (None, cell.lowest):
        text += f" | {score(cell.second_lowest)}"
    return text + (f" · {cell.unsettled} unsettled" if cell.unsettled else "")


def _legend(found: Opened) -> str:
    said = f"each cell: the lowest of {plural(found.plan.repeats, 'run')}"
    said += "; after the bar the second rule, where it says something else" if _second(found) else ""
    return f"{said}; – no fair answer, · not asked yet"


def _letters() -> Iterator[str]:
    """Names of columns: A to Z, then AA and so on."""
    for first in ("", *ascii_uppercase):
        for last in ascii_uppercase:
            yield first + last


def _seconds(value: float | None) -> str:
    return "–" if value is None else f"{value:.1f} s"
