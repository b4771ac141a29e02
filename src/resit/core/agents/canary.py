"""A marker planted with the keys: if it can be read from inside the jail, so could they be.

Planted anew for each round: a marker that is always the same would end up in what models learn from.
"""

from __future__ import annotations

import os
import secrets
import shlex
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from resit.core.agents.areas import suite_area
from resit.core.agents.jail import JailSpec, program_roots, wrap
from resit.core.agents.scratch import prepare
from resit.core.errors import ResitError
from resit.core.folders import MARKER_PREFIX
from resit.core.paths import data_dir
from resit.core.records import Isolation, Reply, Request
from resit.core.suite import Suite

_LEFT_S = 7 * 24 * 3600
"""Age after which a marker of a round that was killed is removed."""
_LOOK_S = 30.0
_LOOKED = "looked everywhere"
"""What the search prints at its end: a jail that does not start proves nothing."""
_SEARCH = """\
for file in {files}; do
  cat -- "$file"; cat -- "/proc/self/root$file"; cat -- "/proc/1/root$file"
  ln -s -- "$file" "$HOME/link" && cat -- "$HOME/link"; rm -f -- "$HOME/link"
  cat -- "$(dirname -- "$file")"/{prefix}*
done
cat /proc/*/environ /proc/*/cmdline
echo {looked}
"""


@dataclass(frozen=True, slots=True)
class Canary:
    """The planted marker, and what else must not show up in a run."""

    marker: str
    files: tuple[Path, ...]
    """Where it was planted: beside the suite and in resit's data folder."""
    paths: tuple[str, ...]
    """Paths whose mention shows that a run found the keys: of the suite, its hidden tests and the planted files."""

    def remove(self) -> None:
        """Take the planted files away."""
        for file in self.files:
            with suppress(OSError):
                file.unlink()

    def seen_in(self, reply: Reply) -> str:
        """Where the marker or a key's path shows up in a reply, its transcript or its diff; empty when nowhere."""
        for where, text in _texts(reply):
            if found := self.found(text):
                return f"{found}, in {where}"
        return ""

    def found(self, text: str) -> str:
        """What of the keys is in a text; empty when nothing."""
        if self.marker in text:
            return "the planted marker"
        path = next((path for path in self.paths if path in text), "")
        return f"the path {path}" if path else ""


class Lookout:
    """Looks for the marker in all that an agent prints, also in what is too long to be kept."""

    def __init__(self, canary: Canary | None) -> None:
        """Look for what `canary` planted; None looks for nothing."""
        self._canary = canary
        self._rest = ""
        self.seen = ""
        """Where it showed up; empty while it has not."""

    def hear(self, text: str) -> None:
        """Take the next piece; what is searched for may lie across two."""
        if self._canary is None or self.seen:
            return
        text = self._rest + text
        longest = max(map(len, (self._canary.marker, *self._canary.paths)))
        self._rest = text[-longest:]
        if found := self._canary.found(text):
            self.seen = f"{found}, in what it printed"


def _texts(reply: Reply) -> Iterator[tuple[str, str]]:
    """All that an agent wrote, said or saw, with where it stands."""
    yield "its reply", reply.text
    yield "its thinking", reply.thinking
    if reply.agent is None:
        return
    for number, step in enumerate(reply.agent.steps, 1):
        yield f"step {number}", f"{step.tool}\n{step.text}"
    if reply.agent.verified is not None:
        yield "its changes", reply.agent.verified.diff


def plant(suite: Suite) -> Canary:
    """Plant a random marker beside the suite and in resit's data folder.

    Raises:
        ResitError: It could be written nowhere, so nothing could be proven.
    """
    token = secrets.token_hex(12)
    marker = f"resit-canary-{token}"
    areas = suite_area(suite, suite.path) if suite.path is not None else ()
    keys = data_dir() / "canary"
    with suppress(OSError):
        keys.mkdir(parents=True, exist_ok=True)
    files = []
    for folder in dict.fromkeys((keys, *(area for area in areas if area.is_dir()))):
        _sweep(folder)
        file = folder / f"{MARKER_PREFIX}{token[:8]}"
        with suppress(OSError):
            file.write_text(f"{marker}\n", encoding="ascii")
            files.append(file.resolve())
    if not files:
        raise ResitError(f"no marker could be written into {keys}", hint="make that folder writable")
    named = [str(suite.path), *map(str, areas[1:])] if suite.path is not None else []
    named += [str(areas[0] / question.hidden) for question in suite.questions if question.hidden and areas]
    paths = [path for path in (*named, *map(str, files)) if os.path.isabs(path)]
    return Canary(marker, tuple(files), tuple(dict.fromkeys(paths)))


def _sweep(folder: Path) -> None:
    for file in folder.glob(f"{MARKER_PREFIX}*"):
        with suppress(OSError):
            if file.lstat().st_mtime < time.time() - _LEFT_S:
                file.unlink()


def readable_from(canary: Canary, isolation: Isolation, hidden: Sequence[Path]) -> str:
    """Try to read the marker from inside the jail of an agent, in every way that a shell offers.

    Args:
        canary: What is planted.
        isolation: What keeps agents away.
        hidden: What they must not see.

    Returns:
        A sentence when it can be read, or when the jail could not be tried; else nothing.
    """
    if isolation in ("none", "command's own rules"):
        return "this system has nothing that keeps a command from reading files"
    try:
        output = _search(canary, isolation, hidden)
    except (OSError, subprocess.TimeoutExpired, ResitError) as error:
        return f"the jail ({isolation}) could not be tried: {error}"
    if canary.marker in output:
        return f"a marker planted beside the suite could be read from inside the jail ({isolation})"
    if _LOOKED not in output:
        return f"the jail ({isolation}) could not be tried: {output.strip()[-200:] or 'it said nothing'}"
    return ""


def _search(canary: Canary, isolation: Isolation, hidden: Sequence[Path]) -> str:
    files = " ".join(shlex.quote(str(file)) for file in canary.files)
    script = _SEARCH.format(files=files, prefix=MARKER_PREFIX, looked=_LOOKED)
    empty = Request("command", "canary", "", None, 1, None, "default", "command:canary")
    with prepare(empty, outside=hidden) as scratch, tempfile.TemporaryFile() as output:
        # The search itself is told where to look, as no agent is: only what it prints counts.
        path = os.environ.get("PATH", os.defpath)
        spec = JailSpec(
            scratch=scratch.work,
            writable=False,
            home=scratch.home,
            hidden=tuple(hidden),
            readable=program_roots("", path),
        )
        wrapped = wrap(("/bin/sh", "-c", script), spec, isolation)
        subprocess.run(
            wrapped.argv,
            env=wrapped.env,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            timeout=_LOOK_S,
            start_new_session=True,
            check=False,
        )
        output.seek(0)
        return output.read(10_000_000).decode("utf-8", "replace")
