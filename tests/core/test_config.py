from __future__ import annotations

import pickle
from datetime import date
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from resit.core.config import HIDDEN, ModelsFile, Secret, find_key, load_models_file, parse_env, scrub
from resit.core.endpoints import ANTHROPIC_URL, Endpoint, endpoint_for, provider_for
from resit.core.errors import ConfigError
from resit.core.records import Setting

KEY = "sk-ant-api03-Qz7vT1xLm9Wd_4KpRb2NfHs8Yc"
HAIKU = Setting(model="claude-haiku-5-5")


def test_a_secret_shows_itself_to_nobody() -> None:
    secret = Secret(KEY, "environment")
    assert secret.reveal() == KEY
    for shown in (repr(secret), str(secret), f"{secret}", f"{[secret]!r}"):
        assert KEY not in shown
    with pytest.raises(TypeError):
        pickle.dumps(secret)


def test_the_environment_comes_before_any_env_file(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("ANTHROPIC_API_KEY=from-file\n")
    found = find_key("ANTHROPIC_API_KEY", tmp_path, {"ANTHROPIC_API_KEY": " from-environment\n"})
    assert found is not None
    assert (found.reveal(), found.source) == ("from-environment", "environment")


def test_the_nearest_env_file_that_has_the_key_is_taken(tmp_path: Path) -> None:
    deep = tmp_path / "a" / "b"
    deep.mkdir(parents=True)
    (tmp_path / ".env").write_text("ANTHROPIC_API_KEY=far\n")
    (tmp_path / "a" / ".env").write_text("export ANTHROPIC_API_KEY='near'  # mine\n")
    (deep / ".env").write_text("OTHER=1\nANTHROPIC_API_KEY=\n")
    found = find_key("ANTHROPIC_API_KEY", deep, {})
    assert found is not None
    assert (found.reveal(), found.source) == ("near", str(tmp_path / "a" / ".env"))


def test_no_key_anywhere_is_none(tmp_path: Path) -> None:
    (tmp_path / ".env").mkdir()
    assert find_key("ANTHROPIC_API_KEY", tmp_path, {"ANTHROPIC_API_KEY": "  "}) is None


@pytest.mark.parametrize("value", ["two words", "smart”quote", "line\nbreak", "ключ-к-двери"])
def test_what_cannot_be_a_key_is_refused_without_being_shown(tmp_path: Path, value: str) -> None:
    with pytest.raises(ConfigError) as refused:
        find_key("ANTHROPIC_API_KEY", tmp_path, {"ANTHROPIC_API_KEY": value})
    assert value not in str(refused.value)
    assert "ANTHROPIC_API_KEY" in str(refused.value)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("K=v", "v"),
        ("  export K = v  ", "v"),
        ("K=v # comment", "v"),
        ("K=v#no-comment", "v#no-comment"),
        ("K=#comment", ""),
        ("K='v # kept'", "v # kept"),
        ('K="v # kept" # dropped', "v # kept"),
        ('K="two\\nlines"', "two\nlines"),
        ('K="a\nK=b"', "a\nK=b"),
        ("K=a=b", "a=b"),
        ("K=v\r\nL=w\r\n", "v"),
        ("\ufeffK=v".removeprefix("\ufeff"), "v"),
        ("# K=no\nK=yes", "yes"),
        ("K=first\nK=last", "last"),
        ("K=", ""),
        ("K=\nL=w", ""),
        ("not a line\nK=v", "v"),
        ("K='it'\\''s", "'it'\\''s"),
    ],
)
def test_env_files_are_read_as_shells_read_them(text: str, value: str) -> None:
    assert parse_env(text)["K"] == value


@given(st.text())
def test_any_env_file_can_be_read(text: str) -> None:
    parse_env(text)


@pytest.mark.parametrize(
    "text",
    [
        f"invalid x-api-key: {KEY}",
        f"key={KEY}&b",
        KEY[:20],
        KEY[-12:] + " was refused",
        f"'{KEY[5:18]}...'",
        "you sent sk-ant-another-key-1234567890 there",
        "Incorrect API key provided: sk-ab***************wxyz.",
    ],
)
def test_no_piece_of_a_key_outlives_scrubbing(text: str) -> None:
    clean = scrub(text, [Secret(KEY, "environment")])
    assert HIDDEN in clean
    assert not any(KEY[at : at + 8] in clean for at in range(len(KEY) - 7))
    assert "another-key" not in clean
    assert "wxyz" not in clean


