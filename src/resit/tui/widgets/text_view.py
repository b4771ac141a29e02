"""A text of any length: lines are wrapped once and drawn only while they are in sight."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

from rich.cells import cell_len, get_character_cell_size
from rich.segment import Segment
from rich.style import Style
from textual.binding import Binding
from textual.geometry import Size
from textual.scroll_view import ScrollView
from textual.selection import Selection
from textual.strip import Strip

from resit.core.printable import printable


@dataclass(frozen=True, slots=True)
class Part:
    """A heading and the text under it."""

    heading: str
    text: str
    tone: str = ""
    """A component class of `TextView` without its `text--`."""


def wrap(line: str, width: int) -> Iterator[str]:
    """`line` in pieces of at most `width` cells, broken at spaces where there are any."""
    if line.isascii():
        yield from _wrap_ascii(line, width)
        return
    start = used = 0
    space = -1
    for at, character in enumerate(line):
        size = get_character_cell_size(character)
        # A mark of no width stays with the letter before it.
        if used + size > width and size:
            end = space + 1 if space >= start else at
            yield line[start:end]
            used = cell_len(line[end:at]) if end < at else 0
            start, space = end, -1
        if character == " ":
            space = at
        used += size
    yield line[start:]


def _wrap_ascii(line: str, width: int) -> Iterator[str]:
    start, end = 0, len(line)
    while end - start > width:
        space = line.rfind(" ", start + 1, start + width + 1)
        stop = space + 1 if space > start else start + width
        yield line[start:stop]
        start = stop
    yield line[start:]


class TextView(ScrollView, can_focus=True):
    """Parts under each other; the heading of the part in sight stays at the top."""

    COMPONENT_CLASSES: ClassVar = {"text--base", "text--heading", "text--dim", "text--good", "text--bad"}
    BINDINGS: ClassVar = [
        Binding("up,k", "scroll_up", "up", show=False),
        Binding("down,j", "scroll_down", "down", show=False),
        Binding("pageup", "page_up", "page up", show=False),
        Binding("pagedown,space", "page_down", "page down", show=False),
        Binding("home", "scroll_home", "first line", show=False),
        Binding("end", "scroll_end", "last line", show=False),
    ]

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's name
        """Show nothing yet."""
        super().__init__(id=id)
        self._parts: tuple[Part, ...] = ()
        self.invisible = False
        self._lines: list[tuple[str, str, int]] = []
        self._width = 0

    def show(self, parts: Sequence[Part], *, invisible: bool | None = None) -> None:
        """Show `parts`, from the top when they are others."""
        if invisible is not None:
            self.invisible = invisible
        top = tuple(parts) != self._parts
        self._parts = tuple(parts)
        self._lay_out()
        if top:
            self.scroll_to(0, 0, animate=False, immediate=True)

    def on_resize(self) -> None:
        """Wrap again when the width is another."""
        if self.scrollable_content_region.width != self._width:
            self._lay_out()

    def _lay_out(self) -> None:
        self._width = max(8, self.scrollable_content_region.width)
        lines: list[tuple[str, str, int]] = []
        for number, part in enumerate(self._parts):
            if number:
                lines.append(("", "base", number - 1))
            lines.append((printable(part.heading, 200), "heading", number))
            for line in printable(part.text, invisible=self.invisible).split("\n"):
                lines.extend((piece, part.tone or "base", number) for piece in wrap(line, self._width - 2))
        self._lines = lines
        self.virtual_size = Size(self._width, len(lines))
        self.refresh()

    def render_line(self, y: int) -> Strip:
        """One line; the first in sight is always a heading."""
        width = self.scrollable_content_region.width
        at = y + self.scroll_offset.y
        base = self._style("base")
        if at >= len(self._lines):
            return Strip.blank(width, base)
        text, tone, part = self._lines[at]
        if y == 0 and tone != "heading":
            text, tone = f"{printable(self._parts[part].heading, 200)} …", "heading"
        indent = "" if tone == "heading" else "  "
        style = base + self._style(tone)
        strip = Strip([Segment(indent, base), Segment(text, style)]).crop(0, width)
        return strip.extend_cell_length(width, base).apply_offsets(0, at)

    def _style(self, tone: str) -> Style:
        return self.get_component_rich_style(f"text--{tone}", partial=tone != "base")

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        """What the mouse marked."""
        text = "\n".join(line if tone == "heading" else f"  {line}" for line, tone, _ in self._lines)
        return selection.extract(text), "\n"
