from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import pytest

from mock_openai import Raw, as_ollama
from resit.core.suite import Suite, Variant
from resit.tui.app import ResitApp
from resit.tui.choice import Choice, Pick, parse_cap, recalled
from resit.tui.messages import Start
from resit.tui.preferences import Preferences
from resit.tui.screens.live import LiveScreen
from resit.tui.screens.setup import SetupScreen
from resit.tui.widgets.model_grid import ModelGrid
from resit.tui.widgets.progress_rows import bar, spark
from saved_round import ANSWERS, HAIKU, SONNET, keep_round
from seen import press, seen, until, until_gone, until_seen

SIZE = (120, 36)
NO_KEY = "ANTHROPIC_API_KEY"


@pytest.fixture
def with_key(monkeypatch: pytest.MonkeyPatch) -> None:
    """A key that looks like none of anybody's."""
    monkeypatch.setenv(NO_KEY, "not-a-real-key-0123456789")


def app_for(suite: Suite, *, folder: Path | None = None, demo: bool = False) -> ResitApp:
    return ResitApp(Start(), preferences=Preferences(folder), first=SetupScreen(suite))


async def test_what_cannot_start_says_why_beside_the_model_and_in_the_plan(suite: Suite) -> None:
    app = app_for(suite)
    async with app.run_test(size=SIZE, notifications=True) as pilot:
        shown = await until_seen(pilot, "haiku-5-5", "✗ no key")
        assert f"{NO_KEY} is neither in the environment" in shown
        await press(pilot, "space")
        await until_seen(pilot, "Nothing can start.")
        await press(pilot, "enter")
        await until_seen(pilot, f"{NO_KEY}")
        assert isinstance(app.screen, SetupScreen)


@pytest.mark.usefixtures("with_key")
async def test_the_plan_says_calls_cost_time_cap_and_endpoint(suite: Suite) -> None:
    app = app_for(suite)
    async with app.run_test(size=SIZE) as pilot:
        shown = await until_seen(pilot, "✓ key", "Pick a model")
        assert "$0.10/$0.50" in shown
        await press(pilot, "right", "space")
        shown = await until_seen(pilot, "8 to do · 0 of 8 done")
        assert "1 setting · 2 runs each" in shown
        assert "no history" in shown
        assert "at worst  $0.0" in shown
        assert "cap       $0.50" in shown
        assert "asked at  https://api.anthropic.com" in shown
        assert "not-a-real-key" not in shown


@pytest.mark.usefixtures("with_key")
async def test_an_endpoint_from_the_environment_is_never_silent(suite: Suite, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "http://127.0.0.1:9")
    app = app_for(suite)
    async with app.run_test(size=SIZE) as pilot:
        await until_seen(pilot, "Pick a model")
        await press(pilot, "space")
        shown = await until_seen(pilot, "8 to do")
        assert "http://127.0.0.1:9 (from" in shown


@pytest.mark.usefixtures("with_key")
async def test_plus_and_minus_change_the_runs_and_one_run_proves_nothing(suite: Suite) -> None:
    app = app_for(suite)
    async with app.run_test(size=SIZE) as pilot:
        await until_seen(pilot, "Pick a model")
        await press(pilot, "space", "plus")
        await until_seen(pilot, "3 runs each", "12 to do")
        await press(pilot, "minus", "minus", "minus")
        await until_seen(pilot, "1 run each", "4 to do", "One run proves nothing about variance.")


@pytest.mark.usefixtures("with_key")
async def test_the_cap_is_edited_and_a_wrong_amount_changes_nothing(suite: Suite) -> None:
    app = app_for(suite)
    async with app.run_test(size=SIZE, notifications=True) as pilot:
        await until_seen(pilot, "Pick a model")
        await press(pilot, "space", "c")
        await press(pilot, *["backspace"] * 4, *"2.5", "enter")
        await until_seen(pilot, "cap       $2.50")
        await press(pilot, "c", *"x", "enter")
        await until_seen(pilot, "is no amount in dollars", "cap       $2.50")
        await press(pilot, "c", *["backspace"] * 5, "enter")
        await until_seen(pilot, "cap       none")


