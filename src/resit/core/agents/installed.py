"""Which agents can be asked from here: the person's own, and the presets whose program is installed."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Mapping
from datetime import date

from resit.core.agent_names import PRESETS, Preset
from resit.core.agents.presets import KNOWN, efforts_of
from resit.core.calling.models import ALIASES, ModelInfo
from resit.core.config import ModelsFile
from resit.core.records import Effort

_AS_OF = date(2026, 11, 30)
_MODELS: dict[Preset, tuple[str, ...]] = {
    "claude-code": tuple(ALIASES.values()),
    "codex": ("gpt-6-sol", "gpt-6.1-terra", "gpt-6-astra"),
    "gemini": ("gemini-3.8-flash",),
    "agy": ("gemini-3.8-flash", "claude-opus-5-5", "claude-sonnet-5-5"),
}
"""Models to be offered; any other can be named with `-m`."""


def agent_infos(models_file: ModelsFile, environ: Mapping[str, str] | None = None) -> tuple[ModelInfo, ...]:
    """What agents take, the person's own first; no program is started to find out."""
    own = tuple(_own(models_file))
    named = {info.id for info in own}
    return (*own, *(info for info in _installed(environ) if info.id not in named))


def _own(models_file: ModelsFile) -> Iterator[ModelInfo]:
    for model, entry in models_file.models.items():
        if entry.provider == "command":
            yield _info(model, efforts_of(entry), "models.toml")


def _installed(environ: Mapping[str, str] | None) -> Iterator[ModelInfo]:
    path = (os.environ if environ is None else environ).get("PATH", os.defpath)
    for preset in PRESETS:
        known = KNOWN[preset]
        if shutil.which(known.program, path=path) is not None:
            source = f"{known.program} on PATH" + ("" if known.tried else ", not tried by us")
            for model in _MODELS[preset]:
                yield _info(f"{preset}/{model}", known.efforts, source)


def _info(model: str, efforts: tuple[Effort, ...], source: str) -> ModelInfo:
    return ModelInfo(
        id=model,
        label=model,
        provider="command",
        efforts=efforts,
        thinking_off="impossible",
        source=source,
        as_of=_AS_OF,
    )
