"""Comparing two rounds of 10,000 runs: under 1 s, from the folders to the sentences; gates, routing and growth beside.

python tests/bench/bench_judging.py [RUNS]
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from big_round import big_round

from resit.core.judging.compare import Comparison, compare_rounds
from resit.core.judging.evidence import Evidence, gather, pool
from resit.core.judging.growth import make_growth
from resit.core.judging.routing import Routing, make_routing
from resit.core.judging.routing_text import routing_markdown
from resit.core.rounds.shelf import open_round

SETTINGS, REPEATS = 5, 4
TARGET_S = 1.0


def opened_and_compared(before: Path, after: Path) -> tuple[Comparison, ...]:
    found = compare_rounds(gather(open_round(before)), gather(open_round(after)))
    assert all(comparison.said and comparison.counts_said for comparison in found)
    return found


def best(call: Callable[[], object], times: int = 3, clock: Callable[[], float] = time.perf_counter) -> float:
    """The shortest of some goes, in seconds."""
    seconds = []
    for _ in range(times):
        start = clock()
        call()
        seconds.append(clock() - start)
    return min(seconds)


def main() -> None:
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    questions = runs // (SETTINGS * REPEATS)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        before = big_round(folder / "a", questions, SETTINGS, REPEATS)[0].path
        after = big_round(folder / "b", questions, SETTINGS, REPEATS)[0].path
        old, new = gather(open_round(before)), gather(open_round(after))
        pairs = sum(len(comparison.pairs) for comparison in compare_rounds(old, new))
        assert pairs == questions * SETTINGS
        whole_s = best(lambda: opened_and_compared(before, after))
        cpu_s = best(lambda: opened_and_compared(before, after), clock=time.process_time)
        alone_s = best(lambda: compare_rounds(old, new))
        routing_s = best(lambda: decided(new))
        growth_s = best(lambda: make_growth(new))
        pool_s = best(lambda: pool([old, new]))
    print(f"two rounds of {runs} runs: opened and compared in {whole_s:.2f} s, {whole_s / TARGET_S:.2f} of the bound")
    print(f"  {cpu_s:.2f} s of it on the processor")
    print(f"  compared alone {alone_s:.2f} s; routing with its text {routing_s:.2f} s; growth {growth_s:.2f} s")
    print(f"  pooled {pool_s:.2f} s")


def decided(evidence: Evidence) -> Routing:
    routing = make_routing(evidence, today=evidence.labels[0])
    assert routing_markdown(routing)
    return routing


if __name__ == "__main__":
    main()
