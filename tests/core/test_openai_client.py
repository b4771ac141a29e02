"""Against a chat-completions server on loopback: what is sent, to whom, and what is learnt from a refusal."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from mock_openai import EVENTS, ChatServer, Raw, chat, delta, failure
from resit.core.calling.client import Delta
from resit.core.calling.openai_client import OpenAIClient, chat_url, wire_name
from resit.core.calling.providers import make_client
from resit.core.config import Secret
from resit.core.endpoints import Endpoint, EndpointSource
from resit.core.errors import KeyMissing
from resit.core.records import Effort, Fault, Reply, Request, Usage

KEY = "sk-proj-planted-0123456789abcdef"


def request(
    prompt: str = "1+1?",
    *,
    model: str = "m",
    effort: Effort | None = None,
    off: bool = False,
    system: str | None = None,
    max_tokens: int = 200,
) -> Request:
    return Request("openai", model, prompt, system, max_tokens, effort, "off" if off else "default", "")


@asynccontextmanager
async def client_of(
    server: ChatServer, *, key: str | None = KEY, source: EndpointSource = "--base-url", warm: bool = False, **more: Any
) -> AsyncIterator[OpenAIClient]:
    async with server:
        secret = Secret(key, "environment") if key else None
        client = OpenAIClient(Endpoint(server.url, source, "SOME_KEY"), secret, warm=warm, **more)
        try:
            yield client
        finally:
            await client.close()


async def ask(*plans: Raw, what: Request | None = None, **more: Any) -> tuple[Reply | Fault, ChatServer]:
    server = ChatServer()
    server.next(*plans)
    async with client_of(server, **more) as client:
        return await client.ask(what or request()), server


async def test_what_is_sent_is_the_prompt_its_limit_and_nothing_the_setting_leaves_open() -> None:
    answer, server = await ask(chat("2"))
    assert isinstance(answer, Reply)
    assert (answer.text, answer.model) == ("2", "m")
    assert answer.usage == Usage(input_tokens=20, output_tokens=1)
    (call,) = server.calls
    assert call.path == "/v1/chat/completions"
    assert call.headers["authorization"] == f"Bearer {KEY}"
    assert call.body == {
        "model": "m",
        "messages": [{"role": "user", "content": "1+1?"}],
        "max_tokens": 200,
        "stream": True,
        "stream_options": {"include_usage": True},
    }


async def test_effort_system_text_and_thinking_off_are_sent_as_the_servers_take_them() -> None:
    _, server = await ask(chat(), what=request(effort="xhigh", system="Be brief."))
    assert server.calls[0].body["reasoning_effort"] == "xhigh"
    assert server.calls[0].body["messages"][0] == {"role": "system", "content": "Be brief."}
    _, server = await ask(chat(), what=request(off=True))
    assert server.calls[0].body["reasoning_effort"] == "none"
    assert server.calls[0].body["chat_template_kwargs"] == {"enable_thinking": False}


async def test_an_effort_and_thinking_off_together_are_refused_before_any_call() -> None:
    answer, server = await ask(what=request(effort="low", off=True))
    assert isinstance(answer, Fault)
    assert (answer.kind, "an effort or thinking off, not both" in answer.said) == ("request", True)
    assert not server.calls


async def test_half_a_surrogate_pair_in_a_prompt_is_sent_as_json_can_and_is_no_defect() -> None:
    answer, server = await ask(chat("2"), what=request("\ud83d \U0001f600 ü"))
    assert isinstance(answer, Reply)
    assert server.calls[0].prompt == "\ud83d \U0001f600 ü"


async def test_no_key_sends_no_key() -> None:
    _, server = await ask(chat(), key=None)
    assert "authorization" not in server.calls[0].headers


async def test_a_parameter_that_the_server_does_not_know_is_sent_in_its_other_form_and_remembered() -> None:
    refusal = {
        "error": {
            "message": "Unsupported parameter: 'max_tokens' is not supported with this model. "
            "Use 'max_completion_tokens' instead.",
            "code": "unsupported_parameter",
        }
    }
    server = ChatServer()
    server.next(failure(400, refusal), chat("2"), chat("3"))
    async with client_of(server) as client:
        first, second = await client.ask(request()), await client.ask(request())
    assert isinstance(first, Reply)
    assert isinstance(second, Reply)
    limits = [{name for name in call.body if name.startswith("max")} for call in server.calls]
    assert limits == [{"max_tokens"}, {"max_completion_tokens"}, {"max_completion_tokens"}]


async def test_many_calls_that_meet_the_same_refusal_all_go_through() -> None:
    refusal = failure(422, {"detail": "max_tokens: Extra inputs are not permitted"})
    server = ChatServer()
    server.next(*[refusal] * 5)
    async with client_of(server) as client:
        answers = await asyncio.gather(*(client.ask(request(str(n))) for n in range(5)))
    assert all(isinstance(answer, Reply) for answer in answers), answers


async def test_a_server_that_knows_no_stream_options_is_asked_without_and_its_usage_is_unknown() -> None:
    answer, server = await ask(
        failure(400, {"error": "unknown field stream_options"}), Raw(delta("stop", content="2") + b"data: [DONE]\n\n")
    )
    assert isinstance(answer, Reply)
    assert answer.usage == Usage()
    assert ["stream_options" in call.body for call in server.calls] == [True, False]


async def test_a_server_that_refuses_both_forms_is_told_and_not_asked_for_ever() -> None:
    refusal = failure(400, {"error": "unsupported: max_tokens, max_completion_tokens"})
    answer, server = await ask(*[refusal] * 9)
    assert isinstance(answer, Fault)
    assert answer.kind == "request"
    assert len(server.calls) == 3


async def test_an_effort_that_is_refused_is_never_left_out_in_silence() -> None:
    refused = {"error": {"message": "Unsupported parameter: 'reasoning_effort'", "code": "unsupported_parameter"}}
    answer, server = await ask(failure(400, refused), what=request(effort="low"))
    assert isinstance(answer, Fault)
    assert "reasoning_effort" in answer.said
    assert len(server.calls) == 1


async def test_pieces_are_heard_as_they_come() -> None:
    heard: list[Delta] = []
    server = ChatServer()
    server.next(Raw(delta(reasoning="17", content="4") + delta("stop", content="2") + b"data: [DONE]\n\n"))
    async with client_of(server) as client:
        await client.ask(request(), heard.append)
    assert heard == [Delta("thinking", "17"), Delta("text", "4"), Delta("text", "2")]


async def test_a_reply_that_never_ends_is_cut_and_what_came_of_it_is_kept() -> None:
    answer, _ = await ask(Raw(delta(content="na" * 5000), ends="endless"), what=request(max_tokens=10))
    assert isinstance(answer, Reply)
    assert (answer.stop, answer.stop_detail) == ("cut_off", "the server knows no max_tokens; the rest was not read")
    assert 1_000_000 < len(answer.text) < 1_100_000


async def test_a_line_that_never_ends_is_given_up() -> None:
    answer, _ = await ask(Raw(b"data: " + b"x" * 1_000_000, ends="endless"))
    assert isinstance(answer, Fault)
    assert (answer.kind, "no reply" in answer.said) == ("server", True)


async def test_a_page_that_never_ends_is_given_up() -> None:
    answer, _ = await ask(Raw(b"<" * 1_000_000, 500, "text/html", ends="endless"))
    assert isinstance(answer, Fault)
    assert answer.said == "the server failed (500)"


async def test_bytes_that_are_no_text_do_not_lose_the_reply() -> None:
    answer, _ = await ask(Raw(delta("stop", content="42").replace(b"42", b"4\xff2") + b"data: [DONE]\n\n"))
    assert isinstance(answer, Reply)
    assert answer.text == "4\ufffd2"


async def test_silence_in_mid_reply_and_silence_before_it_are_timeouts_that_say_so() -> None:
    answer, _ = await ask(Raw(delta(content="The "), ends="hang"), stall_s=0.05, timeout_s=30.0)
    assert isinstance(answer, Fault)
    assert (answer.kind, answer.said) == ("timeout", "m fell silent for 0.05 s in mid-reply")
    answer, _ = await ask(Raw(kind=EVENTS, ends="hang"), timeout_s=0.2)
    assert isinstance(answer, Fault)
    assert (answer.kind, "was not done after 0.2 s" in answer.said) == ("timeout", True)


async def test_usage_that_came_before_a_break_is_kept_with_the_fault() -> None:
    told = delta(content="The ")[:-3] + b', "usage": {"prompt_tokens": 9, "completion_tokens": 4}}\n\n'
    answer, _ = await ask(Raw(told, ends="cut"))
    assert isinstance(answer, Fault)
    assert answer.usage == Usage(input_tokens=9, output_tokens=4)


async def test_a_key_that_the_server_repeats_is_hidden() -> None:
    answer, _ = await ask(failure(401, {"error": {"message": f"bad key {KEY} and {KEY[8:24]}"}}))
    assert isinstance(answer, Fault)
    assert "planted" not in answer.said
    assert "SOME_KEY (401)" in answer.said


@pytest.mark.parametrize(
    ("base_url", "url"),
    [
        ("https://api.openai.com", "https://api.openai.com/v1/chat/completions"),
        ("https://openrouter.ai/api", "https://openrouter.ai/api/v1/chat/completions"),
        ("https://api.z.ai/api/paas/v4", "https://api.z.ai/api/paas/v4/chat/completions"),
        (
            "https://generativelanguage.googleapis.com/v1beta/openai",
            "https://generativelanguage.googleapis.com/v1beta/openai/chat/completions",
        ),
    ],
)
def test_the_version_is_added_unless_the_base_url_names_its_own(base_url: str, url: str) -> None:
    assert chat_url(base_url) == url


def test_the_name_that_says_where_a_model_is_stays_here() -> None:
    local = Endpoint("http://127.0.0.1:11434", "model name", None)
    assert wire_name("ollama/llama3.2", local) == "llama3.2"
    assert wire_name("vllm/org/model", Endpoint("http://box:8000", "--base-url", None)) == "org/model"
    assert wire_name("openai/gpt-5", local) == "openai/gpt-5"
    assert wire_name("ollama/llama3.2", Endpoint("http://proxy:4000", "models.toml", None)) == "ollama/llama3.2"


async def test_openais_own_server_is_never_asked_without_a_key(tmp_path: Any) -> None:
    official = Endpoint("https://api.openai.com", "default", "OPENAI_API_KEY")
    with pytest.raises(KeyMissing, match="OPENAI_API_KEY"):
        make_client("openai", official, cwd=tmp_path, models={}, environ={})
    answer = await OpenAIClient(official, None).ask(request())
    assert isinstance(answer, Fault)
    assert answer.kind == "key"


# --- a local model is loaded before it is timed


async def test_a_local_model_is_warmed_up_once_before_its_first_questions() -> None:
    gate = asyncio.Event()
    server = ChatServer()
    server.next(Raw(chat().body, gate=gate))
    async with client_of(server, key=None, warm=True) as client:
        asking = [asyncio.create_task(client.ask(request(str(n)))) for n in range(3)]
        await asyncio.wait_for(server.arrived.wait(), 10)
        for _ in range(20):
            await asyncio.sleep(0)
        assert [call.body["max_tokens"] for call in server.calls] == [1]
        await asyncio.sleep(0.05)
        gate.set()
        answers = await asyncio.gather(*asking)
        later = await client.ask(request("later"))
    replies = [answer for answer in (*answers, later) if isinstance(answer, Reply)]
    assert len(replies) == 4
    assert len(server.calls) == 5
    (warm_up_s,) = [reply.warm_up_s for reply in replies if reply.warm_up_s is not None]
    assert warm_up_s >= 0.05
    assert all(reply.usage.input_tokens == 20 for reply in replies)


async def test_each_model_of_a_local_server_is_warmed_up_by_itself() -> None:
    server = ChatServer()
    async with client_of(server, key=None, warm=True) as client:
        for model in ("a", "b", "a"):
            await client.ask(request(model=model))
    assert [(call.body["model"], call.body["max_tokens"]) for call in server.calls] == [
        ("a", 1), ("a", 200), ("b", 1), ("b", 200), ("a", 200),
    ]  # fmt: skip


async def test_a_local_server_that_does_not_run_ends_the_setting_and_says_what_to_start() -> None:
    async with ChatServer() as server:
        url = server.url
    client = OpenAIClient(Endpoint(url, "model name", None), None)
    answer = await client.ask(request())
    await client.close()
    assert isinstance(answer, Fault)
    assert answer.kind == "model"
    assert answer.said == f"nothing listens at {url}; start the server, then run the same command again"


async def test_a_warm_up_that_fails_is_the_fault_of_its_question_and_tried_again_with_the_next() -> None:
    server = ChatServer()
    server.next(failure(503, {"error": {"message": "Loading model"}}))
    async with client_of(server, key=None, warm=True) as client:
        first, second = await client.ask(request()), await client.ask(request())
    assert isinstance(first, Fault)
    assert first.kind == "overloaded"
    assert isinstance(second, Reply)


async def test_a_proxy_of_the_network_is_not_asked_for_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    answer, _ = await ask(chat("2"))
    assert isinstance(answer, Reply)
