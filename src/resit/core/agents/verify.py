"""Whether an agent's work holds: protected files compared, hidden tests put in place, `verify` run and read.

It runs on a second copy, made of what the agent left, with protected files as the suite has them and the hidden tests
over it. That copy is written by us alone, so no link that an agent planted is ever written through.
"""

from __future__ import annotations

import os
import select
import shlex
import signal
import subprocess
import time
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from resit.core.agents.diffs import Unusable, change_again, diff
from resit.core.agents.jail import JailSpec, inner_home, program_roots, wrap
from resit.core.agents.limits import AGENT, VERIFY
from resit.core.agents.reports import Report, promises_report, read_report
from resit.core.agents.scratch import Scratch, prepare
from resit.core.agents.workspace import is_protected, touched
from resit.core.folders import Bounds, TooMuch, Tree, copy_tree, read_left, read_tree, tree_digest
from resit.core.records import Isolation, Request, Verified
from resit.core.suite import Question, Suite

JUNIT = "{junit}"
"""Stands in `verify` for a file to which it may write its report."""
_JUNIT_NAME = "junit.xml"
_HEAD_BYTES, _TAIL_BYTES, _JUNIT_BYTES = 4_000_000, 1_000_000, 5_000_000
_OUTPUT_CHARS = 8_000
_GRACE_S = 15.0
"""How long after its time limit `verify` is still waited for."""
_NOT_RUN = (126, 127)
"""How a shell ends when there is no such command."""
_KEPT_VARIABLES = ("PATH", "LANG", "LC_ALL", "TZ")


@dataclass(frozen=True, slots=True)
class CodeKey:
    """What decides about a workspace: the part of a question that no agent sees."""

    protect: tuple[str, ...] = ()
    hidden: Path | None = None
    hidden_digest: str = ""
    verify: str | None = None
    seconds: float = VERIFY.seconds or 0
    rule: str = ""
    """Fingerprint of how it is verified."""


def code_key(suite: Suite, question: Question) -> CodeKey | None:
    """The key of a question; None when it has no workspace."""
    if question.workspace is None or suite.path is None:
        return None
    hidden = suite.path.resolve().parent / question.hidden if question.hidden else None
    return CodeKey(
        protect=question.protect,
        hidden=hidden,
        hidden_digest=question.hidden_digest,
        verify=question.verify,
        seconds=question.verify_seconds,
        rule=question.verify_digest,
    )


def verify(scratch: Scratch, key: CodeKey, isolation: Isolation, hidden: tuple[Path, ...]) -> Verified:
    """Verify what an agent left in `scratch`; blocks until `verify` ends or is ended. Never raises for bad work.

    Args:
        scratch: The run's folders; the agent and all that it started must have ended.
        key: What decides.
        isolation: How `verify` is kept away from the keys and the person's files.
        hidden: What it must not see.
    """
    try:
        was = read_tree(scratch.before, Bounds(mb=200))
        if tree_digest(was) != scratch.given:
            return Verified(
                rule=key.rule, stopped="the untouched copy was changed: the agent reached outside its folder"
            )
        now = read_tree(scratch.work, Bounds(AGENT.files, AGENT.disk_mb), pry=True)
        verified = Verified(
            changed=touched(was, now, key.protect),
            diff=diff(scratch.before, was, scratch.work, now),
            rule=key.rule,
            left=tree_digest(now),
        )
    except (OSError, TooMuch) as error:
        return Verified(rule=key.rule, stopped=f"what the agent left cannot be read: {error}")
    if key.verify is None:
        return verified
    run = _Run(scratch, key, key.verify, isolation, hidden)
    try:
        return run.read(verified, was, now)
    except (OSError, TooMuch) as error:
        return verified.model_copy(update={"stopped": f"verify could not be run: {error}"})


def verify_again(
    former: Verified, request: Request, key: CodeKey, isolation: Isolation, hidden: tuple[Path, ...]
) -> Verified | None:
    """Verify work again that is gone, by other tests: it is made again from its diff, without asking the agent.

    None when the diff does not tell all of it.

    Args:
        former: What was found out about it before.
        request: What the agent was asked, with the workspace that it was given.
        key: What decides now.
        isolation: How `verify` is kept away from the keys and the person's files.
        hidden: What it must not see.

    Raises:
        ResitError: The workspace is not what it was, or there is no room.
    """
    with prepare(request, outside=hidden) as scratch:
        try:
            change_again(scratch.work, former.diff)
            if tree_digest(read_tree(scratch.work, pry=True)) != former.left:
                return None
        except (Unusable, TooMuch, OSError, ValueError):
            return None
        return verify(scratch, key, isolation, hidden)


@dataclass(frozen=True, slots=True)
class _Ended:
    """How one run of `verify` ended."""

    code: int
    stopped: str
    """Which limit ended it; empty when none did."""
    output: str
    report: Report | None


