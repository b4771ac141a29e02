"""`resit run --dry-run`: what would be asked, where, and for how much."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime

from resit.core.judging.wording import dollars
from resit.core.printable import one_line
from resit.core.rounds.plan import COMMAND
from resit.core.rounds.session import Prepared
from resit.core.spend.prices import Estimate
from resit.plain.text import jsonable, plural, say, say_json, table


def print_dry_run(prepared: Prepared, *, as_json: bool) -> None:
    """Print it; nothing is written and no call is made."""
    expected = prepared.estimate
    if as_json:
        say_json(_as_json(prepared, expected))
        return
    planned = prepared.round
    questions = plural(len(planned.questions(prepared.plan.suite)), "question")
    settings, runs = plural(len(planned.settings), "setting"), plural(planned.repeats, "run")
    say(one_line(f"{planned.title}: {questions} × {settings} × {runs} = {prepared.plan.planned}"))
    if prepared.store is not None:
        say(one_line(f"goes on with round {prepared.store.id}"))
    for text in prepared.notes:
        say(one_line(text))
    say()
    say(_settings_table(prepared))
    say()
    _print_money(prepared, expected)
    for problem in prepared.problems:
        say(one_line(f"problem  {problem.said}"))
    say("nothing was asked")


def _settings_table(prepared: Prepared) -> str:
    todo = Counter(job.setting.label for job in prepared.plan.jobs)
    today = datetime.now(UTC).date()
    rows = []
    for planned in prepared.round.settings:
        price, label = planned.price, planned.setting.label
        source = "no price" if price is None else price.label + (", old" if price.stale(today) else "")
        rows.append([label, str(todo[label]), source])
    return table(("setting", "to do", "price from"), rows, right=(1,), limit=60)


def _print_money(prepared: Prepared, expected: Estimate) -> None:
    least = "at least " if expected.unpriced else ""
    known = "from this suite's own past replies" if expected.history else "no history, from the texts' lengths"
    if expected.calls and len(expected.unpriced) == len({job.setting.model for job in prepared.plan.jobs}):
        say("cost     unknown")
    else:
        say(f"cost     {least}{dollars(expected.low_usd)} to {dollars(expected.high_usd)} ({known})")
        worst = dollars(expected.worst_usd, at_least=bool(expected.unpriced or expected.unbounded))
        agents = any(planned.setting.provider == COMMAND for planned in prepared.round.settings)
        say(f"at worst {worst}, every reply at its token limit" + (", every agent at its budget" if agents else ""))
    if expected.unbounded:
        say(one_line(f"no budget for {', '.join(expected.unbounded)}: --cap sets one, or budget_usd in models.toml"))
    if expected.unpriced:
        say(one_line(f"no price for {', '.join(expected.unpriced)}: models.toml in the settings folder takes one"))
    minutes = expected.minutes(prepared.round.at_a_time)
    if prepared.round.batch:
        say("time     in batches: within a day, mostly within an hour")
    else:
        say("time     no history" if minutes is None else f"time     {minutes[0]:.1f} to {minutes[1]:.1f} minutes")
    if prepared.round.cap_usd is not None:
        say(f"cap      {dollars(prepared.round.cap_usd)}, earlier starts of the round included")


def _as_json(prepared: Prepared, expected: Estimate) -> dict[str, object]:
    planned = prepared.round
    todo = Counter(job.setting.label for job in prepared.plan.jobs)
    return {
        "round": prepared.store.id if prepared.store is not None else None,
        "suite": planned.suite,
        "dry_run": True,
        "settings": [
            {
                "setting": p.setting.label,
                "model": p.setting.model,
                "effort": p.setting.effort,
                "variant": p.setting.variant,
                "endpoint": p.endpoint,
                "endpoint_source": p.endpoint_source,
                "to_do": todo[p.setting.label],
                "price": None if p.price is None else p.price.label,
            }
            for p in planned.settings
        ],
        "runs": [],
        "totals": {
            "planned": prepared.plan.planned,
            "done": len(prepared.plan.done),
            "to_do": len(prepared.plan.jobs),
            "reasons": dict(prepared.plan.reasons),
            "expected_usd": [jsonable(expected.low_usd), jsonable(expected.high_usd)],
            "worst_usd": jsonable(expected.worst_usd),
            "at_least": bool(expected.unpriced),
            "unpriced": expected.unpriced,
            "history": expected.history,
            "minutes": expected.minutes(planned.at_a_time),
            "cap_usd": jsonable(planned.cap_usd),
        },
        "problems": [problem.said for problem in prepared.problems],
    }
