"""What the tests of rounds from the command line share: a tiny suite, and a server that answers it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from mock_server import MockServer, serve_in_thread

KEY = "sk-ant-planted-0123456789abcdef"
ANSWERS = {"1+1?": "2", "2+2?": "It is 4.", "3+3?": "7"}
TINY = """\
title = "Tiny"
max_tokens = 100

[variants.long]
append = "Think first."

[[questions]]
id = "one"
kind = "easy"
prompt = "1+1?"
accept = ["2"]

[[questions]]
id = "two"
kind = "easy"
prompt = "2+2?"
accept = ["4"]
rule = "numeric"
second_rule = "number_in_reply"

[[questions]]
id = "three"
kind = "hard"
prompt = "3+3?"
accept = ["6"]
traps = [{ reply = "7", why = "one too many" }]
"""


def write_suite(folder: Path) -> str:
    """Three questions: one answered right, one where only the wording is off, one answered with its trap."""
    path = folder / "tiny.toml"
    path.write_text(TINY)
    return str(path)


@contextmanager
def serving(monkeypatch: pytest.MonkeyPatch, latency_s: float = 0.0) -> Iterator[MockServer]:
    """A Messages server on loopback, and the environment that leads to it."""
    with serve_in_thread(MockServer(answers=ANSWERS, latency_s=latency_s)) as server:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
        monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
        yield server
