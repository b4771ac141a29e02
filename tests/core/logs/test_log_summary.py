"""What requests add up to."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from log_kit import FIXTURES, reply, scanned, user, write

from resit.core.config import ModelsFile
from resit.core.errors import UsageError
from resit.core.logs.records import Summary
from resit.core.logs.summary import summarise
from resit.core.logs.when import end_of, start_of

NOW = datetime(2026, 11, 30, 10, tzinfo=UTC)


def summed(path: Path, **more: Any) -> Summary:
    return summarise(scanned(path), more.pop("zone", UTC), models_file=ModelsFile())


def asked(tmp_path: Path, *wanted: tuple[str, str, int]) -> Path:
    """A session with so many requests of each (prompt, model, number)."""
    rows, number = [], 0
    for prompt, model, times in wanted:
        for _ in range(times):
            number += 1
            rows += [user(prompt, number), reply(f"m{number}", "ok", model=model, number=number)]
    return write(tmp_path / "s.jsonl", rows)


def test_the_parts_of_every_division_add_up_to_the_whole() -> None:
    summary = summed(FIXTURES)
    for parts in (summary.by_model, summary.by_effort, summary.by_kind, summary.by_day):
        assert sum(part.requests for part in parts) == summary.total.requests == 9
        assert sum(part.delegations for part in parts) == summary.total.delegations == 3
        assert sum((part.cost_usd or Decimal(0) for part in parts), Decimal(0)) == summary.total.cost_usd
        assert sum(part.usage.output_tokens or 0 for part in parts) == summary.total.usage.output_tokens == 645


def test_the_share_that_set_no_level_counts_delegations_too() -> None:
    summary = summed(FIXTURES)
    # Two of the three delegations, and the chat of a tool that has no levels.
    assert (summary.total.no_effort, summary.no_effort_share) == (3, 0.25)
    assert {part.name: part.count for part in summary.by_effort}["no level set"] == 3


def test_the_most_frequent_kinds_of_the_dearest_model_are_the_candidates(tmp_path: Path) -> None:
    opus, haiku = "claude-opus-5-5", "claude-haiku-5-5"
    path = asked(tmp_path, ("Review it", opus, 3), ("Translate it", opus, 5), ("Review it", haiku, 9))
    summary = summed(path)
    assert summary.dearest == opus
    assert [(each.kind, each.count, each.share) for each in summary.candidates] == [
        ("translate", 5, 0.625), ("review", 3, 0.375),
    ]  # fmt: skip
    assert summary.candidates[0].why == "asked to translate; no tools"
    assert len(summary.candidates[0].examples) == 5


def test_a_single_trial_makes_no_model_the_dearest(tmp_path: Path) -> None:
    path = asked(tmp_path, ("Review it", "claude-fable-5-1", 1), ("Review it", "claude-opus-5-5", 20))
    assert summed(path).dearest == "claude-opus-5-5"


def test_without_a_known_price_no_model_is_the_dearest(tmp_path: Path) -> None:
    summary = summed(asked(tmp_path, ("Review it", "model-of-mine", 3)))
    assert (summary.dearest, summary.candidates, summary.total.cost_usd) == (None, (), None)


def test_a_day_begins_where_the_person_is(tmp_path: Path) -> None:
    rows = [user("Fix it", timestamp="2026-11-29T23:30:00Z"), reply("m1", "ok")]
    path = write(tmp_path / "s.jsonl", rows)
    assert [part.name for part in summed(path).by_day] == ["2026-11-29"]
    assert [part.name for part in summed(path, zone=timezone(timedelta(hours=1))).by_day] == ["2026-11-30"]


def test_nothing_adds_up_to_nothing(tmp_path: Path) -> None:
    summary = summed(tmp_path)
    assert (summary.total.count, summary.no_effort_share, summary.first_day) == (0, None, None)
    assert (summary.total.cost_usd, summary.total.at_least) == (None, False)


@pytest.mark.parametrize(
    ("text", "start", "end"),
    [
        ("30d", "2026-10-31T10:00", "2026-10-31T10:00"),
        ("12h", "2026-11-29T22:00", "2026-11-29T22:00"),
        ("2w", "2026-11-16T10:00", "2026-11-16T10:00"),
        ("2026-11-01", "2026-11-01T00:00", "2026-11-02T00:00"),
        ("2026-11-01T09:30", "2026-11-01T09:30", "2026-11-01T09:30"),
    ],
)
def test_a_time_is_so_long_ago_or_a_day_which_counts_whole(text: str, start: str, end: str) -> None:
    assert start_of(text, NOW, UTC).isoformat().startswith(start)
    assert end_of(text, NOW, UTC).isoformat().startswith(end)


@pytest.mark.parametrize("text", ["", "soon", "30", "2026-13-01", "999999y", "1/2/2026"])
def test_what_is_no_time_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="is no time"):
        start_of(text, NOW)
