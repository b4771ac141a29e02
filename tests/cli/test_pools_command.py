from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from served import serving, write_suite

from mock_server import MockServer
from resit.cli import main
from resit.core.paths import config_dir

POOL = '[pools.max]\nwindow = "5h"\nruns = 3\n[pools.plan]\nwindow = "week"\n[models."claude-haiku-5-5"]\npool = "{}"\n'


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[MockServer]:
    with serving(monkeypatch) as server:
        yield server


@pytest.fixture
def suite(tmp_path: Path) -> str:
    return write_suite(tmp_path)


def share(pool: str) -> None:
    config_dir().mkdir(parents=True, exist_ok=True)
    (config_dir() / "models.toml").write_text(POOL.format(pool))


def run(suite: str, *more: str) -> int:
    return main(["run", suite, "-m", "haiku", "-n", "1", "--serial", *more])


def as_json(capsys: pytest.CaptureFixture[str], *argv: str) -> dict[str, Any]:
    capsys.readouterr()
    assert main([*argv, "--json"]) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def test_a_round_at_a_pools_reserve_is_exit_3_with_the_time_and_the_command_that_goes_on(
    server: MockServer, suite: str, capsys: pytest.CaptureFixture[str]
) -> None:
    share("max")
    assert run(suite) == 3
    out, err = capsys.readouterr()
    assert server.stats.requests == 2
    assert "pool max: 2 of 3 runs in 5 hours are used and 10% is kept in reserve; it goes on" in out
    assert "paused: pool max" in err
    assert "1 run owed: resit run" in err


def test_pools_are_shown_with_tokens_beside_and_also_under_spend(
    server: MockServer, suite: str, capsys: pytest.CaptureFixture[str]
) -> None:
    share("max")
    run(suite)
    found = as_json(capsys, "pools")["pools"]
    assert [(p["pool"], p["used"], p["calls"], p["used_up"]) for p in found] == [
        ("max", "2", 2, True),
        ("plan", None, 0, False),
    ]
    assert found[0]["tokens"] > 0
    assert main(["spend"]) == 0
    out = capsys.readouterr().out
    assert "used up until" in out
    assert "3 runs in 5 hours" in out


def test_readings_before_and_after_give_the_points_that_a_round_used(
    server: MockServer, suite: str, capsys: pytest.CaptureFixture[str]
) -> None:
    share("plan")
    assert main(["pools", "plan", "--reading", "40%"]) == 0
    assert run(suite) == 0
    capsys.readouterr()
    assert main(["pools", "plan", "--reading", "43"]) == 0
    out, err = capsys.readouterr()
    assert "3 points · 3 calls" in err
    assert "3.0 points" in out
    found = as_json(capsys, "pools", "plan")
    assert [(r["calls"], r["points"], r["read_calls"]) for r in found["rounds"]] == [(3, "3", 3)]


def test_without_readings_no_points_are_invented(
    server: MockServer, suite: str, capsys: pytest.CaptureFixture[str]
) -> None:
    share("plan")
    run(suite)
    capsys.readouterr()
    assert main(["pools", "plan"]) == 0
    out = capsys.readouterr().out
    assert "what is used of a week is not known" in out
    assert "no readings around it" in out


def test_a_reading_at_the_reserve_stops_the_next_round(
    server: MockServer, suite: str, capsys: pytest.CaptureFixture[str]
) -> None:
    share("plan")
    main(["pools", "plan", "--reading", "92%"])
    assert run(suite) == 3
    assert server.stats.requests == 0
    assert "pool plan: 92% is used" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (["pools", "pla"], "did you mean 'plan'?"),
        (["pools", "nothing-like-it"], "[pools.NAME] in models.toml makes one"),
        (["pools", "plan", "--reading", "much"], "43%"),
        (["pools", "--reading", "4"], "resit pools NAME --reading 43%"),
    ],
)
def test_what_cannot_be_is_one_line_with_its_mend(
    argv: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    share("plan")
    assert main(argv) == 2
    err = capsys.readouterr().err
    assert said in err
    assert err.count("\n") == 1


def test_without_pools_it_is_said_how_to_make_one(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["pools"]) == 0
    assert "there are no pools" in capsys.readouterr().out
