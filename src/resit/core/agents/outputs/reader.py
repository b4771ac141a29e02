"""What all readers share: the way a command ended, the reader's shape, and how a tool's errors become faults."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any, Protocol

from resit.core.agents.bounded import Lines, Transcript
from resit.core.calling.client import Delta
from resit.core.calling.faults import Asked, ServerError, from_server
from resit.core.records import AgentRun, Fault, FaultKind, Reply, Step, Stop, Usage

_LIMIT_WORDS = re.compile(
    r"you.ve (hit|reached) your (\w+[- ]){0,2}limit|usage limit reached|rate limit reached|limit reached . resets",
    re.IGNORECASE,
)
_STATUS = re.compile(r"(?:\bstatus:? |\bcode\"?: ?|\(|API Error: )([45]\d\d)\b")
_LOGIN = re.compile(
    r"not logged in|please run /login|invalid api key|log ?in (again|required)|authentication|auth method",
    re.IGNORECASE,
)
_NO_MODEL = re.compile(r"model.{0,80}(does not exist|not found|not supported)|ModelNotFound", re.IGNORECASE | re.DOTALL)
_BUSY = re.compile(r"high demand|overloaded|temporarily unavailable", re.IGNORECASE)
_DROPPED = re.compile(
    r"stream disconnected|network error|connection (error|reset|refused)|ECONN|ENOTFOUND", re.IGNORECASE
)
_SAID_CHARS = 300
_MAX_WAIT_S = 40 * 86_400.0


@dataclass(frozen=True, slots=True)
class Ended:
    """How a command ended."""

    exit_code: int | None
    """As a shell would say it: 128 and the number for a signal. None: it would not end."""
    seconds: float
    """From its start to its end."""
    stderr: str = ""
    """The beginning and the end of its standard error."""
    overdue: bool = False
    """It was ended at its time limit."""
    limit_s: float = 0.0
    """That limit."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a command left files."""

    home: Path
    answer_file: Path


@dataclass(frozen=True, slots=True)
class Asking:
    """What was asked of which command: for the sentences."""

    command: str
    """Name of the preset or of the entry."""
    model: str
    """The setting's model."""
    answer_path: str = ""

    @property
    def asked(self) -> Asked:
        """In the words of the API's faults."""
        return Asked(model=self.model, url=self.command, key_name=f"what {self.command} signs in with")


class Reader(Protocol):
    """Takes a command's standard output as it comes, and says in the end what it amounts to."""

    def feed(self, text: str) -> list[Delta]:
        """Take the next piece; hands back what the model said in it."""
        ...

    def finish(self, ended: Ended, place: Place) -> Reply | Fault:
        """What the run came to. `Reply.agent` says how, but for isolation, which a reader cannot know."""
        ...


class EventReader:
    """A reader of one JSON object a line; lines that are none are passed over."""

    def __init__(self, asking: Asking) -> None:
        """Read the output of what was asked."""
        self.asking = asking
        self.transcript = Transcript()
        self._lines = Lines()

    def feed(self, text: str) -> list[Delta]:
        """Take the next piece."""
        return [delta for line in self._lines.cut(text) for delta in self._line(line)]

    def close(self) -> None:
        """Nothing more comes."""
        for line in self._lines.rest():
            self._line(line)

    def _line(self, line: str) -> list[Delta]:
        event = parsed(line)
        if event is None:
            return []
        delta = self.take(event)
        return [] if delta is None else [delta]

    def take(self, event: Mapping[str, Any]) -> Delta | None:
        """Take one event; each tool has its own."""
        raise NotImplementedError


def parsed(text: str) -> dict[str, Any] | None:
    """The JSON object that `text` is; None when it is none."""
    if not text.lstrip().startswith("{"):
        return None
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def table(value: object) -> dict[str, Any]:
    """`value` when it is an object, else an empty one."""
    return value if isinstance(value, dict) else {}


def rows(value: object) -> list[Any]:
    """`value` when it is a list, else an empty one."""
    return value if isinstance(value, list) else []


def words(value: object) -> str:
    """`value` when it is text, else nothing."""
    return value if isinstance(value, str) else ""


def count(value: object) -> int | None:
    """`value` as a count; None when it cannot be one."""
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= 10**12:
        return None
    return value


