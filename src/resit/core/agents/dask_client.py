"""Hands the jobs of agents to a Dask cluster that is there: a worker runs each as this machine would.

A worker that is lost loses its job only: the scheduler gives it to another, which says so instead of running it again,
for the lost run may have been paid. The round counts that as an attempt of unknown cost and asks anew.
"""

from __future__ import annotations

import asyncio
import importlib
import logging
import socket
import tempfile
import uuid
import warnings
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Any

from resit.core.agents.canary import Canary, readable_from
from resit.core.agents.command_client import CommandClient
from resit.core.agents.jail import best_isolation
from resit.core.agents.job import AgentJob, run_agent
from resit.core.agents.parcel import Parcel, pack, unpack
from resit.core.calling.client import Listener
from resit.core.errors import ResitError
from resit.core.records import Fault, Reply, Request

CONNECT_S = 10.0
PULSE_S = 15.0
"""How often a round says that it still waits."""
ORPHAN_S = 900.0
"""A worker that hears nothing of the round for so long ends its agent: whoever asked is gone."""
LOOK_S = 1.0
"""How often a worker looks whether it is to go on."""
CLOSED = "closed"
"""The last that is heard of a round."""
NOISY = ("distributed", "tornado")
"""Loggers that write to standard error, which is the screen's."""
_ENDING = (OSError, TimeoutError, RuntimeError, AttributeError)
"""What Dask raises from a connection that ends meanwhile."""
MEND = "start one with `dask scheduler`, and `dask worker` on each machine"


class DaskClient:
    """Asks command-line agents on the workers of a cluster."""

    def __init__(self, agents: CommandClient, cluster: Cluster) -> None:
        """Ask `agents`, whose jobs are done by `cluster`."""
        self._agents = agents
        self._cluster = cluster

    async def ask(self, request: Request, listen: Listener | None = None) -> Reply | Fault:
        """Have the command run somewhere; nothing is heard before its end."""
        return await self._agents.ask(request, listen)

    async def close(self) -> None:
        """End what still runs, and let go of the cluster."""
        await self._cluster.close()
        await self._agents.close()


class Cluster:
    """One scheduler; connected at the first job."""

    def __init__(self, address: str, *, unisolated: bool = False) -> None:
        """Use the scheduler at `address`.

        Args:
            address: As Dask says it: `tcp://10.0.0.5:8786`.
            unisolated: Whether a person lets agents start where they could read the answers.
        """
        self.address = address
        self._unisolated = unisolated
        self._opening = asyncio.Lock()
        self._dask: Any = None
        self._client: Any = None
        self._pulse: Any = None
        self._beating: asyncio.Task[None] | None = None
        self._given_up: list[str] = []
        """Jobs that nobody waits for any more."""

    async def run(
        self, job: AgentJob, listen: Listener | None = None, environ: Mapping[str, str] | None = None
    ) -> Reply | Fault:
        """Have a job done. Its variables are those of the worker, its pieces are not heard.

        Args:
            job: What to run; the worker chooses the isolation, where the job leaves it open.
            listen: Not called.
            environ: Not looked at.
        """
        try:
            await self._open()
        except ResitError as error:
            return Fault(kind="model", said=str(error))
        token = f"resit-{uuid.uuid4().hex}"
        try:
            parcel = await asyncio.to_thread(pack, job, token, self._pulse.name, unisolated=self._unisolated)
        except ResitError as error:
            return Fault(kind="request", said=str(error))
        try:
            return await self._done(parcel)
        except asyncio.CancelledError:
            self._given_up.append(token)
            await self._beat()
            raise

    async def close(self) -> None:
        """Workers see that nobody waits any more, and end their agents."""
        if self._beating is not None:
            self._beating.cancel()
        if self._client is not None:
            await self._tell(self._pulse.set, [CLOSED])
            await _closed(self._client)
            self._client = None

    async def _open(self) -> None:
        """Connect, once.

        Raises:
            ResitError: Dask is not installed, or no scheduler answers.
        """
        async with self._opening:
            if self._connected:
                return
            try:
                self._dask = await asyncio.to_thread(importlib.import_module, "distributed")
            except ImportError:
                raise ResitError("Dask is not installed here", hint="pip install 'resit[dask]'") from None
            _hush()
            self._client = await self._connect()
            self._pulse = self._dask.Variable(f"resit-{uuid.uuid4().hex}", client=self._client)
            await self._beat()
            # The same task beats for a second connection.
            self._beating = self._beating or asyncio.create_task(self._keep_beating())

    async def _connect(self) -> Any:
        try:
            client = self._dask.Client(
                self.address, asynchronous=True, timeout=CONNECT_S, set_as_default=False, name="resit"
            )
            try:
                return await client
            except BaseException:
                await _closed(client)
                raise
        except (OSError, TimeoutError, ValueError) as error:
            why = f"no Dask scheduler answers at {self.address} ({type(error).__name__})"
            raise ResitError(why, hint=MEND) from None

    async def _keep_beating(self) -> None:
        while True:
            await asyncio.sleep(PULSE_S)
            await self._beat()

    async def _beat(self) -> None:
        """Say that the round still waits, and for what no more."""
        await self._tell(self._pulse.set, [uuid.uuid4().hex, *self._given_up])

    @property
    def _connected(self) -> bool:
        return self._client is not None and self._client.status == "running"

    async def _tell(self, send: Callable[..., Awaitable[object]], *words: object) -> None:
        """Send a message that may be lost: a scheduler that is gone shows with the jobs."""
        with suppress(*_ENDING):
            async with asyncio.timeout(CONNECT_S):
                if self._connected:
                    await send(*words)

    async def _done(self, parcel: Parcel) -> Reply | Fault:
        """What a worker made of it, or why none did."""
        dask, host = self._dask, self.address
        let_go = Fault(kind="dropped", said=f"the cluster at {host} let the job go; it may have been run")
        begun = dask.Event(parcel.token, client=self._client)
        future = self._client.submit(run_job, parcel, key=parcel.token, pure=False)
        try:
            found = await future
        except dask.KilledWorker:
            return Fault(kind="dropped", said=f"several workers of {host} were lost with this job")
        except dask.client.FutureCancelledError:
            return let_go
        except ImportError as error:
            return Fault(kind="model", said=f"the workers of {host} do not know resit ({error.name}): install it there")
        except Exception as error:  # whatever a worker's own software makes of the job
            if not self._connected:
                return let_go
            return Fault(kind="internal", said=f"a worker of {host} could not run the job ({type(error).__name__})")
        finally:
            future.release()
            await self._tell(begun.clear)
        assert isinstance(found, Reply | Fault)
        return found


