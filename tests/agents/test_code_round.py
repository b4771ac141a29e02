"""Code questions in a round: what solves them passes, what cheats does not, and what is owed when a test changes."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from code_kit import GIVEN, KEPT, code_suite
from jail_kit import skip_without, without_bubblewrap

import agent_kit as kit
from resit.cli import main
from resit.core.agents.jail import best_isolation
from resit.core.config import ModelsFile
from resit.core.errors import Exposed
from resit.core.judging.note import note_text
from resit.core.judging.sheet import make_sheet
from resit.core.paths import config_dir, data_dir
from resit.core.records import Row, RunRecord, Setting
from resit.core.rounds import exposed
from resit.core.rounds.events import Event
from resit.core.rounds.reverify import reverify
from resit.core.rounds.session import OpenedRound, Prepared, open_round, prepare_round
from resit.core.spend.ledger import Ledger
from resit.core.suite import Suite
from resit.core.suite_file import load_suite, sample_suites

AGENT = Setting(model=kit.MODEL, provider="command")
SOLVE = "open('calc.py', 'w').write('def add(a, b):\\n    return a + b\\n'); print('mended')"


@pytest.fixture(autouse=True)
def _afresh(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exposed, "_found", {})


@pytest.fixture
def suite(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Suite:
    return code_suite(tmp_path / "suite", monkeypatch)


def prepare(folder: Path, suite: Suite, code: str, **more: Any) -> Prepared:
    (folder / "bin").mkdir(exist_ok=True)
    program = kit.write_program(folder / "bin", "agent", code)
    file = ModelsFile.model_validate({"models": {kit.MODEL: kit.entry(program)}})
    fields: dict[str, Any] = {
        "rounds_dir": folder / "rounds", "models_file": file, "environ": dict(os.environ), "cwd": folder,
        "ledger": Ledger(folder / "ledger.jsonl"), "repeats": 1,
    }  # fmt: skip
    return prepare_round(suite, [AGENT], **(fields | more))


async def run(folder: Path, suite: Suite, code: str, **more: Any) -> OpenedRound:
    events: list[Event] = []
    prepared = prepare(folder, suite, code, **more)
    assert prepared.problems == ()
    runner = prepared.start(events.append)
    await runner.run()
    return open_round(runner.store.path, suite=suite)


def planted(folder: Path) -> list[Path]:
    """The markers that are left."""
    return [path for place in (folder, data_dir()) for path in place.rglob(".resit-canary-*")]


def write_program(path: Path, text: str) -> None:
    path.write_text(text)
    path.chmod(0o755)


def only_row(found: OpenedRound) -> Row:
    (row,) = found.rows
    return row


def record(found: OpenedRound) -> RunRecord:
    stored = found.store.read("add__my-agent-default__r1")
    assert stored is not None
    return stored


async def test_an_agent_that_solves_it_passes(tmp_path: Path, suite: Suite) -> None:
    found = await run(tmp_path, suite, SOLVE)
    row = only_row(found)
    assert (row.outcome, row.score, row.failed, row.reply) == ("pass", 1.0, (), "mended")
    reply = record(found).attempts[0].reply
    assert reply is not None
    assert reply.agent is not None
    assert reply.agent.isolation == best_isolation()
    assert reply.agent.verified is not None
    assert "+    return a + b" in reply.agent.verified.diff
    assert found.plan.isolation == best_isolation()
    assert not found.plan.unisolated
    # Opened from its own folder alone, it still says the same.
    assert suite.path is not None
    suite.path.unlink()
    assert only_row(open_round(found.store.path)) == row


async def test_an_agent_that_says_nothing_is_graded_by_what_it_did(tmp_path: Path, suite: Suite) -> None:
    assert only_row(await run(tmp_path, suite, SOLVE.partition(";")[0])).outcome == "pass"


async def test_an_agent_that_neither_says_nor_does_anything_gave_no_answer(tmp_path: Path, suite: Suite) -> None:
    assert only_row(await run(tmp_path, suite, "pass")).outcome == "empty"


async def test_an_agent_that_does_not_solve_it_gets_the_share_that_passes(tmp_path: Path, suite: Suite) -> None:
    found = await run(tmp_path, suite, "print('I did what I could')")
    row = only_row(found)
    assert (row.outcome, row.score) == ("part", 0.5)
    assert set(row.failed) == {f"{GIVEN}.test_small", f"{KEPT}.test_large"}
    assert "2 of 4 tests failed: " in note_text(make_sheet(found))


async def test_an_agent_that_weakens_a_test_gets_nothing_and_the_test_is_named(tmp_path: Path, suite: Suite) -> None:
    cheat = f"{SOLVE}\nopen('tests/test_given.py', 'w').write('import unittest')"
    row = only_row(await run(tmp_path, suite, cheat))
    assert (row.outcome, row.score) == ("miss", 0.0)
    assert row.failed == ("tests/test_given.py changed",)


async def test_an_agent_that_finds_the_key_is_void(tmp_path: Path, suite: Suite) -> None:
    spy = f"print('the tests lie in {suite.path}')"
    row = only_row(await run(tmp_path, suite, spy))
    assert (row.outcome, row.score) == ("void", None)


async def test_a_key_found_in_the_midst_of_much_noise_is_not_missed(tmp_path: Path, suite: Suite) -> None:
    noise = "for _ in range(400): print('x' * 10_000)"
    row = only_row(await run(tmp_path, suite, f"{noise}\nprint({str(suite.path)!r})\n{noise}"))
    assert row.outcome == "void"


async def test_a_finished_round_owes_nothing_and_a_changed_test_owes_its_runs_again(
    tmp_path: Path, suite: Suite
) -> None:
    await run(tmp_path, suite, SOLVE)
    assert prepare(tmp_path, suite, SOLVE).plan.jobs == ()
    assert suite.path is not None
    kept = suite.path.parent / "kept" / "tests" / "test_kept.py"
    kept.write_text(kept.read_text().replace("408", "409"))
    changed = load_suite(suite.path)
    again = prepare(tmp_path, changed, SOLVE)
    assert again.resumes
    assert again.plan.reasons == {"verification changed": 1}
    row = only_row(await run(tmp_path, changed, SOLVE))
    assert (row.outcome, row.failed) == ("part", (f"{KEPT}.test_large",))


async def test_until_then_no_wrong_answer_is_made_of_the_former_verdict(tmp_path: Path, suite: Suite) -> None:
    found = await run(tmp_path, suite, SOLVE)
    assert suite.path is not None
    (suite.path.parent / "kept" / "tests" / "test_more.py").write_text("import unittest\n")
    row = only_row(open_round(found.store.path, suite=load_suite(suite.path)))
    assert (row.outcome, row.score) == ("error", None)


async def test_work_is_verified_again_by_changed_tests_without_asking_the_agent(tmp_path: Path, suite: Suite) -> None:
    found = await run(tmp_path, suite, SOLVE)
    assert suite.path is not None
    kept = suite.path.parent / "kept" / "tests" / "test_kept.py"
    before = kept.read_text()
    kept.write_text(before.replace("408", "409"))
    changed = load_suite(suite.path)
    assert "verifies that work again by the present tests" in " ".join(prepare(tmp_path, changed, SOLVE).notes)
    assert reverify(found.store, changed).said == "1 run verified again"
    row = only_row(open_round(found.store.path, suite=changed))
    assert (row.outcome, row.failed) == ("part", (f"{KEPT}.test_large",))
    assert prepare(tmp_path, changed, SOLVE).plan.jobs == ()
    # The tests as they were have kept their verdict, and so has the round as it was asked.
    assert only_row(open_round(found.store.path, under_present=False)).outcome == "pass"
    kept.write_text(before)
    former = load_suite(suite.path)
    assert only_row(open_round(found.store.path, suite=former)).outcome == "pass"
    assert reverify(found.store, former).said == ""
    assert len(record(found).attempts) == 1


async def test_work_that_no_diff_tells_is_asked_again(tmp_path: Path, suite: Suite) -> None:
    found = await run(tmp_path, suite, f"{SOLVE}; open('data.bin', 'wb').write(bytes(3))")
    assert suite.path is not None
    (suite.path.parent / "kept" / "tests" / "test_more.py").touch()
    changed = load_suite(suite.path)
    said = reverify(found.store, changed).said
    assert said == ("1 run cannot be: the next start asks again (its diff does not tell all that was changed)")
    assert prepare(tmp_path, changed, SOLVE).plan.reasons == {"verification changed": 1}


async def test_work_that_could_not_be_verified_is_not_paid_for_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runner = tmp_path / "bin" / "check-it"
    suite = code_suite(tmp_path / "suite", monkeypatch, command="check-it")
    found = await run(tmp_path, suite, SOLVE)
    assert (only_row(found).outcome, only_row(found).score) == ("error", None)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}")
    write_program(runner, "#!/bin/sh\ngrep -q 'a + b' calc.py\n")
    assert reverify(found.store, suite).said == "1 run verified again"
    assert only_row(open_round(found.store.path, suite=suite)).outcome == "pass"
    assert prepare(tmp_path, suite, SOLVE).plan.jobs == ()


async def test_a_changed_workspace_owes_its_runs_again(tmp_path: Path, suite: Suite) -> None:
    await run(tmp_path, suite, SOLVE)
    assert suite.path is not None
    (suite.path.parent / "given" / "calc.py").write_text("def add(a, b):\n    return b - a\n")
    again = prepare(tmp_path, load_suite(suite.path), SOLVE)
    assert len(again.plan.jobs) == 1


async def test_a_test_run_of_the_persons_own_changes_nothing(tmp_path: Path, suite: Suite) -> None:
    await run(tmp_path, suite, SOLVE)
    assert suite.path is not None
    for place in ("given/__pycache__/calc.cpython-311.pyc", "kept/.pytest_cache/x"):
        (suite.path.parent / place).parent.mkdir()
        (suite.path.parent / place).touch()
    assert prepare(tmp_path, load_suite(suite.path), SOLVE).plan.jobs == ()


async def test_nothing_that_was_planted_is_left_when_the_round_has_ended(tmp_path: Path, suite: Suite) -> None:
    await run(tmp_path, suite, SOLVE)
    assert planted(tmp_path) == []


async def test_without_isolation_no_agent_starts_unless_a_person_says_so_and_then_the_note_does(
    tmp_path: Path, suite: Suite, monkeypatch: pytest.MonkeyPatch
) -> None:
    without_bubblewrap(monkeypatch)
    monkeypatch.setattr("resit.core.agents.landlock.version", lambda: 0)
    assert best_isolation() == "none"
    try:
        prepared = prepare(tmp_path, suite, SOLVE)
        (problem,) = prepared.problems
        assert isinstance(problem.error, Exposed)
        assert "an agent could read the answers" in problem.said
        assert "install bubblewrap, or go on with --unisolated" in problem.said
        assert not prepared.startable
        with pytest.raises(Exposed):
            prepared.start(lambda event: None)
        assert prepared.unisolated().startable
        found = await run(tmp_path, suite, SOLVE, unisolated=True)
        assert only_row(found).outcome == "pass"
        assert (found.plan.isolation, found.plan.unisolated) == ("none", True)
        assert "**Agents could read the answers**" in note_text(make_sheet(found))
        # A later start has to say so again.
        assert len(prepare(tmp_path, suite, SOLVE, repeats=2).problems) == 1
    finally:
        best_isolation.cache_clear()


async def test_with_isolation_the_note_says_which_and_that_it_was_tried(tmp_path: Path, suite: Suite) -> None:
    skip_without("landlock")
    found = await run(tmp_path, suite, SOLVE)
    said = f"Agents ran under {best_isolation()}; a marker planted with the answers could not be read from inside."
    assert said in note_text(make_sheet(found))


def test_a_jail_that_lets_the_marker_through_starts_no_agent(
    tmp_path: Path, suite: Suite, monkeypatch: pytest.MonkeyPatch
) -> None:
    skip_without("landlock")
    prepared = prepare(tmp_path, suite, SOLVE)
    assert prepared.startable
    # Found out at the very start, when the jail held before.
    monkeypatch.setattr("resit.core.rounds.agents.readable_from", lambda *_: "it could be read")
    with pytest.raises(Exposed, match="it could be read"):
        prepared.start(lambda event: None)
    assert planted(tmp_path) == []


def test_a_model_without_hands_is_not_asked_to_work(tmp_path: Path, suite: Suite) -> None:
    prepared = prepare_round(
        suite, [Setting(model="claude-haiku-5-5")], 1, rounds_dir=tmp_path / "rounds", cwd=tmp_path,
        environ={"ANTHROPIC_API_KEY": "sk-test-0123456789"}, models_file=ModelsFile(), ledger=Ledger(tmp_path / "l"),
    )  # fmt: skip
    assert not prepared.startable
    assert "1 question has a workspace, which only a command-line agent can work in" in prepared.problems[0].said


SOLUTIONS = {
    "free-time": """
