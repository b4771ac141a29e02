"""From a model's name to the command that is started, and what is said when it cannot be."""

from __future__ import annotations

import re
import stat
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from resit.core.agent_names import PRESETS, Preset
from resit.core.agents import installed
from resit.core.agents.presets import KNOWN, cannot_run, command_line, entry_of
from resit.core.agents.versions import installed_version
from resit.core.calling.models import known_models, resolve_model
from resit.core.config import ModelsFile, load_models_file
from resit.core.endpoints import endpoint_for, provider_for
from resit.core.errors import ConfigError
from resit.core.records import Effort, Request, Setting, Usage
from resit.core.spend.prices import cost_usd, price_for

NONE = ModelsFile()
NOW = datetime(2026, 11, 30, tzinfo=UTC)


def models(**tables: dict[str, Any]) -> ModelsFile:
    return ModelsFile.model_validate({"models": tables})


def argv(model: str, effort: Effort | None = None, file: ModelsFile = NONE, **more: Any) -> str:
    request = Request("command", model, "?", None, 100, effort, "default", "command:x", **more)
    return " ".join(command_line(request, entry_of(model, file)).argv)


def setting(model: str, effort: Effort | None = None, **more: Any) -> Setting:
    return Setting(model=model, effort=effort, provider="command", **more)


def path_with(folder: Path, *names: str) -> dict[str, str]:
    for name in names:
        (folder / name).write_text("#!/bin/sh\n")
        (folder / name).chmod(stat.S_IRWXU)
    return {"PATH": str(folder)}


# --- names


@pytest.mark.parametrize("preset", PRESETS)
def test_a_preset_needs_no_entry(preset: Preset) -> None:
    model = f"{preset}/some-model"
    assert provider_for(model, NONE) == "command"
    assert endpoint_for(setting(model), NONE, environ={}).url == f"command:{preset}"


def test_other_names_with_a_slash_are_no_agents() -> None:
    assert provider_for("ollama/codex", NONE) == "openai"
    assert provider_for("codexes/m", NONE) == "anthropic"
    assert provider_for("codex/", NONE) == "anthropic"
    assert provider_for("codex", NONE) == "anthropic"


def test_an_alias_of_claude_code_is_recorded_as_the_model_it_stands_for() -> None:
    assert resolve_model("claude-code/haiku", known_models(NONE, now=NOW)) == "claude-code/claude-haiku-5-5"
    assert resolve_model("codex/haiku", known_models(NONE, now=NOW)) == "codex/haiku"


def test_the_server_that_claude_code_is_told_to_ask_is_never_silent() -> None:
    environ = {"ANTHROPIC_BASE_URL": "http://127.0.0.1:9/v1"}
    found = endpoint_for(setting("claude-code/m"), NONE, environ=environ)
    assert (found.url, found.source) == ("command:claude-code@http://127.0.0.1:9", "ANTHROPIC_BASE_URL")
    assert endpoint_for(setting("codex/m"), NONE, environ=environ).url == "command:codex"
    file = ModelsFile.model_validate({"models": {"codex/m": {"base_url": "http://127.0.0.1:8"}}})
    assert (
        endpoint_for(setting("codex/m"), file, environ={}).said == "command:codex@http://127.0.0.1:8 (from models.toml)"
    )


# --- command lines


def test_claude_code_reads_only_and_leaks_nothing_of_the_persons() -> None:
    said = argv("claude-code/claude-haiku-5-5", "low")
    assert said.startswith("claude -p --output-format stream-json --verbose --restricted")
    for part in (
        "--tools Read,Glob,Grep",
        "--permission-mode dontAsk",
        "--no-session-persistence",
        "--effort {effort}",
    ):
        assert part in said
    # With it, `Read` would mean any file of the disk.
    assert "--allowedTools" not in said
    assert "Bash" not in said


def test_an_agent_may_write_and_run_commands_only_where_there_is_a_workspace(tmp_path: Path) -> None:
    at_work: dict[str, Any] = {"workspace": tmp_path, "workspace_digest": "x"}
    assert "Read,Glob,Grep,Edit,Write,Bash" in argv("claude-code/m", **at_work)
    assert "--approval-mode yolo" in argv("gemini/m", **at_work)
    assert "--approval-mode default" in argv("gemini/m")
    assert "--dangerously-skip-permissions" in argv("agy/m", **at_work)
    assert "--dangerously-skip-permissions" not in argv("agy/m")


def test_without_an_effort_none_is_sent() -> None:
    assert "effort" not in argv("claude-code/m")
    assert "effort" not in argv("codex/m")
    assert "model_reasoning_effort={effort}" in argv("codex/m", "high")


def test_agys_prompt_comes_last_and_its_model_carries_the_effort() -> None:
    said = argv("agy/gemini-3.8-flash", "low")
    assert said.endswith("-p {prompt}")
    assert "--model {model}-{effort}" in said


def test_a_budget_is_told_to_claude_code() -> None:
    file = ModelsFile.model_validate({"models": {"claude-code/m": {"budget_usd": Decimal("0.50")}}})
    assert "--max-budget-usd 0.50" in argv("claude-code/m", file=file)


