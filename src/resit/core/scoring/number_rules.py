"""Rules that compare numbers: `numeric` and `number_in_reply`."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from itertools import islice
from typing import Final, assert_never

from resit.core.rule import NumberInReply, NumberRule, Numeric
from resit.core.scoring import units
from resit.core.scoring.judged import Judged, listed, quoted
from resit.core.scoring.normalise import bare, clean, longer_than, unwrap
from resit.core.scoring.numbers import DecimalMark, Number, Reading, find_numbers, places, prepare, unit_word

MOST_NUMBERS: Final = 30_000
"""Numbers that are looked at in one reply; a reply with more of them says nothing."""
_LONGEST: Final = 4000
"""A text longer than this is not one number, whatever it holds."""
_WINDOW: Final = 4096
_MARGIN: Final = 64


@dataclass(frozen=True, slots=True)
class Accepted:
    """What an author accepts under a number rule."""

    numbers: tuple[Number, ...]
    words: tuple[str, ...]
    """Forms that are no number (`three`): compared by `exact`."""
    forms: tuple[str, ...]
    """All of them as they are shown."""


@lru_cache(maxsize=8192)
def accepted_numbers(accept: tuple[str, ...], decimal: DecimalMark, unit: tuple[str, ...], loose: bool) -> Accepted:
    """The accepted forms read once: as numbers where they are numbers, else as words.

    Args:
        accept: The forms as the author wrote them.
        decimal: The decimal mark.
        unit: The rule's unit words.
        loose: Whether a form may hold its one number among words, as it may under `number_in_reply`.
    """
    reading, numbers, words, forms = Reading(decimal, unit), [], [], []
    for text in accept:
        number = whole_number(text, reading) or (_lone_number(text, reading) if loose else None)
        form = clean(text)
        if number is not None and number.value is not None:
            numbers.append(number)
        elif form:
            words.append(form)
        if form:
            forms.append(form)
    return Accepted(tuple(numbers), tuple(words), tuple(forms))


def _lone_number(text: str, reading: Reading) -> Number | None:
    """The one number that stands among the words of an accepted form."""
    prepared = prepare(bare(text))
    found = list(find_numbers(prepared, reading, 3))
    if len(found) != 1:
        return None
    return Number(found[0].start, found[0].end, found[0].value, unit_word(prepared, found[0]))


_PAIRS: Final = (
    ("\\boxed{", "}"),
    ("\\(", "\\)"),
    ("\\[", "\\]"),
    ("$$", "$$"),
    ("$", "$"),
    ("(", ")"),
    ("[", "]"),
    ("{", "}"),
)
_OPENINGS: Final = ("\\", "$", "(", "[", "{")
_LEAD: Final = re.compile(r"(?:[*_]{0,2}(?:(?:the )?(?:final )?answer)[*_]{0,2} ?[:=][*_]{0,2}|[=≈]) ?", re.IGNORECASE)


def strip_wrappers(text: str) -> str:
    """A bare text without what may stand around a lone answer: brackets, TeX, `=`, `answer:`, one `!` or `.`."""
    mark_left = not text.isalnum()  # one word has nothing around it
    for _ in range(8 if mark_left else 0):
        before = text
        text = text.strip()
        for opening, closing in _PAIRS if text.startswith(_OPENINGS) else ():
            if text.startswith(opening) and text.endswith(closing) and len(text) > len(opening) + len(closing) - 1:
                inner = text[len(opening) : -len(closing)]
                if opening not in inner and closing not in inner:
                    text = inner.strip()
                break
        if lead := _LEAD.match(text):
            text = text[lead.end() :]
        if mark_left and text.endswith(("!", ".")):
            text, mark_left = text[:-1], False
        text = unwrap(text) if text.startswith(("*", "_", "`", '"', "'")) else text.removesuffix("**")
        if text == before:
            break
    return text


def whole_number(text: str, reading: Reading) -> Number | None:
    """The number that a text is; None when it is anything else, or holds another word."""
    return _read_whole(bare(text), reading)[0]


def _read_whole(text: str, reading: Reading) -> tuple[Number | None, str]:
    """The number that a bare text is, or None; and the text in which it was read."""
    if len(text) > _LONGEST:
        return None, text
    prepared = prepare(strip_wrappers(text)).removesuffix(",")
    number = next(find_numbers(prepared, reading, 1), None)
    return (number if number and number.start == 0 and number.end == len(prepared) else None), prepared


def judge_numeric(rule: Numeric, accept: tuple[str, ...], text: str) -> Judged:
    """Whether the reply is one number, within tolerance of an accepted one."""
    if rule.plain:
        return _judge_plain(rule, accept, text, whole=True)
    accepted = accepted_numbers(accept, rule.decimal, rule.unit, False)
    if longer_than(10 * _LONGEST, text):
        return Judged(False, text, accepted.forms, "the reply is far too long to be one number")
    reply = bare(text)
    number, shown = _read_whole(reply, Reading(rule.decimal, rule.unit))
    if number is None:
        return _judge_words(accepted, reply, f"{quoted(reply)} is not one number and nothing else")
    at = text.find(shown)
    spot = (at, at + len(shown)) if at >= 0 else None
    return _verdict(rule, accepted, number, reply, shown, spot)


def judge_number_in_reply(rule: NumberInReply, accept: tuple[str, ...], text: str) -> Judged:
    """Whether the number picked from a longer reply is within tolerance of an accepted one."""
    if rule.plain:
        return _judge_plain(rule, accept, text, whole=False)
    accepted = accepted_numbers(accept, rule.decimal, rule.unit, True)
    prepared = prepare(text)
    picked = _pick(rule, prepared)
    reply = prepared.strip() if len(prepared) < _LONGEST else prepared
    if isinstance(picked, str):
        return _judge_words(accepted, reply, picked)
    shown = prepared[picked.start : picked.end]
    if picked.unit is None and not rule.unit:
        picked = Number(picked.start, picked.end, picked.value, unit_word(prepared, picked))
    at = places(text, prepared, picked.start, picked.end)
    return _verdict(rule, accepted, picked, reply, shown, at)


def _verdict(
    rule: NumberRule, accepted: Accepted, number: Number, reply: str, shown: str, at: tuple[int, int] | None
) -> Judged:
    if number.value is None:
        return Judged(False, reply, accepted.forms, f"{quoted(shown)} has no one value", shown, at)
    for form in accepted.numbers:
        if within(rule, form, number, accepted.numbers):
            return Judged(True, reply, accepted.forms, f"{quoted(shown)} is within tolerance", shown, at)
    return Judged(False, reply, accepted.forms, f"{quoted(shown)} is not {listed(accepted.forms)}", shown, at)


def _judge_words(accepted: Accepted, reply: str, why: str) -> Judged:
    """The accepted forms that are no number, held against the whole reply by `exact`."""
    if accepted.words and len(reply) < _LONGEST and (form := clean(reply)) in accepted.words:
        return Judged(True, reply, accepted.forms, f"{quoted(form)} is what is accepted")
    return Judged(False, reply, accepted.forms, why)


def within(rule: NumberRule, form: Number, number: Number, forms: tuple[Number, ...] = ()) -> bool:
    """Whether a number is within tolerance of an accepted one, their units agreeing."""
    if number.value is None or form.value is None or not units.same_unit(form.unit, number.unit):
        return False
    named = rule.unit[0] if rule.unit else None
    if form.unit is None and not units.same_unit(named, number.unit):
        return False
    goal, value = form.value, number.value
    if rule.percent == "fraction":
        goal = goal / 100 if form.unit == units.PERCENT else goal
        value = value / 100 if number.unit == units.PERCENT else value
    elif number.unit == units.PERCENT and form.unit is None and named is None and abs(goal) <= 1:
        return False  # 0.5% is a hundredth of 0.5, not a way to write it
    if value == goal or not (rule.tolerance or rule.relative):
        return value == goal
    return abs(value - goal) <= max(_exact(rule.tolerance), _exact(rule.relative) * abs(goal))


@lru_cache(maxsize=1024)
def _exact(value: Decimal) -> Fraction:
    return Fraction(value)


def _pick(rule: NumberInReply, text: str) -> Number | str:
    """The number that the rule picks from a prepared reply, or why it picks none."""
    reading = Reading(rule.decimal, rule.unit)
    match rule.pick:
        case "only":
            return _only(_counted(rule, text, find_numbers(text, reading, MOST_NUMBERS)), text)
        case "first":
            return next(
                _counted(rule, text, find_numbers(text, reading, MOST_NUMBERS)), "there is no number in the reply"
            )
        case "last":
            return _last(rule, text, reading)
        case "marked":
            return _marked(rule, text, reading)
        case _ as never:
            assert_never(never)


def _counted(rule: NumberInReply, text: str, numbers: Iterable[Number]) -> Iterator[Number]:
    """The numbers but for those in another unit than the one the rule names."""
    for number in numbers:
        if not rule.unit or (unit := unit_word(text, number)) is None or unit in rule.unit or unit in _meant(rule.unit):
            yield number


@lru_cache(maxsize=512)
def _meant(words: tuple[str, ...]) -> frozenset[str]:
    """The units of the table that a rule's own words name."""
    return frozenset(units.UNIT_WORDS[word.lower()] for word in words if word.lower() in units.UNIT_WORDS)