async def _closed(client: Any) -> None:
    """Let go of a client, connected or not."""
    with suppress(*_ENDING):
        await client.close(timeout=CONNECT_S)


def run_job(parcel: Parcel) -> Reply | Fault:
    """Do a job on a worker, if nobody has begun it before."""
    dask = importlib.import_module("distributed")
    client = dask.get_client()
    begun = dask.Event(parcel.token, client=client)
    if begun.is_set():
        return Fault(kind="dropped", said="the worker that ran the agent was lost; its run may have been paid")
    begun.set()
    if why := _refused(parcel):
        return Fault(kind="model", said=why)
    pulse = dask.Variable(parcel.pulse, client=client)
    with tempfile.TemporaryDirectory(prefix="resit-parcel-") as folder:
        try:
            job = unpack(parcel, Path(folder).resolve())
        except ResitError as error:
            return Fault(kind="request", said=str(error))
        return asyncio.run(_while_wanted(job, parcel.token, pulse))


def _refused(parcel: Parcel) -> str:
    """Why no agent may start on this machine, in a sentence; empty when it may."""
    job = parcel.job
    if parcel.unisolated or job.canary is None:
        return ""
    why = _exposed(job.canary, job.hidden)
    return f"on {socket.gethostname()} an agent could read the answers: {why}; install bubblewrap there" if why else ""


@lru_cache(maxsize=16)
def _exposed(canary: Canary, hidden: tuple[Path, ...]) -> str:
    return readable_from(canary, best_isolation(), hidden)


async def _while_wanted(job: AgentJob, token: str, pulse: Any) -> Reply | Fault:
    """Run an agent until its end, or until the round does not want it any more."""
    running = asyncio.create_task(run_agent(job))
    loop = asyncio.get_running_loop()
    last: object = None
    heard_s = loop.time()
    while not (await asyncio.wait({running}, timeout=LOOK_S))[0]:
        try:
            beat, *given_up = await asyncio.to_thread(pulse.get, timeout=CONNECT_S)
        except (OSError, TimeoutError):
            beat, given_up = CLOSED, []  # the scheduler is gone
        heard_s, last = (loop.time(), beat) if beat != last else (heard_s, last)
        if beat == CLOSED or token in given_up or loop.time() - heard_s > ORPHAN_S:
            running.cancel()
            with suppress(asyncio.CancelledError):
                await running
            return Fault(kind="dropped", said="stopped before its reply ended")
    return running.result()


def _hush() -> None:
    """Take Dask's lines and warnings off standard error."""
    warnings.filterwarnings("ignore", module=r"distributed\b")
    for name in list(logging.root.manager.loggerDict):
        if name.split(".")[0] in NOISY:
            logger = logging.getLogger(name)
            logger.handlers = [logging.NullHandler()]
            logger.propagate = False
