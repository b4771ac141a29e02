"""What rows of Claude Code's sessions mean."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from log_kit import FIXTURES, at, reply, result, scanned, tool_use, user, write

from resit.core.agents import scratch
from resit.core.logs.records import Request
from resit.core.logs.rows import OWN_FOLDER


def only(*rows: object, tmp_path: Path) -> Request:
    (request,) = scanned(write(tmp_path / "session.jsonl", rows)).requests
    return request


def test_a_real_session_says_what_was_asked_of_which_model_and_with_what() -> None:
    index = scanned(FIXTURES / "claude")
    first = next(request for request in index.requests if request.first_line.startswith("What does invoice.txt"))
    assert (first.tool, first.model, first.effort, first.tools) == (
        "claude-code", "claude-sonnet-5-5", "medium", ("Read",),
    )  # fmt: skip
    assert (first.calls, first.usage.input_tokens, first.usage.output_tokens) == (2, 329, 47)
    assert (first.cwd, first.project, first.delegation) == ("/home/user/project", "project", None)
    assert (index.unknown_lines, index.damaged_lines, index.unread) == ({}, 0, ())
    assert len(index.requests) == 9


def test_a_delegation_says_which_agent_model_and_level() -> None:
    index = scanned(FIXTURES / "claude")
    found = {r.delegation.agent_type: r for r in index.requests if r.delegation is not None}
    assert set(found) == {"general-purpose", "Explore", "checker"}
    named = found["general-purpose"]
    assert (named.model, named.effort, named.delegation) == ("claude-haiku-5-5", "low", named.delegation)
    assert named.delegation is not None
    assert (named.delegation.description, named.delegation.background) == ("Check the total", False)


def test_a_delegation_that_names_no_level_set_none_even_though_it_ran_at_one() -> None:
    found = [r for r in scanned(FIXTURES / "claude").requests if r.delegation and r.delegation.agent_type == "Explore"]
    assert [(r.effort, r.effort_ran, r.model) for r in found] == [(None, "medium", "claude-opus-5-5")]
    assert found[0].delegation is not None
    assert found[0].delegation.background


def test_a_call_is_counted_once_however_many_rows_repeat_its_usage(tmp_path: Path) -> None:
    rows = [user("Review it"), *(reply("m1", text, number=n) for n, text in enumerate(("one", "two", "three"), 2))]
    request = only(*rows, tmp_path=tmp_path)
    assert (request.calls, request.usage.input_tokens, request.usage.output_tokens) == (1, 10, 5)


def test_of_counts_that_grow_while_a_reply_is_streamed_the_last_one_holds(tmp_path: Path) -> None:
    rows = (user("Review it"), reply("m1", "a", output_tokens=1), reply("m1", "b", output_tokens=400))
    assert only(*rows, tmp_path=tmp_path).usage.output_tokens == 400


def test_a_made_up_reply_of_the_program_is_no_call(tmp_path: Path) -> None:
    error = reply("m2", "API Error: 429", model="<synthetic>", number=3)
    request = only(user("Review it"), reply("m1", "fine"), error, tmp_path=tmp_path)
    assert (request.calls, request.model) == (1, "claude-opus-5-5")


def test_what_nobody_answered_is_counted_and_is_no_request(tmp_path: Path) -> None:
    index = scanned(write(tmp_path / "s.jsonl", [user("Never mind"), user("Fix it", 5), reply("m1", "ok", number=6)]))
    assert [request.first_line for request in index.requests] == ["Fix it"]
    assert index.unanswered == 1


@pytest.mark.parametrize(
    "row",
    [
        result("t1"),
        user("<task-notification>done</task-notification>", 4),
        user("it is done", 4, origin={"kind": "task-notification"}),
        user("it is done", 4, promptSource="system"),
        user("the skill says", 4, isMeta=True),
        user("This session is being continued from a previous one", 4),
        user("what was said so far", 4, isCompactSummary=True),
        user("[Request interrupted by user]", 4),
        user([{"type": "text", "text": "<system-reminder>be brief</system-reminder>"}], 4),
        user("<local-command-stdout>ok</local-command-stdout>", 4),
    ],
)
def test_what_the_program_puts_where_a_person_types_is_no_request(row: object, tmp_path: Path) -> None:
    request = only(user("Fix it"), reply("m1", "a"), row, reply("m2", "b", number=9), tmp_path=tmp_path)
    assert (request.first_line, request.calls) == ("Fix it", 2)


def test_a_command_with_its_arguments_is_what_was_asked(tmp_path: Path) -> None:
    typed = (
        "<command-message>review</command-message><command-name>/review</command-name><command-args>src</command-args>"
    )
    request = only(user(typed), user("Review all of it", 2, isMeta=True), reply("m1", "ok"), tmp_path=tmp_path)
    assert (request.first_line, request.kind) == ("/review src", "review")


def test_a_delegation_without_a_log_of_its_own_is_known_by_its_call_and_result(tmp_path: Path) -> None:
    sent = tool_use("t1", "Task", description="Find", prompt="Find the file", subagent_type="general-purpose")
    usage = {"input_tokens": 7, "output_tokens": 9}
    told = {"status": "completed", "agentId": "a1", "resolvedModel": "claude-haiku-5-5", "usage": usage}
    back = result("t1", "here", toolUseResult={**told, "totalToolUseCount": 4})
    rows = [user("Where is it?"), reply("m1", sent), back, reply("m2", "there", number=5)]
    asked, delegated = scanned(write(tmp_path / "s.jsonl", rows)).requests
    assert (asked.delegation, asked.calls) == (None, 2)
    assert (delegated.model, delegated.effort, delegated.first_line) == ("claude-haiku-5-5", None, "Find the file")
    # The result holds the last call's usage alone, and with four tools used there were more.
    assert delegated.cost_partial
    assert delegated.cost_usd is not None


def test_a_sub_agent_logged_within_the_session_is_a_delegation_of_its_own(tmp_path: Path) -> None:
    sent = tool_use("t1", "Task", description="Look", prompt="Look at it", subagent_type="general-purpose")
    rows = [
        user("Is it right?"),
        reply("m1", sent),
        user("Look at it", 3, isSidechain=True, uuid="c1"),
        reply("m2", tool_use("t2", "Grep"), isSidechain=True, parentUuid="c1", uuid="c2", model="claude-haiku-5-5"),
        result("t2", isSidechain=True, parentUuid="c2", uuid="c3"),
        reply("m3", "yes", isSidechain=True, parentUuid="c3", uuid="c4", model="claude-haiku-5-5"),
        result("t1", "yes", 8, toolUseResult={"status": "completed", "totalTokens": 30, "totalToolUseCount": 1}),
        reply("m4", "It is right", number=9),
    ]
    asked, delegated = scanned(write(tmp_path / "s.jsonl", rows)).requests
    assert (asked.calls, asked.tools, asked.model) == (2, ("Task",), "claude-opus-5-5")
    assert (delegated.calls, delegated.tools, delegated.model) == (2, ("Grep",), "claude-haiku-5-5")
    assert delegated.delegation is not None
    assert (delegated.delegation.agent_type, delegated.delegation.description) == ("general-purpose", "Look")


def test_a_resumed_session_that_begins_with_a_copy_of_the_old_one_counts_it_once(tmp_path: Path) -> None:
    old = [user("Fix it"), reply("m1", "done")]
    copied = [{**row, "sessionId": "s2"} for row in old]
    write(tmp_path / "old.jsonl", old)
    write(tmp_path / "new.jsonl", [*copied, user("Now test it", 20), reply("m9", "passes", number=21)])
    assert [r.first_line for r in scanned(tmp_path).requests] == ["Fix it", "Now test it"]


def test_a_request_keeps_its_key_when_a_copy_of_it_turns_up(tmp_path: Path) -> None:
    old = [user("Fix it"), reply("m1", "done")]
    write(tmp_path / "b.jsonl", old)
    before = scanned(tmp_path).requests
    write(tmp_path / "a.jsonl", [{**row, "sessionId": "s2"} for row in old])
    assert [r.key for r in scanned(tmp_path).requests] == [r.key for r in before]


def test_what_was_served_fast_is_another_model_without_a_known_price(tmp_path: Path) -> None:
    row = reply("m1", "ok")
    row["message"]["usage"]["speed"] = "fast"
    request = only(user("Fix it"), row, tmp_path=tmp_path)
    assert (request.model, request.cost_usd, request.unpriced) == (
        "claude-opus-5-5 (fast)", None, ("claude-opus-5-5 (fast)",),
    )  # fmt: skip


def test_the_folder_of_runs_is_the_one_that_agents_are_started_in() -> None:
    assert OWN_FOLDER == scratch.PREFIX


def test_runs_of_resits_own_are_left_out(tmp_path: Path) -> None:
    mine = user("Answer", cwd="/tmp/resit-run-abc/scratch")
    index = scanned(write(tmp_path / "s.jsonl", [mine, reply("m1", "42"), user("Fix it", 5), reply("m2", "ok")]))
    assert [r.first_line for r in index.requests] == ["Fix it"]
    assert index.own_runs == 1


def test_a_row_of_an_unknown_type_is_counted_and_ends_nothing(tmp_path: Path) -> None:
    rows = [
        user("Fix it"),
        {"type": "telepathy", "thought": 1},
        {"parentUuid": "u1", "type": "dream"},
        reply("m1", "ok"),
    ]
    index = scanned(write(tmp_path / "s.jsonl", rows))
    assert index.unknown_lines == {"telepathy": 1, "dream": 1}
    assert len(index.requests) == 1


def test_rows_mean_the_same_however_they_are_spaced(tmp_path: Path) -> None:
    for file in (FIXTURES / "claude").rglob("*.json*"):
        rows = [json.loads(line) for line in file.read_text().splitlines() if line.strip()]
        write(tmp_path / file.relative_to(FIXTURES), rows)
    spaced, compact = scanned(FIXTURES / "claude"), scanned(tmp_path)
    assert [(r.key, r.usage, r.cost_usd, r.delegation) for r in compact.requests] == [
        (r.key, r.usage, r.cost_usd, r.delegation) for r in spaced.requests
    ]


def test_a_prompt_of_blocks_is_read_without_what_the_editor_put_beside_it(tmp_path: Path) -> None:
    blocks = [
        {"type": "text", "text": "<ide_opened_file>a.py</ide_opened_file>"},
        {"type": "text", "text": "Explain it"},
    ]
    assert only(user(blocks), reply("m1", "so"), tmp_path=tmp_path).first_line == "Explain it"


def test_a_request_is_asked_when_the_log_says(tmp_path: Path) -> None:
    assert only(user("Fix it", 30), reply("m1", "ok"), tmp_path=tmp_path).when.isoformat() == at(30).replace(
        "Z", "+00:00"
    )
