"""Numbers as sentences hold them."""

from __future__ import annotations

from decimal import Decimal

import pytest

from resit.core.judging.stats import Interval
from resit.core.judging.wording import counted, dollars, interval_said, named, p_said, percent, seconds, signed


@pytest.mark.parametrize(
    ("cost", "at_least", "said"),
    [
        (None, False, "unknown"),
        ("0", False, "$0"),
        ("0", True, "unknown"),
        ("0.00012345", False, "$0.000123"),
        ("0.2", False, "$0.2000"),
        ("1234.5", False, "$1,234.50"),
        ("1.5", True, "at least $1.50"),
    ],
)
def test_money_reads_unknown_and_never_nothing_when_it_is_not_known(
    cost: str | None, at_least: bool, said: str
) -> None:
    assert dollars(None if cost is None else Decimal(cost), at_least=at_least) == said


def test_a_percentage_is_100_only_when_it_is_all_and_0_only_when_it_is_nothing() -> None:
    assert [percent(share) for share in (None, 0.0, 1.0, 0.9999, 0.00001, 0.875)] == [
        "–", "0%", "100%", "99.9%", "0.1%", "87.5%",
    ]  # fmt: skip


def test_a_p_value_is_not_rounded_across_five_per_cent() -> None:
    assert [p_said(value) for value in (0.0004, 0.0390625, 0.04999, 0.0501, 0.5, 1.0)] == [
        "p < 0.001", "p = 0.039", "p = 0.049", "p = 0.050", "p = 0.50", "p = 1.00",
    ]  # fmt: skip


def test_small_things_read_well() -> None:
    assert [counted(number, "run") for number in (0, 1, 1200)] == ["0 runs", "1 run", "1,200 runs"]
    assert [signed(value) for value in (0.125, -0.0351, 0.0, -0.0001)] == ["+12.5", "−3.5", "0", "0"]
    assert named(["a", "b", "c"], 2) == "a, b and 1 more"
    assert interval_said(None) == "–"
    assert interval_said(Interval(0.5, 1.0)) == "50.0% to 100%"
    assert (seconds(None), seconds(1.25)) == ("–", "1.2 s")
