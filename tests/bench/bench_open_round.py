"""Opening a round of 20,000 runs: under 1 s when its rows are remembered; how long without is shown beside it.

python tests/bench/bench_open_round.py [RUNS]
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

from big_round import big_round

from resit.core.rounds.memory import GRADED
from resit.core.rounds.session import list_rounds, open_round

SETTINGS, REPEATS = 10, 4
TARGET_S = 1.0


def timed(folder: Path, runs: int) -> tuple[float, float]:
    """Wall and CPU seconds of one opening."""
    wall, cpu = time.perf_counter(), time.process_time()
    opened = open_round("last", rounds_dir=folder)
    seconds = time.perf_counter() - wall, time.process_time() - cpu
    assert len(opened.rows) == runs
    return seconds


def main() -> None:
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 20_000
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        store, _ = big_round(folder, runs // (SETTINGS * REPEATS), SETTINGS, REPEATS)
        first_s, _ = timed(folder, runs)
        again_s, cpu_s = min(timed(folder, runs) for _ in range(3))
        size_mb = (store.path / GRADED).stat().st_size / 1e6
        start = time.perf_counter()
        list_rounds(rounds_dir=folder)
        list_s = time.perf_counter() - start
    print(f"{runs} runs: opened in {again_s:.2f} s, {again_s / TARGET_S:.2f} of the bound of {TARGET_S:g} s")
    print(
        f"  CPU {cpu_s:.2f} s; without memory {first_s:.2f} s; graded.json {size_mb:.1f} MB; listed in {list_s:.2f} s"
    )


if __name__ == "__main__":
    main()
