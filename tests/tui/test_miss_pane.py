from __future__ import annotations

from collections.abc import Callable

import pytest

from resit.core.records import run_key
from resit.core.suite import Suite
from resit.tui.app import ResitApp
from resit.tui.commands import SCREENS
from resit.tui.miss_text import full_parts, marked_difference, pane_text
from resit.tui.round_view import RoundView
from resit.tui.rule_choices import form_to_accept, sensible_rules
from resit.tui.screens.confirm import PreviewScreen
from resit.tui.screens.miss import MissScreen
from saved_round import HAIKU, SONNET, keep_round, reply, screen_text

AppOn = Callable[[object], ResitApp]
MINUTES = run_key("minutes", SONNET, 1)


def pane(view: RoundView, key: str, width: int = 60) -> str:
    return pane_text(view.miss(key), width).plain


def line(text: str, label: str) -> str:
    return next(line for line in text.split("\n") if line.startswith(f"{label} "))


def test_accepted_and_said_stand_under_their_own_names(view: RoundView) -> None:
    text = pane(view, MINUTES)
    assert line(text, "accepts") == "accepts   210"
    assert line(text, "said") == "said      210 minutes"
    assert line(text, "compared") == "compared  210 ≠ 210 minutes"


def test_the_difference_is_underlined_and_nothing_else_is() -> None:
    wanted, got = marked_difference("210", "210 minutes")
    assert [(span.start, span.end) for span in wanted.spans if "underline" in str(span.style)] == []
    assert [got.plain[span.start : span.end] for span in got.spans if "underline" in str(span.style)] == [" minutes"]


def test_a_format_miss_says_that_the_second_rule_passes(view: RoundView) -> None:
    text = pane(view, MINUTES)
    assert line(text, "kind") == "kind      format: right answer, wrong form"
    assert line(text, "second").startswith("second    ✓ number in reply: ")


def test_the_trap_it_fell_into_is_named_with_its_why(view: RoundView) -> None:
    text = pane(view, run_key("leap-year", HAIKU, 1))
    assert line(text, "trap") == "trap      365: an ordinary year"
    assert line(text, "kind") == "kind      the trap"


def test_failed_checks_are_told_by_name(view: RoundView) -> None:
    text = pane(view, run_key("sign-off", HAIKU, 2))
    assert "✓ product" in text
    assert "✗ no_list: " in text
    assert "✓ cheers" in text


def test_a_cut_off_reply_is_no_wrong_answer(view: RoundView) -> None:
    text = pane(view, run_key("leap-year", SONNET, 2))
    assert "? cut off" in text
    assert line(text, "outcome") == "outcome   cut off at the token limit, so no fair answer"
    assert line(text, "stop") == "stop      cut off"
    assert "kind  " not in text


def test_a_run_without_a_reply_says_why(view: RoundView) -> None:
    text = pane(view, run_key("sign-off", SONNET, 2))
    assert line(text, "no reply") == "no reply  rate limit: 50 calls a minute"


def test_the_other_runs_stand_side_by_side_and_equal_replies_are_folded_with_a_count(view: RoundView) -> None:
    text = pane(view, MINUTES)
    assert "✓ haiku-5-5 low r1,2 ×2  210" in text
    assert "✓ sonnet-5-5 low r2  210" in text


def test_tokens_time_stop_and_request_are_there(view: RoundView) -> None:
    text = pane(view, MINUTES)
    assert line(text, "tokens") == "tokens    41 in · 5 out"
    assert line(text, "time") == "time      0.8 s · first token 0.31 s · $0.0001"
    assert line(text, "stop") == "stop      end"
    assert line(text, "request") == "request   req_01"


def test_a_check_that_always_fails_points_at_the_grader_first(suite: Suite) -> None:
    answers = {("sign-off", "haiku"): ("391", "391"), ("sign-off", "sonnet"): ("391", "391")}
    view = RoundView.at(keep_round(suite, dict(answers)))
    assert "look at the grader first" in pane(view, view.misses[0], 200)


