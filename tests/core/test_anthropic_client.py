"""Against a real server on loopback: what is sent, what comes back, and every way it can fail."""

from __future__ import annotations

import asyncio
import sys
import time
import warnings
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Any

import pytest

from mock_server import Answer, Failure, MockServer, Plan
from resit.core.calling.anthropic_client import AnthropicClient
from resit.core.calling.client import Delta
from resit.core.calling.models import TABLE
from resit.core.calling.providers import make_client
from resit.core.config import Secret
from resit.core.endpoints import Endpoint
from resit.core.errors import ConfigError, KeyMissing
from resit.core.records import Effort, Fault, FaultKind, Reply, Request, Stop, Usage

KEY = "sk-ant-api03-Qz7vT1xLm9Wd_4KpRb2NfHs8Yc"
NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)


def _request(
    prompt: str = "1+1?",
    *,
    model: str = "claude-haiku-5-5",
    effort: Effort | None = None,
    off: bool = False,
    system: str | None = None,
) -> Request:
    return Request("anthropic", model, prompt, system, 200, effort, "off" if off else "default", "")


@asynccontextmanager
async def _client(server: MockServer, **options: Any) -> AsyncIterator[AnthropicClient]:
    async with server:
        client = AnthropicClient(
            Endpoint(server.url, "--base-url"), Secret(KEY, "environment"), models=TABLE, clock=lambda: NOW, **options
        )
        try:
            yield client
        finally:
            await client.close()


async def _ask(plan: Plan, request: Request | None = None, **options: Any) -> Reply | Fault:
    server = MockServer()
    server.next(plan)
    async with _client(server, **options) as client:
        return await client.ask(request or _request())


async def _reply(plan: Plan) -> Reply:
    found = await _ask(plan)
    assert isinstance(found, Reply), found
    return found


async def _fault(plan: Plan, **options: Any) -> Fault:
    found = await _ask(plan, **options)
    assert isinstance(found, Fault), found
    return found


async def _until(true: Callable[[], bool]) -> None:
    for _ in range(500):
        if true():
            return
        await asyncio.sleep(0.01)
    raise AssertionError("it did not happen within 5 s")


async def test_a_reply_comes_back_untouched_with_what_the_server_said_about_it() -> None:
    usage = {
        "input_tokens": 30,
        "cache_creation_input_tokens": 5,
        "cache_read_input_tokens": 7,
        "output_tokens": 90,
        "output_tokens_details": {"thinking_tokens": 60},
    }
    text = " **408**\n\u202e naïve 👩‍👩‍👧 \x1b[2J\t\n"
    reply = await _reply(Answer(text, thinking="17 times 24", usage=usage))
    assert reply.text == text
    assert reply.thinking == "17 times 24"
    assert reply.usage == Usage(
        input_tokens=30, cache_write_tokens=5, cache_read_tokens=7, output_tokens=90, thinking_tokens=60
    )
    assert (reply.model, reply.request_id, reply.stop) == ("claude-haiku-5-5", "req_mock000001", "end")


async def test_time_is_that_of_the_answer_and_of_its_first_piece() -> None:
    reply = await _reply(Answer("x" * 80, piece_s=0.02))
    assert reply.first_token_s is not None
    assert reply.seconds is not None
    assert 0.02 <= reply.first_token_s < reply.seconds
    assert 0.2 <= reply.seconds < 2.0


async def test_pieces_are_heard_as_they_come() -> None:
    server, heard = MockServer(), list[tuple[float, Delta]]()
    server.next(Answer("a reply in several pieces", thinking="first thoughts", piece_s=0.01))
    async with _client(server) as client:
        reply = await client.ask(_request(), lambda piece: heard.append((time.perf_counter(), piece)))
    assert isinstance(reply, Reply)
    for kind, whole in (("text", reply.text), ("thinking", reply.thinking)):
        assert "".join(piece.text for _, piece in heard if piece.kind == kind) == whole
    assert heard[-1][0] - heard[0][0] > 0.03


