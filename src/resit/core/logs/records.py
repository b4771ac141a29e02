"""What the logs hold: one row for each request, and what rows add up to.

Texts are not kept: a row says where its text lies, and `texts.read_texts` reads it again when it is wanted. Every
string here came from outside and goes through `core.printable` before it is shown.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from typing import Literal

from resit.core.records import Usage

Tool = Literal["claude-code", "codex", "gemini", "claude.ai", "chatgpt", "jsonl"]
TOOLS: tuple[Tool, ...] = ("claude-code", "codex", "gemini", "claude.ai", "chatgpt", "jsonl")

By = Literal["model", "effort", "kind", "day"]
BY: tuple[By, ...] = ("model", "effort", "kind", "day")

NOT_SAID = "not said"
"""Stands for the model of a request whose log names none."""
NO_LEVEL = "no level set"
"""Stands for the effort of a request that set none."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a text lies: a stretch of a file."""

    path: str
    """Absolute path of the file, or of the zip that holds it."""
    offset: int
    """First byte of the stretch, counted in the file as UTF-8: a UTF-16 file is counted as it reads recoded."""
    end: int
    """First byte after it."""
    member: str = ""
    """Name inside a zip; empty for a file of its own."""
    item: str = ""
    """Id of the row or message within the stretch; empty where the stretch says it all."""


@dataclass(frozen=True, slots=True)
class Delegation:
    """What made a request one of a model to a sub-agent."""

    agent_type: str
    """As the log names it: `general-purpose`, `Explore`, an agent of the person's own; empty when it names none."""
    description: str
    """The few words the model gave it; may be empty."""
    background: bool


@dataclass(frozen=True, slots=True)
class Request:
    """One request of a person, or one delegation to a sub-agent, with all calls that answered it."""

    key: str
    """The same for the same request on every scan: what marks and `kinds.toml` hold on to."""
    tool: Tool
    session: str
    """Id of the session or conversation."""
    when: datetime
    """Aware, UTC."""
    model: str | None
    """The model that answered, as resolved; of several the one with most calls. None: the log does not say."""
    provider: str
    """Whose price list it is billed by: `anthropic`, `openai`, another's name; empty when the log does not say."""
    effort: str | None
    """The level that was set for it, in the tool's own word. None: no level set."""
    effort_ran: str | None
    """The level it ran at as the log reports it: a delegation that sets none takes one over. None: not said."""
    delegation: Delegation | None
    """None for a request of a person."""
    first_line: str
    """First line of the prompt that is not empty, cut to 160 characters."""
    prompt_at: Place
    """The stretch that holds the prompt and all that followed until the next request."""
    reply_at: Place | None
    """The row of the last words to the person. None: there were none."""
    prompt_chars: int
    tools: tuple[str, ...]
    """Names of the tools used, most used first."""
    calls: int
    """Calls of a model that it took."""
    usage: Usage
    """Of all its calls; those of sub-agents are rows of their own. Cached input is never part of `input_tokens`."""
    cost_usd: Decimal | None
    """At the price of its day. None: unknown, which is not 0."""
    cost_partial: bool
    """True: the log leaves calls out (a sub-agent without a log of its own), so the cost reads "at least"."""
    unpriced: tuple[str, ...]
    """Models of its calls that have no price."""
    cwd: str | None
    """The folder it was asked in. None: the tool has none, or does not say."""
    project: str
    """Last part of `cwd`, or the title of the conversation; may be empty."""
    group: str
    """The kind of work as resit groups it by itself: what `kinds.toml` gives names to."""
    kind: str
    """The kind of work as the person named it, else `group`."""
    why: str
    """Why it is of that kind: `asked to review; tools Read, Grep`."""
    kind_set: bool
    """True: the person gave this request its kind."""


@dataclass(frozen=True, slots=True)
class Texts:
    """The words of one request, read from the log when they are wanted."""

    prompt: str
    reply: str
    """The last words to the person; empty when there were none."""
    attached: tuple[Attached, ...]
    """What the model was given beside the prompt, in the log's order."""
    left_out: int
    """Attached texts that are not here because there are too many or they are too long."""


