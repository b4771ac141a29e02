"""What the tests of agents share: a place with a key in it, and commands run in a jail beside it."""

from __future__ import annotations

import functools
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from resit.core.agents import landlock, launcher
from resit.core.agents.jail import JailSpec, Wrapped, best_isolation, program_roots, wrap
from resit.core.agents.limits import Limits
from resit.core.folders import remove_tree
from resit.core.records import Isolation

SECRET = "the-answer-is-408"
LAUNCHER = Path(launcher.__file__)
NOBODY = 65534
REAL: tuple[Isolation, ...] = ("bubblewrap", "landlock")
"""Levels that keep a command from reading."""
WAIT_S = 60.0


def skip_without(isolation: Isolation) -> None:
    """Skip a test of a level that this system does not have."""
    if isolation == "bubblewrap" and best_isolation() != "bubblewrap":
        pytest.skip("bubblewrap is not installed here, or may not make namespaces")
    if isolation == "landlock" and (sys.platform != "linux" or not landlock.version()):
        pytest.skip("this kernel has no Landlock")


def users() -> list[int | None]:
    """Who runs: the present user, and an ordinary one where the present one is root."""
    return [None, NOBODY] if os.getuid() == 0 else [None]


@dataclass(frozen=True, slots=True)
class Done:
    """How a jailed command ended."""

    code: int
    output: str
    stopped: str


@dataclass(frozen=True, slots=True)
class Ground:
    """A folder with a suite, a person's home, and the folders of a run."""

    root: Path
    user: int | None

    @property
    def suite(self) -> Path:
        return self.root / "suite"

    @property
    def key(self) -> Path:
        return self.suite / "keys.toml"

    @property
    def person(self) -> Path:
        return self.root / "person"

    @property
    def work(self) -> Path:
        return self.root / "run" / "work"

    @property
    def home(self) -> Path:
        return self.root / "run" / "home"

    @property
    def scripts(self) -> Path:
        """The hostile scripts and the launcher, in reach of whoever runs: a checkout may be closed to others."""
        return self.root / "scripts"

    @property
    def path(self) -> str:
        return os.environ["PATH"] if self.user is None else "/usr/local/bin:/usr/bin:/bin"

    def spec(self, *, writable: bool = True, network: bool = True, limits: Limits | None = None) -> JailSpec:
        return JailSpec(
            scratch=self.work,
            writable=writable,
            home=self.home,
            hidden=(self.suite,),
            readable=(*program_roots(python_for(self.user), self.path), self.scripts),
            env={"PATH": self.path},
            network=network,
            limits=limits or Limits(seconds=WAIT_S),
        )

    def wrapped(self, argv: Sequence[str], isolation: Isolation, spec: JailSpec | None = None) -> Wrapped:
        found = wrap(argv, spec or self.spec(), isolation)
        self.own()
        return found

    def own(self) -> None:
        """Give all of it to whoever runs."""
        if self.user is not None:
            for path in [self.root, *self.root.rglob("*")]:
                os.chown(path, self.user, self.user, follow_symlinks=False)

    def popen(self, wrapped: Wrapped) -> subprocess.Popen[str]:
        _, *options, _, order = wrapped.argv
        return subprocess.Popen(
            (python_for(self.user), *options, str(self.scripts / LAUNCHER.name), order),
            env=wrapped.env,
            text=True,
            errors="replace",
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            user=self.user,
            group=self.user,
            extra_groups=None if self.user is None else [],
        )

    def run(self, argv: Sequence[str], isolation: Isolation, spec: JailSpec | None = None) -> Done:
        wrapped = self.wrapped(argv, isolation, spec)
        with self.popen(wrapped) as process:
            output, _ = process.communicate(timeout=2 * WAIT_S)
        stopped = wrapped.stopped.read_text() if wrapped.stopped.exists() else ""
        return Done(process.returncode, output, stopped)

    def script(self, name: str, *arguments: object) -> list[str]:
        """One of the hostile scripts as a command."""
        return [python_for(self.user), "-I", str(self.scripts / name), *map(str, arguments)]

    def python(self, code: str, *arguments: object) -> list[str]:
        """Some code as a command."""
        return [python_for(self.user), "-I", "-c", code, *map(str, arguments)]


@functools.cache
def python_for(user: int | None) -> str:
    """A Python that the user may run: this one may lie in a home that is closed to others."""
    for python in (sys.executable, "/usr/bin/python3"):
        try:
            done = subprocess.run([python, "-I", "-S", "-c", ""], user=user, capture_output=True, check=False)
        except OSError:
            continue
        if done.returncode == 0:
            return python
    pytest.skip("an ordinary user may not run any Python here")


def make_ground(user: int | None, monkeypatch: pytest.MonkeyPatch) -> Iterator[Ground]:
    """A place outside of pytest's own folders, which only their owner may enter."""
    ground = Ground(Path(tempfile.mkdtemp(prefix="resit-test-")), user)
    try:
        for folder in (ground.suite, ground.person / ".claude", ground.work, ground.home, ground.scripts):
            folder.mkdir(parents=True)
        for script in (*LAUNCHER.parent.glob("*.py"), *Path(__file__).parent.glob("hostile_*.py")):
            shutil.copy(script, ground.scripts)
        ground.key.write_text(f'q1 = "{SECRET}"\n')
        (ground.person / ".claude" / "history.jsonl").write_text(SECRET)
        monkeypatch.setenv("HOME", str(ground.person))
        monkeypatch.setenv("SOME_KEY", SECRET)
        ground.root.chmod(0o755)
        ground.own()
        yield ground
    finally:
        remove_tree(ground.root)


def without_bubblewrap(monkeypatch: pytest.MonkeyPatch) -> None:
    """A system on which bubblewrap is not installed."""
    found = shutil.which

    def which(name: str, mode: int = os.F_OK | os.X_OK, path: str | None = None) -> str | None:
        return None if name == "bwrap" else found(name, mode, path)

    monkeypatch.setattr(shutil, "which", which)
    best_isolation.cache_clear()
