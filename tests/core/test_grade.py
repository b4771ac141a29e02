from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from resit.core.records import FAIR, Attempt, Fault, FaultKind, Outcome, Reply, RunRecord, Setting, Stop
from resit.core.rule import Check, Contains, Exact, Json, LastLine, NumberInReply, Numeric, Regex
from resit.core.scoring import grade as grade_module
from resit.core.scoring.grade import Grade, counted, grade, grade_text, unfair
from resit.core.suite import Question, Trap

AT = datetime(2026, 11, 29, 14, 2, tzinfo=UTC)
SETTING = Setting(model="m", effort="low")


def reply(text: str, stop: Stop = "end", detail: str = "") -> Reply:
    return Reply(text=text, stop=stop, stop_detail=detail, seconds=1.0)


def fault(kind: FaultKind) -> Fault:
    return Fault(kind=kind, said=f"{kind} was met")


def record(*came: Reply | Fault, asked: tuple[str, ...] = ()) -> RunRecord:
    attempts = tuple(
        Attempt(
            number=at,
            at=AT,
            asked=asked[at - 1] if asked else "same",
            reply=each if isinstance(each, Reply) else None,
            fault=each if isinstance(each, Fault) else None,
        )
        for at, each in enumerate(came, 1)
    )
    return RunRecord(question="q", setting=SETTING, run=1, prompt="?", attempts=attempts)


def question(**fields: Any) -> Question:
    return Question(**{"id": "q", "prompt": "?", "accept": ("366",), **fields})


def graded(text: str, **fields: Any) -> Grade:
    return grade(question(**fields), record(reply(text)))


def test_a_right_answer_passes() -> None:
    found = graded("366.")
    assert (found.outcome, found.score, found.reason, found.failed) == ("pass", 1.0, None, ())


def test_a_miss_shows_the_reply_and_each_accepted_form_after_cleaning() -> None:
    found = graded('"365 Days"', accept=("366", "**Three**"))
    assert found.judged is not None
    assert found.judged.compared == "365 days"
    assert found.judged.accepted == ("366", "three")
    assert found.reply == '"365 Days"'
    assert (found.outcome, found.score, found.reason) == ("miss", 0.0, "wrong")


def test_right_number_with_extra_words_is_a_format_miss() -> None:
    found = graded("210 minutes", accept=("210",), second_rule=NumberInReply())
    assert (found.score, found.second_score, found.reason) == (0.0, 1.0, "format")
    assert found.why.endswith("only the second rule passes")


def test_the_trap_it_fell_into_is_named_with_its_reason() -> None:
    traps = (Trap(reply="364"), Trap(reply="365", why="an ordinary year"))
    found = graded("365", traps=traps, second_rule=NumberInReply())
    assert (found.reason, found.trap) == ("trap", traps[1])
    assert "an ordinary year" in found.why


def test_a_trap_is_met_by_the_questions_own_rule_not_by_its_second() -> None:
    found = graded("365 days", traps=(Trap(reply="365"),), second_rule=NumberInReply())
    assert found.reason == "wrong"


def test_the_trap_comes_before_the_wording() -> None:
    found = graded("Mars", accept=("Venus",), traps=(Trap(reply="mars"),), second_rule=Contains())
    assert found.reason == "trap"


def test_a_passing_reply_is_never_a_trap_but_a_doubtful_pass_under_contains() -> None:
    fields: dict[str, Any] = {"accept": ("Mars",), "rule": Contains(), "traps": (Trap(reply="Venus"),)}
    both = graded("Mars or Venus", **fields)
    assert (both.outcome, both.reason, both.trap) == ("pass", None, None)
    assert "Venus" in both.doubtful
    assert "not_contains" in both.doubtful
    assert graded("It is Mars.", **fields).doubtful == ""


def test_a_trap_under_a_pattern_rule_is_text_not_a_pattern() -> None:
    fields: dict[str, Any] = {"accept": (r"\b3\b",), "rule": Regex(), "traps": (Trap(reply="3.1 (about)"),)}
    assert graded("31 (about)", **fields).reason == "wrong"
    assert graded("It is 3,0", accept=(r"^3$",), rule=Regex(), traps=(Trap(reply="3,0"),)).reason == "trap"


def test_a_trap_under_the_last_line_is_met_on_the_last_line() -> None:
    fields: dict[str, Any] = {"accept": ("4",), "rule": LastLine(rule=Numeric()), "traps": (Trap(reply="5"),)}
    assert graded("4\n5", **fields).reason == "trap"
    assert graded("5\n6", **fields).reason == "wrong"


CHECKS = (
    Check(name="product", kind="contains", value="391", weight=2.0),
    Check(name="no_list", kind="no_list", value=True),
    Check(name="sign_off", kind="last_line", value="Cheers"),
)


