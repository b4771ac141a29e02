"""What is wrong with a suite, collected while it is read, so that all of it is said at once."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from dataclasses import dataclass, field

from resit.core.suite import SuiteFault

MOST = 200
"""Faults kept of one suite; a file of another kind would give one for every line."""


@dataclass(slots=True)
class Said:
    """Faults and warnings about one file."""

    path: str
    faults: list[SuiteFault] = field(default_factory=list)
    warnings: list[SuiteFault] = field(default_factory=list)

    def fault(self, code: str, message: str, mend: str = "", *, q: str | None = None, line: int | None = None) -> None:
        """Say something that refuses the suite."""
        if len(self.faults) < MOST:
            self.faults.append(SuiteFault(code=code, message=message, mend=mend, question=q, line=line, path=self.path))

    def warn(self, code: str, message: str, mend: str = "", *, q: str | None = None, line: int | None = None) -> None:
        """Say something that was cleaned or is doubtful, and stops nothing."""
        if len(self.warnings) < MOST:
            self.warnings.append(
                SuiteFault(code=code, message=message, mend=mend, question=q, line=line, path=self.path)
            )


class Unreadable(Exception):
    """The file cannot be read as a suite at all."""

    def __init__(self, message: str, mend: str = "", line: int | None = None, code: str = "syntax") -> None:
        """Say why, how to mend it and, where known, on which line."""
        super().__init__(message)
        self.message = message
        self.mend = mend
        self.line = line
        self.code = code


def nearest(word: str, known: Iterable[str]) -> str:
    """The mend for an unknown word: the nearest known one, else all of them."""
    names = list(known)
    close = difflib.get_close_matches(word.strip().lower().replace("-", "_").replace(" ", "_"), names, n=1)
    return f"did you mean {close[0]!r}?" if close else f"known: {', '.join(names)}"
