"""Rules that read a choice: `choice` among lettered options, and `yes_no`."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from typing import Final

from resit.core.rule import Choice, YesNo
from resit.core.scoring.judged import Judged, listed, quoted
from resit.core.scoring.normalise import bare, clean, fold, unwrap
from resit.core.scoring.number_rules import ANSWER_WORD, marked_areas, strip_wrappers
from resit.core.scoring.texts import find_form

_MOST_LABELS: Final = 10_000


@dataclass(frozen=True, slots=True)
class Options:
    """The options of a question, ready to be looked for."""

    labels: tuple[str, ...]
    texts: tuple[str, ...]
    """Cleaned text of each option, empty where the author gave letters only."""
    any_label: re.Pattern[str]
    """A label with a border on both sides, as written or in the other case."""
    folded: dict[str, str]
    """Each label by what it is without its case; the first of those that are then the same."""

    def named(self, text: str) -> str | None:
        """The option whose label or whole text this is."""
        if label := self.folded.get(text.casefold()):
            return label
        form = clean(text)
        return self.labels[self.texts.index(form)] if form and form in self.texts else None

    def label(self, written: str) -> str:
        """The label as the author writes it."""
        return self.folded.get(written.casefold(), written)


@lru_cache(maxsize=1024)
def _options(items: tuple[tuple[str, str], ...]) -> Options:
    labels = tuple(label for label, _ in items)
    longest_first = sorted(filter(None, labels), key=len, reverse=True)
    firsts = "".join(
        re.escape(c) for label in longest_first for c in {label[0].lower(), label[0].upper()} if len(c) == 1
    )
    rest = "|".join(f"(?<=(?i:{re.escape(label[0])}))(?i:{re.escape(label[1:])})" for label in longest_first)
    pattern = re.compile(rf"[{firsts}](?<![\w'.].)(?:{rest})(?![\w]|'\w|[.,][0-9])" if longest_first else "(?!)")
    folded = {label.casefold(): label for label in reversed(labels)}
    return Options(labels, tuple(clean(text) for _, text in items), pattern, folded)


def read_options(rule: Choice) -> Options:
    """The options of a rule, read once."""
    offered = rule.options
    return _options(tuple(offered.items())) if isinstance(offered, dict) else _lettered(offered)


@lru_cache(maxsize=1024)
def _lettered(labels: tuple[str, ...]) -> Options:
    return _options(tuple((label, "") for label in labels))


_STRONG: Final = re.compile(
    rf"[AaRrОоOo答CcBb#\\](?:{ANSWER_WORD}(?:(?i:is|was)(?![A-Za-z])|[:=是])[*_`\"' \t:]{{0,6}}"
    r"|(?<![A-Za-z].)(?:(?<=[Cc])(?i:orrect)|(?<=[Rr])(?i:ight)|(?<=[Bb])(?i:est))"
    r" (?i:option|choice|letter)[*_ ]{0,3}(?:(?i:is)(?![A-Za-z])|[:=])[*_ ]{0,4}"
    r"|(?<=#)(?<!##)#{3}(?!#)[ \t]{0,4}|(?<=\\)boxed ?\{)"
)
_WEAK: Final = re.compile(
    r"[OoCcLlPpSsGg](?<![A-Za-z].)(?:(?<=[Oo])(?i:ption)|(?<=[Cc])(?i:hoice|hoose|hose)|(?<=[Ll])(?i:etter)"
    r"|(?<=[Pp])(?i:icked|ick)|(?<=[Ss])(?i:elected|elect|ay)|(?<=[Gg])(?i:oing with|o with))"
    r"(?: is)?[:=]?[*_ ]{0,4}"
)
_OPENING: Final = re.compile(r"(?:[\s*_`\"'(\[{$]|\\text\{|\\\(|(?:option|choice|letter)\b){0,12}", re.IGNORECASE)
_CLOSING: Final = r"[*_`\"')\]}$]{0,6}"
_DENIED: Final = re.compile(r"(?:not|neither|never)(?!\w)", re.IGNORECASE)
_AND_ANOTHER: Final = re.compile(
    rf"{_CLOSING} ?(?:,? ?(?:or|and|nor) |,|/|&|\+) ?(?:both |either |maybe |perhaps |possibly |even )?"
    r"[*_`\"'(\[]{0,4}",
    re.IGNORECASE,
)
_CLAUSE: Final = re.compile(
    rf"{_CLOSING}\s*(?:$|[^\w\s]|(?:because|since|as|is|for|due|given|which|seems|and|or|not|but|so|by)\b)",
    re.IGNORECASE,
)
_LEADING: Final = re.compile(r"\n[ \t]{0,4}(?:[-*•][ \t])?[*_`\"'(\[]{0,4}(?=\w)")
_BRACKETED: Final = re.compile(r"[(*](?:(?<=\()(?<!\w.)(\w{1,3})\)|(?<=\*)\*\(?(\w{1,3})\)?\.?\*\*)")
_LED: Final = re.compile(
    r"[*_`\"']{0,3}[)\].:,][*_`\"']{0,3}(?=\s|\Z)|[)\]*_`]{1,4}(?=[\s.:]|\Z)"
    r"|[*_`]{0,3}[ \t]*(?=\n|\Z)|[ ]?[-—:][ ]"
    r"|[*_`)]{0,4} is (?:the )?(?:correct|right|best)(?!\w)"
)


def judge_choice(rule: Choice, accept: tuple[str, ...], text: str) -> Judged:
    """Whether the reply chooses exactly the accepted option."""
    options = read_options(rule)
    goals = tuple(named for form in accept if (named := options.named(bare(form))))
    reply = bare(text)
    chosen, why, at = _chosen(options, text, reply)
    if chosen is None:
        return Judged(False, reply, goals, why)
    if chosen in goals:
        return Judged(True, reply, goals, f"the reply chooses {quoted(chosen)}", chosen, at)
    return Judged(False, reply, goals, f"the reply chooses {quoted(chosen)}, not {listed(goals)}", chosen, at)


def _chosen(options: Options, text: str, reply: str) -> tuple[str | None, str, tuple[int, int] | None]:
    """The label chosen, or None and why; and where it stands when it was found after a marker."""
    if len(reply) < 4000:
        alone = strip_wrappers(reply).strip(" ()[].:")
        if named := options.named(alone) or options.named(reply):
            return named, "", None
    folded = fold(text)
    for start, end in marked_areas(_STRONG, folded):
        found = _after_marker(options, folded[start:end])
        if found is None:
            continue
        label, why = found
        return label, why, None
    standing = _standing(options, folded)
    weak = _unmarked(options, "\n" + folded)
    if weak is None:
        return None, _several(standing) if len(standing) > 1 else "the reply chooses no option", None
    label, rest = weak
    own = options.texts[options.labels.index(label)]
    if own and _is_text(rest, own):
        return label, "", None
    if _contradicts(options, label, rest):
        return None, f"the letter {quoted(label)} and the text after it disagree", None
    if standing != {label}:
        return None, _several(standing | {label}), None
    return label, "", None


def _several(labels: Iterable[str]) -> str:
    return f"more than one option stands in the reply: {', '.join(sorted(labels)[:6])}"


def _after_marker(options: Options, area: str) -> tuple[str | None, str] | None:
    """What the text after a marker chooses: a label, or None and why not; None when it names no option at all."""
    lead = _OPENING.match(area)
    start = lead.end() if lead else 0
    if _DENIED.match(area, start):
        return None, "the marker is followed by a denial"
    found = options.any_label.match(area, start)
    if found is None or not _means_label(found[0], area, found.end()):
        named = options.named(unwrap(area.partition("\n")[0]).strip(" })]$"))
        return (named, "") if named else None
    label, rest = options.label(found[0]), area[found.end() :]
    own = options.texts[options.labels.index(label)]
    remainder = _text_after(rest)
    if own and _is_text(remainder, own):
        return label, ""
    another = _AND_ANOTHER.match(rest)
    second = options.any_label.match(rest, another.end()) if another else None
    if second and options.label(second[0]) != label and _means_label(second[0], rest, second.end()):
        return None, _several({label, options.label(second[0])})
    if _contradicts(options, label, remainder):
        return None, f"the letter {quoted(label)} and the text after it disagree"
    return label, ""


def _means_label(written: str, text: str, end: int) -> bool:
    """Whether a letter is meant as a label: the words "a" and "I" in a sentence choose nothing."""
    if written.isdigit() or len(written) > 1:
        return True
    if written.upper() in ("A", "I") or written.islower():
        return _CLAUSE.match(text, end) is not None and not (written == "a" and text[end : end + 1] == " ")
    return True


def _text_after(rest: str) -> str:
    """What stands behind a label on its line, without the marks between them."""
    return rest.partition("\n")[0].strip(" \t)]}.:*_`\"'-—$")


def _is_text(remainder: str, own: str) -> bool:
    form = clean(remainder)
    return form == own or (form.startswith(own) and not form[len(own) :][:1].isalnum())


def _contradicts(options: Options, label: str, remainder: str) -> bool:
    """Whether the text behind a label is another option's text and not its own."""
    form = clean(remainder[:2000])
    others = [text for name, text in zip(options.labels, options.texts, strict=True) if name != label and text]
    own = options.texts[options.labels.index(label)]
    return (
        bool(form)
        and not (own and find_form(own, form) is not None)
        and any(find_form(text, form) is not None for text in others)
    )


