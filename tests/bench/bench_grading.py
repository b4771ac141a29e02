"""How fast short replies are graded, as a ratio to a baseline in the same run.

    python tests/bench/bench_grading.py

The target is 100,000 short replies in under 3 s on one core. The baseline does the least that any grader must do
with as many replies: trim, fold case, look the result up among what is accepted.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from datetime import UTC, datetime

from resit.core.records import Attempt, Reply, RunRecord, Setting
from resit.core.rule import Check, Choice, Contains, Date, Exact, ItemSet, NumberInReply, Numeric, YesNo
from resit.core.scoring.grid import make_row
from resit.core.suite import Question, Trap

COUNT = 100_000
TARGET_S = 3.0

QUESTIONS = (
    Question(id="capital", accept=("Canberra",), rule=Exact(), second_rule=Contains(), traps=(Trap(reply="Sydney"),)),
    Question(id="minutes", accept=("210",), rule=Exact(), second_rule=NumberInReply()),
    Question(id="sum", accept=("408",), rule=Numeric()),
    Question(id="planet", accept=("Mars",), rule=Contains(), traps=(Trap(reply="Venus"),)),
    Question(id="option", accept=("B",), rule=Choice()),
    Question(id="prime", accept=("yes",), rule=YesNo()),
    Question(id="day", accept=("14 March 2026",), rule=Date()),
    Question(id="colours", accept=("red", "green"), rule=ItemSet()),
    Question(
        id="asks",
        checks=(
            Check(name="product", kind="contains", value="391"),
            Check(name="no_list", kind="no_list", value=True),
            Check(name="sign_off", kind="last_line", value="Cheers"),
        ),
    ),
)
REPLIES = {
    "capital": ("Canberra", "**Canberra**.", "Sydney", "The capital is Canberra."),
    "minutes": ("210", "210 minutes", "3.5 hours are 210 minutes.", "200"),
    "sum": ("408", "408.0", "17 * 24 = 408", "about 400"),
    "planet": ("Mars", "It is Mars.", "Venus", "Mars or Venus"),
    "option": ("B", "(B)", "The answer is B.", "A or B"),
    "prime": ("Yes", "yes.", "No", "Yes, it is."),
    "day": ("14 March 2026", "2026-03-14", "03/04/2026", "March 14th, 2026"),
    "colours": ("red, green", "green and red", "red", "- red\n- green"),
    "asks": ("It is 391.\nCheers", "- 391\nCheers", "392", "17 times 23 is 391.\n\nCheers"),
}


def records() -> list[tuple[Question, RunRecord]]:
    """As many stored runs as are graded, every reply a text of its own."""
    at, setting = datetime(2026, 11, 29, tzinfo=UTC), Setting(model="m")
    made = []
    for number in range(COUNT):
        question = QUESTIONS[number % len(QUESTIONS)]
        replies = REPLIES[question.id]
        text = replies[number // len(QUESTIONS) % len(replies)] + " " * (number % 7)
        attempt = Attempt(number=1, at=at, asked="a", reply=Reply(text=text, seconds=1.0))
        made.append((question, RunRecord(question=question.id, setting=setting, run=1, prompt="", attempts=(attempt,))))
    return made


def seconds(work: Callable[[], Iterable[object]]) -> float:
    """Processor time that `work` takes."""
    started = time.process_time()
    for _ in work():
        pass
    return time.process_time() - started


def main() -> None:
    """Measure and print."""
    runs = records()
    accepted = {question.id: {form.casefold() for form in question.accept} for question in QUESTIONS}
    texts = [(record.question, record.attempts[0].reply) for _, record in runs]
    base = seconds(lambda: [r is not None and r.text.strip().casefold() in accepted[q] for q, r in texts])
    graded = seconds(lambda: [make_row(question, record) for question, record in runs])
    print(f"{COUNT:,} replies: {graded:.2f} s of one core, {1e6 * graded / COUNT:.1f} us each (target {TARGET_S} s)")
    print(f"baseline: {base:.3f} s; ratio {graded / base:.0f}")
    for question in QUESTIONS:
        own = [each for each in runs if each[0] is question]
        took = seconds(lambda own=own: [make_row(q, record) for q, record in own])  # type: ignore[misc]
        print(f"  {question.id:9} {1e6 * took / len(own):6.1f} us")


if __name__ == "__main__":
    main()