def _only(numbers: Iterator[Number], text: str) -> Number | str:
    first, count = None, 0
    for number in numbers:
        count += 1
        if first is None:
            first = number
        if number.value is None or (number is not first and number.value != first.value):
            seen = [first, *([number] if number is not first else []), *islice(numbers, 3)]
            shown = ", ".join(text[n.start : n.end][:20] for n in seen)
            return f"the numbers in the reply differ: {shown}" if len(seen) > 1 else f"{quoted(shown)} has no one value"
    if count >= MOST_NUMBERS:
        return f"the reply holds more than {MOST_NUMBERS:,} numbers"
    return first or "there is no number in the reply"


def _last(rule: NumberInReply, text: str, reading: Reading) -> Number | str:
    """The last number, looked for from the end in growing windows, so that a long reply is not read whole."""
    size = _WINDOW
    while True:
        start = max(0, len(text) - size)
        tail = deque(_counted(rule, text[start:], find_numbers(text[start:], reading, MOST_NUMBERS)), maxlen=1)
        if tail and (start == 0 or tail[0].start >= _MARGIN):
            found = tail[0]
            return Number(found.start + start, found.end + start, found.value, found.unit)
        if start == 0:
            return "there is no number in the reply"
        size *= 8


# Each pattern begins with one class of characters, which lets the engine leap over megabytes of anything else.
ANSWER_WORD: Final = (
    r"(?<![A-Za-z].)(?:(?<=[Aa])(?i:nswers?|ntwort)|(?<=[Rr])(?i:éponse|espuesta|isposta|esposta)"
    r"|(?<=[Оо])(?i:твет)|(?<=[Oo])(?i:dpowiedź)|(?<=答)(?:案|え))"
    r"(?:[ \t](?i:to|for|of)\b[^\n.:=]{1,80}?)?[*_`\"' \t]{0,6}"
)
MARKER: Final = re.compile(
    rf"[AaRrОоOo答#\\](?:{ANSWER_WORD}(?:(?i:is|are|was)(?![A-Za-z])|[:=是])[*_`\"' \t:]{{0,6}}"
    r"|(?<=#)(?<!##)#{3}(?!#)[ \t]{0,4}|(?<=\\)boxed[ ]?\{)"
)
_EQUALS: Final = re.compile(r"=(?<![<>!=:]=)(?![=>])")
_HEDGE: Final = re.compile(
    r"\s{0,4}(?:,?[ ](?:or|to|and|through|versus|vs)[ ]|[-+*×·÷/^][ ]?|\\(?:times|cdot|div)[ ]?|x[ ])"
    r"[($€£\\]{0,3}[-+]?[0-9]",
    re.IGNORECASE,
)
_DENIED: Final = re.compile(r"(?<!\w)(?:not|never)(?!\w)|n't", re.IGNORECASE)


