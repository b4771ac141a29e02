"""Every recorded output of a real tool comes to what it must, and nothing that is printed can break a reader."""

from __future__ import annotations

import json
import shutil
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from resit.core.agents.bounded import HEAD_CHARS, STEP_CHARS, TAIL_CHARS, HeadTail, Lines, Transcript
from resit.core.agents.outputs import make_reader
from resit.core.agents.outputs.reader import Asking, Ended, Place
from resit.core.records import Fault, QuotaReading, Reply, Step
from resit.core.scoring.grade import fault_outcome, unfair

DATA = Path(__file__).parents[2] / "data" / "cli"
CASES = [json.loads(line) for line in (DATA / "cases.jsonl").read_text().splitlines()]
ROLLOUT = next((DATA.parent / "logs/codex").rglob("rollout-*11.jsonl"))
COMMANDS = {"claude": "claude-code", "codex": "codex", "gemini": "gemini"}
NOWHERE = Place(home=Path("/nowhere"), answer_file=Path("/nowhere/answer.txt"))


def read(
    tool: str, printed: str, ended: Ended | None = None, place: Place = NOWHERE, *, model: str = "m", path: str = ""
) -> Reply | Fault:
    reader = make_reader(tool, Asking(COMMANDS.get(tool, tool), model, path))
    # In pieces that end anywhere, as a pipe hands them out.
    for at in range(0, len(printed), 1000):
        reader.feed(printed[at : at + 1000])
    return reader.finish(ended or Ended(exit_code=0, seconds=2.0), place)


@pytest.mark.parametrize("case", CASES, ids=[case["file"] for case in CASES])
def test_a_recorded_output_comes_to_what_it_must(case: dict[str, Any]) -> None:
    tool, must = case["file"].partition("/")[0], case["must"]
    text = (DATA / case["file"]).read_text()
    on_stderr = case["file"].endswith(".txt")
    ended = Ended(exit_code=case["exit"], seconds=2.0, stderr=text if on_stderr else case["stderr"])
    answer = read(tool, "" if on_stderr else text, ended, model=case["model"])
    if "fault" in must:
        assert isinstance(answer, Fault)
        assert (fault_outcome(answer), answer.kind) == (must["outcome"], must["fault"])
        assert answer.said
        assert "\n" not in answer.said
        return
    assert isinstance(answer, Reply)
    assert answer.agent is not None
    cost = answer.cost_reported_usd
    assert {
        "outcome": unfair(answer) or "answer",
        "text": answer.text,
        "input": answer.usage.input_tokens,
        "output": answer.usage.output_tokens,
        "thinking": answer.usage.thinking_tokens,
        "cost": None if cost is None else str(cost),
        "turns": answer.turns,
        "denied": list(answer.agent.denied),
        "retries": answer.agent.retries,
        "api_seconds": answer.agent.api_seconds,
        "steps": [step.kind for step in answer.agent.steps],
        **({"detail": answer.stop_detail} if answer.stop_detail else {}),
    } == must


def test_every_recorded_output_is_a_case() -> None:
    files = {str(path.relative_to(DATA)) for path in DATA.glob("*/*")}
    assert {case["file"] for case in CASES} == files
    assert len(files) >= 61


def test_a_limit_that_is_dressed_as_a_success_is_a_limit() -> None:
    envelope = {
        "type": "result", "subtype": "success", "is_error": True, "result": "API Error: Rate limit reached",
        "stop_reason": "stop_sequence", "duration_api_ms": 0, "modelUsage": {}, "num_turns": 1,
    }  # fmt: skip
    answer = read("claude", json.dumps(envelope))
    assert isinstance(answer, Fault)
    assert answer.kind == "limit"
    unmarked = read("claude", json.dumps(envelope | {"is_error": False}))
    assert isinstance(unmarked, Fault)
    assert unmarked.kind == "limit"


@pytest.mark.parametrize(
    "said",
    [
        "You've hit your session limit · resets 1:20am (Europe/Vienna)",
        "You've hit your limit · resets 1pm (Europe/Lisbon)",
        "Claude AI usage limit reached|1795999999",
        "You’ve reached your weekly limit · resets Jul 18 at 4am",
    ],
)
def test_a_used_up_plan_is_a_quota_and_no_answer(said: str) -> None:
    envelope = {"type": "result", "subtype": "success", "is_error": True, "api_error_status": 429, "result": said}
    for printed in (envelope, envelope | {"is_error": False}):
        answer = read("claude", json.dumps(printed))
        assert isinstance(answer, Fault)
        assert answer.kind == "quota"
        assert said in answer.said
    plain = read("text", said + "\n")
    assert isinstance(plain, Fault)
    assert plain.kind == "quota"


