"""All requests in the logs of this machine. Nothing leaves it, and nothing is written but the cache."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import partial
from hashlib import blake2b
from pathlib import Path

from resit.core.config import ModelsFile, load_models_file
from resit.core.logs.cache import LogCache
from resit.core.logs.costs import Prices
from resit.core.logs.kind_words import group_of
from resit.core.logs.kinds import Kinds, load_kinds
from resit.core.logs.read import FileLog, Tick, read_log
from resit.core.logs.records import Delegation, LogIndex, Place, Progress, Request, ScanProgress, Unread
from resit.core.logs.rows import Row, total
from resit.core.logs.sources import LogFile, default_sources, find_logs, why_not
from resit.core.records import Usage

_MOST_TOKENS = 10**12
_SLACK = timedelta(days=1)
"""A file this much older than a range holds nothing in it, whatever its clock was."""


def scan(
    sources: Sequence[Path] | None = None,
    since: datetime | None = None,
    until: datetime | None = None,
    progress: Progress | None = None,
    *,
    cache: Path | None = None,
    kinds: Kinds | None = None,
    models_file: ModelsFile | None = None,
) -> LogIndex:
    """Every request and delegation in a range of time.

    Args:
        sources: Folders and files to look through; None is where the agents' own logs lie (`default_sources`).
        since: Leave out what was asked before; a file that was not touched since is not opened.
        until: Leave out what was asked then or later.
        progress: Told after each file, and within long ones. What it raises ends the scan; what was read is kept.
        cache: The cache's file; None is the one in the cache folder.
        kinds: The person's names for kinds; None reads `kinds.toml`.
        models_file: The person's prices; None reads `models.toml`.

    Raises:
        ConfigError: `kinds.toml` or `models.toml` cannot be used.
    """
    kinds = load_kinds() if kinds is None else kinds
    prices = Prices(load_models_file() if models_file is None else models_file)
    looked = tuple(default_sources() if sources is None else sources)
    found, unread = find_logs(looked)
    files = tuple(file for file in found if since is None or _touched_since(file, since))
    with LogCache(cache) as kept:
        gathered = _Gathering(files, kept, progress, list(unread))
        gathered.run()
    requests = tuple(_request(path, row, prices, kinds) for path, row in _in_range(_whole(gathered.rows), since, until))
    return LogIndex(
        requests=requests,
        since=since,
        until=until,
        sources=tuple(str(source) for source in looked),
        files=len(files),
        files_cached=gathered.cached,
        bytes_read=gathered.bytes_read,
        unknown_lines=dict(gathered.unknown.most_common()),
        damaged_lines=gathered.damaged,
        long_lines=gathered.long,
        unread=tuple(gathered.unread),
        own_runs=gathered.own_runs,
        unanswered=gathered.unanswered,
        price_notes=prices.notes,
    )


@dataclass(slots=True)
class _Gathering:
    """The rows of all files, and what is counted beside them."""

    files: tuple[LogFile, ...]
    kept: LogCache
    progress: Progress | None
    unread: list[Unread]
    rows: list[tuple[str, Row]] = field(default_factory=list)
    unknown: Counter[str] = field(default_factory=Counter)
    cached: int = 0
    bytes_read: int = 0
    damaged: int = 0
    long: int = 0
    own_runs: int = 0
    unanswered: int = 0

    def run(self) -> None:
        """Read every file, or take what was read of it before."""
        whole, done = sum(file.size for file in self.files), 0
        for number, file in enumerate(self.files):
            self._tell(number, done, whole)
            try:
                self._add(file.path, self._held(file, partial(self._tell, number, done, whole)))
            except OSError as error:
                self.unread.append(Unread(file.path, why_not(error)))
            done += file.size
        self._tell(len(self.files), whole, whole)

    def _tell(self, number: int, done: int, whole: int, within: int = 0) -> None:
        if self.progress is not None:
            self.progress(ScanProgress(number, len(self.files), min(done + within, whole), whole, len(self.rows)))

    def _held(self, file: LogFile, tick: Tick) -> FileLog:
        before, complete = self.kept.get(file)
        if before is not None and complete:
            self.cached += 1
            return before
        held = read_log(file.path, before, tick)
        self.bytes_read += held.bytes_read
        self.kept.put(file, held)
        return held

    def _add(self, path: str, held: FileLog) -> None:
        self.rows += ((path, row) for row in held.rows)
        self.unknown.update(held.unknown)
        self.damaged += held.damaged
        self.long += held.long
        self.own_runs += held.own_runs
        self.unanswered += held.unanswered


def _touched_since(file: LogFile, since: datetime) -> bool:
    return file.modified_ns / 1e9 >= (since - _SLACK).timestamp()


def _whole(rows: Iterable[tuple[str, Row]]) -> list[tuple[str, Row]]:
    """Rows without copies, and without stubs of delegations that have a log of their own; those lend what they know."""
    rows = list(rows)
    stubs = {link: row for _, row in rows if row.stub for link in row.links}
    logged = {link for _, row in rows if not row.stub for link in row.links}
    seen: set[str] = set()
    kept = []
    # Originals first; of copies the one with most calls, then the oldest.
    for path, row in sorted(rows, key=lambda each: (each[1].copy, -each[1].calls, each[1].at, each[0], each[1].offset)):
        told_elsewhere = row.stub and (not row.spent or not logged.isdisjoint(row.links))
        if told_elsewhere or (row.copy and row.same in seen):
            continue
        seen.add(row.same)
        kept.append((path, row if row.stub else _completed(row, stubs)))
    return sorted(kept, key=lambda each: (each[1].at, each[0], each[1].offset))


def _completed(row: Row, stubs: dict[str, Row]) -> Row:
    """A delegation with what only the call that sent it off says."""
    stub = next((stubs[link] for link in row.links if link in stubs), None)
    if stub is None or stub.agent is None or row.agent is None:
        return row
    kind, about, background = row.agent
    agent = (kind or stub.agent[0], about or stub.agent[1], background or stub.agent[2])
    return row._replace(agent=agent, effort=row.effort or stub.effort)


def _in_range(
    rows: Iterable[tuple[str, Row]], since: datetime | None, until: datetime | None
) -> Iterable[tuple[str, Row]]:
    first = None if since is None else since.timestamp()
    last = None if until is None else until.timestamp()
    for path, row in rows:
        if (first is None or row.at >= first) and (last is None or row.at < last):
            yield path, row


def _request(path: str, row: Row, prices: Prices, kinds: Kinds) -> Request:
    cost, at_least, unpriced = prices.cost(row)
    # Of a request that two sessions hold, either may be the one that is shown: its key must not tell them apart.
    name = row.same if row.copy and row.tool == "claude-code" else f"{row.session}\n{row.id}"
    key = blake2b(f"{row.tool}\n{name}".encode(), digest_size=8).hexdigest()
    group, why = group_of(row.asked, row.tools, None if row.agent is None else row.agent[0])
    kind, own = kinds.of(key, group)
    return Request(
        key=key,
        tool=row.tool,
        session=row.session,
        when=datetime.fromtimestamp(row.at, UTC),
        model=_model(row),
        provider=row.provider,
        effort=row.effort,
        effort_ran=row.effort_ran,
        delegation=None if row.agent is None else Delegation(*row.agent),
        first_line=row.first_line,
        prompt_at=Place(path, row.offset, row.end, row.member, row.item),
        reply_at=None if row.reply < 0 else Place(path, row.reply, row.reply_end, row.member, row.reply_item),
        prompt_chars=row.chars,
        tools=row.tools,
        calls=row.calls,
        usage=_usage(row),
        cost_usd=cost,
        cost_partial=at_least,
        unpriced=unpriced,
        cwd=row.cwd,
        project=row.project,
        group=group,
        kind=kind,
        why=why,
        kind_set=own,
    )


def _model(row: Row) -> str | None:
    if len(row.spent) == 1:
        return row.spent[0].model or row.model
    calls: Counter[str] = Counter()
    for spent in row.spent:
        if spent.model is not None:
            calls[spent.model] += spent.calls
    return calls.most_common(1)[0][0] if calls else row.model


def _usage(row: Row) -> Usage:
    # Columns of the sums: input, both kinds of cache write, cache read, output, thinking.
    given, short, long, read, said, thought = (
        map(total, list(zip(*row.spent, strict=True))[2:8]) if row.spent else (None,) * 6
    )
    return Usage(
        input_tokens=_bounded(given),
        cache_write_tokens=_bounded(total((short, long))),
        cache_read_tokens=_bounded(read),
        output_tokens=_bounded(said),
        thinking_tokens=_bounded(thought),
    )


def _bounded(tokens: int | None) -> int | None:
    """A hostile log may claim more tokens than a record can hold."""
    return None if tokens is None else min(tokens, _MOST_TOKENS)
