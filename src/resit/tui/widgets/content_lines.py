"""Text with styles as lines on the screen, where every line is known to fit."""

from __future__ import annotations

from collections.abc import Sequence

from rich.cells import cell_len
from rich.segment import Segment
from textual.content import Content
from textual.strip import Strip
from textual.style import Style


def strips_of(content: Content, width: int, base: Style) -> list[Strip] | None:
    """`content` as lines of `width` cells; None when one is wider, and has to be wrapped.

    Textual's own way wraps each line by itself, whether it fits or not, and took twice as long.
    """
    strips: list[Strip] = []
    for y, pieces in enumerate(_lines(content, base)):
        segments: list[Segment] = []
        x = used = 0
        for text, style in pieces:
            # The place is for the mouse: it marks text by it.
            segments.append(Segment(text, style.rich_style_with_offset(x, y)))
            x += len(text)
            used += cell_len(text)
        if used > width:
            return None
        if used < width:
            segments.append(Segment(" " * (width - used), base.rich_style))
        strips.append(Strip(segments, width))
    return strips


def _lines(content: Content, base: Style) -> Sequence[Sequence[tuple[str, Style]]]:
    lines: list[list[tuple[str, Style]]] = [[]]
    for text, style in content.render(base, end="", parse_style=_parsed):
        first, *others = text.split("\n")
        if first:
            lines[-1].append((first, style))
        lines.extend([(other, style)] if other else [] for other in others)
    return lines


def _parsed(style: str | Style) -> Style:
    return Style.parse(style) if isinstance(style, str) else style