def test_claude_code_gives_up_on_a_wrong_key_after_two_retries() -> None:
    request = Request("command", "claude-code/m", "?", None, 100, None, "default", "command:claude-code")
    found = command_line(request, entry_of("claude-code/m", NONE))
    assert dict(found.settings)["CLAUDE_CODE_MAX_RETRIES"] == "2"


@pytest.mark.parametrize(
    ("model", "variable"),
    [("claude-code/m", "ANTHROPIC_API_KEY"), ("codex/m", "OPENAI_API_KEY"), ("gemini/m", "GEMINI_API_KEY")],
)
def test_nobodys_key_or_sign_in_goes_to_another_server_unless_it_is_named(model: str, variable: str) -> None:
    request = Request("command", model, "?", None, 100, None, "default", "command:x")
    usual = command_line(request, entry_of(model, NONE))
    assert variable in usual.variables
    file = ModelsFile.model_validate({"models": {model: {"base_url": "http://127.0.0.1:9"}}})
    elsewhere = command_line(request, entry_of(model, file))
    assert (elsewhere.variables, elsewhere.renamed, elsewhere.logins) == ((), (), ())
    assert dict(elsewhere.settings)[variable] == "none"
    file = ModelsFile.model_validate({"models": {model: {"base_url": "http://127.0.0.1:9", "key": "MY_KEY"}}})
    named = command_line(request, entry_of(model, file))
    assert named.renamed == ((variable, "MY_KEY"),)
    assert variable not in dict(named.settings)


def test_an_agent_that_was_never_run_here_is_marked() -> None:
    assert [preset for preset in PRESETS if not KNOWN[preset].tried] == ["agy"]


# --- what cannot be started


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (setting("gemini/m", "low"), "takes no effort low; it takes none"),
        (setting("codex/m", "max"), "it takes low, medium, high, xhigh"),
        (setting("agy/m", "xhigh"), "it takes low, medium, high"),
        (setting("claude-code/m", thinking="off"), "cannot be told not to think"),
    ],
)
def test_what_an_agent_does_not_take_is_said(asked: Setting, said: str, tmp_path: Path) -> None:
    error = cannot_run(asked, NONE, path_with(tmp_path, "claude", "codex", "gemini", "agy"))
    assert error is not None
    assert said in str(error)


def test_every_effort_of_claude_code_is_taken(tmp_path: Path) -> None:
    for effort in KNOWN["claude-code"].efforts:
        assert cannot_run(setting("claude-code/m", effort), NONE, path_with(tmp_path, "claude")) is None


def test_a_command_that_is_not_on_path_is_said_with_its_mend(tmp_path: Path) -> None:
    error = cannot_run(setting("codex/gpt-6-sol"), NONE, {"PATH": str(tmp_path)})
    assert error is not None
    assert "codex is not on PATH" in error.message
    assert "npm install -g @openai/codex" in error.hint


def test_a_template_takes_an_effort_when_it_has_a_place_for_one(tmp_path: Path) -> None:
    environ = path_with(tmp_path, "tool")
    without = models(my={"provider": "command", "command": ["tool"]})
    within = models(my={"provider": "command", "command": ["tool", "-e", "{effort}"]})
    assert "takes none" in str(cannot_run(setting("my", "low"), without, environ))
    assert cannot_run(setting("my"), without, environ) is None
    assert cannot_run(setting("my", "low"), within, environ) is None
    assert "needs an effort" in str(cannot_run(setting("my"), within, environ))
    limited = models(my={"provider": "command", "command": ["tool", "{effort}"], "efforts": ["high"]})
    assert "it takes high" in str(cannot_run(setting("my", "low"), limited, environ))


# --- what is offered


def test_an_agent_whose_program_is_installed_is_offered_with_what_it_takes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(installed, "PRESETS", PRESETS)
    infos = {info.id: info for info in installed.agent_infos(NONE, path_with(tmp_path, "codex", "agy"))}
    assert {model.partition("/")[0] for model in infos} == {"codex", "agy"}
    assert infos["codex/gpt-6-sol"].efforts == ("low", "medium", "high", "xhigh")
    assert "not tried" in infos["agy/gemini-3.8-flash"].source
    assert installed.agent_infos(NONE, {"PATH": str(tmp_path / "empty")}) == ()


def test_a_persons_own_agent_is_offered_first_and_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(installed, "PRESETS", PRESETS)
    file = ModelsFile.model_validate({"models": {"codex/gpt-6-sol": {"efforts": ["low"]}}})
    infos = installed.agent_infos(file, path_with(tmp_path, "codex"))
    assert (infos[0].id, infos[0].efforts, infos[0].source) == ("codex/gpt-6-sol", ("low",), "models.toml")
    assert [info.id for info in infos].count("codex/gpt-6-sol") == 1


