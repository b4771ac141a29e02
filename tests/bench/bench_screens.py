"""The screens in a real pseudo-terminal of 120 by 40: first paint, a big grid, and a round at 1,000 replies a second.

    python tests/bench/bench_screens.py [paint] [grid] [runs] [live] [follow]

A bare Textual app with one label is measured in the same run, in turns, and each figure stands beside its share of
the bound and, where that says more, of the bare app's own. Wall times are from the key written to the last byte drawn;
processor times are the program's own, and say what a busy machine hides.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

from pseudo_terminal import Terminal
from screen_apps import READY

APPS = str(Path(__file__).with_name("screen_apps.py"))
FIRST_WORDS = "Reading the suites"
STARTS, KEYS = 15, 60
PACE = {"TEXTUAL_FPS": "120"}  # as the command line sets it
PER_S, LIVE_S = 1000, 30
DOWN, UP, RIGHT, LEFT, PAGE_DOWN, PAGE_UP, END, HOME = (
    "\x1b[B", "\x1b[A", "\x1b[C", "\x1b[D", "\x1b[6~", "\x1b[5~", "\x1b[F", "\x1b[H",
)  # fmt: skip


def p95(values: Sequence[float]) -> float:
    """The 95th percentile."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(0.95 * len(ordered)))]


def spread(values: Sequence[float]) -> str:
    """Median and 95th percentile in milliseconds."""
    return f"median {median(values) * 1000:6.1f} ms  p95 {p95(values) * 1000:6.1f} ms"


def held(what: str, value: float, bound: float, unit: str) -> None:
    """A figure beside its bound."""
    shown = f"{value * 1000:.1f} ms" if unit == "s" else f"{value:.2f} {unit}".rstrip()
    print(f"  {what:44} {shown:>12}  {value / bound:5.2f} of the bound {'' if value <= bound else 'MISSED'}")


def start(args: Sequence[str], words: str, folder: Path) -> tuple[float, float]:
    """Wall and processor seconds from the process's start until `words` are drawn."""
    terminal = Terminal(args, folder)
    try:
        return terminal.until(words), terminal.cpu_s()
    finally:
        terminal.close()


def bench_paint(folder: Path) -> None:
    """First paint of `resit` against the bare app's, in turns."""
    bare: list[tuple[float, float]] = []
    ours: list[tuple[float, float]] = []
    for _ in range(STARTS):
        bare.append(start([APPS, "bare"], READY, folder))
        ours.append(start(["-m", "resit"], FIRST_WORDS, folder))
    print(f"First paint, {STARTS} starts each")
    for name, of in (("bare", bare), ("resit", ours)):
        print(f"  {name:6} wall {spread([w for w, _ in of])}   CPU {spread([c for _, c in of])}")
    held("wall, median of the bare app's", median(w for w, _ in ours) / median(w for w, _ in bare), 1.5, "x")
    held("wall, p95 of the bare app's", p95([w for w, _ in ours]) / p95([w for w, _ in bare]), 1.5, "x")
    held("CPU, median of the bare app's", median(c for _, c in ours) / median(c for _, c in bare), 1.5, "x")


@dataclass
class Pressed:
    """Seconds that each key took."""

    wall: list[float] = field(default_factory=list)
    """From the key to the last byte drawn."""
    cpu: list[float] = field(default_factory=list)
    """The program's own."""

    def told(self) -> str:
        """Both in milliseconds."""
        return f"{spread(self.wall)}   CPU {spread(self.cpu)}"


def pressed(terminal: Terminal, keys: Sequence[str]) -> Pressed:
    """Press `keys`, each once the one before is drawn."""
    took = Pressed()
    for key in keys:
        before = terminal.cpu_s()
        took.wall.append(terminal.press(key))
        took.cpu.append(terminal.cpu_s() - before)
    return took


def bare_keys(folder: Path) -> Pressed:
    """The same of the bare app: what Textual itself needs from a key to a frame, and how quiet the machine is."""
    terminal = Terminal([APPS, "bare"], folder)
    try:
        terminal.until(READY)
        terminal.settle()
        return pressed(terminal, ["x"] * KEYS)
    finally:
        terminal.close()


def bench_results(folder: Path, questions: int, settings: int, repeats: int, *, runs: bool) -> None:
    """A round of so many runs in the results: opening, keys, sorting, memory."""
    shape = f"{questions * settings * repeats:,} run rows" if runs else f"{questions:,} questions x {settings} settings"
    print(f"Results, {shape}")
    base = bare_keys(folder)
    terminal = Terminal([APPS, "results", str(questions), str(settings), str(repeats)], folder, PACE)
    try:
        terminal.until(READY)
        terminal.settle(0.5)
        at = terminal.send("o")
        terminal.until("question-0", at)
        shown = terminal.settle(0.5) - at
        if runs:
            shown = terminal.press("t", 0.5)
            terminal.press(END)
            terminal.press(HOME)
        took = pressed(terminal, ([DOWN] * 12 + [PAGE_DOWN] * 3 + [RIGHT] * 3 + [UP, PAGE_UP]) * 3)
        jumps = pressed(terminal, [END, HOME] * 5)
        # By the column under the cursor: up, down, and back to suite order.
        sorts = [terminal.press("s", 0.4) for _ in range(6)]
        held("shown", shown, 0.5, "s")
        print(f"  keys   {took.told()}")
        print(f"  jumps  {jumps.told()}")
        print(f"  bare   {base.told()}")
        held("key to painted frame, p95", p95(took.wall), 0.030, "s")
        held("first and last row, worst", max(jumps.wall), 0.030, "s")
        held("sort, worst", max(sorts), 0.3, "s")
        held("memory, most", terminal.memory_mb("VmHWM"), 250, "MB")
    finally:
        terminal.close()


