"""Every worked case of checks, and its neighbours."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from resit.core.rule import Check
from resit.core.scoring.checks import check_faults, parse_check, run_checks, share
from resit.core.scoring.normalise import answer_part, visible
from resit.core.suite import SuiteFault

DATA = Path(__file__).parent.parent / "data"

# Left open by the case file and decided here by the rule: a sentence with (1), (2) has no numbered lines, and what
# cannot be told does not pass.
DECIDED = {"c0028": True, "c0061": False, "c0062": False}


def load(name: str) -> list[dict[str, Any]]:
    lines = (DATA / name).read_text(encoding="utf-8").split("\n")
    return [json.loads(line) for line in lines if line]


def reply_of(case: dict[str, Any]) -> str:
    """The reply, made here where it is too long to keep."""
    unit, times = case.get("repeat", ("", 0))
    return str(case["reply"]) + str(unit) * int(times)


def parsed(raw_checks: list[dict[str, object]]) -> tuple[list[Check], list[SuiteFault]]:
    """Checks as the loader reads them, and all that is wrong with them."""
    checks: list[Check] = []
    faults: list[SuiteFault] = []
    for raw in raw_checks:
        found = parse_check(raw)
        if isinstance(found, Check):
            checks.append(found)
        else:
            faults += found
    return checks, faults + check_faults(checks)


def outcome(case: dict[str, Any]) -> object:
    checks, faults = parsed(case["checks"])
    if faults:
        return "invalid-suite"
    reply = reply_of(case)
    results = run_checks(checks, reply)
    if not visible(answer_part(reply) or ""):
        assert not any(result.passed for result in results)
        return "empty"
    return share(results) == 1.0


@pytest.mark.parametrize("case", load("checks.jsonl"), ids=lambda case: f"{case['id']}-{case['kind']}")
def test_worked_cases_come_out_as_written(case: dict[str, Any]) -> None:
    expected = DECIDED[case["id"]] if case["expect"] == "needs-review" else case["expect"]
    assert outcome(case) == expected, case["why"]


@pytest.mark.parametrize("case", load("check_neighbours.jsonl"), ids=lambda case: f"{case['id']}-{case['kind']}")
def test_neighbours_of_worked_cases(case: dict[str, Any]) -> None:
    assert outcome(case) == case["expect"], case["why"]


def test_every_kind_of_check_has_cases() -> None:
    from resit.core.scoring.check_form import KINDS

    cases = load("checks.jsonl") + load("check_neighbours.jsonl")
    assert set(KINDS) <= {key for case in cases for raw in case["checks"] for key in raw}
