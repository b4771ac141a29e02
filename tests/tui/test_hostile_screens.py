from __future__ import annotations

import ast
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from rich.cells import cell_len
from textual.app import App, ComposeResult
from textual.content import Content
from textual.widgets import DataTable, Markdown, OptionList, Static

from resit.core.printable import printable
from resit.core.records import Fault, run_key
from resit.core.suite_file import load_suite
from resit.tui.app import ResitApp
from resit.tui.looks import BAD_CHARACTERS, ControlGuard
from resit.tui.round_view import RoundView
from resit.tui.screens.confirm import ChoiceScreen, LineScreen, PreviewScreen
from resit.tui.screens.miss import MissScreen
from resit.tui.screens.results import ResultsScreen
from resit.tui.widgets.text_view import Part, TextView, wrap
from saved_round import HAIKU, keep_round, reply, screen_text

AppOn = Callable[[object], ResitApp]
CORPUS: list[dict[str, Any]] = json.loads(
    (Path(__file__).parents[1] / "data" / "hostile_replies.json").read_text(encoding="utf-8")
)["cases"]
SOURCE = Path(__file__).parents[2] / "src" / "resit" / "tui"


def hostile(case: dict[str, Any]) -> str:
    unit, times = case.get("repeat") or ("", 0)
    return str(case["text"]) + str(unit) * int(times)


TEXTS = {case["id"]: hostile(case) for case in CORPUS}
BATCHES = [list(TEXTS)[at : at + 10] for at in range(0, len(TEXTS), 10)]


def assert_harmless(app: App[Any]) -> None:
    """Nothing drawn holds a control character, and every line is as wide as the screen."""
    for strip in app.screen._compositor.render_strips():
        assert not BAD_CHARACTERS.search(strip.text), repr(strip.text)
        for segment in strip:
            assert segment.style is None or not (segment.style.link or segment.style.meta.get("@click"))
        assert cell_len(strip.text) == app.size.width


def hostile_round(tmp_path: Path, ids: list[str]) -> RoundView:
    """A round in which every reply, id, kind, trap, fault and note of the suite is hostile."""
    path = tmp_path / "hostile.toml"
    lines = ['title = "t [/] [b"', 'second_rule = "number_in_reply"']
    for name in ids:
        lines += [
            "[[questions]]",
            f'id = "{name} [/]"',
            'kind = "[red]k[/"',
            'prompt = "p [/abc]"',
            'accept = ["[b 1"]',
        ]
        lines += ['traps = [{ reply = "[/x", why = "[@click=app.quit]w[/]" }]']
    path.write_text("\n".join(lines), encoding="utf-8")
    suite = load_suite(path)
    answers: dict[tuple[str, str], Any] = {}
    for name in ids:
        text = TEXTS[name]
        answers[f"{name} [/]", "haiku"] = (reply(text, thinking=text, stop_detail=text, model=text, request_id=text),)
        fault = Fault(kind="server", said=text.encode("utf-8", "replace").decode() or "empty", request_id=text)
        answers[f"{name} [/]", "sonnet"] = (fault,)
    return RoundView.at(keep_round(suite, answers))


@pytest.mark.parametrize("ids", BATCHES, ids=lambda ids: ids[0])
async def test_no_reply_does_anything_to_the_results_but_stand_there(
    app_on: AppOn, tmp_path: Path, ids: list[str]
) -> None:
    view = hostile_round(tmp_path, ids)
    for key in list(view.misses)[:3]:
        view.settle(key, "grader", "note [/] \x1b[2J".replace("\x1b", "ESC"))
    app = app_on(ResultsScreen(view))
    async with app.run_test(size=(130, 40), notifications=True) as pilot:
        await pilot.pause()
        assert_harmless(app)
        for _ in range(len(view.misses)):
            await pilot.press("right_square_bracket")
            await pilot.pause()
            assert_harmless(app)
        await pilot.press("t")
        for _ in range(15):
            await pilot.press("right")
        await pilot.pause()
        assert_harmless(app)


@pytest.mark.parametrize("ids", BATCHES, ids=lambda ids: ids[0])
async def test_no_reply_does_anything_full_screen_in_dialogs_or_in_notices(
    app_on: AppOn, tmp_path: Path, ids: list[str]
) -> None:
    view = hostile_round(tmp_path, ids)
    screen = MissScreen(view, view.keys[0])
    app = app_on(screen)
    async with app.run_test(size=(80, 24), notifications=True) as pilot:
        await pilot.press("i")
        for name in ids:
            text = TEXTS[name]
            screen.show_key(run_key(f"{name} [/]", HAIKU, 1))
            app.clear_notifications()
            app.say(text)
            await pilot.press("pagedown", "end", "y", "a")
            await pilot.pause()
            assert_harmless(app)
            await pilot.press("escape")
            for dialog in (
                ChoiceScreen(text, [("a", "a", text)], about=text),
                LineScreen(text, text[:500]),
                PreviewScreen(text, Content(printable(text, 500))),
            ):
                await app.push_screen(dialog)
                await pilot.pause()
                assert_harmless(app)
                app.pop_screen()