def bench_live(folder: Path) -> None:
    """A round at 1,000 replies a second: `f` is pressed all the while, and changes what the panel says of itself."""
    print(f"Live, {PER_S:,} replies a second for {LIVE_S} s")
    base = bare_keys(folder)
    told = folder / "told.json"
    terminal = Terminal([APPS, "live", str(PER_S), str(LIVE_S), str(told)], folder, PACE)
    took: list[float] = []
    memory: list[tuple[float, float]] = []
    try:
        terminal.until("following the newest")
        begun, cpu, drawn = time.perf_counter(), terminal.cpu_s(), terminal.bytes_drawn
        staying = False
        while (ran := time.perf_counter() - begun) < LIVE_S - 1:
            terminal.listen(0.08 + len(took) % 7 / 100)
            at = terminal.send("f")
            took.append(terminal.until("following the newest" if staying else "staying here", at))
            staying = not staying
            memory.append((ran, terminal.memory_mb()))
        share = (terminal.cpu_s() - cpu) / (time.perf_counter() - begun)
        rate = (terminal.bytes_drawn - drawn) / (time.perf_counter() - begun) / 1000
        while not told.exists():
            terminal.listen(0.2)
    finally:
        terminal.close()
    found = json.loads(told.read_text(encoding="utf-8"))
    print(f"  keys   {spread(took)}   ({len(took)} keys), CPU {share:.0%}, {rate:.0f} kB/s drawn")
    print(f"  bare   {spread(base.wall)}")
    held("key to painted frame, p95", p95(took), 0.060, "s")
    print(f"  replies {found['sent']:,} sent, {found['shown']:,} shown, {found['sent'] - found['shown']} lost")
    tell_growth(memory)


def bench_follow(folder: Path) -> None:
    """The results of that round while it runs: first and last row in turns, each a whole new picture."""
    print(f"Results during {PER_S:,} replies a second for {LIVE_S} s, 1,000 questions x 30 settings")
    base = bare_keys(folder)
    told = folder / "told-following.json"
    terminal = Terminal([APPS, "follow", str(PER_S), str(LIVE_S), str(told)], folder, PACE)
    took: list[float] = []
    try:
        terminal.until("question-0")
        begun, cpu = time.perf_counter(), terminal.cpu_s()
        while time.perf_counter() - begun < LIVE_S - 1:
            terminal.listen(0.08 + len(took) % 7 / 100)
            down = len(took) % 2 == 0
            at = terminal.send(END if down else HOME)
            took.append(terminal.until("question-999" if down else "question-0", at))
        share = (terminal.cpu_s() - cpu) / (time.perf_counter() - begun)
        while not told.exists():
            terminal.listen(0.2)
    finally:
        terminal.close()
    found = json.loads(told.read_text(encoding="utf-8"))
    print(f"  keys   {spread(took)}   ({len(took)} keys), CPU {share:.0%}")
    print(f"  bare   {spread(base.wall)}")
    held("key to painted frame, p95", p95(took), 0.060, "s")
    print(f"  replies {found['sent']:,} sent, {found['shown']:,} shown")


def tell_growth(memory: Sequence[tuple[float, float]]) -> None:
    """What the program grew by, beside what its rows weigh: they are the round, and are meant to stay."""
    early = next(mb for ran, mb in memory if ran > LIVE_S / 6)
    count = int(PER_S * (memory[-1][0] - LIVE_S / 6))
    done = subprocess.run([sys.executable, APPS, "rows", str(count)], capture_output=True, text=True, check=True)
    rows_mb = int(done.stdout.split()[0]) / 1024
    grown = memory[-1][1] - early
    print(f"  memory {early:.1f} MB at {LIVE_S // 6} s, {memory[-1][1]:.1f} MB at the end: {grown:.1f} MB more,")
    beside = (grown - rows_mb) * 1e6 / count
    print(f"         of which {count:,} rows are {rows_mb:.1f} MB; {beside:.0f} bytes a reply beside")


def main() -> None:
    wanted = sys.argv[1:] or ["paint", "grid", "runs", "live", "follow"]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if "paint" in wanted:
            bench_paint(folder)
        if "grid" in wanted:
            bench_results(folder, 1000, 30, 1, runs=False)
        if "runs" in wanted:
            bench_results(folder, 1000, 25, 4, runs=True)
        if "live" in wanted:
            bench_live(folder)
        if "follow" in wanted:
            bench_follow(folder)


if __name__ == "__main__":
    main()
