"""Questions as a file writes them, turned into questions as everything above sees them."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import partial

from resit.core.records import file_part
from resit.core.rule import Check, Contains, Exact, NumberInReply, Rule
from resit.core.scoring.checks import parse_check
from resit.core.suite import Question, SuiteFault, Trap
from resit.core.suite_formats.raw import Lines, RawQuestion, RawSuite
from resit.core.suite_formats.rule_form import read_rule
from resit.core.suite_formats.said import Said, nearest
from resit.core.suite_formats.values import TableReader, as_text, shown, tidied

FOUND_OUT = ("line", "workspace_digest", "hidden_digest")
"""What no author writes."""
KEYS = tuple(name for name in Question.model_fields if name not in FOUND_OUT)
FOREIGN = {
    "question": "prompt", "input": "prompt", "answer": "accept", "target": "accept", "expected": "accept",
}  # fmt: skip
"""Other people's names for a key."""
MATCHES = ("exact", "contains", "numeric")
_LONGEST_ID = 200


@dataclass(frozen=True, slots=True)
class Defaults:
    """What holds for questions that do not say otherwise."""

    rule: Rule
    second_rule: Rule | None


@dataclass(frozen=True, slots=True)
class Found:
    """A question that was read, and what is not settled about it yet."""

    question: Question
    lines: Lines
    sound: bool
    """Whether what decides it could be read, so that the guard can look at it."""


def read_questions(raw: RawSuite, defaults: Defaults, said: Said, *, need_prompt: bool) -> list[Found]:
    """Read every question; what is wrong goes to `said`."""
    found = [
        _Question(entry, number, raw, said).read(defaults, need_prompt=need_prompt)
        for number, entry in enumerate(raw.questions, 1)
    ]
    _say_twins(found, said)
    return found


def _say_twins(found: list[Found], said: Said) -> None:
    """Two ids that a person or a file system takes for one."""
    seen: dict[str, Question] = {}
    for each in found:
        question = each.question
        folded = unicodedata.normalize("NFC", question.id.strip().casefold())
        for name in {folded, file_part(question.id)}:
            other = seen.setdefault(name, question)
            if other is not question and question.id:
                where = f" (line {other.line})" if other.line else ""
                message = f"the id {question.id!r} is taken by question {other.id!r}{where}"
                said.fault("same-id", message, "give each its own id", q=question.id, line=question.line)
                break


