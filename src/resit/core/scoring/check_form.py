"""What is wrong with a check before it is ever run, and how its line in a file is read."""

from __future__ import annotations

import difflib
import math
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import get_args

from resit.core.rule import Check, CheckKind, Json, Regex
from resit.core.scoring.json_rule import judge_json
from resit.core.scoring.language import known_languages, language_code
from resit.core.scoring.normalise import clean, visible
from resit.core.scoring.number_rules import accepted_numbers
from resit.core.scoring.regexes import pattern_fault
from resit.core.scoring.words import tidy
from resit.core.suite import SuiteFault

KINDS: tuple[CheckKind, ...] = get_args(CheckKind)
TEXT_KINDS = frozenset({"contains", "not_contains", "exact", "starts_with", "ends_with", "first_line", "last_line"})
PATTERN_KINDS = frozenset({"regex", "not_regex"})
SWITCH_KINDS = frozenset({"no_list", "no_table", "no_markdown", "no_code"})
COUNT_KINDS = frozenset({"max_words", "min_words", "max_lines", "exact_lines", "max_chars"})

Said = tuple[str, str, str]
"""Code, message and mend of a fault whose place in the file is not known here."""
Scalar = str | int | bool | Decimal | tuple[str, ...]


def parse_check(
    raw: Mapping[str, object], *, question: str | None = None, line: int | None = None, path: str = ""
) -> Check | list[SuiteFault]:
    """Read `{ name = "...", <kind> = <value>, weight = 1 }`.

    Only the shape is looked at here: one name, one known kind, a value of a type that kind can take. What the value
    may be is `check_faults`'s, which also sees checks that never were in a file.

    Args:
        raw: The table as the file's reader gave it.
        question: Id of the question it belongs to, for the faults.
        line: Line of the file, where known.
        path: The file, for the faults.

    Returns:
        The check, or everything that is wrong with it.
    """
    said: list[Said] = []
    name = _read_name(raw.get("name"), said)
    kind = _read_kind(raw, name, said)
    weight = _read_weight(raw.get("weight", 1.0), name, said)
    value = _read_value(kind, raw[kind], name, said) if kind else None
    if said or kind is None or value is None:
        return [
            SuiteFault(code=code, message=message, mend=mend, question=question, line=line, path=path)
            for code, message, mend in said
        ]
    return Check(name=name, kind=kind, value=value, weight=weight)


def _read_name(name: object, said: list[Said]) -> str:
    if isinstance(name, str) and visible(name):
        return name.strip()
    said.append(("check-name", "a check has no name", 'give it one: { name = "...", ... }'))
    return ""


def _read_kind(raw: Mapping[str, object], name: str, said: list[Said]) -> CheckKind | None:
    """The one kind that the table names; everything else in it is a fault."""
    asked = [kind for kind in KINDS if kind in raw]
    unknown = [key for key in raw if key not in KINDS and key not in ("name", "weight")]
    for key in unknown:
        said.append(
            ("check-unknown", f"check {name!r}: unknown check {key!r}", nearest(key, [*KINDS, "name", "weight"]))
        )
    if len(asked) > 1:
        listed = " and ".join(asked)
        said.append(("check-two", f"check {name!r} asks for {listed}", "make each a check with a name of its own"))
    elif not asked and not unknown:
        said.append(("check-empty", f"check {name!r} asks nothing", f"add one of: {', '.join(KINDS)}"))
    return asked[0] if len(asked) == 1 else None


def nearest(word: str, known: Sequence[str]) -> str:
    """The mend for a word nobody knows: the nearest known one, or all of them."""
    near = difflib.get_close_matches(word.lower(), known, n=1)
    return f"did you mean {near[0]!r}?" if near else f"known: {', '.join(known)}"


def _read_weight(weight: object, name: str, said: list[Said]) -> float:
    if isinstance(weight, int | float | Decimal) and not isinstance(weight, bool):
        value = float(weight)
        if math.isfinite(value) and value >= 0:
            return value
    said.append(("weight", f"check {name!r}: weight {weight!r} is no number from 0 up", "write a number, such as 2"))
    return 1.0


def _read_value(kind: CheckKind, value: object, name: str, said: list[Said]) -> Scalar | None:
    """The value in the type its kind takes; None, and a fault, when it has another."""
    if kind in SWITCH_KINDS or (kind == "json" and isinstance(value, bool)):
        read: Scalar | None = True if value is True else None
        wanted = "true (leave the check out to ask nothing)"
    elif kind in COUNT_KINDS:
        read = value if isinstance(value, int) and not isinstance(value, bool) else None
        wanted = "a whole number, such as 20"
    elif kind == "one_of":
        read = _read_texts(value)
        wanted = 'a list of texts, such as ["red", "green"]'
    else:
        read = _read_text(value)
        wanted = "one text in quotes"
    if read is None:
        said.append(("check-value", f"check {name!r}: {kind} = {_shown(value)} is not {wanted}", f"write {wanted}"))
    return read


def _shown(value: object) -> str:
    """A value as a file would write it, short enough for one line."""
    text = str(value).lower() if isinstance(value, bool) else repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def _read_text(value: object) -> str | None:
    """A text, or a number that stands for its text; a truth value stands for nothing."""
    if isinstance(value, str):
        return value
    if isinstance(value, int | float | Decimal) and not isinstance(value, bool) and math.isfinite(value):
        return str(value)
    return None


def _read_texts(value: object) -> tuple[str, ...] | None:
    if not isinstance(value, list | tuple):
        return None
    texts = [_read_text(item) for item in value]
    return tuple(text for text in texts if text is not None) if texts and None not in texts else None


