"""Drafts: questions in the making, out of real requests, until a person has said what is right and what tempts.

A draft holds redacted text only. What stood there before is in `Swaps`, in memory, until the drafts are saved.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from resit.core.errors import ResitError
from resit.core.logs.records import Request, Texts
from resit.core.logs.redact import Redacted, Redactor
from resit.core.logs.texts import read_texts
from resit.core.records import file_part
from resit.core.rule import Check, Exact, Rule
from resit.core.scoring.checks import parse_check
from resit.core.scoring.guard import question_faults
from resit.core.suite import Frozen, Question, Trap
from resit.core.suite_formats.rule_form import read_rule
from resit.core.suite_formats.said import Unreadable
from resit.core.suite_formats.toml_form import parse_toml
from resit.core.suite_formats.values import tidied

MOST_CHARS = 400_000
"""Of a prompt with its data: more is no question that a person could check."""
MOST_FILES = 12
PROMPT_MISSING = "a prompt"
ANSWER_MISSING = "an accepted answer, or checks"
TRAP_MISSING = "a trap, or your word that there is none"

_TOOLS = {"claude-code": "Claude Code", "codex": "Codex", "gemini": "Gemini", "claude.ai": "Claude.ai",
          "chatgpt": "ChatGPT", "jsonl": "a log"}  # fmt: skip


class DraftFile(Frozen):
    """Data that the prompt needs, kept as a file beside the suite."""

    name: str
    text: str
    keep: bool = True
    """False: the person leaves it out."""


class Proposal(Frozen):
    """What a model proposed; no part of it counts until the person accepts that part."""

    model: str
    prompt: str = ""
    about: str = ""
    rule: str = ""
    trap: str = ""
    why: str = ""

    @property
    def parts(self) -> tuple[str, ...]:
        """Names of what still waits for the person's word."""
        return tuple(part for part in ("prompt", "about", "rule", "trap") if getattr(self, part))

    def without(self, part: str) -> Proposal | None:
        """What is left once `part` was accepted or turned down; None when nothing is."""
        gone = {part: "", "why": ""} if part == "trap" else {part: ""}
        left = self.replaced(**gone)
        return left if left.parts else None


class Draft(Frozen):
    """One question in the making."""

    id: str
    kind: str
    prompt: str
    source: str
    """Where it came from: tool, day, model and level, session."""
    said: str = ""
    """What the model said then. It is no answer key."""
    files: tuple[DraftFile, ...] = ()
    about: str = ""
    accept: tuple[str, ...] = ()
    rule: str = "exact"
    """As a suite writes it: `numeric`, or `{ name = "numeric", tolerance = 0.01 }`."""
    checks: tuple[str, ...] = ()
    """Each as a suite writes it within the braces: `max_words = 20`."""
    trap: str = ""
    why: str = ""
    no_trap: bool = False
    proposed: Proposal | None = None

    @property
    def missing(self) -> tuple[str, ...]:
        """What it needs before any model is asked."""
        lacks = [] if tidied(self.prompt) else [PROMPT_MISSING]
        if not (self.accept or self.checks):
            lacks.append(ANSWER_MISSING)
        if not (self.trap or self.no_trap):
            lacks.append(TRAP_MISSING)
        return tuple(lacks)

    @property
    def problems(self) -> tuple[str, ...]:
        """What is missing, else what the guard of suites finds wrong; empty when it can be asked."""
        if self.missing:
            return self.missing
        try:
            found = question_faults(self.question())
        except ResitError as error:
            return (str(error),)
        return tuple(f"{fault.message}: {fault.mend}".removesuffix(": ") for fault in found)

    def question(self) -> Question:
        """The question it stands for.

        Raises:
            ResitError: Its rule or a check cannot be read.
        """
        return Question(
            id=self.id,
            prompt=self.prompt,
            kind=self.kind,
            about=self.about,
            accept=self.accept,
            rule=read_rule_text(self.rule),
            checks=tuple(read_check_text(text) for text in self.checks),
            traps=(Trap(reply=self.trap, why=self.why),) if self.trap else (),
            no_trap=self.no_trap,
        )