@pytest.mark.usefixtures("with_key")
async def test_the_choice_is_remembered_for_this_suite(suite: Suite, tmp_path: Path) -> None:
    app = app_for(suite, folder=tmp_path / "settings")
    async with app.run_test(size=SIZE) as pilot:
        await until_seen(pilot, "Pick a model")
        await press(pilot, "down", "right", "space", "plus", "s")
        await until_seen(pilot, "one at a time")
    again = app_for(suite, folder=tmp_path / "settings")
    async with again.run_test(size=SIZE) as pilot:
        shown = await until_seen(pilot, "3 runs each", "one at a time", "12 to do")
        assert "●" in next(line for line in shown.splitlines() if "sonnet-5-5" in line)
        grid = again.screen.query_one(ModelGrid)
        assert grid.current is not None
        assert (grid.current.model, grid.effort) == ("claude-sonnet-5-5", "low")
    other = app_for(suite.model_copy(update={"name": "other"}), folder=tmp_path / "settings")
    async with other.run_test(size=SIZE) as pilot:
        await until_seen(pilot, "2 runs each", "Pick a model")


@pytest.mark.usefixtures("with_key")
async def test_a_stopped_round_says_how_much_is_done_and_why_the_rest_is_owed(suite: Suite) -> None:
    keep_round(suite, ANSWERS)
    choice = Choice(picks=(Pick(HAIKU.model, "low"), Pick(SONNET.model, "low")))
    app = app_for(suite)
    app.preferences.remember(choice.table(), "setup", suite.name)
    async with app.run_test(size=SIZE) as pilot:
        await until_seen(pilot, "2 to do · 14 of 16 done", "2 last outcome unusable", "goes on: round of 28 Nov")
        await press(pilot, "plus")
        await until_seen(pilot, "10 to do", "8 repeat")
        await press(pilot, "minus", "n")
        await until_seen(pilot, "16 to do · 0 of 16 done", "from earlier replies")


@pytest.mark.usefixtures("with_key")
async def test_wordings_serial_and_thinking_are_one_key_each(suite: Suite) -> None:
    suite = suite.model_copy(update={"variants": {"criteria": Variant(append="Count only this year.")}})
    app = app_for(suite)
    async with app.run_test(size=SIZE, notifications=True) as pilot:
        await until_seen(pilot, "Pick a model", "wording   plain")
        await press(pilot, "right", "space", "v")
        await until_seen(pilot, "wording   criteria", "1 setting")
        await press(pilot, "v")
        await until_seen(pilot, "plain, criteria", "2 settings", "16 to do")
        await press(pilot, "t")
        await until_seen(pilot, "haiku-5-5 ∅")
        await press(pilot, "s")
        await until_seen(pilot, "one at a time")
        await press(pilot, "tab")
        assert app.focused is not None
        assert app.focused.id == "plan"


@pytest.mark.usefixtures("with_key")
async def test_a_model_without_a_price_does_not_start_under_a_cap_and_its_cost_is_unknown(suite: Suite) -> None:
    from resit.core import paths

    paths.config_dir().mkdir(parents=True, exist_ok=True)
    (paths.config_dir() / "models.toml").write_text('[models."local-one"]\nbase_url = "http://127.0.0.1:9"\n')
    app = app_for(suite)
    app.preferences.remember(Choice(picks=(Pick("local-one", None),)).table(), "setup", suite.name)
    async with app.run_test(size=SIZE) as pilot:
        shown = await until_seen(pilot, "cost      unknown", "Nothing can start.")
        assert "has no price" in " ".join(shown.split())
        assert "none needed" in shown


async def test_a_models_file_with_a_fault_is_said_in_place(suite: Suite) -> None:
    from resit.core import paths

    paths.config_dir().mkdir(parents=True, exist_ok=True)
    (paths.config_dir() / "models.toml").write_text("[models\n")
    app = app_for(suite)
    async with app.run_test(size=SIZE) as pilot:
        await until_seen(pilot, "TOML:")  # the words before it wrap with the length of the path


async def test_enter_without_a_model_says_what_to_do(suite: Suite) -> None:
    app = app_for(suite)
    async with app.run_test(size=SIZE, notifications=True) as pilot:
        await until_seen(pilot, "Pick a model")
        await press(pilot, "enter")
        await until_seen(pilot, "Pick a model first")


