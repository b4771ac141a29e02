"""How things look: themes, marks beside every colour, and the guard that keeps control characters off the terminal."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rich.cells import cell_len
from rich.segment import Segment
from textual.color import Color
from textual.content import Content
from textual.filter import LineFilter
from textual.theme import Theme

if TYPE_CHECKING:
    from resit.core.records import Row

THEMES: tuple[Theme, ...] = (
    Theme(
        name="resit-dark",
        primary="#7aa2c7",
        secondary="#8a97a6",
        accent="#7aa2c7",
        foreground="#d4d8dd",
        background="#14171a",
        surface="#14171a",
        panel="#1e2327",
        success="#8fb573",
        warning="#d9a95b",
        error="#d9796c",
        variables={
            "text-muted": "#8a97a6",
            "row": "#26333f",
            "border": "#3a4249",
            "border-blurred": "#2c3238",
            "footer-key-foreground": "#7aa2c7",
        },
    ),
    Theme(
        name="resit-light",
        primary="#2a5f8f",
        secondary="#5a6570",
        accent="#2a5f8f",
        foreground="#22272c",
        background="#fafaf8",
        surface="#fafaf8",
        panel="#eeeeea",
        success="#3f7a2e",
        warning="#8a5a00",
        error="#b03a2e",
        dark=False,
        variables={
            "text-muted": "#5f6b76",
            "row": "#d9e4ee",
            "border": "#b8bdc2",
            "border-blurred": "#d4d8db",
            "footer-key-foreground": "#2a5f8f",
        },
    ),
    Theme(
        name="resit-contrast",
        primary="#ffff00",
        secondary="#ffffff",
        accent="#ffff00",
        foreground="#ffffff",
        background="#000000",
        surface="#000000",
        panel="#000000",
        success="#00ff5f",
        warning="#ffd700",
        error="#ff8080",
        luminosity_spread=0.0,
        text_alpha=1.0,
        variables={"row": "#404000", "border": "#ffffff", "border-blurred": "#ffffff", "text-muted": "#ffffff"},
    ),
)
"""Ours; the terminal's own colours are Textual's `ansi-dark` and `ansi-light`."""

THEME_ORDER: tuple[str, ...] = (*(theme.name for theme in THEMES), "ansi-dark", "ansi-light")
"""What ctrl+t steps through."""

PASS, MISS, HALF, UNSETTLED = "✓", "✗", "½", "?"
"""Marks that stand beside every colour, so that nothing is said by colour alone."""

LEFT_OUT = "–"
"""Stands before what a verdict took out of the score."""

_STYLES = {PASS: "$success", MISS: "$error", HALF: "$warning", UNSETTLED: "$warning"}


def mark(score: float | None) -> str:
    """The mark of a score; None is unsettled."""
    if score is None:
        return UNSETTLED
    return PASS if score >= 1.0 else MISS if score <= 0.0 else HALF


def mark_style(sign: str) -> str:
    """The colour that goes with a mark."""
    return _STYLES.get(sign, "")


def outcome_mark(row: Row) -> str:
    """The mark of a run."""
    return mark(row.score)


def marked(sign: str, text: str) -> Content:
    """`text` with its mark before it, in the mark's colour."""
    return Content.styled(f"{sign} {text}", mark_style(sign))


BAD_CHARACTERS = re.compile("[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
"""What must never reach a terminal inside a drawn line."""


def _harmless(found: re.Match[str]) -> str:
    # As wide as the layout took it for, or the line would be pushed out of its column.
    return "\N{REPLACEMENT CHARACTER}" * cell_len(found[0])


class ControlGuard(LineFilter):
    """Last line of defence: no control character passes, whatever widget drew it.

    Textual and Rich hand ESC on to the terminal. Texts are cleaned where they enter a widget; this stands
    behind that, for every widget, at 6 microseconds a line.
    """

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        """The same segments, without a forbidden character."""
        if not any(BAD_CHARACTERS.search(text) for text, _, control in segments if not control):
            return segments
        return [
            segment if segment.control else Segment(BAD_CHARACTERS.sub(_harmless, segment.text), segment.style)
            for segment in segments
        ]
