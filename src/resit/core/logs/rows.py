"""A request while its log is read, and the compact row that is kept of it."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, NamedTuple

from resit.core.logs.kind_words import asked_for
from resit.core.logs.records import Tool

FIRST_LINE = 160
"""Characters kept of a prompt."""
MAX_COUNT = 10**9
"""No call has more tokens; what a log says beyond is no count."""

TIERS = (32_000, 100_000, 128_000, 199_999, 200_000, 256_000, 272_000, 512_000, 524_288)
"""Prompt lengths above which some list price changes. Calls between two of them are summed, so that a sum is priced
as each of its calls is."""

OWN_FOLDER = "resit-run-"
"""Part of the name of every folder that resit itself lets an agent work in."""

_LATEST = 253_402_300_799  # The end of the year 9999: later there is no date.


class Spent(NamedTuple):
    """Tokens of some calls of one model whose prompts lie between the same two tiers."""

    model: str | None
    calls: int
    input: int | None
    """Uncached. None here and below: the log does not say."""
    write_5m: int | None
    write_1h: int | None
    read: int | None
    output: int | None
    thinking: int | None
    longest: int
    """Tokens of the longest prompt, cached ones counted."""


class Row(NamedTuple):
    """One request as its log holds it: what the cache keeps. Its order is the cache's format."""

    tool: Tool
    member: str
    """Name of the file within a zip; empty for a file of its own."""
    id: str
    same: str
    """Equal in two files when one holds a copy of the other's request."""
    copy: bool
    """True: it may be a copy, and is dropped when another row is the `same`."""
    session: str
    at: float
    """Seconds since 1970, UTC."""
    effort: str | None
    effort_ran: str | None
    first_line: str
    chars: int
    asked: tuple[str, ...]
    offset: int
    end: int
    item: str
    reply: int
    """Offset of the reply's row; -1: none."""
    reply_end: int
    reply_item: str
    tools: tuple[str, ...]
    spent: tuple[Spent, ...]
    model: str | None
    """Model that the log says was asked, where no call says which answered."""
    provider: str
    cwd: str | None
    project: str
    agent: tuple[str, str, bool] | None
    """Type, description, background. None: asked by a person."""
    links: tuple[str, ...]
    """Ids that name this delegation elsewhere: of the agent, of the tool call."""
    partial: bool
    stub: bool
    """Only the call that delegated is known: a log of the sub-agent's own replaces it."""

    @property
    def calls(self) -> int:
        """Calls that answered it."""
        return sum(spent.calls for spent in self.spent)


def row_of(values: list[Any]) -> Row:
    """A row out of the cache.

    Raises:
        TypeError: The values are not those of a row.
    """
    row = Row._make(values)
    return row._replace(
        asked=tuple(row.asked),
        tools=tuple(row.tools),
        links=tuple(row.links),
        spent=tuple(Spent._make(each) for each in row.spent),
        agent=None if row.agent is None else (row.agent[0], row.agent[1], row.agent[2]),
    )


@dataclass(slots=True)
class Call:
    """One call of a model; its log may tell of it several times, with counts that grow."""

    model: str | None
    input: int | None = None
    write_5m: int | None = None
    write_1h: int | None = None
    read: int | None = None
    output: int | None = None
    thinking: int | None = None

    def merge(self, later: Call) -> None:
        """Take over what a later telling knows: a count only grows while a reply is streamed."""
        self.model = later.model or self.model
        for name in ("input", "write_5m", "write_1h", "read", "output", "thinking"):
            old, new = getattr(self, name), getattr(later, name)
            if new is not None and (old is None or new > old):
                setattr(self, name, new)

    @property
    def prompt(self) -> int:
        """Tokens of the prompt, cached ones counted."""
        return (self.input or 0) + (self.write_5m or 0) + (self.write_1h or 0) + (self.read or 0)


