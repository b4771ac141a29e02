"""What every reader of a log shares: the request that is open, those that are done, and where to go on later."""

from __future__ import annotations

from collections import Counter
from typing import Any, ClassVar

from resit.core.logs.lines import parse
from resit.core.logs.records import Tool
from resit.core.logs.rows import Open, Row


class Reader:
    """Takes a log's lines in turn and gathers its requests."""

    tool: ClassVar[Tool]

    def __init__(self, path: str) -> None:
        """Read the file at `path`."""
        self.path = path
        self.member = ""
        """Name of the file within a zip."""
        self.rows: list[Row] = []
        self.unknown_lines: Counter[str] = Counter()
        self.damaged = 0
        self.long = 0
        self.own_runs = 0
        self.unanswered = 0
        self.current: Open | None = None
        self.aside: dict[str, Open] = {}
        """Other requests that are open while `current` is: those to sub-agents."""
        self.mark: dict[str, Any] = {"offset": 0}
        """Where reading goes on when the file has grown: the start of the last request, with what was known there."""

    def line(self, data: bytes, offset: int, end: int) -> None:
        """Take one line, which stands from `offset` to `end`.

        Raises:
            ValueError: It is no JSON.
        """
        self.value(parse(data), offset, end)

    def value(self, value: Any, offset: int, end: int) -> None:
        """Take one JSON value, which stands from `offset` to `end`."""
        raise NotImplementedError

    def unknown(self, name: str) -> None:
        """Count a line of a type that this reader does not know."""
        if len(self.unknown_lines) < 100 or name in self.unknown_lines:
            self.unknown_lines[name] += 1
        else:
            self.unknown_lines["other"] += 1

    def begin(self, request: Open) -> None:
        """The next request begins: the one before is whole."""
        self.close()
        self.mark = {
            "offset": request.offset,
            "damaged": self.damaged,
            "long": self.long,
            "own_runs": self.own_runs,
            "unanswered": self.unanswered,
            "unknown": dict(self.unknown_lines),
            "rows": len(self.rows),
            "known": self.known(),
        }
        self.current = request

    def begin_aside(self, request: Open) -> None:
        """A request begins while another is open."""
        self.aside[request.id] = request

    def close(self) -> None:
        """The open requests are whole."""
        for request in (self.current, *self.aside.values()):
            if request is not None:
                self._keep(request)
        self.current = None
        self.aside = {}

    def finish(self, request: Open) -> None:
        """Add what is known of a request only when it is whole."""

    def known(self) -> dict[str, Any]:
        """What a later start at `mark` must know of the lines before; values that JSON can hold."""
        return {}

    def resume(self, mark: dict[str, Any], rows: list[Row]) -> None:
        """Go on at `mark`, with the rows before it."""
        self.rows = rows[: mark.get("rows", 0)]
        self.damaged, self.long = mark.get("damaged", 0), mark.get("long", 0)
        self.own_runs, self.unanswered = mark.get("own_runs", 0), mark.get("unanswered", 0)
        self.unknown_lines = Counter(mark.get("unknown", {}))
        self.mark = mark

    def _keep(self, request: Open) -> None:
        if request.own_run:
            self.own_runs += 1
        elif request.calls or request.stub:
            self.finish(request)
            self.rows.append(request.row(self.tool, self.member))
        else:
            self.unanswered += 1
