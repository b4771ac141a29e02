"""What an agent was given to sign in with, and the cleaning of all that is kept of its run."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from resit.core.agents.template import CommandLine
from resit.core.config import Secret, scrub
from resit.core.records import AgentRun, Fault, Reply

_MIN_CHARS = 16
"""A shorter value of a login file is a word, not a token."""
_MAX_LOGIN_BYTES = 1_000_000
_ADDRESSES = ("_URL", "_HOST", "_ENDPOINT")
"""Variables that say where a server is hold no key."""


@dataclass(frozen=True, slots=True)
class Keys:
    """The secrets within an agent's reach."""

    secrets: tuple[Secret, ...] = ()

    @classmethod
    def of(cls, command: CommandLine, environ: Mapping[str, str], home: Path) -> Keys:
        """Those of its variables and of its login files."""
        named = [name for name in command.variables if not name.endswith(_ADDRESSES)]
        values = [Secret(environ[name], name) for name in named if environ.get(name)]
        return cls((*values, *_of_logins(command, home)))

    def renewed(self, command: CommandLine, home: Path) -> Keys:
        """With those that the login files hold now: a command may have renewed them."""
        return Keys(tuple(dict.fromkeys((*self.secrets, *_of_logins(command, home)))))

    def scrub(self, text: str) -> str:
        """`text` without any of them."""
        return scrub(text, self.secrets)


def scrubbed(answer: Reply | Fault, keys: Keys) -> Reply | Fault:
    """What is to be kept of a run, free of keys."""
    if isinstance(answer, Fault):
        return answer.model_copy(update={"said": keys.scrub(answer.said)})
    texts = {name: keys.scrub(getattr(answer, name)) for name in ("text", "thinking", "stop_detail", "model")}
    agent = None if answer.agent is None else _agent(answer.agent, keys)
    return answer.model_copy(update={**texts, "agent": agent})


def _agent(agent: AgentRun, keys: Keys) -> AgentRun:
    steps = tuple(
        step.model_copy(update={"text": keys.scrub(step.text), "tool": keys.scrub(step.tool)}) for step in agent.steps
    )
    changed: dict[str, Any] = {"steps": steps, "denied": tuple(map(keys.scrub, agent.denied))}
    if agent.verified is not None:
        texts = {name: keys.scrub(getattr(agent.verified, name)) for name in ("output", "diff", "stopped")}
        lists = {name: tuple(map(keys.scrub, getattr(agent.verified, name))) for name in ("changed", "tests", "failed")}
        changed["verified"] = agent.verified.model_copy(update={**texts, **lists})
    return agent.model_copy(update=changed)


def _of_logins(command: CommandLine, home: Path) -> Iterator[Secret]:
    for login in command.logins:
        path = home / login
        try:
            if path.is_symlink() or path.stat().st_size > _MAX_LOGIN_BYTES:
                continue
            text = path.read_text(errors="replace")
        except OSError:
            continue
        for value in _texts(text):
            if len(value) >= _MIN_CHARS and value.isascii() and value.isprintable() and " " not in value:
                yield Secret(value, login)


def _texts(text: str) -> Iterator[str]:
    """Every text in a JSON file; every word of another one."""
    try:
        todo: list[Any] = [json.loads(text)]
    except (ValueError, RecursionError):
        yield from text.split()
        return
    while todo:
        value = todo.pop()
        if isinstance(value, str):
            yield value
        elif isinstance(value, dict):
            todo += value.values()
        elif isinstance(value, list):
            todo += value
