"""`resit explain`: each question in a sentence, so that a person can say what a score means."""

from __future__ import annotations

import argparse

from resit.core.judging.explain import Explained, explain
from resit.core.printable import one_line
from resit.core.suite import Suite
from resit.core.suite_file import find_suite, load_suite
from resit.plain.text import plural, say, say_json


def main(args: argparse.Namespace) -> int:
    """Print what each question stands for, how it is graded and what it catches; 0."""
    suite = load_suite(find_suite(args.suite))
    told = [explain(question) for question in suite.questions]
    if args.json:
        say_json({"suite": suite.name, "title": suite.title, "about": suite.about, "questions": told})
        return 0
    _print_head(suite)
    for kind in dict.fromkeys(each.kind for each in told):
        say()
        say(one_line(kind))
        for each in told:
            if each.kind == kind:
                say(f"  {_sentence(each)}")
    return 0


def _print_head(suite: Suite) -> None:
    drafts = len(suite.questions) - len(suite.asked)
    besides = f", and {plural(drafts, 'draft')} that no model is asked" if drafts else ""
    say(one_line(f"{suite.title}: {plural(len(suite.asked), 'question')}{besides}"))
    if suite.about:
        say(one_line(suite.about))


def _sentence(each: Explained) -> str:
    said = f"{each.question}: {each.work}. {each.graded}. {each.trap}."
    return one_line(f"{said} A draft: it is not asked." if each.draft else said)
