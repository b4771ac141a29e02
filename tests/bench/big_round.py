"""A big round on disk, for the benches that open and regrade one."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

from resit.core.records import Attempt, Reply, RunRecord, Setting, Usage
from resit.core.rounds.plan import PlannedSetting, RoundPlan, build_request
from resit.core.rounds.store import RoundStore
from resit.core.suite import Question, Suite

NOW = datetime(2026, 11, 30, 9, 0, tzinfo=UTC)
ENDPOINT = "http://127.0.0.1:1"


def big_round(folder: Path, questions: int, settings: int, repeats: int) -> tuple[RoundStore, Suite]:
    """A finished round of so many questions, settings and repeats; every seventh reply is wrong."""
    asked = tuple(
        Question(id=f"question-{n}", kind=f"kind-{n % 5}", prompt=f"What is {n} + {n}? " * 5, accept=(str(2 * n),))
        for n in range(questions)
    )
    suite = Suite(name="big", title="Big", repeats=repeats, questions=asked)
    planned = tuple(
        PlannedSetting(setting=Setting(model=f"model-{n}", effort="low"), endpoint=ENDPOINT) for n in range(settings)
    )
    plan = RoundPlan(
        id="20261130-090000-big", suite="big", title="Big", suite_digest=suite.digest, rule_digest=suite.rule_digest,
        rule_set_at=NOW, created_at=NOW, settings=planned, repeats=repeats, first_repeats=repeats,
    )  # fmt: skip
    store = RoundStore.create(folder, plan, suite)
    for number, question in enumerate(asked):
        for place in planned:
            request = build_request(suite, question, place.setting, ENDPOINT)
            for run in range(1, repeats + 1):
                text = "something else" if (number + run) % 7 == 0 else question.accept[0]
                usage = Usage(input_tokens=50, output_tokens=5)
                attempt = Attempt(
                    number=1, at=NOW, asked=request.digest(), reply=Reply(text=text, seconds=0.5, usage=usage),
                    cost_usd=Decimal("0.0001"),
                )  # fmt: skip
                made = RunRecord(
                    question=question.id, setting=place.setting, run=run, prompt=request.prompt, attempts=(attempt,)
                )
                store.put(made)
    return store, suite
