"""How a command is started: its arguments as a template, and the placeholders filled in without a shell."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from resit.core.agents.jail import inner_home
from resit.core.agents.scratch import Scratch
from resit.core.command_entry import PLACEHOLDER, PromptBy
from resit.core.records import Fault, Isolation, Request

MAX_ARGUMENT_BYTES = 128_000
"""Linux takes no single argument longer than 128 KiB."""
_ANSWER, _PROMPT = "answer.txt", "prompt.txt"


@dataclass(frozen=True, slots=True)
class CommandLine:
    """How a command is started and how its output is read."""

    name: str
    """Name of the preset, or of the model's entry in `models.toml`."""
    argv: tuple[str, ...]
    """With placeholders: {model}, {effort}, {prompt}, {prompt_file}, {answer_file}, {folder}."""
    model: str = ""
    """What {model} stands for: the model as the command knows it."""
    prompt_by: PromptBy = "stdin"
    reader: str = "text"
    """Which of the readers in `outputs` understands what it prints."""
    answer_path: str = ""
    """For the reader `json`: where the answer stands, as a small dotted path."""
    variables: tuple[str, ...] = ()
    """Names of the environment variables it gets beside the usual ones; no values, so that a job can be sent."""
    renamed: tuple[tuple[str, str], ...] = ()
    """Variables that it gets under another name: its own, and that of the person's."""
    settings: tuple[tuple[str, str], ...] = ()
    """Variables with fixed values, none of them secret."""
    logins: tuple[str, ...] = ()
    """Files it signs in with, relative to the person's home."""
    home_files: tuple[tuple[str, str], ...] = ()
    """Files that are put into its private home: path and text."""

    def program(self, path: str) -> str | None:
        """Where the program is, looked for in `path`; None when it is nowhere."""
        return shutil.which(self.argv[0], path=path)


@dataclass(frozen=True, slots=True)
class Filled:
    """A command ready to be started in a scratch folder."""

    argv: tuple[str, ...]
    stdin: bytes
    env: Mapping[str, str]
    """What it sets beside the variables that are passed on."""
    answer_file: Path
    """Where it may have left its answer, as seen from outside."""


def fill(command: CommandLine, request: Request, scratch: Scratch, isolation: Isolation) -> Filled | Fault:
    """The command with every placeholder filled, its prompt's file written; a fault when the prompt is too long."""
    prompt = request.prompt if request.system is None else f"{request.system}\n\n{request.prompt}"
    if command.prompt_by == "argument" and len(prompt.encode()) > MAX_ARGUMENT_BYTES:
        said = f"the prompt is too long for an argument of {command.name}; let it read a file or standard input"
        return Fault(kind="request", said=said)
    for name, text in command.home_files:
        (scratch.home / name).parent.mkdir(parents=True, exist_ok=True)
        (scratch.home / name).write_text(text, encoding="utf-8")
    if command.prompt_by == "file":
        (scratch.home / _PROMPT).write_text(prompt, encoding="utf-8")
    home = inner_home(scratch.home, isolation)
    values = {
        "model": command.model,
        "effort": request.effort or "",
        "prompt": prompt,
        "prompt_file": str(home / _PROMPT),
        "answer_file": str(home / _ANSWER),
        "folder": str(scratch.work),
        "sandbox": _codex_sandbox(scratch, isolation),
    }
    return Filled(
        argv=tuple(PLACEHOLDER.sub(lambda match: values.get(match[1], match[0]), part) for part in command.argv),
        stdin=prompt.encode() if command.prompt_by == "stdin" else b"",
        env=dict(command.settings),
        answer_file=scratch.home / _ANSWER,
    )


def _codex_sandbox(scratch: Scratch, isolation: Isolation) -> str:
    """What codex is told of its own sandbox, which also keeps the commands it runs from the network.

    It cannot start within Landlock, nor within bubblewrap for root: there ours is the only one.
    """
    if isolation == "landlock" or (isolation == "bubblewrap" and os.geteuid() == 0):
        return "danger-full-access"
    return "workspace-write" if scratch.writable else "read-only"
