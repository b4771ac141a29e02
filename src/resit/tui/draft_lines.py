"""The lines of one draft that a person writes on or decides: what they are, and what is said of each."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from textual.content import Content

from resit.core.printable import one_line
from resit.tui.figures import count
from resit.tui.looks import MISS

if TYPE_CHECKING:
    from resit.core.logs.drafts import Draft, Swap

SETTLED, OPEN, PROPOSED = "✓", "?", "◇"
_LABEL = 15


@dataclass(frozen=True, slots=True)
class Line:
    """One line."""

    key: str
    """What it is: a field of the draft, `file:N` or `swap:N`."""
    mark: str
    label: str
    value: str
    proposed: str = ""
    """What a model proposed for it."""

    TONES: ClassVar = {SETTLED: "$success", OPEN: "$warning", PROPOSED: "$primary", MISS: "$error"}

    def content(self, width: int) -> Content:
        """The line as it is drawn, as plain text."""
        mark = PROPOSED if self.proposed else self.mark
        shown = f"{self.proposed}  (proposed: y accepts, - turns down)" if self.proposed else self.value
        return Content.assemble(
            (f"{mark or ' '} ", self.TONES.get(mark, "")),
            (one_line(self.label, _LABEL).ljust(_LABEL + 1), "$text-muted"),
            one_line(shown, max(20, width - _LABEL - 6)),
        )


def draft_lines(draft: Draft, swaps: Sequence[Swap], given_back: Collection[str]) -> tuple[Line, ...]:
    """Every line of a draft: what it still needs first, then its texts, its data, and what was taken out of it."""
    from resit.core.errors import ResitError
    from resit.core.judging.rule_words import rule_sentence
    from resit.core.logs.drafts import read_rule_text

    proposal = draft.proposed
    try:
        rule = f"{draft.rule}: {rule_sentence(read_rule_text(draft.rule))}"
    except ResitError as error:
        rule = str(error)
    answered = bool(draft.accept or draft.checks)
    trap = "there is none, you say" if draft.no_trap and not draft.trap else draft.trap
    why = f" ({draft.why})" if draft.trap and draft.why else ""
    lines = [
        Line("accept", _mark(answered), "right answer", " | ".join(draft.accept) or "computed by you, not by a model"),
        Line("rule", SETTLED, "rule", rule, proposal.rule if proposal else ""),
        Line("checks", SETTLED if draft.checks else "", "checks", "; ".join(draft.checks) or "none"),
        Line("trap", _mark(bool(trap)), "trap", f"{trap}{why}" or "a wrong answer that tempts", _trap(draft)),
        Line("no_trap", SETTLED if draft.no_trap else "", "no trap", "yes" if draft.no_trap else "no"),
        Line(
            "about", SETTLED if draft.about else "", "stands for", draft.about or "a line on the work it stands for",
            proposal.about if proposal else "",
        ),
        Line("kind", SETTLED, "kind", draft.kind),
        Line("prompt", _mark(bool(draft.prompt.strip())), "prompt", draft.prompt, proposal.prompt if proposal else ""),
    ]  # fmt: skip
    for number, file in enumerate(draft.files):
        kept = "kept" if file.keep else "left out"
        said = f"{kept} · {file.name} · {count(len(file.text), 'character')}"
        lines.append(Line(f"file:{number}", SETTLED if file.keep else "", "data", said))
    for number, swap in enumerate(swaps):
        back = swap.original in given_back
        said = f"{swap.original} → {swap.placeholder}, {count(swap.times, 'time')}"
        label = "given back" if back else "taken out"
        lines.append(Line(f"swap:{number}", MISS if back else SETTLED, label, said))
    return tuple(lines)


def _mark(settled: bool) -> str:
    return SETTLED if settled else OPEN


def _trap(draft: Draft) -> str:
    proposal = draft.proposed
    if proposal is None or not proposal.trap:
        return ""
    return f"{proposal.trap} ({proposal.why})" if proposal.why else proposal.trap


def split_forms(text: str) -> tuple[str, ...]:
    """Accepted forms of a line: `366 | three hundred and sixty-six`."""
    return tuple(dict.fromkeys(form for part in text.split("|") if (form := part.strip())))


def split_checks(text: str) -> tuple[str, ...]:
    """Checks of a line: `max_words = 20; contains = "a; b"`."""
    parts = re.findall(r"""(?:"(?:[^"\\]|\\.)*"|'[^']*'|[^;"'])+""", text)
    return tuple(part for each in parts if (part := each.strip()))
