"""The plan of a round in plain words and figures, before anything is asked or paid."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.content import Content

from resit.core.errors import Exposed
from resit.core.printable import one_line
from resit.tui.choice import Choice
from resit.tui.figures import count, money, short_setting, when
from resit.tui.looks import MISS
from resit.tui.widgets.plain import PlainStatic

if TYPE_CHECKING:
    from decimal import Decimal

    from resit.core.rounds.session import Prepared
    from resit.core.spend.prices import Estimate
    from resit.core.suite import Suite

VARIANCE = "One run proves nothing about variance."
_HEAD = 10
Words = str | tuple[str, str]
Entry = tuple[str, Content]
"""What a line is about, and what it says; long ones wrap under themselves."""


class PlanPanel(PlainStatic):
    """The words and figures; whoever plans hands them in."""

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's name
        """Start empty."""
        super().__init__(id=id)
        self._entries: list[Entry] = []

    def show_plan(self, suite: Suite, choice: Choice, prepared: Prepared, estimate: Estimate) -> None:
        """What the round will be."""
        self._show_entries(plan_entries(suite, choice, prepared, estimate))

    def show_reason(self, suite: Suite, choice: Choice, why: str) -> None:
        """Why there is no plan yet."""
        self._show_entries([*_chosen(suite, choice), _entry(""), ("", Content.styled(one_line(why, 400), "$warning"))])

    def _show_entries(self, entries: list[Entry]) -> None:
        self._entries = entries
        self._draw_entries()

    def on_resize(self) -> None:
        """Wrap anew."""
        self._draw_entries()

    def _draw_entries(self) -> None:
        width = self.size.width or 44
        self.update(Content("\n").join(line for entry in self._entries for line in _wrapped(entry, width)))


def _entry(head: str, *texts: Words) -> Entry:
    return head, Content.assemble(*texts)


def _wrapped(entry: Entry, width: int) -> list[Content]:
    head, said = entry
    if not said.plain:
        return [Content("")]
    indent = _HEAD if head else 0
    lines = said.wrap(max(20, width - indent))
    heads = [f"{head:<{indent}}", *[" " * indent] * (len(lines) - 1)]
    return [Content.styled(start, "$text-muted") + line for start, line in zip(heads, lines, strict=True)]


def _chosen(suite: Suite, choice: Choice) -> list[Entry]:
    settings, runs = count(len(choice.settings), "setting"), count(choice.repeats, "run")
    entries = [
        _entry("", (one_line(suite.title, 60), "bold"), f" · {count(len(suite.asked), 'question')}"),
        _entry("ask", (settings, "bold"), " · ", (runs, "bold"), " each", (" (+ -)", "$text-muted")),
    ]
    if suite.variants:
        wording = one_line(", ".join(choice.variants), 60)
        entries.append(_entry("wording", wording, (" (v)", "$text-muted")))
    if choice.repeats < 2:
        entries.append(_entry("", (VARIANCE, "$warning")))
    elif choice.repeats < suite.repeats:
        entries.append(_entry(" ", (f"This suite wants {suite.repeats} runs for a conclusion.", "$warning")))
    return entries


def plan_entries(suite: Suite, choice: Choice, prepared: Prepared, estimate: Estimate) -> list[Entry]:
    """Every line of the plan."""
    return [
        *_chosen(suite, choice),
        *_calls(prepared),
        *_costs(estimate, prepared.round.cap_usd),
        _entry("time", *_time(estimate, prepared)),
        *_queue(prepared),
        *(_entry("asked at", one_line(where, 100)) for where in prepared.endpoints),
        *_problems(prepared),
    ]


def _calls(prepared: Prepared) -> list[Entry]:
    plan = prepared.plan
    done = f" · {len(plan.done):,} of {plan.planned:,} done"
    entries = [_entry("calls", (f"{len(plan.jobs):,} to do", "bold"), done)]
    if prepared.resumes:
        entries += [_entry(" ", (f"{number:,} {reason}", "$text-muted")) for reason, number in plan.reasons.items()]
        entries.append(_entry(" ", f"goes on: round of {when(prepared.round.created_at)}"))
    return entries


def _costs(estimate: Estimate, cap: Decimal | None) -> list[Entry]:
    unknown = ", ".join(one_line(model, 40) for model in estimate.unpriced)
    muted = "$text-muted"
    if unknown and not estimate.worst_usd:
        entries = [_entry("cost", ("unknown", "bold"), f": no price for {unknown}")]
    else:
        least = bool(unknown)
        low, high = money(estimate.low_usd, at_least=least), money(estimate.high_usd)
        spread = low if estimate.low_usd == estimate.high_usd else f"{low} to {high}"
        entries = [
            _entry("cost", (spread, "bold"), (f" · {_history(estimate)}", muted)),
            _entry("at worst", money(estimate.worst_usd, at_least=least or bool(estimate.unbounded))),
        ]
        if estimate.unbounded:
            models = ", ".join(one_line(model, 40) for model in estimate.unbounded)
            entries.append(_entry(" ", (f"no budget for {models}; a cap sets one", "$warning")))
        if unknown:
            entries.append(_entry(" ", (f"no price for {unknown}", "$warning")))
    entries.append(_entry("cap", *_cap(cap, estimate)))
    return entries


def _history(estimate: Estimate) -> str:
    if estimate.history:
        return "from earlier replies"
    if estimate.with_history:
        return f"history for {estimate.with_history:,} of {estimate.calls:,}"
    return "no history"


def _cap(cap: Decimal | None, estimate: Estimate) -> tuple[tuple[str, str], ...]:
    if cap is None:
        return (("none", "bold $warning"), (" (c sets one)", "$text-muted"))
    said = [(f"${cap:.2f}", "bold"), (" (c)", "$text-muted")]
    if estimate.high_usd > cap:
        said.append((" · may stop there; the rest can be asked later", "$warning"))
    return tuple(said)


def _time(estimate: Estimate, prepared: Prepared) -> tuple[Words, ...]:
    if prepared.round.batch:
        return "within a day, mostly within an hour", " · in batches, at half price", (" (b)", "$text-muted")
    at_a_time = prepared.round.at_a_time
    pace = "one at a time" if at_a_time == 1 else f"{at_a_time} at a time"
    return _span(estimate, at_a_time), f" · {pace}", (" (s)", "$text-muted")


def _queue(prepared: Prepared) -> list[Entry]:
    if not prepared.waits_in_line:
        return []
    return [_entry(" ", ("Calls may wait in line at a server here, and seconds count that: s avoids it.", "$warning"))]


def _span(estimate: Estimate, at_a_time: int) -> str:
    if not estimate.calls:
        return "nothing to ask"
    minutes = estimate.minutes(at_a_time)
    if minutes is None:
        return "no history"
    low, high = (_clock(value * 60) for value in minutes)
    return low if low == high else f"{low} to {high}"


def _clock(seconds: float) -> str:
    total = max(1, round(seconds))
    return f"{total} s" if total < 60 else f"{total // 60} min {total % 60:02} s"


def _problems(prepared: Prepared) -> list[Entry]:
    barred: dict[str, list[str]] = {}
    for problem in prepared.problems:
        barred.setdefault(str(problem.error), []).append(short_setting(problem.setting.label))
    entries = [
        ("", Content.styled(f"{MISS} {one_line(', '.join(labels), 100)}: {one_line(why, 300)}", "$error"))
        for why, labels in barred.items()
    ]
    entries.append(_entry(""))
    if not prepared.plan.jobs:
        return [*entries, _entry("", "Nothing is owed: every run is there. + adds runs, n starts a new round.")]
    if not prepared.startable and all(isinstance(problem.error, Exposed) for problem in prepared.problems):
        return [*entries, _entry("", ("enter", "bold $primary"), " asks whether agents may start nevertheless")]
    if not prepared.startable:
        return [*entries, ("", Content.styled("Nothing can start.", "$error"))]
    others = " · n a new round instead" if prepared.resumes else ""
    return [*entries, _entry("", ("enter", "bold $primary"), " goes on" if prepared.resumes else " starts", others)]