def marked_areas(marker: re.Pattern[str], text: str) -> Iterator[tuple[int, int]]:
    """Where an answer may stand after each of the last markers, the last first: to the end of its line.

    When nothing but decoration follows a marker on its line, the next line that says something is its line.
    """
    for found in reversed(deque(marker.finditer(text), maxlen=64)):
        start, end = found.end(), _line_end(text, found.end())
        if found[0].startswith("\\boxed"):
            end = _brace_end(text, start)
        while end < len(text) and not re.search(r"\w", text[start:end]) and end - start < _LONGEST:
            end = _line_end(text, end + 1)
        yield start, end


def _line_end(text: str, start: int) -> int:
    end = text.find("\n", start)
    return len(text) if end < 0 else end


def _brace_end(text: str, start: int) -> int:
    depth = 1
    for at in range(start, min(len(text), start + 500)):
        depth += (text[at] == "{") - (text[at] == "}")
        if depth == 0:
            return at
    return _line_end(text, start)


def _marked(rule: NumberInReply, text: str, reading: Reading) -> Number | str:
    for marker in (MARKER, _EQUALS):
        for start, end in marked_areas(marker, text):
            area = text[start:end]
            number = next(_counted(rule, area, find_numbers(area, reading, MOST_NUMBERS)), None)
            if number is None:
                continue
            if _DENIED.search(area, 0, number.start):
                return "the number after the last marker is denied"
            if _HEDGE.match(area, number.end):
                shown = quoted(area[number.start : number.end + 8])
                return f"what follows the last marker is not one value: {shown}"
            return Number(number.start + start, number.end + start, number.value, number.unit)
    return "no number follows a marker such as 'answer:' or '####'"


_PLAIN_NUMBER: Final = re.compile(r"[-+]?\d{1,1000}(?:\.\d{1,1000})?", re.ASCII)


def _judge_plain(rule: NumberRule, accept: tuple[str, ...], text: str, *, whole: bool) -> Judged:
    """The older, simpler reading: digits with a point, after the older, simpler cleaning."""
    reply, forms = clean(text, plain=True), tuple(clean(form, plain=True) for form in accept)
    pick = rule.pick if isinstance(rule, NumberInReply) else "first"
    found = _PLAIN_NUMBER.fullmatch(reply) if whole else _PLAIN_NUMBER.search(reply)
    if pick == "last" and found:
        found = deque(_PLAIN_NUMBER.finditer(reply), maxlen=1)[0]
    if found is None:
        return Judged(False, reply, forms, "there is no number in the reply")
    number = Number(found.start(), found.end(), Fraction(found[0]))
    goals = [Number(0, len(form), Fraction(form)) for form in forms if _PLAIN_NUMBER.fullmatch(form)]
    passed = any(within(rule, goal, number) for goal in goals)
    why = f"{quoted(found[0])} is within tolerance" if passed else f"{quoted(found[0])} is not {listed(forms)}"
    at = text.find(found[0])
    return Judged(passed, reply, forms, why, found[0], (at, at + len(found[0])) if at >= 0 else None)
