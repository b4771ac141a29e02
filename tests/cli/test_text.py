"""How the text front end writes money, scores and tables, and that it survives what it shows."""

from __future__ import annotations

import io
from datetime import UTC, datetime
from decimal import Decimal

import pytest

from resit.core.judging.wording import dollars, percent
from resit.core.records import Fault, Setting
from resit.core.rounds.events import Event, RoundStarted, SettingStopped
from resit.plain.lines import Lines
from resit.plain.text import score, table, width

NOW = datetime(2026, 11, 30, tzinfo=UTC)


@pytest.mark.parametrize(
    ("cost", "at_least", "said"),
    [
        (None, False, "unknown"),
        (Decimal(0), False, "$0"),
        (Decimal(0), True, "unknown"),
        (Decimal("0.0001264"), False, "$0.000126"),
        (Decimal("0.002568"), True, "at least $0.00257"),
        (Decimal("0.5"), False, "$0.5000"),
        (Decimal("1234.5"), False, "$1,234.50"),
    ],
)
def test_money_keeps_three_digits_and_what_is_unknown_is_never_0(
    cost: Decimal | None, at_least: bool, said: str
) -> None:
    assert dollars(cost, at_least=at_least) == said


@pytest.mark.parametrize(
    ("value", "said"), [(None, "–"), (0.0, "0"), (1.0, "1"), (0.996, "0.99"), (0.004, "0.01"), (2 / 3, "0.67")]
)
def test_only_full_marks_read_as_full_and_only_none_as_none(value: float | None, said: str) -> None:
    assert score(value) == said


@pytest.mark.parametrize(
    ("share", "said"), [(None, "–"), (0.0, "0%"), (1.0, "100%"), (0.9999, "99.9%"), (0.0001, "0.1%"), (0.95, "95.0%")]
)
def test_a_percentage_reads_100_only_when_it_is_all(share: float | None, said: str) -> None:
    assert percent(share) == said


def test_columns_stay_aligned_with_wide_and_combining_characters() -> None:
    rows = [["日本語", "x"], ["e\u0301a", "x"], ["plain", "x"], ["👍", "x"]]
    lines = table(["name", "n"], rows).splitlines()
    assert {width(line) for line in lines} == {width("日本語  x")}


def test_a_cell_is_one_line_and_cut_with_a_mark() -> None:
    lines = table(["a"], [["x\ny\x1b[2J" + "z" * 100]], limit=20).splitlines()
    assert len(lines) == 2
    assert lines[1].endswith("…")
    assert "\x1b" not in lines[1]


class Gone(io.StringIO):
    """A terminal that is not there any more."""

    def write(self, text: str) -> int:
        raise OSError(5, "Input/output error")


EVENTS: list[Event] = [
    RoundStarted(NOW, planned=2, done=0, rows=()),
    SettingStopped(NOW, Setting(model="m"), Fault(kind="key", said="\x1b[2Jno")),
]


def test_a_stream_that_is_gone_never_raises_into_the_runner() -> None:
    lines = Lines(live=True, plain=True, out=Gone(), err=Gone())
    for event in EVENTS:
        lines.emit(event)
    lines.clear()


def test_a_setting_that_stops_is_said_on_standard_error_whatever_is_shown() -> None:
    out, err = io.StringIO(), io.StringIO()
    lines = Lines(live=False, plain=False, out=out, err=err)
    for event in EVENTS:
        lines.emit(event)
    assert out.getvalue() == ""
    assert err.getvalue() == "resit: m default stopped: ␛[2Jno\n"
