"""What a person wants of a round, and which round goes on with it."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from difflib import get_close_matches
from pathlib import Path

from resit.core.errors import RoundError, UsageError
from resit.core.records import Setting
from resit.core.rounds.plan import RoundPlan
from resit.core.rounds.shelf import is_of_another_file
from resit.core.rounds.store import RoundStore, find_rounds
from resit.core.suite import PLAIN, Suite

NEW = "new"
"""As a round's reference: start another one, though one with these settings is there."""


@dataclass(frozen=True, slots=True)
class Wish:
    """What a person wants of a round. None: as the round has it, else the usual."""

    settings: tuple[Setting, ...]
    """None of them means those of the round."""
    repeats: int | None
    cap_usd: Decimal | None
    serial: bool | None
    concurrency: int | None
    only: tuple[str, ...]
    """Ids or kinds of questions; empty means all."""
    round: str | None
    """Id or path of a round to go on with, `last`, or `new`."""
    batch: bool | None = None
    """In batches, at the batch price."""
    unisolated: bool = False
    """Agents may start though they could read the answers."""
    no_cap: bool = False
    """The round has no cap, whatever it had before."""


def check_wish(suite: Suite, wish: Wish) -> None:
    """Refuse what `suite` does not have.

    Raises:
        UsageError: A wording, question, kind or number of runs that cannot be.
    """
    if not suite.asked:
        hint = "give one an accepted answer, then take draft = true off it"
        raise UsageError(f"{suite.name}: every question is a draft, and a draft is never asked", hint=hint)
    for setting in wish.settings:
        if setting.variant != PLAIN and setting.variant not in suite.variants:
            known = ", ".join((PLAIN, *suite.variants))
            raise UsageError(f"{suite.name} has no variant {setting.variant!r}", hint=f"it has {known}")
    known_names = {q.id for q in suite.asked} | {q.kind for q in suite.asked}
    for name in wish.only:
        if name not in known_names:
            near = get_close_matches(name, known_names, 1)
            hint = f"did you mean {near[0]!r}?" if near else "resit check lists them"
            raise UsageError(f"{suite.name} has no question or kind {name!r}", hint=hint)
    if wish.repeats is not None and wish.repeats < 1:
        raise UsageError(f"{wish.repeats} runs cannot be asked", hint="-n 2 asks each question twice")


def find_store(folder: Path, suite: Suite, wish: Wish) -> RoundStore | None:
    """The round that goes on; None for a new one.

    Raises:
        UsageError: The round that is named is not there, or asks another suite.
        RoundError: A round that may be the one cannot be read.
    """
    if wish.round == NEW:
        return None
    if wish.round is not None:
        store = RoundStore.find(folder, wish.round, suite.name if wish.round == "last" else None)
        if store.plan().suite != suite.name:
            raise UsageError(f"round {store.id} asks {store.plan().suite}, not {suite.name}", hint="name its own suite")
        return store
    for path in find_rounds(folder, suite.name):
        try:
            store = RoundStore.open(path)
            plan = store.plan()
        except RoundError as error:
            # It may be the one that goes on: to begin anew in silence would pay for its replies twice.
            mend = f"mend it or move {path} away, or start anew with --round new"
            raise RoundError(error.message, hint=mend) from error
        if _goes_on(plan, suite, wish):
            return store
    return None


def _goes_on(plan: RoundPlan, suite: Suite, wish: Wish) -> bool:
    """True when the same command, or a longer one, began this round."""
    wanted = {setting.label for setting in wish.settings}
    return (
        not is_of_another_file(plan, suite)
        and set(plan.labels) <= wanted
        and plan.only == wish.only
        and plan.repeats <= (wish.repeats or suite.repeats)
    )
