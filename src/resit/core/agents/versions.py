"""Which version of an agent's command answers, read from where it is installed: no program is started for it."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from resit.core.agent_names import Preset, preset_of
from resit.core.agents.presets import KNOWN
from resit.core.records import Setting

_NUMBER = re.compile(r"\d+\.\d+\.\d+[\w.+-]*")
_LEVELS = 4
"""How far above a program its package may begin."""


def command_versions(settings: Iterable[Setting]) -> dict[str, str]:
    """The versions of the presets among `settings`, by preset, as far as their installation says."""
    presets = dict.fromkeys(
        preset for each in settings if each.provider == "command" and (preset := preset_of(each.model))
    )
    found = {preset: installed_version(preset) for preset in presets}
    return {preset: number for preset, number in found.items() if number}


def installed_version(preset: Preset, path: str | None = None) -> str:
    """The version of a preset's program; empty when it cannot be told."""
    program = shutil.which(KNOWN[preset].program, path=path)
    if program is None:
        return ""
    real = Path(os.path.realpath(program))
    # The native installer of Claude Code names each program by its version.
    if _NUMBER.fullmatch(real.name):
        return real.name
    for folder in list(real.parents)[:_LEVELS]:
        with suppress(OSError, ValueError):
            package = json.loads((folder / "package.json").read_text(encoding="utf-8"))
            if isinstance(package, dict) and isinstance(package.get("version"), str):
                return package["version"] if _NUMBER.fullmatch(package["version"]) else ""
    return ""