@pytest.mark.parametrize(
    ("reason", "details", "stop", "detail"),
    [
        ("end_turn", None, "end", ""),
        ("stop_sequence", None, "end", ""),
        ("max_tokens", None, "cut_off", ""),
        ("model_context_window_exceeded", None, "context_full", ""),
        ("refusal", {"type": "refusal", "category": "bio"}, "refused", "bio"),
        ("refusal", None, "refused", ""),
        ("pause_turn", None, "end", "pause_turn"),
        ("a_newer_one", None, "end", "a_newer_one"),
    ],
)
async def test_reasons_to_stop_are_told_apart(
    reason: str, details: dict[str, Any] | None, stop: Stop, detail: str
) -> None:
    reply = await _reply(Answer("half", stop_reason=reason, stop_details=details))
    assert (reply.text, reply.stop, reply.stop_detail) == ("half", stop, detail)


async def test_a_reply_without_content_is_empty_and_no_error() -> None:
    reply = await _reply("empty")
    assert (reply.text, reply.stop, reply.first_token_s) == ("", "end", None)
    assert reply.usage.input_tokens == 20


async def test_tokens_the_server_does_not_count_are_not_counted_as_none() -> None:
    reply = await _reply(Answer(usage=dict.fromkeys(("input_tokens", "cache_read_input_tokens"))))
    assert reply.usage.input_tokens is None
    assert reply.usage.cache_read_tokens is None


async def test_half_a_surrogate_pair_can_be_written_to_a_file() -> None:
    reply = await _reply(Answer("a\ud83d b"))
    assert reply.text == "a\ufffd b"


SENT = [
    (_request(), {}),
    (_request(system="Be brief."), {"system": "Be brief."}),
    (_request(effort="low"), {"output_config": {"effort": "low"}}),
    (_request(off=True), {"thinking": {"type": "disabled"}}),
    (_request(off=True, model="claude-sonnet-5-5"), {"thinking": {"type": "between_tools"}}),
    (_request(off=True, model="local-model"), {"thinking": {"type": "disabled"}}),
]


@pytest.mark.parametrize(("request_", "extra"), SENT)
async def test_only_what_the_setting_says_is_sent(request_: Request, extra: dict[str, Any]) -> None:
    server = MockServer()
    async with _client(server) as client:
        assert isinstance(await client.ask(request_), Reply)
    assert server.calls[0].body == {
        "model": request_.model,
        "max_tokens": 200,
        "messages": [{"role": "user", "content": "1+1?"}],
        "stream": True,
        **extra,
    }
    assert server.calls[0].key == KEY


@pytest.mark.parametrize(
    ("request_", "said"),
    [
        (_request(off=True, model="claude-opus-5-5"), "always thinks"),
        (_request(off=True, effort="max"), "cannot turn thinking off at effort max"),
    ],
)
async def test_what_a_model_cannot_do_is_refused_before_the_call(request_: Request, said: str) -> None:
    server = MockServer()
    async with _client(server) as client:
        fault = await client.ask(request_)
    assert isinstance(fault, Fault)
    assert fault.kind == "request"
    assert said in fault.said
    assert server.stats.requests == 0


OVERLOADED = Failure(529, "overloaded_error", "Overloaded")
DATED = {"retry-after": "Mon, 30 Nov 2026 12:00:08 GMT"}
FAULTS: list[tuple[Plan, FaultKind, str]] = [
    (Failure(401, "authentication_error", f"invalid x-api-key: {KEY}"), "key", "refuses ANTHROPIC_API_KEY (401)"),
    (Failure(402, "billing_error", "pay"), "billing", "no credit left"),
    (Failure(403, "permission_error", "no"), "key", "may not use claude-haiku-5-5 (403)"),
    (Failure(404, "not_found_error", "model: claude-haiku-5-5"), "model", "knows no model claude-haiku-5-5 (404)"),
    (Failure(404, body=b"<html>nginx</html>"), "model", "check the base URL"),
    (Failure(400, "invalid_request_error", "bad"), "request", "refuses the request (400): bad"),
    (Failure(429, "rate_limit_error", "slow down", {"retry-after": "7"}), "limit", "asked to wait 7 s"),
    (Failure(429, "rate_limit_error", "slow down", DATED), "limit", "asked to wait 8 s"),
    (Failure(429, "rate_limit_error", "usage limit reached", {"retry-after": "3600"}), "quota", "free again at 13:00"),
    (Failure(500, "api_error", "oops"), "server", "the server failed (500): oops"),
    (Failure(502, body=b"<html>bad gateway</html>"), "overloaded", "overloaded (502)"),
    (OVERLOADED, "overloaded", "claude-haiku-5-5 is overloaded (529)"),
    (Failure(302, headers={"location": "http://127.0.0.1:9/"}), "request", "sends calls elsewhere (302)"),
    ("reset", "dropped", "was dropped before a reply"),
    ("cut", "dropped", "was dropped in mid-reply"),
    ("sse_error", "overloaded", "overloaded (in mid-stream): Overloaded"),
    ("garbage", "server", "not with a reply (200); check the base URL"),
    ("nothing", "server", "sent nothing at all (200)"),
    ("half_json", "server", "something that is no reply"),
    (Failure(200, "rate_limit_error", "limit in disguise"), "limit", "rate limit met"),
]


