"""A suite as it stands in its file: tables and where they are, nothing decided yet."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field


@dataclass(slots=True)
class Lines:
    """Where the keys of one table stand."""

    keys: dict[str, int] = field(default_factory=dict)
    items: dict[str, list[int]] = field(default_factory=dict)
    """For a key that holds tables: the line each of them starts on."""

    def of(self, key: str, item: int | None = None) -> int | None:
        """The line of a key, or of one table under it; None where it is not known."""
        lines = self.items.get(key, [])
        if item is not None and item < len(lines):
            return lines[item]
        return self.keys.get(key)


@dataclass(frozen=True, slots=True)
class RawQuestion:
    """One question's table."""

    table: Mapping[str, object]
    line: int | None = None
    lines: Lines = field(default_factory=Lines)


@dataclass(frozen=True, slots=True)
class RawSuite:
    """A whole file."""

    table: Mapping[str, object]
    """What stands above the questions."""
    questions: Sequence[RawQuestion]
    lines: Lines = field(default_factory=Lines)
    foreign: bool = False
    """Whether other people's names for a key are read too (`question`, `target`, `match`): in all formats but TOML."""
    numbered: bool = False
    """Whether a question without an id goes by its number."""
    bare: bool = False
    """Whether it is a plain list of accepted answers by id, without prompts."""
