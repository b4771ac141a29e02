"""What the tables of the Logs screen hold: kinds, models, levels and days, the requests themselves, and the audit."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import TYPE_CHECKING, Literal

from resit.tui.figures import money, when
from resit.tui.widgets.table import Column, Shown

if TYPE_CHECKING:
    from resit.core.judging.audit import KindAudit
    from resit.core.logs.records import Request, Sum

View = Literal["kind", "model", "effort", "day", "requests", "audit"]
VIEWS: tuple[View, ...] = ("kind", "model", "effort", "day", "requests", "audit")
TITLES: dict[View, str] = {
    "kind": "kinds", "model": "models", "effort": "levels", "day": "days", "requests": "requests", "audit": "audit",
}  # fmt: skip
MARK = "◆"

HELP = "words · kind:review model:opus effort:high tool:codex day:2026-11 is:agent is:marked"
"""Every form of the filter once, for its placeholder."""


class SumLines:
    """A row a kind, model, level or day."""

    def __init__(
        self,
        sums: Sequence[Sum],
        total: Sum,
        by: str,
        *,
        marked: Collection[str] = (),
        candidates: Collection[str] = (),
    ) -> None:
        """Show `sums` with `total` under them.

        Args:
            sums: The rows.
            total: The sum of all of them.
            by: What a row is.
            marked: Names that carry a mark.
            candidates: Kinds that often go to the dearest model.
        """
        self.sums = sums
        self._marked, self._candidates = frozenset(marked), frozenset(candidates)
        self.columns = (
            Column("name", {"effort": "level"}.get(by, by), 24),
            Column("asked", "asked", 7, right=True),
            Column("agents", "agents", 7, right=True),
            Column("cost", "cost", 12, right=True),
            Column("unset", "no level", 8, right=True),
            Column("input", "input", 8, right=True),
            Column("cached", "cached", 8, right=True),
            Column("output", "output", 8, right=True),
        )
        self.summaries = (tuple(self._cells(total)),)

    def __len__(self) -> int:
        """One a sum."""
        return len(self.sums)

    def row_id(self, row: int) -> str:
        """Its name."""
        return self.sums[row].name

    def cell(self, row: int, column: int) -> Shown:
        """What stands there."""
        return self._cells(self.sums[row])[column]

    def sort_value(self, row: int, column: int) -> str | float | None:
        """Names as words, the rest by their size."""
        each = self.sums[row]
        values: tuple[str | float | None, ...] = (
            each.name,
            each.requests,
            each.delegations,
            None if each.cost_usd is None else float(each.cost_usd),
            each.no_effort,
            _input(each),
            each.usage.cache_read_tokens or 0,
            each.usage.output_tokens or 0,
        )
        return values[column]

    def _cells(self, each: Sum) -> list[Shown]:
        mark = f"{MARK} " if each.name in self._marked else ""
        return [
            Shown(f"{mark}{each.name}", "half" if each.name in self._candidates else ""),
            Shown(f"{each.requests:,}"),
            Shown(f"{each.delegations:,}", "" if each.delegations else "dim"),
            Shown(money(each.cost_usd, at_least=each.at_least and each.cost_usd is not None)),
            Shown(f"{each.no_effort:,}", "" if each.no_effort else "dim"),
            Shown(tokens(_input(each))),
            Shown(tokens(each.usage.cache_read_tokens or 0)),
            Shown(tokens(each.usage.output_tokens or 0)),
        ]


def _input(each: Sum) -> int:
    return (each.usage.input_tokens or 0) + (each.usage.cache_write_tokens or 0)


def tokens(number: int) -> str:
    """Tokens in as few digits as a column has room for."""
    for size, letter in ((10**9, "G"), (10**6, "M"), (10**3, "k")):
        if number >= 10 * size:
            return f"{number / size:,.0f}{letter}"
        if number >= size:
            return f"{number / size:.1f}{letter}"
    return f"{number:,}"


class RequestLines:
    """A row a request or delegation, newest first."""

    summaries: Sequence[Sequence[Shown]] = ()

    def __init__(self, requests: Sequence[Request], marked: Collection[str], width: int) -> None:
        """Show `requests`; those whose key is in `marked` carry a mark."""
        self.requests, self._marked = requests, marked
        self.columns = (
            Column("when", "when", 14),
            Column("asked", "asked", max(30, width - 76)),
            Column("kind", "kind", 16),
            Column("model", "model", 15),
            Column("effort", "level", 8),
            Column("cost", "cost", 11, right=True),
        )

    def __len__(self) -> int:
        """One a request."""
        return len(self.requests)

    def row_id(self, row: int) -> str:
        """The request's key."""
        return self.requests[row].key

    def cell(self, row: int, column: int) -> Shown:
        """What stands there."""
        each = self.requests[row]
        match self.columns[column].key:
            case "when":
                return Shown(f"{MARK if each.key in self._marked else ' '} {when(each.when)}")
            case "kind":
                return Shown(each.kind, "strong" if each.kind_set else "")
            case "model":
                return Shown((each.model or "not said").removeprefix("claude-"))
            case "effort":
                return Shown(each.effort or "–", "" if each.effort else "dim")
            case "cost":
                at_least = each.cost_partial and each.cost_usd is not None
                return Shown(money(each.cost_usd, at_least=at_least))
            case _:
                agent = f"→ {each.delegation.agent_type or 'agent'}: " if each.delegation is not None else ""
                return Shown(f"{agent}{each.first_line}")

    def sort_value(self, row: int, column: int) -> str | float | None:
        """Times and money by their size, the rest as words."""
        each = self.requests[row]
        match self.columns[column].key:
            case "when":
                return each.when.timestamp()
            case "cost":
                return None if each.cost_usd is None else float(each.cost_usd)
            case _:
                return self.cell(row, column).text


