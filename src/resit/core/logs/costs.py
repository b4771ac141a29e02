"""What requests out of logs cost: each sum of calls at the list price of its model on its day."""

from __future__ import annotations

from bisect import bisect_left
from datetime import UTC, date, datetime, time
from decimal import Decimal

from resit.core.config import ModelsFile
from resit.core.logs.rows import TIERS, Row, Spent
from resit.core.records import Setting
from resit.core.spend.prices import Price, Rates, price_for

_MTOK = Decimal(1_000_000)
_OPENAI = "https://api.openai.com/v1"
_LONG_WRITE = 2
"""Anthropic's one-hour cache writes cost twice the input rate, for every model of its list."""
_WINDOW = "[1m]"
"""What Claude Code puts after the name of a model with its longer window; the price is the same."""


class Prices:
    """Prices of the models that logs name, looked up once for each day."""

    def __init__(self, models_file: ModelsFile) -> None:
        """Let the person's own prices win."""
        self._models_file = models_file
        self._known: dict[tuple[str, str, date], Price | None] = {}
        self._rates: dict[tuple[str, str, date, int], Rates | None] = {}

    @property
    def notes(self) -> tuple[str, ...]:
        """Where the prices that were used are from, with their dates."""
        return tuple(sorted({price.label for price in self._known.values() if price is not None}))

    def price(self, model: str, provider: str, day: date) -> Price | None:
        """The price of `model` as `provider` bills it on a day; None when nobody says."""
        key = (model, provider, day)
        if key not in self._known:
            setting = Setting(model=model.removesuffix(_WINDOW), provider=provider)
            at = datetime.combine(day, time(12), UTC)
            url = _OPENAI if provider == "openai" else None
            self._known[key] = price_for(setting, self._models_file, at, url)
        return self._known[key]

    def cost(self, row: Row) -> tuple[Decimal | None, bool, tuple[str, ...]]:
        """What a request cost, whether more than that is unknown, and which of its models have no price."""
        day = datetime.fromtimestamp(row.at, UTC).date()
        total: Decimal | None = None
        missing, unpriced = row.partial, []
        for spent in row.spent:
            rates = self._rates_of(spent, row.provider, day)
            cost = None if rates is None else cost_of(spent, rates)
            if cost is not None:
                total = cost if total is None else total + cost
                continue
            missing = True
            if rates is None and spent.model is not None and spent.model not in unpriced:
                unpriced.append(spent.model)
        return total, missing and total is not None, tuple(unpriced)

    def _rates_of(self, spent: Spent, provider: str, day: date) -> Rates | None:
        """The rates of calls whose prompts lie between two tiers."""
        if spent.model is None:
            return None
        key = (spent.model, provider, day, bisect_left(TIERS, spent.longest))
        if key not in self._rates:
            price = self.price(spent.model, provider, day)
            self._rates[key] = _FREE if price is not None and price.free else price and price.rates_for(spent.longest)
        return self._rates[key]


_FREE = Rates(input=Decimal(0), output=Decimal(0), cache_read=Decimal(0), cache_write=Decimal(0))
"""Of a model that costs nothing: then nothing needs to be counted either."""


def cost_of(spent: Spent, rates: Rates) -> Decimal | None:
    """What some calls cost, in US dollars, not rounded. None when a rate or a count is unknown."""
    if spent.input is None or spent.output is None:
        return Decimal(0) if rates is _FREE else None
    total = spent.input * rates.input + spent.output * rates.output
    if spent.read:
        if rates.cache_read is None:
            return None
        total += spent.read * rates.cache_read
    if spent.write_5m or spent.write_1h:
        if rates.cache_write is None:
            return None
        total += (spent.write_5m or 0) * rates.cache_write
        total += (spent.write_1h or 0) * _LONG_WRITE * rates.input
    return total / _MTOK
