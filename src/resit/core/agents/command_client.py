"""Asks command-line agents: each request becomes a job, and each job a reply or a fault."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from resit.core.agents.canary import Canary
from resit.core.agents.job import AgentJob, run_agent
from resit.core.agents.presets import command_line, entry_of
from resit.core.agents.verify import CodeKey
from resit.core.calling.client import Listener
from resit.core.config import ModelsFile, find_key
from resit.core.records import Fault, Isolation, Reply, Request

Run = Callable[[AgentJob, Listener | None, Mapping[str, str] | None], Awaitable[Reply | Fault]]
"""Does a job, here or on another machine."""


@dataclass(frozen=True, slots=True)
class Ground:
    """What all runs of agents in a round have in common."""

    hidden: tuple[Path, ...] = ()
    """Folders and files that no agent may see."""
    isolation: Isolation | None = None
    """None: the strongest that the machine has."""
    canary: Canary | None = None
    """What shows that the keys were seen."""
    code_keys: Mapping[str, CodeKey] = field(default_factory=dict)
    """What decides about a workspace, by the digest of the request it is given with."""


class CommandClient:
    """Starts one command for each request."""

    def __init__(
        self,
        models_file: ModelsFile,
        ground: Ground,
        *,
        environ: Mapping[str, str] | None = None,
        cwd: Path | None = None,
        run: Run = run_agent,
    ) -> None:
        """Ask by presets and by the commands of `models_file`.

        Args:
            models_file: The person's models.
            ground: What all runs have in common.
            environ: Stands in for the process's environment.
            cwd: Where the search for `.env` starts, for the variables that `models.toml` names; None looks for none.
            run: Does a job.

        Raises:
            ConfigError: What was found in `.env` cannot be a key.
        """
        self._models_file = models_file
        self._ground = ground
        self._environ = environ if cwd is None else _with_dotenv(models_file, environ, cwd)
        self._run = run

    def job(self, request: Request) -> AgentJob:
        """What is to be run for a request."""
        entry = entry_of(request.model, self._models_file)
        return AgentJob(
            request=request,
            command=command_line(request, entry),
            hidden=self._ground.hidden,
            canary=self._ground.canary,
            key=self._ground.code_keys.get(request.digest()) if request.workspace is not None else None,
            isolation=self._ground.isolation,
            timeout_s=entry.timeout_s,
        )

    async def ask(self, request: Request, listen: Listener | None = None) -> Reply | Fault:
        """Run the command; `listen` hears what the agent says as it says it."""
        return await self._run(self.job(request), listen, self._environ)

    async def close(self) -> None:
        """Take what was planted for the round away."""
        if self._ground.canary is not None:
            self._ground.canary.remove()


def _with_dotenv(models_file: ModelsFile, environ: Mapping[str, str] | None, cwd: Path) -> dict[str, str]:
    """The environment, with what `.env` says of the variables that the person's own entries name.

    Not of those that a preset takes by itself: the person's plan would then be passed over for a key that pays anew.
    """
    found = dict(os.environ if environ is None else environ)
    for entry in models_file.models.values():
        for name in (*entry.env, *((entry.key,) if entry.provider == "command" and entry.key else ())):
            key = find_key(name, cwd, found)
            if key is not None:
                found[name] = key.reveal()
    return found