class AuditLines:
    """A row a kind of work: how it was used, and what the exam says."""

    summaries: Sequence[Sequence[Shown]] = ()

    def __init__(self, kinds: Sequence[KindAudit], width: int) -> None:
        """Show `kinds`."""
        self.kinds = kinds
        self.columns = (
            Column("kind", "kind", 20),
            Column("times", "times", 6, right=True),
            Column("said", "use and exam", max(48, width - 34)),
        )

    def __len__(self) -> int:
        """One a kind."""
        return len(self.kinds)

    def row_id(self, row: int) -> str:
        """The kind."""
        return self.kinds[row].kind

    def cell(self, row: int, column: int) -> Shown:
        """What stands there."""
        each = self.kinds[row]
        if column == 2:
            return Shown(each.said, "good" if each.saves else "dim" if each.route is None else "")
        return Shown(f"{each.count:,}" if column else each.kind)

    def sort_value(self, row: int, column: int) -> str | float | None:
        """Counts by their size, the rest as words."""
        return self.kinds[row].count if column == 1 else self.cell(row, column).text


Test = Callable[["Request"], bool]


def parse_filter(text: str, marked: Collection[str]) -> Test | None:
    """A test that holds when every part of `text` does; None for an empty filter."""
    tests = [_part(part.casefold(), marked) for part in text.split()]
    return (lambda request: all(test(request) for test in tests)) if tests else None


def _part(part: str, marked: Collection[str]) -> Test:
    name, colon, value = part.partition(":")
    if colon and name == "is":
        if value == "marked":
            return lambda request: request.key in marked
        return lambda request: (request.delegation is not None) == (value in ("agent", "delegation"))
    if colon and name in _FIELDS:
        of = _FIELDS[name]
        return lambda request: value in of(request).casefold()
    return lambda request: part in f"{request.first_line} {request.kind} {request.model} {request.project}".casefold()


_FIELDS: dict[str, Callable[[Request], str]] = {
    "kind": lambda request: request.kind,
    "model": lambda request: request.model or "not said",
    "effort": lambda request: request.effort or "none",
    "tool": lambda request: request.tool,
    "day": lambda request: f"{request.when.astimezone():%Y-%m-%d}",
}
