"""A rule as a file writes it: its name alone, or a table with parameters."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any, cast, get_args

from pydantic import ValidationError

from resit.core.rule import Rule, RuleModel
from resit.core.suite_formats.said import nearest
from resit.core.suite_formats.values import as_text, shown

Say = Callable[[str, str, str], None]
"""Takes a code, a message and a mend."""

RULES: dict[str, type[RuleModel]] = {kind.model_fields["name"].default: kind for kind in get_args(get_args(Rule)[0])}
_MOST_DEEP = 8


def read_rule(value: object, say: Say, *, of: str = "rule", deep: int = 0) -> Rule | None:
    """The rule that `value` stands for; None once what is wrong with it is said.

    Args:
        value: `"exact"`, or `{"name": "numeric", "tolerance": ...}` with numbers as int or Decimal.
        say: Takes each fault.
        of: The key it stands under, for the messages.
        deep: How many rules it stands in.
    """
    table = {"name": value} if isinstance(value, str) else value
    if not isinstance(table, Mapping):
        say("type", f"{of} = {shown(value)} is no rule", 'write "exact", or { name = "numeric", tolerance = 0.01 }')
        return None
    name = table.get("name")
    kind = RULES.get(name) if isinstance(name, str) else None
    if kind is None or deep > _MOST_DEEP:
        mend = nearest(name, RULES) if isinstance(name, str) and kind is None else f"known: {', '.join(RULES)}"
        say("unknown-rule", f"unknown {of} {shown(name)}" if "name" in table else f"{of} has no name", mend)
        return None
    sound = _known_keys(table, kind, say)
    parameters: dict[str, object] = {}
    for key, given in table.items():
        if key in kind.model_fields and given is not None:
            sound &= _read_parameter(key, given, parameters, say, f"rule {name!r}", deep)
    return _built(kind, parameters, say) if sound else None


def _known_keys(table: Mapping[str, object], kind: type[RuleModel], say: Say) -> bool:
    unknown = [key for key in table if key not in kind.model_fields]
    known = [key for key in kind.model_fields if key != "name"]
    for key in unknown:
        say("unknown-key", f"rule {table['name']!r} has no {shown(key)}", nearest(key, known))
    return not unknown


def _read_parameter(key: str, given: object, parameters: dict[str, object], say: Say, where: str, deep: int) -> bool:
    """Put `given` among the parameters in the type the rule has it in; False when that cannot be done."""
    read = given
    if key in {"tolerance", "relative"}:
        read = Decimal(given) if isinstance(given, int | Decimal) and not isinstance(given, bool) else None
        wanted = "a number without quotes"
    elif key in {"unit", "flags"}:
        read, wanted = _texts([given] if isinstance(given, str) else given), "a list of texts"
    elif key == "options":
        read = _text_table(given) if isinstance(given, Mapping) else _texts(given)
        wanted = 'a list such as ["A", "B"], or a table such as { A = "bat", B = "owl" }'
    elif key == "words" and isinstance(given, Mapping):
        words = {name: _texts([forms] if isinstance(forms, str) else forms) for name, forms in given.items()}
        read, wanted = None if None in words.values() else words, 'a table such as { yes = ["ja"], no = ["nein"] }'
    elif key in {"item", "rule"}:
        parameters[key] = read_rule(given, say, of=f"{where}: {key}", deep=deep + 1)
        return parameters[key] is not None
    if read is None:
        say("type", f"{where}: {key} = {shown(given)} is not {wanted}", f"write {wanted}")
        return False
    parameters[key] = read
    return True


def _texts(value: object) -> tuple[str, ...] | None:
    if not isinstance(value, list | tuple):
        return None
    texts = [as_text(item) for item in value]
    return None if None in texts else tuple(text for text in texts if text is not None)


def _text_table(table: Mapping[str, object]) -> dict[str, str] | None:
    texts = {key: as_text(value) for key, value in table.items()}
    return None if None in texts.values() else cast("dict[str, str]", texts)


def _built(kind: type[RuleModel], parameters: dict[str, object], say: Say) -> Rule | None:
    try:
        return cast("Rule", kind.model_validate(parameters))
    except ValidationError as error:
        for found in error.errors(include_url=False):
            key = str(found["loc"][0]) if found["loc"] else "?"
            say("rule-value", f"rule {kind.model_fields['name'].default!r}: {_said(key, found)}", _mend(found))
        return None


def _said(key: str, found: Any) -> str:
    """What pydantic found, as a sentence about the key."""
    if found["type"] == "greater_than_equal":
        return f"{key} = {shown(found['input'])} is negative"
    if found["type"] == "finite_number":
        return f"{key} is no finite number"
    return f"{key} = {shown(found['input'])} is not possible"


def _mend(found: Any) -> str:
    if found["type"] == "literal_error" and isinstance(found["input"], str):
        return nearest(
            found["input"], [word.strip(" '") for word in found["ctx"]["expected"].replace(" or ", ",").split(",")]
        )
    return str(found["msg"]).removeprefix("Input ").capitalize()
