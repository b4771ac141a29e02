from __future__ import annotations

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from resit.core.config import load_models_file
from resit.core.errors import ConfigError
from resit.core.pool_entry import PoolEntry
from resit.core.records import Usage
from resit.core.spend.ledger import Ledger, LedgerEntry, LedgerTail
from resit.core.spend.pools import free_after, next_reset, points_by_round, pool_use, pool_uses, window_start
from resit.core.spend.readings import Reading, Readings, find_number, parse_percent, used_percent

NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)


def call(minutes_ago: float, **changes: Any) -> LedgerEntry:
    fields: dict[str, Any] = {
        "at": NOW - timedelta(minutes=minutes_ago), "suite": "sums", "round": "one", "question": "q1",
        "model": "model-a", "setting": "model-a low", "run": 1, "attempt": 1, "provider": "anthropic",
        "endpoint": "http://127.0.0.1:1", "ended": "end",
        "usage": Usage(input_tokens=100, cache_read_tokens=20, output_tokens=30), "cost_usd": Decimal("0.5"),
    }  # fmt: skip
    return LedgerEntry.model_validate(fields | changes)


def pool(**fields: Any) -> PoolEntry:
    return PoolEntry.model_validate({"window": "5h", **fields})


def reading(minutes_ago: float, percent: str, by: str = "hand") -> Reading:
    return Reading.model_validate(
        {"at": NOW - timedelta(minutes=minutes_ago), "pool": "max", "used_percent": percent, "by": by}
    )


# --- what models.toml says


def load(folder: Path, text: str) -> Any:
    path = folder / "models.toml"
    path.write_text(text)
    return load_models_file(path)


def test_several_models_share_a_pool(tmp_path: Path) -> None:
    found = load(
        tmp_path,
        """
        [pools.max]
        window = "5h"
        runs = 100
        [models.a]
        pool = "max"
        [models.b]
        pool = "max"
        """,
    )
    assert found.members("max") == {"a", "b"}
    assert found.pools["max"].stop_line == 90


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('[models.a]\npool = "max"', "names a pool that is not there"),
        ('[pools.max]\nwindow = "5h"\nruns = 10\nusd = 3', "takes one limit"),
        ('[pools.max]\nwindow = "day"', "window"),
        ('[pools.max]\nwindow = "5h"\nreserve = 1.0', "reserve"),
        ('[pools.max]\nwindow = "5h"\nresets_at = 2026-11-30T12:00:00', "needs its offset"),
        ('[pools.max]\nwindow = "5h"\nlimit = 3', "limit"),
    ],
)
def test_a_pool_that_cannot_be_is_refused_with_its_reason(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        load(tmp_path, text)


# --- windows


def test_without_a_reset_the_window_is_the_last_hours_or_days() -> None:
    assert window_start(pool(), NOW) == NOW - timedelta(hours=5, microseconds=-1)
    assert window_start(pool(window="week"), NOW) == NOW - timedelta(days=7, microseconds=-1)
    assert next_reset(pool(), NOW) is None


@pytest.mark.parametrize(
    ("window", "begins", "start", "end"),
    [
        ("5h", "2026-11-30T01:00Z", "2026-11-30T11:00Z", "2026-11-30T16:00Z"),
        ("5h", "2026-12-30T01:00Z", "2026-11-30T11:00Z", "2026-11-30T16:00Z"),
        ("week", "2026-11-02T09:00Z", "2026-11-30T09:00Z", "2026-12-07T09:00Z"),
        ("week", "2026-11-23T12:00Z", "2026-11-30T12:00Z", "2026-12-07T12:00Z"),
        ("month", "2026-01-31T00:00Z", "2026-11-30T00:00Z", "2026-12-31T00:00Z"),
        ("month", "2026-01-15T00:00Z", "2026-11-15T00:00Z", "2026-12-15T00:00Z"),
        ("month", "2027-01-31T13:00Z", "2026-10-31T13:00Z", "2026-11-30T13:00Z"),
    ],
)
def test_a_known_reset_makes_windows_that_follow_each_other(window: str, begins: str, start: str, end: str) -> None:
    entry = pool(window=window, resets_at=begins)
    assert window_start(entry, NOW) == datetime.fromisoformat(start)
    assert next_reset(entry, NOW) == datetime.fromisoformat(end)


# --- what is used


def test_calls_of_all_rounds_in_the_window_count_and_refused_or_older_ones_do_not() -> None:
    calls = [call(301), call(299), call(10, round="two"), call(5, ended="limit", usage=None), call(1, ended="dropped")]
    assert pool_use("max", pool(runs=10), calls, NOW, ()).used == 3
    tokens = pool_use("max", pool(tokens=1000), calls, NOW, ())
    assert (tokens.used, tokens.calls, tokens.tokens) == (Decimal(450), 3, 450)
    assert pool_use("max", pool(usd=10), calls, NOW, ()).used == Decimal("1.5")


def test_use_that_nobody_knows_is_said_and_not_made_up() -> None:
    calls = [call(10), call(5, ended="dropped", usage=None, cost_usd=None)]
    use = pool_use("max", pool(tokens=1000), calls, NOW, ())
    assert (use.used, use.at_least) == (Decimal(150), True)
    nothing = pool_use("max", pool(), calls, NOW, ())
    assert (nothing.used, nothing.used_up, nothing.tokens) == (None, False, 150)


def test_a_pool_at_its_reserve_is_used_up_until_enough_has_passed() -> None:
    calls = [call(280), call(200), call(100), call(50), call(20), call(10), call(5), call(4), call(3)]
    use = pool_use("max", pool(runs=10), calls, NOW, ())
    assert use.used_up
    assert use.free_at == NOW + timedelta(minutes=20)
    assert not pool_use("max", pool(runs=10), calls[1:], NOW, ()).used_up
    assert not pool_use("max", pool(runs=10, reserve=0), calls, NOW, ()).used_up


def test_a_reading_at_the_reserve_uses_the_pool_up_whatever_was_counted() -> None:
    use = pool_use("max", pool(runs=100), [call(3)], NOW, [reading(30, "89.9")])
    assert not use.used_up
    use = pool_use("max", pool(runs=100), [call(3)], NOW, [reading(30, "90")])
    assert use.used_up
    assert use.free_at == NOW + timedelta(minutes=270)
    assert not pool_use("max", pool(runs=100), [call(3)], NOW, [reading(301, "99")]).used_up


def test_room_for_a_large_call_is_there_when_enough_has_passed_and_never_for_one_that_is_too_large() -> None:
    used = [(NOW - timedelta(minutes=m), Decimal(30)) for m in (200, 100, 50)]
    assert free_after(pool(tokens=100), used, Decimal(30)) == NOW + timedelta(minutes=100)
    assert free_after(pool(tokens=100), used, Decimal(91)) is None


def test_pools_are_read_from_the_ledger_of_every_round(tmp_path: Path) -> None:
    models = load(tmp_path, '[pools.max]\nwindow = "5h"\nruns = 10\n[models.model-a]\npool = "max"\n')
    [use] = pool_uses(models, [call(3), call(2, model="other")], NOW, Readings(tmp_path / "readings"))
    assert (use.name, use.used) == ("max", Decimal(1))


# --- readings and points


def test_points_are_the_difference_of_readings_shared_over_the_calls_between() -> None:
    calls = [
        call(50), call(40), call(30, round="two"), call(29, round="two", ended="limit", usage=None),
        call(20, round="two"), call(1, round="three"),
    ]  # fmt: skip
    readings = [reading(45, "10"), reading(25, "14"), reading(10, "15")]
    found = {p.round: p for p in points_by_round(pool(), calls, readings)}
    assert (found["one"].points, found["one"].calls, found["one"].read_calls) == (Decimal(2), 2, 1)
    assert (found["two"].points, found["two"].calls, found["two"].read_calls) == (Decimal(3), 2, 2)
    assert (found["three"].points, found["three"].read_calls) == (None, 0)
    assert found["two"].tokens == 300


def test_readings_that_fall_or_have_a_reset_between_them_say_nothing() -> None:
    calls = [call(40)]
    assert points_by_round(pool(), calls, [reading(50, "80"), reading(30, "5")])[0].points is None
    anchored = pool(resets_at=NOW - timedelta(minutes=35))
    assert points_by_round(anchored, calls, [reading(50, "5"), reading(30, "80")])[0].points is None


@pytest.mark.parametrize(
    ("text", "percent"), [("43%", "43"), ("43", "43"), (" 43,5 % ", "43.5"), ("0", "0"), ("100 %", "100")]
)
def test_a_reading_is_written_as_people_write_it(text: str, percent: str) -> None:
    assert parse_percent(text) == Decimal(percent)


@pytest.mark.parametrize("text", ["", "half", "-3", "1e9", "NaN", "inf"])
def test_what_is_no_percentage_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="43%"):
        parse_percent(text)


