"""`resit note`: a round's result, written down, or held against its stored replies."""

from __future__ import annotations

import argparse
from dataclasses import replace

from resit.core.errors import RoundError
from resit.core.judging.note import NOTE, note_faults, read_note, write_note
from resit.core.judging.sheet import make_sheet
from resit.core.rounds.shelf import OpenedRound, open_round
from resit.plain.text import note, say

DIFFERS = 1
_LISTED = 5


def main(args: argparse.Namespace) -> int:
    """Write the note and say where it is; with `--check` say whether each line of it follows from the replies."""
    found = open_round(args.round)
    for text in (found.note, *found.damaged):
        if text:
            note(text)
    if args.check:
        return _check(found)
    said = write_note(found.store, make_sheet(found))
    if said:
        note(said)
    say(str(found.store.path / NOTE))
    return 0


def _check(found: OpenedRound) -> int:
    """Grade every reply afresh, make the note again and compare; 1 when they differ."""
    text = read_note(found.store)
    if text is None:
        raise RoundError(f"round {found.store.id} has no note", hint=f"resit note {found.store.id} writes it")
    afresh = found.keeper.grade(found.suite, found.plan, afresh=True)
    faults = note_faults(text, make_sheet(replace(found, graded=afresh)))
    for fault in faults[:_LISTED]:
        note(fault)
    if faults:
        more = f", {len(faults) - _LISTED} more" if len(faults) > _LISTED else ""
        note(f"the note does not follow from the stored replies{more}: resit note {found.store.id} writes it again")
        return DIFFERS
    say("every line of the note follows from the stored replies")
    return 0