@dataclass(frozen=True, slots=True)
class _Run:
    """The run of one `verify`, and what it is held against."""

    scratch: Scratch
    key: CodeKey
    command: str
    isolation: Isolation
    hidden: tuple[Path, ...]

    def read(self, verified: Verified, was: Tree, now: Tree) -> Verified:
        """The verdict on what the agent left."""
        ended = self._run("verify", self.scratch.work, now, was)
        verified = verified.model_copy(update={"output": ended.output[-_OUTPUT_CHARS:]})
        if ended.stopped:
            tests, failed = (ended.report.tests, ended.report.failed) if ended.report else ((), ())
            failed = (*failed, f"verify: {ended.stopped}")
            return verified.model_copy(update={"tests": tests, "failed": failed})
        if ended.report is None and self._is_broken(ended.code, was):
            last = ended.output.strip().rpartition("\n")[2]
            why = f"verify does not run on the untouched workspace either (exit code {ended.code}): {last[-200:]}"
            return verified.model_copy(update={"stopped": why})
        return verified.model_copy(update={"exit_code": ended.code} | _verdicts(self.command, ended))

    def _is_broken(self, code: int, was: Tree) -> bool:
        """Whether `verify` itself does not work: then nothing was found out about the agent.

        What an agent wrote may end a test run before it can report, and so may a test runner that is not installed.
        Only the untouched workspace tells them apart.
        """
        if code not in _NOT_RUN and not (code and promises_report(self.command)):
            return False
        untouched = self._run("untouched", self.scratch.before, was, was)
        return untouched.report is None and untouched.code != 0

    def _run(self, name: str, source: Path, tree: Tree, was: Tree) -> _Ended:
        folder, home = self.scratch.root / name, self.scratch.root / f"{name}-home"
        for place in (folder, home):
            place.mkdir(mode=0o700)
        own = {at: e for at, e in tree.items() if e.kind != "odd" and not is_protected(at, self.key.protect)}
        copy_tree(source, folder, own)
        copy_tree(self.scratch.before, folder, {at: e for at, e in was.items() if is_protected(at, self.key.protect)})
        self._place_hidden(folder)
        return self._jailed(folder, home)

    def _place_hidden(self, folder: Path) -> None:
        if self.key.hidden is None:
            return
        tree = read_tree(self.key.hidden)
        if self.key.hidden_digest and tree_digest(tree) != self.key.hidden_digest:
            raise TooMuch("the hidden tests changed after the round was planned; start it again")
        copy_tree(self.key.hidden, folder, tree)

    def _jailed(self, folder: Path, home: Path) -> _Ended:
        report = str(inner_home(home, self.isolation) / _JUNIT_NAME)
        env = {name: os.environ[name] for name in _KEPT_VARIABLES if name in os.environ}
        env |= {"PYTHONDONTWRITEBYTECODE": "1", "PYTEST_ADDOPTS": f"--junitxml={shlex.quote(report)}"}
        spec = JailSpec(
            scratch=folder,
            writable=True,
            home=home,
            hidden=self.hidden,
            readable=program_roots("", env.get("PATH", os.defpath)),
            env=env,
            network=False,
            limits=replace(VERIFY, seconds=self.key.seconds),
        )
        command = self.command.replace(JUNIT, shlex.quote(report))
        wrapped = wrap(("/bin/sh", "-c", command), spec, self.isolation)
        process = subprocess.Popen(
            wrapped.argv,
            env=wrapped.env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        output = _read_all(process, time.monotonic() + self.key.seconds + _GRACE_S)
        stopped = ""
        with suppress(OSError):
            stopped = wrapped.stopped.read_text(encoding="utf-8")
        junit = read_left(home, _JUNIT_NAME, _JUNIT_BYTES)
        return _Ended(process.returncode, stopped, output, read_report(output, junit))


def _verdicts(command: str, ended: _Ended) -> dict[str, object]:
    """Tests and what failed, for a `verify` that came to its end."""
    tests, failed = (ended.report.tests, ended.report.failed) if ended.report else ((), ())
    if ended.report is None and promises_report(command):
        failed = ("verify: no test reported",)
    elif ended.code and not failed:
        failed = (f"verify: exit code {ended.code}",)
    return {"tests": tests, "failed": failed}


def _read_all(process: subprocess.Popen[bytes], until_s: float) -> str:
    """All that a process prints until it ends, the middle left out where it is much; it is ended at `until_s`."""
    assert process.stdout is not None
    head, tail, cut = bytearray(), bytearray(), 0
    pipe = process.stdout.fileno()
    waiting = select.poll()
    waiting.register(pipe, select.POLLIN)
    while (left_s := until_s - time.monotonic()) > 0:
        if not waiting.poll(1000 * left_s):
            break
        chunk = os.read(pipe, 1 << 16)
        if not chunk:
            break
        room = max(0, _HEAD_BYTES - len(head))
        head += chunk[:room]
        tail += chunk[room:]
        if len(tail) > 2 * _TAIL_BYTES:
            cut += len(tail) - _TAIL_BYTES
            del tail[:-_TAIL_BYTES]
    _end(process)
    process.stdout.close()
    middle = f"\n… {cut:,} bytes left out …\n".encode() if cut else b""
    return bytes(head + middle + tail).decode("utf-8", "replace")


def _end(process: subprocess.Popen[bytes]) -> None:
    for number in (None, signal.SIGTERM, signal.SIGKILL):
        if number is not None:
            process.send_signal(number)
        with suppress(subprocess.TimeoutExpired):
            process.wait(_GRACE_S if number is not None else 1.0)
            return
    process.wait()
