"""The agents whose ways are known, and any other by its template: from a setting to the command that is started."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal

from resit.core.agent_names import Preset, preset_of
from resit.core.agents.template import CommandLine
from resit.core.command_entry import PLACEHOLDER
from resit.core.config import ModelEntry, ModelsFile
from resit.core.errors import ResitError, UsageError
from resit.core.records import EFFORTS, Effort, Request, Setting

_READ_TOOLS = "Read,Glob,Grep"
_WRITE_TOOLS = "Read,Glob,Grep,Edit,Write,Bash"
# With a server named, it would otherwise take its own way of signing in, and refuse it.
_GEMINI_SETTINGS = '{"security": {"auth": {"selectedType": "gemini-api-key"}}}'
CLAUDE_RETRIES = 2
"""Calls that Claude Code repeats by itself: its own ten would take minutes over a wrong key."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a command line is built for."""

    model: str
    """As the command knows it."""
    effort: Effort | None
    writable: bool
    """The question has a workspace: the agent may change files there, and run commands."""
    budget_usd: Decimal | None
    server: str | None
    """Base URL that it is to ask instead of its own."""


@dataclass(frozen=True, slots=True)
class Known:
    """One preset."""

    program: str
    efforts: tuple[Effort, ...]
    """What it takes; empty when it has no such option."""
    arguments: Callable[[Wanted], list[str]]
    reader: str
    variables: tuple[str, ...]
    logins: tuple[str, ...]
    settings: tuple[tuple[str, str], ...] = ()
    home_files: tuple[tuple[str, str], ...] = ()
    key_variable: str | None = None
    """The variable it takes a key from, for any server; None where another server cannot be named."""
    server_variable: str | None = None
    """The variable that names its server, where there is one."""
    by_argument: bool = False
    """The prompt is an argument, for it reads none from standard input."""
    hint: str = ""
    """How it is installed."""
    tried: bool = True
    """False: built from its documentation alone."""


def _claude(wanted: Wanted) -> list[str]:
    # --restricted leaves out what a person or project taught it, and keeps its file tools within its folder;
    # without it, and with --allowedTools Read, any file of the disk could be read.
    arguments = [
        "-p", "--output-format", "stream-json", "--verbose", "--restricted", "--strict-mcp-config",
        "--disable-slash-commands", "--no-session-persistence", "--permission-mode", "dontAsk",
        "--model", "{model}", "--tools", _WRITE_TOOLS if wanted.writable else _READ_TOOLS,
    ]  # fmt: skip
    if wanted.writable:
        arguments += ["--allowedTools", "Edit,Write,Bash"]
    if wanted.effort is not None:
        arguments += ["--effort", "{effort}"]
    if wanted.budget_usd is not None:
        arguments += ["--max-budget-usd", f"{wanted.budget_usd:f}"]
    return arguments


def _codex(wanted: Wanted) -> list[str]:
    arguments = [
        "exec", "--json", "--skip-git-repo-check", "--ignore-rules", "-C", "{folder}", "-m", "{model}",
        "-s", "{sandbox}", "-c", "project_doc_max_bytes=0",
    ]  # fmt: skip
    if wanted.effort is not None:
        arguments += ["-c", "model_reasoning_effort={effort}"]
    if wanted.server is not None:
        provider = "model_providers.resit"
        arguments += [
            "-c", "model_provider=resit", "-c", f"{provider}.name=resit", "-c", f"{provider}.wire_api=responses",
            "-c", f"{provider}.base_url={wanted.server}/v1", "-c", f"{provider}.env_key=OPENAI_API_KEY",
        ]  # fmt: skip
    return [*arguments, "-"]


def _gemini(wanted: Wanted) -> list[str]:
    mode = "yolo" if wanted.writable else "default"
    return ["-m", "{model}", "-o", "stream-json", "--skip-trust", "--approval-mode", mode]


def _agy(wanted: Wanted) -> list[str]:
    # Its model names carry the effort, and `-p` takes the prompt as its value, so it comes last.
    model = "{model}-{effort}" if wanted.effort is not None else "{model}"
    arguments = ["--output-format", "json", "--disable-slash-commands", "--print-timeout", "24h", "--model", model]
    if wanted.writable:
        arguments.append("--dangerously-skip-permissions")
    return [*arguments, "-p", "{prompt}"]


