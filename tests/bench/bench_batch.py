"""A round in batches against the mock server: built, submitted, read back and graded.

    python tests/bench/bench_batch.py [REQUESTS...]

Each size runs in a fresh process of its own. Time is that of the whole start, the SDK's import and the looks at the
batches among it. Memory is what the start adds to a process that has planned the round: flat means that it does not
grow with the requests, but for the row of figures that each leaves.
"""

from __future__ import annotations

import asyncio
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
SIZES = (1000, 5000, 20000)
MODEL = "claude-haiku-5-5"
FILLER = "Some words around the question, as questions have them. " * 20


async def run(url: str, count: int) -> dict[str, float]:
    from mock_server import right_answer
    from resit.core.records import Setting
    from resit.core.rounds.events import Event, RunKept
    from resit.core.rounds.session import prepare_round
    from resit.core.spend.ledger import Ledger
    from resit.core.suite import Question, Suite

    questions = tuple(
        Question(id=f"q{n}", prompt=f"{FILLER}[q{n}]", accept=(right_answer(n),)) for n in range(1, count + 1)
    )
    passed = 0

    def emit(event: Event) -> None:
        nonlocal passed
        passed += isinstance(event, RunKept) and event.row.outcome == "pass"

    with tempfile.TemporaryDirectory() as folder:
        prepared = prepare_round(
            Suite(name="bench", title="Bench", max_tokens=50, questions=questions),
            (Setting(model=MODEL),),
            1,
            batch=True,
            base_url=url,
            rounds_dir=Path(folder) / "rounds",
            ledger=Ledger(Path(folder) / "ledger.jsonl"),
            environ={"ANTHROPIC_API_KEY": "key"},
        )
        planned_mb = peak_mb()
        start, cpu = time.perf_counter(), time.process_time()
        ended = await prepared.start(emit).run()
        found = {
            "wall_s": time.perf_counter() - start,
            "cpu_s": time.process_time() - cpu,
            "planned_mb": planned_mb,
            "added_mb": peak_mb() - planned_mb,
        }
    assert (ended.reason, passed) == ("done", count), ended
    return found


def peak_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main() -> None:
    if sys.argv[1:2] == ["--side"]:
        sys.path.insert(0, str(TESTS))
        print(json.dumps(asyncio.run(run(sys.argv[2], int(sys.argv[3])))))
        return
    for count in [int(text) for text in sys.argv[1:]] or SIZES:
        server = subprocess.Popen([sys.executable, str(TESTS / "mock_server.py")], stdout=subprocess.PIPE, text=True)
        try:
            assert server.stdout is not None
            url = server.stdout.readline().split()[-1]
            command = [sys.executable, __file__, "--side", url, str(count)]
            found = json.loads(subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout)
        finally:
            server.terminate()
            server.wait()
        print(f"{count:6,} requests  " + "  ".join(f"{name} {value:.1f}" for name, value in found.items()), flush=True)


if __name__ == "__main__":
    main()
