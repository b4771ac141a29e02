"""One run of a command-line agent: a job in, a reply or a fault out, on whatever machine it is done."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from resit.core.agents.canary import Canary, Lookout
from resit.core.agents.jail import JailSpec, Wrapped, best_isolation, program_roots, wrap
from resit.core.agents.outputs import make_reader
from resit.core.agents.outputs.reader import Asking, Place, Reader
from resit.core.agents.process import run_command, to_the_end
from resit.core.agents.scratch import Scratch, prepare
from resit.core.agents.secrets import Keys, scrubbed
from resit.core.agents.sign_in import Lent, sign_in_files
from resit.core.agents.template import CommandLine, Filled, fill
from resit.core.agents.verify import CodeKey, verify
from resit.core.calling.client import Delta, Listener
from resit.core.command_entry import TIMEOUT_S
from resit.core.errors import ResitError
from resit.core.records import Fault, FaultKind, Isolation, Reply, Request

MOST_HEARD = 1_000_000
"""Characters that are streamed of one run: whoever listens keeps them."""
_PASSED_ON = (
    "PATH", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY",
    "http_proxy", "https_proxy", "all_proxy", "no_proxy", "SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS",
)  # fmt: skip
"""Variables that any program may need to run and to reach its server."""


@dataclass(frozen=True, slots=True)
class AgentJob:
    """All that one run of an agent needs. It can be pickled, and holds no key's value."""

    request: Request
    command: CommandLine
    hidden: tuple[Path, ...] = ()
    """Folders and files the agent must never see: suites, keys, other runs, what resit keeps."""
    canary: Canary | None = None
    """What must not show up in anything it wrote: then it saw the keys."""
    key: CodeKey | None = None
    """What decides about its workspace; no agent sees it."""
    isolation: Isolation | None = None
    """None: the strongest that the machine has on which it runs."""
    timeout_s: float = TIMEOUT_S


async def run_agent(
    job: AgentJob, listen: Listener | None = None, environ: Mapping[str, str] | None = None
) -> Reply | Fault:
    """Run one agent to its end, verify its work, and say what came of it.

    When it is cancelled, all that the agent started is ended first.

    Args:
        job: What to run.
        listen: Called with each piece the agent says, as it says it.
        environ: Stands in for the process's environment; only named variables of it reach the agent.
    """
    environ = os.environ if environ is None else environ
    command = job.command
    program = command.program(environ.get("PATH", os.defpath))
    if program is None:
        said = f"{command.name}: {command.argv[0]} is not on PATH; install it, or put its folder there"
        return _fault(job, "model", said)
    try:
        place = partial(prepare, job.request, outside=job.hidden, sign_in=sign_in_files(command.logins))
        scratch = await asyncio.to_thread(place)
    except ResitError as error:
        return _fault(job, "internal", str(error))
    try:
        return await _in_scratch(job, program, scratch, listen, environ)
    finally:
        await to_the_end(asyncio.to_thread(scratch.remove))


async def _in_scratch(
    job: AgentJob, program: str, scratch: Scratch, listen: Listener | None, environ: Mapping[str, str]
) -> Reply | Fault:
    isolation = job.isolation if job.isolation is not None else await asyncio.to_thread(best_isolation)
    lent = await asyncio.to_thread(Lent.of, job.command.logins, scratch.home)
    keys = await asyncio.to_thread(Keys.of, job.command, environ, scratch.home)
    filled = fill(job.command, job.request, scratch, isolation)
    if isinstance(filled, Fault):
        return filled
    wrapped = wrap((program, *filled.argv[1:]), _spec(job, program, scratch, filled, environ), isolation)
    reader = make_reader(job.command.reader, Asking(job.command.name, job.request.model, job.command.answer_path))
    lookout = Lookout(job.canary)
    ended = await run_command(wrapped, filled.stdin, _Ear(reader, listen, keys, lookout), job.timeout_s)
    answer = reader.finish(ended, Place(home=scratch.home, answer_file=filled.answer_file))
    answer = await asyncio.to_thread(_stopped_or, wrapped, job, answer)
    await asyncio.to_thread(lent.keep_renewed)
    if isinstance(answer, Reply):
        answer = await asyncio.to_thread(_completed, job, answer, scratch, isolation, lookout)
    elif answer.kind == "key" and await asyncio.to_thread(lent.renewed_elsewhere):
        # Another run renewed the token while this one held the former: with the new one it may well be let in.
        answer = answer.model_copy(update={"kind": "dropped"})
    return await asyncio.to_thread(scrubbed, answer, keys.renewed(job.command, scratch.home))


def _spec(job: AgentJob, program: str, scratch: Scratch, filled: Filled, environ: Mapping[str, str]) -> JailSpec:
    command = job.command
    named = {name: environ[name] for name in (*_PASSED_ON, *command.variables) if name in environ}
    named |= {name: environ[source] for name, source in command.renamed if source in environ}
    return JailSpec(
        scratch=scratch.work,
        writable=scratch.writable,
        home=scratch.home,
        hidden=job.hidden,
        readable=(*program_roots(program, environ.get("PATH", os.defpath)), *_beside(program)),
        env={"TERM": "dumb", "NO_COLOR": "1", **named, **filled.env},
    )


def _beside(program: str) -> tuple[Path, ...]:
    """What a program needs beside itself: the packages of npm's it belongs to, the interpreter its first line names."""
    real = Path(os.path.realpath(program))
    packages = [folder for folder in real.parents if folder.name == "node_modules"][-1:]
    with open(real, "rb") as file:
        first = os.fsdecode(file.readline(1000))
    named = first.removeprefix("#!").split() if first.startswith("#!") else []
    return (*packages, *(program_roots(named[0], "") if named else ()))


class _Ear:
    """Hands output to its reader, and what the model says in it to whoever listens."""

    def __init__(self, reader: Reader, listen: Listener | None, keys: Keys, lookout: Lookout) -> None:
        self._reader, self._listen, self._keys, self._lookout = reader, listen, keys, lookout
        self._left = MOST_HEARD

    def __call__(self, text: str) -> None:
        self._lookout.hear(text)
        for delta in self._reader.feed(text):
            if self._listen is not None and self._left > 0:
                self._left -= len(delta.text)
                self._listen(Delta(delta.kind, self._keys.scrub(delta.text)))


def _stopped_or(wrapped: Wrapped, job: AgentJob, answer: Reply | Fault) -> Reply | Fault:
    """The answer, or the fault of a run that passed a limit of its jail."""
    try:
        why = wrapped.stopped.read_text(errors="replace").strip()
    except OSError:
        return answer
    return Fault(kind="internal", said=f"{job.command.name} was ended: {why}", seconds=answer.seconds)


def _completed(job: AgentJob, reply: Reply, scratch: Scratch, isolation: Isolation, lookout: Lookout) -> Reply:
    """The reply with how it was isolated, what its work is worth, and whether the keys were seen."""
    assert reply.agent is not None
    agent = reply.agent.model_copy(update={"isolation": isolation})
    if job.key is not None:
        verified = verify(scratch, job.key, isolation, job.hidden)
        agent = agent.model_copy(update={"verified": verified})
    reply = reply.model_copy(update={"agent": agent})
    seen = (job.canary.seen_in(reply) if job.canary is not None else "") or lookout.seen
    return reply.model_copy(update={"agent": agent.model_copy(update={"key_seen": seen})}) if seen else reply


def _fault(job: AgentJob, kind: FaultKind, said: str) -> Fault:
    return Asking(job.command.name, job.request.model).asked.fault(kind, said)
