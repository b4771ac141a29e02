"""Every test starts in an empty folder of its own, with no key, settings, network address, local server or agent."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from saved_round import app_on, round_path, suite, view  # noqa: F401 - fixtures of the screens' tests


@pytest.fixture(autouse=True)
def _nothing_leaks(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        if (
            name.startswith(("ANTHROPIC_", "OPENAI_", "RESIT_", "GEMINI_", "CLAUDE_CODE_", "CODEX_"))
            or name == "NO_COLOR"
            or name.lower().endswith("_proxy")
        ):
            monkeypatch.delenv(name)
    monkeypatch.setenv("RESIT_HOME", str(tmp_path_factory.mktemp("resit-home")))
    monkeypatch.setattr("resit.core.calling.local_servers.LOCAL_URLS", {})
    monkeypatch.setattr("resit.core.agents.installed.PRESETS", ())
    monkeypatch.chdir(tmp_path)