@dataclass(slots=True)
class Open:
    """A request whose calls are being gathered."""

    id: str
    session: str
    at: float
    text: str
    offset: int
    item: str = ""
    end: int = 0
    same: str = ""
    copy: bool = False
    effort: str | None = None
    effort_ran: str | None = None
    reply: int = -1
    reply_end: int = -1
    reply_item: str = ""
    model: str | None = None
    provider: str = ""
    cwd: str | None = None
    project: str = ""
    agent: tuple[str, str, bool] | None = None
    links: tuple[str, ...] = ()
    partial: bool = False
    stub: bool = False
    calls: dict[str, Call] = field(default_factory=dict)
    tools: dict[str, str] = field(default_factory=dict)
    """Name of the tool by the id of its use."""

    @property
    def own_run(self) -> bool:
        """True for a request that a round of resit's made."""
        return OWN_FOLDER in (self.cwd or self.project)

    def add_call(self, key: str, call: Call) -> None:
        """Note a call, once for each `key`."""
        known = self.calls.get(key)
        if known is None:
            self.calls[key] = call
        else:
            known.merge(call)

    def note_reply(self, offset: int, end: int, item: str = "") -> None:
        """Words to the person stand there; the last ones count."""
        self.reply, self.reply_end, self.reply_item = offset, end, item

    def row(self, tool: Tool, member: str) -> Row:
        """What is kept of it."""
        used = Counter(self.tools.values())
        return Row(
            tool=tool,
            member=member,
            id=self.id,
            same=self.same or self.id,
            copy=self.copy,
            session=self.session,
            at=self.at,
            effort=self.effort,
            effort_ran=self.effort_ran,
            first_line=first_line(self.text),
            chars=len(self.text),
            asked=asked_for(self.text),
            offset=self.offset,
            end=max(self.end, self.offset),
            item=self.item,
            reply=self.reply,
            reply_end=self.reply_end,
            reply_item=self.reply_item,
            tools=tuple(name for name, _ in used.most_common()),
            spent=summed(self.calls.values()),
            model=self.model,
            provider=self.provider,
            cwd=self.cwd,
            project=self.project or last_part(self.cwd),
            agent=self.agent,
            links=self.links,
            partial=self.partial,
            stub=self.stub,
        )


def summed(calls: Iterable[Call]) -> tuple[Spent, ...]:
    """`calls` by model and by the tier their prompts fall in, most calls first."""
    groups: dict[tuple[str | None, int], list[Call]] = {}
    for call in calls:
        groups.setdefault((call.model, bisect_left(TIERS, call.prompt)), []).append(call)
    made = [
        Spent(
            model,
            len(group),
            total(call.input for call in group),
            total(call.write_5m for call in group),
            total(call.write_1h for call in group),
            total(call.read for call in group),
            total(call.output for call in group),
            total(call.thinking for call in group),
            max(call.prompt for call in group),
        )
        for (model, _), group in groups.items()
    ]
    return tuple(sorted(made, key=lambda spent: -spent.calls))


def total(counts: Iterable[int | None]) -> int | None:
    """Sum of the known counts; None when none is known."""
    found: int | None = None
    for count in counts:
        if count is not None:
            found = count if found is None else found + count
    return found


def count_of(value: object) -> int | None:
    """A number of tokens as a log gives it; None for what is none."""
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= MAX_COUNT:
        return None
    return value


def text_of(value: object, limit: int = 300) -> str:
    """A short string of a log; empty for what is none. Half surrogate pairs are replaced: nothing can write them."""
    if not isinstance(value, str):
        return ""
    short = value[:limit]
    return short if short.isascii() else short.encode("utf-8", "replace").decode()


def maybe(value: object) -> str | None:
    """A short string of a log, None for what is none or empty."""
    return text_of(value) or None


def time_of(value: object) -> float | None:
    """Seconds since 1970 of a time as logs write it: ISO 8601, or a number of seconds or milliseconds."""
    if isinstance(value, str):
        try:
            parsed = datetime.fromisoformat(value)
            seconds = (parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)).timestamp()
        except (ValueError, OverflowError):
            return None
    elif isinstance(value, int | float) and not isinstance(value, bool):
        # The twelfth digit tells: as seconds it would lie beyond the year 5000.
        seconds = value / 1000 if 10**11 < value < 10**15 else value
    else:
        return None
    return float(seconds) if 0 <= seconds <= _LATEST else None


def first_line(text: str) -> str:
    """The first line that is not empty, cut."""
    return text_of(next((line.strip() for line in text[:4000].splitlines() if line.strip()), ""), FIRST_LINE)


def last_part(path: str | None) -> str:
    """Name of the folder at the end of a path of any system."""
    return (path or "").replace("\\", "/").rstrip("/").rpartition("/")[2]
