"""Which of a question's named checks a reply passes: yes or no for each, and why."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final, Literal, assert_never

from resit.core.rule import Check, Exact, Json, Numeric, Regex
from resit.core.scoring.check_form import check_faults, is_signs, parse_check
from resit.core.scoring.fences import find_code, without_fences
from resit.core.scoring.json_rule import judge_json
from resit.core.scoring.judged import Judged, quoted
from resit.core.scoring.language import language_code, language_of
from resit.core.scoring.lists import find_list
from resit.core.scoring.markdown import find_markdown
from resit.core.scoring.normalise import answer_part, clean, fold_case, visible
from resit.core.scoring.number_rules import judge_numeric
from resit.core.scoring.regexes import LIMIT_S, judge_regex
from resit.core.scoring.tables import find_table
from resit.core.scoring.texts import LONGEST, UNSPACED, cleaned_forms, find_form, judge_exact
from resit.core.scoring.words import count_lines, count_words, first_line, last_line, tidy

__all__ = ["CheckResult", "check_faults", "parse_check", "run_checks", "share"]

_CountKind = Literal["max_words", "min_words", "max_lines", "exact_lines", "max_chars"]
_TextKind = Literal[
    "contains", "not_contains", "exact", "numeric", "regex", "not_regex", "starts_with", "ends_with", "first_line",
    "last_line", "language",
]  # fmt: skip
_BOUNDS: Final[dict[_CountKind, str]] = {
    "max_words": "at most", "min_words": "at least", "max_lines": "at most", "exact_lines": "wanted",
    "max_chars": "at most",
}  # fmt: skip
_SPACED: Final = f"[^\\W_{UNSPACED}]"
_GOES_ON: Final = re.compile(rf"{_SPACED}|[.,]\d|'(?!s\b){_SPACED}")
_CAME_FROM: Final = re.compile(rf"(?:{_SPACED}|\d[.,]|(?:^|[^\w)])-|{_SPACED}')$")

TOO_SLOW: Final = f"longer than {LIMIT_S} seconds"
"""How `judge_regex` says that a search ran out of time."""
_COUNTED_ON: Final = 1_000
"""How far past a limit is counted, so that the sentence can say by how much it was missed."""


@dataclass(frozen=True, slots=True)
class CheckResult:
    """One check's word on one reply."""

    name: str
    passed: bool
    weight: float
    why: str
    """One plain sentence."""


class _Answer:
    """A reply as checks look at it; each form of it is made once, when the first check asks."""

    def __init__(self, text: str) -> None:
        self.text = text

    @cached_property
    def cleaned(self) -> str:
        """As rules compare it."""
        return clean(self.text)

    @cached_property
    def tidied(self) -> str:
        """With its lines, marks and full stops, trimmed."""
        return tidy(self.text).strip()


_Word = tuple[bool, str]
"""Whether a check passes, and why."""


def run_checks(checks: Sequence[Check], text: str) -> tuple[CheckResult, ...]:
    """Run each check on the answer in `text`, in order.

    Thinking that starts the reply is dropped first. A reply without an answer passes no check, not even a negative
    one. A check that cannot be decided, such as the language of two words, does not pass; its `why` says so.
    """
    part = answer_part(text)
    if part is None or not visible(part):
        return tuple(CheckResult(check.name, False, check.weight, "there is no answer to check") for check in checks)
    answer = _Answer(part)
    return tuple(_result(check, answer) for check in checks)


def share(results: Sequence[CheckResult]) -> float:
    """The weighted share that passed, 0.0 to 1.0; exactly 1.0 when all that weigh anything passed."""
    whole = sum(result.weight for result in results)
    missed = sum(result.weight for result in results if not result.passed)
    return (whole - missed) / whole if missed and whole else float(not missed and bool(results))


def _result(check: Check, answer: _Answer) -> CheckResult:
    passed, why = _run(check, answer)
    return CheckResult(check.name, passed, check.weight, why)


def _run(check: Check, answer: _Answer) -> _Word:
    """One arm a group of kinds; a value of a type that its kind cannot take was refused with the suite."""
    value = check.value
    match check.kind:
        case "max_words" | "min_words" | "max_lines" | "exact_lines" | "max_chars":
            return _counted(check.kind, value if isinstance(value, int) else 0, answer)
        case "no_list":
            return _without(find_list(answer.tidied), "a list line")
        case "no_table":
            return _without(find_table(answer.tidied), "a table row")
        case "no_markdown":
            return _without(find_markdown(answer.tidied), "Markdown")
        case "no_code":
            return _without(find_code(answer.tidied), "code")
        case "one_of":
            return _word(judge_exact(Exact(), value if isinstance(value, tuple) else (), answer.text))
        case "json":
            return _json(value, answer)
        case kind:
            return _texts(kind, str(value), answer)


