from __future__ import annotations

import os
from pathlib import Path

import pytest

from resit.core import paths
from resit.core.edits import edits_path
from resit.core.judging.rule_words import rule_sentence
from resit.core.rule import Contains, Date, Exact, LastLine, NumberInReply, Numeric
from resit.core.suite_file import load_suite, starter_suite
from resit.tui.app import ResitApp
from resit.tui.messages import Start
from resit.tui.screens.compare import CompareScreen
from resit.tui.screens.rounds_list import RoundsScreen
from resit.tui.screens.setup import SetupScreen
from resit.tui.screens.spend import SpendScreen
from resit.tui.screens.suites import SuitesScreen
from resit.tui.shelf import find, read, refreshed, write_starter
from seen import press, seen, until, until_gone, until_seen

SIZE = (120, 36)
GOOD = """title = "My own exam"
about = "Sums."
[[questions]]
id = "sum"
kind = "sums"
prompt = "What is 1 + 1?"
accept = ["2"]
traps = [{ reply = "11", why = "the digits put side by side" }]
"""
BAD = """title = "Broken exam"
[[questions]]
id = "one"
prompt = "What is 1 + 1?"
acept = ["2"]
[[questions]]
id = "two"
prompt = "What is 2 + 2?"
"""


def app_with(*given: Path) -> ResitApp:
    return ResitApp(Start(tuple(str(path) for path in given)))


@pytest.fixture
def good(tmp_path: Path) -> Path:
    path = tmp_path / "given" / "mine.toml"
    path.parent.mkdir()
    path.write_text(GOOD, encoding="utf-8")
    return path


@pytest.fixture
def bad(tmp_path: Path) -> Path:
    path = tmp_path / "given" / "broken.toml"
    path.parent.mkdir(exist_ok=True)
    path.write_text(BAD, encoding="utf-8")
    return path


async def test_an_empty_start_shows_the_samples_and_how_to_add_ones_own() -> None:
    app = app_with()
    async with app.run_test(size=SIZE) as pilot:
        shown = await until_seen(pilot, "Short answers", "20 questions")
        assert "Several asks" in shown
        assert "Add your own" in shown
        assert "spent this month $0.00" in await until_seen(pilot, "spent this month")


async def test_a_suite_says_its_rule_in_one_sentence_its_questions_and_its_traps(good: Path) -> None:
    app = app_with(good)
    async with app.run_test(size=SIZE) as pilot:
        shown = await until_seen(pilot, "My own exam", "1 question · 1 kind · exact")
        assert "The whole reply equals an accepted answer" in shown
        assert "No round yet: enter sets one up." in shown
        row = next(line for line in shown.splitlines() if " sums " in line)
        assert "sum" in row
        assert row.rstrip(" │").endswith("1")


async def test_a_suite_with_faults_stays_in_the_list_and_its_faults_fill_the_pane(bad: Path) -> None:
    app = app_with(bad)
    async with app.run_test(size=SIZE) as pilot:
        shown = await until_seen(pilot, "✗ Broken exam", "nothing of this suite is asked", "did you mean", "line 5")
        assert "two" in shown
        await press(pilot, "enter")
        assert isinstance(app.screen, SuitesScreen)


async def test_a_mended_file_is_read_again_by_itself(bad: Path) -> None:
    app = app_with(bad)
    async with app.run_test(size=SIZE) as pilot:
        await until_seen(pilot, "✗ Broken exam")
        bad.write_text(GOOD, encoding="utf-8")  # noqa: ASYNC240 - a person saves it
        shown = await until_seen(pilot, "My own exam")
        assert "✗" not in shown


async def test_suites_of_the_working_folder_and_the_data_folder_are_listed_but_no_other_toml(good: Path) -> None:
    cwd, yours = good.parent, paths.data_dir() / "suites"
    (cwd / "pyproject.toml").write_text('[project]\nname = "x"\n', encoding="utf-8")
    (cwd / "mine.edits.toml").write_text("edits = []\n", encoding="utf-8")
    yours.mkdir(parents=True)
    (yours / "kept.toml").write_text(GOOD, encoding="utf-8")
    found = find((), cwd, yours, ())
    assert [(item.path.name, item.origin) for item in found] == [("mine.toml", "here"), ("kept.toml", "yours")]


