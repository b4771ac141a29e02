"""The walk through drafts: from marked requests to a suite that is checked and asked, by keyboard alone."""

from __future__ import annotations

import socket
from datetime import UTC, datetime
from pathlib import Path

import pytest

from resit.core import paths
from resit.core.calling.recorded_client import RecordedClient, RecordedFile, record
from resit.core.logs.draft_files import DraftBook, load_book, save_book, suites_folder
from resit.core.logs.drafts import Draft, DraftFile, Fresh, Proposal, Swap
from resit.core.records import Reply, Setting
from resit.core.rounds.plan import build_request
from resit.core.rounds.session import prepare_round
from resit.core.suite_file import load_suite
from resit.tui.app import ResitApp
from resit.tui.screens.confirm import ChoiceScreen, LineScreen
from resit.tui.screens.drafting import DraftingScreen
from resit.tui.screens.live import LiveScreen
from resit.tui.screens.logs import LogsScreen
from resit.tui.screens.results import ResultsScreen
from resit.tui.screens.setup import SetupScreen
from resit.tui.screens.spend import SpendScreen
from resit.tui.screens.writing import TextScreen
from resit.tui.starting import start
from saved_round import screen_text
from seen import press, seen, until, until_gone, until_seen

LOGS = Path(__file__).parents[1] / "data" / "logs"
SIZE = (120, 40)
DRAFT = Draft(
    id="total", kind="reading", prompt="Net 100 for [email 1]. Total?", source="Claude Code", said="It is 119."
)
SWAP = Swap("email", "ida@example.org", "[email 1]", 1)


def screen_of(*drafts: Draft, swaps: tuple[Swap, ...] = ()) -> DraftingScreen:
    return DraftingScreen.of_requests([Fresh(draft, swaps, 0) for draft in drafts or (DRAFT,)])


def app_on(screen: DraftingScreen) -> ResitApp:
    return ResitApp(first=screen)


def line_of(app: ResitApp, label: str) -> str:
    return next(line for line in seen(app).splitlines() if label in line)


async def write(pilot: object, *keys: str) -> None:
    await press(pilot, *keys, "enter")  # type: ignore[arg-type]


async def test_the_prompt_what_was_said_then_and_what_is_missing_stand_together() -> None:
    app = app_on(screen_of())
    async with app.run_test(size=SIZE) as pilot:
        shown = await until_seen(pilot, "prompt, as it would be asked", "what the model said then")
        assert "it is no answer key" in shown
        assert "needs an accepted answer, or checks; a trap, or your word that there is none" in shown
        assert "computed by you, not by a model" in shown


async def test_answer_rule_trap_and_a_line_on_the_work_are_written_and_saved() -> None:
    app = app_on(screen_of())
    async with app.run_test(size=SIZE, notifications=True) as pilot:
        await until_seen(pilot, "right answer")
        await press(pilot, "enter")
        await until_seen(pilot, "What is the right answer, computed by you?")
        await write(pilot, *"119 | 119.00")
        await press(pilot, "down", "enter", "b")
        await until_seen(pilot, "numeric: the reply is one accepted number")
        await press(pilot, "down", "down", "enter")
        await until_seen(pilot, "A wrong answer that tempts")
        await write(pilot, *"100")
        await until_seen(pilot, "Why does '100' tempt?")
        await write(pilot, *"the net sum")
        await until_seen(pilot, "100 (the net sum)")
        await press(pilot, "down", "down", "enter")
        await write(pilot, *"Reading a total")
        await until_seen(pilot, "✓ ready to be asked once it is saved")
        assert not suites_folder().exists()
        await press(pilot, "s")
        await until_seen(pilot, "Saved: 1 to be asked, 0 drafts left")
    (question,) = load_suite(suites_folder() / "from-my-logs.toml").asked
    assert (question.accept, question.rule.name) == (("119", "119.00"), "numeric")
    assert (question.traps[0].reply, question.traps[0].why) == ("100", "the net sum")
    assert question.about == "Reading a total"