class _Question:
    """One question's table on its way to a `Question`."""

    def __init__(self, raw: RawQuestion, number: int, suite: RawSuite, said: Said) -> None:
        self.raw = raw
        self.number = number
        self.suite = suite
        self.said = said
        self.id = self._read_id()
        table, lines = self._own_names() if suite.foreign else (dict(raw.table), raw.lines)
        self.reader = TableReader(table, lines, said, self.id, raw.line)
        self.sound = True

    def read(self, defaults: Defaults, *, need_prompt: bool) -> Found:
        """The question, as far as it can be read."""
        reader = self.reader
        reader.only(KEYS + (("match", "tol") if self.suite.foreign else ()))
        before = len(self.said.faults)
        rule = self._rule("rule", defaults.rule)
        second = self._rule("second_rule", defaults.second_rule)
        checks = self._checks()
        accept = self._accept(rule)
        traps, reference = self._traps(), reader.optional_text("reference")
        self.sound = len(self.said.faults) == before
        question = Question(
            id=self.id,
            prompt=self._prompt(need_prompt),
            kind=tidied(reader.text("kind")) or "general",
            about=" ".join(reader.text("about").split()),
            accept=accept,
            rule=rule or Exact(),
            second_rule=second,
            checks=checks,
            traps=traps,
            no_trap=self._no_trap(traps),
            reference=reference,
            weight=reader.weight(),
            system=reader.optional_text("system"),
            max_tokens=reader.whole("max_tokens"),
            files=reader.texts("files"),
            workspace=reader.optional_text("workspace"),
            protect=reader.texts("protect"),
            hidden=reader.optional_text("hidden"),
            verify=reader.optional_text("verify"),
            verify_seconds=reader.whole("verify_seconds") or Question.model_fields["verify_seconds"].default,
            draft=reader.flag("draft"),
            line=self.raw.line,
        )
        return Found(question, reader.lines, self.sound)

    def _read_id(self) -> str:
        value = self.raw.table.get("id")
        if value is None and self.suite.numbered:
            return str(self.number)
        text = as_text(value)
        line = self.raw.lines.of("id") or self.raw.line
        if value is None or text is None or not text.strip():
            message = f"question {self.number} has no id" if value is None else f"the id {shown(value)} is no name"
            self.said.fault("id", message, 'give it one: id = "..."', line=line)
            return f"question {self.number}"
        name = tidied(text)
        if len(name) > _LONGEST_ID or not name.isprintable():
            message = f"question {self.number}: an id is one line of at most {_LONGEST_ID} visible characters"
            self.said.fault("id", message, "shorten it", line=line)
            return f"question {self.number}"
        if name != text:
            self.said.warn("cleaned", f"spaces around the id {name!r} were dropped", q=name, line=line)
        return name

    def _own_names(self) -> tuple[dict[str, object], Lines]:
        """The table under resit's own names for its keys."""
        table: dict[str, object] = {}
        lines = Lines(items=self.raw.lines.items)
        for key, value in self.raw.table.items():
            own = FOREIGN.get(key, key)
            line = self.raw.lines.of(key)
            if own in table:
                message = f"{shown(key)} says the same as another key: {own}"
                self.said.fault("key-twice", message, "keep one of them", q=self.id, line=line or self.raw.line)
            table[own] = value
            if line:
                lines.keys[own] = line
        return table, lines

    def _rule(self, key: str, default: Rule | None) -> Rule | None:
        reader = self.reader
        if key in reader.table:
            say = partial(_say, reader.fault, key)
            if key == "rule" and "match" in reader.table:
                reader.fault("key-twice", "both rule and match are given", "keep one of them", "match")
            return read_rule(reader.table[key], say, of=key)
        if key == "rule" and ("match" in reader.table or "tol" in reader.table):
            return self._match()
        return default

    def _match(self) -> Rule | None:
        """The rule of the plain shape: published verdicts repeat under it."""
        reader = self.reader
        match = reader.table.get("match", "exact")
        tolerance = reader.table.get("tol", 0)
        if (
            isinstance(tolerance, bool)
            or not isinstance(tolerance, int | Decimal)
            or not Decimal(tolerance).is_finite()
        ):
            reader.fault("type", f"tol = {shown(tolerance)} is no number", "write it without quotes", "tol")
            return None
        if tolerance < 0:
            reader.fault("rule-value", f"tol = {shown(tolerance)} is negative", "write a number from 0 up", "tol")
            return None
        if match == "numeric":
            return NumberInReply(pick="first", tolerance=Decimal(tolerance))
        if tolerance:
            reader.fault("rule-value", f"tol has no meaning under match = {shown(match)}", "drop it", "tol")
        if match == "contains":
            return Contains(whole=False)
        if match != "exact":
            mend = nearest(match, MATCHES) if isinstance(match, str) else f"known: {', '.join(MATCHES)}"
            reader.fault("unknown-rule", f"unknown match {shown(match)}", mend, "match")
        return Exact()

    def _checks(self) -> tuple[Check, ...]:
        checks = []
        for number, table in self.reader.tables("checks"):
            line = self.reader.lines.of("checks", number) or self.raw.line
            check = parse_check(table, question=self.id, line=line, path=self.said.path)
            if isinstance(check, Check):
                checks.append(check)
            else:
                self.said.faults.extend(check)
        return tuple(checks)

    def _accept(self, rule: Rule | None) -> tuple[str, ...]:
        texts = self.reader.texts("accept")
        if rule is not None and rule.name == "regex":
            return texts  # a space at the end of a pattern may be meant
        clean = tuple(tidied(text) for text in texts)
        for text, kept in zip(texts, clean, strict=True):
            if kept != text and kept:
                message = f"accepted answer {kept[:60]!r}: spaces or line ends around it were dropped"
                self.reader.warn("cleaned", message, "accept")
        return clean

    def _traps(self) -> tuple[Trap, ...]:
        reader, traps = self.reader, []
        value = reader.table.get("traps", [])
        for number, item in enumerate(value if isinstance(value, list | tuple) else [value]):
            table: Mapping[str, object] = item if isinstance(item, Mapping) else {"reply": item}
            inner = TableReader(table, Lines(), self.said, self.id, reader.lines.of("traps", number) or self.raw.line)
            inner.only(("reply", "why"))
            if "reply" in inner.table:
                traps.append(Trap(reply=tidied(inner.text("reply")), why=inner.text("why")))
            else:
                inner.fault("trap", "a trap has no reply", 'write { reply = "...", why = "..." }')
        return tuple(traps)

    def _no_trap(self, traps: tuple[Trap, ...]) -> bool:
        said = self.reader.flag("no_trap")
        if said and traps:
            message = "no_trap says that no wrong answer tempts, and traps names one"
            self.reader.fault("trap-none", message, "drop one of them", "no_trap")
        return said

    def _prompt(self, need_prompt: bool) -> str:
        prompt = self.reader.text("prompt")
        wanted = need_prompt and self.reader.table.get("draft") is not True
        if wanted and not tidied(prompt):
            self.reader.fault("no-prompt", "there is no prompt", 'write prompt = "..."', "prompt")
        return prompt


def _say(fault: Callable[[str, str, str, str], None], key: str, code: str, message: str, mend: str) -> None:
    fault(code, message, mend, key)


def placed(fault: SuiteFault, found: Found, path: str) -> SuiteFault:
    """A fault of the guard's, with the file and the line of the key it speaks of."""
    line = fault.line
    if line in {None, found.question.line}:
        keys = ("traps", "checks", "second_rule", "reference", "accept", "rule")
        named = next((key for key in keys if key.removesuffix("s") in fault.code and found.lines.of(key)), "")
        line = found.lines.of(named) or found.question.line
    return fault.replaced(path=fault.path or path, line=line, question=fault.question or found.question.id)
