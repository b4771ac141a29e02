"""A verdict counts alike on the screen, in `resit show` and in the note."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from resit.cli import main
from resit.core.judging.columns import score_cells
from resit.core.judging.evidence import weigh
from resit.core.judging.note import NOTE, write_note
from resit.core.judging.sheet import make_sheet
from resit.core.records import Setting, VerdictWord, run_key
from resit.core.rounds.shelf import open_round
from resit.core.suite import Suite
from resit.tui.app import ResitApp
from resit.tui.history import past_rounds, round_line
from resit.tui.results_models import QuestionsModel
from resit.tui.round_view import RoundView
from resit.tui.screens.results import ResultsScreen
from resit.tui.widgets.table import ResultsGrid
from saved_round import HAIKU, SONNET, screen_text

AppOn = Callable[[object], ResitApp]
WIDE = (140, 40)
LETTERS: dict[VerdictWord, str] = {"model": "m", "grader": "g", "question": "q", "setup": "s"}
GIVEN: list[list[tuple[str, Setting, int, VerdictWord]]] = [
    [("product", SONNET, 2, "model")],
    [("product", SONNET, 2, "grader")],
    [("product", SONNET, 2, "setup")],
    [("product", SONNET, 2, "question")],
    [("leap-year", SONNET, 2, "model")],
    [("leap-year", SONNET, 2, "setup"), ("sign-off", SONNET, 2, "setup")],
    [("leap-year", HAIKU, 1, "question"), ("leap-year", SONNET, 2, "setup"), ("minutes", SONNET, 1, "setup")],
    [("minutes", SONNET, 1, "question"), ("product", SONNET, 2, "question")],
]


async def settle(app: ResitApp, given: list[tuple[str, Setting, int, VerdictWord]]) -> str:
    """Give these verdicts by key; what then stands on the screen."""
    async with app.run_test(size=WIDE) as pilot:
        await pilot.pause()
        for question, setting, run, verdict in given:
            screen = app.screen
            assert isinstance(screen, ResultsScreen)
            screen.show_key(run_key(question, setting, run))
            await pilot.press("v")
            await pilot.pause()
            await pilot.press(LETTERS[verdict])
            await pilot.pause()
            if app.screen is not screen:
                # What the verdict asks for is put off.
                await pilot.press("escape")
                await pilot.pause()
        return screen_text(app)


@pytest.mark.parametrize("given", GIVEN, ids=lambda given: "-".join(word for *_, word in given))
async def test_screen_show_note_and_list_agree_after_any_verdict(
    app_on: AppOn,
    view: RoundView,
    suite: Suite,
    capsys: pytest.CaptureFixture[str],
    given: list[tuple[str, Setting, int, VerdictWord]],
) -> None:
    shown = await settle(app_on(ResultsScreen(view)), given)
    model = QuestionsModel(view)
    lowest = {label: cell.text.split()[-1] for label, cell in zip(view.settings, model.summaries[0][3:], strict=True)}

    capsys.readouterr()
    assert main(["show", "last", "--json"]) == 0
    told: dict[str, Any] = json.loads(capsys.readouterr().out)
    assert lowest == {s["setting"]: f"{s['lowest_full']}/{s['of']}" for s in told["settings"]}
    strict = sum(s["lowest_full"] for s in told["settings"]), sum(s["of"] for s in told["settings"])
    assert f"strict {strict[0]}/{strict[1]} ·" in shown
    for label, summary in view.grid.summaries.items():
        (said,) = (s for s in told["settings"] if s["setting"] == label)
        assert (summary.mean, summary.lowest_score, summary.unsettled) == (
            said["mean"],
            said["lowest_score"],
            said["unsettled"],
        )
    assert list(view.evidence.questions_out) == told["left_out"]["questions"]
    assert ("left out:" in shown) == bool(told["left_out"]["questions"] or told["left_out"]["runs"])
    assert view.left_out_said in shown

    found = open_round(view.store.path)
    sheet = make_sheet(found)
    write_note(found.store, sheet)
    note = (found.store.path / NOTE).read_text(encoding="utf-8")
    for figure in sheet.figures:
        assert lowest[figure.summary.setting.label] == score_cells(figure, sheet.has_second)[0]
        label = figure.summary.setting.label
        lines = [line for line in note.splitlines() if line.startswith("|") and label in line]
        assert f"| {lowest[label]} " in lines[0]

    (past,) = past_rounds(suite)
    assert {mark.setting: f"{mark.full}/{mark.of}" for mark in past.marks} == lowest


async def test_what_is_left_out_stays_in_sight_with_a_mark(app_on: AppOn, view: RoundView) -> None:
    shown = await settle(
        app_on(ResultsScreen(view)), [("leap-year", HAIKU, 1, "question"), ("product", SONNET, 2, "setup")]
    )
    (leap_year,) = (line for line in shown.splitlines() if "leap-year  " in line and "dates" in line)
    assert "– ✗ 0.00" in leap_year
    (product,) = (line for line in shown.splitlines() if "product " in line and "arithmetic" in line)
    assert "✓ 1.00 –1" in product
    assert "left out: 1 question, 1 run ·" in shown
    (sums,) = (line for line in shown.splitlines() if "– left out" in line)
    assert "2 runs" in sums
    assert "3 runs" in sums


async def test_one_row_a_run_marks_what_is_left_out(app_on: AppOn, view: RoundView) -> None:
    view.settle(run_key("product", SONNET, 2), "setup", "")
    app = app_on(ResultsScreen(view))
    async with app.run_test(size=WIDE) as pilot:
        await pilot.press("t")
        await pilot.pause()
        table = app.screen.query_one(ResultsGrid)
        out = [row for row in range(len(table.model)) if table.model.cell(row, 3).text.startswith("–")]
        assert [table.model.row_id(row) for row in out] == [run_key("product", SONNET, 2)]


def test_an_edit_after_verdicts_counts_as_if_all_were_weighed_anew(view: RoundView) -> None:
    from datetime import UTC, datetime

    from resit.core.suite import Edit

    view.settle(run_key("product", SONNET, 2), "setup", "")
    view.settle(run_key("leap-year", HAIKU, 1), "question", "")
    for question, accept in (("minutes", "210 minutes"), ("product", "The product is 408."), ("leap-year", "366 days")):
        assert view.grid.summaries
        at = datetime.now(UTC).replace(microsecond=0)
        view.keep(Edit(at=at, question=question, what="accept", accept=accept))
        assert view.evidence == weigh(view.store.id, view.plan, view.suite, view.rows, view.reviews)


def test_a_round_that_was_never_graded_is_not_shown_as_all_wrong_and_free(suite: Suite, round_path: Path) -> None:
    (round_path / "graded.json").unlink(missing_ok=True)
    (past,) = past_rounds(suite)
    assert past.ungraded == past.kept > 0
    assert past.marks == ()
    assert past.cost_usd is None
    assert "not graded yet" in round_line(past, "Last round").plain
