"""What is a number in a text, and which value it has: exact, bounded, never a float.

A number is found by its digits and then read outwards: the sign and currency before it, the exponent, fraction,
multiplier and unit after it. What looks like a number but has no one value (`1,2,3`, `5/0`, `1e999999999`, `5^2`)
is kept as a number without a value, so that it can never be passed over in favour of another.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import islice, pairwise
from typing import Final, Literal

from resit.core.scoring import units
from resit.core.scoring.normalise import DROPPED, fold
from resit.core.scoring.texts import UNSPACED

MAX_DIGITS: Final = 1000
"""A number with more digits, or a larger exponent, is no answer: it is never computed."""

DecimalMark = Literal[".", ","]


@dataclass(frozen=True, slots=True)
class Number:
    """One number as it stands in a text."""

    start: int
    end: int
    value: Fraction | None
    """None when it has no one value: division by zero, malformed grouping, a power, a bound, too many digits."""
    unit: str | None = None
    """What it says it counts: `%`, a currency, a degree, a unit; None for a bare number."""


@dataclass(frozen=True, slots=True)
class Reading:
    """How an author wants numbers read."""

    decimal: DecimalMark = "."
    units: tuple[str, ...] = ()
    """The rule's own unit words; they all name one unit."""


_NO_WORD: Final = f"[^\\W{UNSPACED}\u1100-\u11ff\uac00-\ud7af\u2070-\u209f\u00b2\u00b3\u00b9¼-¾⅐-⅞]"
"""A letter or digit that would make a number part of a word; Korean particles are written onto numbers."""
_GROUP: Final = r"[1-9][0-9]{0,2}(?:(?P<sep>%s|'|_| |\{,\}|\\,)[0-9]{3}(?![0-9]))(?:(?P=sep)[0-9]{3}(?![0-9]))*+"
_INDIAN: Final = r"[1-9][0-9]?(?:,[0-9]{2}(?![0-9]))++,[0-9]{3}(?![0-9])"
MONTH: Final = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
    r"|nov(?:ember)?|dec(?:ember)?)"
)
_PASSED: Final = (
    r"[0-9]{1,2}:[0-9]{2}(?::[0-9]{2})?(?:\.[0-9]{1,6})?(?![:0-9])(?: ?[ap]\.?m\b\.?)?"  # 17:20, 5:20 pm
    r"|[0-9]{1,2} ?(?:am|pm|a\.m\.|p\.m\.)(?![a-z0-9])"
    r"|[0-9]{4}([-/.])[0-9]{1,2}\1[0-9]{1,2}(?![-/.]?[0-9])(?:T[0-9:.]+Z?)?"  # 2026-11-29
    r"|[0-9]{1,2}([-/.])[0-9]{1,2}\2(?:[0-9]{4}|[0-9]{2})(?![-/.]?[0-9])"  # 29/11/2026
    rf"|[0-9]{{1,2}}(?:st|nd|rd|th)?(?: of)?[ -]{MONTH}\b\.?(?:,?[ -][0-9]{{4}}(?![0-9]))?"  # 29 November 2026
    r"|[0-9]+(?:\.[0-9]+){2,}(?![0-9])"  # versions, addresses
    r"|[0-9]{4}年[0-9]{1,2}月[0-9]{1,2}日"
)
_LETTER: Final = f"[^\\W0-9_{UNSPACED}]"
_FIND: Final = re.compile(
    r"[0-9.½⅓¼¾⅐-⅞\\](?:"
    rf"(?<=[0-9])(?<!{_NO_WORD}[0-9])(?<!{_NO_WORD}[.][0-9])(?<!{_LETTER}-[0-9])"  # not in a word, a name, a version
    rf"|(?<=\.)(?=[0-9])(?<!{_NO_WORD}\.)(?<!\.\.)"
    r"|(?<=[½⅓¼¾⅐-⅞])"
    r"|(?<=\\)(?=[dt]?frac\{))"
)
_SKIP: Final = re.compile(_PASSED, re.IGNORECASE)
_MONTH_NAME: Final = re.compile(rf"{MONTH}\.?")
_DAY_AFTER_MONTH: Final = re.compile(r"[0-9]{1,2}(?:st|nd|rd|th)?(?:,? [0-9]{4})?(?![0-9.,:/%]*[0-9%])")
# With a decimal comma a point groups; where it cannot group (`3.5`, `0.125`) it is still the decimal mark.
_EITHER_MARK: Final = r"(?P<frac>,[0-9]++|\.(?![0-9]{3}(?![0-9]))[0-9]++|(?<=(?<![0-9])0)\.[0-9]++)?"
_CORE: Final = {
    mark: re.compile(
        rf"(?P<int>{_GROUP % re.escape(',' if mark == '.' else '.')}|{_INDIAN if mark == '.' else '(?!)'}|[0-9]++)?"
        + (r"(?P<frac>\.[0-9]++)?" if mark == "." else _EITHER_MARK)
    )
    for mark in (".", ",")
}
_TEX_FRACTION: Final = re.compile(r"\\[dt]?frac\{(-?[0-9]{1,40})\}\{([0-9]{1,40})\}")
_EXPONENT: Final = re.compile(r"[eE]([+-]?[0-9]++)")
_TEN: Final = re.compile(r" ?(?:[×x*·]|\\times|\\cdot) ?10 ?(?:(?:\^|\*\*) ?\{?([+-]?[0-9]++)\}?|([⁺⁻]?[⁰¹²³⁴-⁹]++))")
_POWER: Final = re.compile(r" ?(?:(?:\^|\*\*) ?[\{(]?([+-]?[0-9]++)[\})]?|([⁺⁻]?[⁰¹²³⁴-⁹]++))")
_SLASH: Final = re.compile(r"[/⁄]([0-9]++)(?![/⁄.,]?[0-9])")
_MIXED: Final = re.compile(r" ([0-9]{1,9})[/⁄]([0-9]{1,9})(?![/⁄.,]?[0-9])")
_VULGAR: Final = re.compile(r" ?([½⅓¼¾⅐-⅞])")
_MALFORMED: Final = re.compile(r"(?:[.,'_:/⁄]|\{,\})[0-9][0-9.,'_:/⁄]*+")
_ROOT: Final = re.compile(r" ?[√∛∜]|\\sqrt")
_WORDS: Final = {"thousand": 3, "million": 6, "billion": 9, "trillion": 12}
_MULTIPLIER: Final = re.compile(r"[ -]?(thousand|million|billion|trillion)s?(?!\w)|([kK])(?!\w)", re.IGNORECASE)
_MONEY_MULTIPLIER: Final = re.compile(r" ?(M|m|mn|MN|bn|BN|Bn|B|b|tn|T)(?![A-Za-z0-9])")
_MONEY_POWERS: Final = {"m": 6, "mn": 6, "bn": 9, "b": 9, "tn": 12, "t": 12}
_SUPERSCRIPTS: Final = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻", "0123456789+-")

