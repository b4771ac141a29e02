"""A running round in one frozen picture: what every front end draws while it runs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from decimal import Decimal
from types import MappingProxyType
from typing import Literal, assert_never, overload

from resit.core.records import FAIR, Fault, Row, Setting
from resit.core.rounds.events import (
    AttemptFailed,
    AttemptSent,
    BatchesChanged,
    BatchSeen,
    Event,
    PauseChanged,
    PoolHold,
    PoolsHeld,
    RoundEnded,
    RoundStarted,
    RunKept,
    SettingStopped,
    Spent,
    Streamed,
)

RECENT = 200
"""How many of the last kept runs speed and time left are taken from."""
_STREAM_CHARS = 20_000
"""How much of a watched reply is held for the screen; the whole of it is in the result."""

FlightState = Literal["sending", "waiting"]


@dataclass(frozen=True, slots=True)
class Flight:
    """A run that is being asked."""

    key: str
    question: str
    setting: str
    run: int
    attempt: int
    state: FlightState
    since: datetime
    """When it got into this state."""
    next_at: datetime | None = None
    """When a waiting one is tried again."""
    fault: Fault | None = None
    """Why it waits, or what its attempt before met."""

    def age_s(self, now: datetime) -> float:
        """How long it has been so."""
        return max(0.0, (now - self.since).total_seconds())

    def said(self, now: datetime) -> str:
        """State, attempt and age in a few words."""
        if self.state == "waiting" and self.next_at is not None and self.fault is not None:
            return f"waiting after {self.fault.kind} until {self.next_at:%H:%M:%S} UTC, attempt {self.attempt} failed"
        again = f", attempt {self.attempt}" if self.attempt > 1 else ""
        return f"sending for {self.age_s(now):.0f} s{again}"


@dataclass(frozen=True, slots=True)
class SettingProgress:
    """One setting so far."""

    label: str
    planned: int = 0
    done: int = 0
    """Runs that ended, whatever came out."""
    passed: int = 0
    part: int = 0
    missed: int = 0
    unsettled: int = 0
    score_sum: float = 0.0
    """Over the runs with a fair answer: `passed + part + missed` of them."""
    cost_usd: Decimal = Decimal(0)
    cost_unknown: int = 0
    """Runs without a known cost; with any, `cost_usd` reads "at least"."""
    seconds_sum: float = 0.0
    timed: int = 0
    stopped: Fault | None = None
    """Why it cannot go on."""

    @property
    def graded(self) -> int:
        """Runs with a fair answer: the denominator of the marks."""
        return self.passed + self.part + self.missed

    def with_stop(self, fault: Fault) -> SettingProgress:
        """The same, with the reason why it cannot go on."""
        return replace(self, stopped=fault)

    @property
    def seconds_mean(self) -> float | None:
        """Mean seconds of the answering attempts. None before the first."""
        return self.seconds_sum / self.timed if self.timed else None


class Log(Sequence[Row]):
    """The first rows of a list that only grows: a picture of it that costs nothing to take."""

    __slots__ = ("_count", "_rows")

    def __init__(self, rows: list[Row] | None = None, count: int | None = None) -> None:
        """See the first `count` of `rows`; all of them by default."""
        self._rows = [] if rows is None else rows
        self._count = len(self._rows) if count is None else count

    def add(self, row: Row) -> Log:
        """A log with one more row; this one stays as it is."""
        rows = self._rows if len(self._rows) == self._count else self._rows[: self._count]
        rows.append(row)
        return Log(rows, len(rows))

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, at: int) -> Row: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[Row]: ...
    def __getitem__(self, at: int | slice) -> Row | Sequence[Row]:
        if isinstance(at, slice):
            return [self._rows[i] for i in range(*at.indices(self._count))]
        if not -self._count <= at < self._count:
            raise IndexError(at)
        return self._rows[at if at >= 0 else self._count + at]

    def __iter__(self) -> Iterator[Row]:
        for at in range(self._count):
            yield self._rows[at]


@dataclass(frozen=True, slots=True)
class Progress:
    """All of a running round that a screen may show."""

    round_id: str = ""
    started_at: datetime | None = None
    planned: int = 0
    done: int = 0
    """Runs that ended, those of earlier starts included."""
    begun_with: int = 0
    """Runs that were done before this start."""
    settings: Mapping[str, SettingProgress] = field(default_factory=lambda: MappingProxyType({}))
    """By label, in the round's order."""
    flights: Mapping[str, Flight] = field(default_factory=lambda: MappingProxyType({}))
    """Runs being asked, by key, in the order they were begun."""
    batches: tuple[BatchSeen, ...] = ()
    """Batches that are out, and those that just ended."""
    holds: tuple[PoolHold, ...] = ()
    """Quota pools of which nothing starts now."""
    rows: Log = field(default_factory=Log)
    """Every row so far in the order they came; a run asked again is in it twice, the last one counts."""
    spent_usd: Decimal = Decimal(0)
    in_flight_usd: Decimal = Decimal(0)
    at_least: bool = False
    cap_usd: Decimal | None = None
    paused: bool = False
    ended: RoundEnded | None = None
    recent: tuple[tuple[datetime, Decimal | None], ...] = ()
    """When the last runs were kept, and what each cost."""
    watched: str | None = None
    """Key of the run whose reply is streamed."""
    streamed: str = ""
    """Its reply as far as it came, or the end of it."""

    @property
    def left(self) -> int:
        """Runs that have not ended."""
        return max(0, self.planned - self.done)

    @property
    def graded(self) -> int:
        """Runs with a fair answer."""
        return sum(s.graded for s in self.settings.values())

    @property
    def unsettled(self) -> int:
        """Runs that ended without a fair answer."""
        return sum(s.unsettled for s in self.settings.values())

    @property
    def sending(self) -> int:
        """Calls out now."""
        return sum(f.state == "sending" for f in self.flights.values())

    @property
    def in_batches(self) -> int:
        """Requests at the server in batches."""
        return sum(batch.requests for batch in self.batches if batch.state not in ("done", "lost"))

    @property
    def waiting(self) -> int:
        """Runs that wait for another attempt."""
        return sum(f.state == "waiting" for f in self.flights.values())

    def latest_rows(self) -> tuple[Row, ...]:
        """One row a run: of a run asked again only the last."""
        latest = {(row.question, row.setting, row.run): row for row in self.rows}
        return tuple(latest.values())

    def runs_per_s(self, now: datetime) -> float | None:
        """How fast runs end of late. None before the second."""
        if len(self.recent) < 2:
            return None
        span = (max(now, self.recent[-1][0]) - self.recent[0][0]).total_seconds()
        return (len(self.recent) - 1) / span if span > 0 else None

    def left_s(self, now: datetime) -> float | None:
        """Seconds until the last open run ends at the present speed. None when it cannot be told."""
        speed = self.runs_per_s(now)
        if self.left == 0:
            return 0.0
        return self.left / speed if speed else None

    def overdue(self, now: datetime, limit_s: float) -> tuple[Flight, ...]:
        """Calls without news for longer than `limit_s`."""
        return tuple(f for f in self.flights.values() if f.state == "sending" and f.age_s(now) > limit_s)


