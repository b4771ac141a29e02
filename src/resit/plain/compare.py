"""`resit compare`: two settings or two rounds, question by question."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from resit.core.errors import UsageError
from resit.core.judging.compare import Change, Comparison, Pair, compare
from resit.core.judging.evidence import Evidence
from resit.core.judging.naming import find_side, gather_both
from resit.core.judging.wording import percent
from resit.core.printable import one_line
from resit.core.rounds.shelf import OpenedRound
from resit.core.scoring.grid import Cell, Rate, settled_score
from resit.plain.text import jsonable, note, say, say_json, score

_LISTED: tuple[Change, ...] = ("broken", "fixed", "noise", "still missed")


def main(args: argparse.Namespace) -> int:
    """Compare and print; 0."""
    before, label_before = find_side(args.before)
    after, label_after = find_side(args.after)
    for found in (before, after):
        if found.note:
            note(f"round {found.store.id}: {found.note}")
        for damaged in found.damaged:
            note(f"round {found.store.id}: {damaged}")
    old, new = gather_both(before, after)
    labels = _label_pairs(before, label_before, after, label_after)
    found_all = [compare(old, one, new, other) for one, other in labels]
    if args.json:
        say_json({"comparisons": [comparison_json(found) for found in found_all]})
        return 0
    _print_all(found_all, old, new)
    return 0


def _label_pairs(
    before: OpenedRound, label_before: str | None, after: OpenedRound, label_after: str | None
) -> list[tuple[str, str]]:
    """Which settings are held against which."""
    old, new = before.plan.labels, after.plan.labels
    if label_before and label_after:
        return [(label_before, label_after)]
    if named := label_before or label_after:
        others = new if label_before else old
        other = named if named in others else others[0] if len(others) == 1 else None
        if other is None:
            raise UsageError(f"{named!r} is in one of the rounds only", hint="name both sides as ROUND:SETTING")
        return [(named, other) if label_before else (other, named)]
    shared = [(label, label) for label in new if label in old]
    if before.store.path == after.store.path:
        raise UsageError("a round is compared with itself", hint="name its settings as ROUND:SETTING")
    if shared:
        return shared
    if len(old) == len(new) == 1:
        return [(old[0], new[0])]
    raise UsageError("no setting is in both rounds", hint="name both sides as ROUND:SETTING")


def _print_all(every: list[Comparison], old: Evidence, new: Evidence) -> None:
    say(one_line(f"before: round {old.rounds[0]}, {old.rule_said}"))
    say(one_line(f"after:  round {new.rounds[0]}, {new.rule_said}"))
    for found in every:
        say()
        for line in _lines(found):
            say(one_line(line))


def _lines(found: Comparison) -> Iterator[str]:
    same = found.before.label == found.after.label
    yield found.after.label if same else f"{found.before.label} → {found.after.label}"
    for line in found.stated:
        yield f"  unequal: {line}"
    yield f"  {found.said}"
    if not found.pairs:
        return
    yield f"  lowest runs: {_rate_said(found.score_before)} → {_rate_said(found.score_after)}"
    if len(found.by_kind) > 1:
        for kind, before, after in found.by_kind:
            yield f"    {kind}: {_rate_said(before)} → {_rate_said(after)}"
    yield f"  {found.counts_said}"
    for change in _LISTED:
        for pair in found.of_change(change):
            yield f"    {change:12}  {pair.question.id}  {_pair_said(pair)}"


def _rate_said(rate: Rate) -> str:
    return f"{rate} ({percent(rate.share)})"


def _pair_said(pair: Pair) -> str:
    return f"{_runs_said(pair.before)} → {_runs_said(pair.after)}"


def _runs_said(cell: Cell) -> str:
    """The scores of the runs, first to last."""
    return " ".join(score(settled_score(row)) for row in cell.runs)


def comparison_json(found: Comparison) -> dict[str, object]:
    """A comparison as `--json` prints it."""
    return {
        "before": {"round": found.before.round_id, "setting": found.before.label},
        "after": {"round": found.after.round_id, "setting": found.after.label},
        "unequal": found.stated,
        "said": found.said,
        "questions": len(found.pairs),
        "unpaired": jsonable(found.unpaired),
        "score_before": found.score_before.share,
        "score_after": found.score_after.share,
        "difference": found.difference,
        "interval_95": None if found.interval is None else [found.interval.low, found.interval.high],
        "kinds": [
            {"kind": kind, "score_before": before.share, "score_after": after.share}
            for kind, before, after in found.by_kind
        ],
        "better": found.better,
        "worse": found.worse,
        "p_value": found.p_value,
        "smallest_found": found.smallest_found,
        "questions_needed": found.needed,
        "pairs": [
            {
                "question": pair.question.id,
                "kind": pair.question.kind,
                "weight": pair.question.weight,
                "change": pair.change,
                "before": pair.before.lowest,
                "after": pair.after.lowest,
                "runs_before": [settled_score(row) for row in pair.before.runs],
                "runs_after": [settled_score(row) for row in pair.after.runs],
            }
            for pair in found.pairs
        ],
    }
