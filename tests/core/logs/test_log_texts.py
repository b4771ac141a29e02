"""The words of a request, read from its log when they are wanted."""

from __future__ import annotations

from pathlib import Path

import pytest
from log_kit import FIXTURES, reply, result, scanned, tool_use, user, write

from resit.core.errors import ResitError
from resit.core.logs.texts import MAX_CHARS, read_texts


def test_every_request_of_the_real_logs_gives_its_words_back() -> None:
    found = scanned(FIXTURES).requests
    assert len(found) == 12
    for request in found:
        texts = read_texts(request)
        assert texts.prompt.startswith(request.first_line[:20])
        assert bool(texts.reply) == (request.reply_at is not None)
        assert request.prompt_chars == len(texts.prompt)


def test_a_file_that_was_read_is_attached_as_it_is_on_the_disk() -> None:
    request = next(r for r in scanned(FIXTURES / "claude").requests if r.first_line.startswith("What does"))
    (attached,) = read_texts(request).attached
    assert (attached.name, attached.text) == ("Read /home/user/project/invoice.txt", "alpha 12\nbeta 30\n")
    assert attached.from_tool


def test_the_reply_is_all_words_of_the_last_message_and_no_other(tmp_path: Path) -> None:
    rows = [
        user("Fix it"),
        reply("m1", "I will look", tool_use("t1", "Read", file_path="a.py")),
        result("t1", "x = 1"),
        reply("m2", "It is", number=5),
        reply("m2", "mended.", number=6),
        user("And now?", 9),
        reply("m3", "Nothing", number=10),
    ]
    first, _ = scanned(write(tmp_path / "s.jsonl", rows)).requests
    texts = read_texts(first)
    assert (texts.prompt, texts.reply) == ("Fix it", "It is\nmended.")
    assert [(each.name, each.text) for each in texts.attached] == [("Read a.py", "x = 1")]


def test_a_delegation_known_by_its_call_alone_gives_prompt_and_result(tmp_path: Path) -> None:
    sent = tool_use("t1", "Agent", description="Find", prompt="Find the file", subagent_type="Explore")
    told = {"status": "completed", "resolvedModel": "claude-haiku-5-5", "content": [{"type": "text", "text": "b.py"}]}
    rows = [user("Where is it?"), reply("m1", sent), result("t1", "noise", toolUseResult=told), reply("m2", "There")]
    delegated = next(r for r in scanned(write(tmp_path / "s.jsonl", rows)).requests if r.delegation)
    texts = read_texts(delegated)
    assert (texts.prompt, texts.reply) == ("Find the file", "b.py")


def test_an_attached_text_that_is_too_long_is_left_out_and_counted(tmp_path: Path) -> None:
    rows = [
        user("Fix it"),
        reply("m1", tool_use("t1", "Bash", command="cat a"), tool_use("t2", "Bash", command="cat b")),
        result("t1", "x" * (MAX_CHARS + 1)),
        result("t2", "short", 4),
        reply("m2", "ok", number=5),
    ]
    (request,) = scanned(write(tmp_path / "s.jsonl", rows)).requests
    texts = read_texts(request)
    assert ([each.text for each in texts.attached], texts.left_out) == (["short"], 1)


def test_a_log_that_is_gone_or_another_is_said_in_one_line(tmp_path: Path) -> None:
    path = write(tmp_path / "s.jsonl", [user("Fix it"), reply("m1", "ok")])
    (request,) = scanned(path).requests
    write(path, [user("Another thing altogether", uuid="u77"), reply("m9", "ok")])
    with pytest.raises(ResitError, match="no longer holds this request"):
        read_texts(request)
    path.unlink()
    with pytest.raises(ResitError, match="cannot be read"):
        read_texts(request)