def fold(progress: Progress, event: Event) -> Progress:
    """The picture after `event`; the one before stays as it is."""
    match event:
        case RoundStarted():
            return _started(progress, event)
        case AttemptSent():
            return _sent(progress, event)
        case AttemptFailed():
            return _failed(progress, event)
        case Streamed():
            return _streamed(progress, event)
        case RunKept():
            return _kept(progress, event)
        case SettingStopped():
            return _setting_stopped(progress, event)
        case Spent():
            return replace(
                progress,
                spent_usd=event.spent_usd,
                in_flight_usd=event.in_flight_usd,
                at_least=event.at_least,
            )
        case PauseChanged():
            return replace(progress, paused=event.paused)
        case PoolsHeld():
            return replace(progress, holds=event.holds)
        case BatchesChanged():
            return replace(progress, batches=event.batches)
        case RoundEnded():
            return replace(
                progress, ended=event, flights=MappingProxyType({}), batches=(), holds=(), in_flight_usd=Decimal(0)
            )
        case _ as never:
            assert_never(never)


def add_row(so_far: SettingProgress, row: Row) -> SettingProgress:
    """One setting's figures with one more run in them."""
    fair = row.outcome in FAIR and row.score is not None
    return replace(
        so_far,
        done=so_far.done + 1,
        passed=so_far.passed + (row.outcome == "pass"),
        part=so_far.part + (row.outcome == "part"),
        missed=so_far.missed + (row.outcome == "miss"),
        unsettled=so_far.unsettled + (row.outcome not in FAIR),
        score_sum=so_far.score_sum + ((row.score or 0.0) if fair else 0.0),
        cost_usd=so_far.cost_usd + (row.cost_usd or Decimal(0)),
        cost_unknown=so_far.cost_unknown + (row.cost_usd is None),
        seconds_sum=so_far.seconds_sum + (row.seconds or 0.0),
        timed=so_far.timed + (row.seconds is not None),
    )


