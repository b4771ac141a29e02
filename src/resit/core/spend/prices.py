"""What a call costs: the four kinds of token, each at its own rate, from a dated local table."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from functools import lru_cache
from statistics import median
from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from resit.core.agent_names import Preset, preset_of
from resit.core.config import ModelsFile, PriceEntry
from resit.core.endpoints import endpoint_for, local_server
from resit.core.records import Frozen, Request, Setting, Usage

if TYPE_CHECKING:
    from genai_prices.types import ModelPrice

TABLE = "genai-prices"
TABLE_DATES = {"0.2.3": date(2026, 11, 10)}
"""Release dates of the table: its data carry none. An unknown release shows no date and reads as stale."""
BATCH_FACTOR = Decimal("0.5")
"""What a request in a batch costs of the same one asked alone. Ours: the table takes no notice of batches."""
STALE_DAYS = 90
"""A price older than this is flagged wherever it is shown."""

_MTOK = Decimal(1_000_000)
_FRAMING_TOKENS = 100
"""Tokens a server wraps around a prompt, at most; 20 questions of a published run took 15 each."""

Rate = Annotated[Decimal, Field(ge=0, allow_inf_nan=False)]


class Rates(Frozen):
    """US dollars per million tokens, of each kind that is priced apart."""

    input: Rate
    output: Rate
    cache_read: Rate | None = None
    """None: not known, so a call that used the cache has an unknown cost."""
    cache_write: Rate | None = None
    """Of the five-minute cache, the only one that resit could cause."""


class Tier(Rates):
    """Rates of the whole request once its prompt is long enough."""

    above_tokens: int
    """The tier holds for prompts of more tokens than this, cached ones counted."""


class Price(Rates):
    """What one model costs, where that is known from, and from when."""

    tiers: tuple[Tier, ...] = ()
    """From the shortest prompt to the longest."""
    as_of: date | None = None
    source: str
    batch: bool = False
    """True when the rates are those of a batch."""

    def rates_for(self, prompt_tokens: int) -> Rates:
        """The rates of a request whose prompt has this many tokens."""
        found: Rates = self
        for tier in self.tiers:
            if prompt_tokens > tier.above_tokens:
                found = tier
        return found

    @property
    def free(self) -> bool:
        """True when no kind of token costs anything, as on the person's own machine."""
        every: list[Rates] = [self, *self.tiers]
        return not any(r.input or r.output or r.cache_read or r.cache_write for r in every)

    @property
    def label(self) -> str:
        """The source as a person reads it: `genai-prices 0.2.3 (10 Nov 2026)`."""
        if self.free and self.as_of is None:
            return self.source  # what costs nothing does not grow old
        when = f"{self.as_of.day} {self.as_of:%b %Y}" if self.as_of else "no date"
        return f"{self.source}{', batch half price' if self.batch else ''} ({when})"

    def stale(self, today: date) -> bool:
        """True when the price is too old, or of unknown age, to be relied on unlooked at."""
        return not self.free and (self.as_of is None or (today - self.as_of).days > STALE_DAYS)


def price_for(setting: Setting, models_file: ModelsFile, at: datetime, url: str | None = None) -> Price | None:
    """The price of `setting`'s model: the person's own, else the bundled table's.

    Args:
        setting: Only its model and provider matter.
        models_file: The person's `models.toml`, which wins; `[prices."ollama/*"]` there is for all models of a local
            server that have none of their own.
        at: When the calls are made; list prices change on known days.
        url: Where an `openai` setting is asked; None is where its entry or name says. The host decides who bills it.

    Returns:
        None when nobody says: unknown is not free, and never guessed from a similar name of another provider.
    """
    entry = models_file.prices.get(setting.model) or models_file.prices.get(f"{local_server(setting.model)}/*")
    if entry is not None:
        return _from_entry(entry)
    if setting.provider == "openai":
        return _list_price(setting.model, None, url or endpoint_for(setting, models_file).url, at)
    model = models_file.models.get(setting.model)
    if model is not None and model.base_url is not None:
        # A model served elsewhere is billed by somebody else, whatever its name.
        return None
    if setting.provider == "command":
        preset = model.preset if model is not None else preset_of(setting.model)
        biller = _BILLERS.get(preset) if preset is not None else None
        name = (model.model if model is not None else None) or setting.model.partition("/")[2]
        return _list_price(name, biller, None, at) if biller is not None else None
    return _list_price(setting.model, setting.provider, None, at)


def priced_for(price: Price, *, batch: bool) -> Price:
    """The same price as it is in a batch, or outside of one."""
    if price.batch == batch:
        return price
    factor = BATCH_FACTOR if batch else 1 / BATCH_FACTOR
    tiers = tuple(tier.model_copy(update=_times(tier, factor)) for tier in price.tiers)
    return price.model_copy(update={**_times(price, factor), "tiers": tiers, "batch": batch})