def _standing(options: Options, text: str) -> set[str]:
    """The labels that stand as such anywhere in the text, whatever is said of them."""
    found = set()
    for hit in islice(options.any_label.finditer(text), _MOST_LABELS):
        bracketed = text[hit.start() - 1 : hit.start()] == "(" or text[hit.end() : hit.end() + 1] == ")"
        if bracketed or (not hit[0].islower() and _means_label(hit[0], text, hit.end())):
            found.add(options.label(hit[0]))
            if len(found) == len(options.labels):
                break
    return found


def _unmarked(options: Options, text: str) -> tuple[str, str] | None:
    """The first label that leads a line or follows a word of choosing, with the rest of its line."""
    for lead in islice(_LEADING.finditer(text), _MOST_LABELS):
        found = options.any_label.match(text, lead.end())
        if found and (led := _LED.match(text, found.end())):
            return options.label(found[0]), _text_after(text[led.end() : led.end() + 2000])
    for found_weak in islice(_WEAK.finditer(text), _MOST_LABELS):
        opening = _OPENING.match(text, found_weak.end())
        found = options.any_label.match(text, opening.end() if opening else found_weak.end())
        if found and not found[0].islower() and _means_label(found[0], text, found.end()):
            return options.label(found[0]), _text_after(text[found.end() : found.end() + 2000])
    for bracket in islice(_BRACKETED.finditer(text), _MOST_LABELS):
        written = bracket[1] or bracket[2]
        if written in options.labels:
            return written, _text_after(text[bracket.end() : bracket.end() + 2000])
    return None


_YES_NO: Final[dict[str, tuple[str, ...]]] = {"yes": ("yes",), "no": ("no",)}


def judge_yes_no(rule: YesNo, accept: tuple[str, ...], text: str) -> Judged:
    """Whether the reply says yes or no, only one of them, and the accepted one."""
    words = side_words(rule)
    reply = clean(text)
    goals = {side for form in accept if (side := side_of(words, clean(form)))}
    said = {side for side, forms in words.items() if any(find_form(form, reply) is not None for form in forms)}
    shown = tuple(clean(form) for form in accept)
    if len(said) != 1:
        why = "the reply says yes and no" if said else "the reply says neither yes nor no"
        return Judged(False, reply, shown, why)
    side = next(iter(said))
    return Judged(side in goals, reply, shown, f"the reply says {side}", side)


def side_words(rule: YesNo) -> dict[str, tuple[str, ...]]:
    """The cleaned words of each side."""
    return {side: tuple(map(clean, forms)) for side, forms in rule.words.items()} if rule.words else _YES_NO


def side_of(words: dict[str, tuple[str, ...]], form: str) -> str | None:
    """Which side a cleaned form is on."""
    return next((side for side, forms in words.items() if form == side or form in forms), None)
