"""What a failed call means: the one place where errors become faults, and where it is decided when to try again."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import Any

from resit.core.config import Secret, scrub
from resit.core.records import RETRIED, Fault, FaultKind, Usage

LONG_WAIT_S = 900.0
"""A server that asks for more than this does not mean a rate but a quota."""
_SAID_LIMIT = 300
"""Most characters of a server's own words that are kept."""

_QUOTA = re.compile(
    r"(usage|spend(ing)?|monthly|weekly|daily|account) limit|\bquota\b|api usage threshold", re.IGNORECASE
)
_RATE = re.compile(r"per[- ](minute|second)|rate limit", re.IGNORECASE)
_NO_CREDIT = re.compile(r"credit balance|insufficient (credit|fund|balance)|\bbilling\b", re.IGNORECASE)
_FILTERED = re.compile(r"content (filter|management)", re.IGNORECASE)
_TOO_LONG = re.compile(
    r"prompt is too long|context (window|length)|maximum context|exceeds? the (available )?context", re.IGNORECASE
)
_QUOTA_CODES = frozenset({"contract_spend_limit_reached", "enforced_spend_limit_reached", "insufficient_quota"})
_NO_CREDIT_CODES = frozenset({"billing_hard_limit_reached", "billing_not_active"})
_FILTER_CODES = frozenset({"content_filter", "content_policy_violation"})
_STATUS_OF_TYPE = {
    "invalid_request_error": 400,
    "authentication_error": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "timeout_error": 408,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "api_error": 500,
    "overloaded_error": 529,
}
"""The status an error would have had, for one that came inside a 200."""


@dataclass(frozen=True, slots=True)
class Asked:
    """Which call failed: what the sentences name, and what they must not show."""

    model: str
    url: str
    key_name: str | None
    secrets: tuple[Secret, ...] = ()

    def fault(
        self,
        kind: FaultKind,
        said: str,
        *,
        status: int | None = None,
        retry_after_s: float | None = None,
        request_id: str | None = None,
        usage: Usage | None = None,
        seconds: float | None = None,
    ) -> Fault:
        """A fault whose words are one line and free of keys."""
        return Fault(
            kind=kind,
            said=self.clean(said, 2 * _SAID_LIMIT),
            status=status,
            retry_after_s=retry_after_s,
            request_id=self.clean(request_id, _SAID_LIMIT) if request_id else None,
            usage=usage,
            seconds=seconds,
        )

    def clean(self, text: str, limit: int = _SAID_LIMIT) -> str:
        """`text` on one line, without keys, and not longer than `limit`."""
        # A key is looked for before the cut: half of one would not be found. What is far behind it is never shown.
        line = " ".join(scrub(text[: 20 * limit], self.secrets).split())
        return line if len(line) <= limit else line[: limit - 1] + "…"


@dataclass(frozen=True, slots=True)
class ServerError:
    """What a server said instead of an answer."""

    status: int
    """The HTTP status; 200 for an error inside a stream."""
    type: str | None
    code: str | None
    message: str
    headers: Mapping[str, str]
    request_id: str | None = None

    @classmethod
    def from_body(cls, status: int, body: object, headers: Mapping[str, str]) -> ServerError:
        """Read the error out of a body: JSON with `error`, already parsed or not, else plain text."""
        if isinstance(body, (str, bytes)):
            try:
                body = json.loads(body)
            except (ValueError, RecursionError):
                body = body.decode(errors="replace") if isinstance(body, bytes) else body
        error = _part(body, "error")
        details = _part(error, "details")
        message = error if isinstance(error, str) else (_text(error, "message") or _text(body, "message"))
        if message is None:
            message = "" if body is None else body if isinstance(body, str) else json.dumps(body, default=str)
        return cls(
            status=status,
            type=_text(error, "type"),
            code=_text(details, "error_code") or _code(error) or _code(body),
            message=message,
            headers=headers,
            request_id=headers.get("request-id") or headers.get("x-request-id") or _text(body, "request_id"),
        )


def from_server(asked: Asked, error: ServerError, now: datetime, usage: Usage | None = None) -> Fault:
    """The fault that a server's error is."""
    wait = retry_after_s(error.headers, now)
    status = error.status if error.status >= 300 else inner_status(error)
    kind, sentence = _server_sentence(asked, error, status, wait, now)
    words = asked.clean("" if _is_page(error.message) else error.message)
    return asked.fault(
        kind,
        f"{sentence}: {words}" if words else sentence,
        status=error.status,
        retry_after_s=wait,
        request_id=error.request_id,
        usage=usage,
    )


