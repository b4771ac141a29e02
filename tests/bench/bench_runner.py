"""A round against a bare loop over the same SDK, both against the mock server in the same run.

    python tests/bench/bench_runner.py [CALLS LATENCY_S AT_A_TIME]...

Each side runs in a fresh process of its own; time and CPU are taken from the first call sent to the last reply kept.
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
from typing import Any

TESTS = Path(__file__).resolve().parents[1]
CASES = ((2000, 0.05, 32), (640, 0.5, 32))
MODEL = "claude-haiku-5-5"


def figures(start: tuple[float, float], end: tuple[float, float]) -> dict[str, float]:
    peak_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {"wall_s": end[0] - start[0], "cpu_s": end[1] - start[1], "peak_mb": peak_mb}


def now() -> tuple[float, float]:
    return time.perf_counter(), time.process_time()


async def bare(url: str, calls: int, at_a_time: int) -> dict[str, float]:
    import anthropic

    client = anthropic.AsyncAnthropic(api_key="key", base_url=url, max_retries=0)
    left = list(range(calls, 0, -1))
    replies: list[tuple[str, Any]] = []

    async def worker() -> None:
        while left:
            number = left.pop()
            stream = await client.messages.create(
                model=MODEL,
                max_tokens=50,
                messages=[{"role": "user", "content": f"What is it? [q{number}]"}],
                stream=True,
            )
            text, usage = "", None
            async for event in stream:
                if event.type == "content_block_delta" and event.delta.type == "text_delta":
                    text += event.delta.text
                elif event.type == "message_delta":
                    usage = event.usage
            replies.append((text, usage))

    start = now()
    await asyncio.gather(*(worker() for _ in range(at_a_time)))
    found = figures(start, now())
    assert len(replies) == calls
    await client.close()
    return found


async def resit(url: str, calls: int, at_a_time: int) -> dict[str, float]:
    from mock_server import right_answer
    from resit.core.records import Setting
    from resit.core.rounds.events import AttemptSent, Event, RunKept
    from resit.core.rounds.session import prepare_round
    from resit.core.spend.ledger import Ledger
    from resit.core.suite import Question, Suite

    questions = tuple(
        Question(id=f"q{n}", prompt=f"What is it? [q{n}]", accept=(right_answer(n),)) for n in range(1, calls + 1)
    )
    suite = Suite(name="bench", title="Bench", max_tokens=50, questions=questions)
    marks: list[tuple[float, float]] = []
    ends = [0.0, 0.0]
    kept = 0

    def emit(event: Event) -> None:
        nonlocal kept
        if isinstance(event, AttemptSent) and not marks:
            marks.append(now())
        elif isinstance(event, RunKept):
            assert event.row.outcome == "pass", event.row
            kept += 1
            if kept == calls:
                ends[:] = now()

    with tempfile.TemporaryDirectory() as folder:
        prepared = prepare_round(
            suite,
            (Setting(model=MODEL),),
            1,
            concurrency=at_a_time,
            base_url=url,
            rounds_dir=Path(folder) / "rounds",
            ledger=Ledger(Path(folder) / "ledger.jsonl"),
            environ={"ANTHROPIC_API_KEY": "key"},
        )
        import anthropic  # noqa: F401 - the bare loop has it loaded too when its time begins

        ended = await prepared.start(emit).run()
    assert (ended.reason, kept) == ("done", calls)
    return figures(marks[0], (ends[0], ends[1]))


def side(name: str, url: str, calls: int, at_a_time: int) -> dict[str, float]:
    arguments = [sys.executable, __file__, "--side", name, url, str(calls), str(at_a_time)]
    done = subprocess.run(arguments, stdout=subprocess.PIPE, text=True, check=True)
    found: dict[str, float] = json.loads(done.stdout)
    return found


def compare(calls: int, latency_s: float, at_a_time: int) -> None:
    server = subprocess.Popen(
        [sys.executable, str(TESTS / "mock_server.py"), "--latency", str(latency_s)], stdout=subprocess.PIPE, text=True
    )
    try:
        assert server.stdout is not None
        url = server.stdout.readline().split()[-1]
        found = {name: side(name, url, calls, at_a_time) for name in ("bare", "resit")}
    finally:
        server.terminate()
        server.wait()
    ideal_s = calls * latency_s / at_a_time
    print(f"{calls} calls at {latency_s:g} s, {at_a_time} at a time; ideal {ideal_s:.2f} s")
    for name, values in found.items():
        print(f"  {name:6} " + "  ".join(f"{key} {value:.2f}" for key, value in values.items()))
    ratios = {key: found["resit"][key] / found["bare"][key] for key in found["bare"]}
    print("  ratio  " + "  ".join(f"{key} {value:.2f}" for key, value in ratios.items()), end="")
    print(f"  wall to ideal {found['resit']['wall_s'] / ideal_s:.2f}")


def main() -> None:
    if sys.argv[1:2] == ["--side"]:
        name, url, calls, at_a_time = sys.argv[2:]
        sys.path.insert(0, str(TESTS))
        run = bare if name == "bare" else resit
        print(json.dumps(asyncio.run(run(url, int(calls), int(at_a_time)))))
        return
    given = [float(text) for text in sys.argv[1:]]
    cases = [(int(given[at]), given[at + 1], int(given[at + 2])) for at in range(0, len(given), 3)] or CASES
    for case in cases:
        compare(*case)


if __name__ == "__main__":
    main()
