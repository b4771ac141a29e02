"""What is loaded when, seen from a fresh interpreter."""

from __future__ import annotations

import subprocess
import sys

LOAD_ALL = """
import importlib, pkgutil, resit.core
for found in pkgutil.walk_packages(resit.core.__path__, "resit.core."):
    importlib.import_module(found.name)
"""
LATE = "('textual', 'rich', 'anthropic', 'httpx2', 'genai_prices', 'openai', 'distributed')"


def _python(code: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-W", "error", "-c", code]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


def test_the_core_loads_no_terminal_and_no_sdk() -> None:
    done = _python(LOAD_ALL + f"import sys; print([m for m in {LATE} if m in sys.modules])")
    assert (done.returncode, done.stdout.strip(), done.stderr) == (0, "[]", "")


def test_the_core_prints_nothing_and_needs_nowhere_to_print() -> None:
    done = _python("import sys; sys.stdout.close(); sys.stderr.close()\n" + LOAD_ALL)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_the_program_itself_loads_neither_the_app_nor_the_sdk() -> None:
    done = _python(f"import sys, resit; print([m for m in {LATE} if m in sys.modules])")
    assert (done.returncode, done.stdout.strip()) == (0, "[]")


def test_the_first_screen_waits_for_no_model_of_a_suite() -> None:
    late = ("pydantic", "regex", "resit.core.rule", "resit.core.suite_file")
    load = "import sys, resit.cli, resit.tui.app, resit.tui.screens.suites"
    done = _python(f"{load}; print([m for m in {late} if m in sys.modules])")
    assert (done.returncode, done.stdout.strip()) == (0, "[]")
