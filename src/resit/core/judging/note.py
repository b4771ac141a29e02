"""A round's result, written down: a page of Markdown that follows from the stored replies and a person's words alone.

What a person writes between a line `<!-- yours: NAME -->` and the next line `<!-- /yours -->` is kept to the letter
when the note is written again; everything else is made anew. The last line holds a fingerprint of what was made, so
that words written elsewhere are noticed before they are lost.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from resit.core.errors import RoundError
from resit.core.judging.columns import (
    COST_HEAD,
    KIND_HEAD,
    PRICE_HEAD,
    cost_cells,
    kind_cells,
    left_out,
    price_cells,
    score_cells,
    score_head,
)
from resit.core.judging.evidence import Evidence
from resit.core.judging.markdown import code, fenced, inline, table
from resit.core.judging.rule_words import edit_sentence, rules_sentence
from resit.core.judging.sheet import Miss, Sheet, moment
from resit.core.judging.wording import dollars
from resit.core.rounds.plan import PlannedSetting, RoundPlan
from resit.core.rounds.store import RoundStore
from resit.core.rule import digest

NOTE: Final = "note.md"
_REPLY_CHARS, _PROMPT_CHARS = 2_000, 400
_OPEN = re.compile(r"<!-- yours: (.+) -->\s*")
_CLOSE = re.compile(r"<!-- /yours -->\s*")
_MADE = re.compile(r"<!-- made: ([0-9a-f]{16}) -->\s*")
_DEFAULTS: Final[dict[str, str]] = {
    "decision": "*What is decided, and why. These lines are kept when the note is written again.*",
    "remarks": "*Anything else. These lines are kept as well.*",
}
"""The places for a person's words that every note has, and what stands there before they write."""


@dataclass(frozen=True, slots=True)
class Kept:
    """What is in a note that was written before."""

    words: Mapping[str, str]
    """A person's words, by the name of their place."""
    touched: bool
    """True when something outside of those places is not as it was made."""


def note_text(sheet: Sheet, kept: Mapping[str, str] | None = None) -> str:
    """The note of a round.

    Args:
        sheet: The round.
        kept: A person's words, by the name of their place.
    """
    words = {**_DEFAULTS, **(kept or {})}
    more = [name for name in words if name not in _DEFAULTS]
    lines = [
        *_head(sheet),
        *_place("decision", words),
        *_how_scored(sheet),
        *_settings(sheet),
        *_kinds(sheet),
        *_prices(sheet),
        *_misses(sheet),
        *_untested(sheet),
        *_place("remarks", words),
        *(line for name in more for line in _place(name, words)),
    ]
    text = "\n".join(lines)
    return f"{text}\n<!-- made: {_fingerprint(text)} -->\n"


def read_kept(text: str) -> Kept:
    """A person's words in a note, and whether they wrote anywhere else.

    Raises:
        RoundError: A place for words is opened and never closed, so it cannot be told where they end.
    """
    words: dict[str, str] = {}
    made = ""
    lines = iter(text.split("\n"))
    for line in lines:
        if found := _OPEN.fullmatch(line):
            words[found[1]] = _words(lines, found[1])
        elif found := _MADE.fullmatch(line):
            made = found[1]
    return Kept(words, made != _fingerprint(text))


def _words(lines: Iterator[str], name: str) -> str:
    inside: list[str] = []
    for line in lines:
        if _CLOSE.fullmatch(line):
            return "\n".join(inside)
        inside.append(line)
    raise RoundError(f"{NOTE}: the mark of {name!r} is never closed", hint="write a line `<!-- /yours -->` after it")


def _fingerprint(text: str) -> str:
    """Of all that is not a person's: their words, blank lines at the end and the fingerprint itself are passed over."""
    lines, inside = [], False
    for line in text.split("\n"):
        if inside and not _CLOSE.fullmatch(line):
            continue
        inside = _OPEN.fullmatch(line) is not None
        if not _MADE.fullmatch(line):
            lines.append(line.rstrip("\r"))
    return digest("\n".join(lines).rstrip("\n"))