_CODE: Final = "|".join(units.CODES)
_MONEY_BEFORE: Final = re.compile(rf"(?:(?:\b(?:US|A|C|HK|NZ|S))?\\?([{units.SIGNS}])|(?<!\w)({_CODE}|Rs\.?)) ?$")
_PLAIN_BEFORE: Final = ("", ":", "*", ",", ".", "(", "\n", "+", "-")
_SAYS_SIGN: Final = ("minus ", "negative ", "rs ", "\\le ", "\\leq ", "\\ge ", "\\geq ", "\\ne ", "\\neq ")
_SIGN_BEFORE: Final = re.compile(r"[-+±]$")
_MINUS_WORD: Final = re.compile(r"(?<![\w-])(?:minus|negative) $", re.IGNORECASE)
_NUMBER_BEFORE_WORD: Final = re.compile(r"[0-9)] (?:minus|negative) $", re.IGNORECASE)
_BOUND_BEFORE: Final = re.compile(r"(?:[<≤≥≠]|[<>!]=|\\(?:leq?|geq?|neq?)|(?<![-=\n>])>) ?$")
_TAG_BEFORE: Final = re.compile(r"<[/a-zA-Z][^<>\n]*> ?$")
_PERCENT: Final = re.compile(r" ?(?:\\?%|per ?cent(?!\w))|(‰)", re.IGNORECASE)
_DEGREE: Final = re.compile(r" ?(?:[°º] ?([CFK](?!\w))?|degrees?(?: (celsius|fahrenheit|c|f))?(?!\w))", re.IGNORECASE)
_WORD: Final = "|".join(sorted(map(re.escape, units.CURRENCY_WORDS), key=len, reverse=True))
_MONEY_AFTER: Final = re.compile(rf" ?(?:([{units.SIGNS}])|({_CODE})(?!\w)|((?i:{_WORD}))(?!\w)|([元円])|(원))")
_UNIT_WORD: Final = re.compile(r" ?([A-Za-z]+(?:/[a-z]+)?)(?![\w])")
# Most numbers are a few digits before a space and a common word, or before the end: one look instead of ten.
_SIMPLE: Final = re.compile(
    r"[0-9]{1,15}(?=[.,;!?)]{0,3}(?:\Z|\n)|[.,;!?)]{1,3} | "
    rf"(?!(?i:thousand|million|billion|trillion|per ?cent|degree|[ap]\.?m\b|of |{MONTH}|{_WORD}|x )|{_CODE})[A-Za-z=])"
)
_GLUED: Final = re.compile(_NO_WORD)