def test_scrubbing_leaves_the_rest_as_it_is() -> None:
    assert scrub(f"a {KEY} b {KEY} c", [Secret(KEY, "x")]) == f"a {HIDDEN} b {HIDDEN} c"
    assert scrub("nothing here to hide", [Secret(KEY, "x")]) == "nothing here to hide"
    assert scrub("short ones: tiny", [Secret("tiny", "x")]) == f"short ones: {HIDDEN}"


MODELS = """
[models."qwen3-4b"]
base_url = "http://localhost:8080/v1/"
efforts = ["low", "high"]
thinking_off = "disabled"
max_tokens = 4096

[models."claude-haiku-5-5"]
key = "WORK_KEY"

[prices."claude-haiku-5-5"]
input = 0.10
output = 1
as_of = 2026-11-11
source = "the contract"
"""


def _file(tmp_path: Path, text: str) -> ModelsFile:
    path = tmp_path / "models.toml"
    path.write_text(text)
    return load_models_file(path)


def test_models_toml_adds_models_and_prices(tmp_path: Path) -> None:
    found = _file(tmp_path, MODELS)
    assert found.models["qwen3-4b"].base_url == "http://localhost:8080"
    assert found.models["qwen3-4b"].efforts == ("low", "high")
    price = found.prices["claude-haiku-5-5"]
    assert (price.input, price.output, price.cache_read) == (Decimal("0.10"), Decimal(1), None)
    assert (price.as_of, price.source) == (date(2026, 11, 11), "the contract")