async def test_the_word_that_there_is_no_trap_is_enough() -> None:
    app = app_on(screen_of(DRAFT.replaced(accept=("119",))))
    async with app.run_test(size=SIZE) as pilot:
        await until_seen(pilot, "no trap")
        await press(pilot, "down", "enter")
        await until_seen(pilot, "there is none, you say", "✓ ready")


async def test_checks_are_written_as_a_suite_writes_them_and_a_wrong_one_is_said() -> None:
    app = app_on(screen_of())
    async with app.run_test(size=SIZE, notifications=True) as pilot:
        await until_seen(pilot, "checks")
        await press(pilot, "down", "down", "enter")
        await write(pilot, *"max_word = 3")
        await until_seen(pilot, "did you mean")
        await press(pilot, "enter")
        await write(pilot, *'max_words = 20; contains = "a; b"')
        await until_seen(pilot, 'max_words = 20; contains = "a; b"')
        assert len(app.screen.draft.checks) == 2  # type: ignore[attr-defined]


async def test_a_rule_with_parameters_is_written_and_an_unknown_one_is_said() -> None:
    app = app_on(screen_of())
    async with app.run_test(size=SIZE, notifications=True) as pilot:
        await until_seen(pilot, "rule")
        await press(pilot, "down", "enter", "w")
        await until(pilot, lambda: isinstance(app.screen, LineScreen))
        await write(pilot, *["backspace"] * 5, *'{ name = "numeric", tolerance = 0.5 }')
        await until_seen(pilot, "within 0.5")
        await press(pilot, "enter", "w")
        await write(pilot, *["backspace"] * 40, *"nummeric")
        await until_seen(pilot, "did you mean")


async def test_what_the_guard_would_refuse_is_said_at_once() -> None:
    app = app_on(screen_of(DRAFT.replaced(accept=("119",), trap="119")))
    async with app.run_test(size=SIZE) as pilot:
        await until_seen(pilot, "✗ the trap", "passes as a right answer")


async def test_each_redaction_is_shown_and_given_back_and_taken_again_one_by_one() -> None:
    app = app_on(screen_of(swaps=(SWAP,)))
    async with app.run_test(size=SIZE) as pilot:
        shown = await until_seen(pilot, "taken out", "ida@example.org → [email 1], 1 time")
        assert "Net 100 for [email 1]." in shown
        await press(pilot, "end", "enter")
        await until_seen(pilot, "given back", "Net 100 for ida@example.org.")
        await press(pilot, "enter")
        await until_seen(pilot, "taken out", "Net 100 for [email 1].")
        await press(pilot, "s")
    for path in paths.data_dir().rglob("*"):
        assert not path.is_file() or b"ida@example.org" not in path.read_bytes()


async def test_data_can_be_left_out() -> None:
    app = app_on(screen_of(DRAFT.replaced(files=(DraftFile(name="bill.csv", text="a,b\n1,2\n"),))))
    async with app.run_test(size=SIZE) as pilot:
        await until_seen(pilot, "kept · bill.csv", "data: bill.csv")
        await press(pilot, "end", "enter")
        await until_seen(pilot, "left out · bill.csv")
        await until_gone(pilot, "data: bill.csv")


async def test_the_prompt_is_edited_in_place() -> None:
    app = app_on(screen_of())
    async with app.run_test(size=SIZE) as pilot:
        await until_seen(pilot, "prompt")
        await press(pilot, "end", "enter")
        await until(pilot, lambda: isinstance(app.screen, TextScreen))
        await press(pilot, "end", *" A number.", "ctrl+s")
        await until_seen(pilot, "Net 100 for [email 1]. Total? A number.")
        await press(pilot, "enter", "x", "escape")
        await until(pilot, lambda: isinstance(app.screen, DraftingScreen))
        assert "Total? A number." in seen(app)


