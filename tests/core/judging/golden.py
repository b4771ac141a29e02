"""The golden files: notes, routing rules and a report over fixed rounds, kept to the letter in `tests/data/golden/`.

python tests/core/judging/golden.py

writes them anew; read the difference before it is committed.
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
from collections.abc import Callable, Mapping
from datetime import datetime
from pathlib import Path

from exam_kit import TODAY, three
from sheet_kit import GOLDEN, NOW, sheet

from resit.core.judging.evidence import gather
from resit.core.judging.junit import junit_xml
from resit.core.judging.note import note_text
from resit.core.judging.routing import make_routing
from resit.core.judging.routing_text import routing_markdown, routing_toml
from resit.core.judging.sheet import make_sheet
from resit.core.rounds.clock import Clock
from resit.core.rounds.session import NEW, prepare_round
from resit.core.rounds.shelf import OpenedRound, open_round
from resit.core.suite_file import load_suite
from resit.demo import demo_client, demo_settings, demo_suite_path


class StillClock(Clock):
    """A day on which no time passes."""

    def now(self) -> datetime:
        return NOW


def demo_round(folder: Path) -> OpenedRound:
    """The demo's round, played into `folder` as `resit demo` plays it."""
    client = demo_client()
    suite = load_suite(demo_suite_path())
    prepared = prepare_round(
        suite,
        demo_settings(client.recording),
        round=NEW,
        clients={"recorded": client},
        rounds_dir=folder,
        clock=StillClock(),
    )
    runner = prepared.start(lambda event: None)
    asyncio.run(runner.run())
    return open_round(runner.store.path, suite=suite)


MAKERS: Mapping[str, Callable[[Path], str]] = {
    "note.md": lambda folder: note_text(sheet(folder)),
    "junit.xml": lambda folder: junit_xml(sheet(folder)).decode(),
    "routing.md": lambda folder: routing_markdown(make_routing(three(), today=TODAY)),
    "routing.toml": lambda folder: routing_toml(make_routing(three(), today=TODAY)),
    "demo-note.md": lambda folder: note_text(make_sheet(demo_round(folder))),
    "demo-routing.md": lambda folder: routing_markdown(make_routing(gather(demo_round(folder)))),
    "demo-routing.toml": lambda folder: routing_toml(make_routing(gather(demo_round(folder)))),
}
"""By file, what makes its content in an empty folder."""


def main() -> None:
    for name, make in MAKERS.items():
        with tempfile.TemporaryDirectory() as folder:
            (GOLDEN / name).write_text(make(Path(folder)), encoding="utf-8")
    sys.stdout.write(f"written: {GOLDEN}\n")


if __name__ == "__main__":
    main()