def _times(rates: Rates, factor: Decimal) -> dict[str, Decimal]:
    found = {kind: getattr(rates, kind) for kind in _KINDS}
    return {kind: rate * factor for kind, rate in found.items() if rate is not None}


_BILLERS: dict[Preset, str] = {"claude-code": "anthropic", "codex": "openai", "gemini": "google"}
"""Whose list prices the models of an agent have."""


def how_to_price(model: str) -> str:
    """What to write into `models.toml` for a model that has no price; where it runs here, that it costs nothing."""
    server = local_server(model)
    if server is None:
        return f'add its price to models.toml: [prices."{model}"]'
    return f'if it costs nothing, say so in models.toml: [prices."{server}/*"] with input = 0 and output = 0'


def cost_usd(price: Price | None, usage: Usage | None, requests: int = 1) -> Decimal | None:
    """What one call cost, in US dollars, not rounded.

    Cached input is charged at its own rate and is not part of `usage.input_tokens`; thinking is part of
    `usage.output_tokens`.

    Args:
        price: Of the model.
        usage: All tokens of the call.
        requests: How many requests they are the sum of: an agent makes many, and a tier is of one request.

    Returns:
        None when the price, a count or the rate of a used kind of token is unknown: unknown is not free.
    """
    if price is None:
        return None
    if price.free:
        return Decimal(0)
    if usage is None or usage.input_tokens is None or usage.output_tokens is None:
        return None
    read, write = usage.cache_read_tokens or 0, usage.cache_write_tokens or 0
    rates = price.rates_for((usage.input_tokens + read + write) // max(1, requests))
    parts = (
        (usage.input_tokens, rates.input),
        (usage.output_tokens, rates.output),
        (read, rates.cache_read),
        (write, rates.cache_write),
    )
    total = Decimal(0)
    for tokens, rate in parts:
        if tokens and rate is None:
            return None
        total += tokens * (rate or Decimal(0))
    return total / _MTOK


def worst_case_usd(price: Price | None, request: Request) -> Decimal | None:
    """The most that one call can cost, in US dollars: what is set aside before it starts.

    No tokeniser makes more tokens than the text has bytes, and no reply is longer than `max_tokens`.
    None when the price is unknown.
    """
    if price is None:
        return None
    prompt = _prompt_bytes(request) + _FRAMING_TOKENS
    reachable = [price, *(tier for tier in price.tiers if prompt > tier.above_tokens)]
    return max((prompt * rates.input + request.max_tokens * rates.output) / _MTOK for rates in reachable)


def most_tokens(request: Request) -> int:
    """The most tokens of all kinds that one call can use."""
    return _prompt_bytes(request) + _FRAMING_TOKENS + request.max_tokens


@dataclass(frozen=True, slots=True)
class PlannedCall:
    """One call that a round still owes."""

    question: str
    setting: Setting
    request: Request
    price: Price | None
    budget_usd: Decimal | None = None
    """What a run of an agent is told to stop at."""

    @property
    def worst_usd(self) -> Decimal | None:
        """What it costs at worst; None when nobody knows the price, or nothing bounds an agent's run."""
        if self.price is None or self.setting.provider == "command":
            return self.budget_usd if self.price is not None else None
        return worst_case_usd(self.price, self.request)


@dataclass(frozen=True, slots=True)
class PastCall:
    """What an answered call of this suite took earlier."""

    question: str
    setting: Setting
    usage: Usage
    seconds: float


@dataclass(frozen=True, slots=True)
class Estimate:
    """What the owed calls are expected to cost and take, and what they cost at worst."""

    calls: int
    with_history: int
    """Calls whose question this very setting has answered before."""
    low_usd: Decimal
    high_usd: Decimal
    """Both without the calls of `unpriced` models."""
    worst_usd: Decimal
    """Each call at its token limit; also without unpriced ones."""
    low_seconds: float | None
    high_seconds: float | None
    """Of all calls one after another, retries apart. None without history for each of them."""
    unpriced: tuple[str, ...]
    """Models without a price: with one, the sums read "at least"."""
    unbounded: tuple[str, ...] = ()
    """Agents whose runs no budget bounds: with one, the worst case reads "at least"."""

    @property
    def history(self) -> bool:
        """False: nothing in this suite's past says what these calls take; the range is from the texts' lengths."""
        return self.calls > 0 and self.with_history == self.calls

    def minutes(self, at_a_time: int) -> tuple[float, float] | None:
        """The range in minutes when so many calls run at a time; None without history."""
        if self.low_seconds is None or self.high_seconds is None:
            return None
        lanes = max(1, min(at_a_time, self.calls))
        return self.low_seconds / lanes / 60, self.high_seconds / lanes / 60


def estimate(calls: Sequence[PlannedCall], past: Iterable[PastCall] = ()) -> Estimate:
    """What `calls` will cost and take, as a range from this suite's own past replies.

    A call without history is taken at a short reply for the low end and at its worst case for the high end.
    """
    seen: dict[tuple[str, str], list[PastCall]] = {}
    for call in past:
        seen.setdefault((call.question, call.setting.label), []).append(call)
    found = [(call, seen.get((call.question, call.setting.label), [])) for call in calls]
    ranges = [_cost_range(call, history) for call, history in found]
    known = [history for _, history in found if history]
    timed = len(known) == len(calls) and bool(calls)
    return Estimate(
        calls=len(calls),
        with_history=len(known),
        low_usd=sum((low for low, _ in ranges), Decimal(0)),
        high_usd=sum((high for _, high in ranges), Decimal(0)),
        worst_usd=sum((call.worst_usd or Decimal(0) for call in calls), Decimal(0)),
        low_seconds=sum(min(c.seconds for c in history) for history in known) if timed else None,
        high_seconds=sum(max(c.seconds for c in history) for history in known) if timed else None,
        unpriced=tuple(dict.fromkeys(call.setting.model for call in calls if call.price is None)),
        unbounded=tuple(dict.fromkeys(c.setting.model for c in calls if c.price is not None and c.worst_usd is None)),
    )


def _cost_range(call: PlannedCall, history: Sequence[PastCall]) -> tuple[Decimal, Decimal]:
    costs = [cost for past in history if (cost := cost_usd(call.price, past.usage)) is not None]
    if costs:
        return min(costs), max(costs)
    lengths = [past.usage.output_tokens for past in history if past.usage.output_tokens is not None]
    short = Usage(input_tokens=_prompt_bytes(call.request) // 4, output_tokens=int(median(lengths)) if lengths else 5)
    low = cost_usd(call.price, short) or Decimal(0)
    if call.price is not None and call.worst_usd is None:
        return low, low
    worst = call.worst_usd or Decimal(0)
    return min(low, worst), worst


def _prompt_bytes(request: Request) -> int:
    return len(request.prompt.encode(errors="surrogatepass")) + len(
        (request.system or "").encode(errors="surrogatepass")
    )


def _from_entry(entry: PriceEntry) -> Price:
    return Price(
        input=entry.input,
        output=entry.output,
        cache_read=entry.cache_read,
        cache_write=entry.cache_write,
        as_of=entry.as_of,
        source=entry.source,
    )


@lru_cache(maxsize=256)
def _list_price(model: str, provider: str | None, url: str | None, at: datetime) -> Price | None:
    # Its import takes 0.24 s and reads 1.6 MB of tables, so it waits until a price is asked for.
    from importlib.metadata import version

    from genai_prices.data_snapshot import get_snapshot

    try:
        biller, found = get_snapshot().find_provider_model(model, None, provider, url)
    except LookupError:
        return None
    if url is not None and not _is_host_of(biller.api_pattern, url):
        return None
    release = version(TABLE)
    return _from_table(found.get_prices(at), source=f"{TABLE} {release}", as_of=TABLE_DATES.get(release))


def _is_host_of(pattern: str, url: str) -> bool:
    """Whether the table's pattern means this very host: most say only how its address begins."""
    found = re.match(pattern, url)
    return found is not None and (found[0].endswith("/") or url[found.end() :][:1] in ("", "/", ":"))


def _from_table(table: ModelPrice, *, source: str, as_of: date | None) -> Price | None:
    starts = sorted({start for name in _KINDS.values() for start in _tier_starts(getattr(table, name))})
    base = _rates_at(table, None)
    tiers = [(start, _rates_at(table, start)) for start in starts]
    if base is None or any(rates is None for _, rates in tiers):
        return None
    return Price(
        **base.model_dump(),
        tiers=tuple(Tier(above_tokens=start, **rates.model_dump()) for start, rates in tiers if rates is not None),
        as_of=as_of,
        source=source,
    )


_KINDS = {
    "input": "input_mtok",
    "output": "output_mtok",
    "cache_read": "cache_read_mtok",
    "cache_write": "cache_write_mtok",
}


def _tier_starts(rate: object) -> list[int]:
    return [tier.start for tier in getattr(rate, "tiers", [])]


def _rates_at(table: ModelPrice, start: int | None) -> Rates | None:
    """The rates from `start` on, or those below the first tier; None when input or output is not priced."""
    rates = {kind: _rate_at(getattr(table, name), start) for kind, name in _KINDS.items()}
    if rates["input"] is None or rates["output"] is None:
        return None
    return Rates.model_validate(rates)


def _rate_at(rate: object, start: int | None) -> Decimal | None:
    if rate is None:
        return None
    found = getattr(rate, "base", rate)
    for tier in getattr(rate, "tiers", []):
        if start is not None and tier.start <= start:
            found = tier.price
    assert isinstance(found, Decimal)
    return found
