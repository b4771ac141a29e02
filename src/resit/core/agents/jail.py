"""What a command can see and touch: wraps it in the strongest isolation that this system has."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from resit.core.agents.limits import AGENT, Limits
from resit.core.records import Isolation


@dataclass(frozen=True, slots=True)
class JailSpec:
    """What a jailed command gets."""

    scratch: Path
    """Folder it starts in."""
    writable: bool
    """Whether it may write there."""
    home: Path
    """Folder that stands in for the person's home: HOME, always writable. Under bubblewrap it appears at the home's
    own path, elsewhere HOME points to it: what `env` says of HOME and TMPDIR is overruled."""
    hidden: tuple[Path, ...] = ()
    """Folders and files it must not see; the person's home is always hidden."""
    readable: tuple[Path, ...] = ()
    """Folders and files it may read though they lie within something hidden: its program, its sign-in."""
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


def best_isolation() -> Isolation:
    """The strongest isolation that works here: looked for once, by trying it. `none` where there is nothing."""
    raise NotImplementedError


def wrap(argv: Sequence[str], spec: JailSpec, isolation: Isolation) -> Wrapped:
    """The command that runs `argv` as `spec` says, under `isolation`."""
    raise NotImplementedError


def hidden_areas(suite_path: Path | None, *, cwd: Path | None = None) -> tuple[Path, ...]:
    """What no agent may see: the suite's folder, all that resit keeps, agents' histories, `.env` files."""
    raise NotImplementedError


def program_roots(program: str, path: str) -> tuple[Path, ...]:
    """Folders that a program needs to be readable to start, when it is installed under the person's home.

    Args:
        program: Name or path of the command.
        path: The PATH it is looked for in.
    """
    raise NotImplementedError