def figure(value: object) -> float | None:
    """`value` as a figure that is not negative; None when it cannot be one."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= 10**12:
        return None
    return float(value)


def dollars(value: object) -> Decimal | None:
    """`value` as an amount; None when it cannot be one."""
    if figure(value) is None:
        return None
    try:
        # A float's last digits are noise: 0.0008500000000000001.
        found = round(Decimal(str(value)), 9)
    except InvalidOperation:
        return None
    return Decimal(f"{found.normalize():f}") if found <= 10**9 else None


def summed(values: list[int | None]) -> int | None:
    """The sum; None when any part is not known or there is none."""
    known = [value for value in values if value is not None]
    return sum(known) if known and len(known) == len(values) else None


def shown(value: object) -> str:
    """What a tool was called with, as one text: its only value, or JSON."""
    if isinstance(value, str):
        return value
    if isinstance(value, dict) and len(value) == 1:
        only = next(iter(value.values()))
        if isinstance(only, str):
            return only
    return json.dumps(value, ensure_ascii=False, default=str)


def seconds_until(epoch: object, now: Callable[[], datetime] = lambda: datetime.now(UTC)) -> float | None:
    """Seconds from now until a time in seconds since 1970; None when it cannot be one, or is long past or far off."""
    at = figure(epoch)
    if at is None:
        return None
    wait = at - now().timestamp()
    return wait if 0 <= wait <= _MAX_WAIT_S else None


def not_ended_well(asking: Asking, ended: Ended, usage: Usage | None = None) -> Fault | None:
    """The fault of a command that was ended at its time limit; None when it ended by itself."""
    if not ended.overdue:
        return None
    said = f"{asking.command} had no answer after {ended.limit_s:g} s and was ended with all it had started"
    return asking.asked.fault("timeout", said, usage=usage, seconds=ended.seconds)


def without_result(asking: Asking, ended: Ended, usage: Usage | None = None) -> Fault:
    """The fault of a command that ended and left nothing that can be read."""
    early = not_ended_well(asking, ended, usage)
    if early is not None:
        return early
    code = ended.exit_code or 0
    last = last_words(ended.stderr)
    if code in (129, 130, 143):
        said = f"{asking.command} was ended by signal {code - 128} before it answered"
        return asking.asked.fault("dropped", said, usage=usage, seconds=ended.seconds)
    if code > 128 and not last:
        said = f"{asking.command} was killed by signal {code - 128}; it may need more memory than there is"
        return asking.asked.fault("internal", said, usage=usage, seconds=ended.seconds)
    if code == 127:
        said = f"{asking.command} could not be started: {last or 'command not found'}"
        return asking.asked.fault("request", said, seconds=ended.seconds)
    if not code:
        said = f"{asking.command} ended as if all were well and printed nothing that can be read"
        return asking.asked.fault("internal", f"{said}: {last}" if last else said, usage=usage, seconds=ended.seconds)
    return from_words(asking, last or f"{asking.command} ended with exit code {code}", ended, usage=usage)


def from_words(
    asking: Asking,
    said: str,
    ended: Ended,
    *,
    status: int | None = None,
    kind: str | None = None,
    wait_s: float | None = None,
    usage: Usage | None = None,
) -> Fault:
    """The fault that a tool's own words describe, read the way a server's are.

    Args:
        asking: Which command said it.
        said: Its words.
        ended: How it ended.
        status: The HTTP status it names beside its words.
        kind: The API's name of the error.
        wait_s: Seconds until its quota is free again, where it says so.
        usage: What was billed all the same.
    """
    found = status or _status_in(said)
    asked = asking.asked
    if found is None or found < 400:
        sort = _sort_of(said)
        if sort == "key":
            found = 401
        elif sort is not None:
            return asked.fault(sort, f"{asking.command}: {said}", usage=usage, seconds=ended.seconds)
        else:
            return asked.fault("request", f"{asking.command} failed: {said}", usage=usage, seconds=ended.seconds)
    if found == 404:
        line = f"{asking.command} knows no model {asking.model}; check its name: {said}"
        return asked.fault("model", line, status=status, usage=usage, seconds=ended.seconds)
    if found in (401, 403):
        line = f"{asking.command} is not let in; check its key, or sign in with it once more: {said}"
        return asked.fault("key", line, status=status, usage=usage, seconds=ended.seconds)
    if found == 429 and _LIMIT_WORDS.search(said) and "rate limit" not in said.lower():
        line = f"the usage limit of {asking.command} is reached: {said}"
        return asked.fault("quota", line, status=429, retry_after_s=wait_s, usage=usage, seconds=ended.seconds)
    error = ServerError(status=found, type=kind, code=None, message=said[:_SAID_CHARS], headers={})
    fault = from_server(asked, error, datetime.now(UTC), usage)
    return fault.model_copy(update={"seconds": ended.seconds})


def _status_in(said: str) -> int | None:
    match = _STATUS.search(said)
    return int(match[1]) if match else None


def _sort_of(said: str) -> FaultKind | None:
    """What words without a status describe."""
    sorts: tuple[tuple[re.Pattern[str], FaultKind], ...] = (
        (_LIMIT_WORDS, "quota"),
        (_LOGIN, "key"),
        (_NO_MODEL, "model"),
        (_BUSY, "overloaded"),
        (_DROPPED, "dropped"),
    )
    found = next((sort for pattern, sort in sorts if pattern.search(said)), None)
    return "limit" if found == "quota" and "rate limit" in said.lower() else found


def is_limit_message(text: str) -> bool:
    """True for an answer that is no answer but a tool's word on its limits, whole and alone on one line."""
    line = text.strip()
    if "\n" in line or len(line) > 200:
        return False
    alone = line.startswith("API Error:") or _LIMIT_WORDS.match(line.removeprefix("Claude AI ").removeprefix("Claude "))
    return bool(alone)


def last_words(stderr: str) -> str:
    """The last line of an error output that says something."""
    lines = [line.strip() for line in stderr.splitlines()]
    telling = [line for line in lines if len(line) > 2 and not line.startswith(("at ", "Warning:"))]
    return telling[-1][:_SAID_CHARS] if telling else ""


def reply(
    text: str,
    ended: Ended,
    *,
    stop: Stop = "end",
    detail: str = "",
    thinking: str = "",
    usage: Usage | None = None,
    model: str = "",
    request_id: str | None = None,
    turns: int | None = None,
    cost: Decimal | None = None,
    agent: AgentRun,
    waited_s: float = 0.0,
) -> Reply:
    """A reply with how it came about; the command's own waiting between retries is no time of the model's."""
    return Reply(
        text=text,
        thinking=thinking,
        stop=stop,
        stop_detail=detail,
        usage=usage or Usage(),
        seconds=max(0.0, round(ended.seconds - waited_s, 6)),
        model=model,
        request_id=request_id,
        turns=turns,
        cost_reported_usd=cost,
        agent=agent,
    )


def note(text: str) -> Step:
    """A word of the command's own."""
    return Step(kind="note", text=text)
