"""What bubblewrap is told: the whole disk read-only, empty folders over what is hidden, and few things writable.

Three things decide whether the jail holds. Started by root, bubblewrap leaves its command all of root's power, with
which it takes an empty folder off again: every capability is dropped. What remains of root owns the kernel's settings
in /proc, and could write them: they are read-only. And bubblewrap's own process is the first one inside, whose
environment anybody there can read: it is started with the command's own.
"""

from __future__ import annotations

import functools
import os
import shutil
import subprocess
from pathlib import Path

from resit.core.agents.areas import RESOLVER, Areas
from resit.core.agents.limits import MB

TMP = "/tmp"
TMP_MB, SHARED_MB = 1024, 256
"""What lies in these takes memory, so they are bounded where bubblewrap can."""
BASE = ("--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-cgroup-try", "--die-with-parent",
        "--cap-drop", "ALL")  # fmt: skip
ROOT = ("--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc")
SETTINGS = ("sys", "sysrq-trigger", "irq", "bus", "fs", "acpi", "scsi", "mtrr")
"""What in /proc belongs to root. An ordinary user cannot write there anyhow, and may then mount a /proc of its own:
agents that jail their own commands need that."""
PROBE = (*BASE, "--unshare-net", *ROOT, "--tmpfs", TMP)


@functools.cache
def _knows(option: str) -> bool:
    """Whether this bubblewrap has an option; Ubuntu 22.04 has 0.6, without some of them."""
    program = shutil.which("bwrap") or "bwrap"
    try:
        done = subprocess.run([program, "--help"], capture_output=True, text=True, timeout=10, env={})
    except (OSError, subprocess.TimeoutExpired):
        return False
    return option in done.stdout + done.stderr


def mounted_home(home: Path) -> Path:
    """Where the private home is seen: in the place of the person's own, unless that is not there."""
    person = Path.home().resolve()
    return person if person.is_dir() and person != Path("/") else home


def options(scratch: Path, home: Path, areas: Areas, *, writable: bool, network: bool) -> list[str]:
    """The options of bubblewrap for one command.

    Args:
        scratch: Where it starts.
        home: Its private home.
        areas: What it must not see, and what it needs of that.
        writable: Whether it may write in `scratch`.
        network: Whether it may use the network; without, it cannot make jails of its own either.
    """
    found = [*BASE, *ROOT]
    if os.geteuid() == 0:
        found += [part for name in SETTINGS for part in ("--ro-bind-try", f"/proc/{name}", f"/proc/{name}")]
    if not network:
        found += ["--unshare-net", *(["--disable-userns"] if _knows("--disable-userns") else [])]
    mounts = _Mounts()
    for name, megabytes in ((TMP, TMP_MB), ("/var/tmp", TMP_MB), ("/dev/shm", SHARED_MB)):
        mounts.empty(Path(name), megabytes)
    # Sockets of services that do things for the person, outside of any jail.
    mounts.empty(Path("/run"), 1, sealed=True)
    if network:
        mounts.bind(RESOLVER.resolve(), write=False)
    for path, hidden in areas.ordered:
        if not hidden:
            mounts.bind(path, write=False)
        elif path.is_dir():
            mounts.empty(path, 1, sealed=True)
        else:
            mounts.blank(path)
    mounts.bind(home, write=True)
    mounts.bind(home, write=True, at=mounted_home(home))
    mounts.bind(scratch, write=writable)
    return [*found, *mounts.options, "--remount-ro", "/dev", "--chdir", str(scratch)]


class _Mounts:
    """Mounts, to be made from the outer to the inner."""

    def __init__(self) -> None:
        self._made: dict[Path, list[str]] = {}
        self._empty: set[Path] = set()
        self._sealed: set[Path] = set()

    def empty(self, path: Path, megabytes: int, *, sealed: bool = False) -> None:
        """An empty folder; a sealed one stays empty."""
        path = path.resolve()
        if not path.is_dir() or path in self._made:
            return
        size = ["--size", str(megabytes * MB)] if _knows("--size") else []
        self._put(path, [*size, "--tmpfs", str(path)])
        self._empty.add(path)
        if sealed:
            self._sealed.add(path)

    def blank(self, path: Path) -> None:
        """A file that cannot be opened: devices do not work on such a mount."""
        self._put(path, ["--ro-bind", "/dev/null", str(path)])

    def bind(self, path: Path, *, write: bool, at: Path | None = None) -> None:
        """Something as it is; later ones win over earlier ones at the same place."""
        place = at or path
        self._empty.discard(place)
        self._sealed.discard(place)
        self._put(place, ["--bind" if write else "--ro-bind", str(path), str(place)])

    def _put(self, path: Path, option: list[str]) -> None:
        self._made[path] = option

    @property
    def options(self) -> list[str]:
        """All of them in order."""
        found: list[str] = []
        sealed = []
        for path in sorted(self._made, key=lambda path: len(path.parts)):
            above = next((out for out in path.parents if out in self._made), None)
            hides = path in self._empty or self._made[path][0:2] == ["--ro-bind", "/dev/null"]
            # Nothing is there any more to be hidden, and its name need not be told.
            if hides and above is not None and (above in self._empty or self._made[above][0] == "--bind"):
                continue
            found += self._made[path]
            if path in self._sealed:
                sealed += ["--remount-ro", str(path)]
        return [*found, *sealed]
