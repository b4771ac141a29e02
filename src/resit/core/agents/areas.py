"""Which parts of the disk an agent must never see, and which it needs to start at all."""

from __future__ import annotations

import os
import pwd
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from resit.core.edits import all_edits_paths
from resit.core.paths import cache_dir, config_dir, data_dir, rounds_dir
from resit.core.suite import Suite

SYSTEM = tuple(
    map(Path, ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/etc", "/opt", "/nix", "/snap", "/proc", "/sys"))
)
"""Where a system keeps its programs and what they read."""
DEVICES = tuple(Path("/dev", name) for name in ("null", "zero", "full", "random", "urandom", "tty", "fd"))
RESOLVER = Path("/etc/resolv.conf")
ELSEWHERE = (
    "CLAUDE_CONFIG_DIR", "CODEX_HOME", "GEMINI_CLI_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME",
    "XDG_CACHE_HOME",
)  # fmt: skip
"""Variables by which a person keeps outside of their home what usually lies in it: histories, settings, tokens."""
_MOST_LINKS = 400
"""Entries of a folder of programs that are looked at."""


def person_homes() -> tuple[Path, ...]:
    """The person's home: as the environment names it, and as the system does."""
    found = [Path(os.path.expanduser("~"))]
    with suppress(KeyError):
        found.append(Path(pwd.getpwuid(os.getuid()).pw_dir))
    homes = (home.resolve() for home in found if home.is_absolute())
    return tuple(dict.fromkeys(home for home in homes if home.is_dir() and not _holds_system(home)))


def hidden_areas(suite: Suite | None, *, cwd: Path | None = None) -> tuple[Path, ...]:
    """What no agent may see: the suite and its folder, all that resit keeps, every `.env` from `cwd` upwards.

    Args:
        suite: The suite that is asked.
        cwd: Folder from which keys are looked for; None is the present one.
    """
    here = cwd or Path.cwd()
    found = [
        data_dir(),
        config_dir(),
        cache_dir(),
        rounds_dir(),
        *(folder / ".env" for folder in (here, *here.parents)),
    ]
    elsewhere = (Path(os.environ[name]) for name in ELSEWHERE if os.path.isabs(os.environ.get(name, "")))
    found += [path for path in elsewhere if not _holds_system(path)]
    if suite is not None and suite.path is not None:
        found += suite_area(suite, suite.path)
    return tuple(dict.fromkeys(path.resolve() for path in found if path.exists()))


def suite_area(suite: Suite, path: Path) -> tuple[Path, ...]:
    """The folder of a suite's file; its own files alone, where other programs need that folder."""
    folder = path.resolve().parent
    edits = all_edits_paths(path, data_dir() / "edits")
    if not _holds_system(folder):
        return (folder, path.resolve(), *edits)
    named = [name for q in suite.questions for name in (*q.files, q.workspace, q.hidden) if name]
    return (path.resolve(), *(folder / name for name in named), *edits)


def _holds_system(folder: Path) -> bool:
    """Whether hiding `folder` would hide the system or the place of temporary files."""
    needed = (*SYSTEM, Path(tempfile.gettempdir()))
    return any(folder == place or folder in place.parents for place in (*needed, *(n.resolve() for n in needed)))


def program_roots(program: str, path: str) -> tuple[Path, ...]:
    """Folders that a program and those it may call need to be readable: the installations that PATH leads to.

    Args:
        program: Name or path of the command; empty for PATH alone.
        path: The PATH it is looked for in.
    """
    entries = [Path(entry) for entry in path.split(os.pathsep) if os.path.isabs(entry)]
    found = shutil.which(program, path=path) if program else None
    if found is not None:
        entries.insert(0, Path(found).absolute().parent)
    roots: list[Path] = []
    for entry in dict.fromkeys(entries):
        if entry.is_dir() and not _is_system(entry.resolve()):
            roots += [entry, *_installations(entry, Path(found) if found else None)]
    # The programs in ~/.cargo/bin only call those in here.
    roots += [home / ".rustup" for home in person_homes() if home / ".cargo/bin" in entries]
    return tuple(dict.fromkeys(root.resolve() for root in roots if root.exists()))


def _installations(folder: Path, program: Path | None) -> Iterator[Path]:
    """Where the programs in a folder live: links lead away from it, and an environment stands around its `bin`."""
    if (root := _installation(folder)) is not None:
        yield root
    with suppress(OSError):
        for number, entry in enumerate(os.scandir(folder)):
            if number >= _MOST_LINKS and (program is None or entry.path != str(program)):
                continue
            if entry.is_symlink():
                target = Path(os.path.realpath(entry.path))
                if target.is_file() and not _is_system(target):
                    yield _installation(target.parent) or target.parent


def _installation(folder: Path) -> Path | None:
    """The folder around a `bin`, when it is one that a single installation has for itself."""
    around = folder.resolve().parent
    if folder.name == "shims":  # of pyenv, asdf, mise: each calls what lies beside
        return around
    # ~/.local and the like hold the data of other programs beside their `bin`.
    marks = ("pyvenv.cfg", "include", "lib/node_modules")
    own = any((around / mark).exists() for mark in marks)
    common = {home / name for home in person_homes() for name in ("", ".local")}
    return around if folder.name == "bin" and own and around not in common else None


def _is_system(path: Path) -> bool:
    return any(path == root or root in path.parents for root in SYSTEM)


@dataclass(frozen=True, slots=True)
class Areas:
    """What is hidden and what is readable within it, links followed."""

    hidden: tuple[Path, ...]
    readable: tuple[Path, ...]

    @classmethod
    def of(cls, hidden: Sequence[Path], readable: Sequence[Path]) -> Areas:
        """What is there of both. What is hidden stays so, whatever is said to be readable at the same place."""
        away = _there((*person_homes(), *hidden))
        return cls(away, tuple(path for path in _there(readable) if path not in away))

    @property
    def ordered(self) -> tuple[tuple[Path, bool], ...]:
        """Places with whether they are hidden, the outer before the inner: the innermost decides."""
        both = [(path, True) for path in self.hidden]
        # All of them: a program may also lie in a place that a jail empties, such as /tmp.
        both += [(path, False) for path in self.readable]
        return tuple(sorted(both, key=lambda item: len(item[0].parts)))

    def allowed(self, scratch: Path, write: Iterable[Path]) -> tuple[list[str], list[str]]:
        """For a system that only knows what is allowed: what may be read, and what may be changed as well."""
        read = [path for root in (*SYSTEM, RESOLVER.resolve(), *self.readable) for path in self._without_hidden(root)]
        return [str(path) for path in (*read, scratch)], [str(path) for path in (*DEVICES, *write)]

    def _without_hidden(self, root: Path) -> Iterator[Path]:
        """`root`, or what lies in it, as far as nothing hidden does."""
        root = root.resolve()
        if not root.exists() or any(path == root for path in self.hidden):
            return
        if not any(root in path.parents for path in self.hidden):
            yield root
            return
        with suppress(OSError):
            for entry in sorted(root.iterdir()):
                if not entry.is_symlink():
                    yield from self._without_hidden(entry)


def _there(paths: Iterable[Path]) -> tuple[Path, ...]:
    found = (path.resolve() for path in paths if os.path.lexists(path))
    return tuple(dict.fromkeys(path for path in found if path != Path("/")))
