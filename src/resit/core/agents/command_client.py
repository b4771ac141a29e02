"""Asks command-line agents: each request becomes a job, and each job a reply or a fault."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from resit.core.agents.canary import Canary
from resit.core.agents.job import AgentJob, run_agent
from resit.core.agents.presets import command_line, entry_of
from resit.core.agents.verify import CodeKey
from resit.core.calling.client import Listener
from resit.core.config import ModelsFile
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
        self, models_file: ModelsFile, ground: Ground, *, environ: Mapping[str, str] | None = None, run: Run = run_agent
    ) -> None:
        """Ask by presets and by the commands of `models_file`.

        Args:
            models_file: The person's models.
            ground: What all runs have in common.
            environ: Stands in for the process's environment.
            run: Does a job.
        """
        self._models_file = models_file
        self._ground = ground
        self._environ = environ
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