async def test_set_up_fits_80_by_24(suite: Suite) -> None:
    app = app_for(suite)
    async with app.run_test(size=(80, 24)) as pilot:
        shown = await until_seen(pilot, "✗ no key")
        assert "max per Mtok" in shown
        assert "enter start" in shown
        await pilot.resize_terminal(200, 60)
        await until_seen(pilot, "default")


@pytest.mark.parametrize(
    ("text", "cap"),
    [("", None), ("0.5", Decimal("0.5")), ("$2", Decimal(2)), ("1,25", Decimal("1.25")), ("0", Decimal(0))],
)
def test_a_cap_is_read_as_a_person_writes_it(text: str, cap: Decimal | None) -> None:
    assert parse_cap(text) == cap


@pytest.mark.parametrize("text", ["a dollar", "-1", "NaN", "inf", "1e", "--"])
def test_what_is_no_amount_is_no_cap(text: str) -> None:
    with pytest.raises(ValueError, match="dollars"):
        parse_cap(text)


def test_what_was_remembered_survives_a_round_trip_and_nonsense_is_left_out(suite: Suite) -> None:
    choice = Choice(
        picks=(Pick("a", "low"), Pick("b", None, "recorded")),
        quiet=frozenset({"a"}),
        repeats=3,
        cap_usd=None,
        serial=True,
    )
    assert recalled(choice.table(), suite) == choice
    assert recalled({"picks": [["a", "huge", "x"], 3, ["", "", ""]], "repeats": "many"}, suite) == Choice(
        repeats=suite.repeats
    )
    assert recalled(None, suite).repeats == suite.repeats


def test_picking_twice_leaves_nothing() -> None:
    pick = Pick("a", "low")
    assert Choice().toggled(pick).toggled(pick) == Choice()
    assert replace(Choice(), repeats=1).more(-1).repeats == 1


def test_a_bar_is_full_only_when_all_is_done() -> None:
    assert bar(39, 40, 20).plain == "━" * 19 + "─"
    assert bar(40, 40, 20).plain == "━" * 20
    assert bar(0, 0, 4).plain == "────"


def test_a_sparkline_is_empty_while_nothing_is_spent() -> None:
    assert spark([0.0, 0.0]) == ""
    assert spark([0.0, 1.0, 2.0]) == "▁▅█"


async def test_the_demo_picks_what_was_recorded_and_starts_without_a_key(tmp_path: Path) -> None:
    from resit.core.suite_file import load_suite
    from resit.demo import demo_suite_path

    app = ResitApp(Start(demo=True), first=SetupScreen(load_suite(demo_suite_path())))
    async with app.run_test(size=SIZE) as pilot:
        await until(pilot, lambda: isinstance(app.screen, LiveScreen))
        await press(pilot, "x", "x", "escape")
        shown = await until_seen(pilot, "recorded", "asked at  recorded:demo")
        assert shown.count("●") == 2
        assert NO_KEY not in seen(app)


async def test_a_server_on_this_machine_is_offered_with_its_models(
    suite: Suite, monkeypatch: pytest.MonkeyPatch
) -> None:
    with as_ollama(monkeypatch, models=("llama3.2", "evil\u202e[red]x")) as server:
        app = app_for(suite)
        async with app.run_test(size=SIZE, notifications=True) as pilot:
            shown = await until_seen(pilot, "✓ running", "Pick a model")
            assert "▸llama3.2" in shown
            assert "evil" not in shown
            await press(pilot, "space")
            await until_seen(pilot, "8 to do", "unknown: no price for", f"asked at  {server.url} (from")
            await until_seen(pilot, '[prices."ollama/*"] with input = 0 and', "Nothing can start.")
            await press(pilot, "c", *["backspace"] * 4, "enter")
            await until_seen(pilot, "enter starts", "Calls may wait in line")
            await press(pilot, "s")
            await until_gone(pilot, "Calls may wait in line")
            assert not server.calls
            await press(pilot, "enter")
            await until_seen(pilot, "ollama/llama3.2 was ready after")


async def test_the_models_that_are_known_are_shown_though_a_local_server_never_answers(
    suite: Suite, monkeypatch: pytest.MonkeyPatch
) -> None:
    with as_ollama(monkeypatch) as server:
        server.listing = Raw(kind="application/json", ends="hang")
        app = app_for(suite)
        async with app.run_test(size=SIZE) as pilot:
            shown = await until_seen(pilot, "haiku-5-5", "Pick a model")
            assert "running" not in shown
