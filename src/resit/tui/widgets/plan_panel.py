"""The plan of a round in plain words and figures, before anything is asked or paid."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

from textual.content import Content

from resit.core.printable import one_line
from resit.tui.choice import Choice
from resit.tui.figures import count, money
from resit.tui.looks import MISS
from resit.tui.widgets.plain import PlainStatic

if TYPE_CHECKING:
    from resit.core.rounds.session import Prepared
    from resit.core.spend.prices import Estimate
    from resit.core.suite import Suite

VARIANCE = "One run proves nothing about variance."
_HEAD = 10


class PlanPanel(PlainStatic):
    """The words and figures; whoever plans hands them in."""

    def show_plan(self, suite: Suite, choice: Choice, prepared: Prepared, estimate: Estimate, fresh: bool) -> None:
        """What the round will be."""
        self.update(Content("\n").join(plan_lines(suite, choice, prepared, estimate, fresh)))

    def show_reason(self, suite: Suite, choice: Choice, why: str) -> None:
        """Why there is no plan yet."""
        lines = [*_chosen_lines(suite, choice), Content(""), Content.styled(why, "$warning")]
        self.update(Content("\n").join(lines))


def _entry(head: str, *texts: str | tuple[str, str]) -> Content:
    return Content.assemble((f"{head:<{_HEAD}}", "$text-muted"), *texts)


def _chosen_lines(suite: Suite, choice: Choice) -> list[Content]:
    settings = len(choice.settings)
    each = " of each question and setting"
    runs = _entry("runs", (str(choice.repeats), "bold"), each, (" · + - changes", "$text-muted"))
    lines = [
        Content.assemble((one_line(suite.title, 60), "bold"), f" · {count(len(suite.asked), 'question')}"),
        _entry("settings", (str(settings), "bold"), _variants_said(suite, choice)),
        runs,
    ]
    if choice.repeats < 2:
        lines.append(_entry("", (VARIANCE, "$warning")))
    elif choice.repeats < suite.repeats:
        lines.append(_entry("", (f"This suite wants {suite.repeats} runs before a conclusion.", "$warning")))
    return lines


def _variants_said(suite: Suite, choice: Choice) -> str:
    if not suite.variants:
        return ""
    return f" · wording {one_line(', '.join(choice.variants), 60)} (v changes)"


def plan_lines(suite: Suite, choice: Choice, prepared: Prepared, estimate: Estimate, fresh: bool) -> list[Content]:
    """Every line of the plan."""
    lines = _chosen_lines(suite, choice)
    lines += _call_lines(prepared, fresh)
    lines += _cost_lines(estimate, choice)
    lines.append(_entry("time", _time_said(estimate, prepared)))
    pace = "one call at a time, for clean timing" if choice.serial else f"{prepared.round.concurrency} calls at a time"
    lines.append(_entry("pace", pace, (" · s changes", "$text-muted")))
    lines += [_entry("asked at", one_line(where, 100)) for where in prepared.endpoints]
    lines += _problem_lines(prepared)
    return lines


def _call_lines(prepared: Prepared, fresh: bool) -> list[Content]:
    plan = prepared.plan
    lines = [_entry("calls", (f"{len(plan.jobs):,} to do", "bold"), f" · {len(plan.done):,} of {plan.planned:,} done")]
    why = ", ".join(f"{number:,} {reason}" for reason, number in plan.reasons.items())
    if why and plan.done:
        lines.append(_entry("", (why, "$text-muted")))
    if prepared.resumes:
        which = f"goes on with round {one_line(prepared.round.id, 50)} · n starts a new one"
        lines.append(_entry("", (which, "$text-muted")))
    elif fresh:
        lines.append(_entry("", ("a new round · n goes on with the last one", "$text-muted")))
    return lines


def _cost_lines(estimate: Estimate, choice: Choice) -> list[Content]:
    unknown = ", ".join(one_line(model, 40) for model in estimate.unpriced)
    least = bool(unknown)
    if estimate.unpriced and not estimate.worst_usd:
        lines = [_entry("expected", f"unknown: no price for {unknown}")]
    else:
        low, high = money(estimate.low_usd, at_least=least), money(estimate.high_usd)
        spread = low if estimate.low_usd == estimate.high_usd else f"{low} to {high}"
        lines = [_entry("expected", (spread, "bold"), (f" · {_history_said(estimate)}", "$text-muted"))]
        lines.append(_entry("at worst", money(estimate.worst_usd, at_least=least)))
        if unknown:
            lines.append(_entry("", (f"no price for {unknown}", "$warning")))
    lines.append(_entry("cap", *_cap_said(choice.cap_usd, estimate)))
    return lines


def _history_said(estimate: Estimate) -> str:
    if estimate.history:
        return "from this suite's earlier replies"
    if estimate.with_history:
        return f"history for {estimate.with_history:,} of {estimate.calls:,} calls, the rest from lengths"
    return "no history: from lengths"


def _cap_said(cap: Decimal | None, estimate: Estimate) -> tuple[tuple[str, str], ...]:
    if cap is None:
        return (("none", "bold $warning"), (" · c sets one", "$text-muted"))
    said = [(f"${cap:.2f}", "bold"), (" · c changes", "$text-muted")]
    if estimate.high_usd > cap:
        said.append((" · may stop there: the rest can be asked later", "$warning"))
    return tuple(said)


def _time_said(estimate: Estimate, prepared: Prepared) -> str:
    if not estimate.calls:
        return "nothing to ask"
    at_a_time = 1 if prepared.round.serial else prepared.round.concurrency
    minutes = estimate.minutes(at_a_time)
    if minutes is None:
        return "no history"
    low, high = (_clock(value * 60) for value in minutes)
    return low if low == high else f"{low} to {high}"


def _clock(seconds: float) -> str:
    total = max(1, round(seconds))
    return f"{total} s" if total < 60 else f"{total // 60} min {total % 60:02} s"


def _problem_lines(prepared: Prepared) -> list[Content]:
    lines = [Content.styled(f"{MISS} {one_line(problem.said, 300)}", "$error") for problem in prepared.problems]
    if not prepared.plan.jobs:
        return [*lines, Content(""), Content("Nothing is owed: every run is there. + adds runs, n starts a new round.")]
    if prepared.startable:
        others = " with the others" if prepared.problems else ""
        return [*lines, Content(""), Content.assemble(("enter", "bold $primary"), f" starts{others}")]
    return [*lines, Content(""), Content.styled("Nothing can start.", "$error")]