def test_an_answer_that_speaks_of_limits_is_an_answer() -> None:
    for text in ("The usage limit reached in May was 4 GB.", "A rate limit reached\nmeans waiting."):
        answer = read("text", text)
        assert isinstance(answer, Reply)
        assert answer.text == text


def test_the_time_of_a_used_up_plan_is_told_to_whoever_waits() -> None:
    until = datetime.now(UTC).timestamp() + 600
    events = [
        {"type": "rate_limit_event", "rate_limit_info": {"status": "rejected", "resetsAt": until}},
        {"type": "result", "is_error": True, "api_error_status": 429, "result": "You've hit your session limit"},
    ]
    answer = read("claude", "\n".join(map(json.dumps, events)))
    assert isinstance(answer, Fault)
    assert answer.retry_after_s == pytest.approx(600, abs=30)


def test_the_quota_of_a_plan_is_read_from_claudes_events() -> None:
    answer = read("claude", (DATA / "claude/stream-quota.jsonl").read_text())
    assert isinstance(answer, Reply)
    assert answer.agent is not None
    assert answer.agent.quota == (
        QuotaReading(window_minutes=300, used_percent=37.5, resets_at=datetime(2026, 11, 30, 0, 53, 19, tzinfo=UTC)),
        QuotaReading(window_minutes=10_080, used_percent=62, resets_at=datetime(2026, 12, 4, 15, 59, 59, tzinfo=UTC)),
    )


def test_the_quota_and_the_model_are_read_from_codexs_own_log(tmp_path: Path) -> None:
    thread = "00000000-0000-4000-8000-000000000011"
    log = tmp_path / ".codex/sessions/2026/11/29" / f"rollout-2026-11-29T23-03-22-{thread}.jsonl"
    log.parent.mkdir(parents=True)
    shutil.copy(ROLLOUT, log)
    printed = (DATA / "codex/success.jsonl").read_text().replace("00000000-0000-4000-8000-000000000001", thread)
    answer = read("codex", printed, place=Place(home=tmp_path, answer_file=tmp_path / "a"))
    assert isinstance(answer, Reply)
    assert answer.agent is not None
    assert answer.model == "fake-large"
    assert [(each.window_minutes, each.used_percent) for each in answer.agent.quota] == [(300, 37.5), (10_080, 62.0)]


def test_a_command_that_codex_did_not_print_is_taken_from_its_log(tmp_path: Path) -> None:
    thread = "00000000-0000-4000-8000-000000000001"
    folder = tmp_path / ".codex/sessions/2026/11/29"
    folder.mkdir(parents=True)
    shutil.copy(next((DATA.parent / "logs/codex").rglob(f"rollout-*{thread}.jsonl")), folder)
    answer = read("codex", (DATA / "codex/success.jsonl").read_text(), place=Place(tmp_path, tmp_path / "a"))
    assert isinstance(answer, Reply)
    assert answer.agent is not None
    assert [(step.kind, step.tool) for step in answer.agent.steps] == [
        ("tool", "exec_command"), ("result", "exec_command"), ("text", ""),
    ]  # fmt: skip
    assert answer.agent.steps[0].text == "cat invoice.txt"
    assert "alpha 12" in answer.agent.steps[1].text


def test_a_log_that_is_a_link_is_not_followed(tmp_path: Path) -> None:
    thread = "00000000-0000-4000-8000-000000000001"
    folder = tmp_path / ".codex/sessions/2026/11/29"
    folder.mkdir(parents=True)
    (folder / f"rollout-x-{thread}.jsonl").symlink_to(ROLLOUT)
    printed = (DATA / "codex/success.jsonl").read_text()
    answer = read("codex", printed, place=Place(home=tmp_path, answer_file=tmp_path / "a"))
    assert isinstance(answer, Reply)
    assert answer.agent is not None
    assert answer.agent.quota == ()


