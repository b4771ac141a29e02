"""What an author may write about a rule or a check: the names, their parameters, and what each value may be.

How a rule decides is in `scoring.rules`; this module only says what can be asked for, so that a suite file with a
misspelt parameter is refused before it costs anything. To add a rule: one class here, one arm in `scoring.rules`,
one table of cases, one line of documentation.
"""

from __future__ import annotations

import hashlib
import json
from decimal import Decimal
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field


class RuleModel(BaseModel):
    """Base of all rules: frozen, and an unknown parameter is refused."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class Exact(RuleModel):
    """The cleaned reply equals a cleaned accepted form."""

    name: Literal["exact"] = "exact"
    case: bool = False
    plain: bool = False


class NumberRule(RuleModel):
    """What the two number rules share."""

    tolerance: Annotated[Decimal, Field(ge=0, allow_inf_nan=False)] = Decimal(0)
    """Largest absolute difference that still passes."""
    relative: Annotated[Decimal, Field(ge=0, allow_inf_nan=False)] = Decimal(0)
    """Largest difference as a share of the accepted number."""
    unit: tuple[str, ...] = ()
    percent: Literal["number", "fraction"] = "number"
    decimal: Literal[".", ","] = "."
    plain: bool = False


class Numeric(NumberRule):
    """The reply is one number, with nothing else but an allowed wrapper."""

    name: Literal["numeric"] = "numeric"


class NumberInReply(NumberRule):
    """The number picked from a longer reply."""

    name: Literal["number_in_reply"] = "number_in_reply"
    pick: Literal["only", "last", "first", "marked"] = "only"


class Contains(RuleModel):
    """An accepted form stands in the cleaned reply as whole words."""

    name: Literal["contains"] = "contains"
    case: bool = False
    all: bool = False
    whole: bool = True
    plain: bool = False


class Regex(RuleModel):
    """An accepted pattern is found in the raw reply."""

    name: Literal["regex"] = "regex"
    full: bool = False
    case: bool = False
    flags: tuple[Literal["multiline", "dotall", "verbose", "ascii"], ...] = ()


class Choice(RuleModel):
    """The reply chooses exactly this option of those offered."""

    name: Literal["choice"] = "choice"
    options: tuple[str, ...] | dict[str, str] = ("A", "B", "C", "D")


class YesNo(RuleModel):
    """The reply says yes or no, and only one of them."""

    name: Literal["yes_no"] = "yes_no"
    words: dict[Literal["yes", "no"], tuple[str, ...]] | None = None


class Date(RuleModel):
    """The reply is that calendar day, in any unambiguous form."""

    name: Literal["date"] = "date"
    order: Literal["dmy", "mdy", "ymd"] | None = None


class Time(RuleModel):
    """The reply is that time of day."""

    name: Literal["time"] = "time"
    timezone: str | None = None


class Items(RuleModel):
    """What `set` and `list` share: how a reply is split, and how two items are compared."""

    separator: str | None = None
    duplicates: bool = False
    item: Exact | Numeric | None = None


class ItemSet(Items):
    """The same items in any order."""

    name: Literal["set"] = "set"


class ItemList(Items):
    """The same items in order."""

    name: Literal["list"] = "list"


class Json(RuleModel):
    """The reply parses strictly as JSON and equals the accepted value."""

    name: Literal["json"] = "json"
    subset: bool = False
    path: str | None = None


class LastLine(RuleModel):
    """The last non-empty line passes the inner rule."""

    name: Literal["last_line"] = "last_line"
    rule: Rule = Exact()


Rule = Annotated[
    Exact
    | Numeric
    | NumberInReply
    | Contains
    | Regex
    | Choice
    | YesNo
    | Date
    | Time
    | ItemSet
    | ItemList
    | Json
    | LastLine,
    Field(discriminator="name"),
]

CheckKind = Literal[
    "contains", "not_contains", "exact", "numeric", "regex", "not_regex", "starts_with", "ends_with", "first_line",
    "last_line", "no_list", "no_table", "no_markdown", "no_code", "max_words", "min_words", "max_lines", "exact_lines",
    "max_chars", "language", "json", "one_of",
]  # fmt: skip


class Check(RuleModel):
    """One named yes/no test of a reply, as read from `{ name = "...", <kind> = <value> }`."""

    name: str
    kind: CheckKind
    value: str | int | bool | Decimal | tuple[str, ...]
    weight: Annotated[float, Field(ge=0, allow_inf_nan=False)] = 1.0


def digest(value: object) -> str:
    """A short fingerprint of a JSON-able value: the first 16 hex digits of SHA-256 over its canonical form."""
    text = json.dumps(value, sort_keys=True, ensure_ascii=True, separators=(",", ":"), default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:16]