def test_a_suite_named_twice_is_listed_once(good: Path) -> None:
    found = find([str(good), str(good.parent)], good.parent, good.parent, [good])
    assert [(item.path.name, item.origin) for item in found] == [("mine.toml", "given")]


def test_only_a_changed_file_is_read_again(good: Path) -> None:
    (item,) = find([str(good)], good.parent / "none", good.parent / "none", ())
    known = refreshed(item, None)
    assert refreshed(item, known) is known
    edits_path(good).write_text("edits = []\n", encoding="utf-8")
    assert refreshed(item, known) is not known


async def test_the_filter_narrows_the_list_by_any_word(good: Path) -> None:
    app = app_with(good)
    async with app.run_test(size=SIZE) as pilot:
        await until_seen(pilot, "Several asks")
        await press(pilot, "slash", *"sums")
        shown = await until_gone(pilot, "Several asks")
        assert "My own exam" in shown
        await press(pilot, "escape")
        assert "Several asks" in await until_seen(pilot, "Several asks")
        assert isinstance(app.screen, SuitesScreen)


async def test_a_filter_that_matches_nothing_says_so() -> None:
    app = app_with()
    async with app.run_test(size=SIZE) as pilot:
        await until_seen(pilot, "Several asks")
        await press(pilot, "slash", *"zzz")
        await until_seen(pilot, "No suite matches 'zzz'")


async def test_n_writes_a_starter_without_a_fault_and_goes_to_it() -> None:
    app = app_with()
    async with app.run_test(size=SIZE) as pilot:
        await until_seen(pilot, "Several asks")
        await press(pilot, "n")
        shown = await until_seen(pilot, "My exam", "in your suites")
        assert "leap-year" in shown
    assert (paths.data_dir() / "suites" / "my-exam.toml").read_text(encoding="utf-8") == starter_suite()


def test_a_second_starter_leaves_the_first_alone(tmp_path: Path) -> None:
    first = write_starter(tmp_path)
    first.write_text(GOOD, encoding="utf-8")
    second = write_starter(tmp_path)
    assert second != first
    assert first.read_text(encoding="utf-8") == GOOD
    (item,) = find([str(second)], tmp_path / "none", tmp_path / "none", ())
    assert read(item).faults == ()


async def test_every_key_of_the_footer_does_something(good: Path) -> None:
    app = app_with(good)
    async with app.run_test(size=SIZE, notifications=True) as pilot:
        await until_seen(pilot, "My own exam")
        await press(pilot, "c")
        await until_seen(pilot, "no faults")
        for key, screen in (("r", RoundsScreen), ("dollar_sign", SpendScreen), ("enter", SetupScreen)):
            await press(pilot, key)
            await until(pilot, lambda screen=screen: isinstance(app.screen, screen))  # type: ignore[misc]
            await press(pilot, "escape")
            await until(pilot, lambda: isinstance(app.screen, SuitesScreen))
        await press(pilot, "tab")
        assert app.focused is not None
        assert app.focused.id == "suite"


async def test_a_terminal_that_cannot_step_aside_is_told_which_file_to_edit(good: Path) -> None:
    app = app_with(good)
    async with app.run_test(size=SIZE, notifications=True) as pilot:
        await until_seen(pilot, "My own exam")
        await press(pilot, "e")
        await until_seen(pilot, "cannot step aside")


async def test_a_sample_is_copied_before_it_is_edited() -> None:
    app = app_with()
    async with app.run_test(size=SIZE) as pilot:
        await until_seen(pilot, "Short answers")
        await press(pilot, "e")
        await until(pilot, (paths.data_dir() / "suites" / "short-answers.toml").exists)
        await until_seen(pilot, "in your suites")


async def test_the_whole_screen_fits_80_by_24(good: Path) -> None:
    app = app_with(good)
    async with app.run_test(size=(80, 24)) as pilot:
        shown = await until_seen(pilot, "My own exam", "enter set up")
        assert "? help" in shown