def prepare(text: str) -> str:
    """The text with one way to write each space, dash and digit; superscripts and fractions stay."""
    text = fold(text)
    if text.isascii():
        return text
    digits = {c for c in set(text) if c.isdecimal() and not c.isascii()}
    for digit in digits:
        text = text.replace(digit, str(unicodedata.decimal(digit)))
    return text


@lru_cache(maxsize=512)
def _unit_pattern(words: tuple[str, ...]) -> re.Pattern[str]:
    longest_first = sorted((re.escape(word) for word in words if word), key=len, reverse=True)
    return re.compile(rf" ?-?(?:{'|'.join(longest_first)})(?!\w)", re.IGNORECASE)


def find_numbers(text: str, reading: Reading, limit: int) -> Iterator[Number]:
    """The numbers of a prepared text, in order; after `limit` candidates the search ends.

    Clock times, dates, versions, names with digits and the numerals of a numbered list are passed over.
    """
    position, markers = 0, None
    for _ in range(limit):
        found = _FIND.search(text, position)
        if found is None:
            return
        start = found.start()
        passed = _passed_over(text, start)
        if passed:
            position = passed
            continue
        number = read_at(text, start, reading)
        position = max(number.end if number else start + 1, start + 1)
        if number is None:
            position = _word_end(text, start)
            continue
        if _may_be_marker(text, start, number.end):
            markers = list_markers(text) if markers is None else markers
            if start in markers:
                continue
        yield number


def _word_end(text: str, start: int) -> int:
    """Past the word that a digit belongs to, so that its other digits are not tried one by one."""
    found = re.compile(r"[0-9.\\]?\w*").match(text, start)
    return max(found.end() if found else start, start + 1)


def _passed_over(text: str, start: int) -> int:
    """The end of a clock time, date or version that begins here; 0 when none does."""
    if not _SIMPLE.match(text, start) and (found := _SKIP.match(text, start)) and not _GLUED.match(text, found.end()):
        return found.end()
    if text[start - 1 : start] == " " and (found := _DAY_AFTER_MONTH.match(text, start)):
        word = text[max(0, start - 12) : start - 1].rpartition(" ")[2].lower()
        return found.end() if _MONTH_NAME.fullmatch(word.lstrip("(\n")) else 0
    return 0


def _may_be_marker(text: str, start: int, end: int) -> bool:
    return text[end : end + 1] in (".", ")") and text[max(0, start - 4) : start].rpartition("\n")[2].strip(" *_") == ""


_MARKER: Final = re.compile(r"^[ \t]{0,8}[*_]{0,2}([0-9]{1,3})[.)][*_]{0,2}[ \t]", re.MULTILINE)