@dataclass(frozen=True, slots=True)
class Swap:
    """One thing that was taken out of a draft."""

    kind: str
    original: str
    placeholder: str
    times: int


@dataclass(frozen=True, slots=True)
class Fresh:
    """A draft that was just made, with what was taken out of it."""

    draft: Draft
    swaps: tuple[Swap, ...]
    left_out: int
    """Texts that were read beside the prompt and are in no file of the draft."""


@dataclass(frozen=True, slots=True)
class Refused:
    """A request that makes no draft, and why."""

    request: Request
    why: str


def make_drafts(
    requests: Sequence[Request],
    redactor: Redactor | None = None,
    *,
    read: Callable[[Request], Texts] = read_texts,
    progress: Callable[[int], None] = lambda _: None,
) -> tuple[tuple[Fresh, ...], tuple[Refused, ...]]:
    """A draft of each request, redacted; texts are read from the logs and kept nowhere.

    Args:
        requests: Those that were chosen.
        redactor: What takes secrets out; None knows this machine and the folders of `requests`.
        read: Reads the words of one.
        progress: Told how many are done.
    """
    redactor = redactor or _redactor(requests)
    made: list[Fresh] = []
    refused: list[Refused] = []
    taken: set[str] = set()
    for number, request in enumerate(requests, 1):
        try:
            made.append(_fresh(request, read(request), redactor, taken))
        except ResitError as error:
            refused.append(Refused(request, str(error)))
        progress(number)
    return tuple(made), tuple(refused)


def _redactor(requests: Iterable[Request]) -> Redactor:
    redactor = Redactor()
    redactor.identity = redactor.identity.within(request.cwd for request in requests if request.cwd)
    return redactor


def _fresh(request: Request, texts: Texts, redactor: Redactor, taken: set[str]) -> Fresh:
    if len(texts.prompt) > MOST_CHARS:
        raise ResitError(f"{request.first_line[:60]!r} is too long for a question", hint="write a shorter one by hand")
    prompt, said = redactor.redact(sound(texts.prompt)), redactor.redact(sound(texts.reply))
    source = redactor.redact(_source(request))
    draft_id = _id(prompt.text(), taken)
    files: list[DraftFile] = []
    found: list[Redacted] = [prompt, said, source]
    room = MOST_CHARS - len(texts.prompt)
    for each in texts.attached:
        if len(files) == MOST_FILES or len(each.text) > room:
            continue
        room -= len(each.text)
        text, name = redactor.redact(sound(each.text)), redactor.redact(each.name)
        found += [text, name]
        files.append(DraftFile(name=_file_name(name.text(), [file.name for file in files]), text=text.text()))
    draft = Draft(
        id=draft_id, kind=request.kind, prompt=prompt.text(), source=source.text(), said=said.text(), files=tuple(files)
    )
    return Fresh(draft, _swaps(found), len(texts.attached) - len(files) + texts.left_out)


def sound(text: str) -> str:
    """`text` as a file can hold it."""
    return text.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "\N{SYMBOL FOR NULL}").encode(
        "utf-8", "replace"
    ).decode()  # fmt: skip


def _source(request: Request) -> str:
    level = f"at {request.effort}" if request.effort else "no level set"
    parts = [
        _TOOLS[request.tool],
        f"{request.when:%Y-%m-%d %H:%M} UTC",
        f"{request.model or 'model not said'}, {level}",
    ]
    if request.delegation is not None:
        parts.append(f"delegated to {request.delegation.agent_type or 'a sub-agent'}")
    return ", ".join([*parts, f"session {request.session}"])


