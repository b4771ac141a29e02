from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from resit.core.errors import OverCap, Unpriced
from resit.core.spend.budget import Budget, Reservation

CENT = Decimal("0.01")


def test_without_a_cap_everything_starts_and_is_counted() -> None:
    budget = Budget()
    first, second = budget.reserve(CENT), budget.reserve(None)
    assert budget.in_flight_usd == CENT
    budget.settle(first, CENT / 2)
    budget.settle(second, None)
    assert budget.spent_usd == CENT / 2
    assert budget.in_flight_usd == 0
    assert budget.at_least
    assert budget.left_usd is None


def test_a_call_that_could_pass_the_cap_does_not_start() -> None:
    budget = Budget(CENT * 2)
    budget.reserve(CENT)
    budget.reserve(CENT)
    with pytest.raises(OverCap, match=r"may cost \$0.0100; \$0.0000 of the \$0.02 cap is left: raise --cap"):
        budget.reserve(CENT)


def test_what_a_call_did_not_use_is_free_again_once_it_settles() -> None:
    budget = Budget(CENT)
    budget.settle(budget.reserve(CENT), CENT / 10)
    budget.reserve(CENT / 10 * 9)
    assert budget.left_usd == 0


def test_a_model_without_a_price_does_not_start_under_a_cap() -> None:
    with pytest.raises(Unpriced, match=r"models\.toml"):
        Budget(Decimal(5)).reserve(None)


def test_a_free_model_runs_under_a_cap_of_nothing() -> None:
    budget = Budget(Decimal(0))
    budget.settle(budget.reserve(Decimal(0)), Decimal(0))
    assert budget.spent_usd == 0


def test_a_call_without_a_bill_keeps_its_worst_case_taken_but_is_not_called_spent() -> None:
    budget = Budget(CENT * 2)
    budget.settle(budget.reserve(CENT), None)
    assert budget.spent_usd == 0
    assert budget.at_least
    assert budget.left_usd == CENT


def test_a_call_that_was_not_billed_gives_its_share_back() -> None:
    budget = Budget(CENT)
    budget.release(budget.reserve(CENT))
    assert budget.left_usd == CENT
    assert not budget.at_least


def test_a_resumed_round_counts_what_it_cost_before() -> None:
    with pytest.raises(OverCap):
        Budget(CENT * 3, spent_usd=CENT * 3).reserve(CENT)
    assert Budget(CENT * 4, spent_usd=CENT * 3).reserve(CENT).worst_usd == CENT


CALLS = st.lists(
    st.tuples(st.integers(0, 50), st.one_of(st.none(), st.floats(0, 1)), st.booleans()), min_size=1, max_size=60
)


@given(st.integers(0, 300), CALLS)
def test_the_cap_is_never_passed_whatever_the_order_of_calls(
    cap_cents: int, calls: list[tuple[int, float | None, bool]]
) -> None:
    cap = CENT * cap_cents
    budget, billed = Budget(cap), Decimal(0)
    open_calls: list[tuple[Reservation, Decimal, bool]] = []
    for worst_cents, share, wait in calls:
        worst = CENT * worst_cents
        try:
            reservation = budget.reserve(worst)
        except OverCap:
            continue
        bill = worst * Decimal(share if share is not None else 1)
        open_calls.append((reservation, bill, share is not None))
        if not wait:
            for held, amount, known in open_calls:
                billed += amount
                budget.settle(held, amount if known else None)
            open_calls = []
        assert billed + sum(amount for _, amount, _ in open_calls) <= cap
