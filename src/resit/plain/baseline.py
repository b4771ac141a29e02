"""What `resit run` holds its round against for a build server: a baseline round, and a JUnit file."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from resit.core.errors import UsageError
from resit.core.judging.evidence import Evidence, gather
from resit.core.judging.junit import Held, hold, junit_xml
from resit.core.judging.sheet import make_sheet
from resit.core.paths import atomic_write
from resit.core.rounds.shelf import open_round
from resit.plain.text import note, plural


@dataclass(frozen=True, slots=True)
class Wanted:
    """What the person wants to know when the round has ended; all of it is looked up before the first call."""

    baseline: Evidence | None
    junit: Path | None

    def hold(self, folder: Path) -> Held | None:
        """The ended round against the baseline; None without one. The JUnit file is written."""
        if self.baseline is None and self.junit is None:
            return None
        found = open_round(folder)
        held = hold(gather(found), self.baseline) if self.baseline is not None else None
        if self.junit is not None:
            data = junit_xml(make_sheet(found), held.broken if held else ())
            try:
                atomic_write(self.junit, data)
            except OSError as error:
                raise UsageError(
                    f"{self.junit} cannot be written: {error.strerror}", hint="the round is saved"
                ) from error
        return held

    def json(self, held: Held) -> dict[str, object]:
        """What broke, for `--json`."""
        broken = [
            {"question": one.question, "setting": one.setting, "before": one.before, "now": one.now}
            for one in held.broken
        ]
        rounds = self.baseline.rounds if self.baseline else ()
        return {"round": rounds[0] if rounds else None, "compared": held.compared, "broken": broken}


def find_wanted(baseline: str | None, junit: str | None, folder: Path | None) -> Wanted:
    """Look up the baseline while nothing is paid yet.

    Args:
        baseline: A round, as the person named it.
        junit: Where the JUnit file goes.
        folder: Of the round that is about to go on; None for a new one.

    Raises:
        RoundError: There is no such round.
        UsageError: The baseline is the round itself, or the JUnit file is a folder.
    """
    if junit is not None and Path(junit).is_dir():
        raise UsageError(f"--junit {junit} is a folder", hint="name a file")
    path = Path(junit) if junit is not None else None
    if baseline is None:
        return Wanted(None, path)
    found = open_round(baseline)
    if folder is not None and found.store.path.resolve() == folder.resolve():
        raise UsageError(
            f"--baseline {baseline} is the round that goes on here", hint="--round new starts one to hold against it"
        )
    if found.note:
        note(f"baseline {found.store.id}: {found.note}")
    return Wanted(gather(found), path)


def say_held(held: Held) -> None:
    """What broke, and what could not be compared, as notes."""
    for text in held.stated:
        note(f"baseline: {text}")
    for broken in held.broken:
        note(f"broken: {broken.said}")
    note(f"baseline: {plural(held.compared, 'question')} compared, {len(held.broken)} broken")
