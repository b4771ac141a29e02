"""What the logs of Codex and Gemini, exports, and plain lines mean."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest
from log_kit import FIXTURES, at, codex, counted, scanned, write

from resit.core.logs import lines
from resit.core.logs.texts import read_texts

META = codex("session_meta", id="c1", cwd="/home/user/project", model_provider="openai")
TURN = codex("turn_context", turn_id="t1", model="gpt-6-sol", effort="high", cwd="/home/user/project")


def asked(text: str, second: int = 2) -> dict[str, Any]:
    return codex("event_msg", second, type="user_message", message=text)


def said(text: str, second: int = 4) -> dict[str, Any]:
    content = [{"type": "output_text", "text": text}]
    return codex("response_item", second, type="message", role="assistant", content=content)


# ---- Codex -----------------------------------------------------------------------------------------------------------


def test_real_codex_sessions_say_model_level_tools_and_tokens() -> None:
    index = scanned(FIXTURES / "codex")
    shell, plain = index.requests
    assert (shell.model, shell.effort, shell.tools, shell.calls) == ("fake-large", "low", ("exec_command",), 2)
    assert (shell.usage.input_tokens, shell.usage.output_tokens) == (10_644, 40)
    assert (plain.first_line.split("?")[0], plain.calls) == ("What is 17 * 24", 1)
    # The third failed with 429: no model answered it.
    assert (index.unanswered, index.unknown_lines) == (1, {})


def test_a_count_that_codex_sends_again_is_no_call(tmp_path: Path) -> None:
    rows = [
        META,
        TURN,
        asked("Fix it"),
        counted(3, 100, 100),
        counted(4, 100, 100),
        counted(5, 250, 150),
        said("ok", 6),
    ]
    (request,) = scanned(write(tmp_path / "rollout-1.jsonl", rows)).requests
    assert (request.calls, request.usage.input_tokens) == (2, 250)


def test_a_level_that_codex_does_not_name_is_no_level(tmp_path: Path) -> None:
    turn = codex("turn_context", turn_id="t1", model="gpt-6-sol")
    (request,) = scanned(write(tmp_path / "r.jsonl", [META, turn, asked("Fix it"), counted(3, 9, 9)])).requests
    assert (request.model, request.effort) == ("gpt-6-sol", None)


def test_what_a_forked_session_copied_from_its_parent_is_counted_once(tmp_path: Path) -> None:
    write(tmp_path / "rollout-a.jsonl", [META, TURN, asked("Fix it"), counted(3, 100, 100), said("ok")])
    fork = codex("session_meta", id="c2", cwd="/home/user/project", model_provider="openai", forked_from_id="c1")
    copied = [asked("Fix it", 50), counted(50, 100, 100), said("ok", 50)]
    own = [asked("Test it", 60), counted(61, 300, 200), said("passes", 62)]
    write(tmp_path / "rollout-b.jsonl", [fork, META, TURN, *copied, *own])
    found = scanned(tmp_path).requests
    assert [(r.first_line, r.session, r.usage.input_tokens) for r in found] == [
        ("Fix it", "c1", 100), ("Test it", "c2", 200),
    ]  # fmt: skip


def test_two_sessions_in_which_the_same_was_asked_are_two_requests(tmp_path: Path) -> None:
    for name in ("c1", "c2"):
        meta = codex("session_meta", id=name, cwd="/p", model_provider="openai")
        write(tmp_path / f"rollout-{name}.jsonl", [meta, TURN, asked("Fix it"), counted(3, 100, 100), said("ok")])
    assert len(scanned(tmp_path).requests) == 2


def test_a_session_that_codex_spawned_is_a_delegation(tmp_path: Path) -> None:
    source = {"subagent": {"thread_spawn": {"parent_thread_id": "c1", "agent_role": "explorer"}}}
    meta = codex("session_meta", id="c2", cwd="/p", model_provider="openai", source=source)
    (request,) = scanned(write(tmp_path / "r.jsonl", [meta, TURN, asked("Find it"), counted(3, 9, 9)])).requests
    assert request.delegation is not None
    assert (request.delegation.agent_type, request.kind) == ("explorer", "explorer")


def test_what_codex_puts_before_a_persons_words_is_no_request(tmp_path: Path) -> None:
    context = [{"type": "input_text", "text": "<environment_context>\n<cwd>/p</cwd></environment_context>"}]
    program = codex("response_item", 2, type="message", role="user", content=context)
    typed = [{"type": "input_text", "text": "Fix it"}]
    person = codex("response_item", 2, type="message", role="user", content=typed)
    rows = [META, TURN, program, person, asked("Fix it"), counted(3, 9, 9), said("ok")]
    index = scanned(write(tmp_path / "r.jsonl", rows))
    assert [r.first_line for r in index.requests] == ["Fix it"]
    assert index.unanswered == 0


# ---- Gemini ----------------------------------------------------------------------------------------------------------


def test_a_reply_that_gemini_tells_twice_is_one_call() -> None:
    (request,) = scanned(FIXTURES / "gemini").requests
    assert (request.tool, request.model, request.calls, request.tools) == (
        "gemini", "gemini-3.8-flash", 2, ("read_file",),
    )  # fmt: skip
    assert (request.usage.input_tokens, request.usage.output_tokens, request.project) == (252, 8, "project")


def test_an_older_chat_of_gemini_is_one_object(tmp_path: Path) -> None:
    tokens = {"input": 100, "cached": 60, "output": 7, "thoughts": 3, "tool": 0, "total": 110}
    messages = [
        {"id": "1", "timestamp": at(1), "type": "user", "content": "Explain it"},
        {
            "id": "2",
            "timestamp": at(2),
            "type": "gemini",
            "content": "so",
            "model": "gemini-3.8-flash",
            "tokens": tokens,
        },
    ]
    path = tmp_path / "session-1.json"
    path.write_text(json.dumps({"sessionId": "g", "projectHash": "h", "messages": messages}, indent=2))
    (request,) = scanned(tmp_path).requests
    usage = request.usage
    assert (usage.input_tokens, usage.cache_read_tokens, usage.output_tokens, usage.thinking_tokens) == (40, 60, 10, 3)
    texts = read_texts(request)
    assert (texts.prompt, texts.reply) == ("Explain it", "so")


# ---- exports ---------------------------------------------------------------------------------------------------------


def claude_ai(number: int = 0, text: str = "Übersetze den Brief 📬") -> dict[str, Any]:
    file = {"file_name": "brief.txt", "extracted_content": "Dear Sir"}
    asks: dict[str, Any] = {
        "uuid": f"h{number}",
        "sender": "human",
        "text": text,
        "created_at": at(number),
        "attachments": [file],
    }
    says: dict[str, Any] = {"uuid": f"a{number}", "sender": "assistant", "text": "", "created_at": at(number + 1)}
    says["content"] = [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": f"Sehr geehrter {number}"}]
    return {"uuid": f"c{number}", "name": "Brief", "created_at": at(0), "chat_messages": [asks, says]}


def node(name: str, role: str, text: str, children: list[str], **about: Any) -> dict[str, Any]:
    content = {"content_type": "text", "parts": [text]}
    message = {
        "id": name,
        "author": {"role": role},
        "create_time": 1_795_953_600.5,
        "content": content,
        "metadata": about,
    }
    return {"id": name, "message": message, "children": children}


CHATGPT = {
    "title": "Sums",
    "conversation_id": "k1",
    "create_time": 1_795_953_600,
    "mapping": {
        "root": {"id": "root", "message": None, "children": ["q1", "q2"]},
        "q1": node("q1", "user", "Sum the list", ["r1"]),
        "r1": node("r1", "assistant", "About 400", [], model_slug="gpt-5"),
        "q2": node("q2", "user", "Sum the list exactly", ["t1"]),
        "t1": node("t1", "tool", "408", ["r2"]),
        "r2": node("r2", "assistant", "408", ["q3"], model_slug="gpt-6-sol", thinking_effort="extended"),
        "q3": node("q3", "user", "never answered", []),
    },
}


def test_an_export_of_claude_ai_holds_requests_without_model_or_cost(tmp_path: Path) -> None:
    (tmp_path / "conversations.json").write_text(json.dumps([claude_ai()], ensure_ascii=False))
    (request,) = scanned(tmp_path).requests
    assert (request.tool, request.model, request.cost_usd, request.project) == ("claude.ai", None, None, "Brief")
    texts = read_texts(request)
    assert (texts.prompt, texts.reply) == ("Übersetze den Brief 📬", "Sehr geehrter 0")
    assert [(each.name, each.text, each.from_tool) for each in texts.attached] == [("brief.txt", "Dear Sir", False)]


def test_an_export_of_chatgpt_is_a_tree_in_which_a_changed_question_is_another_request(tmp_path: Path) -> None:
    (tmp_path / "conversations.json").write_text(json.dumps([CHATGPT]))
    index = scanned(tmp_path)
    first, second = index.requests
    assert (first.first_line, first.model, first.effort) == ("Sum the list", "gpt-5", None)
    assert (second.first_line, second.model, second.effort) == ("Sum the list exactly", "gpt-6-sol", "extended")
    assert read_texts(second).reply == "408"
    assert [each.text for each in read_texts(second).attached] == ["408"]
    assert index.unanswered == 1


def test_an_export_is_read_out_of_its_zip(tmp_path: Path) -> None:
    path = tmp_path / "export.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("data/conversations.json", json.dumps([claude_ai(0), claude_ai(7)]))
        archive.writestr("data/users.json", "[{}]")
    index = scanned(path)
    assert [r.tool for r in index.requests] == ["claude.ai", "claude.ai"]
    assert [read_texts(r).reply for r in index.requests] == ["Sehr geehrter 0", "Sehr geehrter 7"]
    assert index.requests[0].prompt_at.member == "data/conversations.json"


def test_a_long_export_is_read_conversation_by_conversation(tmp_path: Path) -> None:
    talks = [claude_ai(n, f"Übersetze {n}: " + "äöü€📬" * 20_000) for n in range(40)]
    path = tmp_path / "conversations.json"
    path.write_text(json.dumps(talks, ensure_ascii=False, indent=1), encoding="utf-8")
    assert path.stat().st_size > 6_000_000
    found = scanned(path).requests
    assert len(found) == 40
    assert read_texts(found[31]).prompt == talks[31]["chat_messages"][0]["text"]


def test_an_export_on_a_single_line_is_no_line_that_is_too_long(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lines, "MAX_LINE", 500)
    (tmp_path / "conversations.json").write_text(json.dumps([claude_ai(0), claude_ai(7)]))
    index = scanned(tmp_path)
    assert (len(index.requests), index.long_lines) == (2, 0)


def test_of_a_cut_off_export_what_stands_before_the_cut_is_read(tmp_path: Path) -> None:
    whole = json.dumps([claude_ai(0), claude_ai(7), claude_ai(9)])
    (tmp_path / "conversations.json").write_text(whole[:-200])
    index = scanned(tmp_path)
    assert len(index.requests) == 2
    assert index.damaged_lines == 1


def test_a_file_that_only_calls_itself_a_zip_is_named_and_ends_nothing(tmp_path: Path) -> None:
    (tmp_path / "export.zip").write_bytes(b"PK\x03\x04 and then nothing of the kind")
    index = scanned(tmp_path)
    assert [Path(each.path).name for each in index.unread] == ["export.zip"]


# ---- plain lines -----------------------------------------------------------------------------------------------------


def test_plain_lines_are_read_in_the_shapes_people_write(tmp_path: Path) -> None:
    usage = {"prompt_tokens": 100, "completion_tokens": 9, "prompt_tokens_details": {"cached_tokens": 80}}
    talk = [{"role": "user", "content": "Plan it"}, {"role": "assistant", "content": "First, …"}]
    rows: list[object] = [
        {"prompt": "Fix it", "reply": "ok", "model": "claude-opus-5-5", "effort": "low", "timestamp": at(1)},
        {"messages": talk, "model": "gpt-6-sol", "usage": usage, "created": 1_795_953_700},
        {"question": "Is it so?", "answer": "yes", "when": at(300)},
        {"note": "no prompt here"},
    ]
    index = scanned(write(tmp_path / "mine.jsonl", rows))
    fix, plan, question = index.requests
    assert (fix.model, fix.effort, fix.tool) == ("claude-opus-5-5", "low", "jsonl")
    assert (plan.usage.input_tokens, plan.usage.cache_read_tokens, plan.usage.output_tokens) == (20, 80, 9)
    assert read_texts(plan).reply == "First, …"
    assert (question.model, read_texts(question).prompt) == (None, "Is it so?")
    assert index.unknown_lines == {"no prompt": 1}
