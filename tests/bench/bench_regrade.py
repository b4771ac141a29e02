"""Regrading a round of 10,000 runs after an accept, grid included: under 0.3 s.

python tests/bench/bench_regrade.py [RUNS]
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

from big_round import NOW, big_round

from resit.core.edits import apply_edits
from resit.core.rounds.regrade import compare, graded_by, preview
from resit.core.rounds.session import open_round
from resit.core.scoring.grid import build_grid
from resit.core.suite import Edit

SETTINGS, REPEATS = 10, 4
TARGET_S = 0.3


def main() -> None:
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        store, suite = big_round(folder, runs // (SETTINGS * REPEATS), SETTINGS, REPEATS)
        opened = open_round("last", rounds_dir=folder)
        settings = [planned.setting for planned in opened.plan.settings]
        edit = Edit(at=NOW, question="question-6", what="accept", accept="something else")

        start = time.perf_counter()
        found = preview(edit, suite, [store])
        preview_s = time.perf_counter() - start

        start = time.perf_counter()
        now = graded_by(opened.asked, apply_edits(suite, (edit,)))
        graded = opened.keeper.grade(now, opened.plan)
        flips = compare(opened.rows, graded.rows, store.id)
        build_grid(graded.rows, now.questions, settings)
        seconds = time.perf_counter() - start
        assert flips == found.flips
        assert flips

        start = time.perf_counter()
        opened.keeper.grade(now, opened.plan, afresh=True)
        afresh_s = time.perf_counter() - start
    print(f"{runs} runs: regraded after an accept in {seconds:.2f} s, {seconds / TARGET_S:.2f} of {TARGET_S:g} s")
    print(f"  {graded.read} read, {len(flips)} flipped; preview {preview_s:.2f} s; all graded afresh {afresh_s:.2f} s")


if __name__ == "__main__":
    main()