def test_the_waits_between_retries_are_no_time_of_the_models() -> None:
    answer = read("claude", (DATA / "claude/stream-retries.jsonl").read_text(), Ended(exit_code=0, seconds=2.0))
    assert isinstance(answer, Reply)
    assert answer.seconds == pytest.approx(2.0 - 0.561 - 1.149)


def test_a_run_that_was_ended_at_its_limit_is_a_timeout_whatever_it_printed() -> None:
    ended = Ended(exit_code=0, seconds=3.0, overdue=True, limit_s=3.0)
    for tool, file in (("claude", "claude/stream-interrupted-sigint.jsonl"), ("codex", "codex/success.jsonl")):
        answer = read(tool, (DATA / file).read_text(), ended)
        assert isinstance(answer, Fault)
        assert answer.kind == "timeout"
        assert "3 s" in answer.said


def test_a_tool_that_gemini_does_not_let_is_refused_and_one_that_fails_is_not() -> None:
    events = [
        {"type": "init", "session_id": "s", "model": "m"},
        {"type": "tool_use", "tool_id": "1", "tool_name": "write_file", "parameters": {}},
        {"type": "tool_result", "tool_id": "1", "status": "error", "error": {"type": "policy_violation"}},
        {"type": "tool_use", "tool_id": "2", "tool_name": "read_file", "parameters": {}},
        {"type": "tool_result", "tool_id": "2", "status": "error", "error": {"type": "file_not_found"}},
        {"type": "message", "role": "assistant", "content": "x"},
        {"type": "result", "status": "success", "stats": {}},
    ]
    answer = read("gemini", "\n".join(map(json.dumps, events)))
    assert isinstance(answer, Reply)
    assert answer.agent is not None
    assert answer.agent.denied == ("write_file",)


def test_gemini_at_its_number_of_turns_is_cut_off() -> None:
    printed = json.dumps({"type": "message", "role": "assistant", "content": "so far"})
    answer = read("gemini", printed + "\n", Ended(exit_code=53, seconds=1.0))
    assert isinstance(answer, Reply)
    assert (answer.stop, answer.text) == ("cut_off", "so far")


def test_gemini_without_a_sign_in_says_what_to_do() -> None:
    answer = read("gemini", "", Ended(exit_code=41, seconds=1.0, stderr="Please set an Auth method\n"))
    assert isinstance(answer, Fault)
    assert (answer.kind, "GEMINI_API_KEY" in answer.said) == ("key", True)


def test_agy_is_read_past_its_banner() -> None:
    printed = 'Welcome {to} agy\n{"status": "SUCCESS", "response": "408", "num_turns": 2, "usage": {"input_tokens": 9}}'
    answer = read("agy", printed)
    assert isinstance(answer, Reply)
    assert (answer.text, answer.turns, answer.usage.input_tokens) == ("408", 2, 9)


def test_agys_own_time_limit_is_no_success() -> None:
    ended = Ended(exit_code=0, seconds=9.0, stderr="warning: print timeout after 25m\n")
    answer = read("agy", '{"status": "SUCCESS", "response": "I was about to"}', ended)
    assert isinstance(answer, Fault)
    assert answer.kind == "timeout"


@pytest.mark.parametrize(
    ("path", "printed", "text"),
    [
        ("result", '{"result": "408"}', "408"),
        ("choices.0.text", '{"choices": [{"text": "408"}]}', "408"),
        ("n", '{"n": 408}', "408"),
        ("result", 'log line\n{"result": "first"}\n{"result": "408"}\n', "408"),
    ],
)
def test_an_answer_is_taken_from_its_place_in_json(path: str, printed: str, text: str) -> None:
    answer = read("json", printed, path=path)
    assert isinstance(answer, Reply)
    assert answer.text == text


@pytest.mark.parametrize("printed", ["", "no json", '{"other": 1}', '{"result": ', "[1]", '["-"]'])
def test_json_without_the_place_is_a_fault_that_names_it(printed: str) -> None:
    answer = read("json", printed, path="result")
    assert isinstance(answer, Fault)
    assert "'result'" in answer.said


def test_an_answer_file_is_read_and_a_missing_one_is_an_empty_answer(tmp_path: Path) -> None:
    place = Place(home=tmp_path, answer_file=tmp_path / "answer.txt")
    missing = read("file", "chatter", place=place)
    assert isinstance(missing, Reply)
    assert unfair(missing) == "empty"
    place.answer_file.write_text("408\n")
    answer = read("file", "chatter", place=place)
    assert isinstance(answer, Reply)
    assert answer.text == "408"