async def test_hostile_titles_and_names_are_shown_as_they_are(tmp_path: Path) -> None:
    path = tmp_path / "x.toml"
    path.write_text(GOOD.replace("My own exam", "[/] [red]b\\u001b[2J").replace("Sums.", "[@click=app.quit]x[/]"))
    app = app_with(path)
    async with app.run_test(size=SIZE) as pilot:
        shown = await until_seen(pilot, "[/] [red]b", "[@click=app.quit]x[/]")
        assert "\x1b" not in shown


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        (Exact(), "the whole reply equals an accepted answer (case does not matter)"),
        (Numeric(), "the reply is one accepted number and nothing else"),
        (NumberInReply(pick="last"), "the last number in the reply is an accepted one"),
        (Contains(), "an accepted answer stands in the reply as whole words"),
        (Date(), "the reply is the accepted day, in any unambiguous form"),
        (LastLine(rule=Exact(case=True)), "the last line decides: the whole reply equals an accepted answer"),
    ],
)
def test_a_rule_is_said_in_one_sentence(rule: Exact, said: str) -> None:
    assert rule_sentence(rule) == said


async def test_rounds_are_listed_opened_and_two_of_them_compared(tmp_path: Path) -> None:
    from saved_round import ANSWERS, SUITE, keep_round

    path = tmp_path / "short-answers.toml"
    path.write_text(SUITE, encoding="utf-8")
    suite = load_suite(path)
    wrong = {**ANSWERS, ("minutes", "sonnet"): ("210 minutes", "210 minutes")}
    keep_round(suite, wrong, name="20261128-1402")
    keep_round(suite, {**wrong, ("minutes", "sonnet"): ("210", "210")}, name="20261129-1000")
    app = ResitApp(first=RoundsScreen(suite))
    async with app.run_test(size=SIZE) as pilot:
        shown = await until_seen(pilot, "2 rounds")
        assert shown.count("16/16") == 2
        await press(pilot, "c")
        assert isinstance(app.screen, RoundsScreen)
        await press(pilot, "space", "down", "space")
        await until_seen(pilot, "Two rounds marked")
        await press(pilot, "c")
        await until(pilot, lambda: isinstance(app.screen, CompareScreen))
        shown = await until_seen(pilot, "1 fixed")
        fixed = next(line for line in shown.splitlines() if "✓ fixed" in line)
        assert "minutes" in fixed
        assert "210 minutes" in fixed
        assert "No difference is shown" in shown
        await press(pilot, "f", "s", "escape")
        await press(pilot, "enter")
        await until_seen(pilot, "strict")


async def test_a_running_round_is_named_with_its_process(tmp_path: Path) -> None:
    from resit.core.rounds.store import RoundStore
    from saved_round import ANSWERS, SUITE, keep_round

    path = tmp_path / "short-answers.toml"
    path.write_text(SUITE, encoding="utf-8")
    suite = load_suite(path)
    store = RoundStore.open(keep_round(suite, ANSWERS))
    store.lock()
    try:
        app = ResitApp(first=RoundsScreen(suite))
        async with app.run_test(size=SIZE) as pilot:
            await until_seen(pilot, f"running {os.getpid()}")
    finally:
        store.unlock()


async def test_spend_is_listed_by_day_model_and_suite_and_an_unknown_cost_is_not_zero() -> None:
    from datetime import UTC, datetime
    from decimal import Decimal

    from resit.core.records import Usage
    from resit.core.spend.ledger import Ledger, LedgerEntry

    for model, cost in (("haiku", Decimal("0.0012")), ("local", None)):
        Ledger().append(
            LedgerEntry(
                at=datetime.now(UTC), suite="sums", round="r", question="q", model=model, setting=f"{model} low", run=1,
                attempt=1, provider="anthropic", endpoint="x", ended="end", usage=Usage(input_tokens=10), cost_usd=cost,
            )
        )  # fmt: skip
    app = ResitApp(first=SpendScreen())
    async with app.run_test(size=SIZE) as pilot:
        await until_seen(pilot, "spent this month ≥ $0.00 · 1 round")
        await press(pilot, "m")
        shown = await until_seen(pilot, "haiku")
        assert "unknown" in next(line for line in shown.splitlines() if "local" in line)
        assert "≥ $0.0012" in next(line for line in shown.splitlines() if "total" in line)
        await press(pilot, "s")
        assert "sums" in await until_seen(pilot, "sums")
        await press(pilot, "d")
        assert f"{datetime.now():%Y-%m-%d}" in seen(app)
