"""What a command can see and touch: wraps it in the strongest isolation that this system has.

Strongest first: bubblewrap, sandbox-exec, Landlock, the command's own rules, none. Under the last two nothing is kept
from it but the environment; its folders, its bounds and its end are the same everywhere.
"""

from __future__ import annotations

import functools
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from resit.core.agents import bubblewrap, landlock, launcher, seatbelt
from resit.core.agents.areas import Areas, hidden_areas, program_roots
from resit.core.agents.limits import AGENT, Limits
from resit.core.records import Isolation

__all__ = ["JailSpec", "Wrapped", "best_isolation", "hidden_areas", "inner_home", "program_roots", "wrap"]

_PROBE_S = 10.0
_PASSED_ON = ("PATH", "LANG", "LC_ALL", "TZ")


@dataclass(frozen=True, slots=True)
class JailSpec:
    """What a jailed command gets."""

    scratch: Path
    """Folder it starts in."""
    writable: bool
    """Whether it may write there."""
    home: Path
    """Folder that stands in for the person's home: HOME, always writable, what `env` says of HOME is overruled. It is
    seen at its own path everywhere, and under bubblewrap at the home's own path as well, which is then HOME."""
    hidden: tuple[Path, ...] = ()
    """Folders and files it must not see; the person's home is always hidden."""
    readable: tuple[Path, ...] = ()
    """Folders and files it may read though they lie within something hidden: its program."""
    env: Mapping[str, str] | None = None
    """All of its environment; None gives it PATH and the language alone."""
    network: bool = True
    limits: Limits = AGENT


@dataclass(frozen=True, slots=True)
class Wrapped:
    """How to start a jailed command: `Popen(argv, env=env, start_new_session=True)`, any working directory.

    The process that is started stays above the command and ends as it ends (128 + N for signal N). SIGINT is handed on
    to the command alone, SIGTERM ends all that it started, SIGKILL too where the jail has its own processes.
    """

    argv: tuple[str, ...]
    env: dict[str, str]
    stopped: Path
    """File that says in one line why all was ended, when a limit was passed; else it is not there."""


@functools.cache
def best_isolation() -> Isolation:
    """The strongest isolation that works here: looked for once, by trying it. `none` where there is nothing."""
    # Some systems have bubblewrap and forbid what it needs, so only a start of all that is used proves it.
    program = shutil.which("bwrap")
    if program is not None and _works([program, *bubblewrap.PROBE, "true"]):
        return "bubblewrap"
    program = shutil.which("sandbox-exec") if sys.platform == "darwin" else None
    if program is not None and _works([program, "-p", seatbelt.PROBE, "/usr/bin/true"]):
        return "sandbox-exec"
    return "landlock" if sys.platform == "linux" and landlock.version() else "none"


def _works(argv: Sequence[str]) -> bool:
    try:
        done = subprocess.run(argv, env={}, capture_output=True, stdin=subprocess.DEVNULL, timeout=_PROBE_S)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0


def inner_home(home: Path, isolation: Isolation) -> Path:
    """Where a command finds its private home: HOME inside."""
    return bubblewrap.mounted_home(home) if isolation == "bubblewrap" else home


def wrap(argv: Sequence[str], spec: JailSpec, isolation: Isolation) -> Wrapped:
    """The command that runs `argv` as `spec` says, under `isolation`."""
    temporary = Path(bubblewrap.TMP) if isolation == "bubblewrap" else spec.home / ".tmp"
    if isolation != "bubblewrap":
        temporary.mkdir(exist_ok=True)
    env = dict(spec.env if spec.env is not None else {n: os.environ[n] for n in _PASSED_ON if n in os.environ})
    env |= {"HOME": str(inner_home(spec.home, isolation)), "TMPDIR": str(temporary), "PWD": str(spec.scratch)}
    # Beside what the command sees, so that it finds neither.
    place = Path(tempfile.mkdtemp(prefix="jail-", dir=spec.home.parent))
    order = _order(list(argv), spec, isolation) | {"stopped": str(place / "stopped"), "variables": list(env)}
    (place / "order.json").write_text(json.dumps(order), encoding="utf-8")
    script = str(Path(launcher.__file__).resolve())
    return Wrapped((sys.executable, "-I", "-S", script, str(place / "order.json")), env, place / "stopped")


def _order(argv: list[str], spec: JailSpec, isolation: Isolation) -> dict[str, Any]:
    """What the launcher is to do."""
    # Where other runs have their folders.
    areas = Areas.of((*spec.hidden, Path(tempfile.gettempdir())), spec.readable)
    watched = [spec.home, *([spec.scratch] if spec.writable else [])]
    order: dict[str, Any] = {
        "kind": "plain",
        "argv": argv,
        "cwd": str(spec.scratch),
        "network": spec.network,
        "limits": {**asdict(spec.limits), "address_mb": spec.limits.address_mb},
        "watched": [str(folder) for folder in watched],
    }
    write = (spec.home, *([spec.scratch] if spec.writable else []))
    match isolation:
        case "bubblewrap":
            options = bubblewrap.options(spec.scratch, spec.home, areas, writable=spec.writable, network=spec.network)
            order |= {"kind": "bwrap", "bwrap": shutil.which("bwrap") or "bwrap", "options": options}
        case "sandbox-exec":
            profile = seatbelt.profile(areas, write, network=spec.network)
            order["argv"] = ["sandbox-exec", "-p", profile, *argv]
        case "landlock":
            read, written = areas.allowed(spec.scratch, write)
            order |= {"kind": "landlock", "read": read, "write": written}
        case "command's own rules" | "none":
            pass
    return order
