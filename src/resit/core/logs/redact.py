"""What is taken out of a text before it leaves a log: keys, addresses, numbers, and the names of a person's machine.

Each thing taken out leaves a placeholder that says what it was, the same one wherever it stood. Nothing is lost until
a text is written down: a redaction can be given back by the original it stands for. When in doubt, it is taken out.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from resit.core.logs.personal import Identity, find_personal, this_machine
from resit.core.logs.secrets import Span, find_secrets, looks_random

Kind = Literal["key", "password", "email", "phone", "card", "iban", "number", "ip", "machine", "name", "home", "folder"]

_HOME = "/home/user"
_FIRST: tuple[str, ...] = (
    "key", "password", "email", "iban", "card", "phone", "ip", "number", "folder", "home", "machine", "name",
)  # fmt: skip
"""Which kind names a stretch that several of them found."""

# Signs that look like another, or like none: U+FF01 to U+FF5E are the ASCII signs in full width.
_ALIKE = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)}
_ALIKE |= dict.fromkeys((*range(0x2010, 0x2016), 0x2212, 0xFE58, 0xFE63), ord("-"))
_ALIKE |= dict.fromkeys((0xA0, 0x1680, *range(0x2000, 0x200B), 0x202F, 0x205F, 0x3000), ord(" "))
_OTHER_DIGIT = re.compile(r"(?![0-9])\d")
_INVISIBLE = re.compile("[\u00ad\u200b-\u200f\u2060-\u2064\ufeff]+")
_WRAP = re.compile(r"(?<=[\w+/=.@%~-])(?:\\?\r?\n|(?:\\r)?\\n)[ \t]{0,40}(?:(?:[>|#+]|//)[ \t]{0,8})?(?=[\w+/=.@%~-])")
_ASCII_TOKEN = re.compile(r"[A-Za-z0-9_+/=.~-]+")


@dataclass(frozen=True, slots=True)
class Redaction:
    """One stretch that was taken out."""

    start: int
    """Where it began in the original text."""
    end: int
    kind: Kind
    original: str
    replacement: str
    """What stands there now: `[email 1]`, or `/home/user`."""


@dataclass(frozen=True, slots=True)
class Redacted:
    """A text and what is taken out of it."""

    original: str
    redactions: tuple[Redaction, ...] = ()
    """In the order of the text."""

    def text(self, given_back: Collection[str] = ()) -> str:
        """The text as it may be kept.

        Args:
            given_back: Originals that the person wants to stand in it after all.
        """
        parts, at = [], 0
        for each in self.redactions:
            shown = each.original if each.original in given_back else each.replacement
            parts += [self.original[at : each.start], shown]
            at = each.end
        return "".join(parts) + self.original[at:]


class Redactor:
    """Takes secrets out of the texts of one suite; the same secret gets the same placeholder in all of them."""

    def __init__(self, identity: Identity | None = None) -> None:
        """Begin with no placeholder given.

        Args:
            identity: Names to take out; those of this machine and its person when None.
        """
        self.identity = this_machine() if identity is None else identity
        self._numbers: dict[str, dict[str, int]] = {}

    def redact(self, text: str) -> Redacted:
        """`text` with what is taken out of it; in time that grows with its length."""
        found = [
            Redaction(start, end, kind, text[start:end], self._placeholder(kind, text[start:end]))
            for start, end, kind in _stretches(text, self.identity)
        ]
        return Redacted(text, tuple(found))

    def _placeholder(self, kind: Kind, original: str) -> str:
        if kind == "home":
            return _HOME
        plain = _INVISIBLE.sub("", _WRAP.sub("", original.translate(_ALIKE)))
        plain = plain.casefold() if kind in ("email", "machine", "name") else plain
        if kind in ("phone", "card", "iban", "number"):
            plain = re.sub(r"[\s()./-]", "", plain)
        numbers = self._numbers.setdefault(kind, {})
        return f"[{kind} {numbers.setdefault(plain, len(numbers) + 1)}]"


def _stretches(text: str, identity: Identity) -> Iterator[tuple[int, int, Kind]]:
    """What is to be taken out, in order and without overlap."""
    plain = text if text.isascii() else _OTHER_DIGIT.sub(_as_ascii, text.translate(_ALIKE))
    seen = _View(plain, _INVISIBLE)
    spans = [seen.back(span) for span in _all(seen.text, identity)]
    spans += _across_lines(seen, spans, identity)
    yield from _merged(spans)


def _as_ascii(digit: re.Match[str]) -> str:
    return str(unicodedata.digit(digit[0]))


def _all(text: str, identity: Identity) -> Iterable[Span]:
    yield from find_secrets(text)
    yield from find_personal(text, identity)


def _across_lines(seen: _View, spans: list[Span], identity: Identity) -> Iterator[Span]:
    """What only shows once lines that a mailer or terminal broke are put together again."""
    joined = _View(seen.text, _WRAP)
    if not joined.cuts:
        return
    known = sorted((start, end) for start, end, _ in spans)
    for span in _all(joined.text, identity):
        cuts = joined.cuts_in(span)
        if not cuts:
            continue
        start, end, kind = seen.back(joined.back(span))
        at = bisect_right(known, (start, len(seen.text) * 2)) - 1
        overlapped = any(a < end and start < b for a, b in known[max(0, at - 1) : at + 4])
        # A word on the next line is no part of a key, nor of anything found whole on its own line.
        if (overlapped or kind in ("key", "password")) and not all(_goes_on(joined.text, cut) for cut in cuts):
            continue
        yield start, end, kind


def _goes_on(text: str, cut: int) -> bool:
    """Whether what follows a line break reads like the rest of a key."""
    tail = _ASCII_TOKEN.match(text, cut, cut + 400)
    word = tail[0] if tail else ""
    return looks_random(word, least=8) or (any(c.isdigit() for c in word) and any(c.isalpha() for c in word))


def _merged(spans: Iterable[Span]) -> Iterator[tuple[int, int, Kind]]:
    """Overlapping stretches as one, named by the weightiest kind."""
    current: tuple[int, int, str] | None = None
    for start, end, kind in sorted(spans):
        if start >= end:
            continue
        if current is None or start >= current[1]:
            if current is not None:
                yield current  # type: ignore[misc]
            current = (start, end, kind)
        else:
            weightier = min(kind, current[2], key=_FIRST.index)
            current = (current[0], max(end, current[1]), weightier)
    if current is not None:
        yield current  # type: ignore[misc]


class _View:
    """A text with some stretches left out, and the way back from its places to the text's own."""

    def __init__(self, source: str, leave_out: re.Pattern[str]) -> None:
        self.cuts: list[int] = []
        """Places in the view where something is left out."""
        self._shifts: list[int] = []
        parts, at, gone = [], 0, 0
        for found in leave_out.finditer(source):
            parts.append(source[at : found.start()])
            gone += found.end() - found.start()
            self.cuts.append(found.end() - gone)
            self._shifts.append(gone)
            at = found.end()
        self.text = "".join(parts) + source[at:] if parts else source

    def cuts_in(self, span: Span) -> list[int]:
        """The cuts that lie within a stretch of the view."""
        start, end, _ = span
        return self.cuts[bisect_right(self.cuts, start) : bisect_right(self.cuts, end - 1)]

    def back(self, span: Span) -> Span:
        """The same stretch in the text's own places, what was left out within it included."""
        start, end, kind = span
        if not self.cuts:
            return span
        first = bisect_right(self.cuts, start)
        last = bisect_right(self.cuts, end - 1)
        return (
            start + (self._shifts[first - 1] if first else 0),
            end + (self._shifts[last - 1] if last else 0),
            kind,
        )