def retry_after_s(headers: Mapping[str, str], now: datetime) -> float | None:
    """Seconds that a server asks to wait: `retry-after-ms`, or `retry-after` as seconds or as a date."""
    milliseconds = _number(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    text = headers.get("retry-after")
    seconds = _number(text)
    if seconds is not None or not text:
        return seconds
    try:
        until = parsedate_to_datetime(text)
    except ValueError:
        return None
    # A date without a zone is taken as UTC, which the header's grammar says it is.
    until = until if until.tzinfo else until.replace(tzinfo=UTC)
    return max(0.0, (until - now).total_seconds())


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """When a failed call is tried again: full jitter under a doubling bound, never sooner than the server asks."""

    max_attempts: int = 6
    """Calls on behalf of one run, the first included."""
    base_s: float = 0.5
    """Bound of the first wait; it doubles from there."""
    cap_s: float = 30.0
    """Where the doubling ends."""
    max_wait_s: float = 120.0
    """The longest a run waits for a server; one that asks for more is given up, and stays owed."""
    max_timeouts: int = 2
    """Calls after which a timeout is final: each took all the time it had, and may be billed."""
    long_timeout_s: float = 900.0
    """A timeout after this long is final at once: agents have had their time by then."""

    def delay_s(self, fault: Fault, attempt: int, rng: random.Random) -> float | None:
        """Seconds to wait after attempt number `attempt` (from 1) failed; None: give up."""
        if fault.kind not in RETRIED or attempt >= self.max_attempts:
            return None
        long = (fault.seconds or 0.0) >= self.long_timeout_s
        if fault.kind == "timeout" and (long or attempt >= self.max_timeouts):
            return None
        asked_for = fault.retry_after_s or 0.0
        if asked_for > self.max_wait_s:
            return None
        bound = min(self.cap_s, self.base_s * 2.0 ** min(attempt - 1, 60))
        # Those who were told the same moment must not come back in one heap, so the jitter comes on top of it.
        return asked_for + rng.uniform(0.0, bound)


def _server_sentence(
    asked: Asked, error: ServerError, status: int, wait: float | None, now: datetime
) -> tuple[FaultKind, str]:
    """The kind of an error and its sentence with the mend."""
    where = f"({error.status})" if error.status >= 300 else "(in mid-stream)"
    key = asked.key_name or "the key"
    message = error.message
    if status == 429:
        return _limit_sentence(error, where, wait, now)
    if status == 402 or error.code in _NO_CREDIT_CODES or (status in (400, 403) and _NO_CREDIT.search(message)):
        return "billing", f"no credit left for {key} {where}; top it up, then run the same command again"
    if status == 400 and (error.code in _FILTER_CODES or _FILTERED.search(message)):
        return "blocked", f"the server's content filter held the answer back {where}"
    if status == 401 and asked.key_name is None:
        return "key", f"{asked.url} wants a key {where}; `key` in models.toml names the variable that holds it"
    if status == 401:
        return "key", f"{asked.url} refuses {key} {where}; check it or make a new one"
    if status == 403:
        return "key", f"{key} may not use {asked.model} {where}; ask for access or use another key"
    if status == 404:
        about_the_model = error.type == "not_found_error" and "model" in message.lower()
        if error.code == "model_not_found" or asked.model in message or about_the_model:
            return "model", f"{asked.url} knows no model {asked.model} {where}; resit models lists what there is"
        return "model", f"nothing takes messages at {asked.url} {where}; check the base URL"
    if status == 413 or (status == 400 and _TOO_LONG.search(message)):
        return "request", f"the prompt is too long for {asked.model} {where}; shorten it or its files"
    return _other_sentence(asked, status, where)


def _other_sentence(asked: Asked, status: int, where: str) -> tuple[FaultKind, str]:
    """Statuses that need no look at the words."""
    if status in (408, 504):
        return "timeout", f"the server took too long {where}"
    if status in (502, 503, 529):
        return "overloaded", f"{asked.model} is overloaded {where}"
    if status == 499:
        return "dropped", f"the connection was closed on the way {where}"
    if status in (409, 425) or (status >= 500 and status not in (501, 505)):
        return "server", f"the server failed {where}"
    if status < 400:
        return "request", f"{asked.url} sends calls elsewhere {where}; set the base URL it should be"
    return "request", f"the server refuses the request {where}"


def _limit_sentence(error: ServerError, where: str, wait: float | None, now: datetime) -> tuple[FaultKind, str]:
    """A rate, which passes in a moment, or a quota, which ends the setting for now."""
    named = error.code in _QUOTA_CODES or (_QUOTA.search(error.message) and not _RATE.search(error.message))
    if named or (wait is not None and wait > LONG_WAIT_S):
        back = f"; it is free again at {_clock(now, wait)}" if wait else ""
        return "quota", f"the usage limit is reached {where}{back}; then run the same command again"
    return "limit", f"rate limit met {where}" + (f", asked to wait {wait:g} s" if wait else "")


def _clock(now: datetime, wait: float) -> str:
    """The time `wait` seconds from now as UTC, to the minute above."""
    at = (now + timedelta(seconds=min(wait, 10**9) + 59)).astimezone(UTC)
    return at.strftime("%H:%M UTC" if wait < 20 * 3600 else "%d %b %Y %H:%M UTC")


def _is_page(message: str) -> bool:
    """True for a web page, as proxies send: nobody wants to read its tags."""
    return message.lstrip()[:1] == "<"


def inner_status(error: ServerError) -> int:
    """The status of an error inside a 200: by its type, else by its code, which some servers give as that number."""
    code = error.code or ""
    return _STATUS_OF_TYPE.get(error.type or "") or (int(code) if re.fullmatch("[45][0-9][0-9]", code) else 500)


def _code(value: object) -> str | None:
    """An error's code, a word or a number."""
    found = _part(value, "code")
    return str(found) if isinstance(found, (str, int)) else None


def _part(value: object, name: str) -> Any:
    return value.get(name) if isinstance(value, dict) else None


def _text(value: object, name: str) -> str | None:
    found = _part(value, name)
    return found if isinstance(found, str) else None


def _number(text: str | None) -> float | None:
    """A waiting time as written in a header; None for anything else, also for `nan`, negative and absurd ones."""
    try:
        value = float(text or "")
    except ValueError:
        return None
    return value if 0 <= value < 10**12 else None
