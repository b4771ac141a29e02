from __future__ import annotations

import time
from datetime import UTC, datetime
from pathlib import Path

import pytest

from resit.core.calling.client import Delta
from resit.core.calling.recorded_client import RecordedClient, RecordedFile, record
from resit.core.errors import ConfigError
from resit.core.records import Effort, Fault, Reply, Request, Usage

AT = datetime(2026, 11, 28, 9, 30, tzinfo=UTC)


def _request(prompt: str = "1+1?", model: str = "small", effort: Effort | None = None) -> Request:
    return Request("recorded", model, prompt, None, 50, effort, "default", "http://127.0.0.1:1")


def _reply(text: str, seconds: float = 2.0) -> Reply:
    return Reply(text=text, seconds=seconds, first_token_s=0.5, usage=Usage(input_tokens=9, output_tokens=3))


def _recording(*texts: str) -> RecordedFile:
    entries = [
        record(_request(), _reply(text), question="sum", run=number, recorded_at=AT, settings={"quant": "Q8_0"})
        for number, text in enumerate(texts, start=1)
    ]
    return RecordedFile(about="two small models", replies=tuple(entries))


async def _texts(client: RecordedClient, count: int) -> list[str]:
    replies = [await client.ask(_request()) for _ in range(count)]
    return [reply.text for reply in replies if isinstance(reply, Reply)]


async def test_repeats_get_their_own_replies_and_then_start_over() -> None:
    assert await _texts(RecordedClient(_recording("a", "b"), "demo"), 5) == ["a", "b", "a", "b", "a"]


async def test_a_saved_recording_plays_as_it_was_recorded(tmp_path: Path) -> None:
    path = tmp_path / "demo.json"
    _recording("two", "zwei ünd\u2028").save(path)
    client = RecordedClient.load(path)
    assert client.endpoint == "recorded:demo"
    assert await client.ask(_request()) == _reply("two")
    assert client.recording == _recording("two", "zwei ünd\u2028")
    assert client.recording.last_recorded_at == AT
    assert [setting.label for setting in client.recording.settings] == ["small default"]
    assert client.recording.replies[0].settings == {"max_tokens": 50, "server": "http://127.0.0.1:1", "quant": "Q8_0"}


@pytest.mark.parametrize(
    ("request_", "said"),
    [
        (_request("1+2?"), "no reply of small default to this prompt"),
        (_request(model="large"), "no replies of large default; it holds small default"),
        (_request(effort="high"), "no replies of small high"),
    ],
)
async def test_what_was_not_recorded_is_a_fault_that_says_so(request_: Request, said: str) -> None:
    found = await RecordedClient(_recording("a"), "demo").ask(request_)
    assert isinstance(found, Fault)
    assert found.kind == "request"
    assert said in found.said


async def test_a_pace_takes_a_share_of_the_recorded_time_and_hands_out_pieces() -> None:
    heard: list[Delta] = []
    client = RecordedClient(_recording("a longer reply, in pieces"), "demo", pace=0.1)
    start = time.perf_counter()
    reply = await client.ask(_request(), heard.append)
    taken = time.perf_counter() - start
    assert 0.19 < taken < 1.0
    assert isinstance(reply, Reply)
    assert reply.seconds == 2.0
    assert len(heard) > 1
    assert "".join(piece.text for piece in heard) == reply.text


async def test_an_empty_reply_can_be_played_to_a_listener() -> None:
    heard: list[Delta] = []
    assert await RecordedClient(_recording(""), "demo").ask(_request(), heard.append) == _reply("")
    assert heard == []


@pytest.mark.parametrize("text", ["", "[]", '{"about": "x"}', '{"about": "x", "replies": [{}]}', "\x00"])
def test_what_is_no_recording_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "x.json"
    path.write_text(text)
    with pytest.raises(ConfigError, match="not a recording"):
        RecordedClient.load(path)


def test_a_missing_recording_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"x\.json: the recording cannot be read"):
        RecordedClient.load(tmp_path / "x.json")