text = open('free_time.py').read()
text = text.replace('in meetings:', 'in sorted(meetings):').replace('        if begin > at:',
    '        begin, end = min(begin, closes), min(end, closes)\\n        if begin > at:')
open('free_time.py', 'w').write(text.replace('at = end', 'at = max(at, end)'))
""",
    "duration": """
open('duration.py', 'w').write('''
import re
def minutes(text):
    text = text.strip().lower()
    found = re.fullmatch(r'(\\\\d+)m?', text)
    if found: return int(found[1])
    found = re.fullmatch(r'(\\\\d+)(?:h|:)\\\\s*(?:(\\\\d+)\\\\s*m?)?', text)
    if not found: raise ValueError(text)
    return int(found[1]) * 60 + int(found[2] or 0)
''')
""",
}


async def test_the_sample_suite_can_be_solved_and_is_not_solved_by_nothing(tmp_path: Path) -> None:
    (path,) = (path for path in sample_suites() if path.stem == "code-work")
    suite = load_suite(path)
    code = "if 'free_time.py' in prompt:\n    exec(first)\nelse:\n    exec(second)\nprint('done')"
    code = f"first, second = {SOLUTIONS['free-time']!r}, {SOLUTIONS['duration']!r}\n{code}"
    solved = await run(tmp_path, suite, code)
    assert {row.question: (row.outcome, row.failed) for row in solved.rows} == {
        "free-time": ("pass", ()), "duration": ("pass", ()),
    }  # fmt: skip
    untouched = await run(tmp_path, suite, "print('nothing to do')", round="new")
    assert {row.outcome for row in untouched.rows} <= {"part", "miss"}


def write_models(folder: Path, code: str) -> None:
    (folder / "bin").mkdir(exist_ok=True)
    program = kit.write_program(folder / "bin", "agent", code)
    config_dir().mkdir(parents=True, exist_ok=True)
    text = f'[models."{kit.MODEL}"]\nprovider = "command"\ncommand = ["{program}"]\n'
    (config_dir() / "models.toml").write_text(text)


def test_the_command_line_grades_work_again_by_changed_tests(
    tmp_path: Path, suite: Suite, capsys: pytest.CaptureFixture[str]
) -> None:
    write_models(tmp_path, SOLVE)
    assert main(["run", str(suite.path), "-m", kit.MODEL, "-n", "1"]) == 0
    assert suite.path is not None
    kept = suite.path.parent / "kept" / "tests" / "test_kept.py"
    kept.write_text(kept.read_text().replace("408", "409"))
    capsys.readouterr()
    assert main(["grade", "last"]) == 0
    said = capsys.readouterr()
    assert "1 run verified again" in said.err
    assert "regraded 1, flipped 1" in said.out
    assert "pass → part 0.75" in said.out


def test_the_command_line_starts_no_agent_that_could_read_the_answers(
    tmp_path: Path, suite: Suite, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    write_models(tmp_path, SOLVE)
    monkeypatch.setattr(exposed, "best_isolation", lambda: "none")
    monkeypatch.setattr("resit.core.rounds.agents.best_isolation", lambda: "none")
    argv = ["run", str(suite.path), "-m", kit.MODEL, "-n", "1"]
    assert main(argv) == 2
    said = capsys.readouterr().err
    assert "an agent could read the answers" in said
    assert "install bubblewrap, or go on with --unisolated" in said
    assert main([*argv, "--unisolated"]) == 0
    assert "agents can read the answers" in capsys.readouterr().err
