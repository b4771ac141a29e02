"""A job of an agent as it travels to another machine: with the folders it needs, which may not be seen from there."""

from __future__ import annotations

import io
import tarfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from resit.core.agents.job import AgentJob
from resit.core.errors import ResitError

MOST_BYTES = 64 << 20
"""The largest folder that travels with every job: a larger one would have to be where the work is done."""


@dataclass(frozen=True, slots=True)
class Parcel:
    """A job, and the folders it names as they were when it was packed. Holds no key's value."""

    job: AgentJob
    token: str
    """The name of this attempt."""
    pulse: str
    """Name of the variable that says whether anybody still waits."""
    workspace: bytes | None = None
    hidden: bytes | None = None
    """What decides about the workspace; it is unpacked where the agent cannot see it."""
    unisolated: bool = False
    """Whether a person lets agents start where they could read the answers."""


def pack(job: AgentJob, token: str, pulse: str, *, unisolated: bool) -> Parcel:
    """A job with its folders.

    Raises:
        ResitError: They are too large, or cannot be read.
    """
    hidden = job.key.hidden if job.key is not None else None
    return Parcel(
        job,
        token,
        pulse,
        None if job.request.workspace is None else _packed(job.request.workspace),
        None if hidden is None else _packed(hidden),
        unisolated,
    )


def unpack(parcel: Parcel, folder: Path) -> AgentJob:
    """The job, with its folders unpacked into `folder`, which is hidden from the agent like all else that is.

    Raises:
        ResitError: They hold what must not be unpacked, such as a link that leads out of them.
    """
    job, request, key, canary = parcel.job, parcel.job.request, parcel.job.key, parcel.job.canary
    if parcel.workspace is not None and request.workspace is not None:
        request = replace(request, workspace=_unpacked(parcel.workspace, folder / "workspace"))
    if parcel.hidden is not None and key is not None and key.hidden is not None:
        key = replace(key, hidden=_unpacked(parcel.hidden, folder / "hidden"))
    if canary is not None:
        canary = replace(canary, paths=(*canary.paths, str(folder)))
    return replace(job, request=request, key=key, canary=canary, hidden=(*job.hidden, folder))


def _packed(path: Path) -> bytes:
    archive = io.BytesIO()
    try:
        with tarfile.open(fileobj=archive, mode="w") as tar:
            tar.add(path, arcname=path.name, filter=_bounded(archive))
    except OSError as error:
        raise ResitError(f"{path} cannot be sent to another machine ({error.strerror or error})") from None
    return archive.getvalue()


def _bounded(archive: io.BytesIO) -> Callable[[tarfile.TarInfo], tarfile.TarInfo]:
    def check(member: tarfile.TarInfo) -> tarfile.TarInfo:
        if archive.tell() + member.size > MOST_BYTES:
            mend = "ask with a smaller one, or on this machine, without --dask"
            raise ResitError(f"{member.name} with all in it is larger than {MOST_BYTES >> 20} MB", hint=mend)
        return member

    return check


def _unpacked(archive: bytes, folder: Path) -> Path:
    """Where the one file or folder of an archive now is."""
    folder.mkdir()
    try:
        with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
            tar.extractall(folder, filter="data")
    except tarfile.TarError as error:
        raise ResitError(f"what the job needs cannot be unpacked on another machine: {error}") from None
    (path,) = folder.iterdir()
    return path