@dataclass(frozen=True, slots=True)
class Attached:
    """Data that came with a request: an attached file, or what a tool gave back."""

    name: str
    """File name, or the tool and its target: `Read invoice.txt`."""
    text: str
    from_tool: bool
    """True: what a tool gave back; False: attached by the person."""


@dataclass(frozen=True, slots=True)
class Unread:
    """A file or folder that could not be read, and why."""

    path: str
    reason: str


@dataclass(frozen=True, slots=True)
class ScanProgress:
    """How far a scan is."""

    files: int
    files_total: int
    bytes: int
    bytes_total: int
    requests: int


@dataclass(frozen=True, slots=True)
class LogIndex:
    """All requests found in a range of time."""

    requests: tuple[Request, ...]
    """Oldest first."""
    since: datetime | None
    until: datetime | None
    """The range; `until` itself is outside."""
    sources: tuple[str, ...]
    """Folders and files that were looked through."""
    files: int
    files_cached: int
    """Of `files`, those whose rows came from the cache."""
    bytes_read: int
    """Bytes read this time, and not before."""
    unknown_lines: dict[str, int]
    """Lines of a type resit does not know, by type."""
    damaged_lines: int
    """Lines that are no JSON: torn, cut off, overwritten."""
    long_lines: int
    """Lines too long to be taken apart; not read."""
    unread: tuple[Unread, ...]
    own_runs: int
    """Requests of resit's own rounds, left out."""
    unanswered: int
    """Requests that no model answered (taken back, failed, cut off), left out."""
    price_notes: tuple[str, ...]
    """Where the prices are from, with their dates: `genai-prices 0.2.3 (10 Nov 2026)`."""


@dataclass(frozen=True, slots=True)
class Sum:
    """What some requests add up to."""

    name: str
    """A model, a level, a kind, a day (`2026-11-29`, local), or `total`."""
    requests: int
    """Of persons."""
    delegations: int
    """To sub-agents."""
    usage: Usage
    cost_usd: Decimal | None
    """Sum of the known costs; None when no request has one."""
    at_least: bool
    """True: costs are missing from `cost_usd`."""
    unpriced: tuple[str, ...]
    """Models whose cost is missing."""
    uncounted: int
    """Requests and delegations whose log holds no token counts, so that they have no cost either."""
    no_effort: int
    """Requests and delegations that set no level."""
    models: tuple[tuple[str, int], ...]
    """Models with their number of requests and delegations, most first."""
    efforts: tuple[tuple[str, int], ...]
    """Levels in the same way; `NO_LEVEL` among them."""
    why: str = ""
    """For a kind: what makes it one."""

    @property
    def count(self) -> int:
        """Requests and delegations together."""
        return self.requests + self.delegations


@dataclass(frozen=True, slots=True)
class Candidate:
    """A kind of work that goes to the dearest model often: worth an exam of whether a cheaper one will do."""

    kind: str
    why: str
    model: str
    """The dearest model in use."""
    count: int
    """Requests and delegations of this kind that went to it."""
    share: float
    """Of all that went to it, 0.0 to 1.0."""
    cost_usd: Decimal | None
    at_least: bool
    no_effort: int
    examples: tuple[str, ...]
    """Keys of up to five requests, newest first."""


@dataclass(frozen=True, slots=True)
class Summary:
    """What a scan adds up to."""

    total: Sum
    by_model: tuple[Sum, ...]
    by_effort: tuple[Sum, ...]
    by_kind: tuple[Sum, ...]
    """These three: most requests first."""
    by_day: tuple[Sum, ...]
    """Oldest first; a day begins where the machine is."""
    first_day: date | None
    last_day: date | None
    no_effort_share: float | None
    """Of all requests and delegations. None without any."""
    dearest: str | None
    """Highest price for output among the models that got at least one request in twenty. None: no price known."""
    candidates: tuple[Candidate, ...]
    """Most requests first."""


Progress = Callable[[ScanProgress], None]