def _texts(kind: _TextKind, value: str, answer: _Answer) -> _Word:
    """Checks that hold the reply against one text."""
    match kind:
        case "contains":
            return _contains(value, answer)
        case "not_contains":
            found, why = _contains(value, answer)
            return not found, why
        case "exact":
            return _word(judge_exact(Exact(), (value,), answer.text))
        case "numeric":
            return _word(judge_numeric(Numeric(), (value,), answer.text))
        case "regex":
            return _word(judge_regex(Regex(), (value,), answer.text))
        case "not_regex":
            return _not_regex(value, answer)
        case "starts_with" | "ends_with":
            return _edge(kind, value, answer)
        case "first_line":
            return _line(first_line(answer.tidied), value, "first")
        case "last_line":
            return _line(last_line(answer.tidied), value, "last")
        case "language":
            return _language(value, answer)
        case _ as never:
            assert_never(never)


def _word(judged: Judged) -> _Word:
    return judged.passed, judged.why


def _contains(value: str, answer: _Answer) -> _Word:
    """Whether the text stands in the reply as whole words, as the rule `contains` has it.

    Signs alone, such as `!` or an em dash, are no words: they are looked for anywhere, in the reply as it stands.
    """
    if is_signs(value):
        found = fold_case(tidy(value).strip()) in answer.tidied
        return found, f"{quoted(value)} {'stands' if found else 'does not stand'} in the reply"
    forms = cleaned_forms((value,), False, False)
    found = bool(forms) and find_form(forms[0], answer.cleaned) is not None
    return found, f"{quoted(value)} {'stands' if found else 'does not stand'} in the reply as whole words"


def _edge(kind: Literal["starts_with", "ends_with"], value: str, answer: _Answer) -> _Word:
    """Whether the reply starts or ends with the text, case apart, and not within a longer word or number.

    Both the reply as it stands and the cleaned reply are tried: a wanted full stop is in the first alone, a greeting
    in bold starts only the second.
    """
    starts = kind == "starts_with"
    pairs = ((answer.tidied, fold_case(tidy(value))), (answer.cleaned, clean(value)))
    passed = any(_stands_at_edge(" ".join(wanted.split()), text, starts) for text, wanted in pairs)
    verb = ("starts" if starts else "ends") if passed else ("does not start" if starts else "does not end")
    return passed, f"the reply {verb} with {quoted(value)}"


def _stands_at_edge(wanted: str, text: str, starts: bool) -> bool:
    """Whether `wanted` is the first or last piece of `text`, runs of space being one space."""
    reach = 4 * len(wanted) + 100
    piece = " ".join(fold_case(text[:reach] if starts else text[-reach:]).split())
    if not wanted or not (piece.startswith(wanted) if starts else piece.endswith(wanted)):
        return False
    if starts:
        return not (wanted[-1].isalnum() and _GOES_ON.match(piece, len(wanted)))
    return not (wanted[0].isalnum() and _CAME_FROM.search(piece[: -len(wanted)][-3:]))


def _line(line: str, value: str, which: str) -> _Word:
    """Whether a line equals the text, cleaned as `exact` does."""
    passed = len(line) <= LONGEST + 20 * len(value) and clean(line) == clean(value) != ""
    return passed, f"the {which} line is {quoted(line)}" + ("" if passed else f", not {quoted(value)}")


def _language(value: str, answer: _Answer) -> _Word:
    """Whether the prose of the reply is in the language; too little of it to tell does not pass."""
    found = language_of(without_fences("\n" + answer.tidied))
    if found is None:
        return False, f"undecided: too short or too mixed to tell whether it is {quoted(value)}"
    return found == language_code(value), f"the reply is written in {quoted(found)}"


def _counted(kind: _CountKind, limit: int, answer: _Answer) -> _Word:
    """Whether a count stays within its limit."""
    most = limit + _COUNTED_ON
    match kind:
        case "max_words" | "min_words":
            unit, count = "words", count_words(answer.tidied, most)
        case "max_lines" | "exact_lines":
            unit, count = "lines", count_lines(answer.tidied, most)
        case "max_chars":
            unit, count = "characters", len(answer.tidied)
        case _ as never:
            assert_never(never)
    passed = count >= limit if kind == "min_words" else count == limit if kind == "exact_lines" else count <= limit
    said = f"{count} {unit}" if count < most or unit == "characters" else f"{most} {unit} or more"
    return passed, f"{said}, {_BOUNDS[kind]} {limit}"


def _without(found: str | None, what: str) -> _Word:
    return found is None, f"there is {what}: {quoted(found)}" if found else f"there is no {what.removeprefix('a ')}"


def _json(value: object, answer: _Answer) -> _Word:
    """Whether the reply is strict JSON, bare or in its one fence, or the very JSON asked for."""
    judged = judge_json(Json(), (value,) if isinstance(value, str) else (), answer.text)
    if isinstance(value, str) or judged.picked is None:
        return judged.passed, judged.why
    return True, "the reply is JSON"


def _not_regex(pattern: str, answer: _Answer) -> _Word:
    """Whether the pattern is nowhere in the reply; a search that had to be broken off does not say so."""
    judged = judge_regex(Regex(), (pattern,), answer.text)
    return not judged.passed and TOO_SLOW not in judged.why, judged.why
