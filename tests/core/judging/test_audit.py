"""Which settings were used, beside what the exam says of them."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

from exam_kit import HIGH, LOW, exam, rights, three, together

from resit.core.judging.audit import NO_EXAM, audit, gather_exams
from resit.core.logs.records import Place, Request
from resit.core.records import Setting, Usage

START = Request(
    key="k", tool="claude-code", session="s", when=datetime(2026, 11, 29, tzinfo=UTC), model="sonnet",
    provider="anthropic", effort="high", effort_ran=None, delegation=None, first_line="x", prompt_at=Place("/x", 0, 1),
    reply_at=None, prompt_chars=1, tools=(), calls=1, usage=Usage(), cost_usd=Decimal("0.02"), cost_partial=False,
    unpriced=(), cwd=None, project="", group="sums", kind="sums", why="", kind_set=False,
)  # fmt: skip


def used(number: int = 1, **values: object) -> list[Request]:
    return [replace(START, **values)] * number  # type: ignore[arg-type]


def test_a_lower_level_of_the_same_model_that_passed_all_gates_is_named() -> None:
    low = Setting(model="sonnet", effort="low")
    evidence = exam(
        together(rights(HIGH, "11", "11"), rights(low, "11", "11")), kinds={"q1": "checks", "q2": "checks"},
        costs={HIGH.label: Decimal("0.01"), low.label: Decimal("0.001")},
    )  # fmt: skip
    (found,) = audit(used(34, kind="Checks"), evidence)
    assert found.said == "sonnet at high (34 times); sonnet low passed all gates, $0.00200 for 2 questions"
    assert found.saves


def test_what_is_used_already_is_confirmed_where_it_is_the_cheapest_that_passes() -> None:
    (found,) = audit(used(3), three())
    assert found.said == "sonnet at high (3 times); the exam agrees: it is the cheapest setting that passed all gates"
    assert not found.saves
    assert found.used[0].judged is not None
    assert found.used[0].judged.passed


def test_a_setting_that_fails_its_gates_says_so_beside_what_passes() -> None:
    (found,) = audit(used(model="haiku", effort="low"), three())
    assert "the exam says of it: gate 2: lowest runs: 1/2 full" in found.said
    assert found.said.endswith("sonnet high passed all gates, $0.0200 for 2 questions")


def test_a_kind_without_an_exam_says_so() -> None:
    assert audit(used(kind="poems"), three())[0].said == f"sonnet at high (1 time); {NO_EXAM}"
    assert audit(used(), None)[0].route is None


def test_where_nothing_passed_no_move_is_named() -> None:
    (found,) = audit(used(), exam(rights(LOW, "00"), kinds={"q1": "sums"}))
    assert found.said.endswith("no setting passed all gates of the exam yet")
    assert not found.saves


def test_a_request_that_set_no_level_is_judged_by_the_level_it_ran_at() -> None:
    (found,) = audit(used(effort=None, effort_ran="high", model="sonnet-20261007"), three())
    assert found.said.startswith("sonnet with no level set, which ran at high (1 time); the exam agrees")
    (silent,) = audit(used(effort=None), three())
    assert silent.used[0].judged is None


def test_a_cost_that_is_missing_is_said_and_never_nothing() -> None:
    (found,) = audit([*used(2), *used(1, cost_usd=None)], None)
    assert (found.used[0].cost_usd, found.used[0].at_least) == (Decimal("0.04"), True)
    assert audit(used(cost_usd=None), None)[0].used[0].cost_usd is None


def test_kinds_and_settings_come_most_used_first() -> None:
    found = audit([*used(1, kind="b"), *used(2, kind="a"), *used(3, kind="a", effort="low")], None)
    assert [(each.kind, each.count) for each in found] == [("a", 5), ("b", 1)]
    assert [each.effort for each in found[0].used] == ["low", "high"]


def test_without_rounds_there_is_nothing_to_go_by(tmp_path: Path) -> None:
    assert gather_exams(tmp_path).evidence is None
