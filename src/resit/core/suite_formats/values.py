"""Values of a table in the type its key has; what is of another type is a fault that names the key and its line."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date, time
from decimal import Decimal
from typing import TypeVar

from resit.core.suite_formats.raw import Lines
from resit.core.suite_formats.said import Said, nearest
from resit.core.suite_formats.source import BOM

_AROUND = " \t\r\n\v\f\u0085\u2028\u2029\u200b\u2060\ufeff"
_SURROGATE = re.compile("[\ud800-\udfff]")
_LINE_END = re.compile(r"\r\n?")
_Value = TypeVar("_Value")


def as_text(value: object) -> str | None:
    """A text, or what an unquoted value stands for; None for a truth value, null, NaN, a list or a table."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        # Longer ones would take minutes to write out; Python refuses them.
        return str(value) if abs(value) < 10**4000 else None
    if isinstance(value, Decimal):
        return format(value, "f") if value.is_finite() and abs(value.adjusted()) < 100 else _odd(value)
    return str(value) if isinstance(value, date | time) else None


def _odd(value: Decimal) -> str | None:
    return str(value) if value.is_finite() else None


def shown(value: object) -> str:
    """A value as a file would write it, short enough for one line."""
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    try:
        text = repr(value) if isinstance(value, str) else str(value)
    except RecursionError:
        return "[[..."
    return text if len(text) <= 60 else text[:57] + "..."


def tidied(text: str) -> str:
    """`text` without the line ends, byte-order marks and spaces of any kind around it."""
    return text.strip().strip(_AROUND).strip()


class TableReader:
    """One table of a suite, read key by key."""

    def __init__(self, table: Mapping[str, object], lines: Lines, said: Said, q: str | None, line: int | None) -> None:
        """Read `table`.

        Args:
            table: As its format gave it; a key that is null counts as left out.
            lines: Where its keys stand.
            said: Where faults go.
            q: Id of the question it belongs to, if any.
            line: Where it starts.
        """
        self.table = {key: value for key, value in table.items() if value is not None}
        self.lines = lines
        self.said = said
        self.q = q
        self.line = line

    def fault(self, code: str, message: str, mend: str = "", key: str = "", item: int | None = None) -> None:
        """Say a fault at the line of `key`, else where the table starts."""
        self.said.fault(code, message, mend, q=self.q, line=self.lines.of(key, item) or self.line)

    def warn(self, code: str, message: str, key: str) -> None:
        """Say a warning at the line of `key`."""
        self.said.warn(code, message, q=self.q, line=self.lines.of(key) or self.line)

    def only(self, known: tuple[str, ...], what: str = "key") -> None:
        """Say every key that is not among `known`."""
        for key in self.table:
            if key not in known:
                self.fault(f"unknown-{what}", f"unknown {what} {shown(key)}", nearest(key, known), key)

    def text(self, key: str, default: str = "") -> str:
        """A text; line ends are made LF and byte-order marks dropped, and said."""
        if key not in self.table:
            return default
        text = as_text(self.table[key])
        if text is None:
            self.fault("type", f"{key} = {shown(self.table[key])} is no text", "put it in quotes", key)
            return default
        return self.sound(text, key)

    def sound(self, text: str, key: str) -> str:
        """`text` as it can be sent and kept."""
        if _SURROGATE.search(text):
            self.fault("encoding", f"{key} holds half a character (a lone surrogate)", "write it whole", key)
            return _SURROGATE.sub("\ufffd", text)
        clean = _LINE_END.sub("\n", text).replace(BOM, "")
        if clean != text:
            self.warn("cleaned", f"{key}: line ends were made LF, byte-order marks dropped", key)
        return clean

    def optional_text(self, key: str) -> str | None:
        """A text, or None where the key is left out."""
        return self.text(key) if key in self.table else None

    def texts(self, key: str) -> tuple[str, ...]:
        """A list of texts; one text alone is a list of one."""
        value = self.table.get(key, [])
        listed = value if isinstance(value, list | tuple) else [value]
        found = []
        for item in listed:
            text = as_text(item)
            if text is None:
                why = "is no text"
                self.fault("type", f"{key}: {shown(item)} {why}", f'put it in quotes: "{shown(item)}"'[:80], key)
            else:
                found.append(self.sound(text, key))
        return tuple(found)

    def whole(self, key: str, least: int = 1) -> int | None:
        """A whole number of at least `least`."""
        value = self.table.get(key)
        if value is None:
            return None
        if isinstance(value, int) and not isinstance(value, bool) and least <= value <= 10**9:
            return value
        self.fault("type", f"{key} = {shown(value)} is no whole number from {least} up", "write it without quotes", key)
        return None

    def weight(self, key: str = "weight") -> float:
        """A number from 0 up."""
        value = self.table.get(key, 1)
        if isinstance(value, int | Decimal | float) and not isinstance(value, bool) and 0 <= _finite(value) <= 1e9:
            return float(value)
        self.fault("weight", f"{key} = {shown(value)} is no number from 0 up", "write a number, such as 2", key)
        return 1.0

    def flag(self, key: str) -> bool:
        """True or false."""
        value = self.table.get(key, False)
        if isinstance(value, bool):
            return value
        self.fault("type", f"{key} = {shown(value)} is neither true nor false", "write true, without quotes", key)
        return False

    def tables(self, key: str) -> list[tuple[int, Mapping[str, object]]]:
        """A list of tables, each with its number; others are faults."""
        value = self.table.get(key, [])
        listed = value if isinstance(value, list | tuple) else [value]
        found = []
        for number, item in enumerate(listed):
            if isinstance(item, Mapping):
                found.append((number, item))
            else:
                mend = f"write {key} = [{{ ... }}]"
                self.fault("type", f"{key}: {shown(item)} is no table", mend, key, number)
        return found


def _finite(value: int | Decimal | float) -> float:
    """`value`, or -1 where it is no number at all, so that a comparison refuses it."""
    try:
        number = float(value)
    except (OverflowError, ValueError):
        return -1.0
    return number if number == number else -1.0
