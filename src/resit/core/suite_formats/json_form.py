"""JSON and JSONL suites, the plain shapes among them, and on which line each question stands."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal

from resit.core.suite_formats.raw import Lines, RawQuestion, RawSuite
from resit.core.suite_formats.said import Said, Unreadable

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[\[\]{}:\n]', re.DOTALL)


def read_json(text: str, said: Said) -> RawSuite:
    """Read a suite written in JSON: a table with `questions`, or a plain list of questions.

    Raises:
        Unreadable: It is not JSON, or holds no questions.
    """
    value = parse_json(text)
    if isinstance(value, Mapping):
        table = dict(value)
        if "questions" not in table and isinstance(table.get("accept"), Mapping):
            return _by_id(table)
        listed, top = table.pop("questions", None), table
        if listed is None and ("models" in table or "answers" in table):
            raise Unreadable("it holds answers, not questions", "name the file with the questions", code="no-questions")
    else:
        listed, top = value, {}
    if not isinstance(listed, list):
        raise Unreadable("it holds no list of questions", 'write [{"id": ..., "question": ..., "accept": [...]}]')
    scan = _Scan(text).run()
    questions = []
    for number, entry in enumerate(listed):
        line, lines = scan.places[number] if number < len(scan.places) else (None, Lines())
        if isinstance(entry, Mapping):
            questions.append(RawQuestion(entry, line, lines))
        else:
            said.fault("type", f"question {number + 1} is no object", "write {...} for each question", line=line)
    return RawSuite(top, questions, scan.top, foreign=True)


def _by_id(table: Mapping[str, object]) -> RawSuite:
    """`{"accept": {ID: [...]}}`: accepted answers alone, for grading answers that are already saved."""
    accept = table["accept"]
    assert isinstance(accept, Mapping)
    questions = [RawQuestion({"id": name, "accept": forms}) for name, forms in accept.items()]
    return RawSuite({}, questions, foreign=True, bare=True)


def read_jsonl(text: str, said: Said) -> RawSuite:
    """Read a suite of one JSON object a line; lines that are none are said one by one."""
    questions = []
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            entry = parse_json(line)
        except Unreadable as error:
            said.fault("syntax", error.message, error.mend, line=number)
            continue
        if isinstance(entry, Mapping):
            keys = Lines(dict.fromkeys(entry, number))
            questions.append(RawQuestion(entry, number, keys))
        else:
            said.fault("type", "this line is no JSON object", "write {...}, one question a line", line=number)
    return RawSuite({}, questions, foreign=True, numbered=True)


def parse_json(text: str) -> object:
    """A JSON value, strictly; decimals stay as written, NaN is read so that it can be refused where it stands.

    Raises:
        Unreadable: It is not JSON.
    """
    try:
        return json.loads(text, parse_float=Decimal, parse_constant=Decimal, object_pairs_hook=_object)
    except json.JSONDecodeError as error:
        raise Unreadable(f"not JSON: {error.msg} at column {error.colno}", "mend the line", error.lineno) from None
    except RecursionError:
        raise Unreadable("it is nested too deeply to be read", "write fewer brackets inside brackets") from None
    except ValueError as error:
        raise Unreadable(f"not JSON: {str(error)[:200]}") from None


def _object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    table = dict(pairs)
    if len(table) < len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise ValueError(f"the key {twice!r} stands twice in one object")
    return table


@dataclass(slots=True)
class _Scan:
    """A walk over a text that is known to be JSON: where its questions start and where their keys stand."""

    text: str
    top: Lines = field(default_factory=Lines)
    places: list[tuple[int | None, Lines]] = field(default_factory=list)
    stack: list[str] = field(default_factory=list)
    """Open containers; an object's entry grows by the key the walk is at."""
    root_key: str = ""

    def run(self) -> _Scan:
        line, word = 1, ""
        for token in _TOKEN.finditer(self.text):
            match token[0]:
                case "\n":
                    line += 1
                case "[" | "{":
                    self._open(token[0], line)
                case "]" | "}":
                    self.stack.pop()
                case ":":
                    self._key(word, line)
                case _:
                    word = token[0][1:-1]
                    line += token[0].count("\n")
        return self

    def _depth(self) -> int | None:
        """How many containers stand around a question here; None outside of the list of questions."""
        if self.stack[:1] == ["["]:
            return 1
        return 2 if self.stack[:2] == ["{", "["] and self.root_key == "questions" else None

    def _open(self, bracket: str, line: int) -> None:
        if bracket == "{" and len(self.stack) == self._depth():
            self.places.append((line, Lines()))
        self.stack.append(bracket)

    def _key(self, word: str, line: int) -> None:
        if len(self.stack) == 1:
            self.root_key = word
            self.top.keys.setdefault(word, line)
        depth = self._depth()
        if depth is not None and len(self.stack) == depth + 1 and self.places:
            self.places[-1][1].keys.setdefault(word, line)
