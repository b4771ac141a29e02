"""A plot as plotext draws it, in the colours of the theme. Imported late, for plotext loads slowly."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import cycle

from rich.text import Text
from textual.color import Color
from textual_plotext import PlotextPlot

from resit.tui.plots import SEVERAL, Picture, Series

_OF_THEME = ("primary", "success", "warning", "error", "accent", "secondary")
_OF_TERMINAL = ("blue+", "green+", "orange+", "red+", "magenta+", "cyan+")
_LINE = "·"
"""In every font, and one cell wide; the finer dots of Braille are neither."""
_LEAST = (24, 5)
Shade = str | tuple[int, int, int]


class Plotted(PlotextPlot):
    """Draws a `Picture`; a mark stands beside every colour."""

    def __init__(self, picture: Picture) -> None:
        """Draw `picture`."""
        super().__init__()
        self._picture = picture
        # Neither background nor grey of its own: those of the screen show through, in every theme.
        self.theme = "clear"

    def show(self, picture: Picture) -> None:
        """Draw that picture from now on."""
        self._picture = picture
        self.refresh()

    def render(self) -> Text:
        """The picture in the size there is."""
        width, height = self.size
        if width < _LEAST[0] or height < _LEAST[1]:
            return Text("")
        plot, picture = self.plt, self._picture
        plot.clear_figure()
        plot.plotsize(width, height)
        plot._set_size(width, height)
        plot.theme("clear")
        shade = self._shades(picture.series)
        if picture.bars:
            for one in picture.series:
                xs, ys = zip(*one.points, strict=True)
                plot.bar(xs, ys, width=0.8, color=shade[one.mark])
        else:
            self._lines(shade)
        _scale(plot, picture)
        return Text.from_ansi(plot.build())

    def _lines(self, shade: Mapping[str, Shade]) -> None:
        plot, series = self.plt, self._picture.series
        if self._picture.now is not None:
            plot.vline(self._picture.now)
        for one in series:
            if one.joined and len(one.points) > 1:
                xs, ys = zip(*one.points, strict=True)
                plot.plot(xs, ys, marker=_LINE, color=shade[one.mark])
        for (x, y), marks in _marks(series).items():
            first, *others = dict.fromkeys(marks)
            plot.scatter([x], [y], marker=SEVERAL if others else first, color=shade[first])

    def _shades(self, series: Sequence[Series]) -> Mapping[str, Shade]:
        """By mark, its colour in this theme."""
        theme, variables = self.app.current_theme, self.app.theme_variables
        known: Sequence[Shade] = _OF_TERMINAL
        if not theme.ansi:
            known = [Color.parse(variables[name]).rgb for name in _OF_THEME]
        marks = dict.fromkeys(one.mark for one in series)
        return dict(zip(marks, cycle(known), strict=False))


def _marks(series: Sequence[Series]) -> Mapping[tuple[float, float], list[str]]:
    """By place, the marks that stand there."""
    found: dict[tuple[float, float], list[str]] = defaultdict(list)
    for one in series:
        for place in one.marked:
            found[place].append(one.mark)
    return found


def _scale(plot: object, picture: Picture) -> None:
    plot.xlim(*picture.x_range)  # type: ignore[attr-defined]
    plot.ylim(*picture.y_range)  # type: ignore[attr-defined]
    for ticks, set_ticks in ((picture.x_ticks, plot.xticks), (picture.y_ticks, plot.yticks)):  # type: ignore[attr-defined]
        set_ticks([at for at, _ in ticks], [said for _, said in ticks])