def list_markers(text: str) -> frozenset[int]:
    """Where the numerals of a numbered list stand; a single numbered line is no list."""
    lines = [(found.start(1), int(found[1])) for found in islice(_MARKER.finditer(text), 20_000)]
    pairs = [(a[0], b[0]) for a, b in pairwise(lines) if b[1] == a[1] + 1]
    return frozenset(place for pair in pairs for place in pair)


def read_at(text: str, start: int, reading: Reading) -> Number | None:
    """The number whose digits begin at `start`; None when those digits belong to a word."""
    if not reading.units and (simple := _SIMPLE.match(text, start)):
        first, negative, money, spoilt = _read_before(text, start)
        whole = int(simple[0])
        value = None if spoilt else Fraction(-whole if negative else whole)
        return None if first is None else Number(first, simple.end(), value, money)
    end, value = _read_core(text, start, reading.decimal)
    first, negative, money, spoilt = _read_before(text, start)
    if first is None:
        return None
    end, power = _read_multiplier(text, end, money is not None)
    end, unit, odd = _read_unit(text, end, reading, money)
    if _GLUED.match(text, end) or (end < len(text) and text[end] == "_"):
        return None
    if value is not None and power:
        value *= 10**power
    if spoilt or odd:
        value = None
    elif value is not None and negative:
        value = -value
    return Number(first, end, value, unit)


def _read_core(text: str, start: int, mark: DecimalMark) -> tuple[int, Fraction | None]:
    """The digits with exponent, power or fraction: where they end, and their value."""
    if text[start] == "\\":
        tex = _TEX_FRACTION.match(text, start)
        return (tex.end(), _ratio(tex[1], tex[2])) if tex else (start + 1, None)
    if vulgar := _VULGAR.match(text, start):
        return vulgar.end(), _vulgar(vulgar[1])
    found = _CORE[mark].match(text, start)
    if found is None or found.end() == start:
        return start + 1, None
    whole, frac, end = found["int"] or "", found["frac"] or "", found.end()
    value = _decimal(whole, frac, 0)
    plain = whole.isdigit() and not frac
    if exponent := _EXPONENT.match(text, end):
        end, value = exponent.end(), _decimal(whole, frac, _bounded(exponent[1]))
    elif ten := _TEN.match(text, end):
        end, value = ten.end(), _decimal(whole, frac, _bounded(ten[1] or ten[2]))
    elif power := _POWER.match(text, end):
        exponent_value = _bounded(power[1] or power[2])
        return power.end(), _decimal("1", "", exponent_value) if whole == "10" and not frac else None
    elif plain and (slash := _SLASH.match(text, end)):
        end, value = slash.end(), _ratio(whole, slash[1])
    elif plain and (mixed := _MIXED.match(text, end)):
        part = _ratio(mixed[1], mixed[2])
        if part is not None and part < 1 and value is not None:
            end, value = mixed.end(), value + part
    elif plain and (vulgar := _VULGAR.match(text, end)):
        end, value = vulgar.end(), None if value is None else value + _vulgar(vulgar[1])
    if malformed := _MALFORMED.match(text, end):
        return malformed.end(), None
    return (end, None) if _ROOT.match(text, end) else (end, value)


def _bounded(exponent: str) -> int | None:
    digits = exponent.translate(_SUPERSCRIPTS)
    return int(digits) if len(digits) < 6 and abs(int(digits)) <= MAX_DIGITS else None


def _decimal(whole: str, frac: str, exponent: int | None) -> Fraction | None:
    """The value of digits as written; None past the bounds."""
    if exponent is None or len(whole) + len(frac) > 2 * MAX_DIGITS:
        return None
    if not frac and not exponent and whole.isdigit() and len(whole) <= MAX_DIGITS:
        return Fraction(int(whole))
    digits = "".join(c for c in whole + frac[1:] if c.isdigit())
    if not digits or len(digits) > MAX_DIGITS:
        return None
    places = max(len(frac) - 1, 0) - exponent
    return Fraction(int(digits), 10**places) if places > 0 else Fraction(int(digits) * 10**-places)


