"""Whether a call may be paid for: the worst case is set aside before it, and settled after it."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from resit.core.errors import OverCap, Unpriced


@dataclass(frozen=True, slots=True, eq=False)
class Reservation:
    """What is set aside for one call in flight. None: the price is unknown."""

    worst_usd: Decimal | None


class Budget:
    """Money of one round. Not for several threads: one event loop reserves and settles."""

    def __init__(
        self, cap_usd: Decimal | None = None, *, spent_usd: Decimal = Decimal(0), at_least: bool = False
    ) -> None:
        """Start counting, with what the round cost before.

        Args:
            cap_usd: The most the round may cost; None sets no limit.
            spent_usd: Known cost of the calls already made for this round.
            at_least: A call already made has an unknown cost.
        """
        self.cap_usd = cap_usd
        self._spent = spent_usd
        self._at_least = at_least
        self._in_flight: set[Reservation] = set()
        # Kept beside them: thousands are out in batches, and each that settles asks for the sum.
        self._in_flight_usd = Decimal(0)
        self._doubtful = Decimal(0)

    @property
    def spent_usd(self) -> Decimal:
        """Known cost of all settled calls."""
        return self._spent

    @property
    def at_least(self) -> bool:
        """True when a settled call has an unknown cost, so that `spent_usd` is only a part."""
        return self._at_least

    @property
    def in_flight_usd(self) -> Decimal:
        """What is set aside for the calls that are out now."""
        return self._in_flight_usd

    @property
    def left_usd(self) -> Decimal | None:
        """What the next call may cost at worst. None without a cap.

        A priced call that ended without a bill, such as a dropped stream, keeps its worst case taken.
        """
        if self.cap_usd is None:
            return None
        return max(self.cap_usd - self._spent - self._doubtful - self.in_flight_usd, Decimal(0))

    @property
    def doubtful_usd(self) -> Decimal:
        """What stays taken for calls that ended without a bill, at their worst."""
        return self._doubtful

    def take_doubtful(self, worst_usd: Decimal) -> None:
        """Hold the cap also against calls of an earlier start that ended without a bill."""
        self._doubtful += worst_usd

    def reserve(self, worst_usd: Decimal | None) -> Reservation:
        """Set aside what the next call may cost at worst.

        Raises:
            Unpriced: There is a cap and nobody knows the price.
            OverCap: The call could take the round past its cap.
        """
        left = self.left_usd
        if left is not None:
            if worst_usd is None:
                raise Unpriced(
                    "a model without a price does not start under a cap",
                    hint="add its price to models.toml, or run without --cap",
                )
            if worst_usd > left:
                raise OverCap(
                    f"the next call may cost ${worst_usd:.4f}; ${left:.4f} of the ${self.cap_usd:.2f} cap is left",
                    hint="raise --cap to go on",
                )
        return self.hold(worst_usd)

    def hold(self, worst_usd: Decimal | None) -> Reservation:
        """Set aside what a call may cost that is out already, whatever the cap says."""
        reservation = Reservation(worst_usd)
        self._in_flight.add(reservation)
        self._in_flight_usd += worst_usd or 0
        return reservation

    def settle(self, reservation: Reservation, cost_usd: Decimal | None) -> None:
        """Replace what was set aside by what the call cost; None when that is not known."""
        self.release(reservation)
        if cost_usd is not None:
            self._spent += cost_usd
            return
        self._at_least = True
        self._doubtful += reservation.worst_usd or Decimal(0)

    def release(self, reservation: Reservation) -> None:
        """Give back what was set aside for a call that was not billed."""
        self._in_flight.remove(reservation)
        self._in_flight_usd -= reservation.worst_usd or 0