def test_checks_score_their_weighted_share_and_name_what_failed_in_order() -> None:
    found = graded("- 391", accept=(), checks=CHECKS)
    assert (found.outcome, found.score, found.failed) == ("part", 0.5, ("no_list", "sign_off"))
    assert graded("391\nCheers", accept=(), checks=CHECKS).outcome == "pass"
    assert graded("- 392", accept=(), checks=CHECKS).outcome == "miss"


def test_a_question_with_an_answer_and_checks_needs_both() -> None:
    short = (Check(name="short", kind="max_words", value=1),)
    found = graded("365", checks=short)
    assert (found.outcome, found.score, found.failed) == ("part", 0.5, ("answer",))
    assert graded("366", checks=short).score == 1.0
    assert graded("366 366 366", checks=short, rule=Contains()).failed == ("short",)


@pytest.mark.parametrize(
    ("came", "outcome"),
    [
        (reply("36", "cut_off"), "cut_off"),
        (reply("366", "cut_off"), "cut_off"),
        (reply("", "cut_off"), "cut_off"),
        (reply("366", "context_full"), "cut_off"),
        (reply("<think>so it is 366"), "cut_off"),
        (reply("I cannot", "refused"), "refused"),
        (reply("", "blocked"), "blocked"),
        (reply(" \u200b\n"), "empty"),
        (reply("<think>366</think>"), "empty"),
        (fault("limit"), "limit"),
        (fault("quota"), "limit"),
        (fault("timeout"), "timeout"),
        (fault("blocked"), "blocked"),
        (fault("key"), "error"),
        (fault("server"), "error"),
        (fault("dropped"), "error"),
    ],
    ids=str,
)
def test_what_is_no_fair_answer_has_no_score(came: Reply | Fault, outcome: Outcome) -> None:
    found = grade(question(), record(came))
    assert found.outcome == outcome
    assert found.outcome not in FAIR
    assert (found.score, found.second_score, found.reason) == (None, None, None)
    assert found.why


def test_a_refusal_in_words_alone_is_an_answer() -> None:
    assert graded("I cannot answer that.").outcome == "miss"


def test_a_full_context_says_so() -> None:
    assert "context window" in grade(question(), record(reply("3", "context_full", "200000 tokens"))).why


def test_the_last_usable_reply_counts_whatever_came_after() -> None:
    kept = record(reply("365"), reply("366"), reply("", "cut_off"), fault("server"))
    attempt = counted(kept)
    assert attempt is not None
    assert attempt.number == 2
    assert grade(question(), kept).outcome == "pass"


def test_without_a_usable_reply_the_last_reply_counts_then_the_last_fault() -> None:
    assert grade(question(), record(reply("", "cut_off"), reply("", "refused"), fault("server"))).outcome == "refused"
    assert grade(question(), record(fault("server"), fault("timeout"))).outcome == "timeout"
    assert grade(question(), record()).outcome == "error"


def test_a_reply_to_another_wording_is_stale() -> None:
    kept = record(reply("366"), reply("365"), asked=("old", "new"))
    assert grade(question(), kept, "new").score == 0.0
    stale = grade(question(), kept, "newer")
    assert (stale.outcome, stale.score) == ("error", None)
    assert "another request" in stale.why


def test_a_grader_that_fails_is_ungraded_never_a_score(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise ZeroDivisionError("no word of it")

    monkeypatch.setattr(grade_module, "judge", broken)
    found = graded("366")
    assert (found.outcome, found.score) == ("error", None)
    assert found.why == "ungraded: ZeroDivisionError: no word of it"
    assert found.reply == "366"


def test_each_grade_carries_what_was_asked_and_by_which_rule() -> None:
    one, other = question(), question(accept=("366", "366 days"))
    assert grade(one, record(reply("1"))).asked == "same"
    assert grade(one, record(reply("1"))).rule == one.rule_digest != other.rule_digest


@pytest.mark.parametrize("rule", [Exact(), Numeric(), NumberInReply(), Contains(), Json(), Regex()])
@pytest.mark.parametrize("text", ["null", "NaN", "None", "undefined", "0x0", "print(1-1)"])
def test_what_means_no_value_never_equals_zero(rule: Any, text: str) -> None:
    assert graded(text, rule=rule, accept=("^0$",) if isinstance(rule, Regex) else ("0",)).score == 0.0


@given(st.text(max_size=60))
@settings(max_examples=200, deadline=None)
def test_any_text_gets_a_grade_and_the_same_one_again(text: str) -> None:
    asks = question(checks=CHECKS, traps=(Trap(reply="365"),), second_rule=NumberInReply())
    found = grade_text(asks, text)
    assert found == grade_text(asks, text)
    assert "ungraded" not in found.why
    assert (found.score is None) == (found.outcome not in FAIR) == (unfair(reply(text)) is not None)
    assert found.score is None or 0.0 <= found.score <= 1.0
    assert (found.reason is None) == (found.score in (None, 1.0))
