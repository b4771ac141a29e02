from __future__ import annotations

import re
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from served import serving, write_suite

from mock_server import MockServer
from resit.cli import main


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[MockServer]:
    with serving(monkeypatch) as server:
        yield server


@pytest.fixture
def suite(tmp_path: Path) -> str:
    return write_suite(tmp_path)


def argv(suite: str, *more: str) -> list[str]:
    return ["run", suite, "-m", "haiku", "-n", "1", *more]


def test_a_round_in_batches_from_the_command_line(
    server: MockServer, suite: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(argv(suite, "--batch")) == 0
    out = capsys.readouterr().out
    assert "batch of 3 requests: submitted" in out
    assert "batch of 3 requests: all results are in" in out
    assert "[3/3]" in out
    assert (server.stats.requests, server.batches.requests) == (0, 3)


def test_a_dry_run_says_half_the_price_and_asks_nothing(
    server: MockServer, suite: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(argv(suite, "--dry-run")) == 0
    single = capsys.readouterr().out
    assert main(argv(suite, "--batch", "--dry-run")) == 0
    batch = capsys.readouterr().out
    assert "batch half price" in batch
    assert "within a day, mostly within an hour" in batch
    worst = [float(re.search(r"at worst \$([0-9.]+)", text)[1]) for text in (single, batch)]  # type: ignore[index]
    assert worst[1] == pytest.approx(worst[0] / 2, rel=0.02)
    assert server.batches.made == {}


def start(suite: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "resit", *argv(suite, "--batch")]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def interrupted(suite: str, server: MockServer) -> str:
    """What a command said that was interrupted once its batch was submitted."""
    server.batches.stay_s = 3600.0
    polled: list[str] = []
    server.batches.hook = polled.append
    with start(suite) as process:
        until = time.monotonic() + 60
        while "poll" not in polled:
            assert time.monotonic() < until
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=30)
        assert process.returncode == 130
    return err


def test_an_interrupt_leaves_the_batch_and_the_command_that_it_names_collects_it(
    server: MockServer, suite: str
) -> None:
    err = interrupted(suite, server)
    assert "1 batch of 3 requests go on at the server" in err
    again = re.search("3 runs owed: resit (.*)", err)
    assert again is not None
    server.batches.end_all()
    assert main(shlex.split(again[1])) == 0
    assert server.batches.requests == 3


def test_a_batch_is_canceled_and_only_then_asked_in_another_way(
    server: MockServer, suite: str, capsys: pytest.CaptureFixture[str]
) -> None:
    interrupted(suite, server)
    assert main(argv(suite, "--no-batch")) == 2
    assert "has 3 requests out in a batch" in capsys.readouterr().err
    assert main(argv(suite, "--cancel-batch")) == 130
    assert "the batches are canceled" in capsys.readouterr().err
    assert server.batches.made["msgbatch_0001"].canceled
    assert main(argv(suite, "--no-batch")) == 0
    assert (server.stats.requests, server.batches.requests) == (3, 3)


def test_there_is_nothing_to_cancel_without_a_batch(
    server: MockServer, suite: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(argv(suite, "--cancel-batch")) == 2
    assert "no batch out" in capsys.readouterr().err


def test_a_wrong_key_is_exit_4_and_nothing_is_submitted(
    server: MockServer, suite: str, capsys: pytest.CaptureFixture[str]
) -> None:
    server.keys = {"another"}
    assert main(argv(suite, "--batch")) == 4
    out, err = capsys.readouterr()
    assert "refuses" in err
    assert "planted" not in out + err
    assert server.batches.made == {}
