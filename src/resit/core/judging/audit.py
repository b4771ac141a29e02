"""Which settings were used for which kind of work, beside what the exam says of them: `checks run at high; low passed`.

Kinds of the logs and kinds of the suites are the same where they have the same name, small letters or capital ones.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

from resit.core.errors import ResitError
from resit.core.judging.evidence import Evidence, gather, pool
from resit.core.judging.gates import Gated
from resit.core.judging.routing import Route, cost_said, make_routing
from resit.core.judging.wording import counted
from resit.core.logs.records import NO_LEVEL, NOT_SAID, Request
from resit.core.paths import rounds_dir as default_rounds_dir
from resit.core.records import EFFORTS
from resit.core.rounds.shelf import open_round
from resit.core.rounds.store import find_rounds

NO_EXAM = "no exam of this kind yet"
_DATED = re.compile(r"-20\d{6}$")


@dataclass(frozen=True, slots=True)
class Used:
    """One model at one level, as it was used for a kind of work."""

    model: str
    effort: str
    """The level that was set, in the tool's own word, or `no level set`."""
    ran_at: str | None
    """The level it ran at though none was set, where the log says so."""
    count: int
    """Requests and delegations."""
    cost_usd: Decimal | None
    at_least: bool
    """True: costs are missing from `cost_usd`."""
    judged: Gated | None
    """What the exam says of it. None: it was not asked this kind of work."""

    @property
    def said(self) -> str:
        """`opus-5-5 at high (34 times)`."""
        level = f"at {self.effort}" if self.effort != NO_LEVEL else "with no level set"
        ran = f", which ran at {self.ran_at}" if self.ran_at and self.effort == NO_LEVEL else ""
        return f"{self.model.removeprefix('claude-')} {level}{ran} ({counted(self.count, 'time')})"


@dataclass(frozen=True, slots=True)
class KindAudit:
    """One kind of work."""

    kind: str
    count: int
    """Requests and delegations of it."""
    used: tuple[Used, ...]
    """Most used first."""
    route: Route | None
    """What the exam says. None: there is no exam of this kind."""
    said: str
    """Use and exam in a sentence without its full stop."""
    saves: bool
    """True: a cheaper or lower setting than the one most used passes all gates."""


@dataclass(frozen=True, slots=True)
class Exams:
    """All rounds as one body of evidence."""

    evidence: Evidence | None
    """None: there is no round to go by."""
    unread: tuple[str, ...]
    """Rounds that could not be opened, and why."""


def gather_exams(rounds_dir: Path | None = None) -> Exams:
    """Open every round, the newest run of each question counting."""
    parts, unread = [], []
    for path in find_rounds(rounds_dir or default_rounds_dir()):
        try:
            found = gather(open_round(path))
        except ResitError as error:
            unread.append(str(error))
            continue
        if found.questions:
            parts.append(found)
    return Exams(pool(parts) if parts else None, tuple(unread))


def audit(requests: Iterable[Request], evidence: Evidence | None) -> tuple[KindAudit, ...]:
    """Every kind of work in the logs, the most frequent first.

    Args:
        requests: What the logs hold.
        evidence: What the exams say; None without any.
    """
    routes = {} if evidence is None else {route.kind.casefold(): route for route in make_routing(evidence).routes}
    kinds: dict[str, list[Request]] = {}
    for request in requests:
        kinds.setdefault(request.kind, []).append(request)
    ordered = sorted(kinds.items(), key=lambda item: (-len(item[1]), item[0]))
    return tuple(_of_kind(kind, group, routes.get(kind.casefold()), evidence) for kind, group in ordered)


def _of_kind(kind: str, requests: Sequence[Request], route: Route | None, evidence: Evidence | None) -> KindAudit:
    settings: dict[tuple[str, str], list[Request]] = {}
    for request in requests:
        place = (_plain(request.model or NOT_SAID), request.effort or NO_LEVEL)
        settings.setdefault(place, []).append(request)
    ordered = sorted(settings.items(), key=lambda item: (-len(item[1]), item[0]))
    used = tuple(_used(model, effort, group, route, evidence) for (model, effort), group in ordered)
    better = _better(used[0], route, evidence) if route is not None and evidence is not None else None
    said = f"{used[0].said}; {_exam_said(used[0], route, better)}"
    return KindAudit(kind, len(requests), used, route, said, saves=better is not None)


def _plain(model: str) -> str:
    """A model's name without its date and whoever serves it."""
    return _DATED.sub("", model.rpartition("/")[2])


def _used(model: str, effort: str, requests: Sequence[Request], route: Route | None, evidence: Evidence | None) -> Used:
    costs = [request.cost_usd for request in requests if request.cost_usd is not None]
    ran = {request.effort_ran for request in requests if request.effort_ran is not None}
    at_least = len(costs) < len(requests) or any(request.cost_partial for request in requests)
    ran_at = ran.pop() if len(ran) == 1 else None
    level = effort if effort != NO_LEVEL else ran_at or NO_LEVEL
    judged = None if route is None or evidence is None else _judged(model, level, route, evidence)
    return Used(model, effort, ran_at, len(requests), sum(costs, Decimal(0)) if costs else None, at_least, judged)


def _judged(model: str, effort: str, route: Route, evidence: Evidence) -> Gated | None:
    for gated in (*route.passing, *route.failing):
        setting = evidence.setting(gated.label)
        if _plain(setting.model) == model and (setting.effort or NO_LEVEL) == effort:
            return gated
    return None


def _better(used: Used, route: Route, evidence: Evidence) -> Gated | None:
    """What passes in place of what is used: a lower level of the same model, else the cheapest that passes."""
    level = used.effort if used.effort != NO_LEVEL else used.ran_at or NO_LEVEL
    lower = [
        (EFFORTS.index(setting.effort), gated)
        for gated in route.passing
        if (setting := evidence.setting(gated.label)).effort is not None
        and _plain(setting.model) == used.model
        and level in EFFORTS
        and EFFORTS.index(setting.effort) < EFFORTS.index(level)
    ]
    if lower:
        return min(lower, key=lambda pair: pair[0])[1]
    return route.chosen if route.chosen is not None and route.chosen is not used.judged else None


def _exam_said(used: Used, route: Route | None, better: Gated | None) -> str:
    if route is None:
        return NO_EXAM
    if better is not None:
        fails = f"the exam says of it: {used.judged.said}; " if used.judged and not used.judged.passed else ""
        return f"{fails}{better.label} passed all gates, {cost_said(better)}"
    if route.chosen is not None:
        return "the exam agrees: it is the cheapest setting that passed all gates"
    if used.judged is not None and used.judged.passed:
        return "it passed all gates; the cost of none that passed is known"
    return "no setting passed all gates of the exam yet"
