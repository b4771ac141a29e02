from __future__ import annotations

import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from batch_kit import QUESTIONS, Desk, serving

from mock_server import MockServer
from resit.core.rounds.batch_book import open_batches
from resit.core.rounds.session import open_round

PLANNED = 2 * QUESTIONS
CHILD = Path(__file__).parent / "batch_child.py"


@pytest.fixture
def server() -> Iterator[MockServer]:
    with serving() as server:
        yield server


class Mortal:
    """A child that dies at the server's hand, at the moment that is named."""

    def __init__(self, folder: Path, server: MockServer, moment: str) -> None:
        self.moment = moment
        self.child: subprocess.Popen[str] | None = None
        server.batches.hook = self.heard
        self.child = begin(folder, server)

    def heard(self, moment: str) -> None:
        while self.child is None:
            time.sleep(0.001)
        if moment == self.moment:
            self.child.kill()
            self.child.wait()

    def wait(self) -> None:
        assert self.child is not None
        self.child.communicate(timeout=60)
        assert self.child.returncode == -9, "it was to be killed"


def begin(folder: Path, server: MockServer) -> subprocess.Popen[str]:
    return subprocess.Popen([sys.executable, str(CHILD), str(folder), server.url], stdout=subprocess.PIPE, text=True)


def finish(folder: Path, server: MockServer) -> str:
    server.batches.hook = lambda moment: None
    said, _ = begin(folder, server).communicate(timeout=60)
    return said.strip()


def check_nothing_was_paid_twice_or_lost(folder: Path, server: MockServer) -> None:
    assert server.stats.repeats == 0
    assert Counter(server.stats.asked.values()) == {1: PLANNED}
    opened = open_round("last", rounds_dir=folder / "rounds")
    assert [row.outcome for row in opened.rows] == ["pass"] * PLANNED
    assert {row.attempts for row in opened.rows} == {1}
    assert opened.damaged == ()
    assert open_batches(Desk(folder, server.url).store) == ()


@pytest.mark.parametrize("moment", ["made", "poll", "results"])
def test_killed_when_the_batch_was_made_looked_at_or_fetched_it_is_found_again_and_paid_once(
    moment: str, tmp_path: Path, server: MockServer
) -> None:
    Mortal(tmp_path, server, moment).wait()
    assert finish(tmp_path, server) == "done 0"
    assert len(server.batches.made) == 1
    check_nothing_was_paid_twice_or_lost(tmp_path, server)
    assert len(Desk(tmp_path, server.url).ledger) == PLANNED


def test_killed_before_the_server_has_made_anything_the_batch_is_made_by_the_next_start(
    tmp_path: Path, server: MockServer
) -> None:
    server.batches.creates.append("reset")
    Mortal(tmp_path, server, "create").wait()
    assert [note.state for note in open_batches(Desk(tmp_path, server.url).store)] == ["prepared"]
    assert finish(tmp_path, server) == "done 0"
    assert len(server.batches.made) == 1
    check_nothing_was_paid_twice_or_lost(tmp_path, server)


def test_killed_again_and_again_while_results_are_taken_in_each_is_kept_once(
    tmp_path: Path, server: MockServer
) -> None:
    for _ in range(3):
        before = results(tmp_path)
        child = begin(tmp_path, server)
        deadline = time.monotonic() + 60
        while len(results(tmp_path)) < len(before) + 3 and child.poll() is None:
            assert time.monotonic() < deadline
        child.kill()
        child.communicate()
        assert before.items() <= results(tmp_path).items(), "a kept run was lost or changed"
    assert finish(tmp_path, server) == "done 0"
    check_nothing_was_paid_twice_or_lost(tmp_path, server)
    # A line of the ledger may be missing for each death, never one too many.
    assert PLANNED - 3 <= len(Desk(tmp_path, server.url).ledger) <= PLANNED


def results(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.glob("rounds/*/*/results/[!.]*.json")}
