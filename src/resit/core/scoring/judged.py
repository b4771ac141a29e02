"""What a rule says of one reply."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Judged:
    """A rule's word on one reply, with all that was compared, so that anyone can check it by hand."""

    passed: bool

    compared: str
    """The cleaned reply, or the part of it that was compared."""

    accepted: tuple[str, ...]
    """The cleaned accepted forms."""

    why: str
    """One plain sentence."""

    picked: str | None = None
    """What was read out of the reply: a number, a letter, a date. None when nothing was."""

    picked_at: tuple[int, int] | None = None
    """Where that stands in the text that was judged: first character, and one past the last."""


SHOWN: int = 60
"""Longest piece of a reply or an accepted form that a `why` quotes."""


def quoted(text: str) -> str:
    """The text in quotes, cut to what fits a sentence."""
    return f'"{text}"' if len(text) <= SHOWN else f'"{text[:SHOWN]}…"'


def listed(forms: tuple[str, ...]) -> str:
    """Accepted forms as they read in a sentence."""
    if len(forms) == 1:
        return quoted(forms[0])
    shown = " or ".join(map(quoted, forms[:3]))
    return shown if len(forms) <= 3 else f"{shown} or {len(forms) - 3} more"
