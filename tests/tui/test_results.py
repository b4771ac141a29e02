from __future__ import annotations

import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest

from resit.core.records import run_key
from resit.core.suite import Suite
from resit.tui.app import ResitApp
from resit.tui.commands import SCREENS
from resit.tui.round_view import RoundView
from resit.tui.screens.confirm import ChoiceScreen, LineScreen, PreviewScreen
from resit.tui.screens.help import HelpScreen
from resit.tui.screens.miss import MissScreen
from resit.tui.screens.results import ResultsScreen
from resit.tui.widgets.miss_pane import MissPane
from resit.tui.widgets.table import ResultsGrid
from saved_round import ANSWERS, HAIKU, SONNET, keep_round, screen_text

AppOn = Callable[[object], ResitApp]
MINUTES = run_key("minutes", SONNET, 1)
WIDE, NARROW = (130, 40), (80, 24)


def results(app: ResitApp) -> ResultsScreen:
    return next(screen for screen in reversed(app.screen_stack) if isinstance(screen, ResultsScreen))


def grid(app: ResitApp) -> ResultsGrid:
    return results(app).query_one(ResultsGrid)


async def test_the_round_opens_on_its_first_miss_with_scores_misses_and_warnings_in_sight(
    app_on: AppOn, view: RoundView
) -> None:
    app = app_on(ResultsScreen(view))
    async with app.run_test(size=WIDE) as pilot:
        await pilot.pause()
        shown = screen_text(app)
        assert "strict 4/8 · second rule 6/8 · rule of 28 Nov" in shown
        assert "6 misses left to read" in shown
        assert "1 of 8 cut off at 200 tokens" in shown
        assert "miss 1 of 6" in shown
        assert "compared  210 ≠ 210 minutes" in shown
        assert results(app).key == MINUTES


async def test_accepting_shows_what_is_written_and_what_flips_then_every_score_follows(
    app_on: AppOn, view: RoundView, suite: Suite
) -> None:
    keep_round(suite, {("minutes", "sonnet"): ("210 minutes", "3.5")}, settings=(SONNET,), name="20261127-0900")
    assert suite.path is not None
    edits = suite.path.with_name("short-answers.edits.toml")
    app = app_on(ResultsScreen(view))
    async with app.run_test(size=WIDE) as pilot:
        await pilot.press("a")
        await pilot.pause()
        assert isinstance(app.screen, PreviewScreen)
        shown = screen_text(app)
        assert 'accept = "210 minutes"' in shown
        assert "6 saved replies in 2 rounds graded again, 2 marks change" in shown
        assert "20261127-0900" in shown
        assert not edits.exists()
        await pilot.press("enter")
        await pilot.pause()
        assert tomllib.loads(edits.read_text())["edits"][0]["accept"] == "210 minutes"
        shown = screen_text(app)
        assert "strict 5/8" in shown
        assert "1 edit since" in shown
        assert "5 misses left to read" in shown
        assert results(app).key != MINUTES


async def test_escape_leaves_the_suite_as_it_was(app_on: AppOn, view: RoundView, suite: Suite) -> None:
    app = app_on(ResultsScreen(view))
    async with app.run_test(size=WIDE) as pilot:
        await pilot.press("a")
        await pilot.pause()
        await pilot.press("escape")
        await pilot.pause()
        assert suite.path is not None
        assert not suite.path.with_name("short-answers.edits.toml").exists()
        assert "strict 4/8" in screen_text(app)


async def test_undo_takes_the_last_edit_back_and_the_scores_with_it(app_on: AppOn, view: RoundView) -> None:
    app = app_on(ResultsScreen(view))
    async with app.run_test(size=WIDE) as pilot:
        await pilot.press("a")
        await pilot.pause()
        await pilot.press("enter")
        await pilot.pause()
        await pilot.press("z")
        await pilot.pause()
        assert "accept '210 minutes'" in screen_text(app)
        await pilot.press("enter")
        await pilot.pause()
        assert "strict 4/8" in screen_text(app)
        await pilot.press("z")
        await pilot.pause()
        assert isinstance(app.screen, ResultsScreen)


