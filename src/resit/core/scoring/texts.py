"""Rules that compare texts: `exact` and `contains`."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import Final

from resit.core.rule import Contains, Exact
from resit.core.scoring.judged import Judged, listed, quoted
from resit.core.scoring.normalise import clean, longer_than

LONGEST: Final = 200_000
"""Characters of a reply that can be one accepted form, and twenty times the form where it is long itself."""
_TRIES: Final = 200_000
"""Occurrences of a form that are looked at before the search ends: hostile texts are made of near hits."""

# Han, kana, Thai, Lao, Myanmar and Khmer are written without spaces between words, so they need no border.
UNSPACED: Final = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
)
_UNSPACED: Final = re.compile(f"[{UNSPACED}]")
_LETTER: Final = f"[^\\W_{UNSPACED}]"


@lru_cache(maxsize=8192)
def cleaned_forms(accept: tuple[str, ...], case: bool, plain: bool) -> tuple[str, ...]:
    """The accepted forms as they are compared; those that clean to nothing are left out, for they accept nothing."""
    return tuple(form for text in accept if (form := clean(text, case=case, plain=plain)))


def judge_exact(rule: Exact, accept: tuple[str, ...], text: str) -> Judged:
    """Whether the cleaned reply equals a cleaned accepted form."""
    forms = cleaned_forms(accept, rule.case, rule.plain)
    if len(text) > LONGEST and longer_than(LONGEST + 20 * max(map(len, accept), default=0), text):
        return Judged(False, text, forms, "the reply is far too long to be what is accepted")
    reply = clean(text, case=rule.case, plain=rule.plain)
    if reply and reply in forms:
        return Judged(True, reply, forms, f"{quoted(reply)} is what is accepted")
    return Judged(False, reply, forms, f"{quoted(reply)} is not {listed(forms)}")


def judge_contains(rule: Contains, accept: tuple[str, ...], text: str) -> Judged:
    """Whether one accepted form (or each, with `all`) stands in the cleaned reply."""
    reply, forms = clean(text, case=rule.case, plain=rule.plain), cleaned_forms(accept, rule.case, rule.plain)
    found = [form for form in forms if find_form(form, reply, whole=rule.whole) is not None]
    missing = tuple(form for form in forms if form not in found)
    picked = found[0] if found else None
    if found and not (rule.all and missing):
        names = found if rule.all else found[:1]
        return Judged(True, reply, forms, f"the reply contains {' and '.join(map(quoted, names[:3]))}", picked)
    where = "as whole words" if rule.whole else "anywhere"
    return Judged(False, reply, forms, f"{listed(missing or forms)} does not stand in the reply {where}", picked)


def find_form(form: str, reply: str, *, whole: bool = True) -> int | None:
    """Where a cleaned form stands in a cleaned reply; None when it does not."""
    at = reply.find(form) if form else -1
    if at < 0 or not whole:
        return at if at >= 0 else None
    if (at == 0 or reply[at - 1] == " ") and _ends_plainly(form, reply, at + len(form)):
        return at
    for tries, found in enumerate(_bordered(form).finditer(reply, max(0, at - 1))):
        if _stands_alone(form, reply, found.start(), found.start() + len(form)):
            return found.start()
        if tries > _TRIES:
            break
    return None


def _ends_plainly(form: str, reply: str, end: int) -> bool:
    """Whether the form is followed by the end or a space, as most are: a border that needs no closer look."""
    return end == len(reply) or (reply[end] == " " and not form[-1].isdigit())


@lru_cache(maxsize=8192)
def _bordered(form: str) -> re.Pattern[str]:
    """The form with no letter or digit beside it, every occurrence: the cheap part of the border, done in C."""
    before = "" if _UNSPACED.match(form[0]) else f"(?<!{_LETTER})"
    after = "" if _UNSPACED.match(form[-1]) else f"(?!{_LETTER})"
    return re.compile(f"{before}(?={re.escape(form)}{after}){re.escape(form[0])}")


_DIGIT_AFTER: Final = re.compile(r"[.,][0-9]| ?[%‰]")
_DIGIT_BEFORE: Final = re.compile(r"(?:[0-9][.,]|(?:^|[^\w)\]])[-+±])$")
_NAME_SIGNS: Final = re.compile(r"#|\++(?!\w)")
_POSSESSIVE: Final = re.compile(r"'[sS](?!\w)")


def _stands_alone(form: str, reply: str, start: int, end: int) -> bool:
    """The rest of the border: marks, apostrophes, underscores, signs and points that belong to a number or a name."""
    before, after = reply[max(0, start - 2) : start], reply[end : end + 4]
    if after and unicodedata.category(after[0]).startswith("M"):
        return False
    if "_" in (before[-1:], after[:1]) and not _emphasised(reply, start, end):
        return False
    if len(before) == 2 and before[1] == "'" and before[0].isalpha() and form[0].isalpha():
        return False
    if after[:1] == "'" and after[1:2].isalpha() and form[-1].isalpha() and not _POSSESSIVE.match(after):
        return False
    if form[-1].isalpha() and _NAME_SIGNS.match(reply, end):
        return False
    if form[0].isdigit() and _DIGIT_BEFORE.search(before):
        return False
    return not (form[-1].isdigit() and _DIGIT_AFTER.match(after))


def _emphasised(reply: str, start: int, end: int) -> bool:
    """Whether the underscores on both sides are markdown around the form, not part of a name."""
    opening = re.compile(r"(?<![\w])_{1,3}$").search(reply[max(0, start - 4) : start])
    closing = re.compile(r"_{1,3}(?!\w)").match(reply, end)
    return opening is not None and closing is not None and len(opening[0]) == len(closing[0])
