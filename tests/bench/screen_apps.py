"""The programs that `bench_screens.py` measures in a terminal.

python tests/bench/screen_apps.py bare | results QUESTIONS SETTINGS REPEATS | live PER_S SECONDS TOLD
                                  | follow PER_S SECONDS TOLD | rows COUNT
"""

from __future__ import annotations

import asyncio
import gc
import json
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING

from textual.app import App, ComposeResult
from textual.widgets import Label

if TYPE_CHECKING:
    from resit.core.records import Row, RunRecord, Setting
    from resit.core.rounds.events import RoundEnded
    from resit.core.suite import Suite
    from resit.tui.app import ResitApp
    from resit.tui.round_view import RoundView
    from resit.tui.session import Session

READY = "ready to begin"
MODELS = ("model-a", "model-b", "model-c")


class BareApp(App[None]):
    """As little as Textual can do: one label, which any key changes."""

    pressed = 0

    def compose(self) -> ComposeResult:
        yield Label(READY)

    def on_key(self) -> None:
        self.pressed += 1
        self.query_one(Label).update(f"pressed {self.pressed} times")


def made_up_rows(suite: Suite, settings: list[Setting], repeats: int) -> Iterator[tuple[Row, RunRecord]]:
    """A graded row with its record for every run of a round; every seventh is a miss."""
    from resit.core.records import Attempt, Reply, RunRecord, Usage
    from resit.core.scoring.grid import make_row

    now = datetime.now(UTC)
    for number, question in enumerate(suite.questions):
        for setting in settings:
            for run in range(1, repeats + 1):
                text = f"something else, {number}" if (number + run) % 7 == 0 else question.accept[0]
                reply = Reply(text=text, seconds=0.5 + number % 13 / 10, usage=Usage(input_tokens=50, output_tokens=5))
                attempt = Attempt(number=1, at=now, asked="", reply=reply, cost_usd=Decimal("0.0001"))
                record = RunRecord(
                    question=question.id, setting=setting, run=run, prompt=question.prompt, attempts=(attempt,)
                )
                yield make_row(question, record), record


def big_view(
    folder: Path, questions: int, settings: int, repeats: int
) -> tuple[RoundView, list[tuple[Row, RunRecord]]]:
    """A round without a run yet, and all its runs. Of these one is on disk, and read for all."""
    from big_round import ENDPOINT, NOW

    from resit.core.records import Setting
    from resit.core.rounds.plan import PlannedSetting, RoundPlan
    from resit.core.rounds.store import RoundStore
    from resit.core.suite import Question, Suite
    from resit.tui.round_view import RoundView

    asked = tuple(
        Question(id=f"question-{n}", kind=f"kind-{n % 5}", prompt=f"What is {n} + {n}? " * 5, accept=(str(2 * n),))
        for n in range(questions)
    )
    suite = Suite(name="big", title="Big", repeats=repeats, questions=asked)
    of = [Setting(model=f"model-{n}", effort="low") for n in range(settings)]
    plan = RoundPlan(
        id="20261130-090000-big", suite="big", title="Big", suite_digest=suite.digest, rule_digest=suite.rule_digest,
        rule_set_at=NOW, created_at=NOW, repeats=repeats, first_repeats=repeats,
        settings=tuple(PlannedSetting(setting=setting, endpoint=ENDPOINT) for setting in of),
    )  # fmt: skip
    rows = list(made_up_rows(suite, of, repeats))
    first = rows[0][1]

    class OneFileStore(RoundStore):
        """Every run is the first one's file, under its own name."""

        def read(self, key: str) -> RunRecord | None:
            found = super().read(first.key)
            assert found is not None
            return found

    view = RoundView(OneFileStore(RoundStore.create(folder, plan, suite).path), suite)
    view.store.put(first)
    return view, rows


def open_results(folder: Path, questions: int, settings: int, repeats: int) -> ResitApp:
    """An app that opens a round of so many runs at the first key."""
    from big_round import NOW

    from resit.core.rounds.events import RunKept
    from resit.tui.app import ResitApp
    from resit.tui.screens.base import ResitScreen
    from resit.tui.widgets.plain import PlainStatic

    view, rows = big_view(folder, questions, settings, repeats)

    class Ready(ResitScreen):
        def compose_body(self) -> ComposeResult:
            yield PlainStatic(READY)

        def on_key(self) -> None:
            self.resit.open("results", view)

    # A record in each event would be a cost of the bench: rows are all that a view keeps.
    view.take([RunKept(NOW, rows[0][1], row) for row, _ in rows])
    del rows
    return ResitApp(first=Ready())


