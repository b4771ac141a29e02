"""A round's money: what is set aside before a call, what it cost, and its line in the ledger."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal

from resit.core.errors import RoundError
from resit.core.records import Attempt, Fault, Reply, Setting
from resit.core.rounds.events import Spent
from resit.core.rounds.plan import Job
from resit.core.rounds.sent import SentLog
from resit.core.scoring.grid import UNBILLED
from resit.core.spend.budget import Budget, Reservation
from resit.core.spend.ledger import Ledger, LedgerEntry
from resit.core.spend.prices import BATCH_FACTOR, Price, cost_usd, worst_case_usd


@dataclass(frozen=True, slots=True)
class Called:
    """Which run a call was made for."""

    question: str
    setting: Setting
    run: int
    endpoint: str

    @classmethod
    def of(cls, job: Job) -> Called:
        """The same of a job."""
        return cls(job.question.id, job.setting, job.run, job.request.endpoint)


class Till:
    """Reserves, settles and writes down."""

    def __init__(
        self,
        suite: str,
        round_id: str,
        budget: Budget,
        ledger: Ledger | None,
        prices: Mapping[str, Price | None],
        sent: SentLog | None = None,
        budgets: Mapping[str, Decimal | None] | None = None,
    ) -> None:
        """Keep the money of one round.

        Args:
            suite: Short name of the suite, for the ledger.
            round_id: The round's name, for the ledger.
            budget: What is spent and may be.
            ledger: Where every call is written down. None for a round that pays nobody.
            prices: By setting label.
            sent: Where a call is noted before it goes out. None for a round that pays nobody.
            budgets: By setting label: what a run of an agent is told to stop at.
        """
        self.budget = budget
        self._names = (suite, round_id)
        self._ledger = ledger
        self._prices = prices
        self._sent = sent
        self._budgets = budgets or {}

    def reserve(self, job: Job) -> Reservation:
        """Set aside what a call may cost at worst, and note that it goes out.

        Raises:
            OverCap: It could take the round past its cap.
            Unpriced: There is a cap, and nobody knows the price.
            RoundError: It cannot be noted, so it must not go out.
        """
        reservation = self.budget.reserve(self._worst(job))
        if self._sent is not None:
            try:
                self._sent.note(job.key, reservation.worst_usd)
            except RoundError:
                self.budget.release(reservation)
                raise
        return reservation

    def worst_usd(self, job: Job) -> Decimal | None:
        """The most that a call can cost; None when that is not known."""
        return self._worst(job)

    def affords(self, job: Job) -> bool:
        """True when `reserve` would succeed."""
        worst, left = self._worst(job), self.budget.left_usd
        return left is None or (worst is not None and worst <= left)

    def settle(self, setting: Setting, reservation: Reservation, answer: Reply | Fault) -> Decimal | None:
        """What a call cost; None when that is not known."""
        if isinstance(answer, Fault) and answer.usage is None and _unbilled(answer):
            self.budget.release(reservation)
            return Decimal(0)
        price = self._prices[setting.label]
        requests = (answer.turns if isinstance(answer, Reply) else None) or 1
        cost = cost_usd(price, answer.usage, requests)
        if cost is not None and price is not None and price.batch and _at_full_price(answer):
            cost /= BATCH_FACTOR
        self.budget.settle(reservation, cost)
        return cost

    def release(self, reservation: Reservation) -> Decimal:
        """A call that was not billed: its cost, which is nothing."""
        self.budget.release(reservation)
        return Decimal(0)

    def write_down(self, call: Called, attempt: Attempt) -> None:
        """Put a call into the ledger.

        Raises:
            RoundError: It cannot be written.
        """
        answer = attempt.reply or attempt.fault
        if self._ledger is None or answer is None:
            return
        suite, round_id = self._names
        entry = LedgerEntry(
            at=attempt.at,
            suite=suite,
            round=round_id,
            question=call.question,
            model=call.setting.model,
            setting=call.setting.label,
            run=call.run,
            attempt=attempt.number,
            provider=call.setting.provider,
            endpoint=call.endpoint,
            ended=answer.stop if isinstance(answer, Reply) else answer.kind,
            usage=answer.usage,
            cost_usd=attempt.cost_usd,
            request_id=answer.request_id,
        )
        self._ledger.append(entry)

    @property
    def doubt(self) -> str:
        """What the cap holds besides the known cost, as a part of a sentence; nothing when there is none."""
        doubtful = self.budget.doubtful_usd
        return f" with ${doubtful:.4f} held for calls that ended without a bill" if doubtful else ""

    def close(self) -> None:
        """Let the round's files go."""
        if self._sent is not None:
            self._sent.close()

    @property
    def spent(self) -> Spent:
        """The money now, as an event."""
        return Spent(self.budget.spent_usd, self.budget.in_flight_usd, self.budget.at_least)

    def _worst(self, job: Job) -> Decimal | None:
        price = self._prices[job.setting.label]
        told = self._budgets.get(job.setting.label)
        return told if told is not None and price is not None else worst_case_usd(price, job.request)


def _at_full_price(answer: Reply | Fault) -> bool:
    """The server says that it was not served as a part of a batch."""
    return isinstance(answer, Reply) and answer.service_tier not in (None, "batch")


def _unbilled(fault: Fault) -> bool:
    """The server refused the call before a model worked on it."""
    return fault.kind in UNBILLED or (fault.status or 0) >= 400
