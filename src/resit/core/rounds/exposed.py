"""Whether agents could read the keys here: looked for before a round, and once more right before it starts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from resit.core.agents.canary import plant, readable_from
from resit.core.agents.jail import best_isolation, hidden_areas
from resit.core.errors import Exposed, ResitError
from resit.core.records import Isolation
from resit.core.rounds.plan import COMMAND, PlannedSetting, RoundPlan
from resit.core.suite import Suite

MEND = "install bubblewrap, or go on with --unisolated"

_found: dict[tuple[Path | None, tuple[Path, ...]], Shelter] = {}
"""What was found in this process: trying takes a third of a second, and a screen asks at every change."""


@dataclass(frozen=True, slots=True)
class Shelter:
    """What keeps agents away from the keys of a suite, and whether it does."""

    isolation: Isolation
    exposed: str = ""
    """Why the keys could be read, in a sentence; empty when they could not."""
    accepted: bool = False
    """True when a person lets agents start nevertheless."""

    @property
    def error(self) -> Exposed | None:
        """Why no agent may start; None when they may."""
        if not self.exposed or self.accepted:
            return None
        return Exposed(f"an agent could read the answers: {self.exposed}", hint=MEND)

    @property
    def said(self) -> str:
        """One sentence."""
        if self.exposed:
            return f"agents can read the answers: {self.exposed}"
        return f"agents run under {self.isolation}; a marker planted beside the suite cannot be read from there"

    def recorded(self, plan: RoundPlan) -> RoundPlan:
        """`plan` with what is to be remembered of this."""
        unisolated = plan.unisolated or (self.accepted and bool(self.exposed))
        return plan.model_copy(update={"isolation": self.isolation, "unisolated": unisolated})


def find_shelter(suite: Suite, settings: Sequence[PlannedSetting], cwd: Path) -> Shelter | None:
    """Plant a marker with the keys, try to read it from inside the jail, and take it away; None without agents."""
    if all(planned.setting.provider != COMMAND for planned in settings):
        return None
    hidden = hidden_areas(suite, cwd=cwd)
    place = (suite.path, hidden)
    if place not in _found:
        _found[place] = _look(suite, hidden)
    return _found[place]


def _look(suite: Suite, hidden: tuple[Path, ...]) -> Shelter:
    isolation = best_isolation()
    try:
        canary = plant(suite)
    except ResitError as error:
        return Shelter(isolation, str(error))
    try:
        return Shelter(isolation, readable_from(canary, isolation, hidden))
    finally:
        canary.remove()
