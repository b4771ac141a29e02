"""A range of time as a person writes it: `30d`, `12h`, `2026-11-01`."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, time, timedelta, tzinfo

from resit.core.errors import UsageError

_AGO = re.compile(r"(\d{1,6})\s*([hdwmy])", re.IGNORECASE)
_HOURS = {"h": 1, "d": 24, "w": 7 * 24, "m": 30 * 24, "y": 365 * 24}
_HINT = "such as 30d, 12h, 2w or 2026-11-01"


def start_of(text: str, now: datetime, zone: tzinfo | None = None) -> datetime:
    """The moment from which `text` counts: so long ago, or the beginning of a day.

    Args:
        text: A number with `h`, `d`, `w`, `m` (30 days) or `y` (365), a day, or a day and a time.
        now: The present.
        zone: Where a day begins; None is the machine's own zone.

    Raises:
        UsageError: It is neither.
    """
    return _moment(text, now, zone, timedelta(0))


def end_of(text: str, now: datetime, zone: tzinfo | None = None) -> datetime:
    """The moment up to which `text` counts, which is itself outside: so long ago, or after the end of a day.

    Raises:
        UsageError: It is neither.
    """
    return _moment(text, now, zone, timedelta(days=1))


def _moment(text: str, now: datetime, zone: tzinfo | None, day_more: timedelta) -> datetime:
    ago = _AGO.fullmatch(text.strip())
    try:
        if ago is not None:
            return now - timedelta(hours=int(ago[1]) * _HOURS[ago[2].lower()])
        if re.fullmatch(r"\d{4}-\d\d-\d\d", text.strip()):
            day = datetime.combine(date.fromisoformat(text.strip()) + day_more, time())
            return _in_utc(day, zone)
        return _in_utc(datetime.fromisoformat(text.strip()), zone)
    except (ValueError, OverflowError):
        raise UsageError(f"{text[:40]!r} is no time", hint=_HINT) from None


def _in_utc(moment: datetime, zone: tzinfo | None) -> datetime:
    if moment.tzinfo is None and zone is not None:
        moment = moment.replace(tzinfo=zone)
    return moment.astimezone(UTC)
