"""`resit export`: a round's rows for other programs, or one page for other people."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from resit.core.errors import UsageError
from resit.core.judging.export import rows_csv, rows_jsonl
from resit.core.judging.export_html import page
from resit.core.judging.note import decision
from resit.core.judging.sheet import make_sheet
from resit.core.paths import atomic_write
from resit.core.rounds.shelf import OpenedRound, open_round
from resit.plain.text import note

FORMATS = ("csv", "jsonl", "html")


def main(args: argparse.Namespace) -> int:
    """Write to `--output`, else to standard output; 0."""
    found = open_round(args.round)
    for text in (found.note, *found.damaged):
        if text:
            note(text)
    data = exported(found, args.format).encode()
    if args.output is None:
        sys.stdout.flush()
        sys.stdout.buffer.write(data)
        return 0
    try:
        atomic_write(Path(args.output), data)
    except OSError as error:
        raise UsageError(f"{args.output} cannot be written: {error.strerror}", hint="-o names a file") from error
    return 0


def exported(found: OpenedRound, form: str) -> str:
    """A round in one of `FORMATS`."""
    match form:
        case "csv":
            return rows_csv(found.rows)
        case "jsonl":
            return rows_jsonl(found.rows)
        case _:
            return page(make_sheet(found), decision(found.store))
