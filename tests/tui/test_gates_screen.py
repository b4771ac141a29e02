"""Gates and rules on the screen: each with its evidence, and rules written only after their change was shown."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest
from textual.screen import ModalScreen, Screen

from resit.core.records import run_key
from resit.core.suite import Suite
from resit.core.suite_file import load_suite
from resit.tui.app import ResitApp
from resit.tui.looks import BAD_CHARACTERS
from resit.tui.round_view import RoundView
from resit.tui.screens.confirm import PreviewScreen
from resit.tui.screens.gates import GateLines, GatesScreen
from resit.tui.screens.history import HistoryScreen
from resit.tui.screens.results import ResultsScreen
from resit.tui.widgets.plotted import Plotted
from resit.tui.widgets.table import ResultsGrid
from saved_round import ANSWERS, BEGAN, HAIKU, SONNET, Answers, keep_round, screen_text
from seen import press, until_seen

AppOn = Callable[[object], ResitApp]
SIZE = (120, 40)
RIGHT: Answers = {
    ("minutes", "haiku"): ("210", "210"),
    ("minutes", "sonnet"): ("210", "210"),
    ("product", "haiku"): ("408", "408"),
    ("product", "sonnet"): ("no", "408"),
    ("leap-year", "haiku"): ("366", "366"),
    ("leap-year", "sonnet"): ("366", "366"),
    ("sign-off", "haiku"): ("It is 391.\nCheers",),
    ("sign-off", "sonnet"): ("It is 391.\nCheers", "- 391\nCheers"),
}
"""Sums: haiku passes. Dates: both are full. Instructions: haiku has a single run, a miss of sonnet is unread."""


@pytest.fixture
def screen(suite: Suite) -> GatesScreen:
    return GatesScreen(suite, [keep_round(suite, RIGHT)])


def rows(app: ResitApp) -> dict[tuple[str, str], list[str]]:
    """What stands in each row, by kind and setting."""
    model = app.screen.query_one(ResultsGrid).model
    assert isinstance(model, GateLines)
    return {
        (route.kind, gated.label): [model.cell(at, column).text for column in range(len(model.columns))]
        for at, (route, gated) in enumerate(model.rows)
    }


async def test_each_setting_stands_before_the_gates_for_each_kind_of_work(app_on: AppOn, screen: GatesScreen) -> None:
    app = app_on(screen)
    async with app.run_test(size=SIZE) as pilot:
        await until_seen(pilot, "kinds decided")
        found = rows(app)
        assert found["arithmetic", HAIKU.label][3:6] == ["▸ use", "✓ ✓ ✓ ✓", "2/2 100%"]
        assert found["arithmetic", SONNET.label][3:6] == ["", "✓ ✗ ✗ ✓", "1/2 50.0%"]
        assert found["dates", HAIKU.label][4] == "✓ ✓ ✓ ~"
        assert found["dates", HAIKU.label][7] == "enough for this kind of work"
        assert "untested for variance" in found["instructions", HAIKU.label][7]
        assert "2 of 3 kinds decided" in screen_text(app)


async def test_every_gate_of_the_row_in_front_is_told_with_its_evidence(app_on: AppOn, screen: GatesScreen) -> None:
    app = app_on(screen)
    async with app.run_test(size=SIZE) as pilot:
        await until_seen(pilot, "kinds decided")
        await press(pilot, "down")
        shown = screen_text(app)
        for wanted in (
            "✓ 1 runs     2 or more runs of each of 2 questions",
            "✗ 2 lowest   lowest runs: 1/2 full, 50.0%, below the bar of 100%",
            "✗ 3 read     1 of 1 run below full marks unread",
            "✓ 4 ceiling  1 of 2 settings with full marks",
        ):
            assert wanted in shown


async def test_what_is_used_today_and_another_bar_change_the_rule(app_on: AppOn, screen: GatesScreen) -> None:
    app = app_on(screen)
    async with app.run_test(size=SIZE) as pilot:
        await until_seen(pilot, "kinds decided")
        await press(pilot, "down", "u")
        assert "used today: claude-sonnet-5-5 low" in screen_text(app)
        await press(pilot, "b", *["backspace"] * 4, *"50%", "enter")
        assert "bar 50.0%" in screen_text(app)
        assert rows(app)["arithmetic", SONNET.label][4] == "✓ ✓ ✗ ✓"
        await press(pilot, "b", *["backspace"] * 4, *"lots", "enter")
        assert "bar 50.0%" in screen_text(app)


async def test_score_against_cost_and_growing_exams_are_plotted(app_on: AppOn, screen: GatesScreen) -> None:
    app = app_on(screen)
    async with app.run_test(size=SIZE) as pilot:
        await until_seen(pilot, "kinds decided")
        await press(pilot, "p")
        await until_seen(pilot, "lowest score against cost")
        await until_seen(pilot, "100%┤")
        assert screen.query_one(Plotted).size.height > 5
        await press(pilot, "p")
        await until_seen(pilot, "score of 90 in 100 exams")
        assert "arithmetic: 2 questions cannot say whether more would help." in screen_text(app)
        await press(pilot, "p")
        assert "1 runs " in screen_text(app)


async def test_the_rules_are_written_into_a_block_once_the_change_was_seen(
    app_on: AppOn, screen: GatesScreen, tmp_path: Path
) -> None:
    path = tmp_path / "AGENTS.md"
    path.write_text("# Mine\n\nKeep this.\n", encoding="utf-8")
    app = app_on(screen)
    async with app.run_test(size=SIZE) as pilot:
        await until_seen(pilot, "kinds decided")
        await press(pilot, "w", "b", "enter")
        front: Screen[object] = app.screen
        assert isinstance(front, PreviewScreen)
        assert "+<!-- resit rules: begin -->" in screen_text(app)
        await press(pilot, "escape")
        assert path.read_text(encoding="utf-8") == "# Mine\n\nKeep this.\n"
        await press(pilot, "w", "b", "enter", "enter")
        written = path.read_text(encoding="utf-8")
        assert written.startswith("# Mine\n\nKeep this.\n\n<!-- resit rules: begin -->\n")
        assert "| arithmetic | claude-haiku-5-5 low | 2/2 full" in written
        await press(pilot, "w", "b", "enter")
        assert not isinstance(app.screen, ModalScreen)


@pytest.mark.parametrize(("key", "name"), [("m", "routing.md"), ("t", "routing.toml")])
async def test_the_rules_are_written_as_a_file_of_their_own(
    app_on: AppOn, screen: GatesScreen, tmp_path: Path, key: str, name: str
) -> None:
    app = app_on(screen)
    async with app.run_test(size=SIZE) as pilot:
        await until_seen(pilot, "kinds decided")
        await press(pilot, "w", key, "enter", "enter")
    assert "claude-haiku-5-5" in (tmp_path / name).read_text(encoding="utf-8")


async def test_a_folder_takes_no_rules(app_on: AppOn, screen: GatesScreen, tmp_path: Path) -> None:
    (tmp_path / "routing.md").mkdir()
    app = app_on(screen)
    async with app.run_test(size=SIZE, notifications=True) as pilot:
        await until_seen(pilot, "kinds decided")
        await press(pilot, "w", "m", "enter")
        await until_seen(pilot, "is a folder")
        assert app.screen is screen


async def test_several_rounds_are_decided_together(app_on: AppOn, suite: Suite) -> None:
    older = keep_round(suite, ANSWERS, name="20261128-1")
    newer = keep_round(suite, RIGHT, settings=(HAIKU,), name="20261129-1", at=BEGAN + timedelta(days=1))
    app = app_on(GatesScreen(suite, [older, newer]))
    async with app.run_test(size=SIZE) as pilot:
        await until_seen(pilot, "2 rounds")
        assert {label for _, label in rows(app)} == {HAIKU.label, SONNET.label}


async def test_a_verdict_in_the_results_opens_a_gate(app_on: AppOn, view: RoundView) -> None:
    for key in view.misses:
        view.settle(key, "model", "")
    view.settle(run_key("minutes", SONNET, 1), None, "")
    app = app_on(ResultsScreen(view))
    async with app.run_test(size=SIZE) as pilot:
        await pilot.pause()
        await press(pilot, "g")
        await until_seen(pilot, "kinds decided")
        found = rows(app)
        assert found["dates", HAIKU.label][4] == "✓ ✗ ✓ ✓"
        assert found["arithmetic", SONNET.label][4] == "✓ ✗ ✗ ✓"


HOSTILE = """
title = "t [/] [b"
[[questions]]
id = "q [/]"
kind = "[@click=app.quit]k[/"
prompt = "p [/abc]"
accept = ["[b 1"]
[[questions]]
id = "r [red]"
kind = "\\u202e[link=file:///]k"
prompt = "p"
accept = ["2"]
"""


async def test_hostile_names_are_only_text_in_gates_history_and_the_rules_to_be_written(
    app_on: AppOn, tmp_path: Path
) -> None:
    path = tmp_path / "hostile.toml"
    path.write_text(HOSTILE, encoding="utf-8")
    suite = load_suite(path)
    attack = "\x1b]52;c;eA==\x07[/] <!-- resit rules: end -->"
    folder = keep_round(suite, {("q [/]", "haiku"): ("[b 1", attack), ("r [red]", "haiku"): ("2", "2")})
    app = app_on(GatesScreen(suite, [folder]))
    async with app.run_test(size=SIZE, notifications=True) as pilot:
        await until_seen(pilot, "kinds decided", "[@click=app.quit]k[/")
        await press(pilot, "w", "b", "enter")
        await until_seen(pilot, "+<!-- resit rules: begin -->")
        assert not BAD_CHARACTERS.search(screen_text(app).replace("\n", ""))
        await press(pilot, "enter")
        assert (tmp_path / "AGENTS.md").read_text(encoding="utf-8").count("<!-- resit rules: end -->") == 1
        await app.push_screen(HistoryScreen(suite))
        await until_seen(pilot, "1 round ·")
        await press(pilot, "t")
        await until_seen(pilot, "q [/]")
        assert not BAD_CHARACTERS.search(screen_text(app).replace("\n", ""))
        assert app.is_running