async def test_another_rule_says_what_it_flips_before_it_is_chosen(app_on: AppOn, view: RoundView) -> None:
    app = app_on(ResultsScreen(view))
    async with app.run_test(size=WIDE) as pilot:
        await pilot.press("u")
        await pilot.pause()
        assert isinstance(app.screen, ChoiceScreen)
        assert "number in reply: the one number in a longer reply  ·  1 mark flips" in screen_text(app)
        await pilot.press("1")
        await pilot.pause()
        assert isinstance(app.screen, PreviewScreen)
        await pilot.press("enter")
        await pilot.pause()
        assert view.suite.by_id["minutes"].rule.name == "number_in_reply"
        assert "strict 5/8" in screen_text(app)


async def test_a_verdict_counts_as_read_and_survives_a_regrade(app_on: AppOn, view: RoundView) -> None:
    app = app_on(ResultsScreen(view))
    async with app.run_test(size=WIDE) as pilot:
        await pilot.press("v")
        await pilot.pause()
        await pilot.press("m")
        await pilot.pause()
        assert "5 misses left to read" in screen_text(app)
        assert RoundView.at(view.store.path).reviews[MINUTES].verdict == "model"
        assert results(app).key != MINUTES


async def test_a_note_is_on_disk_before_the_screen_says_so(app_on: AppOn, view: RoundView) -> None:
    app = app_on(ResultsScreen(view))
    async with app.run_test(size=WIDE, notifications=True) as pilot:
        await pilot.press("n")
        await pilot.pause()
        assert isinstance(app.screen, LineScreen)
        await pilot.press(*"unit [b", "enter")
        await pilot.pause()
        assert RoundView.at(view.store.path).reviews[MINUTES].note == "unit [b"
        assert "unit [b" in screen_text(app)


async def test_a_note_that_cannot_be_written_is_kept_in_sight_and_says_why(app_on: AppOn, view: RoundView) -> None:
    def refuse(path: Path, data: bytes) -> None:
        raise OSError(28, "No space left on device")

    view.store._write = refuse
    app = app_on(ResultsScreen(view))
    async with app.run_test(size=WIDE, notifications=True) as pilot:
        await pilot.press("n")
        await pilot.pause()
        await pilot.press(*"mine", "enter")
        await pilot.pause()
        shown = screen_text(app)
        assert "Not written down (mine)" in shown
        assert "no room" in shown


async def test_brackets_step_through_the_misses_and_stop_at_the_ends(app_on: AppOn, view: RoundView) -> None:
    app = app_on(ResultsScreen(view))
    async with app.run_test(size=WIDE) as pilot:
        seen = [results(app).key]
        for _ in range(7):
            await pilot.press("right_square_bracket")
            await pilot.pause()
            seen.append(results(app).key)
        assert seen[:6] == view.misses
        assert seen[5:] == [view.misses[-1]] * 3
        await pilot.press("left_square_bracket")
        await pilot.pause()
        assert results(app).key == view.misses[-2]


async def test_both_shapes_keep_the_run_in_front(app_on: AppOn, view: RoundView) -> None:
    app = app_on(ResultsScreen(view))
    async with app.run_test(size=WIDE) as pilot:
        await pilot.press("right_square_bracket", "t")
        await pilot.pause()
        assert len(grid(app).order) == 16
        assert grid(app).chosen_id == results(app).key == view.misses[1]
        await pilot.press("t")
        await pilot.pause()
        assert len(grid(app).order) == 4
        assert results(app).key == view.misses[1]


async def test_every_column_of_the_runs_sorts_both_ways(app_on: AppOn, view: RoundView) -> None:
    app = app_on(ResultsScreen(view))
    async with app.run_test(size=WIDE) as pilot:
        await pilot.press("t")
        await pilot.pause()
        for column in range(len(grid(app).model.columns)):
            grid(app).cursor_column = column
            await pilot.press("s")
            up = [grid(app).model.sort_value(row, column) for row in grid(app).order]
            await pilot.press("s")
            down = [grid(app).model.sort_value(row, column) for row in grid(app).order]
            known = [value for value in up if value is not None]
            assert [value for value in down if value is not None] == known[::-1]
            await pilot.press("s")
        assert grid(app).sorted_by is None


