"""What a person calls a setting or one side of a comparison, found in the rounds that are there."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from string import ascii_uppercase

from resit.core.errors import RoundError, UsageError
from resit.core.judging.evidence import Evidence, gather
from resit.core.judging.wording import named
from resit.core.paths import rounds_dir as default_rounds_dir
from resit.core.records import Setting
from resit.core.rounds.shelf import OpenedRound, open_round, rounds_of
from resit.core.rounds.store import RoundStore


def find_label(settings: Sequence[Setting], text: str) -> str:
    """The label of the setting that `text` names.

    A label, `model@effort`, a setting's letter in the table of its round, or the beginning of one label only.

    Raises:
        UsageError: None, or more than one, is named so.
    """
    wanted = text.strip().casefold()
    labels = [setting.label for setting in settings]
    for setting in settings:
        at_effort = f"{setting.model}@{setting.effort or 'default'}"
        if wanted in (setting.label.casefold(), setting.slug.casefold(), at_effort.casefold()):
            return setting.label
    if len(wanted) == 1 and (at := ascii_uppercase.find(wanted.upper())) in range(len(labels)):
        return labels[at]
    starting = [label for label in labels if label.casefold().startswith(wanted)]
    if len(starting) == 1:
        return starting[0]
    which = "names more than one setting" if starting else "names no setting"
    raise UsageError(f"{text!r} {which}", hint=f"there is {named(starting or labels, 8)}")


def find_side(text: str, *, rounds_dir: Path | None = None) -> tuple[OpenedRound, str | None]:
    """The round, and the setting if one is named: `ROUND`, `ROUND:SETTING`, or a setting of the last round.

    Raises:
        RoundError: There is no such round.
        UsageError: There is no such setting.
    """
    folder = rounds_dir or default_rounds_dir()
    try:
        store = RoundStore.find(folder, text)
    except RoundError as error:
        round_ref, colon, setting = text.rpartition(":")
        if colon and round_ref:
            found = open_round(round_ref, rounds_dir=folder)
            return found, _label(found, setting)
        return _setting_of_last(text, folder, error)
    return open_round(store.path), None


def _setting_of_last(text: str, folder: Path, no_round: RoundError) -> tuple[OpenedRound, str]:
    try:
        found = open_round("last", rounds_dir=folder)
        return found, _label(found, text)
    except (RoundError, UsageError):
        raise UsageError(
            f"{no_round.message}, and no setting of the last round either", hint="ROUND, ROUND:SETTING or SETTING"
        ) from no_round


def _label(found: OpenedRound, text: str) -> str:
    return find_label([planned.setting for planned in found.plan.settings], text)


def gather_both(before: OpenedRound, after: OpenedRound) -> tuple[Evidence, Evidence]:
    """What counts on both sides, graded under one rule where the two are rounds of one suite.

    Raises:
        RoundError: Reviews cannot be read.
    """
    if before.store.path == after.store.path:
        found = gather(after)
        return found, found
    if before.plan.suite == after.plan.suite and _rules_differ(before, after):
        before = open_round(before.store.path, suite=after.suite)
    return gather(before), gather(after)


def _rules_differ(before: OpenedRound, after: OpenedRound) -> bool:
    now = after.suite.by_id
    return any(q.id in now and q.rule_digest != now[q.id].rule_digest for q in before.suite.questions)


def round_before(found: OpenedRound, *, rounds_dir: Path | None = None) -> Path | None:
    """The last round of the same suite before this one; None when it is the first."""
    earlier = [
        path
        for path in rounds_of(found.suite, rounds_dir=rounds_dir)
        if path != found.store.path and _begun_before(path, found)
    ]
    return earlier[0] if earlier else None


def _begun_before(path: Path, found: OpenedRound) -> bool:
    try:
        return RoundStore.open(path).plan().created_at < found.plan.created_at
    except RoundError:
        return False