class Producer:
    """A runner that keeps `per_s` replies a second and calls nobody."""

    def __init__(
        self,
        session: Session,
        rows: list[tuple[Row, RunRecord]],
        per_s: int,
        told: Path,
        shown: Callable[[], int] | None = None,
    ) -> None:
        """Tell `told` at the end how many were sent, and what `shown` says, or how many the picture holds."""
        self._session, self._rows, self._per_s, self._told = session, rows, per_s, told
        self._shown = shown or self._in_picture
        self.sent = 0

    async def run(self) -> RoundEnded:
        from resit.core.rounds.events import RoundEnded, RoundStarted

        settings = tuple({record.setting.label: record.setting for _, record in self._rows[::7]}.values())
        each = tuple((setting, len(self._rows)) for setting in settings)
        emit = self._session.emit
        emit(RoundStarted(datetime.now(UTC), len(self._rows), 0, (), "r1", each, cap_usd=Decimal(50)))
        start = time.perf_counter()
        while self.sent < len(self._rows):
            due = min(len(self._rows), int((time.perf_counter() - start) * self._per_s))
            while self.sent < due:
                self._keep()
            await asyncio.sleep(0.005)
        ended = RoundEnded(datetime.now(UTC), "done", "all asked", 0)
        emit(ended)
        await asyncio.sleep(3.0)
        self._told.write_text(json.dumps({"sent": self.sent, "shown": self._shown()}), encoding="utf-8")
        return ended

    def _in_picture(self) -> int:
        progress = self._session.progress
        return len(progress.rows) if progress else 0

    def _keep(self) -> None:
        from resit.core.rounds.events import AttemptSent, RunKept, Spent

        row, record = self._rows[self.sent]
        # A row of its own for each reply, as a round makes it.
        row = replace(row, seconds=self.sent / 1000)
        now, emit = datetime.now(UTC), self._session.emit
        emit(AttemptSent(now, record.key, record.question, record.setting, record.run, 1))
        emit(RunKept(now, record, row))
        self.sent += 1
        emit(Spent(Decimal("0.0001") * self.sent, Decimal("0.01"), False))

    def stop(self, grace_s: float = 5.0) -> None: ...
    def pause(self) -> None: ...
    def resume(self) -> None: ...
    def watch(self, key: str | None) -> None: ...


def open_live(per_s: int, seconds: int, told: Path) -> ResitApp:
    """An app whose round keeps so many replies a second, from the first key on."""
    from resit.core.records import Setting
    from resit.core.suite import Question, Suite
    from resit.tui.app import ResitApp
    from resit.tui.screens.live import LiveScreen
    from resit.tui.starting import Begun

    asked = tuple(Question(id=f"q{n}", kind=f"kind-{n % 5}", prompt=f"{n}?", accept=(str(n),)) for n in range(1000))
    suite = Suite(name="live", title="Live", repeats=1, questions=asked)
    settings = [Setting(model=name) for name in MODELS]
    rows = list(made_up_rows(suite, settings, 1 + per_s * seconds // (len(asked) * len(settings))))

    class Running(LiveScreen):  # whose own `on_mount` Textual calls as well
        def on_mount(self) -> None:
            producer = Producer(self.resit.session, rows[: per_s * seconds], per_s, told)
            self.resit.start_round(Begun(producer), suite)

    return ResitApp(first=Running())


def open_following(per_s: int, seconds: int, told: Path, folder: Path) -> ResitApp:
    """An app that shows the results of a round of 1,000 questions x 30 settings while so many replies a second come."""
    from random import Random

    from resit.tui.app import ResitApp
    from resit.tui.screens.results import ResultsScreen
    from resit.tui.starting import Begun

    view, rows = big_view(folder, 1000, 30, 1)
    # As a round asks them: not setting by setting.
    Random(1).shuffle(rows)

    class Following(ResultsScreen):
        def on_mount(self) -> None:
            of = rows[: per_s * seconds]
            producer = Producer(self.resit.session, of, per_s, told, lambda: len(view.keys))
            self.resit.start_round(Begun(producer), view.suite, view.store.path)

    return ResitApp(first=Following(view))


def hold_rows(count: int) -> None:
    """Say what so many rows weigh without any screen: kB before and after."""
    from resit.core.records import Setting
    from resit.core.suite import Question, Suite

    asked = tuple(Question(id=f"q{n}", kind="k", prompt=f"{n}?", accept=(str(n),)) for n in range(1000))
    suite = Suite(name="live", title="Live", repeats=1, questions=asked)
    made = [row for row, _ in made_up_rows(suite, [Setting(model="model-a")], 1)]
    before = _resident_kb()
    kept = [replace(made[number % 1000], seconds=number / 1000) for number in range(count)]
    print(_resident_kb() - before, len(kept))


def _resident_kb() -> int:
    return int(Path("/proc/self/statm").read_text(encoding="utf-8").split()[1]) * 4


def main() -> None:
    what, *args = sys.argv[1:]
    if what == "bare":
        BareApp().run()
        return
    gc.disable()  # as the command line does, which also sets the pace of frames
    if what == "results":
        with tempfile.TemporaryDirectory() as name:
            questions, settings, repeats = map(int, args)
            open_results(Path(name), questions, settings, repeats).run()
    elif what == "follow":
        with tempfile.TemporaryDirectory() as name:
            open_following(int(args[0]), int(args[1]), Path(args[2]), Path(name)).run()
    elif what == "live":
        open_live(int(args[0]), int(args[1]), Path(args[2])).run()
    else:
        hold_rows(int(args[0]))


if __name__ == "__main__":
    main()