# --- models.toml


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ('provider = "command"', "needs a preset or a command"),
        ('provider = "command"\npreset = "claude"', "preset"),
        ('provider = "command"\npreset = "codex"', "needs model"),
        ('provider = "command"\npreset = "codex"\ncommand = ["x"]', "exclude each other"),
        ('preset = "codex"', "needs provider = 'command'"),
        ('provider = "command"\ncommand = ["x", "{promt}"]', "unknown placeholder {promt}; there are {model}"),
        ('provider = "command"\ncommand = ["{model}"]', "begins with the name of a program"),
        ('provider = "command"\ncommand = ["x"]\nprompt = "argument"', "needs {prompt} in command"),
        ('provider = "command"\ncommand = ["x", "{prompt}"]', "needs prompt = 'argument'"),
        ('provider = "command"\ncommand = ["x"]\nprompt = "file"', "needs {prompt_file} in command"),
        ('provider = "command"\ncommand = ["x"]\nanswer = "file"', "{answer_file}"),
        ('provider = "command"\ncommand = ["x"]\nanswer_path = "a..b"', "dotted path"),
        ('provider = "command"\ncommand = ["x"]\nenv = ["KEY=sk-ant-1234567890"]', "names of environment variables"),
        ('provider = "command"\ncommand = ["x"]\nsign_in = ["/etc/passwd"]', "below the home folder"),
        ('provider = "command"\ncommand = ["x"]\nsign_in = ["../x"]', "below the home folder"),
        ('provider = "command"\ncommand = ["x"]\ntimeout_s = 0', "timeout_s"),
        ('provider = "command"\ncommand = ["x"]\nbudget_usd = -1', "budget_usd"),
        ('provider = "command"\ncommand = "x --flag"', "command"),
    ],
)
def test_an_entry_that_cannot_be_is_refused_in_one_line(table: str, said: str, tmp_path: Path) -> None:
    path = tmp_path / "models.toml"
    path.write_text(f'[models."my-agent"]\n{table}\n')
    with pytest.raises(ConfigError) as caught:
        load_models_file(path)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)
    assert "sk-ant" not in str(caught.value)


def test_an_entry_named_after_a_preset_needs_to_say_no_more(tmp_path: Path) -> None:
    path = tmp_path / "models.toml"
    path.write_text('[models."claude-code/haiku"]\ntimeout_s = 60\n')
    entry = load_models_file(path).models["claude-code/haiku"]
    assert (entry.provider, entry.preset, entry.timeout_s) == ("command", "claude-code", 60)


def test_a_name_of_ones_own_stands_for_a_preset_and_a_model() -> None:
    file = models(cheap={"provider": "command", "preset": "codex", "model": "gpt-6-sol"})
    request = Request("command", "cheap", "?", None, 100, None, "default", "command:codex")
    assert command_line(request, entry_of("cheap", file)).model == "gpt-6-sol"


def test_the_readme_names_every_key_of_an_agents_entry() -> None:
    readme = (Path(__file__).parents[3] / "README.md").read_text()
    for name in ("preset", "command", "prompt", "answer", "answer_path", "env", "sign_in", "timeout_s", "budget_usd"):
        assert re.search(rf"`?\b{name}\b", readme), name


# --- money and versions


def test_an_agents_tokens_cost_what_its_models_tokens_cost() -> None:
    haiku = price_for(setting("claude-code/claude-haiku-5-5"), NONE, NOW)
    assert haiku is not None
    assert (haiku.input, haiku.output) == (Decimal("0.10"), Decimal("0.50"))
    assert price_for(setting("codex/gpt-6-sol"), NONE, NOW) is not None
    assert price_for(setting("agy/gemini-3.8-flash"), NONE, NOW) is None
    assert price_for(setting("codex/no-such-model"), NONE, NOW) is None
    elsewhere = ModelsFile.model_validate({"models": {"codex/gpt-6-sol": {"base_url": "http://127.0.0.1:1"}}})
    assert price_for(setting("codex/gpt-6-sol"), elsewhere, NOW) is None


def test_a_tier_is_of_one_request_and_not_of_all_that_an_agent_made() -> None:
    haiku = price_for(setting("claude-code/claude-haiku-5-5"), NONE, NOW)
    usage = Usage(input_tokens=150_000, output_tokens=0)
    assert cost_usd(haiku, usage, requests=10) == Decimal("0.015")
    assert cost_usd(haiku, usage) == Decimal("0.075")


def test_a_version_is_read_from_the_package_a_program_lies_in(tmp_path: Path) -> None:
    package = tmp_path / "node_modules/@openai/codex"
    (package / "bin").mkdir(parents=True)
    (package / "package.json").write_text('{"name": "@openai/codex", "version": "0.171.0"}')
    (package / "bin/codex.js").write_text("#!/usr/bin/env node\n")
    (package / "bin/codex.js").chmod(stat.S_IRWXU)
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/codex").symlink_to(package / "bin/codex.js")
    assert installed_version("codex", str(tmp_path / "bin")) == "0.171.0"
    assert installed_version("gemini", str(tmp_path / "bin")) == ""


def test_a_version_is_read_from_the_name_of_a_native_program(tmp_path: Path) -> None:
    native = tmp_path / "versions/2.1.332"
    native.parent.mkdir()
    native.write_text("")
    native.chmod(stat.S_IRWXU)
    (tmp_path / "claude").symlink_to(native)
    assert installed_version("claude-code", str(tmp_path)) == "2.1.332"
