"""How long a round takes to be written down: `python tests/bench/bench_export.py [RUNS]`.

To be held for 2,000 runs: the note and the page each under 2 s, opening and grading the round included.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "core" / "judging"))

from sheet_kit import HIGH, LOW, SUITE, store_round

from resit.core.judging.export import rows_csv, rows_jsonl
from resit.core.judging.export_html import page
from resit.core.judging.history import make_history
from resit.core.judging.junit import junit_xml
from resit.core.judging.note import note_text
from resit.core.judging.sheet import make_sheet
from resit.core.rounds.shelf import OpenedRound, open_round
from resit.core.suite import Question

REPEATS = 2
LONG = "A reply of some length, as models like to give. " * 20


def measure(name: str, work: Callable[[], object], limit_s: float | None = None) -> None:
    started = time.perf_counter()
    work()
    took = time.perf_counter() - started
    print(f"{name:34} {took:6.2f} s" + (f"  (limit {limit_s:g} s)" if limit_s else ""))


def main(runs: int) -> None:
    count = runs // (2 * REPEATS)
    questions = tuple(
        Question(id=f"q{at}", kind=f"kind {at % 5}", prompt=f"{LONG}{at}", accept=(str(at),)) for at in range(count)
    )
    suite = SUITE.replaced(questions=questions)
    # A third of the runs miss, with a long reply to be written down in full.
    answers = {
        (f"q{at}", setting): [str(at) if (at + run) % 3 else f"{LONG}{run}" for run in range(REPEATS)]
        for at in range(count)
        for setting in (LOW, HIGH)
    }
    with tempfile.TemporaryDirectory() as folder:
        path = store_round(Path(folder), suite, answers, {}).path

        def opened() -> OpenedRound:
            return open_round(path, suite=suite)

        measure("open and grade for the first time", opened)
        measure("open again", opened)
        measure("note", lambda: note_text(make_sheet(opened())), 2)
        measure("page", lambda: page(make_sheet(opened())), 2)
        measure("CSV", lambda: rows_csv(opened().rows))
        measure("JSON Lines", lambda: rows_jsonl(opened().rows))
        measure("JUnit", lambda: junit_xml(make_sheet(opened())))
        measure("history of five such rounds", lambda: make_history([opened() for _ in range(5)]))


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 2000)
