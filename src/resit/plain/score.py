"""`resit score`: grade answers that are already saved. No calls, no round."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from resit.core.config import load_models_file
from resit.core.errors import UsageError
from resit.core.judging.wording import dollars, percent
from resit.core.printable import one_line
from resit.core.records import FAIR, Attempt, Fault, Reply, Row, RunRecord, Setting, Usage
from resit.core.rounds.memory import row_json
from resit.core.scoring.grade import Grade, grade
from resit.core.scoring.grid import SettingSummary, build_grid, make_row
from resit.core.spend.prices import Price, cost_usd, price_for
from resit.core.suite import Question, Suite
from resit.core.suite_file import find_suite, load_suite
from resit.plain.text import block, jsonable, note, plural, say, say_json, score, table

_SHAPES = 'two shapes are read: {"ID": "answer"} and {"models": {NAME: {"answers": {ID: {"answer": ...}}}}}'


@dataclass(frozen=True, slots=True)
class Saved:
    """The saved answers of one model."""

    name: str
    answers: Mapping[str, str | None]
    usage: Usage
    """Of all answers together, where the file says so."""
    seconds: float | None
    price: Price | None
    """As the file gives it, else the list price of today."""

    @property
    def setting(self) -> Setting:
        """The model as a setting, so that saved answers are counted like any round's."""
        return Setting(model=self.name, provider="saved")

    @property
    def cost(self) -> Decimal | None:
        """What the answers cost; None when tokens or price are unknown."""
        if self.usage.input_tokens is None and self.usage.output_tokens is None:
            return None
        return cost_usd(self.price, self.usage)


@dataclass(frozen=True, slots=True)
class Marked:
    """One saved answer, graded."""

    saved: Saved
    question: Question
    grade: Grade
    row: Row


def main(args: argparse.Namespace) -> int:
    """Grade and print; 0, or 4 when some answers are missing or blank."""
    suite = load_suite(find_suite(args.questions), need_prompt=False)
    every = read_replies(Path(args.replies))
    marked = [mark(saved, question) for question in suite.asked for saved in every]
    grid = build_grid([m.row for m in marked], suite.asked, [saved.setting for saved in every])
    sums = [(saved, grid.summaries[saved.setting.label]) for saved in every]
    _note_strangers(every, suite)
    if args.json:
        say_json(_as_json(suite, sums, marked))
    else:
        _print(suite, sums, marked)
    return 0 if all(m.row.outcome in FAIR for m in marked) else 4