def _ratio(over: str, under: str) -> Fraction | None:
    if len(over) > MAX_DIGITS or len(under) > MAX_DIGITS or not int(under):
        return None
    return Fraction(int(over), int(under))


def _vulgar(sign: str) -> Fraction:
    over, _, under = unicodedata.normalize("NFKC", sign).partition("⁄")
    return Fraction(int(over), int(under))


def _read_before(text: str, start: int) -> tuple[int | None, bool, str | None, bool]:
    """What stands before the digits: where the number begins (None inside a word), minus, currency, spoilt."""
    near = text[max(0, start - 48) : start]
    first, money, sign = len(near), None, ""
    if not near or (near[-1].isspace() and near[-2:-1].isspace()):
        return start, False, None, False
    if (
        near[-1] == " "
        and (near[-2:-1].islower() or near[-2:-1] in _PLAIN_BEFORE)
        and not near[-10:].lower().endswith(_SAYS_SIGN)
    ):
        return start, False, None, False  # an ordinary word
    for _ in range(2):
        if money is None and (found := _MONEY_BEFORE.search(near[:first])):
            first, money = found.start(), found[1] or ("₹" if found[2].startswith("Rs") else found[2])
        if not sign and (signed := _SIGN_BEFORE.search(near[:first])):
            before = near[first - 2 : first - 1] if first >= 2 else ""
            if before.isalnum() or before in (")", "]", "}"):
                break
            sign, first = signed[0], first - 1
    rest = near[:first]
    if rest and _GLUED.match(rest[-1]):
        return None, False, None, False
    if rest.endswith(("^", "√", "∛")):
        return None, False, None, False
    if (word := _MINUS_WORD.search(rest)) and not _NUMBER_BEFORE_WORD.search(rest):
        return start - (len(near) - word.start()), True, money, bool(sign)
    bound = _BOUND_BEFORE.search(rest) is not None and not _TAG_BEFORE.search(rest)
    return start - (len(near) - first), sign == "-", money, sign == "±" or bound


def _read_multiplier(text: str, end: int, after_money: bool) -> tuple[int, int]:
    """Thousand to trillion, a glued k, and after a currency also M and bn: where they end, and the power of ten."""
    if found := _MULTIPLIER.match(text, end):
        return found.end(), 3 if found[2] else _WORDS[found[1].lower()]
    if after_money and (found := _MONEY_MULTIPLIER.match(text, end)):
        return found.end(), _MONEY_POWERS[found[1].lower()]
    return end, 0


def _read_unit(text: str, end: int, reading: Reading, money: str | None) -> tuple[int, str | None, bool]:
    """The unit after the digits: where it ends, what it is, and whether it is one that changes the value."""
    if reading.units and (found := _unit_pattern(reading.units).match(text, end)):
        return found.end(), reading.units[0], False
    if found := _PERCENT.match(text, end):
        return found.end(), units.PERCENT, found[1] is not None
    if found := _DEGREE.match(text, end):
        letter = (found[1] or found[2] or "")[:1].upper()
        return found.end(), "°" + letter, False
    if found := _MONEY_AFTER.match(text, end):
        after = found[1] or found[2] or units.CURRENCY_WORDS.get((found[3] or "").lower()) or ("₩" if found[5] else "¥")
        # "€20 USD" names two currencies and has no one value.
        return found.end(), after if money is None or after != "$" else money, not units.same_unit(money, after)
    return end, money, False


def unit_word(text: str, number: Number) -> str | None:
    """The unit a number has in a sentence: its own, or that of the common unit word that follows it."""
    if number.unit is not None:
        return number.unit
    found = _UNIT_WORD.match(text, number.end)
    return units.UNIT_WORDS.get(found[1].lower()) if found else None


def places(original: str, prepared: str, start: int, end: int) -> tuple[int, int]:
    """The offsets in a text of what stands at `start` to `end` in its prepared form."""
    if len(original) == len(prepared):
        return start, end
    dropped, first = 0, None
    for found in DROPPED.finditer(original):
        at = found.start() - dropped
        if first is None and at > start:
            first = start + dropped
        if at >= end:
            break
        dropped += len(found[0])
    return start + dropped if first is None else first, end + dropped
