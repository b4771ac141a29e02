"""The Logs screen: paints at once, reads beside it, names kinds, and drafts what is marked."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from resit.core.logs.kinds import load_kinds
from resit.core.logs.records import LogIndex, ScanProgress
from resit.tui.app import ResitApp
from resit.tui.log_words import parse_range
from resit.tui.screens.confirm import LineScreen
from resit.tui.screens.drafting import DraftingScreen
from resit.tui.screens.logs import LogsScreen
from resit.tui.screens.request import RequestScreen
from resit.tui.screens.suites import SuitesScreen
from resit.tui.widgets.table import ResultsGrid
from seen import press, seen, until, until_gone, until_seen

LOGS = Path(__file__).parents[1] / "data" / "logs"
SIZE = (120, 36)


def app_on_logs(*sources: Path) -> ResitApp:
    return ResitApp(first=LogsScreen(sources or (LOGS,)))


def rows_of(app: ResitApp) -> list[str]:
    grid = app.screen.query_one(ResultsGrid)
    return [grid.model.cell(row, 0).text for row in grid.order]


async def test_kinds_models_levels_days_requests_and_audit_are_each_one_key_away() -> None:
    app = app_on_logs()
    async with app.run_test(size=SIZE) as pilot:
        shown = await until_seen(pilot, "12 requests", "calculate")
        assert "25% set no level" in shown
        assert "no price for fake-large" in shown
        await press(pilot, "2")
        await until_seen(pilot, "claude-opus-5-5")
        await press(pilot, "3")
        await until_seen(pilot, "no level set")
        await press(pilot, "4")
        await until_seen(pilot, "2026-11-29")
        await press(pilot, "5")
        await until_seen(pilot, "Check invoice.txt")
        await press(pilot, "6")
        await until_seen(pilot, "no exam of this kind yet")
        await press(pilot, "v")
        await until_seen(pilot, "calculate", "total")


async def test_a_cost_that_is_not_whole_reads_at_least_and_an_unknown_one_is_never_nothing() -> None:
    app = app_on_logs()
    async with app.run_test(size=SIZE) as pilot:
        shown = await until_seen(pilot, "12 requests", "run commands")
        line = next(line for line in shown.splitlines() if "run commands" in line)
        assert "unknown" in line
        assert "≥ $0.0" in next(line for line in shown.splitlines() if "total" in line)


async def test_it_paints_before_anything_is_read_and_a_reading_can_be_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    go_on = threading.Event()

    def slow(sources: object, since: object, until: object, tell: Callable[[ScanProgress], None]) -> LogIndex:
        while True:
            tell(ScanProgress(files=1, files_total=4, bytes=25, bytes_total=100, requests=7))
            go_on.wait(0.01)

    monkeypatch.setattr("resit.core.logs.scan.scan", slow)
    app = app_on_logs()
    async with app.run_test(size=SIZE) as pilot:
        await until_seen(pilot, "Reading logs: 25% · 1 of 4 files · 7 requests · x stops")
        await press(pilot, "x")
        await until_seen(pilot, "Stopped. What was read is remembered: r goes on.")


async def test_enter_on_a_row_lists_its_requests_and_enter_on_one_reads_it() -> None:
    app = app_on_logs()
    async with app.run_test(size=SIZE) as pilot:
        await until_seen(pilot, "calculate")
        await press(pilot, "enter")
        await until_seen(pilot, "kinds: calculate")
        assert len(rows_of(app)) == 2
        await press(pilot, "enter")
        await until(pilot, lambda: isinstance(app.screen, RequestScreen))
        await until_seen(pilot, "the last words to the person", "kind calculate: asked to sum")


async def test_the_filter_takes_words_and_conditions_and_escape_takes_it_back() -> None:
    app = app_on_logs()
    async with app.run_test(size=SIZE) as pilot:
        await until_seen(pilot, "calculate")
        await press(pilot, "slash", *"tool:codex", "enter")
        await until(pilot, lambda: len(rows_of(app)) == 2)
        await press(pilot, "slash", "escape")
        await until(pilot, lambda: len(rows_of(app)) == 12)
        await press(pilot, "slash", *"is:agent", "enter")
        await until(pilot, lambda: len(rows_of(app)) == 3)


async def test_a_kind_is_renamed_and_marked_kinds_become_one_and_both_are_remembered() -> None:
    app = app_on_logs()
    async with app.run_test(size=SIZE) as pilot:
        await until_seen(pilot, "calculate")
        await press(pilot, "n")
        await until(pilot, lambda: isinstance(app.screen, LineScreen))
        await press(pilot, *["backspace"] * 9, *"sums", "enter")
        await until_seen(pilot, "sums ")
        assert "calculate" not in rows_of(app)
        await press(pilot, "home", "space", "space")
        assert sum(name.startswith("◆") for name in rows_of(app)) == 2
        merged = {name.removeprefix("◆ ") for name in rows_of(app)[:2]}
        await press(pilot, "n")
        await until_seen(pilot, "One name for")
        await press(pilot, *["backspace"] * 20, *"all", "enter")
        await until(pilot, lambda: "all" in rows_of(app))
        assert merged.isdisjoint(rows_of(app))
    assert "all" in load_kinds().names.values()


async def test_one_request_is_given_another_kind() -> None:
    app = app_on_logs()
    async with app.run_test(size=SIZE) as pilot:
        await until_seen(pilot, "calculate")
        await press(pilot, "5", "c")
        await until_seen(pilot, "Kind of 1 request")
        await press(pilot, *["backspace"] * 20, *"my kind", "enter")
        await until_seen(pilot, "my kind")
    assert list(load_kinds().requests.values()) == ["my kind"]


async def test_a_range_of_time_leaves_out_what_is_older_and_a_wrong_one_says_so() -> None:
    app = app_on_logs()
    async with app.run_test(size=SIZE, notifications=True) as pilot:
        await until_seen(pilot, "12 requests")
        await press(pilot, "t", *"yesterweek", "enter")
        await until_seen(pilot, "'yesterweek' is no time")
        await press(pilot, "t", *"2030-01-01", "enter")
        await until_seen(pilot, "0 requests", "No request was found")
        await press(pilot, "t", *["backspace"] * 12, "enter")
        await until_seen(pilot, "12 requests")


def test_a_range_has_a_beginning_an_end_or_both() -> None:
    from datetime import UTC, datetime

    now = datetime(2026, 11, 30, tzinfo=UTC)
    assert parse_range(" ", now).since is None
    both = parse_range("2026-11-01 .. 2026-11-15", now)
    assert both.since is not None
    assert both.until is not None
    assert (both.until - both.since).days == 15
    assert parse_range(".. 2d", now).since is None


async def test_drafting_without_a_mark_says_what_to_do() -> None:
    app = app_on_logs()
    async with app.run_test(size=SIZE, notifications=True) as pilot:
        await until_seen(pilot, "calculate")
        await press(pilot, "d")
        await until_seen(pilot, "Mark requests with space first")


async def test_marks_outlive_other_views_and_are_what_is_drafted() -> None:
    app = app_on_logs()
    async with app.run_test(size=SIZE) as pilot:
        await until_seen(pilot, "calculate")
        await press(pilot, "5", "space", "space", "1", "5")
        await until_seen(pilot, "2 requests marked: d drafts a suite")
        await press(pilot, "d")
        await until(pilot, lambda: isinstance(app.screen, DraftingScreen))
        await until_seen(pilot, "draft 1 of 2 · 0 ready")


async def test_logs_are_reached_from_the_first_screen_and_from_anywhere(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    app = ResitApp(first=SuitesScreen(cwd=tmp_path))
    async with app.run_test(size=SIZE) as pilot:
        await until_seen(pilot, "Short answers")
        await press(pilot, "L")
        await until(pilot, lambda: isinstance(app.screen, LogsScreen))
        await until_seen(pilot, "No request was found")
        await press(pilot, "escape")
        await press(pilot, "ctrl+o")
        await until(pilot, lambda: isinstance(app.screen, LogsScreen))


def hostile_log(folder: Path, texts: list[str]) -> Path:
    def row(number: int, **more: Any) -> dict[str, Any]:
        stamp = f"2026-11-29T12:{number // 60:02}:{number % 60:02}Z"
        return {"sessionId": "s[/]1", "timestamp": stamp, "uuid": f"u{number}", "cwd": "/tmp/[red]x", **more}

    rows = []
    for number, text in enumerate(texts):
        rows.append(row(2 * number, type="user", message={"role": "user", "content": text}))
        said = [{"type": "text", "text": text}]
        message = {"id": f"m{number}", "role": "assistant", "model": f"m-[{number}]\x1b[31m", "content": said}
        rows.append(row(2 * number + 1, type="assistant", message=message))
    path = folder / "projects" / "p" / "s.jsonl"
    path.parent.mkdir(parents=True)
    path.write_text("".join(json.dumps(each) + "\n" for each in rows))
    return path


HOSTILE = json.loads((Path(__file__).parents[1] / "data" / "hostile_replies.json").read_text(encoding="utf-8"))["cases"]


async def test_nothing_in_a_log_styles_links_or_breaks_any_of_these_screens(tmp_path: Path) -> None:
    texts = [case["text"] for case in HOSTILE if case["text"].strip()][:40]
    texts += ["[@click=app.quit]x[/]", "[/]", "[b", "\x1b]2;owned\x07", "a\u202eb", "x" * 50_000]
    app = app_on_logs(hostile_log(tmp_path, texts))
    async with app.run_test(size=(80, 24), notifications=True) as pilot:
        await until_seen(pilot, f"{len(texts)} requests")
        for view in "123456":
            await press(pilot, view, "down", "end", "home")
        await press(pilot, "5", *["space"] * len(texts), "d")
        await until(pilot, lambda: isinstance(app.screen, DraftingScreen))
        await until_seen(pilot, f"draft 1 of {len(texts)}")
        for _ in texts:
            await press(pilot, "right_square_bracket")
            assert "\x1b" not in seen(app)
        await press(pilot, "s")
        await until_seen(pilot, "Saved")
        await until_gone(pilot, "\u202e")
