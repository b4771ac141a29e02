"""How fast a gigabyte of logs is read, first and again, and in how much memory.

    python tests/bench/bench_logs.py [MEGABYTES]

The target is 1 GB in under 60 s and 300 MB of memory, and under 1 s the second time. The baseline only reads the same
lines, which any reader must. The logs are made up in the mix that agents write: what tools gave back is most of it, the
rows of one reply repeat its usage, and one line has 100 MB. Each figure is of a process of its own.
"""

from __future__ import annotations

import gc
import json
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from resit.core.logs.scan import scan
from resit.core.logs.summary import summarise

MEGABYTE = 1024 * 1024
HUGE_LINE = 100 * MEGABYTE
ASKED = ("review", "fix", "explain", "add", "find", "summarise", "test", "rename", "plan", "translate")
MODELS = ("claude-opus-5-5", "claude-sonnet-5-5", "claude-haiku-5-5", "a-model-nobody-prices")


def main() -> None:
    """Measure and print."""
    size = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    with tempfile.TemporaryDirectory() as folder:
        logs = Path(folder) / "logs"
        made = write_logs(logs, size * MEGABYTE)
        os.environ["RESIT_HOME"] = str(Path(folder) / "home")
        print(f"{made / MEGABYTE:,.0f} MB in {sum(1 for _ in logs.rglob('*.jsonl')):,} files")
        for name in ("baseline", "first look", "second look"):
            print(f"{name:12}", _apart(logs, name), flush=True)
        with next(logs.rglob("*.jsonl")).open("ab") as file:
            file.writelines(request(random.Random(1), 10**6))
        print(f"{'one has grown':12}", _apart(logs, "third look"))


def _apart(logs: Path, name: str) -> str:
    """Run one measurement in a process of its own; what it prints."""
    command = [sys.executable, __file__, "--measure", name, str(logs)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def measure(name: str, logs: Path) -> None:
    """One measurement."""
    started = time.perf_counter()
    if name == "baseline":
        lines = sum(1 for path in logs.rglob("*.jsonl") for _ in path.open("rb"))
        said = f"{lines:,} lines"
    else:
        gc.disable()  # As `resit logs` does.
        index = scan([logs])
        summary = summarise(index)
        said = f"{summary.total.count:,} requests, {index.bytes_read / MEGABYTE:,.1f} MB read"
    took = time.perf_counter() - started
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{took:6.2f} s, {peak:4.0f} MB at most; {said}")


def write_logs(folder: Path, size: int) -> int:
    """Sessions of about `size` bytes in all; how many they have."""
    chance, made, number = random.Random(7), 0, 0
    while made < size:
        path = folder / "projects" / f"-home-user-p{number % 40}" / f"session-{number}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("wb") as file:
            if number == 3:
                file.write(b'{"parentUuid":null,"type":"user","message":{"role":"user","content":"')
                file.writelines(b"x" * MEGABYTE for _ in range(HUGE_LINE // MEGABYTE))
                file.write(b'"}}\n')
            for asked in range(chance.randint(2, 25)):
                file.writelines(request(chance, number * 100 + asked))
            made += file.tell()
        number += 1
    return made


def request(chance: random.Random, number: int) -> Iterator[bytes]:
    """The lines of one request: what was asked, bookkeeping, replies in several rows, results of tools."""
    common = {"isSidechain": False, "cwd": f"/home/user/p{number % 40}", "sessionId": f"s{number // 100}"}
    common |= {"version": "2.1.332", "gitBranch": "main", "userType": "external"}
    asked = f"{chance.choice(ASKED)} the part {number} of the program and say what you find. " * chance.randint(1, 30)
    model, at = chance.choice(MODELS), f"2026-11-{1 + number % 28:02}T10:{number % 60:02}:00.000Z"
    user = {"role": "user", "content": asked}
    yield line({"parentUuid": None, "type": "user", "message": user, "uuid": f"u{number}", "timestamp": at, **common})
    yield line({"type": "api-request-blob", "sessionId": "s", "hash": "h", "message": filler(chance, 4000)})
    for _ in range(3):
        yield line({"parentUuid": "u", "attachment": filler(chance, 600), "type": "attachment", "timestamp": at})
    for turn in range(chance.randint(1, 12)):
        name = f"msg{number}-{turn}"
        usage: dict[str, object] = {
            "input_tokens": 12,
            "cache_creation_input_tokens": 900,
            "cache_read_input_tokens": 9_000 * (turn + 1),
        }
        usage |= {"output_tokens": 300, "cache_creation": {"ephemeral_5m_input_tokens": 900}}
        blocks = [
            {"type": "thinking", "thinking": filler(chance, 1500), "signature": filler(chance, 700)},
            {"type": "text", "text": filler(chance, 500)},
            {"type": "tool_use", "id": f"t{name}", "name": "Read", "input": {"file_path": f"/home/user/{turn}.py"}},
        ]
        for block in blocks:
            message = {"id": name, "role": "assistant", "model": model, "content": [block], "usage": usage}
            row = {"parentUuid": "u", "message": message, "requestId": "r", "type": "assistant", "uuid": f"a{name}"}
            yield line({**row, "timestamp": at, "effort": "high", **common})
        text = filler(chance, chance.choice((300, 3_000, 30_000)))
        result = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": f"t{name}", "content": text}]}
        row = {"parentUuid": "u", "type": "user", "message": result, "uuid": f"r{name}", "timestamp": at}
        yield line({**row, "toolUseResult": {"type": "text", "file": {"content": text}}, **common})
    yield line({"type": "file-history-snapshot", "messageId": "m", "snapshot": filler(chance, 2000)})


def line(value: object) -> bytes:
    """One row, as compact as agents write it."""
    return json.dumps(value, separators=(",", ":")).encode() + b"\n"


_TEXT = 'def look(self) -> "str":\n    return f"{self.name}: found\\t2 of 3"  # as before\n' * 500


def filler(chance: random.Random, length: int) -> str:
    """So many characters of what looks like code."""
    start = chance.randrange(80)
    return _TEXT[start : start + length]


if __name__ == "__main__":
    if "--measure" in sys.argv:
        measure(sys.argv[2], Path(sys.argv[3]))
    else:
        main()