@pytest.mark.parametrize(("plan", "kind", "said"), FAULTS)
async def test_every_failure_is_a_fault_with_its_own_line(plan: Plan, kind: FaultKind, said: str) -> None:
    fault = await _fault(plan)
    assert (fault.kind, said in fault.said) == (kind, True), fault
    assert "\n" not in fault.said
    assert fault.seconds is not None


async def test_the_waiting_time_and_the_request_id_are_kept() -> None:
    fault = await _fault(Failure(429, "rate_limit_error", "slow down", {"retry-after": "7"}))
    assert (fault.retry_after_s, fault.status, fault.request_id) == (7.0, 429, "req_mock000001")


async def test_what_was_billed_before_a_reply_broke_off_is_kept() -> None:
    fault = await _fault("cut")
    assert fault.usage is not None
    assert fault.usage.input_tokens == 20


@pytest.mark.parametrize("plan", ["late_cut", "late_noise", "no_stop"])
async def test_a_reply_that_was_whole_before_the_stream_broke_is_a_reply(plan: Plan) -> None:
    reply = await _reply(plan)
    assert (reply.text, reply.stop) == ("half an answer", "end")


async def test_without_a_key_anthropic_is_not_called_at_all() -> None:
    fault = await AnthropicClient(Endpoint("https://api.anthropic.com", "default"), None).ask(_request())
    assert isinstance(fault, Fault)
    assert (fault.kind, "ANTHROPIC_API_KEY is not set" in fault.said) == ("key", True)


async def test_a_failed_call_is_tried_once() -> None:
    server = MockServer()
    server.next(OVERLOADED, OVERLOADED)
    async with _client(server) as client:
        assert isinstance(await client.ask(_request()), Fault)
    assert server.stats.requests == 1


async def test_a_server_that_is_not_there_is_named() -> None:
    client = AnthropicClient(Endpoint("http://127.0.0.1:9", "--base-url"), None)
    fault = await client.ask(_request())
    await client.close()
    assert isinstance(fault, Fault)
    assert fault.kind == "dropped"
    assert "http://127.0.0.1:9 cannot be reached" in fault.said


async def test_a_model_that_does_not_answer_in_time_is_a_timeout() -> None:
    start = time.perf_counter()
    fault = await _fault("hang", timeout_s=0.3)
    assert fault.kind == "timeout"
    assert "was not done after 0.3 s" in fault.said
    assert time.perf_counter() - start < 5


async def test_a_reply_that_falls_silent_is_a_timeout_long_before_the_limit() -> None:
    fault = await _fault("stall", timeout_s=60, stall_s=0.2)
    assert fault.kind == "timeout"
    assert "fell silent for 0.2 s in mid-reply" in fault.said


async def test_a_slow_but_steady_reply_is_not_silent() -> None:
    assert isinstance(await _ask(Answer("x" * 120, piece_s=0.05), stall_s=0.3), Reply)


async def test_a_cancelled_call_lets_go_of_the_connection() -> None:
    server = MockServer()
    server.next("hang")
    async with _client(server) as client:
        call = asyncio.create_task(client.ask(_request()))
        await _until(lambda: server.stats.requests == 1)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        await _until(lambda: server.stats.dropped_by_client == 1)
        assert isinstance(await client.ask(_request()), Reply)


async def test_a_listener_that_fails_is_a_defect_and_not_the_servers_fault() -> None:
    def broken(_: Delta) -> None:
        raise ValueError("in a front end")

    async with _client(MockServer()) as client:
        with pytest.raises(ValueError, match="front end"):
            await client.ask(_request(), broken)


