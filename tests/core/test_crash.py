from __future__ import annotations

import subprocess
import sys
import time
from decimal import Decimal
from pathlib import Path

from round_kit import make_suite

from mock_server import Answer, MockServer, serve_in_thread
from resit.core.rounds.follow import RoundFollower
from resit.core.rounds.session import open_round
from resit.core.rounds.store import RoundStore, find_rounds
from resit.core.spend.ledger import Ledger

QUESTIONS, REPEATS, CONCURRENCY = 20, 2, 4
PLANNED = 2 * QUESTIONS * REPEATS
CHILD = Path(__file__).parent / "crash_child.py"
ANSWERS = {q.prompt: q.accept[0] for q in make_suite(QUESTIONS).questions}


def begin(folder: Path, server: MockServer, *cap: str) -> subprocess.Popen[str]:
    arguments = [str(folder), server.url, str(QUESTIONS), str(REPEATS), str(CONCURRENCY), *cap]
    return subprocess.Popen([sys.executable, str(CHILD), *arguments], stdout=subprocess.PIPE, text=True)


def finish(child: subprocess.Popen[str]) -> str:
    said, _ = child.communicate(timeout=60)
    return said.strip()


def results(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.glob("rounds/*/*/results/[!.]*.json")}


def wait_for_results(folder: Path) -> None:
    deadline = time.monotonic() + 60
    while not results(folder):
        assert time.monotonic() < deadline
        time.sleep(0.002)


def kill_at(folder: Path, server: MockServer, count: int, *cap: str) -> subprocess.Popen[str]:
    """Start the command and kill it as soon as so many results are there."""
    child = begin(folder, server, *cap)
    deadline = time.monotonic() + 60
    while len(results(folder)) < count:
        assert child.poll() is None, "it ended before it could be killed"
        assert time.monotonic() < deadline
        time.sleep(0.001)
    child.kill()
    child.communicate()
    return child


def test_killed_again_and_again_no_finished_run_is_asked_again_or_lost(tmp_path: Path) -> None:
    with serve_in_thread(MockServer(answers=ANSWERS, latency_s=0.02)) as server:
        for count in (1, 17, 45):
            before = results(tmp_path)
            kill_at(tmp_path, server, max(count, len(before) + 1))
            after = results(tmp_path)
            assert before.items() <= after.items(), "a finished run was lost or changed"
        kept = len(results(tmp_path))
        ledger = Ledger(tmp_path / "ledger.jsonl").read()
        # Beside them stand the calls that were lost with a killed process, which no server answered for.
        answered = [entry for entry in ledger.entries if entry.request_id is not None]
        assert kept - 3 <= len(answered) <= kept
        assert ledger.damaged == 0
        asked = server.stats.requests
        assert finish(begin(tmp_path, server)) == "done 0"
        assert server.stats.requests - asked == PLANNED - kept
        # Only what was out at one of the three deaths was asked twice.
        assert server.stats.requests <= PLANNED + 3 * CONCURRENCY
        opened = open_round("last", rounds_dir=tmp_path / "rounds")
        assert [row.outcome for row in opened.rows] == ["pass"] * PLANNED
        assert opened.damaged == ()
        asked = server.stats.requests
        assert finish(begin(tmp_path, server)) == "done 0"
        assert server.stats.requests == asked
    assert len(find_rounds(tmp_path / "rounds")) == 1


def test_a_cap_holds_also_for_the_calls_that_were_out_when_the_process_was_killed(tmp_path: Path) -> None:
    cost, cap = Decimal("0.00042"), "0.015"
    answers = {prompt: Answer(text, usage={"output_tokens": 40}) for prompt, text in ANSWERS.items()}
    with serve_in_thread(MockServer(answers=answers, latency_s=0.1)) as server:
        for _ in range(3):
            kill_at(tmp_path, server, len(results(tmp_path)) + 1, cap)
        assert server.stats.requests > len(results(tmp_path)) + 3
        said = finish(begin(tmp_path, server, cap))
        assert said.startswith("cap ")
        # A server bills a call whose asker is gone, too.
        assert server.stats.requests * cost <= Decimal(cap)
        assert finish(begin(tmp_path, server, "1")) == "done 0"


def test_a_second_command_on_a_running_round_is_told_who_runs_it_and_harms_nothing(tmp_path: Path) -> None:
    with serve_in_thread(MockServer(answers=ANSWERS, latency_s=0.1)) as server:
        first = begin(tmp_path, server)
        wait_for_results(tmp_path)
        arguments = [str(tmp_path), server.url, str(QUESTIONS), str(REPEATS), str(CONCURRENCY)]
        second = subprocess.run([sys.executable, str(CHILD), *arguments], capture_output=True, text=True, check=False)
        assert second.returncode == 1
        assert f"RoundBusy: round {find_rounds(tmp_path / 'rounds')[0].name} is run by process {first.pid}" in (
            second.stderr
        )
        assert finish(first) == "done 0"
        assert server.stats.requests == PLANNED


async def test_a_round_of_another_process_can_be_followed_to_its_end(tmp_path: Path) -> None:
    with serve_in_thread(MockServer(answers=ANSWERS, latency_s=0.03)) as server:
        child = begin(tmp_path, server)
        wait_for_results(tmp_path)
        follower = RoundFollower(RoundStore.find(tmp_path / "rounds", "last"))
        seen = [progress async for progress in follower.follow(0.05)]
        finish(child)
    assert [p.done for p in seen] == sorted(p.done for p in seen)
    assert any(p.flights for p in seen)
    last = seen[-1]
    assert last.ended is not None
    assert (last.ended.reason, last.done, last.planned) == ("done", PLANNED, PLANNED)
    assert len(last.latest_rows()) == PLANNED
    assert sum(s.passed for s in last.settings.values()) == PLANNED


async def test_a_follower_says_that_a_killed_runner_is_gone(tmp_path: Path) -> None:
    with serve_in_thread(MockServer(answers=ANSWERS, latency_s=0.02)) as server:
        kill_at(tmp_path, server, 5)
    follower = RoundFollower(RoundStore.find(tmp_path / "rounds", "last"))
    last = [progress async for progress in follower.follow(0.01)][-1]
    assert last.ended is not None
    assert "no process runs it" in last.ended.said
    assert last.ended.owed == PLANNED - last.done
    assert last.flights == {}


def test_results_spoilt_by_a_power_cut_are_asked_again_and_nothing_else(tmp_path: Path) -> None:
    spoils = [b"", b"\x00" * 300, b'{"format":1,"quest']
    with serve_in_thread(MockServer(answers=ANSWERS)) as server:
        assert finish(begin(tmp_path, server)) == "done 0"
        for path, spoil in zip(sorted(tmp_path.glob("rounds/*/*/results/*.json"))[::30], spoils, strict=True):
            path.write_bytes(spoil)
        asked = server.stats.requests
        assert finish(begin(tmp_path, server)) == "done 0"
        assert server.stats.requests - asked == len(spoils)
    aside = [path.read_bytes() for path in tmp_path.glob("rounds/*/*/damaged/*")]
    assert sorted(aside) == sorted(spoils)
