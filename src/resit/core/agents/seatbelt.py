"""What sandbox-exec of macOS is told. Written from its documentation; not yet tried on a real one."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from resit.core.agents.areas import Areas

PROBE = "(version 1)(allow default)"


def profile(areas: Areas, write: Iterable[Path], *, network: bool) -> str:
    """The profile: all may be read but what is hidden, nothing written but `write`. The last rule that fits decides."""
    lines = [
        PROBE,
        "(deny file-write*)",
        f'(allow file-write* {_all(write)} (subpath "/dev"))',
    ]
    for path, hidden in areas.ordered:
        lines.append(
            f"(deny file-read* file-write* {_all([path])})" if hidden else f"(allow file-read* {_all([path])})"
        )
    lines.append(f"(allow file-read* file-write* {_all(write)})")
    return "".join(lines if network else [*lines, "(deny network*)"])


def _all(paths: Iterable[Path]) -> str:
    return " ".join(f"(subpath {_quoted(str(path.resolve()))})" for path in paths)


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
