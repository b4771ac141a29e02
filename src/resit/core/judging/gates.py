"""Between a score and a rule: four gates, each with its evidence.

(1) At least two runs of each question, or what the suite wants; one run is untested for variance. (2) The lowest run
decides, not the mean. (3) Every run below full marks is read and has a verdict. (4) Where every setting has full
marks, "enough for this kind of work" is all that may be said, and no ranking.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from resit.core.judging.evidence import Evidence
from resit.core.judging.figures import Figures, all_figures
from resit.core.judging.wording import counted, named, percent
from resit.core.scoring.grade import ANSWER
from resit.core.scoring.misses import Suspect, grader_suspects

GateName = Literal["runs", "lowest", "read", "ceiling"]
GateState = Literal["pass", "fail", "limit"]
"""`limit`: no reason against the setting, but against saying more than that it is enough."""

UNTESTED = "untested for variance"
ENOUGH = "enough for this kind of work"
FULL_MARKS = 1.0


@dataclass(frozen=True, slots=True)
class Gate:
    """One gate, for one setting on one kind of work."""

    number: int
    name: GateName
    state: GateState
    said: str
    """The evidence, in a sentence without a full stop."""


@dataclass(frozen=True, slots=True)
class Gated:
    """One setting on one kind of work, before the four gates."""

    label: str
    kind: str | None
    """None for all kinds together."""
    figures: Figures
    gates: tuple[Gate, ...]
    """In order of their numbers."""
    suspects: tuple[Suspect, ...]
    """Checks that look like the grader's fault: to be looked at before the setting is blamed."""

    @property
    def passed(self) -> bool:
        """True when no gate stops it."""
        return all(gate.state != "fail" for gate in self.gates)

    @property
    def failed(self) -> tuple[Gate, ...]:
        """The gates that stop it."""
        return tuple(gate for gate in self.gates if gate.state == "fail")

    @property
    def ceiling(self) -> bool:
        """True when every setting has full marks: nothing may be ranked."""
        return any(gate.state == "limit" for gate in self.gates)

    @property
    def asked(self) -> bool:
        """False when the setting never got to this kind of work."""
        return self.figures.runs_most > 0 or self.figures.below > 0

    @property
    def said(self) -> str:
        """What may be said of it, in a few words."""
        if not self.asked:
            return "not asked"
        if self.failed:
            return "; ".join(f"gate {gate.number}: {gate.said}" for gate in self.failed)
        return ENOUGH if self.ceiling else "passes all four gates"


def judge_settings(evidence: Evidence, kind: str | None = None, *, bar: float = FULL_MARKS) -> tuple[Gated, ...]:
    """Every setting before the gates, in plan order.

    Args:
        evidence: The runs that count.
        kind: A kind of work; None for all.
        bar: The least weighted score on the lowest runs that is good enough, 0.0 to 1.0.
    """
    part = evidence.of_kind(kind)
    every = all_figures(part)
    rows = [row for cell in part.grid.cells.values() for row in cell.runs]
    suspects = grader_suspects(rows)
    ceiling = _ceiling(every)
    return tuple(
        Gated(
            label=figures.label,
            kind=kind,
            figures=figures,
            gates=(_runs_gate(part, figures), _lowest_gate(figures, bar), _read_gate(figures), ceiling),
            suspects=_unread_suspects(figures, suspects),
        )
        for figures in every
    )


def _unread_suspects(figures: Figures, suspects: Sequence[Suspect]) -> tuple[Suspect, ...]:
    """Those whose question has a run in this setting that nobody has read yet: a verdict is the answer to them."""
    unread = {row.question for row in figures.unread}
    return tuple(suspect for suspect in suspects if suspect.question in unread)


def _runs_gate(part: Evidence, figures: Figures) -> Gate:
    found = [(question.id, part.grid.cells.get((question.id, figures.label))) for question in part.questions]
    short = [
        (name, cell.count if cell else 0) for name, cell in found if (cell.count if cell else 0) < part.needed[name]
    ]
    if not found:
        return Gate(1, "runs", "fail", "no question counts")
    if not short:
        least = figures.runs_least
        return Gate(1, "runs", "pass", f"{least} or more runs of each of {counted(len(found), 'question')}")
    none = [name for name, count in short if count == 0]
    one = [name for name, count in short if count == 1]
    said = []
    if none:
        said.append(f"{len(none)} of {counted(len(found), 'question')} without a fair answer ({named(none, 3)})")
    if one:
        said.append(f"{len(one)} of {counted(len(found), 'question')} with a single run: {UNTESTED}")
    few = len(short) - len(none) - len(one)
    if few:
        wanted = max(part.needed[name] for name, _ in short)
        said.append(f"{few} of {counted(len(found), 'question')} with fewer than the {wanted} runs the suite wants")
    return Gate(1, "runs", "fail", "; ".join(said))


def _lowest_gate(figures: Figures, bar: float) -> Gate:
    summary, share = figures.summary, figures.lowest.share
    said = f"lowest runs: {summary.lowest_full}/{summary.of} full, {percent(share)}"
    if share is not None and share >= bar - 1e-9:
        return Gate(2, "lowest", "pass", said)
    mean = f"; the mean of {percent(summary.mean)} does not count" if summary.mean != share else ""
    return Gate(2, "lowest", "fail", f"{said}, below the bar of {percent(bar)}{mean}")


def _read_gate(figures: Figures) -> Gate:
    if not figures.below:
        return Gate(3, "read", "pass", "no run below full marks")
    runs = counted(figures.below, "run")
    if not figures.unread:
        words = ", ".join(f"{count} {word}" for word, count in sorted(figures.verdicts.items()))
        return Gate(3, "read", "pass", f"all of {runs} below full marks read ({words})")
    blamed = [row for row in figures.unread if row.verdict == "grader"]
    left = len(figures.unread) - len(blamed)
    said = [f"{left} of {runs} below full marks unread"] if left else []
    if blamed:
        said.append(f"{counted(len(blamed), 'run')} blamed on the grader without a rule change or a reason")
    return Gate(3, "read", "fail", "; ".join(said))


def _ceiling(every: Sequence[Figures]) -> Gate:
    asked = [figures for figures in every if figures.runs_most]
    full = [figures for figures in asked if figures.full]
    if asked and len(full) == len(asked):
        who = "the only setting asked has" if len(asked) == 1 else f"all {len(asked)} settings have"
        return Gate(4, "ceiling", "limit", f"{who} full marks: too easy to separate, {ENOUGH}")
    return Gate(4, "ceiling", "pass", f"{len(full)} of {counted(len(asked), 'setting')} with full marks")


def suspects_said(suspects: Sequence[Suspect], most: int = 8) -> tuple[str, ...]:
    """What looks like the grader's fault, a sentence for each named check and one for all answers that are never right.

    Args:
        suspects: Checks and answers.
        most: Questions that are named at most in one sentence.
    """
    checks = [f"{suspect.question}: {suspect.why}" for suspect in suspects if suspect.check != ANSWER]
    never = [suspect.question for suspect in suspects if suspect.check == ANSWER]
    if never:
        checks.append(f"never right in any setting, so look at the rule first: {named(never, most)}")
    return tuple(checks)
