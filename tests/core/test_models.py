from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest

from mock_server import MockServer, model_page
from resit.core.calling.anthropic_client import AnthropicClient
from resit.core.calling.models import (
    ALIASES,
    TABLE,
    ask_models,
    cached_models,
    cannot_ask,
    info_of,
    known_models,
    model_info,
    resolve_model,
    thinking_off_type,
)
from resit.core.config import ModelEntry, ModelsFile
from resit.core.endpoints import Endpoint, provider_for
from resit.core.paths import cache_dir
from resit.core.records import EFFORTS, Effort, Fault, Setting

NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
KNOWN = known_models(ModelsFile(), now=NOW)


@pytest.mark.parametrize(
    ("text", "model"),
    [
        ("haiku", "claude-haiku-5-5"),
        ("Opus", "claude-opus-5-5"),
        ("claude-opus-5", "claude-opus-5"),
        ("opus-5", "claude-opus-5"),
        ("Sonnet 5.5", "claude-sonnet-5-5"),
        ("claude-haiku-5-5-20261007", "claude-haiku-5-5-20261007"),
        ("qwen3-4b", "qwen3-4b"),
        ("My Model", "My Model"),
    ],
)
def test_short_names_mean_the_current_model(text: str, model: str) -> None:
    assert resolve_model(text, KNOWN) == model


def test_every_alias_is_in_the_table_and_every_row_is_dated() -> None:
    assert set(ALIASES.values()) <= set(TABLE)
    assert all(info.as_of and info.source for info in TABLE.values())


def test_a_dated_id_takes_what_its_model_takes() -> None:
    assert model_info("claude-haiku-5-5-20261007", KNOWN) == TABLE["claude-haiku-5-5"]
    assert model_info("qwen3-4b", KNOWN) is None


@pytest.mark.parametrize(
    ("model", "effort", "problem"),
    [
        ("claude-haiku-5-5", "low", None),
        ("claude-haiku-5-5", "max", "cannot turn thinking off at effort max"),
        ("claude-sonnet-5-5", "max", None),
        ("claude-opus-5-5", None, "claude-opus-5-5 always thinks"),
        ("claude-fable-5-1", "low", "always thinks"),
        ("qwen3-4b", "max", None),
    ],
)
def test_thinking_off_is_refused_where_it_is_not_possible(
    model: str, effort: Effort | None, problem: str | None
) -> None:
    found = cannot_ask(model_info(model, KNOWN), effort, "off")
    assert problem in found if problem and found else found == problem
    assert cannot_ask(model_info(model, KNOWN), effort, "default") is None


def test_an_effort_and_thinking_off_do_not_go_together_over_chat_completions() -> None:
    known = known_models(ModelsFile(models={"gpt-5.2": ModelEntry(provider="openai")}), now=NOW)
    for model in ("gpt-5.2", "ollama/llama3.2"):
        info = info_of(Setting(model=model, provider="openai"), known)
        assert "not both" in str(cannot_ask(info, "low", "off"))
        assert cannot_ask(info, None, "off") is None
        assert cannot_ask(info, "low", "default") is None


def test_thinking_is_turned_off_as_each_model_takes_it() -> None:
    assert thinking_off_type(TABLE["claude-haiku-5-5"]) == "disabled"
    assert thinking_off_type(TABLE["claude-sonnet-5-5"]) == "between_tools"
    assert thinking_off_type(None) == "disabled"


def test_models_toml_has_the_last_word() -> None:
    models_file = ModelsFile(
        models={
            "qwen3-4b": ModelEntry(efforts=("low",), base_url="http://127.0.0.1:1"),
            "claude-opus-5-5": ModelEntry(thinking_off="disabled"),
            "told": ModelEntry(provider="recorded"),
        }
    )
    known = known_models(models_file, now=NOW)
    assert "takes no effort high; it takes low" in (cannot_ask(known["qwen3-4b"], "high", "default") or "")
    assert cannot_ask(known["claude-opus-5-5"], "max", "off") is None
    assert known["claude-opus-5-5"].max_output == TABLE["claude-opus-5-5"].max_output
    assert known["claude-opus-5-5"].source == "models.toml"
    assert provider_for("told", models_file) == "recorded"
    assert provider_for("claude-opus-5-5", models_file) == "anthropic"


