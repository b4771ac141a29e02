"""How much a jailed command may take of the machine before all of it is ended."""

from __future__ import annotations

from dataclasses import dataclass

MB = 1024 * 1024
_OWN_PROGRAM_MB = 4096


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds on a command and all that it starts. None: not bounded."""

    seconds: float | None = None
    """Wall time; whoever waits for an agent keeps time itself, so that it may be asked to finish first."""
    memory_mb: int | None = None
    """Resident memory of all processes together."""
    processes: int = 512
    """Processes and threads at a time."""
    file_mb: int = 1024
    """Largest file that may be written."""
    disk_mb: int = 2048
    """All that may lie in its folders together."""
    files: int = 50_000
    """Files in its folders together."""

    @property
    def address_mb(self) -> int | None:
        """What one process may map: the watch over memory looks ten times a second, this holds between two looks.

        Node maps 10 GB for a WebAssembly memory of 64 kB, so what is mapped says little; an agent's own program is
        not bounded this way at all.
        """
        return None if self.memory_mb is None or self.memory_mb > _OWN_PROGRAM_MB else 32 * self.memory_mb


AGENT = Limits(memory_mb=8192, processes=1024)
"""For an agent's run."""
VERIFY = Limits(seconds=120.0, memory_mb=2048, processes=256, file_mb=256, disk_mb=1024)
"""For the command that decides about a workspace."""
