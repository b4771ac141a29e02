"""What the app remembers of its person: theme, keys, the last choice per suite."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import tomli_w

from resit.core.errors import ConfigError


class Preferences:
    """Two small files: `app.toml`, which the app writes, and `resit.toml`, which a person writes and it only reads."""

    def __init__(self, folder: Path | None) -> None:
        """Read both from `folder`.

        Args:
            folder: Where settings live; None remembers nothing (tests).

        Raises:
            ConfigError: `resit.toml` cannot be read or names keys that are no strings.
        """
        self.folder = folder
        self._kept: dict[str, Any] = _read(folder / "app.toml", strict=False) if folder else {}
        self.keys: dict[str, str] = _keys(folder / "resit.toml") if folder else {}

    def recall(self, *names: str) -> Any:
        """What was remembered under `names`, or None."""
        value: Any = self._kept
        for name in names:
            if not isinstance(value, dict) or name not in value:
                return None
            value = value[name]
        return value

    def remember(self, value: Any, *names: str) -> str:
        """Keep `value` under `names`; a sentence when that could not be written, else empty."""
        *folders, last = names
        table = self._kept
        for name in folders:
            table = table.setdefault(name, {})
        table[last] = value
        if self.folder is None:
            return ""
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            part = self.folder / "app.toml.part"
            part.write_text(tomli_w.dumps(self._kept), encoding="utf-8")
            part.replace(self.folder / "app.toml")
        except OSError as error:
            return f"Not remembered: {error.strerror or error}"
        return ""


def _read(path: Path, *, strict: bool) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        if strict:
            raise ConfigError(f"{path}: {error}", hint="mend it or move it away") from error
        # What the app remembers by itself is never worth refusing to start for.
        return {}


def _keys(path: Path) -> dict[str, str]:
    keys = _read(path, strict=True).get("keys", {})
    if not isinstance(keys, dict) or not all(isinstance(key, str) for key in keys.values()):
        raise ConfigError(f'{path}: [keys] holds lines like "results.sort" = "o"')
    return dict(keys)