def _id(prompt: str, taken: set[str]) -> str:
    words = re.findall(r"[a-z0-9]+", prompt[:400].casefold())
    stem = "-".join(words[:5])[:40].strip("-") or "question"
    return _untaken(stem, taken)


def _untaken(stem: str, taken: set[str]) -> str:
    number, name = 1, stem
    while name in taken:
        number += 1
        name = f"{stem}-{number}"
    taken.add(name)
    return name


def _file_name(name: str, others: Iterable[str]) -> str:
    """A file's name that is safe on any system, told apart from its brothers."""
    last = re.split(r"[\\/]", name.strip())[-1]
    stem, dot, ending = last.rpartition(".")
    plain = re.sub(r"[^A-Za-z0-9_-]+", "-", stem if dot else last).strip("-_").lower()[:40] or "data"
    kind = ending.lower() if dot and re.fullmatch(r"[A-Za-z0-9]{1,8}", ending) else "txt"
    taken = {other.rpartition(".")[0] for other in others}
    return f"{file_part(_untaken(plain, taken))}.{kind}"


def _swaps(found: Iterable[Redacted]) -> tuple[Swap, ...]:
    counted: dict[tuple[str, str, str], int] = {}
    for text in found:
        for each in text.redactions:
            key = (each.kind, each.original, each.replacement)
            counted[key] = counted.get(key, 0) + 1
    return tuple(Swap(kind, original, shown, times) for (kind, original, shown), times in counted.items())


def swapped(draft: Draft, old: str, new: str) -> Draft:
    """`draft` with one text in place of another wherever it stands: a redaction given back, or taken out again."""
    return draft.replaced(
        prompt=draft.prompt.replace(old, new),
        said=draft.said.replace(old, new),
        accept=tuple(form.replace(old, new) for form in draft.accept),
        trap=draft.trap.replace(old, new),
        files=tuple(file.replaced(text=file.text.replace(old, new)) for file in draft.files),
    )


# -- rules and checks as a person writes them --------------------------------------------------------------------------


def read_rule_text(text: str) -> Rule:
    """The rule that `text` names: `exact`, or a table in braces.

    Raises:
        ResitError: It is none.
    """
    said: list[str] = []
    rule = read_rule(_value(text), lambda _, message, mend: said.append(f"{message}: {mend}"))
    if rule is None or said:
        raise ResitError(said[0] if said else f"{text!r} is no rule")
    return rule or Exact()


def _value(text: str) -> object:
    if not text.lstrip().startswith("{"):
        return text.strip()
    return _toml(f"rule = {text}", text)["rule"]


def read_check_text(text: str) -> Check:
    """The check that `text` writes: `max_words = 20`, with `name = "..."` before it or without.

    Raises:
        ResitError: It is none.
    """
    inner = text.strip().removeprefix("{").removesuffix("}")
    table = _toml(f"check = {{ {inner} }}", text)["check"]
    table.setdefault("name", next((key for key in table if key not in ("name", "weight")), ""))
    check = parse_check(table)
    if isinstance(check, Check):
        return check
    raise ResitError(f"{check[0].message}: {check[0].mend}")


def _toml(line: str, text: str) -> dict[str, Any]:
    try:
        if "\n" in text.strip():
            raise Unreadable("it is more than one line")
        return parse_toml(line)
    except Unreadable as error:
        message = f"{text.strip()[:60]!r} cannot be read: {error.message}"
        raise ResitError(message, hint='write it like max_words = 20, or contains = "Ida"') from None


def rule_value(text: str) -> str | dict[str, Any]:
    """A rule as a table of the suite holds it."""
    value = _value(text)
    return value if isinstance(value, dict) else str(value)


def check_table(text: str) -> dict[str, str | int | bool | float | list[str]]:
    """A check as a table of the suite holds it."""
    check = read_check_text(text)
    value = check.value
    plain = list(value) if isinstance(value, tuple) else float(value) if isinstance(value, Decimal) else value
    return {"name": check.name, check.kind: plain}
