"""`resit logs prompt`: a prompt for the person's own agent, which writes a suite out of their work."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from resit.core.logs.starter import starter_prompt
from resit.plain.text import say


def main(argv: Sequence[str]) -> int:
    """Print it; 0."""
    about = "Print a prompt to give to your own agent: it writes a suite out of your work that `resit check` accepts."
    argparse.ArgumentParser(prog="resit logs prompt", description=about).parse_args(argv)
    say(starter_prompt().rstrip("\n"))
    return 0
