"""What our client costs beside a bare loop over the same SDK: `python tests/bench/bench_client.py [CALLS]`.

Each side runs in a process of its own against one mock server with 50 ms latency, 32 calls at a time, streamed.
To be held: wall at most 1.2 x, CPU and peak memory at most 1.5 x of the bare loop.
"""

from __future__ import annotations

import asyncio
import json
import resource
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

CONCURRENCY = 32
LATENCY_S = 0.05
SERVER = Path(__file__).parent.parent / "mock_server.py"

Ask = Callable[[int], Awaitable[str]]


def bare(url: str) -> Ask:
    import anthropic

    client = anthropic.AsyncAnthropic(api_key="none", base_url=url, max_retries=0)

    async def ask(number: int) -> str:
        stream = await client.messages.create(
            model="m", max_tokens=100, messages=[{"role": "user", "content": f"[q{number}]"}], stream=True
        )
        text = ""
        async for event in stream:
            if event.type == "content_block_delta" and event.delta.type == "text_delta":
                text += event.delta.text
        return text

    return ask


def ours(url: str) -> Ask:
    from resit.core.calling.anthropic_client import AnthropicClient
    from resit.core.endpoints import Endpoint
    from resit.core.records import Reply, Request

    client = AnthropicClient(Endpoint(url, "--base-url"), None, concurrency=CONCURRENCY)

    async def ask(number: int) -> str:
        request = Request("anthropic", "m", f"[q{number}]", None, 100, None, "default", url)
        reply = await client.ask(request)
        assert isinstance(reply, Reply), reply
        return reply.text

    return ask


async def measure(ask: Ask, calls: int) -> dict[str, float]:
    """Seconds, CPU seconds and peak megabytes of `calls` calls, after one that opens the client."""
    await ask(0)
    numbers = iter(range(calls))

    async def work() -> None:
        for number in numbers:
            assert await ask(number) == f"A{(number * 7919) % 10007}"

    wall, cpu = time.perf_counter(), time.process_time()
    await asyncio.gather(*[work() for _ in range(CONCURRENCY)])
    return {
        "wall": time.perf_counter() - wall,
        "cpu": time.process_time() - cpu,
        "memory": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }


def side(name: str, url: str, calls: int) -> dict[str, float]:
    """One side in a fresh process."""
    command = [sys.executable, __file__, name, url, str(calls)]
    found: dict[str, float] = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    return found


def main(calls: int) -> None:
    command = [sys.executable, str(SERVER), "--latency", str(LATENCY_S)]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert server.stdout is not None
        url = server.stdout.readline().strip()
        results: dict[str, dict[str, float]] = {name: side(name, url, calls) for name in ("bare", "ours")}
    finally:
        server.terminate()
        server.wait()
    for figure, limit in (("wall", 1.2), ("cpu", 1.5), ("memory", 1.5)):
        bare_value, our_value = results["bare"][figure], results["ours"][figure]
        print(
            f"{figure:7} bare {bare_value:7.2f}  ours {our_value:7.2f}  {our_value / bare_value:.2f} x (limit {limit})"
        )


if __name__ == "__main__":
    arguments: list[Any] = sys.argv[1:]
    if len(arguments) == 3:
        sides = {"bare": bare, "ours": ours}
        print(json.dumps(asyncio.run(measure(sides[arguments[0]](arguments[1]), int(arguments[2])))))
    else:
        main(int(arguments[0]) if arguments else 2000)