async def test_connections_are_kept_for_the_next_call() -> None:
    server = MockServer(latency_s=0.01)
    async with _client(server, concurrency=4) as client:
        for _ in range(5):
            replies = await asyncio.gather(*[client.ask(_request(f"[q{n}]")) for n in range(4)])
            assert all(isinstance(reply, Reply) for reply in replies)
    assert server.stats.connections == 4
    assert server.stats.max_in_flight == 4


async def test_a_deprecated_model_warns_nobody_on_the_screen(capfd: pytest.CaptureFixture[str]) -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert isinstance(await _ask(Answer("2"), _request(model="claude-sonnet-4-5")), Reply)
    assert [w for w in caught if "deprecated" in str(w.message)] == []
    assert capfd.readouterr() == ("", "")


async def test_the_environments_address_and_key_are_never_used_by_themselves(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "from-the-environment")
    server = MockServer()
    async with server:
        client = AnthropicClient(Endpoint(server.url, "models.toml", None), None)
        assert isinstance(await client.ask(_request()), Reply)
        await client.close()
    assert server.calls[0].key == "none"
    assert "from-the-environment" not in str(server.calls[0].headers)


async def test_no_character_of_a_key_comes_back() -> None:
    server = MockServer()
    plans = [Failure(s, "api_error", f"you sent {KEY} and {KEY[:18]}", {"request-id": KEY}) for s in (400, 401, 500)]
    server.next(*plans, Failure(429, body=KEY.encode()), Failure(200, body=KEY.encode()))
    async with _client(server) as client:
        found = [await client.ask(_request()) for _ in range(5)]
        shown = repr(found) + repr(client) + repr(vars(client))
    shown += "".join(f.model_dump_json() for f in found)
    assert not any(KEY[at : at + 8] in shown for at in range(len(KEY) - 7))


async def test_a_token_in_a_header_of_the_environment_does_not_come_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_CUSTOM_HEADERS", "X-Team: red\nX-Gateway: Bearer gw_4f9c2e71ab")
    fault = await _fault(Failure(500, "api_error", "gateway: Bearer gw_4f9c2e71ab refused by red"))
    assert fault.said.endswith("gateway: Bearer [key hidden] refused by red")


async def test_a_closed_client_can_be_used_again() -> None:
    server = MockServer()
    async with _client(server) as client:
        assert isinstance(await client.ask(_request()), Reply)
        await client.close()
        assert isinstance(await client.ask(_request()), Reply)


def test_no_key_is_said_with_its_name_before_any_call(tmp_path: Any) -> None:
    official = Endpoint("https://api.anthropic.com", "default")
    with pytest.raises(KeyMissing, match="ANTHROPIC_API_KEY is neither in the environment nor"):
        make_client("anthropic", official, cwd=tmp_path, models=TABLE, environ={})
    make_client("anthropic", official, cwd=tmp_path, models=TABLE, environ={"ANTHROPIC_API_KEY": KEY})


def test_a_local_server_needs_no_key(tmp_path: Any) -> None:
    make_client("anthropic", Endpoint("http://127.0.0.1:9", "--base-url"), cwd=tmp_path, models=TABLE, environ={})


def test_a_key_that_models_toml_names_must_be_there(tmp_path: Any) -> None:
    named = Endpoint("http://127.0.0.1:9", "models.toml", "TEAM_KEY")
    with pytest.raises(KeyMissing, match="TEAM_KEY is neither in the environment nor"):
        make_client("anthropic", named, cwd=tmp_path, models=TABLE, environ={})
    make_client("anthropic", named, cwd=tmp_path, models=TABLE, environ={"TEAM_KEY": KEY})


def test_an_unknown_provider_is_named(tmp_path: Any) -> None:
    with pytest.raises(ConfigError, match="unknown provider 'openia': it can be anthropic"):
        make_client("openia", Endpoint("http://127.0.0.1:9", "default"), cwd=tmp_path, models=TABLE)


def test_making_a_client_does_not_load_the_sdk(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [n for n in sys.modules if n.split(".")[0] == "anthropic"]:
        monkeypatch.delitem(sys.modules, name)
    AnthropicClient(Endpoint("http://127.0.0.1:9", "--base-url"), None)
    assert "anthropic" not in sys.modules