def check_faults(
    checks: Sequence[Check], *, question: str | None = None, line: int | None = None, path: str = ""
) -> list[SuiteFault]:
    """All that makes these checks of one question impossible to decide, or decided before any reply.

    Args:
        checks: The checks of one question.
        question: Id of the question, for the faults.
        line: Line of the file, where known.
        path: The file, for the faults.
    """
    said = [fault for check in checks for fault in _value_faults(check)]
    said += _name_faults(checks) + _together_faults(checks)
    if checks and not any(check.weight for check in checks):
        said.append(("weight", "every check weighs 0", "give at least one a weight above 0"))
    return [
        SuiteFault(code=code, message=message, mend=mend, question=question, line=line, path=path)
        for code, message, mend in said
    ]


def _name_faults(checks: Sequence[Check]) -> list[Said]:
    """Names are how a failed check is told; two alike could not be told apart."""
    seen: set[str] = set()
    said: list[Said] = []
    for check in checks:
        folded = check.name.strip().casefold()
        if not visible(check.name):
            said.append(("check-name", "a check has no name", 'give it one: { name = "...", ... }'))
        elif folded in seen:
            said.append(("check-name", f"two checks are named {check.name!r}", "name each apart"))
        seen.add(folded)
    return said


def _together_faults(checks: Sequence[Check]) -> list[Said]:
    """Pairs of checks that no reply can pass both."""
    said: list[Said] = []
    texts = {
        (check.kind, tidy(check.value) if is_signs(check.value) else clean(check.value)): check.name
        for check in checks
        if isinstance(check.value, str) and check.kind in TEXT_KINDS
    }
    for (kind, text), name in texts.items():
        other = texts.get(("not_contains", text))
        if kind == "contains" and other is not None:
            said.append(("check-clash", f"checks {name!r} and {other!r} ask for {text!r} and forbid it", "drop one"))
    limits: dict[str, int] = {c.kind: c.value for c in checks if c.kind in COUNT_KINDS and isinstance(c.value, int)}
    for least, most in (("min_words", "max_words"), ("exact_lines", "max_lines")):
        if least in limits and most in limits and limits[least] > limits[most]:
            message = f"{least} = {limits[least]} and {most} = {limits[most]} cannot both pass"
            said.append(("check-clash", message, "change one"))
    return said


def _value_faults(check: Check) -> list[Said]:
    """What the value of one check may not be."""
    said = _value_fault(check)
    return [] if said is None else [(said[0], f"check {check.name!r}: {said[1]}", said[2])]


def _value_fault(check: Check) -> Said | None:
    kind, value = check.kind, check.value
    if kind in SWITCH_KINDS:
        return None if value is True else ("check-value", f"{kind} is true or not there", f"write {kind} = true")
    if kind in COUNT_KINDS:
        return _limit_fault(kind, value)
    if kind == "one_of":
        return _choices_fault(value)
    if kind == "json" and value is True:
        return None
    if not isinstance(value, str):
        return ("check-value", f"{kind} = {_shown(value)} is not one text", "write one text in quotes")
    return _text_fault(kind, value)


def _limit_fault(kind: str, value: Scalar) -> Said | None:
    if isinstance(value, bool) or not isinstance(value, int):
        return ("check-value", f"{kind} = {_shown(value)} is no whole number", f"write a number, such as {kind} = 20")
    if value < 1:
        why = "asks nothing of a reply" if kind == "min_words" else "allows no reply"
        return ("check-value", f"{kind} = {value} {why}", "write a number from 1 up")
    return None


def _choices_fault(value: Scalar) -> Said | None:
    if not isinstance(value, tuple) or not value:
        return ("check-value", f"one_of = {_shown(value)} is no list of texts", 'write one_of = ["red", "green"]')
    cleaned = [clean(text) for text in value]
    if not all(cleaned):
        return ("check-value", "one_of has an empty text, which no reply can be", "drop it")
    if len(set(cleaned)) < len(cleaned):
        return ("check-value", "one_of names one text twice", "drop one of them")
    return None


def is_signs(value: str) -> bool:
    """Whether a text has no letter or digit in it, and so no word whose borders could count."""
    return not any(character.isalnum() for character in value)


def _text_fault(kind: str, value: str) -> Said | None:
    """Texts that no reply, or every reply, would pass with."""
    if kind in PATTERN_KINDS:
        said = pattern_fault(value, Regex())
        return None if said is None else ("regex", f"{kind} = {_shown(value)}: {said}", "mend the pattern")
    if kind == "language":
        near = nearest(value, known_languages())
        return None if language_code(value) else ("check-value", f"language {value!r} is not known", near)
    if kind == "numeric":
        is_number = bool(accepted_numbers((value,), ".", (), False).numbers)
        return None if is_number else ("check-value", f"numeric = {_shown(value)} is no number", "write a number")
    if kind == "json":
        parsed = judge_json(Json(), (value,), value).passed
        return None if parsed else ("check-value", f"json = {_shown(value)} is no JSON", "write json = true, or JSON")
    as_it_stands = kind in ("starts_with", "ends_with") or (kind in ("contains", "not_contains") and is_signs(value))
    sought = value if as_it_stands else clean(value)
    if kind in ("first_line", "last_line") and "\n" in tidy(value).strip():
        return ("check-value", f"{kind} = {_shown(value)} is more than one line", "write one line")
    if not visible(sought):
        return ("check-value", f"{kind} = {_shown(value)} is a blank text, which cannot be looked for", "write a text")
    return None
