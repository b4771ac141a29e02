"""A suite with one code question, and what an agent may leave in its workspace."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from resit.core.agents.areas import hidden_areas
from resit.core.agents.scratch import Scratch, prepare
from resit.core.agents.verify import code_key, verify
from resit.core.records import Isolation, Request, Verified
from resit.core.suite import Question, Suite
from resit.core.suite_file import load_suite

SOLVED = "def add(a, b):\n    return a + b\n"
FILES = {
    "given/calc.py": "def add(a, b):\n    return a - b\n",
    "given/tests/__init__.py": "",
    "given/tests/test_given.py": (
        "import unittest\nfrom calc import add\nclass Given(unittest.TestCase):\n"
        "    def test_nothing(self): self.assertEqual(add(5, 0), 5)\n"
        "    def test_small(self): self.assertEqual(add(1, 1), 2)\n"
    ),
    "kept/tests/test_kept.py": (
        "import unittest\nfrom calc import add\nclass Kept(unittest.TestCase):\n"
        "    def test_large(self): self.assertEqual(add(400, 8), 408)\n"
        "    def test_zero(self): self.assertEqual(add(0, 0), 0)\n"
    ),
}
VERIFY = "python -m unittest discover -v -s tests -t ."
GIVEN, KEPT = "tests.test_given.Given", "tests.test_kept.Kept"


def code_suite(folder: Path, monkeypatch: pytest.MonkeyPatch, *, command: str = VERIFY, more: str = "") -> Suite:
    """A suite in `folder` whose question is decided by Python's own test runner."""
    for name, text in FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    (folder / "code.toml").write_text(
        'title = "Code"\n[[questions]]\nid = "add"\nprompt = "Mend add in calc.py."\nworkspace = "given"\n'
        f"protect = ['tests/**', 'conftest.py']\nhidden = \"kept\"\nverify = '''{command}'''\n{more}\n"
    )
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    return load_suite(folder / "code.toml")


def request_for(suite: Suite, question: Question | None = None) -> Request:
    """What an agent is asked of the suite's question."""
    asked = question or suite.questions[0]
    assert suite.path is not None
    return Request(
        "command", "agent", asked.prompt, None, 100, None, "default", "command:agent",
        workspace=suite.path.parent / (asked.workspace or ""), workspace_digest=asked.workspace_digest,
    )  # fmt: skip


def begin(suite: Suite) -> Scratch:
    """The folders of a run."""
    return prepare(request_for(suite), outside=hidden_areas(suite))


def verdict(suite: Suite, scratch: Scratch, isolation: Isolation) -> Verified:
    """What is found out about what lies in the folders of a run."""
    key = code_key(suite, suite.questions[0])
    assert key is not None
    return verify(scratch, key, isolation, hidden_areas(suite))
