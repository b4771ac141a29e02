"""Plain text on the screen: nothing shown here is ever read as markup."""

from __future__ import annotations

from typing import ClassVar

from textual.content import Content
from textual.css.styles import RulesMap
from textual.strip import Strip
from textual.style import Style
from textual.visual import RenderOptions, Visual
from textual.widgets import Input, Static


class PlainStatic(Static):
    """A Static whose strings are text and nothing else."""

    def __init__(
        self,
        content: str | Content | Visual = "",
        *,
        id: str | None = None,  # noqa: A002 - Textual's name
        classes: str | None = None,
    ) -> None:
        """Show `content`; markup is off for good."""
        super().__init__(content, id=id, classes=classes, markup=False)


class Hung(Visual):
    """Lines of which each goes on under its own words: what wraps is set in by `indent` cells."""

    def __init__(self, lines: Content, indent: int) -> None:
        """Show `lines`, one after each line end."""
        self._lines, self._indent = lines, indent

    def render_strips(self, width: int, height: int | None, style: Style, options: RenderOptions) -> list[Strip]:
        """As Textual draws the wrapped text."""
        return self._wrapped(width).render_strips(width, height, style, options)

    def get_optimal_width(self, rules: RulesMap, container_width: int) -> int:
        """Of the longest line."""
        return self._lines.get_optimal_width(rules, container_width)

    def get_height(self, rules: RulesMap, width: int) -> int:
        """Lines, wrapped."""
        return len(self._wrapped(width).split(allow_blank=True)) if width else 0

    def _wrapped(self, width: int) -> Content:
        return Content("\n").join([hung(line, self._indent, width) for line in self._lines.split(allow_blank=True)])


def hung(line: Content, indent: int, width: int) -> Content:
    """`line` in `width` cells; what goes on is set in by `indent`."""
    if line.cell_length <= width or width < 2 * indent + 8:
        return line
    first = line.wrap(width)[0]
    # The space at which the line was broken is in neither half.
    rest = line[len(first.plain) :]
    rest = rest[len(rest.plain) - len(rest.plain.lstrip()) :]
    return Content("\n" + " " * indent).join([first, *rest.wrap(width - indent)])


class LineInput(Input):
    """A one-line input that gives up on escape, without leaving the screen."""

    BINDINGS: ClassVar = [("escape", "give_up", "give up")]

    class GivenUp(Input.Changed):
        """Escape was pressed; the value is now empty."""

    def action_give_up(self) -> None:
        """Empty the line and hand the focus back."""
        self.value = ""
        self.post_message(self.GivenUp(self, ""))