@pytest.mark.parametrize(
    ("output", "path", "number"),
    [
        ('{"five_hour": {"utilization": 0.375}}', "five_hour.utilization", "0.375"),
        ('{"windows": [{"left": "98%"}]}', "windows.0.left", "98"),
        ("5-hour limit\n", None, "5"),
        ("used: 43.5 % of the plan", None, "43.5"),
        ('{"a": true}', "a", None),
        ('{"a": {}}', "a", None),
        ('{"a": 1}', "b", None),
        ("[" * 100_000, "a", None),
        ("nothing", None, None),
        ('{"a": "NaN"}', "a", None),
    ],
)
def test_the_number_of_a_commands_output(output: str, path: str | None, number: str | None) -> None:
    assert find_number(output.encode(), path) == (None if number is None else Decimal(number))


def test_shares_and_what_is_left_become_percent_that_are_used() -> None:
    assert used_percent(Decimal("0.375"), pool(command=["x"], full=1)) == Decimal("37.5")
    assert used_percent(Decimal(2), pool(command=["x"], counts="left")) == 98
    assert used_percent(Decimal(120), pool(command=["x"], counts="left")) == 0


def test_readings_are_kept_and_a_line_that_cannot_be_read_loses_no_other(tmp_path: Path) -> None:
    readings = Readings(tmp_path / "readings.jsonl")
    readings.add(reading(3, "5"))
    with readings.path.open("ab") as file:
        file.write(b'{"at": "\xff\n')
    readings.add(reading(9, "4"))
    assert [r.used_percent for r in readings.of("max")] == [4, 5]
    assert readings.of("other") == ()


def test_a_ledger_is_read_on_from_where_it_was_left_and_a_half_line_waits(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "ledger.jsonl")
    tail = LedgerTail(ledger)
    assert tail.take() == ()
    ledger.append(call(3))
    ledger.append(call(2))
    assert len(tail.take()) == 2
    assert tail.take() == ()
    line = call(1).model_dump_json().encode()
    with ledger.path.open("ab") as file:
        file.write(line[:40])
    assert tail.take() == ()
    with ledger.path.open("ab") as file:
        file.write(line[40:] + b"\n")
    assert len(tail.take()) == 1
