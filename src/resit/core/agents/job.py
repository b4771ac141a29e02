"""One run of a command-line agent: a job in, a reply or a fault out, on whatever machine it is done.

The way of a job: `scratch.prepare` makes the folders it may see, `jail.wrap` puts the command into its jail,
`process.run_command` runs it to its end, a reader in `outputs` says what came of it, and `workspace.verify` tries
what it made. Nothing here knows of rounds.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Literal

from resit.core.records import Request

PromptBy = Literal["stdin", "argument", "file"]
"""How a command gets its prompt."""
TIMEOUT_S = 1500.0
"""How long a run may take, unless `models.toml` says otherwise."""


@dataclass(frozen=True, slots=True)
class CommandLine:
    """How a command is started and how its output is read. Never goes through a shell."""

    name: str
    """Name of the preset, or of the model's entry in `models.toml`."""
    argv: tuple[str, ...]
    """With placeholders: {prompt}, {prompt_file}, {answer_file}, {folder}, {home}."""
    prompt_by: PromptBy = "stdin"
    reader: str = "text"
    """Which of the readers in `outputs` understands what it prints."""
    answer_path: str = ""
    """For the reader `json`: where the answer stands, as a small dotted path."""
    variables: tuple[str, ...] = ()
    """Names of the environment variables it gets beside the usual ones; no values, so that a job can be sent."""
    settings: tuple[tuple[str, str], ...] = ()
    """Variables with fixed values, none of them secret; values may hold placeholders."""
    logins: tuple[tuple[str, str], ...] = ()
    """Files it signs in with: where the person has one, `~` allowed, and its place in the private home."""


@dataclass(frozen=True, slots=True)
class AgentJob:
    """All that one run of an agent needs. It can be pickled and holds no key's value."""

    request: Request
    command: CommandLine
    hide: tuple[Path, ...] = ()
    """Folders the agent must never read: suites, keys, other runs, what resit keeps."""
    markers: tuple[str, ...] = ()
    """Texts that stand only among the keys: where one shows up in what the agent wrote, the key was seen."""
    key_side: object | None = None
    """What verifies a workspace afterwards; known to `workspace` alone and never shown to the agent."""
    writable: bool = False
    """Whether the agent may write in its folder: only where the question has a workspace."""
    timeout_s: float = TIMEOUT_S
    budget_usd: Decimal | None = None
    """What the command itself is told to stop at; a brake, not a promise."""


@dataclass(frozen=True, slots=True)
class JailSpec:
    """What a command may see and touch on this machine."""

    folder: Path
    """Where it runs."""
    home: Path
    """Its private home, which it may write; outside every temporary folder, or codex cannot work."""
    readable: tuple[Path, ...] = ()
    """What else it must read although it may lie in a hidden place: its own program, its interpreter."""
    writable: tuple[Path, ...] = ()
    """What it may write: its folder where there is a workspace, the place of its answer, its login files."""
    hidden: tuple[Path, ...] = ()
    """What it must not read, whatever else allows it; the person's home is hidden beside these."""
