"""What plots show, how they are drawn in every theme and size, and that nothing waits for their library."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from datetime import date
from decimal import Decimal

import pytest
from textual.screen import Screen

from resit.core.judging.growth import grow
from resit.core.spend.ledger import SpendLine
from resit.tui.app import ResitApp
from resit.tui.looks import BAD_CHARACTERS, THEME_ORDER
from resit.tui.plots import Picture, Series, growth_picture, letter, spend_picture, worth_picture
from resit.tui.widgets.chart import Chart
from saved_round import screen_lines, screen_text
from seen import until_seen

AppOn = Callable[[object], ResitApp]
TODAY = date(2026, 11, 30)
TWO = Picture(
    title="two lines",
    series=(Series("A", ((0.0, 0.5), (1.0, 1.0))), Series("B", ((0.0, 0.25), (1.0, 1.0)))),
    x_range=(-0.3, 1.3),
    y_range=(0.0, 1.0),
    x_ticks=((0.0, "28 Nov"), (1.0, "30 Nov")),
    y_ticks=((0.0, "0%"), (1.0, "100%")),
)


class ChartScreen(Screen[None]):
    def __init__(self, picture: Picture) -> None:
        super().__init__()
        self.picture = picture

    def compose(self):  # type: ignore[no-untyped-def]
        yield Chart(id="chart")

    def on_mount(self) -> None:
        self.query_one(Chart).show(self.picture)


def line(name: str, cost: str) -> SpendLine:
    return SpendLine(name, 1, Decimal(cost), 0, 1, 0, 0, 1)


def test_days_without_a_call_are_days_in_the_plot() -> None:
    picture = spend_picture([line("2026-11-27", "0.5"), line("2026-11-29", "1.7")], TODAY)
    assert picture is not None
    assert picture.series[0].points == ((0.0, 0.5), (1.0, 0.0), (2.0, 1.7), (3.0, 0.0))
    assert [said for _, said in picture.y_ticks] == ["$0", "$0.5", "$1", "$1.5"]
    assert [said for _, said in picture.x_ticks] == ["27 Nov", "28 Nov", "29 Nov", "30 Nov"]


def test_a_month_of_days_at_most_and_no_plot_of_nothing() -> None:
    picture = spend_picture([line("2026-01-01", "9"), line("2026-11-29", "1")], TODAY)
    assert picture is not None
    assert len(picture.series[0].points) == 31
    assert max(cost for _, cost in picture.series[0].points) == 1.0
    assert spend_picture([], TODAY) is None
    assert spend_picture([line("2026-11-29", "0")], TODAY) is None


def test_costs_far_apart_are_shown_in_powers_of_ten() -> None:
    near = worth_picture([("A", Decimal("0.2"), 0.9), ("B", Decimal("0.4"), 1.0)])
    far = worth_picture([("A", Decimal("0.001"), 0.9), ("B", Decimal("0.1"), 1.0), ("C", None, 1.0)])
    assert near is not None
    assert far is not None
    assert [one.points for one in near.series] == [((0.2, 0.9),), ((0.4, 1.0),)]
    assert [one.points for one in far.series] == [((-3.0, 0.9),), ((-1.0, 1.0),)]
    assert far.title == "lowest score against cost, in powers of ten"
    assert worth_picture([("A", None, 1.0), ("B", Decimal(1), None)]) is None


def test_free_models_can_be_plotted() -> None:
    picture = worth_picture([("A", Decimal(0), 0.4), ("B", Decimal(0), 0.4)])
    assert picture is not None
    assert picture.x_range[0] < 0 < picture.x_range[1]
    assert "+ where several meet" in picture.title


def test_growing_exams_are_a_band_for_each_of_the_best() -> None:
    table = [(1.0, float(at % 3 == 0), 0.0, float(at % 2)) for at in range(12)]
    growth = grow(["a", "b", "c", "d"], table, [1.0] * 12)
    picture = growth_picture(growth, "ABCD")
    assert picture is not None
    assert [one.mark for one in picture.series] == ["A", "A", "D", "D", "B", "B"]
    low, high = picture.series[4:]
    assert all(under[1] <= over[1] for under, over in zip(low.points, high.points, strict=True))
    assert picture.now == 12
    assert growth_picture(grow(["a"], [(1.0,)] * 6, [1.0] * 6), "A") is None
    assert growth_picture(grow([], [], []), "") is None


def test_each_setting_has_a_letter_of_its_own_as_long_as_they_last() -> None:
    assert [letter(at) for at in (0, 25, 26, 51, 52)] == ["A", "Z", "a", "z", "A"]


@pytest.mark.parametrize("theme", THEME_ORDER)
@pytest.mark.parametrize("size", [(60, 15), (120, 40)])
async def test_a_plot_stands_in_every_theme_and_size_with_marks_beside_colours(
    app_on: AppOn, theme: str, size: tuple[int, int]
) -> None:
    app = app_on(ChartScreen(TWO))
    async with app.run_test(size=size) as pilot:
        app.theme = theme
        await until_seen(pilot, "100%┤")
        shown = screen_text(app)
        assert "two lines" in shown
        assert "28 Nov" in shown
        first = next(text for text in screen_lines(app) if "100%┤" in text)
        assert "+" in first, "both lines end there"
        assert "A" in shown
        assert "B" in shown
        assert not BAD_CHARACTERS.search(shown.replace("\n", ""))


async def test_a_plot_without_room_is_left_out(app_on: AppOn) -> None:
    app = app_on(ChartScreen(TWO))
    async with app.run_test(size=(24, 6)) as pilot:
        await app.workers.wait_for_complete()
        await pilot.pause()
        assert "┤" not in screen_text(app)


async def test_no_colour_is_needed(app_on: AppOn, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    app = app_on(ChartScreen(TWO))
    async with app.run_test(size=(80, 24)) as pilot:
        await until_seen(pilot, "100%┤")
        colours = {
            str(segment.style.color.triplet)
            for strip in app.screen._compositor.render_strips()
            for segment in strip
            if segment.style is not None and segment.style.color is not None and segment.style.color.triplet
        }
        assert all(len({*eval_triplet(colour)}) == 1 for colour in colours), "greys only"


def eval_triplet(text: str) -> list[int]:
    """The numbers in `ColorTriplet(red=1, green=2, blue=3)`."""
    return [int("".join(filter(str.isdigit, part))) for part in text.split(",")]


def test_no_screen_loads_the_library_of_plots_before_one_is_shown() -> None:
    script = (
        "import sys, resit.tui.app, resit.tui.screens.gates, resit.tui.screens.history, resit.tui.screens.spend\n"
        "sys.exit(any(name.startswith(('plotext', 'textual_plotext')) for name in sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0
