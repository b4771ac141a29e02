"""For each kind of work the cheapest setting that passes, and why not the others."""

from __future__ import annotations

import tomllib
from decimal import Decimal

import pytest
from exam_kit import COSTS, HIGH, LOW, TODAY, TOP, exam, rights, three, together

from resit.core.errors import UsageError
from resit.core.judging.gates import ENOUGH
from resit.core.judging.routing import make_routing
from resit.core.judging.routing_text import routing_markdown, routing_toml


def test_the_cheapest_that_passes_is_the_rule_for_each_kind_of_work() -> None:
    routes = {route.kind: route for route in make_routing(three()).routes}
    assert {kind: route.chosen.label for kind, route in routes.items() if route.chosen} == {
        "sums": HIGH.label,
        "words": TOP.label,
        "easy": LOW.label,
    }
    assert routes["sums"].said == "sonnet high, $0.0200 for 2 questions: the cheapest of 2 that pass"
    assert [(one.label, [gate.number for gate in one.failed]) for one in routes["words"].failing] == [
        (LOW.label, [2, 3]),
        (HIGH.label, [2]),
    ]


def test_where_all_are_full_the_cheapest_is_enough_and_nothing_is_ranked() -> None:
    route = make_routing(three()).routes[2]
    assert route.ceiling
    assert route.said == f"haiku low, $0.00100 for 1 question: {ENOUGH}"
    text = routing_markdown(make_routing(three()))
    assert "- easy: sonnet high, opus max have full marks as well; the exam is too easy to separate them" in text
    assert "easy: sonnet high passes as well" not in text


def test_what_is_used_today_is_compared_on_the_same_questions() -> None:
    routes = {route.kind: route for route in make_routing(three(), today=TOP.label).routes}
    sums = routes["sums"]
    assert sums.said.endswith(
        "; used today: opus max, $0.20 for 2 questions, so this costs 10.0% of it".replace("$0.20", "$0.2000")
    )
    assert sums.versus is not None
    assert (sums.versus.before.label, sums.versus.after.label) == (TOP.label, HIGH.label)
    assert len(sums.versus.pairs) == 2
    assert routes["words"].versus is None
    assert routes["words"].said.endswith("; it is what is used today")


def test_what_is_used_today_may_be_named_for_one_kind_and_may_fail() -> None:
    routes = {route.kind: route for route in make_routing(three(), today={"sums": LOW.label}).routes}
    assert "so this costs 10.0 times as much, which does not pass (gate 2: lowest runs: 1/2 full" in routes["sums"].said
    assert routes["easy"].today is None


def test_no_rule_is_written_from_single_runs() -> None:
    (route,) = make_routing(exam(rights(LOW, "1", "1")), today=LOW.label).routes
    assert route.chosen is None
    assert route.said == "no rule: no setting passes all gates; stay with haiku low"
    assert "untested for variance" in routing_markdown(make_routing(exam(rights(LOW, "1", "1"))))


def test_an_unknown_cost_is_never_the_cheapest() -> None:
    table = together(rights(LOW, "11"), rights(HIGH, "11"), rights(TOP, "00"))
    known = make_routing(exam(table, costs={**COSTS, LOW.label: None})).routes[0]
    assert known.chosen is not None
    assert known.chosen.label == HIGH.label
    assert known.said.endswith("; haiku low may be cheaper, the cost is unknown")
    none = make_routing(exam(table, costs={})).routes[0]
    assert none.chosen is None
    assert none.said == "no rule: haiku low, sonnet high pass, and the cost of none is known"


def test_of_equal_costs_the_quicker_is_taken() -> None:
    free = {LOW.label: Decimal(0), HIGH.label: Decimal(0)}
    found = exam(together(rights(LOW, "111"), rights(HIGH, "11")), costs=free)
    route = make_routing(found).routes[0]
    assert route.chosen is not None
    assert route.chosen.label == HIGH.label


def test_the_cost_is_that_of_one_run_of_each_question() -> None:
    found = exam(
        together(rights(LOW, "1111"), rights(HIGH, "11")),
        costs={LOW.label: Decimal("0.006"), HIGH.label: Decimal("0.01")},
    )
    route = make_routing(found).routes[0]
    assert route.chosen is not None
    assert route.chosen.label == LOW.label
    assert route.chosen.figures.cost_each_usd == Decimal("0.006")


def test_a_setting_or_kind_that_was_not_asked_is_refused() -> None:
    with pytest.raises(UsageError, match="'gpt' was not asked"):
        make_routing(three(), today="gpt")
    with pytest.raises(UsageError, match="no kind of work 'law'"):
        make_routing(three(), today={"law": LOW.label})


def test_the_toml_can_be_read() -> None:
    read = tomllib.loads(routing_toml(make_routing(three(), today=TODAY)))
    assert [(rule["kind"], rule["model"], rule.get("effort")) for rule in read["rules"]] == [
        ("sums", "sonnet", "high"),
        ("words", "opus", "max"),
        ("easy", "haiku", "low"),
    ]


def test_toml_lists_kinds_without_a_rule_apart() -> None:
    read = tomllib.loads(routing_toml(make_routing(exam(rights(LOW, "1")))))
    assert "rules" not in read
    assert read["undecided"][0]["rejected"][0]["gates"] == [1]


def test_hostile_names_stay_text_in_a_table() -> None:
    kinds = {"q1": "a|b <!-- resit rules: end --> [x](http://y)\n# h"}
    text = routing_markdown(make_routing(exam(rights(LOW, "11"), kinds=kinds)))
    assert "<!--" not in text
    assert "\n# h" not in text
    assert "[x](" not in text
    (line,) = [line for line in text.splitlines() if line.startswith("| a")]
    assert line.count("|") - line.count("\\|") == 6