def test_a_verdict_and_a_note_are_shown(view: RoundView) -> None:
    view.settle(MINUTES, "question", "asks for [minutes]")
    assert line(pane(view, MINUTES), "verdict") == "verdict   question – asks for [minutes]"


def test_long_texts_are_cut_and_say_how_much_more_there_is(suite: Suite) -> None:
    long = "so " * 20_000
    view = RoundView.at(keep_round(suite, {("minutes", "haiku"): (long,)}))
    text = pane(view, view.misses[0])
    assert "59,100 more, enter opens" in text
    assert len(text) < 4_000
    whole = next(part for part in full_parts(view.miss(view.misses[0])) if part.heading.startswith("Reply"))
    assert whole.text == long


def test_a_reply_of_many_lines_does_not_swallow_the_pane(suite: Suite) -> None:
    view = RoundView.at(keep_round(suite, {("minutes", "haiku"): ("a\n" * 400,)}))
    text = pane(view, view.misses[0])
    assert "more, enter opens" in text
    assert text.count("\n") < 60
    assert line(text, "stop")


def test_every_line_hangs_under_its_value(view: RoundView) -> None:
    lines = pane(view, MINUTES, 40).split("\n")
    assert max(len(text) for text in lines[1:]) <= 40
    at = next(number for number, text in enumerate(lines) if text.startswith("because"))
    assert lines[at + 1].startswith(" " * 10)


def test_the_full_screen_has_prompt_reply_thinking_others_and_attempts(suite: Suite) -> None:
    answers = {("minutes", "haiku"): (reply("210 min", thinking="3.5 × 60"), "210")}
    view = RoundView.at(keep_round(suite, dict(answers)))
    headings = [part.heading for part in full_parts(view.miss(view.misses[0]))]
    assert headings == [
        "Summary",
        "Prompt, as the model saw it",
        "Accepted",
        "Reply, as received (7 characters)",
        "As compared",
        "Thinking (8 characters)",
        "✓ claude-haiku-5-5 low · run 2",
        "Attempts",
        "Figures",
    ]


def test_what_would_be_accepted_is_the_reply_without_its_thinking(view: RoundView) -> None:
    miss = view.miss(MINUTES)
    assert form_to_accept(miss, "<think>hm</think>\n210 minutes ") == "210 minutes"


def test_only_rules_that_can_decide_the_question_are_offered(suite: Suite) -> None:
    names = [rule.name for rule in sensible_rules(suite.by_id["minutes"])]
    assert "number_in_reply" in names
    assert "contains" in names
    assert "json" not in names
    assert "exact" not in names


async def test_every_key_of_the_full_screen_does_what_it_says(app_on: AppOn, view: RoundView) -> None:
    screen = MissScreen(view, MINUTES)
    app = app_on(screen)
    async with app.run_test(size=(100, 30), notifications=True) as pilot:
        await pilot.pause()
        for command in SCREENS["miss"]:
            assert hasattr(screen, f"action_{command.action.split('(')[0]}")
        await pilot.press("right_square_bracket")
        assert screen.key == view.misses[1]
        await pilot.press("left_square_bracket", "full_stop")
        assert screen.key == run_key("minutes", SONNET, 2)
        await pilot.press("comma", "y")
        assert app.clipboard == "210 minutes"
        await pilot.press("i")
        await pilot.pause()
        assert "Invisible characters are shown by name." in screen_text(app)
        await pilot.press("a")
        await pilot.pause()
        assert isinstance(app.screen, PreviewScreen)
        await pilot.press("escape", "n", *"seen", "enter")
        await pilot.pause()
        assert view.reviews[MINUTES].note == "seen"
        await pilot.press("v", "q")
        await pilot.pause()
        assert view.reviews[MINUTES].verdict == "question"


@pytest.mark.parametrize("width", [24, 60, 200])
def test_the_pane_fits_any_width(view: RoundView, width: int) -> None:
    for key in view.misses:
        assert all(len(text) <= max(width, 24) for text in pane(view, key, width).split("\n")[1:])