async def test_what_a_model_proposed_counts_only_once_it_is_accepted_part_by_part() -> None:
    proposal = Proposal(model="m low", prompt="Net 100. Total?", about="Totals", rule="numeric", trap="100", why="net")
    app = app_on(DraftingScreen(DraftBook(title="t", drafts=(DRAFT.replaced(proposed=proposal),))))
    async with app.run_test(size=SIZE, notifications=True) as pilot:
        shown = await until_seen(pilot, "wording that m low proposes", "◇ trap")
        assert shown.count("proposed: y") >= 3
        await press(pilot, "home", "y")
        await until_seen(pilot, "No model proposed anything for this line")
        await press(pilot, "down", "y")
        await until_seen(pilot, "numeric: the reply is one accepted number")
        await press(pilot, "down", "down", "minus")
        await until_gone(pilot, "◇ trap")
        draft = app.screen.draft  # type: ignore[attr-defined]
        assert (draft.rule, draft.trap, draft.prompt) == ("numeric", "", DRAFT.prompt)
        assert draft.proposed.parts == ("prompt", "about")


async def test_drafts_are_walked_and_dropped() -> None:
    app = app_on(screen_of(DRAFT, DRAFT.replaced(id="second"), DRAFT.replaced(id="third")))
    async with app.run_test(size=SIZE) as pilot:
        await until_seen(pilot, "draft 1 of 3", "total · reading")
        await press(pilot, "right_square_bracket")
        await until_seen(pilot, "draft 2 of 3", "second · reading")
        await press(pilot, "X")
        await until_seen(pilot, "draft 2 of 2", "third · reading")
        await press(pilot, "left_square_bracket")
        await until_seen(pilot, "draft 1 of 2", "total · reading")


async def test_leaving_asks_about_what_is_not_saved_and_saved_drafts_are_opened_again() -> None:
    app = ResitApp(first=LogsScreen([LOGS]))
    async with app.run_test(size=SIZE, notifications=True) as pilot:
        await until_seen(pilot, "12 requests")
        await app.push_screen(screen_of())
        await until_seen(pilot, "draft 1 of 1")
        await press(pilot, "escape")
        await until(pilot, lambda: isinstance(app.screen, ChoiceScreen))
        await press(pilot, "c")
        await until_seen(pilot, "draft 1 of 1")
        await press(pilot, "q", "s")
        await until(pilot, lambda: isinstance(app.screen, LogsScreen))
        await press(pilot, "o", "1")
        await until_seen(pilot, "draft 1 of 1 · 0 ready", "Net 100 for [email 1].")
        await press(pilot, "escape")
        await until(pilot, lambda: isinstance(app.screen, LogsScreen))


async def test_leaving_without_saving_leaves_nothing_on_disk() -> None:
    app = ResitApp(first=SpendScreen())
    async with app.run_test(size=SIZE) as pilot:
        await app.push_screen(screen_of())
        await until_seen(pilot, "draft 1 of 1")
        await press(pilot, "escape", "l")
        await until(pilot, lambda: isinstance(app.screen, SpendScreen))
    assert not suites_folder().exists()
    assert not (paths.data_dir() / "drafts").exists()


async def test_a_suite_the_person_changed_is_not_written_over() -> None:
    saved = save_book(DraftBook(title="Bills", drafts=(DRAFT,)))
    saved.suite_path.write_text("# mine\n" + saved.suite_path.read_text())
    app = app_on(DraftingScreen(load_book("bills")))
    async with app.run_test(size=SIZE, notifications=True) as pilot:
        await until_seen(pilot, "draft 1 of 1")
        await press(pilot, "s")
        await until_seen(pilot, "under a new name")
    assert saved.suite_path.read_text().startswith("# mine\n")