def test_an_answer_file_that_is_a_link_is_not_followed(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("408")
    place = Place(home=tmp_path, answer_file=tmp_path / "answer.txt")
    place.answer_file.symlink_to(secret)
    answer = read("file", "", place=place)
    assert isinstance(answer, Reply)
    assert answer.text == ""


def test_a_command_that_fails_has_not_answered() -> None:
    answer = read("text", "408\n", Ended(exit_code=2, seconds=1.0, stderr="mytool: no such option -x\n"))
    assert isinstance(answer, Fault)
    assert answer.said.endswith("mytool: no such option -x")


def test_an_endless_answer_is_cut_off_and_held_in_bounds() -> None:
    piece, count = "x" * 65_536, 400
    reader = make_reader("text", Asking("c", "m"))
    for _ in range(count):
        reader.feed(piece)
    answer = reader.finish(Ended(exit_code=0, seconds=1.0), NOWHERE)
    assert isinstance(answer, Reply)
    assert answer.stop == "cut_off"
    assert f"{count * len(piece):,}" in answer.stop_detail
    assert len(answer.text) < HEAD_CHARS + TAIL_CHARS + len(piece) + 100


def test_a_transcript_without_end_keeps_its_ends() -> None:
    transcript = Transcript()
    for number in range(1000):
        transcript.add(Step(kind="text", text=f"{number} " + "y" * 3 * STEP_CHARS))
    steps = transcript.steps
    assert steps[0].text.startswith("0 ")
    assert steps[-1].text.startswith("999 ")
    assert any("steps left out" in step.text for step in steps)
    assert sum(len(step.text) for step in steps) < 300 * STEP_CHARS


def test_a_line_without_end_is_let_go() -> None:
    lines = Lines()
    for _ in range(20):
        assert lines.cut("z" * 1_000_000) == []
    assert lines.cut("\n{}\n") == ["{}"]
    assert lines.lost == 1


@given(st.lists(st.text(max_size=40), max_size=30), st.integers(0, 60), st.integers(1, 60))
def test_what_is_kept_and_what_is_left_out_add_up(pieces: list[str], head: int, tail: int) -> None:
    kept = HeadTail(head, tail)
    for piece in pieces:
        kept.add(piece)
    whole = "".join(pieces)
    assert kept.text.startswith(whole[:head])
    assert kept.text.endswith(whole[max(head, len(whole) - tail) :])
    gap = f"\n[{kept.left_out:,} characters left out]\n" if kept.left_out else ""
    assert len(kept.text) - len(gap) + kept.left_out == len(whole)


_SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=10)
_NAMES = st.sampled_from(
    ["type", "subtype", "message", "content", "item", "result", "is_error", "modelUsage", "usage", "stats", "models",
     "rate_limit_info", "unifiedWindows", "five_hour", "utilization", "resetsAt", "status", "error", "response",
     "total_cost_usd", "permission_denials", "num_turns", "retry_delay_ms", "input_tokens", "text", "role"]
)  # fmt: skip
_VALUES = st.sampled_from(
    ["result", "assistant", "user", "system", "rate_limit_event", "api_retry", "item.completed", "turn.completed",
     "turn.failed", "agent_message", "command_execution", "message", "tool_use", "tool_result", "init", "success"]
)  # fmt: skip
_JSON = st.recursive(
    _SCALARS | _VALUES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_NAMES, inner, max_size=6),
    max_leaves=20,
)


@pytest.mark.parametrize("tool", ["claude", "codex", "gemini", "agy", "json", "text", "file"])
@settings(max_examples=50, deadline=None)
@given(
    events=st.lists(st.dictionaries(_NAMES, _JSON, max_size=8) | st.text(max_size=30), max_size=6),
    code=st.sampled_from([0, 1, 41, 127, 130, 137, 143, 145]),
    stderr=st.text(max_size=60),
)
def test_no_output_whatever_breaks_a_reader(tool: str, events: list[Any], code: int, stderr: str) -> None:
    printed = "\n".join(event if isinstance(event, str) else json.dumps(event) for event in events)
    answer = read(tool, printed, Ended(exit_code=code, seconds=1.0, stderr=stderr), path="result.text")
    assert isinstance(answer, (Reply, Fault))
