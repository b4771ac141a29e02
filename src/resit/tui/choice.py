"""What a person picked for a round: kept per suite, so that the next round starts from the last choice."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from decimal import Decimal, InvalidOperation
from typing import Any

from resit.core.records import EFFORTS, Effort, Setting
from resit.core.suite import PLAIN, Suite

DEFAULT_CAP = Decimal("0.50")
MAX_REPEATS = 99


@dataclass(frozen=True, slots=True)
class Pick:
    """One model at one effort."""

    model: str
    effort: Effort | None
    provider: str = "anthropic"


@dataclass(frozen=True, slots=True)
class Choice:
    """Everything the set-up screen lets a person choose."""

    picks: tuple[Pick, ...] = ()
    quiet: frozenset[str] = frozenset()
    """Models whose thinking is switched off."""
    variants: tuple[str, ...] = (PLAIN,)
    repeats: int = 2
    cap_usd: Decimal | None = DEFAULT_CAP
    serial: bool = False
    batch: bool = False

    @property
    def settings(self) -> tuple[Setting, ...]:
        """The settings: each pick under each wording."""
        return tuple(
            Setting(
                model=pick.model,
                effort=pick.effort,
                variant=variant,
                thinking="off" if pick.model in self.quiet else "default",
                provider=pick.provider,
            )
            for pick in self.picks
            for variant in self.variants
        )

    def toggled(self, pick: Pick) -> Choice:
        """With `pick` in, or out if it was in."""
        if pick in self.picks:
            return replace(self, picks=tuple(other for other in self.picks if other != pick))
        return replace(self, picks=(*self.picks, pick))

    def thinking_toggled(self, model: str) -> Choice:
        """With the model's thinking switched off, or back to its own way."""
        return replace(self, quiet=self.quiet ^ {model})

    def more(self, by: int) -> Choice:
        """With `by` more runs, never fewer than one."""
        return replace(self, repeats=max(1, min(MAX_REPEATS, self.repeats + by)))

    def next_variants(self, suite: Suite) -> Choice:
        """Plain, then each other wording alone, then all of them together."""
        names = (PLAIN, *(name for name in suite.variants if name != PLAIN))
        steps = [(name,) for name in names] + ([names] if len(names) > 1 else [])
        at = steps.index(self.variants) if self.variants in steps else -1
        return replace(self, variants=steps[(at + 1) % len(steps)])

    def table(self) -> dict[str, Any]:
        """As it is remembered."""
        return {
            "picks": [[pick.model, pick.effort or "", pick.provider] for pick in self.picks],
            "quiet": sorted(self.quiet),
            "variants": list(self.variants),
            "repeats": self.repeats,
            "cap_usd": "" if self.cap_usd is None else str(self.cap_usd),
            "serial": self.serial,
            "batch": self.batch,
        }


def recalled(table: object, suite: Suite) -> Choice:
    """What was remembered, as far as it still makes sense; else the suite's own number of runs and the usual cap."""
    start = Choice(repeats=max(1, suite.repeats))
    if not isinstance(table, Mapping):
        return start
    variants = tuple(v for v in _strings(table.get("variants")) if v == PLAIN or v in suite.variants)
    repeats = table.get("repeats")
    return Choice(
        picks=tuple(pick for entry in _list(table.get("picks")) if (pick := _pick(entry)) is not None),
        quiet=frozenset(_strings(table.get("quiet"))),
        variants=variants or (PLAIN,),
        repeats=repeats if isinstance(repeats, int) and 1 <= repeats <= MAX_REPEATS else start.repeats,
        cap_usd=parse_cap(str(table.get("cap_usd", ""))) if "cap_usd" in table else start.cap_usd,
        serial=table.get("serial") is True,
        batch=table.get("batch") is True,
    )


def parse_cap(text: str) -> Decimal | None:
    """A cap as a person writes it, in dollars; None for an empty line: no cap.

    Raises:
        ValueError: It is no amount of money.
    """
    plain = text.strip().removeprefix("$").strip()
    if not plain:
        return None
    try:
        cap = Decimal(plain.replace(",", "."))
    except InvalidOperation:
        raise ValueError(f"{plain!r} is no amount in dollars") from None
    if not cap.is_finite() or cap < 0:
        raise ValueError("a cap is an amount in dollars, 0 or more")
    return cap


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _strings(value: object) -> tuple[str, ...]:
    return tuple(item for item in _list(value) if isinstance(item, str))


def _pick(entry: object) -> Pick | None:
    words = _strings(entry)
    if len(words) != 3 or not words[0]:
        return None
    effort = next((known for known in EFFORTS if known == words[1]), None)
    return Pick(words[0], effort, words[2]) if effort or not words[1] else None
