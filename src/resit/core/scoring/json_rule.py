"""The rule that compares JSON values: strict parsing, objects by key, numbers by value."""

from __future__ import annotations

import json
import re
from decimal import Decimal
from functools import lru_cache
from typing import Any, Final, NoReturn

from resit.core.rule import Json
from resit.core.scoring.judged import Judged, quoted

_MOST_VALUES: Final = 200_000
"""Commas in a reply that is still parsed: every value of a parsed reply takes memory."""

_AROUND: Final = " \t\r\n\ufeff\u200b\u200c\u200d\u2060"
_FENCE: Final = re.compile(r"^ {0,3}(`{3,}|~{3,})[ \t]*([^\s`]*)[^\n`]*$", re.MULTILINE)
_LANGUAGES: Final = ("json", "jsonc", "json5", "application/json")


class NoJson(ValueError):
    """A text is not strict JSON."""


def _refuse(word: str) -> NoReturn:
    raise NoJson(f"{word} is no JSON value")


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) < len(pairs):
        raise NoJson("a key is given twice")
    return value


def _number(digits: str) -> Decimal:
    if len(digits) > 1000:
        raise NoJson("a number is too long")
    return Decimal(digits)


def parse_json(text: str) -> Any:
    """The value of a JSON text; numbers as Decimal.

    Raises:
        NoJson: It is not strict JSON, gives a key twice, or is too large or too deep to be read.
    """
    if text.count(",") > _MOST_VALUES:
        raise NoJson(f"it holds more than {_MOST_VALUES:,} values")
    try:
        return json.loads(
            text.strip(_AROUND),
            parse_constant=_refuse,
            parse_float=_number,
            parse_int=_number,
            object_pairs_hook=_object,
        )
    except RecursionError:
        raise NoJson("it is nested too deeply") from None
    except (ValueError, ArithmeticError) as error:
        raise NoJson(str(error)) from None


@lru_cache(maxsize=2048)
def _accepted(text: str) -> tuple[Any, bool]:
    try:
        return parse_json(text), True
    except NoJson:
        return None, False


def judge_json(rule: Json, accept: tuple[str, ...], text: str) -> Judged:
    """Whether the reply is strict JSON with the accepted value, bare or in a fence."""
    try:
        value = _value_of(text)
        if rule.path is not None:
            value = follow(value, rule.path)
    except NoJson as error:
        return Judged(False, text, accept, f"the reply is not strict JSON: {error}")
    except LookupError:
        return Judged(False, text, accept, f"the reply has nothing at {rule.path}")
    shown = _shown(value)
    for form in accept:
        goal, readable = _accepted(form)
        if readable and same_value(goal, value, subset=rule.subset):
            return Judged(
                True,
                shown,
                accept,
                "the value holds what is accepted" if rule.subset else "the values are equal",
                shown,
            )
    return Judged(False, shown, accept, f"the value is {quoted(shown)}, which is not what is accepted", shown)


def _shown(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)[:2000]


def _value_of(text: str) -> Any:
    """The one value of a reply: of the whole of it, else of its fenced JSON."""
    stripped = text.strip(_AROUND)
    try:
        return parse_json(stripped)
    except NoJson:
        blocks = _fenced(stripped) if "```" in stripped or "~~~" in stripped else []
        if not blocks:
            raise
    values = [parse_json(block) for block in blocks]
    if any(not same_value(values[0], value) for value in values[1:]):
        raise NoJson("two fenced blocks hold different values")
    return values[0]


def _fenced(text: str) -> list[str]:
    """The closed fenced blocks that are JSON by name, or without a name when none is named so."""
    named: list[str] = []
    unnamed: list[str] = []
    opening = None
    for line in _FENCE.finditer(text):
        if opening is None:
            opening = line
        elif line[1][0] == opening[1][0] and len(line[1]) >= len(opening[1]) and not line[2]:
            language, block = opening[2].lower(), text[opening.end() : line.start()]
            if language in _LANGUAGES:
                named.append(block)
            elif not language:
                unnamed.append(block)
            opening = None
        if len(named) + len(unnamed) > 100:
            break
    if opening is not None and opening[2].lower() in (*_LANGUAGES, ""):
        raise NoJson("its fence is never closed")
    return named or unnamed


_STEP: Final = re.compile(r"\.?([^.\[\]]+)|\[([0-9]{1,9})\]")


def path_steps(path: str) -> list[str] | None:
    """The steps of `a.b[0]`, with or without a leading `$`; None when it is no path."""
    rest = path.removeprefix("$")
    steps = [found[1] or found[2] for found in _STEP.finditer(rest)]
    return steps if steps and "".join(found[0] for found in _STEP.finditer(rest)) == rest else None


def follow(value: Any, path: str) -> Any:
    """The value at a path.

    Raises:
        LookupError: There is nothing there.
    """
    for step in path_steps(path) or []:
        if isinstance(value, dict):
            value = value[step]
        elif isinstance(value, list) and step.isdecimal():
            value = value[int(step)]
        else:
            raise LookupError(step)
    return value


def same_value(goal: Any, value: Any, *, subset: bool = False) -> bool:
    """Whether two JSON values are equal: truth values are no numbers, `1` is `1.0`, keys have no order."""
    if isinstance(goal, dict) and isinstance(value, dict):
        if not subset and len(goal) != len(value):
            return False
        return all(key in value and same_value(part, value[key], subset=subset) for key, part in goal.items())
    if isinstance(goal, list) and isinstance(value, list):
        return len(goal) == len(value) and all(
            same_value(part, other, subset=subset) for part, other in zip(goal, value, strict=True)
        )
    return type(goal) is type(value) and bool(goal == value)
