"""TOML suites, and on which line each question and key stands."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal

from resit.core.suite_formats.raw import Lines, RawQuestion, RawSuite
from resit.core.suite_formats.said import Said, Unreadable

_KEY = r"""(?:[A-Za-z0-9_-]+|"(?:[^"\\\n]|\\.)*"|'[^'\n]*')"""
_HEADER = re.compile(rf"[ \t]*(\[\[?)[ \t]*({_KEY})(?:[ \t]*\.[ \t]*({_KEY}))?")
_ENTRY = re.compile(rf"[ \t]*({_KEY})[ \t]*[.=]")
_TOKEN = re.compile(r'"""|\'\'\'|"(?:[^"\\\n]|\\.)*"|\'[^\'\n]*\'|#[^\n]*|[\[\]{}\n]')
_LONG_END = {'"""': re.compile(r'(?:[^\\]|\\.)*?"""+', re.DOTALL), "'''": re.compile(r".*?'''+", re.DOTALL)}
_AT = re.compile(r" \(at (?:line (\d+), column \d+|end of document)\)$")


def read_toml(text: str, said: Said) -> RawSuite:
    """Read a suite written in TOML.

    Raises:
        Unreadable: It is not TOML.
    """
    table = parse_toml(text)
    found = _Scan(text).run()
    listed = table.pop("questions", [])
    if not isinstance(listed, list):
        said.fault("type", "questions is no list of questions", "begin each with [[questions]]")
        listed = []
    places = found.places if found.places else [(line, Lines()) for line in found.top.items.get("questions", [])]
    questions = []
    for number, entry in enumerate(listed):
        line, lines = places[number] if number < len(places) else (None, Lines())
        if isinstance(entry, Mapping):
            questions.append(RawQuestion(entry, line, lines))
        else:
            said.fault("type", f"question {number + 1} is no table", "begin each with [[questions]]", line=line)
    return RawSuite(table, questions, found.top)


def parse_toml(text: str) -> dict[str, object]:
    """The tables of a TOML text; decimals stay as written.

    Raises:
        Unreadable: It is not TOML.
    """
    try:
        return tomllib.loads(text, parse_float=Decimal)
    except tomllib.TOMLDecodeError as error:
        at = _AT.search(str(error))
        message = _AT.sub("", str(error))
        line = int(at[1]) if at and at[1] else text.count("\n") + 1
        raise Unreadable(f"not TOML: {message[:200]}", "see toml.io for how it is written", line) from None
    except RecursionError:
        raise Unreadable("it is nested too deeply to be read", "write fewer brackets inside brackets") from None
    except ValueError as error:
        raise Unreadable(f"not TOML: {str(error)[:200]}") from None


@dataclass(slots=True)
class _Scan:
    """A walk over a text that is known to be TOML."""

    text: str
    top: Lines = field(default_factory=Lines)
    places: list[tuple[int | None, Lines]] = field(default_factory=list)
    owner: Lines | None = None
    """Of the table the walk is in; None in tables whose keys nobody asks for."""
    key: str = ""

    def run(self) -> _Scan:
        text, position, line, depth = self.text, 0, 1, 0
        self.owner = self.top
        start = True
        while position < len(text):
            if start and depth == 0:
                self._line(position, line)
                # The brackets of a header are no array.
                position = self._after_header(position)
            token = _TOKEN.search(text, position)
            if token is None:
                break
            start = token[0] == "\n"
            position = token.end()
            if token[0] in _LONG_END:
                end = _LONG_END[token[0]].match(text, position)
                stop = end.end() if end else len(text)
                line += text.count("\n", position, stop)
                position = stop
            elif start:
                line += 1
            elif token[0] in "[{":
                if token[0] == "{" and depth == 1 and self.owner is not None:
                    self.owner.items.setdefault(self.key, []).append(line)
                depth += 1
            elif token[0] in "]}":
                depth -= 1
        return self

    def _after_header(self, position: int) -> int:
        if not _HEADER.match(self.text, position):
            return position
        end = self.text.find("\n", position)
        return len(self.text) if end < 0 else end

    def _line(self, position: int, line: int) -> None:
        header = _HEADER.match(self.text, position)
        if header:
            self._header(header, line)
        elif (entry := _ENTRY.match(self.text, position)) and self.owner is not None:
            self.key = _bare(entry[1])
            self.owner.keys.setdefault(self.key, line)

    def _header(self, header: re.Match[str], line: int) -> None:
        name, inner = _bare(header[2]), _bare(header[3] or "")
        if name != "questions":
            self.top.keys.setdefault(name, line)
            self.owner = None
        elif inner and self.places:
            lines = self.places[-1][1]
            lines.keys.setdefault(inner, line)
            if header[1] == "[[":
                lines.items.setdefault(inner, []).append(line)
            self.owner = None
        else:
            self.owner = Lines()
            self.places.append((line, self.owner))


def _bare(key: str) -> str:
    return key[1:-1] if key[:1] in {'"', "'"} else key