def tallies(planned: Iterable[tuple[Setting, int]], rows: Iterable[Row]) -> Mapping[str, SettingProgress]:
    """The figures of each setting by label: how many runs are planned for it, and what `rows` say."""
    found = {setting.label: SettingProgress(setting.label, planned=count) for setting, count in planned}
    for row in rows:
        found[row.setting] = add_row(found.get(row.setting, SettingProgress(row.setting)), row)
    return MappingProxyType(found)


def _started(progress: Progress, event: RoundStarted) -> Progress:
    return Progress(
        round_id=event.round_id,
        started_at=event.at,
        planned=event.planned,
        done=event.done,
        begun_with=event.done,
        settings=tallies(event.settings, event.rows),
        rows=Log(list(event.rows)),
        spent_usd=event.spent_usd,
        at_least=event.at_least,
        cap_usd=event.cap_usd,
        watched=progress.watched,
    )


def _sent(progress: Progress, event: AttemptSent) -> Progress:
    before = progress.flights.get(event.key)
    flight = Flight(
        key=event.key,
        question=event.question,
        setting=event.setting.label,
        run=event.run,
        attempt=event.attempt,
        state="sending",
        since=event.at,
        fault=before.fault if before else None,
    )
    streamed = "" if event.key == progress.watched else progress.streamed
    return replace(progress, flights=MappingProxyType({**progress.flights, event.key: flight}), streamed=streamed)


def _failed(progress: Progress, event: AttemptFailed) -> Progress:
    before = progress.flights.get(event.key)
    if before is None:
        return progress
    flight = replace(before, state="waiting", since=event.at, next_at=event.next_at, fault=event.fault)
    return replace(progress, flights=MappingProxyType({**progress.flights, event.key: flight}))


def _streamed(progress: Progress, event: Streamed) -> Progress:
    before = progress.streamed if progress.watched == event.key else ""
    text = before + event.text if event.kind == "text" else before
    return replace(progress, watched=event.key, streamed=text[-_STREAM_CHARS:])


def _kept(progress: Progress, event: RunKept) -> Progress:
    row = event.row
    tally = add_row(progress.settings.get(row.setting, SettingProgress(row.setting)), row)
    flights = {key: flight for key, flight in progress.flights.items() if key != event.record.key}
    return replace(
        progress,
        done=progress.done + 1,
        settings=MappingProxyType({**progress.settings, row.setting: tally}),
        flights=MappingProxyType(flights),
        rows=progress.rows.add(row),
        recent=(*progress.recent, (event.at, row.cost_usd))[-RECENT:],
    )


def _setting_stopped(progress: Progress, event: SettingStopped) -> Progress:
    label = event.setting.label
    tally = progress.settings.get(label, SettingProgress(label))
    return replace(progress, settings=MappingProxyType({**progress.settings, label: tally.with_stop(event.fault)}))
