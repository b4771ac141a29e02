"""What resit adds to an agent's run: the folder, the jail, the reading of its output, and putting all away.

The agent is a shell that answers at once, or the same after a while; beside each the same program started bare. Run it
by hand: `python tests/bench/bench_agents.py`. What must hold: less than 0.3 s beyond the agent's own time.
"""

from __future__ import annotations

import asyncio
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

import agent_kit as kit
from resit.core.agents.command_client import CommandClient, Ground
from resit.core.config import ModelsFile
from resit.core.records import Isolation, Reply, Request

RUNS = 15
SCRIPT = """#!/bin/sh
read -r prompt
{wait}
i=0
while [ $i -lt {steps} ]; do
  echo '{{"type": "assistant", "message": {{"content": [{{"type": "text", "text": "step '$i'"}}]}}}}'
  i=$((i + 1))
done
echo '{{"type": "result", "result": "408", "is_error": false, "modelUsage": {{"m": {{"inputTokens": 1}}}}}}'
"""


def main() -> None:
    """Print one line for each agent and isolation."""
    with tempfile.TemporaryDirectory() as name:
        print(f"{'agent':24} {'isolation':12} {'bare':>9} {'in resit':>9} {'added':>9} {'worst':>9}")
        for label, wait, steps in (("at once", "", 1), ("after 0.5 s", "sleep 0.5", 1), ("1,000 steps", "", 1000)):
            program = Path(name) / "claude"
            program.write_text(SCRIPT.format(wait=wait, steps=steps))
            program.chmod(0o755)
            bare = [_bare(program) for _ in range(RUNS)]
            for isolation in kit.LEVELS:
                took = asyncio.run(_in_resit(program, isolation))
                own, all_of_it = statistics.median(bare), statistics.median(took)
                worst = max(took) - own
                print(
                    f"{label:24} {isolation:12} {own:7.3f} s {all_of_it:7.3f} s {all_of_it - own:7.3f} s {worst:7.3f} s"
                )


def _bare(program: Path) -> float:
    began = time.perf_counter()
    subprocess.run([str(program)], input=b"prompt\n", capture_output=True, check=True)
    return time.perf_counter() - began


async def _in_resit(program: Path, isolation: Isolation) -> list[float]:
    file = ModelsFile.model_validate({"models": {"m": {"provider": "command", "preset": "claude-code", "model": "m"}}})
    environ = {"PATH": f"{program.parent}:/usr/bin:/bin"}
    asking = CommandClient(file, Ground(isolation=isolation), environ=environ)
    files = tuple((f"file{number}.csv", "1,2\n" * 1000) for number in range(5))
    request = Request("command", "m", "prompt\n", None, 100, None, "default", "command:claude-code", files=files)
    took = []
    for _ in range(RUNS):
        began = time.perf_counter()
        answer = await asking.ask(request)
        took.append(time.perf_counter() - began)
        assert isinstance(answer, Reply), answer
        assert answer.text == "408"
    return took


if __name__ == "__main__":
    main()