async def test_misses_only_and_a_filter_combine(app_on: AppOn, view: RoundView) -> None:
    app = app_on(ResultsScreen(view))
    async with app.run_test(size=WIDE) as pilot:
        await pilot.press("t", "f")
        await pilot.pause()
        assert len(grid(app).order) == 6
        await pilot.press("slash", *"model:sonnet reason:format", "enter")
        await pilot.pause()
        assert [view.row(key).question for key in map(grid(app).model.row_id, grid(app).order)] == [
            "minutes",
            "product",
        ]
        await pilot.press("slash", "escape")
        await pilot.pause()
        assert len(grid(app).order) == 6
        await pilot.press("f")
        await pilot.pause()
        assert len(grid(app).order) == 16


async def test_in_a_narrow_window_tab_opens_the_pane_and_gives_the_grid_back(app_on: AppOn, view: RoundView) -> None:
    app = app_on(ResultsScreen(view))
    async with app.run_test(size=NARROW) as pilot:
        await pilot.pause()
        pane = results(app).query_one(MissPane)
        assert "asked" not in screen_text(app)
        await pilot.press("tab")
        await pilot.pause()
        assert pane.has_focus
        assert "compared  210 ≠ 210 minutes" in screen_text(app)
        await pilot.press("tab")
        await pilot.pause()
        assert grid(app).has_focus
        assert "asked" not in screen_text(app)


async def test_the_whole_job_is_done_at_80_by_24(app_on: AppOn, view: RoundView) -> None:
    app = app_on(ResultsScreen(view))
    async with app.run_test(size=NARROW) as pilot:
        await pilot.press("enter")
        await pilot.pause()
        assert isinstance(app.screen, MissScreen)
        await pilot.press("a")
        await pilot.pause()
        await pilot.press("enter")
        await pilot.pause()
        assert isinstance(app.screen, MissScreen)
        await pilot.press("v")
        await pilot.pause()
        await pilot.press("m")
        await pilot.pause()
        await pilot.press("escape")
        await pilot.pause()
        assert "strict 5/8" in screen_text(app)
        assert "4 misses left to read" in screen_text(app)