async def test_what_was_written_is_what_is_read(app_on: AppOn, tmp_path: Path) -> None:
    name = next(name for name, text in TEXTS.items() if "[red]" in text and len(text) < 60)
    view = hostile_round(tmp_path, [name])
    app = app_on(MissScreen(view, run_key(f"{name} [/]", HAIKU, 1)))
    async with app.run_test(size=(80, 60)) as pilot:
        await pilot.pause()
        assert TEXTS[name].split("\n")[0] in screen_text(app)


class Careless(App[None]):
    """Widgets that were handed raw text, as a slip in a later screen would."""

    TEXT = "t\x1b]2;PWNED\x1b\\ \x9b2J \x1b]52;c;UFdORUQ=\x1b\\ \u202eoverride"

    def get_line_filters(self) -> list[Any]:
        return [*super().get_line_filters(), ControlGuard()]

    def compose(self) -> ComposeResult:
        yield Static(self.TEXT, markup=False)
        yield OptionList(self.TEXT, markup=False)
        yield Markdown(self.TEXT)
        yield DataTable()

    def on_mount(self) -> None:
        table: DataTable[str] = self.query_one(DataTable)
        table.add_columns("column")
        table.add_row(self.TEXT)
        self.notify(self.TEXT, markup=False)


async def test_the_guard_stops_control_characters_whatever_widget_draws_them() -> None:
    app = Careless()
    async with app.run_test(size=(80, 30), notifications=True) as pilot:
        await pilot.pause()
        drawn = "".join(strip.text for strip in app.screen._compositor.render_strips())
        assert not BAD_CHARACTERS.search(drawn)
        assert "PWNED" in drawn


def test_no_call_of_ours_hands_a_text_to_markup() -> None:
    """Titles, notices and statics are built through the plain wrappers; this reads the source for slips."""
    slips = []
    for path in SOURCE.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        for node in ast.walk(ast.parse(text)):
            if not isinstance(node, ast.Call):
                continue
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            words = {keyword.arg for keyword in node.keywords}
            if name in {"Static", "Label", "notify", "OptionList", "SelectionList"} and "markup" not in words:
                slips.append(f"{path.name}:{node.lineno} {name}")
            if name in {"from_markup", "escape"} and "re.escape" not in ast.unparse(node):
                slips.append(f"{path.name}:{node.lineno} {name}")
    assert slips == []


@pytest.mark.parametrize(
    "line", ["", "a", "word " * 50, "x" * 500, "漢字" * 100, "e\u0301" * 200, "👩‍👩‍👧" * 60, "a 漢 " * 80]
)
@pytest.mark.parametrize("width", [8, 33, 120])
def test_wrapping_loses_nothing_and_never_passes_the_width(line: str, width: int) -> None:
    pieces = list(wrap(line, width))
    assert "".join(pieces) == line
    assert all(cell_len(piece.rstrip(" ")) <= width for piece in pieces)


class LongText(App[None]):
    CSS = "TextView { height: 1fr; }"

    def compose(self) -> ComposeResult:
        yield TextView()


@pytest.mark.parametrize(
    "text",
    ["word and more " * 75_000, "x" * 1_000_000, "short line\n" * 100_000, "漢字かな " * 120_000],
    ids=["words", "one line", "lines", "wide"],
)
async def test_a_megabyte_opens_scrolls_and_resizes_without_a_wait(text: str) -> None:
    app = LongText()
    async with app.run_test(size=(100, 40)) as pilot:
        view = app.query_one(TextView)
        view.focus()
        began = time.process_time()
        view.show([Part("Reply", text)])
        await pilot.pause()
        opened_s = time.process_time() - began
        began = time.process_time()
        await pilot.press("pagedown", "pagedown", "end", "home")
        await pilot.pause()
        moved_s = time.process_time() - began
        # Seconds of CPU, for a busy machine is slow. The stock widgets took 3 to 10 to open this, up to 3 a page.
        assert opened_s < 3.0
        assert moved_s < 3.0


def test_the_corpus_is_the_whole_corpus() -> None:
    assert len(TEXTS) >= 59