def test_no_models_toml_is_an_empty_one() -> None:
    assert load_models_file() == ModelsFile()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('[models."x"]\nbase = "http://a"', "base"),
        ('[models."x"]\nbase_url = "localhost:80"', "http"),
        ('[models."x"]\nbase_url = "http://user:hunter2hunter2@a"', "password"),
        (f'[models."x"]\nkey = "{KEY}"', "never the key itself"),
        (f'[models."x"]\nefforts = ["{KEY}"]', "efforts"),
        ('[prices."x"]\ninput = -1\noutput = 1', "input"),
        ('[prices."x"]\ninput = nan\noutput = 1', "input"),
        ('[prices."x"]\ninput = 1', "output"),
        ("[models", "not TOML"),
    ],
)
def test_a_wrong_models_toml_is_refused_with_the_place_but_not_the_value(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(ConfigError) as refused:
        _file(tmp_path, text)
    line = str(refused.value)
    assert said in line
    assert "models.toml" in line
    assert KEY not in line
    assert "hunter2" not in line
    assert "\n" not in line


def test_the_endpoint_says_who_set_it(tmp_path: Path) -> None:
    models = _file(tmp_path, MODELS)
    local = Setting(model="qwen3-4b")
    env = {"ANTHROPIC_BASE_URL": "https://gateway.example/v1"}
    assert endpoint_for(HAIKU, ModelsFile(), None, {}) == Endpoint(ANTHROPIC_URL, "default")
    assert endpoint_for(HAIKU, ModelsFile(), None, env) == Endpoint("https://gateway.example", "ANTHROPIC_BASE_URL")
    assert endpoint_for(HAIKU, models, "http://127.0.0.1:9/", env) == Endpoint(
        "http://127.0.0.1:9", "--base-url", "WORK_KEY"
    )
    assert endpoint_for(local, models, None, env).source == "models.toml"
    assert "from ANTHROPIC_BASE_URL" in endpoint_for(HAIKU, ModelsFile(), None, env).said


def test_a_strangers_server_gets_no_anthropic_key(tmp_path: Path) -> None:
    assert endpoint_for(Setting(model="qwen3-4b"), _file(tmp_path, MODELS), None, {}).key is None


def _asked(model: str, provider: str = "openai") -> Setting:
    return Setting(model=model, provider=provider)


OPENAI = """\
[models."gpt-5.2"]
provider = "openai"

[models."own"]
provider = "openai"
base_url = "https://api.openai.com/v1"

[models."hosted"]
provider = "openai"
base_url = "https://openrouter.ai/api/v1"
key = "OPENROUTER_API_KEY"

[models."box"]
provider = "openai"
base_url = "http://gpu-box:8000"

[models."llama.cpp/locked"]
key = "LLAMA_API_KEY"
"""
BOTH = {"ANTHROPIC_BASE_URL": "https://gateway.example", "OPENAI_BASE_URL": "https://other.example/v1"}


@pytest.mark.parametrize(
    ("model", "flag", "environ", "url", "source", "key"),
    [
        ("gpt-5.2", None, {}, "https://api.openai.com", "default", "OPENAI_API_KEY"),
        ("gpt-5.2", None, BOTH, "https://other.example", "OPENAI_BASE_URL", "OPENAI_API_KEY"),
        ("gpt-5.2", "http://127.0.0.1:9/v1", BOTH, "http://127.0.0.1:9", "--base-url", "OPENAI_API_KEY"),
        ("own", None, BOTH, "https://api.openai.com", "models.toml", "OPENAI_API_KEY"),
        ("hosted", None, BOTH, "https://openrouter.ai/api", "models.toml", "OPENROUTER_API_KEY"),
        ("box", None, BOTH, "http://gpu-box:8000", "models.toml", None),
        ("ollama/llama3.2", None, BOTH, "http://127.0.0.1:11434", "model name", None),
        ("lm-studio/q", None, BOTH, "http://127.0.0.1:1234", "model name", None),
        ("ollama/llama3.2", "http://box:11434", BOTH, "http://box:11434", "--base-url", None),
        ("llama.cpp/locked", None, BOTH, "http://127.0.0.1:8080", "model name", "LLAMA_API_KEY"),
    ],
)
def test_a_chat_completions_server_gets_neither_anthropics_url_nor_its_key(
    tmp_path: Path, model: str, flag: str | None, environ: dict[str, str], url: str, source: str, key: str | None
) -> None:
    found = endpoint_for(_asked(model), _file(tmp_path, OPENAI), flag, environ)
    assert (found.url, found.source, found.key) == (url, source, key)


def test_an_anthropic_model_never_gets_openais_url() -> None:
    assert endpoint_for(HAIKU, ModelsFile(), None, {"OPENAI_BASE_URL": "https://other.example"}).url == ANTHROPIC_URL


@pytest.mark.parametrize(
    ("model", "provider"),
    [
        ("claude-haiku-5-5", "anthropic"),
        ("gpt-5.2", "openai"),
        ("ollama/llama3.2", "openai"),
        ("vllm/org/model", "openai"),
        ("llama.cpp/locked", "openai"),
        ("ollama/", "anthropic"),
        ("llama.cpp", "anthropic"),
        ("openai/gpt-5", "anthropic"),
    ],
)
def test_who_asks_a_model_is_said_by_its_entry_or_its_name(tmp_path: Path, model: str, provider: str) -> None:
    assert provider_for(model, _file(tmp_path, OPENAI)) == provider


def test_a_base_url_in_models_toml_makes_a_name_like_a_local_servers_an_ordinary_one(tmp_path: Path) -> None:
    text = '[models."ollama/llama3"]\nbase_url = "http://proxy:4000"'
    assert provider_for("ollama/llama3", _file(tmp_path, text)) == "anthropic"


@pytest.mark.parametrize(
    ("url", "local"),
    [
        ("http://127.0.0.1:8080", True),
        ("http://127.3.2.1", True),
        ("http://localhost:1234", True),
        ("http://[::1]:8000", True),
        ("http://127.0.0.1.evil.example", False),
        ("http://localhost.evil.example", False),
        ("https://api.openai.com", False),
        ("recorded:demo", False),
    ],
)
def test_only_this_machine_is_local(url: str, local: bool) -> None:
    assert Endpoint(url, "default").local is local


@pytest.mark.parametrize(
    "url", ["ftp://a", "a.b", "http://", "http://a:b", "http://a?key=1", "http://u:p@a", "http://a b"]
)
def test_a_base_url_that_cannot_be_used_is_refused(url: str) -> None:
    with pytest.raises(ConfigError, match="--base-url"):
        endpoint_for(HAIKU, ModelsFile(), url, {})


@pytest.mark.parametrize(
    ("url", "official"),
    [
        ("https://api.anthropic.com", True),
        ("https://api.openai.com", True),
        ("https://anthropic.com.evil.example", False),
        ("https://openai.com.evil.example", False),
        ("https://notanthropic.com", False),
        ("recorded:demo", False),
    ],
)
def test_only_a_providers_own_server_is_official(url: str, official: bool) -> None:
    assert Endpoint(url, "default").official is official
