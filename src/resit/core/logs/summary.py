"""What requests add up to: by model, level, kind and day, and what could move to a cheaper model."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import tzinfo
from decimal import Decimal

from resit.core.config import ModelsFile, load_models_file
from resit.core.logs.costs import Prices
from resit.core.logs.records import NO_LEVEL, NOT_SAID, Candidate, LogIndex, Request, Sum, Summary
from resit.core.records import Usage

_MOST_TOKENS = 10**12
_IN_USE = 20
"""A model is in use when it got at least one request in so many: a single trial makes none the dearest."""
_CANDIDATES = 8
_EXAMPLES = 5


def summarise(index: LogIndex, zone: tzinfo | None = None, models_file: ModelsFile | None = None) -> Summary:
    """Sums of all requests of a scan.

    Args:
        index: What was found.
        zone: Where a day begins; None is the machine's own zone.
        models_file: The person's prices, which say what model is the dearest; None reads `models.toml`.
    """
    requests = index.requests
    days = tuple(sorted(sums(requests, lambda request: day_of(request, zone)), key=lambda each: each.name))
    total = sum_of("total", requests)
    dearest = dearest_model(requests, Prices(load_models_file() if models_file is None else models_file))
    return Summary(
        total=total,
        by_model=sums(requests, model_of),
        by_effort=sums(requests, effort_of),
        by_kind=by_kind(requests),
        by_day=days,
        first_day=requests[0].when.astimezone(zone).date() if requests else None,
        last_day=requests[-1].when.astimezone(zone).date() if requests else None,
        no_effort_share=total.no_effort / total.count if total.count else None,
        dearest=dearest,
        candidates=candidates(requests, dearest) if dearest is not None else (),
    )


def model_of(request: Request) -> str:
    """The model as a line of a table names it."""
    return request.model or NOT_SAID


def effort_of(request: Request) -> str:
    """The level as a line of a table names it."""
    return request.effort or NO_LEVEL


def day_of(request: Request, zone: tzinfo | None = None) -> str:
    """The day as a line of a table names it."""
    return request.when.astimezone(zone).date().isoformat()


def sums(requests: Iterable[Request], name: Callable[[Request], str]) -> tuple[Sum, ...]:
    """Requests by what `name` calls them, most requests first."""
    groups: dict[str, list[Request]] = {}
    for request in requests:
        groups.setdefault(name(request), []).append(request)
    made = [sum_of(each, group) for each, group in groups.items()]
    return tuple(sorted(made, key=lambda each: (-each.count, each.name)))


def sum_of(name: str, requests: Sequence[Request], why: str = "") -> Sum:
    """All of `requests` as one line."""
    tally = _Tally()
    for request in requests:
        tally.add(request)
    return Sum(
        name=name,
        requests=len(requests) - tally.delegations,
        delegations=tally.delegations,
        usage=Usage(
            input_tokens=min(tally.tokens[0], _MOST_TOKENS),
            cache_write_tokens=min(tally.tokens[1], _MOST_TOKENS),
            cache_read_tokens=min(tally.tokens[2], _MOST_TOKENS),
            output_tokens=min(tally.tokens[3], _MOST_TOKENS),
            thinking_tokens=min(tally.tokens[4], _MOST_TOKENS),
        ),
        cost_usd=tally.cost_usd,
        at_least=tally.at_least,
        unpriced=tuple(sorted(tally.unpriced)),
        uncounted=tally.uncounted,
        no_effort=tally.no_effort,
        models=tuple(tally.models.most_common()),
        efforts=tuple(tally.efforts.most_common()),
        why=why,
    )


@dataclass(slots=True)
class _Tally:
    delegations: int = 0
    tokens: list[int] = field(default_factory=lambda: [0, 0, 0, 0, 0])
    cost_usd: Decimal | None = None
    at_least: bool = False
    unpriced: set[str] = field(default_factory=set)
    uncounted: int = 0
    no_effort: int = 0
    models: Counter[str] = field(default_factory=Counter)
    efforts: Counter[str] = field(default_factory=Counter)

    def add(self, request: Request) -> None:
        usage = request.usage
        counts = (
            usage.input_tokens,
            usage.cache_write_tokens,
            usage.cache_read_tokens,
            usage.output_tokens,
            usage.thinking_tokens,
        )
        for at, count in enumerate(counts):
            self.tokens[at] += count or 0
        self.delegations += request.delegation is not None
        self.uncounted += usage.input_tokens is None and usage.output_tokens is None
        if request.cost_usd is None:
            self.at_least = True
        else:
            self.cost_usd = request.cost_usd if self.cost_usd is None else self.cost_usd + request.cost_usd
            self.at_least |= request.cost_partial
        self.unpriced.update(request.unpriced)
        self.no_effort += request.effort is None
        self.models[model_of(request)] += 1
        self.efforts[effort_of(request)] += 1


def by_kind(requests: Iterable[Request]) -> tuple[Sum, ...]:
    """Requests by kind of work, most requests first, each with what makes it one."""
    groups: dict[str, list[Request]] = {}
    for request in requests:
        groups.setdefault(request.kind, []).append(request)
    made = [sum_of(kind, group, why_of(group)) for kind, group in groups.items()]
    return tuple(sorted(made, key=lambda each: (-each.count, each.name)))


def why_of(requests: Sequence[Request]) -> str:
    """What most requests of a kind have in common: `asked to review, asked to audit; tools Read, Grep`."""
    said = Counter(request.why.partition(";")[0] for request in requests)
    used = Counter(tool for request in requests for tool in request.tools[:3])
    reasons = [reason for reason, _ in said.most_common(3)]
    tools = [tool for tool, _ in used.most_common(3)]
    return f"{', '.join(reasons)}; {'tools ' + ', '.join(tools) if tools else 'no tools'}"


def dearest_model(requests: Sequence[Request], prices: Prices) -> str | None:
    """The model in use with the highest price for output, then for input; None when no price is known."""
    counts = Counter(request.model for request in requests if request.model is not None)
    newest = {request.model: request for request in requests}
    ranked = []
    for model, count in counts.items():
        price = prices.price(model, newest[model].provider, newest[model].when.date())
        if price is not None and count * _IN_USE >= len(requests):
            ranked.append((price.output, price.input, count, model))
    return max(ranked)[3] if ranked else None


def candidates(requests: Sequence[Request], dearest: str) -> tuple[Candidate, ...]:
    """The kinds of work that go to the dearest model most often."""
    gone = [request for request in requests if request.model == dearest]
    made = []
    for each in by_kind(gone)[:_CANDIDATES]:
        of_kind = [request.key for request in gone if request.kind == each.name]
        made.append(
            Candidate(
                kind=each.name,
                why=each.why,
                model=dearest,
                count=each.count,
                share=each.count / len(gone),
                cost_usd=each.cost_usd,
                at_least=each.at_least,
                no_effort=each.no_effort,
                examples=tuple(reversed(of_kind[-_EXAMPLES:])),
            )
        )
    return tuple(made)
