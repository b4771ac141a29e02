"""Which setting for which kind of work: the cheapest that passes all gates, and why not the others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from resit.core.errors import UsageError
from resit.core.judging.compare import Comparison, compare
from resit.core.judging.evidence import Evidence
from resit.core.judging.gates import ENOUGH, FULL_MARKS, Gated, judge_settings
from resit.core.judging.wording import counted, dollars, named, percent
from resit.core.records import Setting


@dataclass(frozen=True, slots=True)
class Route:
    """One kind of work."""

    kind: str
    questions: int
    chosen: Gated | None
    """The cheapest setting that passes all gates. None when none does, or when none of several has a known cost."""
    passing: tuple[Gated, ...]
    """Settings that pass, the cheapest first; those of unknown cost last."""
    failing: tuple[Gated, ...]
    """Settings that were asked and fail a gate, in plan order."""
    not_asked: tuple[str, ...]
    """Settings that never got to this kind of work."""
    today: Gated | None
    """What is used today, where it was named and asked."""
    versus: Comparison | None
    """From what is used today to what was chosen, where they differ."""
    said: str
    """The rule, or why there is none, in a sentence or two."""

    @property
    def ceiling(self) -> bool:
        """True when every setting has full marks: nothing is ranked."""
        return self.chosen is not None and self.chosen.ceiling


@dataclass(frozen=True, slots=True)
class Routing:
    """A rule for each kind of work, as far as there is one."""

    evidence: Evidence
    bar: float
    """The least weighted score on the lowest runs that was good enough."""
    routes: tuple[Route, ...]
    """In suite order of the kinds."""

    def setting(self, label: str) -> Setting:
        """The setting of that label."""
        return self.evidence.setting(label)


def make_routing(
    evidence: Evidence, *, bar: float = FULL_MARKS, today: str | Mapping[str, str] | None = None
) -> Routing:
    """Decide for every kind of work.

    Args:
        evidence: The runs that count.
        bar: The least weighted score on the lowest runs that is good enough, 0.0 to 1.0.
        today: Label of the setting in use, for all kinds or by kind.

    Raises:
        UsageError: `today` names a setting or a kind that was not asked.
    """
    used = dict.fromkeys(evidence.kinds, today) if isinstance(today, str) else dict(today or {})
    for kind, label in used.items():
        if kind not in evidence.kinds:
            raise UsageError(f"there is no kind of work {kind!r}", hint=f"there is {named(evidence.kinds)}")
        if label not in evidence.labels:
            raise UsageError(f"{label!r} was not asked", hint=f"there is {named(evidence.labels)}")
    return Routing(evidence, bar, tuple(_route(evidence, kind, bar, used.get(kind)) for kind in evidence.kinds))


def _route(evidence: Evidence, kind: str, bar: float, today: str | None) -> Route:
    gated = judge_settings(evidence, kind, bar=bar)
    asked = [one for one in gated if one.asked]
    passing = sorted((one for one in asked if one.passed), key=_cheapest_first)
    chosen = passing[0] if passing and (len(passing) == 1 or _cost(passing[0]) is not None) else None
    used = next((one for one in asked if one.label == today), None)
    versus = None
    if used is not None and chosen is not None and used.label != chosen.label:
        part = evidence.of_kind(kind)
        versus = compare(part, used.label, part, chosen.label)
    return Route(
        kind=kind,
        questions=sum(question.kind == kind for question in evidence.questions),
        chosen=chosen,
        passing=tuple(passing),
        failing=tuple(one for one in asked if not one.passed),
        not_asked=tuple(one.label for one in gated if not one.asked),
        today=used,
        versus=versus,
        said=_said(chosen, passing, today, used),
    )


def _cost(gated: Gated) -> Decimal | None:
    return gated.figures.cost_each_usd


def _cheapest_first(gated: Gated) -> tuple[bool, Decimal, float]:
    """Known costs first; of equal ones the quicker."""
    cost, median = _cost(gated), gated.figures.summary.seconds_median
    return cost is None, cost or Decimal(0), median if median is not None else float("inf")


def _said(chosen: Gated | None, passing: Sequence[Gated], today: str | None, used: Gated | None) -> str:
    if chosen is None:
        return _none_said(passing) + (f"; stay with {today}" if today else "")
    said = f"{chosen.label}, {cost_said(chosen)}"
    said += f": {ENOUGH}" if chosen.ceiling else f": the cheapest of {len(passing)} that pass" * (len(passing) > 1)
    unpriced = [one.label for one in passing if _cost(one) is None and one is not chosen]
    if unpriced:
        said += f"; {named(unpriced)} may be cheaper, the cost is unknown"
    return said + _today_said(chosen, today, used)


def _none_said(passing: Sequence[Gated]) -> str:
    if not passing:
        return "no rule: no setting passes all gates"
    return f"no rule: {named([one.label for one in passing])} pass, and the cost of none is known"


def cost_said(gated: Gated) -> str:
    """`$0.0020 for 20 questions`."""
    cost = _cost(gated)
    questions = counted(gated.figures.summary.of, "question")
    return f"{dollars(cost)} for {questions}" if cost is not None else "cost unknown"


def _today_said(chosen: Gated, today: str | None, used: Gated | None) -> str:
    if today is None:
        return ""
    if used is None:
        return f"; {today}, used today, was not asked this kind of work"
    if used is chosen:
        return "; it is what is used today"
    before, after = _cost(used), _cost(chosen)
    said = f"; used today: {used.label}, {cost_said(used)}"
    if before and after is not None:
        share = float(after / before)
        said += ", so this costs " + (f"{percent(share)} of it" if share <= 1 else f"{share:.1f} times as much")
    return said + ("" if used.passed else f", which does not pass ({used.said})")