async def test_the_apis_own_information_is_asked_once_a_week() -> None:
    async with MockServer() as server:
        server.model_pages = {
            "claude-opus-5-5": model_page("claude-opus-5-5", efforts=("low", "high"), thinking=("between_tools",)),
            "claude-next": model_page("claude-next", efforts=(), thinking=("adaptive",), max_tokens=64_000),
            "claude-gone": model_page("claude-gone", lifecycle="retired"),
        }
        client = AnthropicClient(Endpoint(server.url, "--base-url"), None)
        asked = await ask_models(client, now=NOW)
        await client.close()
    assert not isinstance(asked, Fault)
    assert cached_models(NOW + timedelta(days=6)) == asked
    known = known_models(ModelsFile(), now=NOW)
    opus, following = known["claude-opus-5-5"], known["claude-next"]
    assert (opus.efforts, opus.thinking_off, opus.default_effort) == (("low", "high"), "between_tools", "medium")
    assert (following.efforts, following.thinking_off, following.max_output) == ((), "impossible", 64_000)
    assert following.as_of == date(2026, 11, 30)
    assert "claude-gone" not in known
    assert known_models(ModelsFile(), now=NOW + timedelta(days=8)) == TABLE


async def test_a_server_that_lists_names_only_takes_nothing_from_the_table() -> None:
    class Names:
        async def list_models(self) -> tuple[dict[str, Any], ...] | Fault:
            return ({"id": "claude-haiku-5-5"},)

    await ask_models(Names(), now=NOW)
    haiku, row = known_models(ModelsFile(), now=NOW)["claude-haiku-5-5"], TABLE["claude-haiku-5-5"]
    assert (haiku.efforts, haiku.thinking_off, haiku.max_output) == (row.efforts, row.thinking_off, row.max_output)


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"asked_at": "2026-11-30T12:00:00", "models": []}'])
def test_a_damaged_cache_is_as_good_as_none(text: str) -> None:
    cache_dir().mkdir(parents=True)
    (cache_dir() / "models.json").write_text(text)
    assert known_models(ModelsFile(), now=NOW) == TABLE


@pytest.mark.parametrize(
    "page",
    [
        {},
        {"id": 7},
        {"id": "m"},
        {"id": "m", "capabilities": None, "max_tokens": None, "retires_at": "soon"},
        {"id": "m", "capabilities": {"effort": [], "thinking": {"types": "all"}}},
    ],
)
async def test_odd_information_is_not_known_rather_than_wrong(page: dict[str, Any]) -> None:
    class Lister:
        async def list_models(self) -> tuple[dict[str, Any], ...] | Fault:
            return (page,)

    for info in await _asked(Lister()):
        assert (info.id, info.efforts, info.thinking_off, info.max_output) == ("m", None, None, None)


async def _asked(lister: Any) -> tuple[Any, ...]:
    found = await ask_models(lister, now=NOW)
    assert not isinstance(found, Fault)
    return found


async def test_a_server_without_a_list_of_models_says_so() -> None:
    async with MockServer() as server:
        client = AnthropicClient(Endpoint(server.url + "/elsewhere", "--base-url"), None)
        found = await ask_models(client, now=NOW)
        await client.close()
    assert isinstance(found, Fault)
    assert found.said.endswith("/elsewhere lists no models (404)")


async def test_a_server_that_cannot_list_its_models_says_why() -> None:
    async with MockServer() as server:
        client = AnthropicClient(Endpoint(server.url, "--base-url"), None)
        assert await ask_models(client, now=NOW) == ()
        await client.close()
    dead = AnthropicClient(Endpoint(server.url, "--base-url"), None)
    found = await ask_models(dead, now=NOW)
    await dead.close()
    assert isinstance(found, Fault)
    assert "cannot be reached" in found.said


def test_every_effort_of_the_table_is_one_that_can_be_asked_for() -> None:
    assert all(set(info.efforts or ()) <= set(EFFORTS) for info in TABLE.values())
