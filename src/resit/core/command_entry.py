"""What the person says about a command-line agent in `models.toml`: a preset with changes, or any command."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from resit.core.agent_names import PRESETS, Preset
from resit.core.records import Frozen

PromptBy = Literal["stdin", "argument", "file"]
"""How a command gets its prompt."""
PLACEHOLDER = re.compile(r"\{([a-z_]+)\}")
PLACEHOLDERS = ("model", "effort", "prompt", "prompt_file", "answer_file", "folder")
TIMEOUT_S = 1500.0
"""How long a run of an agent may take, unless its entry says otherwise."""

_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,79}")


class CommandEntry(Frozen):
    """The keys of a `[models."id"]` table that only an agent has."""

    preset: Preset | None = None
    """The agent it is; None for a command of the person's own."""
    command: tuple[str, ...] = ()
    """Program and arguments with placeholders. It never goes through a shell."""
    model: str | None = None
    """What the command calls the model; None is the part of the id after `/`, or the id."""
    prompt: PromptBy = "stdin"
    answer: Literal["stdout", "file"] = "stdout"
    answer_path: str | None = None
    """Where the answer stands in the JSON that is printed: `result` or `choices.0.text`."""
    env: tuple[str, ...] = ()
    """Names of the environment variables that it gets beside the usual ones."""
    sign_in: tuple[str, ...] = ()
    """Files below the person's home that it signs in with."""
    timeout_s: Annotated[float, Field(gt=0, le=86_400)] = TIMEOUT_S
    budget_usd: Annotated[Decimal, Field(gt=0, le=10_000)] | None = None
    """What one run may cost, as far as the command keeps to it."""

    @property
    def is_command(self) -> bool:
        """True when it says anything that only an agent has."""
        return bool(self.model_fields_set & CommandEntry.model_fields.keys())

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        if not self.is_command:
            return self
        if self.preset is not None and self.command:
            raise ValueError("preset and command exclude each other")
        if self.preset is None and not self.command:
            raise ValueError(f"needs preset = one of {', '.join(PRESETS)}, or command = [program, arguments]")
        if self.preset is not None:
            own = [name for name in ("prompt", "answer", "answer_path") if name in self.model_fields_set]
            if own:
                raise ValueError(f"{own[0]} goes with command, not with preset")
        else:
            self._check_command()
        self._check_names()
        return self

    def _check_command(self) -> None:
        used = {name for part in self.command for name in PLACEHOLDER.findall(part)}
        unknown = sorted(used - set(PLACEHOLDERS))
        if unknown:
            known = ", ".join(f"{{{name}}}" for name in PLACEHOLDERS)
            raise ValueError(f"unknown placeholder {{{unknown[0]}}}; there are {known}")
        if not self.command[0] or PLACEHOLDER.search(self.command[0]):
            raise ValueError("command begins with the name of a program")
        wanted = {"argument": "prompt", "file": "prompt_file"}.get(self.prompt)
        for name in ("prompt", "prompt_file"):
            if name == wanted and name not in used:
                raise ValueError(f"prompt = {self.prompt!r} needs {{{name}}} in command")
            if name != wanted and name in used:
                way = "argument" if name == "prompt" else "file"
                raise ValueError(f"{{{name}}} in command needs prompt = {way!r}")
        if (self.answer == "file") != ("answer_file" in used):
            raise ValueError("answer = 'file' and {answer_file} in command go together")
        if self.answer_path is not None and (self.answer == "file" or not all(self.answer_path.split("."))):
            raise ValueError("answer_path is a dotted path such as result.text, into what is printed")

    def _check_names(self) -> None:
        for name in self.env:
            if not _VARIABLE.fullmatch(name) or name.startswith("sk_"):
                raise ValueError("env holds names of environment variables, never their values")
        for path in self.sign_in:
            if path.startswith(("/", "~")) or ".." in path.split("/") or not path:
                raise ValueError("sign_in holds paths below the home folder, such as .tool/auth.json")
