"""Small commands that stand in for agents, and the way to ask them."""

from __future__ import annotations

import stat
import sys
import textwrap
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from resit.core.agents.command_client import CommandClient, Ground
from resit.core.agents.jail import best_isolation
from resit.core.calling.client import Delta, Listener
from resit.core.config import ModelsFile
from resit.core.records import Effort, Fault, Isolation, Reply, Request

MODEL = "my-agent"
BEST = best_isolation()
LEVELS: tuple[Isolation, ...] = tuple(dict.fromkeys((BEST, "none")))
"""The strongest isolation here, and none at all: what they must do alike."""


def write_program(folder: Path, name: str, code: str) -> Path:
    """A program of Python code, which has the prompt in `prompt`."""
    path = folder / name
    head = f"#!{sys.executable} -IS\nimport os, sys, time, signal, json\nprompt = sys.stdin.read()\n"
    path.write_text(head + textwrap.dedent(code))
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


def entry(program: Path, *arguments: str, **keys: Any) -> dict[str, Any]:
    """A `[models."my-agent"]` table that starts `program`."""
    return {"provider": "command", "command": [str(program), *arguments], **keys}


def request(prompt: str = "1+1?", *, effort: Effort | None = None, model: str = MODEL, **more: Any) -> Request:
    """A request for an agent."""
    return Request("command", model, prompt, None, 100, effort, "default", f"command:{model}", **more)


def client(
    table: Mapping[str, Any],
    *,
    isolation: Isolation = "none",
    environ: Mapping[str, str] | None = None,
    ground: Ground | None = None,
    model: str = MODEL,
) -> CommandClient:
    """Who asks the agent of one table."""
    models_file = ModelsFile.model_validate({"models": {model: dict(table)}})
    return CommandClient(models_file, ground or Ground(isolation=isolation), environ=environ)


async def ask(
    table: Mapping[str, Any],
    asked: Request | None = None,
    *,
    isolation: Isolation = "none",
    environ: Mapping[str, str] | None = None,
    listen: Listener | None = None,
) -> Reply | Fault:
    """Ask the agent of one table once."""
    return await client(table, isolation=isolation, environ=environ).ask(asked or request(), listen)


def heard() -> tuple[list[Delta], Callable[[Delta], None]]:
    """A list, and a listener that fills it."""
    found: list[Delta] = []
    return found, found.append


def processes_with(token: str) -> list[int]:
    """Processes whose command line holds `token`."""
    found = []
    for folder in Path("/proc").iterdir():
        try:
            if folder.name.isdigit() and token.encode() in (folder / "cmdline").read_bytes():
                found.append(int(folder.name))
        except OSError:
            continue
    return found
