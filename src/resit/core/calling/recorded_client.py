"""Replies saved earlier, played back: the offline default, the demo, and most tests."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Literal

from pydantic import Field, ValidationError

from resit.core.calling.client import Delta, Listener
from resit.core.errors import ConfigError
from resit.core.paths import atomic_write
from resit.core.records import Effort, Fault, Frozen, Reply, Request, Setting
from resit.core.rule import digest

PREFIX = "recorded:"
"""How the endpoint of a recording starts."""
PIECE_S = 0.05
"""Pause between two pieces of a paced reply."""


class RecordedReply(Frozen):
    """One reply, and all that says how it came about."""

    question: str
    """Id of the question, for whoever reads the file; replies are found by `prompt_sha`."""
    run: int
    model: str
    effort: Effort | None = None
    thinking: Literal["default", "off"] = "default"
    prompt_sha: str
    recorded_at: datetime
    settings: dict[str, str | int | float | bool | None] = Field(default_factory=dict)
    """What else shaped it: max_tokens, server, quantisation and the like."""
    reply: Reply


class RecordedFile(Frozen):
    """A recording: a JSON file that a person can read."""

    format: Literal[1] = 1
    about: str
    """Who answered, how it was recorded, and what it is for."""
    replies: tuple[RecordedReply, ...]

    @property
    def settings(self) -> tuple[Setting, ...]:
        """The settings that were recorded, in the file's order."""
        found = {(r.model, r.effort, r.thinking): None for r in self.replies}
        return tuple(
            Setting(model=model, effort=effort, thinking=thinking, provider="recorded")
            for model, effort, thinking in found
        )

    @property
    def last_recorded_at(self) -> datetime | None:
        """When the newest of its replies was recorded."""
        return max((r.recorded_at for r in self.replies), default=None)

    def save(self, path: Path) -> None:
        """Write it to `path`, whole or not at all."""
        atomic_write(path, self.model_dump_json(indent=1, exclude_defaults=True).encode() + b"\n")

    @classmethod
    def load(cls, path: Path) -> RecordedFile:
        """Read a recording.

        Raises:
            ConfigError: It is not there or not a recording.
        """
        try:
            return cls.model_validate_json(path.read_bytes())
        except OSError as error:
            raise ConfigError(f"{path}: the recording cannot be read ({error.strerror or error})") from None
        except ValidationError as error:
            found = error.errors(include_input=False, include_url=False, include_context=False)[0]
            where = ".".join(str(part) for part in found["loc"])
            raise ConfigError(f"{path} is not a recording: {where}: {found['msg']}") from None


def prompt_sha(request: Request) -> str:
    """Fingerprint of what was asked: prompt and system text."""
    return digest([request.prompt, request.system])


def record(
    request: Request,
    reply: Reply,
    *,
    question: str,
    run: int,
    recorded_at: datetime,
    settings: Mapping[str, str | int | float | bool | None] | None = None,
) -> RecordedReply:
    """A real reply as an entry of a recording."""
    return RecordedReply(
        question=question,
        run=run,
        model=request.model,
        effort=request.effort,
        thinking=request.thinking,
        prompt_sha=prompt_sha(request),
        recorded_at=recorded_at,
        settings={"max_tokens": request.max_tokens, "server": request.endpoint, **(settings or {})},
        reply=reply,
    )


class RecordedClient:
    """Plays a recording: the k-th ask of one prompt by one setting gets its k-th reply, then they start over."""

    def __init__(self, recording: RecordedFile, name: str, *, pace: float = 0.0) -> None:
        """Play `recording`.

        Args:
            recording: The replies.
            name: Short name, shown as the endpoint `recorded:<name>`.
            pace: Share of the recorded seconds that a reply takes: 0 answers at once, 1 as it really was.
        """
        self.recording = recording
        self.endpoint = PREFIX + name
        self._pace = pace
        self._asked: dict[tuple[str, Effort | None, str, str], int] = defaultdict(int)
        self._replies: dict[tuple[str, Effort | None, str, str], list[RecordedReply]] = defaultdict(list)
        for entry in sorted(recording.replies, key=lambda r: r.run):
            self._replies[entry.model, entry.effort, entry.thinking, entry.prompt_sha].append(entry)

    @classmethod
    def load(cls, path: Path, *, pace: float = 0.0) -> RecordedClient:
        """Open a recording; its name is the file's stem.

        Raises:
            ConfigError: It is not there or not a recording.
        """
        return cls(RecordedFile.load(path), path.stem, pace=pace)

    async def ask(self, request: Request, listen: Listener | None = None) -> Reply | Fault:
        """The next recorded reply to this prompt; `Reply.seconds` is the recorded time."""
        key = (request.model, request.effort, request.thinking, prompt_sha(request))
        replies = self._replies.get(key)
        if not replies:
            return Fault(kind="request", said=self._missing(request))
        reply = replies[self._asked[key] % len(replies)].reply
        self._asked[key] += 1
        await self._play(reply, listen)
        return reply

    async def close(self) -> None:
        """Nothing to let go of."""

    def _missing(self, request: Request) -> str:
        setting = Setting(model=request.model, effort=request.effort, thinking=request.thinking)
        if setting.label not in {s.label for s in self.recording.settings}:
            known = ", ".join(s.label for s in self.recording.settings) or "nothing"
            return f"{self.endpoint} holds no replies of {setting.label}; it holds {known}"
        return f"{self.endpoint} holds no reply of {setting.label} to this prompt: its wording is not the recorded one"

    async def _play(self, reply: Reply, listen: Listener | None) -> None:
        """Take the time the reply took, and hand out its pieces meanwhile."""
        taken_s = reply.seconds or 0.0
        seconds = taken_s * self._pace
        if listen is None:
            await asyncio.sleep(seconds)
            return
        first = min(reply.first_token_s or 0.0, taken_s) * self._pace
        await asyncio.sleep(first)
        if reply.thinking:
            listen(Delta("thinking", reply.thinking))
        count = max(1, int((seconds - first) / PIECE_S))
        size = max(1, -(-len(reply.text) // count))
        pieces = [reply.text[at : at + size] for at in range(0, len(reply.text), size)]
        for piece in pieces:
            listen(Delta("text", piece))
            await asyncio.sleep((seconds - first) / len(pieces))
