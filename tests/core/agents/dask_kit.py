"""A small Dask cluster of processes, and an agent that does nothing before it is told to."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

WAITING = """
    import socket
    told = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
    told.sendall(f"{os.environ['WHERE']} {prompt.splitlines()[0]}\\n".encode())
    word = told.makefile().readline()
    print(word.strip() or "the line was cut")
"""
"""An agent that tells a port where it runs and what it was asked, and says what it hears from there."""


@dataclass(slots=True)
class DaskCluster:
    """A scheduler and workers, each a process of its own."""

    folder: Path
    processes: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)

    @property
    def file(self) -> Path:
        return self.folder / "scheduler.json"

    @property
    def address(self) -> str:
        return str(json.loads(self.file.read_text())["address"])

    def start(self, name: str, *arguments: str) -> None:
        """Start the scheduler, or a worker of that name, and wait until it is there."""
        module = "dask_scheduler" if name == "scheduler" else "dask_worker"
        more = ("--host", "127.0.0.1", "--port", "0") if name == "scheduler" else ("--no-nanny", "--nthreads", "1")
        command = [sys.executable, "-m", f"distributed.cli.{module}", "--scheduler-file", str(self.file)]
        with (self.folder / f"{name}.log").open("wb") as log:
            self.processes[name] = subprocess.Popen(
                [*command, *more, *arguments],
                cwd=self.folder,
                env={**os.environ, "WHERE": name},
                stdout=subprocess.DEVNULL,
                stderr=log,
            )
        log_file, word = self.folder / f"{name}.log", "Scheduler at" if name == "scheduler" else "Registered to"
        end = time.monotonic() + 60
        while word not in log_file.read_text():
            assert time.monotonic() < end, log_file.read_text()
            time.sleep(0.05)

    def kill(self, name: str) -> None:
        """As the system does it that has no memory left: at once, and nothing is said."""
        process = self.processes.pop(name)
        process.kill()
        process.wait(30)

    def stop(self) -> None:
        for name in list(self.processes):
            self.kill(name)


@dataclass(slots=True)
class Begun:
    """An agent that has begun, and waits for a word."""

    where: str
    prompt: str
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    def say(self, word: str) -> None:
        self.writer.write(f"{word}\n".encode())

    async def ended(self) -> bool:
        """True once its process is gone."""
        return await asyncio.wait_for(self.reader.read(), 60) == b""


class Switchboard:
    """Where agents report; each is answered by `words`, or waits for the test when its worker is held."""

    def __init__(self, words: dict[str, str] | None = None, *, held: tuple[str, ...] = ()) -> None:
        self.words = words or {}
        self.held = held
        self.begun: asyncio.Queue[Begun] = asyncio.Queue()
        """Those that wait for the test."""
        self.calls: list[tuple[str, str]] = []
        self.port = 0
        self._server: asyncio.Server | None = None
        self._writers: list[asyncio.StreamWriter] = []

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._take, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._server is not None
        self._server.close()
        for writer in self._writers:
            writer.transport.abort()
        await asyncio.sleep(0)  # the loop lets go of them

    async def _take(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        where, _, prompt = (await reader.readline()).decode().strip().partition(" ")
        self._writers.append(writer)
        self.calls.append((where, prompt))
        agent = Begun(where, prompt, reader, writer)
        if where in self.held:
            self.begun.put_nowait(agent)
        else:
            agent.say(self.words.get(prompt, "OK"))
            await writer.drain()
            writer.close()
