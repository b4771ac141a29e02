"""What an agent was given to sign in with, and the cleaning of all that is kept of its run."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from resit.core.agents.template import CommandLine
from resit.core.config import Secret, scrub
from resit.core.records import AgentRun, Fault, Reply

_SECRET = re.compile(r"key|token|secret|passw|auth|cookie|jwt|credential", re.IGNORECASE)
"""What the name of a variable, or of a value in a login file, says that holds a secret."""
_MIN_CHARS, _LONG_CHARS = 9, 20
"""A shorter value is a word that stands everywhere; a value of any name is a secret from the second on, when it reads
like one. To hide more would take words out of answers."""
_MAX_LOGIN_BYTES = 1_000_000


@dataclass(frozen=True, slots=True)
class Keys:
    """The secrets within an agent's reach."""

    secrets: tuple[Secret, ...] = ()

    @classmethod
    def of(cls, command: CommandLine, environ: Mapping[str, str], home: Path) -> Keys:
        """Those of its variables and of its login files."""
        named = [(name, environ.get(name, "")) for name in command.variables]
        named += [(name, environ.get(source, "")) for name, source in command.renamed]
        values = [Secret(value, name) for name, value in named if _is_secret(name, value)]
        return cls((*values, *_of_proxies(environ), *_of_logins(command, home)))

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


def _of_proxies(environ: Mapping[str, str]) -> Iterator[Secret]:
    """The passwords in the addresses of proxies, which every program is told."""
    for name, value in environ.items():
        if name.lower().endswith("_proxy"):
            # `user:password@host`; an address that cannot be read holds none that a program could use.
            password = value.rpartition("@")[0].rpartition("//")[2].partition(":")[2]
            if len(password) >= _MIN_CHARS:
                yield Secret(password, name)


def _of_logins(command: CommandLine, home: Path) -> Iterator[Secret]:
    for login in command.logins:
        path = home / login
        try:
            if path.is_symlink() or path.stat().st_size > _MAX_LOGIN_BYTES:
                continue
            text = path.read_text(errors="replace")
        except OSError:
            continue
        yield from (Secret(value, login) for name, value in _texts(text) if _is_secret(name, value))


def _is_secret(name: str, value: str) -> bool:
    """Whether a value under a name is one that nobody may read; addresses and plain settings are not."""
    if len(value) < _MIN_CHARS or "://" in value or " " in value or not (value.isascii() and value.isprintable()):
        return False
    if _SECRET.search(name):
        return True
    mixed = any(c.isdigit() for c in value) and any(c.isalpha() for c in value)
    return len(value) >= _LONG_CHARS and mixed and "/" not in value


def _texts(text: str) -> Iterator[tuple[str, str]]:
    """Every text in a JSON file with its name; every word of another one."""
    try:
        todo: list[tuple[str, Any]] = [("", json.loads(text))]
    except (ValueError, RecursionError):
        yield from (("", word) for word in text.split())
        return
    while todo:
        name, value = todo.pop()
        if isinstance(value, str):
            yield name, value
        elif isinstance(value, dict):
            todo += value.items()
        elif isinstance(value, list):
            todo += ((name, item) for item in value)
