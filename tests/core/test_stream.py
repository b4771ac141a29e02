from __future__ import annotations

import json
from typing import Any

import pytest

from resit.core.calling.client import Delta
from resit.core.calling.stream import ReplyStream
from resit.core.records import Usage


def _take(stream: ReplyStream, **event: Any) -> Delta | None:
    return stream.take(json.dumps(event))


def _text(stream: ReplyStream, text: str) -> Delta | None:
    return _take(stream, type="content_block_delta", index=0, delta={"type": "text_delta", "text": text})


def test_a_stream_without_its_end_is_not_complete() -> None:
    stream = ReplyStream(watched=False)
    _take(stream, type="message_start", message={"model": "m", "usage": {"input_tokens": 3}})
    _text(stream, "half")
    stream.end()
    assert stream.started
    assert not stream.complete
    assert stream.usage_so_far() == Usage(input_tokens=3)


def test_text_in_several_blocks_is_one_text() -> None:
    stream = ReplyStream(watched=False)
    _take(stream, type="content_block_start", index=0, content_block={"type": "text", "text": "a"})
    _text(stream, "b")
    _take(stream, type="content_block_start", index=1, content_block={"type": "text", "text": ""})
    _text(stream, "c")
    assert stream.reply().text == "abc"


def test_signatures_and_unknown_events_are_passed_over() -> None:
    stream = ReplyStream(watched=True)
    assert _take(stream, type="a_newer_event", payload=[1]) is None
    assert _take(stream, type="content_block_delta", delta={"type": "signature_delta", "signature": "x"}) is None
    assert _take(stream, type="content_block_start", content_block={"type": "redacted_thinking", "data": "x"}) is None
    assert stream.take("[DONE]") is None
    assert (stream.reply().text, stream.first_token_s) == ("", None)


def test_pieces_are_handed_back_only_when_watched() -> None:
    assert _text(ReplyStream(watched=False), "a") is None
    assert _text(ReplyStream(watched=True), "a") == Delta("text", "a")


def test_later_counts_replace_earlier_ones_and_keep_what_they_leave_out() -> None:
    stream = ReplyStream(watched=False)
    _take(stream, type="message_start", message={"usage": {"input_tokens": 3, "output_tokens": 1}})
    delta = {"stop_reason": "end_turn"}
    _take(stream, type="message_delta", delta=delta, usage={"output_tokens": 9, "input_tokens": None})
    assert stream.reply().usage == Usage(input_tokens=3, output_tokens=9)


def test_halves_of_a_surrogate_pair_in_two_pieces_are_one_character() -> None:
    stream = ReplyStream(watched=False)
    _text(stream, "\ud83d")
    _text(stream, "\ude00")
    assert stream.reply().text == "😀"


@pytest.mark.parametrize(
    "data",
    ["", "{", "[]", "null", "7", "{}", '{"type": "message_start"}', '{"type": "content_block_delta", "delta": 1}'],
)
def test_what_is_no_event_raises_one_of_the_errors_that_are_told(data: str) -> None:
    with pytest.raises((ValueError, KeyError, TypeError, AttributeError)):
        ReplyStream(watched=False).take(data)


def test_counts_that_are_no_numbers_are_not_kept_with_a_fault() -> None:
    stream = ReplyStream(watched=False)
    _take(stream, type="message_start", message={"usage": {"input_tokens": "many", "output_tokens_details": 3}})
    assert stream.usage_so_far() is None


@pytest.mark.parametrize("count", [-1, 10**30, "many", 1.5])
def test_a_reply_is_kept_though_its_counts_cannot_be_read(count: object) -> None:
    stream = ReplyStream(watched=False)
    _take(stream, type="message_start", message={"usage": {"input_tokens": count}})
    _text(stream, "42")
    assert (stream.reply().text, stream.reply().usage) == ("42", Usage())
