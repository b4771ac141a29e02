"""Routing rules as text: Markdown for people and agents, TOML for programs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

import tomli_w

from resit.core.judging import markdown
from resit.core.judging.gates import Gated, suspects_said
from resit.core.judging.growth import make_growth
from resit.core.judging.markdown import table
from resit.core.judging.routing import Route, Routing
from resit.core.judging.wording import day, dollars, interval_said, named, percent, seconds

_CELL = 60


def routing_markdown(routing: Routing) -> str:
    """The rules as a Markdown section: a table of rules, then what each setting that is no rule failed."""
    evidence = routing.evidence
    lines = [
        "## Which model for which work",
        "",
        f"From {_rounds_said(evidence.rounds)} of {inline(evidence.suite)}, the newest of {day(evidence.at)}; "
        f"{inline(evidence.rule_said)}. "
        f"A setting passes with at least 2 runs of each question, {percent(routing.bar)} on its lowest runs, and every "
        "miss read. The cheapest that passes is the rule.",
        "",
        *table(
            ("kind of work", "use", "lowest runs", "cost", "median"),
            [[inline(cell, _CELL) for cell in _rule_cells(route)] for route in routing.routes],
            left=(0, 1),
        ),
        "",
        *_list(f"{inline(route.kind)}: {inline(route.said)}" for route in routing.routes),
    ]
    others = [line for route in routing.routes for line in _others(route)]
    if others:
        lines += ["", "Not the rule, and why:", "", *_list(others)]
    compared = [f"{inline(route.kind)}: {inline(route.versus.said)}" for route in routing.routes if route.versus]
    if compared:
        lines += ["", "Against what is used today:", "", *_list(compared)]
    lines += ["", "Would more questions of the same sort help?", ""]
    lines += _list(f"{inline(kind)}: {inline(make_growth(evidence, kind).said)}" for kind in evidence.kinds)
    stated = [*evidence.stated]
    if evidence.questions_out:
        stated.append(f"left out by a verdict: {named(evidence.questions_out)}")
    if stated:
        lines += ["", "Not counted:", "", *_list(inline(line) for line in stated)]
    return "\n".join(lines) + "\n"


def _rounds_said(rounds: Sequence[str]) -> str:
    return f"round {inline(rounds[0])}" if len(rounds) == 1 else f"rounds {', '.join(map(inline, rounds))}"


def _rule_cells(route: Route) -> tuple[str, ...]:
    chosen = route.chosen
    if chosen is None:
        return route.kind, "no rule", "–", "–", "–"
    summary = chosen.figures.summary
    return (
        route.kind,
        chosen.label,
        f"{summary.lowest_full}/{summary.of} full ({interval_said(chosen.figures.interval)})",
        dollars(chosen.figures.cost_each_usd),
        seconds(summary.seconds_median),
    )


def _others(route: Route) -> Iterator[str]:
    """A line for each setting that is not the rule; in a ceiling none is ranked."""
    kind = inline(route.kind)
    dearer = [one for one in route.passing if one is not route.chosen]
    if route.ceiling and dearer:
        names = named([inline(one.label) for one in dearer])
        yield f"{kind}: {names} have full marks as well; the exam is too easy to separate them"
    elif dearer and route.chosen is not None:
        for one in dearer:
            yield f"{kind}: {inline(one.label)} passes as well, at {dollars(one.figures.cost_each_usd)}"
    for one in route.failing:
        said = "; ".join(map(inline, (one.said, *suspects_said(one.suspects))))
        yield f"{kind}: {inline(one.label)}: {said}"
    for label in route.not_asked:
        yield f"{kind}: {inline(label)}: not asked"


def inline(text: str, limit: int | None = None) -> str:
    """Foreign text made inert, with money as it is written: a dollar sign before a number begins no formula."""
    return re.sub(r"\\\$(?=\d)", "$", markdown.inline(text, limit))


def _list(lines: Iterable[str]) -> list[str]:
    return [f"- {line}" for line in lines]


def routing_toml(routing: Routing) -> str:
    """The rules as TOML: `[[rules]]`, and `[[undecided]]` for kinds of work without one."""
    table: dict[str, object] = {
        "rounds": list(routing.evidence.rounds),
        "suite": routing.evidence.suite,
        "at": routing.evidence.at,
        "bar": routing.bar,
        "rules": [_rule_table(routing, route, route.chosen) for route in routing.routes if route.chosen is not None],
        "undecided": [_undecided_table(route) for route in routing.routes if route.chosen is None],
    }
    return tomli_w.dumps({key: value for key, value in table.items() if value != []})


def _rule_table(routing: Routing, route: Route, chosen: Gated) -> dict[str, object]:
    setting, summary = routing.setting(chosen.label), chosen.figures.summary
    cost = chosen.figures.cost_each_usd
    table: dict[str, object | None] = {
        "kind": route.kind,
        "setting": chosen.label,
        "provider": setting.provider,
        "model": setting.model,
        "effort": setting.effort,
        "thinking": setting.thinking,
        "variant": setting.variant,
        "questions": summary.of,
        "full_marks": summary.lowest_full,
        "runs": chosen.figures.runs_least,
        "cost_usd": None if cost is None else format(cost, "f"),
        "seconds_median": summary.seconds_median,
        "too_easy": True if route.ceiling else None,
        "today": route.today.label if route.today else None,
        "said": route.said,
        "rejected": _rejected(route) or None,
    }
    return {key: value for key, value in table.items() if value is not None}


def _undecided_table(route: Route) -> dict[str, object]:
    table: dict[str, object] = {"kind": route.kind, "questions": route.questions, "said": route.said}
    if route.today is not None:
        table["today"] = route.today.label
    if rejected := _rejected(route):
        table["rejected"] = rejected
    return table


def _rejected(route: Route) -> list[dict[str, object]]:
    return [
        {"setting": one.label, "gates": [gate.number for gate in one.failed], "why": one.said} for one in route.failing
    ]
