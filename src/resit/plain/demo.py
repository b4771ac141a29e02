"""`resit demo` off a terminal: the recorded round, played through the real runner, as text."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from resit.core.printable import one_line
from resit.core.records import Row
from resit.core.rounds.session import NEW, prepare_round
from resit.core.suite import Suite
from resit.core.suite_file import load_suite
from resit.demo import demo_client, demo_label, demo_settings, demo_suite_path
from resit.plain.opened import Opened, open_round
from resit.plain.run import play
from resit.plain.show import print_round
from resit.plain.text import say

_EXAMPLES = 3


def main(args: argparse.Namespace) -> int:
    """Play the recording and print the table, strict and second rule side by side; 0."""
    client = demo_client()
    suite = load_suite(demo_suite_path())
    say(one_line(f"{suite.title}: {suite.about}"))
    say(one_line(demo_label(client.recording)))
    say()
    prepared = prepare_round(suite, demo_settings(client.recording), round=NEW, clients={"recorded": client})
    folder = play(prepared).folder
    found = open_round(folder)
    say()
    print_round(found)
    _print_lesson(found)
    return 0


def _print_lesson(found: Opened) -> None:
    """What the two rules beside each other tell, with replies that show it."""
    wording = [row for row in found.graded.rows if row.reason == "format"]
    trapped = [row for row in found.graded.rows if row.reason == "trap"]
    say()
    say("The strict rule wants the answer and nothing else; the second rule looks for it in the sentence.")
    say(f"{len(wording)} misses failed on wording alone:")
    _print_examples(found.suite, wording)
    if trapped:
        say(f"{len(trapped)} fell into a trap that the question sets:")
        _print_examples(found.suite, trapped)
    say()
    say(f"every miss in full: resit show {found.store.id} --misses; on a terminal `resit demo` opens the app")


def _print_examples(suite: Suite, rows: Sequence[Row]) -> None:
    first_of_each = {row.question: row for row in reversed(rows)}
    for row in list(reversed(first_of_each.values()))[:_EXAMPLES]:
        accepted = " | ".join(suite.by_id[row.question].accept)
        say(
            one_line(
                f"  {row.question}: accepted {accepted!r}, {row.model} said {one_line((row.reply or '').strip(), 60)!r}"
            )
        )