def read_replies(path: Path) -> tuple[Saved, ...]:
    """Saved answers in either shape.

    Raises:
        UsageError: The file is not there, or has another shape.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
        # Numbers stay the text they were: 3.10 is not 3.1.
        data = json.loads(
            text, parse_float=str, parse_int=str, parse_constant=_no_number, object_pairs_hook=_without_doubles
        )
    except OSError as error:
        raise UsageError(f"{path} cannot be read ({error.strerror})") from None
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{path} is not JSON ({error})", hint=_SHAPES) from None
    if not isinstance(data, dict) or not data or data.get("models") == {}:
        raise UsageError(f"{path} holds no answers by question id", hint=_SHAPES)
    models = data.get("models")
    if isinstance(models, dict):
        return tuple(_saved(path, name, model) for name, model in models.items())
    return (Saved(path.stem, _answers(path, data), Usage(), None, None),)


def mark(saved: Saved, question: Question) -> Marked:
    """Grade one answer; one that is not there is unsettled, not wrong."""
    record = _record(saved, question)
    row = make_row(question, record)
    # One file has no time or tokens of its own for each answer.
    row = replace(row, seconds=None, cost_usd=None)
    return Marked(saved, question, grade(question, record), row)


def _record(saved: Saved, question: Question) -> RunRecord:
    answer = saved.answers.get(question.id)
    attempt = Attempt(
        number=1,
        at=datetime.now(UTC),
        asked="",
        reply=None if answer is None else Reply(text=answer, seconds=0.0),
        fault=Fault(kind="request", said="the file holds no answer to this question") if answer is None else None,
    )
    return RunRecord(question=question.id, setting=saved.setting, run=1, prompt=question.prompt, attempts=(attempt,))


def _without_doubles(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        double = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"{double!r} is given twice")
    return found


def _no_number(text: str) -> None:
    raise ValueError(f"{text} is no JSON")


def _saved(path: Path, name: str, model: object) -> Saved:
    if not isinstance(model, dict) or not isinstance(model.get("answers"), dict):
        raise UsageError(f"{path}: model {name!r} has no answers", hint=_SHAPES)
    try:
        usage = Usage(
            input_tokens=_whole(model.get("input_tokens")),
            cache_write_tokens=_whole(model.get("cache_write_tokens")),
            cache_read_tokens=_whole(model.get("cache_read_tokens")),
            output_tokens=_whole(model.get("output_tokens")),
        )
        seconds = None if model.get("seconds") is None else float(model["seconds"])
        price = _price(path, name, model.get("price_usd_per_mtok"))
    except (TypeError, ValueError, ValidationError):
        raise UsageError(f"{path}: tokens, seconds or price of {name!r} are no numbers") from None
    return Saved(name, _answers(path, model["answers"]), usage, seconds, price)


def _whole(value: str | None) -> int | None:
    return None if value is None else int(value)


def _price(path: Path, name: str, given: object) -> Price | None:
    if given is None:
        return price_for(Setting(model=name), load_models_file(), datetime.now(UTC))
    if not isinstance(given, dict):
        raise TypeError("a price is a table")
    return Price(source=str(path), **given)


def _answers(path: Path, found: Mapping[str, Any]) -> dict[str, str | None]:
    answers = {}
    for question, value in found.items():
        answer = value.get("answer") if isinstance(value, dict) else value
        if answer is not None and not isinstance(answer, str):
            raise UsageError(f"{path}: the answer to {question!r} is neither text nor a number", hint=_SHAPES)
        answers[question] = answer
    return answers


def _note_strangers(every: Iterable[Saved], suite: Suite) -> None:
    strange = dict.fromkeys(q for saved in every for q in saved.answers if q not in suite.by_id)
    if strange:
        named = ", ".join(list(strange)[:5]) + (", …" if len(strange) > 5 else "")
        note(f"{plural(len(strange), 'answer')} to no question of this suite, not graded: {named}")


def _print(suite: Suite, sums: list[tuple[Saved, SettingSummary]], marked: list[Marked]) -> None:
    cells: dict[str, list[str]] = {q.id: [q.id, " | ".join(q.accept) or _checks(q)] for q in suite.asked}
    for m in marked:
        cells[m.question.id].append(_mark(m.row, m.question))
    say(table(["question", "accepted", *(saved.name for saved, _ in sums)], cells.values()))
    say()
    _print_totals(sums)
    failures = [m for m in marked if m.row.outcome != "pass"]
    for failure in failures:
        say()
        _print_failure(failure)


def _mark(row: Row, question: Question) -> str:
    if row.outcome not in FAIR:
        return "–"
    strict = row.outcome if row.outcome != "part" else score(row.score)
    if question.second_rule is None or row.second_score is None or row.outcome == "pass":
        return strict
    return f"{strict} (second rule: {score(row.second_score)})"


def _checks(question: Question) -> str:
    return plural(len(question.checks), "check")


def _print_totals(sums: list[tuple[Saved, SettingSummary]]) -> None:
    rows = [
        [
            saved.name,
            f"{found.lowest_full}/{found.of}",
            percent(found.lowest_score),
            str(found.unsettled),
            *(_number(n) for n in (saved.usage.input_tokens, saved.usage.output_tokens)),
            "" if saved.seconds is None else f"{saved.seconds:,.1f}",
            dollars(saved.cost),
        ]
        for saved, found in sums
    ]
    head = ("model", "full marks", "score", "unsettled", "input", "output", "seconds", "cost")
    say(table(head, rows, right=range(1, len(head))))


def _number(value: int | None) -> str:
    return "" if value is None else f"{value:,}"


def _print_failure(failure: Marked) -> None:
    row, question = failure.row, failure.question
    settled = row.outcome in FAIR
    say(one_line(f"{question.id} · {failure.saved.name} · {row.outcome if settled else 'unsettled'}"))
    say(one_line(f"  expected  {' | '.join(question.accept) or ', '.join(c.name for c in question.checks)}"))
    if row.reply is None:
        say("  got       no answer")
    elif "\n" in row.reply:
        say("  got")
        say(block(row.reply))
    else:
        say(f"  got       {one_line(row.reply, 2000)}")
    if row.failed:
        say(one_line(f"  failed    {', '.join(row.failed)}"))
    say(one_line(f"  why       {f'{row.reason}: ' if row.reason else ''}{failure.grade.why}"))


def _as_json(suite: Suite, sums: list[tuple[Saved, SettingSummary]], marked: list[Marked]) -> dict[str, object]:
    costs = [saved.cost for saved, _ in sums]
    return {
        "round": None,
        "suite": suite.name,
        "settings": [
            {
                "setting": saved.setting.label,
                "model": saved.name,
                "full": found.lowest_full,
                "of": found.of,
                "score": found.lowest_score,
                "unsettled": found.unsettled,
                "seconds": saved.seconds,
                "input_tokens": saved.usage.input_tokens,
                "output_tokens": saved.usage.output_tokens,
                "cost_usd": jsonable(saved.cost),
            }
            for saved, found in sums
        ],
        "runs": [row_json(m.row) for m in marked],
        "totals": {
            "planned": len(marked),
            "graded": sum(m.row.outcome in FAIR for m in marked),
            "passed": sum(m.row.outcome == "pass" for m in marked),
            "unsettled": sum(m.row.outcome not in FAIR for m in marked),
            "cost_usd": jsonable(sum((c for c in costs if c is not None), Decimal(0)) if any(costs) else None),
            "at_least": any(cost is None for cost in costs),
        },
    }
