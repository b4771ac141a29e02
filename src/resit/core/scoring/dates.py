"""Rules that read the calendar and the clock: `date` and `time`."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterator, Set
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from typing import Final, Literal

from resit.core.rule import Date, Time
from resit.core.scoring.judged import Judged, listed, quoted
from resit.core.scoring.normalise import clean
from resit.core.scoring.numbers import places, prepare

Order = Literal["dmy", "mdy", "ymd"] | None
_MOST: Final = 20_000

_MONTHS: Final = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH: Final = (
    r"(?P<{0}>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?"
    r"|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\.?"
)
_DAYS: Final = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_WEEKDAY: Final = r"(?:mon|tues?|wed(?:nes)?|thu(?:rs?)?|fri|sat(?:ur)?|sun)(?:day)?"
_DATE: Final = re.compile(
    r"(?<![\w.,:/-])(?:"
    rf"(?:(?P<wd1>{_WEEKDAY})\.?,? (?:the )?)?(?:"
    r"(?P<y1>[0-9]{4})(?P<s1>[-/.])(?P<m1>[0-9]{1,2})(?P=s1)(?P<d1>[0-9]{1,2})(?=T[0-9]|[^\w/]|[^\W0-9a-z_]|$)"
    r"|(?P<a>[0-9]{1,2})(?P<s2>[-/.])(?P<b>[0-9]{1,2})(?P=s2)(?P<y2>[0-9]{4})(?![\w/])"
    rf"|(?P<d3>[0-9]{{1,2}})(?:st|nd|rd|th)?(?: of|\.)?[ -]{_MONTH.format('n3')},?[ -](?P<y3>[0-9]{{4}})(?![\w/])"
    rf"|{_MONTH.format('n4')} (?:the )?(?P<d4>[0-9]{{1,2}})(?:st|nd|rd|th)?,? (?P<y4>[0-9]{{4}})(?![\w/])"
    rf"|(?P<y5>[0-9]{{4}}),?[ -]{_MONTH.format('n5')}[ -](?P<d5>[0-9]{{1,2}})(?:st|nd|rd|th)?(?![\w/])"
    r"|(?P<y6>[0-9]{4})年(?P<m6>[0-9]{1,2})月(?P<d6>[0-9]{1,2})日"
    rf"))(?:,? \(?(?P<wd2>{_WEEKDAY})(?!\w))?",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Moment:
    """A day or a time of day as it stands in a text."""

    start: int
    end: int
    value: dt.date | dt.time | None
    """None when there is no such day or time, or it cannot be told which is meant."""
    why: str = ""
    zone: str | None = None


_LONG: Final = 100_000
_AROUND: Final = 48
_YEAR: Final = re.compile(r"[0-9]{4}(?![0-9])")
_HOUR: Final = re.compile(
    r"[:hHaApPnN.](?:(?<=[0-9][:hH.])[0-9]{2}|(?<=[0-9 ].)\.?[mM]|(?<=[nN])(?:oon|OON|ight|IGHT)|(?i:dday))"
)


def _near(sign: re.Pattern[str], pattern: re.Pattern[str], text: str) -> Iterator[re.Match[str]]:
    """The matches of a pattern; in a long text it is only tried near a sign of it, which is found far faster."""
    if len(text) < _LONG:
        yield from pattern.finditer(text)
        return
    done = 0
    for hit in sign.finditer(text):
        position = max(done, hit.start() - _AROUND)
        while found := pattern.search(text, position, min(len(text), hit.end() + _AROUND)):
            yield found
            position = done = found.end()


def find_dates(text: str, order: Order) -> Iterator[Moment]:
    """The dates of a prepared text: those that are written out in full, with a year of four digits."""
    for found in islice(_near(_YEAR, _DATE, text), _MOST):
        value, why = _day(found, order)
        named = {w[:3].lower() for w in (found["wd1"], found["wd2"]) if w}
        if value is not None and named - {_DAYS[value.weekday()]}:
            value, why = None, f"{quoted(found[0])} names a weekday that is not that day's"
        yield Moment(found.start(), found.end(), value, why)


def _day(found: re.Match[str], order: Order) -> tuple[dt.date | None, str]:
    if found["y2"]:
        return _numeric_day(int(found["a"]), int(found["b"]), int(found["y2"]), found[0], order)
    for number in "13456":
        if year := found[f"y{number}"]:
            named = found[f"n{number}"] if number in "345" else None
            month = _MONTHS.index(named[:3].lower()) + 1 if named else int(found[f"m{number}"])
            day = _real_day(int(year), month, int(found[f"d{number}"]))
            return day, "" if day else f"there is no such day as {quoted(found[0])}"
    return None, ""


def _numeric_day(one: int, two: int, year: int, shown: str, order: Order) -> tuple[dt.date | None, str]:
    """Day and month in figures: read under the stated order, or where only one order gives a day."""
    day_first, month_first = _real_day(year, two, one), _real_day(year, one, two)
    stated = {"dmy": day_first, "mdy": month_first}.get(order or "")
    if stated:
        return stated, ""
    if day_first and month_first and day_first != month_first:
        return None, f"{quoted(shown)} can be two days, and no order is stated"
    day = day_first or month_first
    return day, "" if day else f"there is no such day as {quoted(shown)}"


def _real_day(year: int, month: int, day: int) -> dt.date | None:
    try:
        return dt.date(year, month, day)
    except ValueError:
        return None


def one_date(text: str, order: Order) -> Moment | str:
    """The one date that a prepared text names, or why there is none."""
    return _one(find_dates(text, order), "date")


def _one(moments: Iterator[Moment], what: str) -> Moment | str:
    first = None
    for moment in moments:
        if moment.value is None:
            return moment.why
        first = first or moment
        if moment.value != first.value:
            return f"the reply names more than one {what}"
    return first or f"the reply names no {what} that can be read"


def judge_date(rule: Date, accept: tuple[str, ...], text: str) -> Judged:
    """Whether the reply names that calendar day and no other."""
    reply = prepare(text)
    return _verdict(one_date(reply, rule.order), _accepted_days(accept, rule.order), accept, text, reply)


@lru_cache(maxsize=2048)
def _accepted_days(accept: tuple[str, ...], order: Order) -> frozenset[dt.date | dt.time | None]:
    """The days that an author accepts."""
    return frozenset(found.value for form in accept if not isinstance(found := one_date(prepare(form), order), str))


def _verdict(
    found: Moment | str, goals: Set[dt.date | dt.time | None], accept: tuple[str, ...], text: str, reply: str
) -> Judged:
    shown = tuple(map(clean, accept))
    if isinstance(found, str):
        return Judged(False, reply, shown, found)
    read = str(found.value)
    why = f"the reply says {read}" if found.value in goals else f"the reply says {read}, not {listed(shown)}"
    return Judged(found.value in goals, reply, shown, why, read, places(text, reply, found.start, found.end))


_ZONE: Final = r"(?P<zone>UTC|GMT|Z|CET|CEST|BST|E[SD]T|C[SD]T|M[SD]T|P[SD]T|[+-][0-9]{2}:[0-9]{2})"
_TIME: Final = re.compile(
    r"(?<![\w.:])(?:(?P<h>[0-9]{1,2})"
    r"(?::(?P<m>[0-9]{2})(?::(?P<s>[0-9]{2})(?:\.0{1,6})?)?(?![0-9:])|h(?P<hm>[0-9]{2})(?!\w))"
    r"(?: ?(?P<half>[ap]\.?m\b\.?|in the morning|in the afternoon|in the evening|at night|noon|midnight))?"
    r"|(?P<h2>[0-9]{1,2})(?:\.(?P<m2>[0-9]{2}))? ?"
    r"(?P<half2>[ap]\.?m\b\.?|in the morning|in the afternoon|in the evening)"
    r"|(?:12 )?(?P<word>noon|midnight|midday)(?!\w))"
    rf"(?: ?(?-i:{_ZONE})(?![\w:]))?",
    re.IGNORECASE,
)


def find_times(text: str) -> Iterator[Moment]:
    """The times of day of a prepared text."""
    for found in islice(_near(_HOUR, _TIME, text), _MOST):
        if word := found["word"]:
            value: dt.time | None = dt.time(0 if word.lower() == "midnight" else 12)
        else:
            half = (found["half"] or found["half2"] or "").lower()
            minute = found["m"] or found["hm"] or found["m2"] or "0"
            value = _clock(int(found["h"] or found["h2"]), int(minute), int(found["s"] or 0), half)
        why = "" if value is not None else f"there is no such time as {quoted(found[0])}"
        zone = found["zone"]
        yield Moment(found.start(), found.end(), value, why, "UTC" if zone in ("Z", "GMT", "+00:00") else zone)


def _clock(hour: int, minute: int, second: int, half: str) -> dt.time | None:
    """The time of day; under AM, PM and their like only the hours 1 to 12 exist."""
    if half:
        if not 1 <= hour <= 12:
            return None
        if half in ("noon", "midnight"):
            return (dt.time(12) if half == "noon" else dt.time(0)) if (hour, minute, second) == (12, 0, 0) else None
        late = (
            half.startswith("p")
            or half in ("in the afternoon", "in the evening")
            or (half == "at night" and 5 < hour < 12)
        )
        hour = hour % 12 + (12 if late else 0)
    return dt.time(hour, minute, second) if hour < 24 and minute < 60 and second < 60 else None


def one_time(text: str) -> Moment | str:
    """The one time of day that a prepared text names, or why there is none."""
    return _one(find_times(text), "time")


def judge_time(rule: Time, accept: tuple[str, ...], text: str) -> Judged:
    """Whether the reply names that time of day and no other; zones are compared by name, never converted."""
    read = [found for form in accept if not isinstance(found := one_time(prepare(form)), str)]
    reply = prepare(text)
    found = one_time(reply)
    named = {_zone(z) for z in (rule.timezone, *(moment.zone for moment in read)) if z}
    if not isinstance(found, str) and found.zone and named and _zone(found.zone) not in named:
        return Judged(False, reply, tuple(map(clean, accept)), f"the reply names the zone {found.zone}")
    return _verdict(found, {moment.value for moment in read}, accept, text, reply)


def _zone(name: str) -> str:
    return "UTC" if name.upper() in ("Z", "GMT", "UTC", "+00:00", "ETC/UTC") else name.upper()
