from __future__ import annotations

import random
from collections.abc import Mapping
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from resit.core.calling.faults import Asked, RetryPolicy, ServerError, from_server, retry_after_s
from resit.core.config import Secret
from resit.core.records import ENDS_SETTING, RETRIED, Fault, FaultKind

NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
KEY = Secret("sk-ant-api03-Qz7vT1xLm9Wd_4KpRb2NfHs8Yc", "environment")
ASKED = Asked("claude-haiku-5-5", "https://api.anthropic.com", "ANTHROPIC_API_KEY", (KEY,))


def _fault(
    status: int, type_: str = "", message: str = "", headers: Mapping[str, str] | None = None, code: str = ""
) -> Fault:
    body = {"type": "error", "error": {"type": type_, "message": message, "details": {"error_code": code}}}
    return from_server(ASKED, ServerError.from_body(status, body, headers or {}), NOW)


@pytest.mark.parametrize(
    ("status", "type_", "message", "kind", "said"),
    [
        (400, "invalid_request_error", "max_tokens: too large", "request", "refuses the request (400): max_tokens"),
        (400, "invalid_request_error", "prompt is too long: 1200000 tokens", "request", "prompt is too long for"),
        (400, "invalid_request_error", "Your credit balance is too low", "billing", "no credit left"),
        (400, "invalid_request_error", "Output blocked by content filtering policy", "blocked", "content filter"),
        (401, "authentication_error", "invalid x-api-key", "key", "refuses ANTHROPIC_API_KEY (401); check it"),
        (402, "billing_error", "", "billing", "no credit left for ANTHROPIC_API_KEY (402); top it up"),
        (403, "permission_error", "", "key", "may not use claude-haiku-5-5 (403)"),
        (404, "not_found_error", "model: x", "model", "knows no model claude-haiku-5-5 (404); resit models"),
        (404, "", "<html>no such page", "model", "check the base URL"),
        (408, "", "", "timeout", "took too long (408)"),
        (409, "", "", "server", "the server failed (409)"),
        (413, "request_too_large", "", "request", "too long for claude-haiku-5-5 (413)"),
        (422, "", "", "request", "refuses the request (422)"),
        (429, "rate_limit_error", "Number of requests per minute", "limit", "rate limit met (429)"),
        (429, "rate_limit_error", "You exceeded your current quota", "quota", "usage limit is reached (429)"),
        (429, "rate_limit_error", "You have reached your monthly spend limit", "quota", "usage limit is reached"),
        (429, "rate_limit_error", "Quota exceeded for requests per minute", "limit", "rate limit met"),
        (500, "api_error", "", "server", "the server failed (500)"),
        (501, "", "", "request", "refuses the request (501)"),
        (503, "", "Loading model", "overloaded", "overloaded (503): Loading model"),
        (504, "", "", "timeout", "took too long (504)"),
        (529, "overloaded_error", "Overloaded", "overloaded", "claude-haiku-5-5 is overloaded (529)"),
        (302, "", "", "request", "sends calls elsewhere (302)"),
        (200, "overloaded_error", "Overloaded", "overloaded", "overloaded (in mid-stream)"),
        (200, "rate_limit_error", "", "limit", "rate limit met (in mid-stream)"),
        (200, "something_new", "", "server", "the server failed (in mid-stream)"),
    ],
)
def test_each_failure_has_its_own_line(status: int, type_: str, message: str, kind: FaultKind, said: str) -> None:
    fault = _fault(status, type_, message)
    assert (fault.kind, fault.status) == (kind, status)
    assert said in fault.said
    assert "\n" not in fault.said
    assert "<html" not in fault.said


def test_a_spend_limit_is_a_quota_whatever_its_words() -> None:
    assert _fault(429, "rate_limit_error", "No.", code="enforced_spend_limit_reached").kind == "quota"
    assert _fault(429, "rate_limit_error", "No.", code="ramp_limit_exceeded").kind == "limit"