def write_note(store: RoundStore, sheet: Sheet) -> str:
    """Write `note.md` into the round's folder, keeping a person's words; a sentence where there is something to say.

    Words outside of their places are not lost either: the former note is kept beside the new one.

    Raises:
        RoundError: The note that is there cannot be read, or the new one cannot be written.
    """
    before = read_note(store)
    kept = read_kept(before) if before is not None else None
    said = ""
    if before is not None and kept is not None and kept.touched:
        number = 1
        while (store.path / f"note-before-{number}.md").exists():
            number += 1
        store.write_file(f"note-before-{number}.md", before.encode())
        said = f"the note was changed outside of its marks; as it was, it is in note-before-{number}.md"
    store.write_file(NOTE, note_text(sheet, kept.words if kept else None).encode())
    return said


def read_note(store: RoundStore) -> str | None:
    """The note as it is on disk; None when there is none.

    Raises:
        RoundError: It cannot be read.
    """
    path = store.path / NOTE
    try:
        return path.read_bytes().decode("utf-8")
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise RoundError(f"{path} cannot be read", hint="move it away, or mend it by hand") from error


def decision(store: RoundStore) -> str:
    """What a person decided, as they wrote it into the note; empty while they have not.

    Raises:
        RoundError: The note cannot be read.
    """
    text = read_note(store)
    words = read_kept(text).words.get("decision", "") if text is not None else ""
    return "" if words == _DEFAULTS["decision"] else words


def note_faults(text: str, sheet: Sheet) -> tuple[str, ...]:
    """Lines of a note that do not follow from the round; none when every figure does.

    Args:
        text: The note as it is on disk.
        sheet: The round, graded again from its stored replies.
    """
    text = text.replace("\r\n", "\n")
    due = note_text(sheet, read_kept(text).words).split("\n")
    found = text.split("\n")
    faults = [
        f"line {number}: {line or '(blank)'} – it would be: {wanted or '(blank)'}"
        for number, (line, wanted) in enumerate(zip(found, due, strict=False), 1)
        if line != wanted and not _MADE.fullmatch(wanted)
    ]
    if len("\n".join(found).rstrip().split("\n")) != len("\n".join(due).rstrip().split("\n")):
        faults.append("it has more or fewer lines than it would have")
    return tuple(faults)


def _place(name: str, words: Mapping[str, str]) -> list[str]:
    heading = f"## {inline(name[:1].upper() + name[1:])}"
    return [heading, "", f"<!-- yours: {name} -->", words[name], "<!-- /yours -->", ""]


def _head(sheet: Sheet) -> list[str]:
    plan = sheet.plan
    models = dict.fromkeys(code(item.setting.model) for item in plan.settings)
    cost = dollars(sheet.cost_usd, at_least=sheet.cost_at_least)
    return [
        f"# {inline(plan.title)}",
        "",
        f"- Date: {moment(plan.created_at)}",
        f"- Round: {code(sheet.id)} of suite {code(plan.suite)} (fingerprint {plan.suite_digest})",
        f"- Models: {', '.join(models)}",
        f"- Asked: {sheet.asked_said}",
        f"- Cost: {cost}",
        "",
    ]


def _how_scored(sheet: Sheet) -> list[str]:
    plan = sheet.plan
    lines = ["## How it was scored", "", inline(rules_sentence(sheet.questions)), ""]
    first = f"The rule was set on {moment(plan.rule_set_at)}, before the first call (fingerprint {plan.rule_digest})"
    changed = sheet.edits or sheet.changed_in_file
    now = f"Changed since; these grades are by fingerprint {sheet.rule_now}:"
    lines += [f"{first}. {now}", ""] if changed else [f"{first}, and not changed since."]
    if sheet.changed_in_file:
        named = ", ".join(code(name) for name in sheet.changed_in_file)
        lines.append(f"- In the suite's file itself, so that nothing says when or why: {named}")
    for edit in sheet.edits:
        cause = f", after the run {code(edit.run)}" if edit.run else ""
        word = f": {inline(edit.note)}" if edit.note else ""
        lines.append(f"- {moment(edit.at)}: {code(edit.question)} {inline(edit_sentence(edit), 300)}{cause}{word}")
    return [*lines, "", *_endpoints(plan.settings), *_isolation(plan), ""]