async def test_copy_hands_the_untouched_reply_to_the_terminal(
    app_on: AppOn, view: RoundView, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = app_on(ResultsScreen(view))
    async with app.run_test(size=WIDE) as pilot:
        await pilot.press("y")
        await pilot.pause()
        assert app.clipboard == "210 minutes"


async def test_commas_and_full_stops_step_through_the_runs_of_the_question(app_on: AppOn, view: RoundView) -> None:
    app = app_on(ResultsScreen(view))
    async with app.run_test(size=WIDE) as pilot:
        await pilot.press("full_stop")
        await pilot.pause()
        assert results(app).key == run_key("minutes", SONNET, 2)
        await pilot.press("full_stop")
        await pilot.pause()
        assert results(app).key == run_key("minutes", HAIKU, 1)
        await pilot.press("comma", "comma")
        await pilot.pause()
        assert results(app).key == MINUTES


async def test_a_question_that_checks_decide_cannot_be_accepted_and_says_what_can_be_done(
    app_on: AppOn, view: RoundView
) -> None:
    app = app_on(ResultsScreen(view, key=run_key("sign-off", HAIKU, 2)))
    async with app.run_test(size=WIDE, notifications=True) as pilot:
        await pilot.pause()
        assert "no_list" in screen_text(app)
        await pilot.press("a")
        await pilot.pause()
        assert isinstance(app.screen, ResultsScreen)
        assert "Checks decide this question" in screen_text(app)


async def test_every_key_of_the_screen_is_bound_and_explained(app_on: AppOn, view: RoundView) -> None:
    app = app_on(ResultsScreen(view))
    async with app.run_test(size=(130, 60)) as pilot:
        await pilot.pause()
        bound = set(app.screen.active_bindings)
        for command in SCREENS["results"]:
            assert set(command.keys.split(",")) & bound, command
            assert hasattr(app.screen, f"action_{command.action.split('(')[0]}"), command
        await pilot.press("question_mark")
        await pilot.pause()
        assert isinstance(app.screen, HelpScreen)
        shown = screen_text(app)
        for command in SCREENS["results"]:
            assert command.about[:30] in shown, command
        await pilot.press("escape")
        await pilot.pause()
        assert isinstance(app.screen, ResultsScreen)


async def test_an_empty_round_says_so(app_on: AppOn, suite: Suite) -> None:
    path = keep_round(suite, {("minutes", "sonnet"): ("210",)}, settings=(HAIKU,), name="empty")
    app = app_on(ResultsScreen(path))
    async with app.run_test(size=WIDE, notifications=True) as pilot:
        await pilot.press("enter", "a", "v", "n", "y", "right_square_bracket", "t", "f", "s", "full_stop")
        await pilot.pause()
        assert "No run is kept in this round yet." in screen_text(app)


async def test_a_file_that_is_damaged_is_named_and_the_rest_is_shown(app_on: AppOn, round_path: Path) -> None:
    (round_path / "results" / f"{MINUTES}.json").write_text("{")
    app = app_on(ResultsScreen(round_path))
    async with app.run_test(size=WIDE) as pilot:
        await pilot.pause()
        assert "1 damaged file" in screen_text(app)
        assert "5 misses left to read" in screen_text(app)


async def test_a_round_without_its_suite_file_is_read_and_says_why_nothing_can_be_edited(
    app_on: AppOn, suite: Suite, round_path: Path
) -> None:
    assert suite.path is not None
    suite.path.unlink()
    app = app_on(ResultsScreen(round_path))
    async with app.run_test(size=WIDE, notifications=True) as pilot:
        await pilot.press("a")
        await pilot.pause()
        assert isinstance(app.screen, ResultsScreen)
        assert "graded by the rules it was asked with" in screen_text(app)


async def test_a_running_round_fills_the_grid_and_leaves_cursor_and_pane_alone(
    app_on: AppOn, suite: Suite, tmp_path: Path
) -> None:
    from datetime import UTC, datetime

    from resit.core.rounds.events import RunKept
    from resit.core.rounds.progress import Progress
    from resit.tui.messages import ProgressChanged

    whole = RoundView.at(keep_round(suite, ANSWERS, name="whole"))
    begun = {("leap-year", "haiku"): ("365",), ("product", "haiku"): ("408", "408")}
    view = RoundView.at(keep_round(suite, dict(begun), name="begun"))
    screen = ResultsScreen(view)
    app = app_on(screen)
    async with app.run_test(size=WIDE) as pilot:
        await pilot.press("t")
        app.session.round_path = view.store.path
        grid(app).go_to(run_key("leap-year", HAIKU, 1))
        await pilot.pause()
        kept = []
        for key in reversed(whole.keys):
            record = whole.store.read(key)
            assert record is not None
            kept.append(RunKept(at=datetime.now(UTC), record=record, row=whole.row(key)))
        screen.post_message(ProgressChanged(Progress(), tuple(kept), ()))
        await pilot.pause(1.2)
        assert len(grid(app).order) == 16
        assert grid(app).chosen_id == results(app).key == run_key("leap-year", HAIKU, 1)
        assert view.keys == whole.keys
        assert "strict 4/8" in screen_text(app)


async def test_asking_again_says_first_what_it_calls(
    app_on: AppOn, view: RoundView, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-planted-0000")
    app = app_on(ResultsScreen(view))
    async with app.run_test(size=WIDE, notifications=True) as pilot:
        await pilot.press("R")
        await pilot.pause()
        assert isinstance(app.screen, PreviewScreen)
        shown = screen_text(app)
        assert "Ask minutes again?" in shown
        assert "1 call" in shown
        assert "sk-planted" not in shown
        await pilot.press("escape")
        await pilot.pause()
        assert isinstance(app.screen, ResultsScreen)
        assert not app.session.running


async def test_without_colour_every_mark_still_says_it(
    app_on: AppOn, view: RoundView, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    app = app_on(ResultsScreen(view))
    async with app.run_test(size=WIDE) as pilot:
        await pilot.pause()
        assert "✗ 0.00 1/2 (✓)" in screen_text(app)
        assert "½ 0.67" in screen_text(app)
