"""Whether a reply has a list in it."""

from __future__ import annotations

import re
from itertools import islice
from typing import Final

from resit.core.scoring.fences import LINE, LOOKED_AT, line_at, without_fences

_BULLET: Final = re.compile(LINE + r"[-*+][ \t]++(?=\S)(?P<rest>[^\n]*+)")
_CLOSE_BULLETS: Final = re.compile(r"(?:\n[ \t]*+[-*+](?=[^\W\d_])[^\n*]*+){2}")
"""Two lines that start with a dash close to a word; one alone may be a fragment, a minus or emphasis."""
_DASHES: Final = ("- ", "* ", "+ ", "-\t", "*\t", "+\t")
_RULE: Final = re.compile(r"[-*+_ \t]*+")
_SIGNS: Final = "•‣◦⁃∙·・▪▫■□●○◆◇►▸▹➢➤❖✦"
_SIGN_BULLET: Final = re.compile(LINE + rf"[{_SIGNS}][ \t]*+[^\s{_SIGNS}]")
_HTML: Final = re.compile(LINE + r"<(?:ul|ol|li|dl|menu)\b[^<>\n]*+>", re.IGNORECASE)

_BOLD: Final = r"(?:\*\*|__)?"
_HEADING: Final = r"(?:\#{1,6}[ \t]++)?"
_NUMBERED: Final = re.compile(
    LINE
    + _HEADING
    + _BOLD
    + r"(?P<open>\(?)(?:(?P<number>\d{1,3}+)|(?P<ring>[\u2460-\u2473])"
    + r"|(?P<letter>[A-Za-z])|(?P<han>[一二三四五六七八九]))"
    + r"(?P<end>[.)、:]|\u20e3|[ \t]-(?=[ \t])|(?<=[\u2460-\u2473]))"
    + _BOLD
    + r"(?P<gap>[ \t]*+)(?=\S)(?P<rest>[^\n]*+)"
)
_ENDS: Final = (".", ")", "、", ":", "\u20e3", " -", "\t-", *map(chr, range(0x2460, 0x2474)))
_OUTLINE: Final = re.compile(
    LINE + _HEADING + _BOLD + r"(?P<chapter>\d{1,2}+)\.(?P<part>\d{1,2}+)[.)]?" + _BOLD + r"[ \t]++\S"
)
_MONTH: Final = re.compile(
    r"(?:januar|februar|märz|april|mai|maj|juni|juli|august|september|oktober|november|de[zs]ember|december)\b",
    re.IGNORECASE,
)


def find_list(text: str, *, markdown: bool = False) -> str | None:
    """The first line of a list: bullets, numbered lines, HTML lists. None when there is none.

    A number begins a list line when it counts: 1, or one that the next such line goes on from. `1969. That` and a
    date such as `3. Mai` that fall at the start of a line do not, nor does `(1) wash, (2) dry` within one line.
    A horizontal rule, a minus before a digit and lines inside a code fence are no list either.

    Args:
        text: As `words.tidy` leaves it.
        markdown: Look only for the lists that Markdown knows.
    """
    text = without_fences("\n" + text)
    dashes = "-" in text or "*" in text or "+" in text
    bullets = _BULLET.finditer(text) if dashes and any(mark in text for mark in _DASHES) else ()
    for found in islice(bullets, LOOKED_AT):
        if not _RULE.fullmatch(found["rest"]):
            return line_at(text, found.start())
    if not markdown and (sign := (dashes and _CLOSE_BULLETS.search(text)) or _find_sign(text)):
        return line_at(text, sign.start())
    if not any(mark in text for mark in _ENDS):
        return None
    return _find_numbered(text) or (None if markdown else _find_outline(text))


def _find_sign(text: str) -> re.Match[str] | None:
    """A line that starts with a bullet sign or an HTML list."""
    if not text.isascii() and (found := _SIGN_BULLET.search(text)):
        return found
    return _HTML.search(text) if "<" in text else None


def _find_numbered(text: str) -> str | None:
    """The first numbered line that counts as one."""
    before: tuple[str, int] | None = None
    start_before = 0
    for found in islice(_NUMBERED.finditer(text), LOOKED_AT):
        kind, number = _ordinal(found)
        if before == (kind, number - 1):
            return line_at(text, start_before)
        if _counts_alone(found, kind, number):
            return line_at(text, found.start())
        before, start_before = (kind, number), found.start()
    return None


def _ordinal(found: re.Match[str]) -> tuple[str, int]:
    """How the line is numbered, and where in that count it stands."""
    if found["number"]:
        return found["end"].strip() + found["open"], int(found["number"])
    sign = found["ring"] or found["letter"] or found["han"]
    if found["han"]:
        return "han", "一二三四五六七八九".index(sign) + 1
    return ("ring" if found["ring"] else found["end"].strip() + found["open"]), ord(sign)


def _counts_alone(found: re.Match[str], kind: str, number: int) -> bool:
    """Whether this one line is a list line although no other goes on from it."""
    if kind == "ring":
        return True
    if not found["number"] or number != 1 or found["end"] not in (".", ")", "、", "\u20e3"):
        return False
    if found["end"] == "." and (not found["gap"] or _MONTH.match(found["rest"])):
        return False
    return not (found["open"] and "(2)" in found["rest"])


def _find_outline(text: str) -> str | None:
    """The first line of an outline such as 1.1, 1.2; a lone `1.5 litres` is an amount."""
    before: tuple[str, int] | None = None
    start_before = 0
    for found in islice(_OUTLINE.finditer(text), LOOKED_AT):
        chapter, part = found["chapter"], int(found["part"])
        if before == (chapter, part - 1):
            return line_at(text, start_before)
        before, start_before = (chapter, part), found.start()
    return None
