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

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, PlainSerializer


class RuleModel(BaseModel):
    """Base of all rules: frozen, and an unknown parameter is refused."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


def _to_decimal(value: object) -> object:
    """A number as a file holds it; a text or a truth value is left to be refused."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return value
    return Decimal(str(value))


def _to_file(value: Decimal) -> int | float:
    """A number as JSON holds it, so that what was written can be read again."""
    return int(value) if value == value.to_integral_value() else float(value)


def _to_tuple(value: object) -> object:
    """A list as a tuple, and one text as a list of one."""
    if isinstance(value, str):
        return (value,)
    return tuple(str(v) if type(v) is int else v for v in value) if isinstance(value, list | tuple) else value


def _to_rule(value: object) -> object:
    """The short way to name a rule: `"exact"` for `{ name = "exact" }`."""
    return {"name": value} if isinstance(value, str) else value


Tolerance = Annotated[
    Decimal,
    Field(ge=0, allow_inf_nan=False),
    BeforeValidator(_to_decimal),
    PlainSerializer(_to_file, when_used="json"),
]
Texts = Annotated[tuple[str, ...], BeforeValidator(_to_tuple)]


class Exact(RuleModel):
    """The cleaned reply equals a cleaned accepted form."""

    name: Literal["exact"] = "exact"
    case: bool = False
    plain: bool = False


class NumberRule(RuleModel):
    """What the two number rules share."""

    tolerance: Tolerance = Decimal(0)
    """Largest absolute difference that still passes."""
    relative: Tolerance = Decimal(0)
    """Largest difference as a share of the accepted number."""
    unit: Texts = ()
    """The unit words a reply may use; they all name one unit."""
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
    """The whole reply must match, not a part of it."""
    case: bool = True
    """A pattern keeps its case unless this is false."""
    flags: Annotated[
        tuple[Literal["ignorecase", "multiline", "dotall", "verbose", "ascii"], ...], BeforeValidator(_to_tuple)
    ] = ()


class Choice(RuleModel):
    """The reply chooses exactly this option of those offered."""

    name: Literal["choice"] = "choice"
    options: Annotated[tuple[str, ...] | dict[str, str], BeforeValidator(_to_tuple)] = ("A", "B", "C", "D")
    """The letters offered, or each letter with its text."""


class YesNo(RuleModel):
    """The reply says yes or no, and only one of them."""

    name: Literal["yes_no"] = "yes_no"
    words: dict[Literal["yes", "no"], Texts] | None = None
    """The words of another language: `{ yes = ["oui"], no = ["non"] }`."""


class Date(RuleModel):
    """The reply is that calendar day, in any unambiguous form."""

    name: Literal["date"] = "date"
    order: Literal["dmy", "mdy", "ymd"] | None = None


class Time(RuleModel):
    """The reply is that time of day."""

    name: Literal["time"] = "time"
    timezone: str | None = None
    """The zone that is meant; a reply that names another one fails."""


class Items(RuleModel):
    """What `set` and `list` share: how a reply is split, and how two items are compared."""

    separator: str | None = None
    duplicates: bool = False
    """Whether an item that comes twice must be given twice."""
    item: Annotated[Annotated[Exact | Numeric, Field(discriminator="name")] | None, BeforeValidator(_to_rule)] = None
    """How two items are compared; `exact` where nothing is said."""


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
    """Where in the reply's value the answer stands: `person.names[0]`."""


class LastLine(RuleModel):
    """The last non-empty line passes the inner rule."""

    name: Literal["last_line"] = "last_line"
    rule: Annotated[Rule, BeforeValidator(_to_rule)] = Exact()


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