async def test_nothing_is_set_up_before_a_draft_is_ready() -> None:
    app = app_on(screen_of())
    async with app.run_test(size=SIZE, notifications=True) as pilot:
        await until_seen(pilot, "draft 1 of 1")
        await press(pilot, "g")
        await until_seen(pilot, "No draft is ready")
        assert isinstance(app.screen, DraftingScreen)


def recorded(suite_path: Path) -> tuple[RecordedClient, Setting]:
    """A recording in which a model answers every question of the suite in two runs."""
    suite = load_suite(suite_path)
    setting = Setting(model="claude-haiku-5-5", effort="low", provider="recorded")
    replies = [
        record(
            build_request(suite, question, setting, "recorded:walk"), Reply(text=question.accept[0], seconds=0.1),
            question=question.id, run=run, recorded_at=datetime(2026, 11, 29, tzinfo=UTC),
        )
        for question in suite.asked
        for run in (1, 2)
    ]  # fmt: skip
    return RecordedClient(RecordedFile(about="made for a test", replies=tuple(replies)), "walk"), setting


@pytest.mark.parametrize("size", [(80, 24), (120, 40)], ids=["80x24", "120x40"])
async def test_from_logs_to_a_finished_checked_and_asked_suite_without_any_network(
    size: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("the network was used")

    app = ResitApp(first=LogsScreen([LOGS]))
    async with app.run_test(size=size, notifications=False) as pilot:
        for name in ("create_connection", "getaddrinfo", "gethostbyname"):
            monkeypatch.setattr(socket, name, refuse)
        monkeypatch.setattr(socket.socket, "connect", refuse)

        # Logs: two requests are marked and drafted.
        await until_seen(pilot, "12 requests")
        await press(pilot, "slash", *"add tool:claude", "enter")
        await until_seen(pilot, "Add")
        await press(pilot, "space", "slash", "escape", "5", "home", "space", "d")
        await until(pilot, lambda: isinstance(app.screen, DraftingScreen))
        shown = await until_seen(pilot, "draft 1 of 2 · 0 ready")
        assert "what the model said then" in shown

        # The walk: an answer and a trap for the first, an answer and no trap for the second.
        await write(pilot, "enter", *"42")
        await press(pilot, "down", "down", "down", "enter")
        await write(pilot, *"41")
        await write(pilot, *"one is forgotten")
        await until_seen(pilot, "✓ ready")
        await press(pilot, "right_square_bracket")
        await until_seen(pilot, "draft 2 of 2 · 1 ready")
        await write(pilot, "enter", *"408")
        await press(pilot, "down", "down", "down", "down", "enter")
        await until_seen(pilot, "draft 2 of 2 · 2 ready")

        # Set up: the suite is saved, sound, and ready to be asked.
        await press(pilot, "g")
        await until(pilot, lambda: isinstance(app.screen, SetupScreen))
        path = suites_folder() / "from-my-logs.toml"
        suite = load_suite(path)
        assert len(suite.asked) == 2
        assert all(question.traps or question.no_trap for question in suite.asked)

        # Asked of a recording, the round ends with full marks.
        client, setting = recorded(path)
        prepared = prepare_round(suite, [setting], 2, clients={"recorded": client})
        assert prepared.problems == ()
        start(app, prepared, suite)
        await until(pilot, lambda: isinstance(app.screen, LiveScreen))
        await until(pilot, lambda: app.session.ended is not None and not app.session.running)
        await press(pilot, "g")
        await until(pilot, lambda: isinstance(app.screen, ResultsScreen))
        await until_seen(pilot, "strict 2/2")
        assert "\x1b" not in screen_text(app)


async def test_quitting_asks_about_drafts_that_are_not_saved() -> None:
    app = app_on(screen_of())
    async with app.run_test(size=SIZE) as pilot:
        await until_seen(pilot, "draft 1 of 1")
        await press(pilot, "ctrl+q")
        await until_seen(pilot, "These drafts are not saved.")
        await press(pilot, "l")
        await until(pilot, lambda: app.return_code == 0)