def _endpoints(settings: Sequence[PlannedSetting]) -> list[str]:
    places = dict.fromkeys((item.endpoint, item.endpoint_source) for item in settings)
    named = [code(at) + ("" if source in ("default", "recorded") else f" (from {source})") for at, source in places]
    return [f"Asked at {', '.join(named)}."]


def _isolation(plan: RoundPlan) -> list[str]:
    """Whether agents could have read the answers; nothing for a round without agents."""
    if plan.unisolated:
        return ["", "**Agents could read the answers**, and were started nevertheless (`--unisolated`)."]
    if plan.isolation is None:
        return []
    said = f"Agents ran under {plan.isolation}; a marker planted with the answers could not be read from inside."
    return ["", said]


def _settings(sheet: Sheet) -> list[str]:
    second = sheet.has_second
    return [
        "## Settings",
        "",
        "Full marks: questions on which every run has them. Lowest score: the mean of the questions' worst runs.",
        "",
        *table(
            ["setting", *score_head(second)],
            [[code(f.label), *score_cells(f, second)] for f in sheet.figures],
            left=[0],
        ),
        "",
        "Cost and tokens are of all attempts together; seconds are those of the attempt that answered.",
        "",
        *table(["setting", *COST_HEAD], [[code(f.label), *cost_cells(f)] for f in sheet.figures], left=[0]),
        "",
    ]


def _kinds(sheet: Sheet) -> list[str]:
    said = "What may be said of each. Four gates: enough runs, the lowest run, every miss read, no ceiling."
    rows = [
        [inline(kind), code(gated.label), *figures, inline(said)]
        for kind, judged in sheet.by_kind.items()
        for gated in judged
        for *figures, said in [kind_cells(gated)]
    ]
    return [
        "## Kinds of work",
        "",
        said,
        "",
        *table(["kind", "setting", *KIND_HEAD], rows, left=[0, 1, 1 + len(KIND_HEAD)]),
        "",
    ]


def _prices(sheet: Sheet) -> list[str]:
    prices = {item.setting.model: item.price for item in sheet.settings}
    rows = []
    for model, price in prices.items():
        *amounts, source = price_cells(price)
        rows.append([code(model), *amounts, inline(source)])
    said = "US dollars per million tokens, as in force when the round began."
    return ["## Prices", "", said, "", *table(["model", *PRICE_HEAD], rows, left=[0, 3]), ""]


def _misses(sheet: Sheet) -> list[str]:
    lines = ["## Misses", "", sheet.misses_said, ""]
    lines += [f"- {inline(said)}" for said in sheet.look_first]
    lines += [""] if sheet.look_first else []
    question = ""
    for miss in sheet.misses:
        if miss.question.id != question:
            question = miss.question.id
            lines += _question(miss)
        lines += _miss(miss, sheet.evidence)
    return lines


def _question(miss: Miss) -> list[str]:
    lines = [f"### {code(miss.question.id)}", "", "Asked:", "", *fenced(miss.question.prompt, " ", _PROMPT_CHARS), ""]
    if miss.question.accept:
        lines += [f"Accepted: {', '.join(code(form) for form in miss.question.accept)}", ""]
    return lines


def _miss(miss: Miss, evidence: Evidence) -> list[str]:
    out = left_out(miss.runs[0], evidence)
    lines = [f"- {code(miss.setting)}, {miss.run_numbers}: {miss.said}. Cause: {miss.cause}{out}."]
    lines += [f"  {inline(note)}" for note in miss.notes]
    lines += ["", f"  {inline(miss.why, 400)}", ""]
    if miss.reply is not None:
        lines += [*fenced(miss.reply, "  ", _REPLY_CHARS), ""]
    return lines


def _untested(sheet: Sheet) -> list[str]:
    said = [inline(sentence) for sentence in (*sheet.untested, sheet.growth.said) if sentence]
    return ["## What was not tested", "", *(f"- {sentence}" for sentence in said), ""]