KNOWN: dict[Preset, Known] = {
    "claude-code": Known(
        program="claude",
        efforts=EFFORTS,
        arguments=_claude,
        reader="claude",
        variables=(
            "ANTHROPIC_API_KEY",
            "ANTHROPIC_AUTH_TOKEN",
            "CLAUDE_CODE_OAUTH_TOKEN",
            "ANTHROPIC_BASE_URL",
        ),
        logins=(".claude/.credentials.json",),
        settings=(
            ("CLAUDE_CODE_MAX_RETRIES", str(CLAUDE_RETRIES)),
            ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
            ("DISABLE_AUTOUPDATER", "1"),
        ),
        key_variable="ANTHROPIC_API_KEY",
        server_variable="ANTHROPIC_BASE_URL",
        hint="npm install -g @anthropic-ai/claude-code",
    ),
    "codex": Known(
        program="codex",
        efforts=("low", "medium", "high", "xhigh"),
        arguments=_codex,
        reader="codex",
        variables=("OPENAI_API_KEY", "CODEX_API_KEY"),
        logins=(".codex/auth.json",),
        key_variable="OPENAI_API_KEY",
        hint="npm install -g @openai/codex",
    ),
    "gemini": Known(
        program="gemini",
        efforts=(),
        arguments=_gemini,
        reader="gemini",
        variables=("GEMINI_API_KEY", "GOOGLE_API_KEY", "GOOGLE_CLOUD_PROJECT"),
        # Google accounts are no longer served by it, so there is no file to sign in with.
        logins=(),
        home_files=((".gemini/settings.json", _GEMINI_SETTINGS),),
        key_variable="GEMINI_API_KEY",
        server_variable="GOOGLE_GEMINI_BASE_URL",
        hint="npm install -g @google/gemini-cli",
    ),
    "agy": Known(
        program="agy",
        efforts=("low", "medium", "high"),
        arguments=_agy,
        reader="agy",
        variables=(),
        logins=(".gemini/antigravity-cli/antigravity-oauth-token",),
        # With a sign of a remote session it reads its token from that file; else from a keyring, out of its reach here.
        settings=(("SSH_CONNECTION", "127.0.0.1 1 127.0.0.1 1"),),
        by_argument=True,
        hint="see antigravity.google",
        tried=False,
    ),
}


def entry_of(model: str, models_file: ModelsFile) -> ModelEntry:
    """What is said of a model that a command answers for: its entry, or the preset that its name begins with."""
    entry = models_file.models.get(model)
    return entry if entry is not None else ModelEntry(provider="command", preset=preset_of(model))


def command_line(request: Request, entry: ModelEntry) -> CommandLine:
    """How the command that a request is for is started."""
    model = entry.model or request.model.partition("/")[2] or request.model
    if entry.preset is None:
        return CommandLine(
            name=request.model,
            argv=entry.command,
            model=model,
            prompt_by=entry.prompt,
            reader="json" if entry.answer_path else "file" if entry.answer == "file" else "text",
            answer_path=entry.answer_path or "",
            variables=entry.env + ((entry.key,) if entry.key else ()),
            logins=entry.sign_in,
        )
    known = KNOWN[entry.preset]
    wanted = Wanted(model, request.effort, request.workspace is not None, entry.budget_usd, entry.base_url)
    line = CommandLine(
        name=entry.preset,
        argv=(known.program, *known.arguments(wanted)),
        model=model,
        prompt_by="argument" if known.by_argument else "stdin",
        reader=known.reader,
        variables=known.variables + entry.env,
        renamed=((known.key_variable, entry.key),) if entry.key and known.key_variable else (),
        settings=known.settings,
        logins=known.logins + entry.sign_in,
        home_files=known.home_files,
    )
    return line if entry.base_url is None else _elsewhere(line, known, entry)


def _elsewhere(line: CommandLine, known: Known, entry: ModelEntry) -> CommandLine:
    """The same for a server named in `models.toml`: nobody's key goes to a stranger's server by oversight."""
    settings = dict(line.settings)
    if known.server_variable and entry.base_url:
        settings[known.server_variable] = entry.base_url
    if known.key_variable and entry.key is None:
        settings[known.key_variable] = "none"  # or it would not start
    return replace(line, variables=entry.env, settings=tuple(settings.items()), logins=entry.sign_in)


def efforts_of(entry: ModelEntry) -> tuple[Effort, ...]:
    """The efforts that an agent takes: as its entry says, else as its preset or template has it."""
    if entry.efforts is not None:
        return entry.efforts
    if entry.preset is not None:
        return KNOWN[entry.preset].efforts
    return EFFORTS if _has(entry, "effort") else ()


def cannot_run(
    setting: Setting, models_file: ModelsFile, environ: Mapping[str, str] | None = None, *, here: bool = True
) -> ResitError | None:
    """Why a setting's command cannot be started, with the mend; None when it can.

    Args:
        setting: Which agent, and at which effort.
        models_file: The person's models.
        environ: Stands in for the process's environment.
        here: Whether it is to run on this machine, so that its program must be here.
    """
    entry = entry_of(setting.model, models_file)
    efforts = efforts_of(entry)
    if setting.effort is not None and setting.effort not in efforts:
        takes = f"takes {', '.join(efforts)}" if efforts else "takes none"
        return UsageError(f"{setting.model} takes no effort {setting.effort}; it {takes}")
    if setting.effort is None and entry.preset is None and _has(entry, "effort"):
        return UsageError(f"{setting.model} needs an effort", hint=f"name one: {setting.model}@low")
    if setting.thinking == "off":
        return UsageError(f"{setting.model} cannot be told not to think", hint="choose an effort instead")
    program = entry.command[0] if entry.preset is None else KNOWN[entry.preset].program
    path = (os.environ if environ is None else environ).get("PATH", os.defpath)
    if here and shutil.which(program, path=path) is None:
        hint = KNOWN[entry.preset].hint if entry.preset is not None else "install it, or name its full path"
        return UsageError(f"{program} is not on PATH, so {setting.model} cannot be asked", hint=hint)
    return None


def _has(entry: ModelEntry, name: str) -> bool:
    return any(name in PLACEHOLDER.findall(part) for part in entry.command)
