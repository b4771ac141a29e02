"""The names of the agents whose ways are known; apart from all else, for the first screen needs it."""

from __future__ import annotations

from typing import Literal

Preset = Literal["claude-code", "codex", "gemini", "agy"]
PRESETS: tuple[Preset, ...] = ("claude-code", "codex", "gemini", "agy")
"""`claude-code/haiku` needs no entry in `models.toml`."""


def preset_of(model: str) -> Preset | None:
    """The preset that a model's name begins with: `codex` for `codex/gpt-6-sol`; None when with none."""
    name, slash, rest = model.partition("/")
    return next((preset for preset in PRESETS if preset == name and slash and rest), None)
