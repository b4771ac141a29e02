"""What is read as a number, and which value it has."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from resit.core.rule import NumberInReply, Numeric
from resit.core.scoring.number_rules import judge_number_in_reply, judge_numeric, whole_number
from resit.core.scoring.numbers import MAX_DIGITS, Reading, find_numbers, prepare

POINT = Reading()


def values(text: str) -> list[Fraction | None]:
    return [number.value for number in find_numbers(prepare(text), POINT, 100)]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1,234.5", Fraction(2469, 2)),
        ("12,34,567", Fraction(1234567)),
        ("1 000 000", Fraction(1000000)),
        ("12{,}345", Fraction(12345)),
        ("2.7*10^-3", Fraction(27, 10000)),
        ("7×10⁴", Fraction(70000)),
        ("1 1/2", Fraction(3, 2)),
        ("2¼", Fraction(9, 4)),
        ("\\frac{3}{4}", Fraction(3, 4)),
        ("minus 12", Fraction(-12)),
        ("3.2 million", Fraction(3200000)),
        ("$10M", Fraction(10000000)),
        ("٤٢", Fraction(42)),
        ("-$5.50", Fraction(-11, 2)),
        ("5/0", None),
        ("5^2", None),
        ("1e999999999", None),
        ("1,2,3", None),
        ("<5", None),
        ("±5", None),
        ("9" * (MAX_DIGITS + 1), None),
    ],
)
def test_one_text_has_one_value_or_none(text: str, value: Fraction | None) -> None:
    number = whole_number(text, POINT)
    assert (number.value if number else None) == value


@pytest.mark.parametrize(
    "text", ["gpt4", "GPT-4", "H2O", "2nd", "17:20", "2026-11-29", "3/4/2025", "v1.2.3", "0x1F", "42abc", "5 pm", "x_1"]
)
def test_digits_that_are_no_number_are_passed_over(text: str) -> None:
    assert values(f"see {text} here") == []


def test_numbers_are_found_in_order_among_words() -> None:
    assert values("3 bags of 4 make 12, not -5 or 10-20.") == [3, 4, 12, -5, 10, 20]


def test_the_numerals_of_a_list_are_no_numbers_but_one_numbered_line_is_no_list() -> None:
    assert values("1. add 7\n2. done") == [7]
    assert values("12. That is all.") == [12]


def test_a_tag_is_no_bound() -> None:
    assert values("<b>5</b> and x >= 6") == [5, None]


def test_the_number_picked_is_shown_with_its_place_in_the_reply() -> None:
    reply = "So\u200b the answer\u200b is: **1,250** kg"
    judged = judge_number_in_reply(NumberInReply(pick="marked"), ("1250",), reply)
    assert judged.passed
    assert judged.picked == "1,250"
    assert judged.picked_at is not None
    assert reply[slice(*judged.picked_at)] == "1,250"


@given(st.decimals(allow_nan=False, allow_infinity=False, places=6, min_value=-(10**12), max_value=10**12))
def test_every_decimal_equals_itself_however_it_is_written(value: Decimal) -> None:
    written = f"{value:f}"
    for form in (written, f"{value:,f}", f"({written})", f"**{written}**", f"Answer: {written}", f"{value:E}"):
        assert judge_numeric(Numeric(), (written,), form).passed, form


@given(st.integers(-(10**30), 10**30), st.integers(0, 100))
def test_the_edge_of_a_tolerance_counts_and_one_past_it_does_not(value: int, tolerance: int) -> None:
    rule = Numeric(tolerance=Decimal(tolerance))
    assert judge_numeric(rule, (str(value),), str(value + tolerance)).passed
    assert not judge_numeric(rule, (str(value),), str(value + tolerance + 1)).passed


@given(st.text("0123456789.,'/-+e^%$€ ½⁴x*√\n(){}\\fracboxed", max_size=40))
def test_any_heap_of_signs_is_read_without_an_error_and_within_its_bounds(text: str) -> None:
    end = 0
    for number in find_numbers(prepare(text), POINT, 100):
        assert 0 <= number.start <= number.end <= len(text)
        assert number.end > end
        assert number.value is None or isinstance(number.value, Fraction)
        end = number.end