def test_a_quota_says_when_it_is_free_again() -> None:
    fault = _fault(429, "rate_limit_error", "Usage limit reached.", {"retry-after": "7200"})
    assert fault.kind == "quota"
    assert "free again at 14:00 UTC" in fault.said
    assert "Usage limit reached." in fault.said
    far = _fault(429, "rate_limit_error", "", {"retry-after": str(3 * 86400)})
    assert far.kind == "quota"
    assert "03 Dec 2026 12:00 UTC" in far.said


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after-ms": "250", "retry-after": "7"}, 0.25),
        ({"retry-after": "Mon, 30 Nov 2026 12:01:30 GMT"}, 90.0),
        ({"retry-after": "Mon, 30 Nov 2026 12:01:30"}, 90.0),
        ({"retry-after": "Mon, 30 Nov 2026 11:00:00 GMT"}, 0.0),
        ({"retry-after": "-3"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "Mon, 99 Nov 2026 12:01:30 GMT"}, None),
        ({}, None),
    ],
)
def test_the_waiting_time_is_read_as_seconds_or_as_a_date(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after_s(headers, NOW) == seconds


@pytest.mark.parametrize(
    "body",
    [
        b'{"error": "plain words"}',
        b'{"message": "plain words"}',
        b'{"error": {"message": "plain words", "type": 7}}',
        b"plain words",
        "plain words",
        {"error": {"message": "plain words", "details": "none"}},
    ],
)
def test_an_error_is_read_whatever_shape_it_has(body: object) -> None:
    assert ServerError.from_body(500, body, {}).message == "plain words"


@given(st.one_of(st.text(), st.binary(), st.recursive(st.none() | st.text(), st.lists)), st.integers(200, 599))
def test_any_body_with_any_status_becomes_one_line(body: object, status: int) -> None:
    fault = from_server(ASKED, ServerError.from_body(status, body, {}), NOW)
    assert fault.said
    assert len(fault.said.splitlines()) == 1


def test_no_character_of_a_key_reaches_a_fault() -> None:
    key = KEY.reveal()
    for message in (f"bad key {key}", "x" * 290 + key, f"{key[:16]}…", f"{key}\n{key}"):
        fault = _fault(401, "authentication_error", message, {"request-id": key})
        shown = fault.model_dump_json() + repr(fault)
        assert not any(key[at : at + 8] in shown for at in range(len(key) - 7))


def test_a_long_message_is_cut() -> None:
    assert len(_fault(500, "api_error", "long " * 100_000).said) < 700


def _delays(policy: RetryPolicy, fault: Fault, attempt: int) -> list[float]:
    rng = random.Random(1)
    found = [policy.delay_s(fault, attempt, rng) for _ in range(200)]
    return [delay for delay in found if delay is not None]


def test_waits_are_spread_under_a_bound_that_doubles() -> None:
    policy = RetryPolicy(base_s=1.0, cap_s=6.0)
    fault = Fault(kind="overloaded", said="")
    for attempt, bound in ((1, 1.0), (2, 2.0), (3, 4.0), (4, 6.0), (5, 6.0)):
        delays = _delays(policy, fault, attempt)
        assert len(delays) == 200
        assert 0 <= min(delays) < bound / 4
        assert bound * 3 / 4 < max(delays) <= bound


def test_no_call_is_tried_sooner_than_the_server_asks() -> None:
    delays = _delays(RetryPolicy(), Fault(kind="limit", said="", retry_after_s=20.0), 1)
    assert 20.0 <= min(delays) < max(delays) <= 20.5


def test_a_server_that_asks_for_too_long_is_given_up() -> None:
    fault = Fault(kind="limit", said="", retry_after_s=121.0)
    assert RetryPolicy(max_wait_s=120).delay_s(fault, 1, random.Random(1)) is None


def test_the_last_attempt_is_the_last() -> None:
    fault = Fault(kind="server", said="")
    assert RetryPolicy(max_attempts=3).delay_s(fault, 2, random.Random(1)) is not None
    assert RetryPolicy(max_attempts=3).delay_s(fault, 3, random.Random(1)) is None


def test_a_timeout_after_a_quarter_of_an_hour_is_final_at_once() -> None:
    policy, rng = RetryPolicy(), random.Random(1)
    assert policy.delay_s(Fault(kind="timeout", said="", seconds=899.0), 1, rng) is not None
    assert policy.delay_s(Fault(kind="timeout", said="", seconds=1500.0), 1, rng) is None
    assert policy.delay_s(Fault(kind="dropped", said="", seconds=1500.0), 1, rng) is not None


def test_a_second_timeout_is_final() -> None:
    fault = Fault(kind="timeout", said="")
    assert RetryPolicy().delay_s(fault, 1, random.Random(1)) is not None
    assert RetryPolicy().delay_s(fault, 2, random.Random(1)) is None


@pytest.mark.parametrize("kind", sorted(ENDS_SETTING | {"request", "blocked", "internal"}))
def test_what_another_attempt_cannot_cure_is_not_tried_again(kind: FaultKind) -> None:
    assert kind not in RETRIED
    assert RetryPolicy().delay_s(Fault(kind=kind, said=""), 1, random.Random(1)) is None
