from __future__ import annotations

import json
from datetime import UTC, date, datetime
from decimal import Decimal
from importlib.metadata import version
from pathlib import Path

import pytest

from resit.core.config import ModelEntry, ModelsFile, PriceEntry
from resit.core.records import Request, Setting, Usage
from resit.core.spend.prices import (
    TABLE_DATES,
    PastCall,
    PlannedCall,
    Price,
    cost_usd,
    estimate,
    price_for,
    worst_case_usd,
)

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
HAIKU = Setting(model="claude-haiku-5-5")
SONNET = Setting(model="claude-sonnet-5-5")
NOTHING_SET = ModelsFile()


def list_price(model: str, at: datetime = NOW) -> Price:
    price = price_for(Setting(model=model), NOTHING_SET, at)
    assert price is not None
    return price


def request(prompt: str, max_tokens: int = 200) -> Request:
    return Request("anthropic", "claude-haiku-5-5", prompt, None, max_tokens, None, "default", "https://a")


@pytest.mark.parametrize("model", ["claude-haiku-5-5", "claude-sonnet-5-5"])
def test_the_published_run_comes_out_to_the_last_digit(model: str) -> None:
    run = json.loads((Path(__file__).parent.parent / "data" / "published_run.json").read_text())["models"][model]
    usage = Usage(input_tokens=run["input_tokens"], output_tokens=run["output_tokens"])
    cost = cost_usd(list_price(model), usage)
    assert cost is not None
    assert cost == {"claude-haiku-5-5": Decimal("0.0001264"), "claude-sonnet-5-5": Decimal("0.002568")}[model]
    assert f"{cost:.6f}" == run["cost_usd_shown"]


@pytest.mark.parametrize(
    ("usage", "dollars"),
    [
        (Usage(input_tokens=1_000_000 // 10, output_tokens=0), "0.01"),
        (Usage(input_tokens=100_001, output_tokens=0), "0.0500005"),
        # The cached part counts towards the tier, and the tier holds for the whole request.
        (Usage(input_tokens=1, cache_read_tokens=100_000, output_tokens=10), "0.0050255"),
        (Usage(input_tokens=10, cache_read_tokens=1_000, cache_write_tokens=1_000, output_tokens=0), "0.000136"),
        (Usage(input_tokens=0, output_tokens=100, thinking_tokens=90), "0.00005"),
    ],
)
def test_each_kind_of_token_is_priced_apart_and_the_long_prompt_tier_holds_for_the_whole_request(
    usage: Usage, dollars: str
) -> None:
    assert cost_usd(list_price("claude-haiku-5-5"), usage) == Decimal(dollars)


def test_an_unknown_model_has_no_price_and_no_cost_rather_than_none_at_all() -> None:
    price = price_for(Setting(model="claude-nonesuch-9"), NOTHING_SET, NOW)
    assert price is None
    assert cost_usd(price, Usage(input_tokens=1, output_tokens=1)) is None
    assert worst_case_usd(price, request("x")) is None


def test_a_model_of_another_provider_is_not_guessed_by_its_name() -> None:
    assert price_for(Setting(model="qwen3:4b"), NOTHING_SET, NOW) is None
    assert price_for(Setting(model="gpt-5", provider="anthropic"), NOTHING_SET, NOW) is None


def test_a_model_served_elsewhere_is_not_billed_at_the_list_price() -> None:
    elsewhere = ModelsFile(models={"claude-haiku-5-5": ModelEntry(base_url="http://127.0.0.1:1234")})
    assert price_for(HAIKU, elsewhere, NOW) is None


@pytest.mark.parametrize(
    ("model", "base_url", "dollars"),
    [
        ("gpt-5.2", None, "1.75"),
        ("gpt-5.2", "https://api.openai.com", "1.75"),
        ("openai/gpt-5", "https://openrouter.ai/api", "1.25"),
        ("llama-3.3-70b-versatile", "https://api.groq.com/openai", "0.59"),
        ("gpt-5.2", "http://127.0.0.1:8080", None),
        ("gpt-5.2", "https://gateway.example", None),
        ("gpt-5.2", "https://api.openai.com.evil.example", None),
        ("claude-haiku-5-5", None, None),
        ("no-such-model", None, None),
        ("ollama/gpt-5.2", None, None),
    ],
)
def test_a_chat_completions_model_is_priced_by_the_host_that_bills_it(
    model: str, base_url: str | None, dollars: str | None
) -> None:
    models_file = ModelsFile(models={model: ModelEntry(provider="openai", base_url=base_url)})
    price = price_for(Setting(model=model, provider="openai"), models_file, NOW)
    assert (price and str(price.input)) == dollars


def test_a_price_goes_by_the_server_in_force_whoever_named_it() -> None:
    setting = Setting(model="gpt-5.2", provider="openai")
    assert price_for(setting, NOTHING_SET, NOW, "http://127.0.0.1:8080") is None


def test_a_local_model_is_free_only_when_the_person_says_so_for_it_or_its_server() -> None:
    local = Setting(model="ollama/llama3.2", provider="openai")
    assert price_for(local, NOTHING_SET, NOW) is None
    free = PriceEntry(input=Decimal(0), output=Decimal(0), source="my own machine")
    every = ModelsFile(prices={"ollama/*": free})
    price = price_for(local, every, NOW)
    assert price is not None
    assert price.free
    assert price_for(Setting(model="vllm/llama3.2", provider="openai"), every, NOW) is None
    dear = PriceEntry(input=Decimal(1), output=Decimal(2))
    own = price_for(local, ModelsFile(prices={"ollama/*": free, "ollama/llama3.2": dear}), NOW)
    assert own is not None
    assert own.input == 1


def test_a_dated_id_has_the_price_of_its_model() -> None:
    assert list_price("claude-haiku-5-5-20261007").input == Decimal("0.1")


def test_prices_follow_the_date_of_the_call() -> None:
    before, after = list_price("claude-sonnet-4-6", datetime(2026, 3, 1, tzinfo=UTC)), list_price("claude-sonnet-4-6")
    assert before.rates_for(200_001).output == Decimal("22.5")
    assert after.rates_for(200_001).output == Decimal(15)


def test_the_persons_own_price_wins_and_a_rate_they_left_out_is_unknown() -> None:
    entry = PriceEntry(input=Decimal(3), output=Decimal(6), as_of=date(2026, 11, 1), source="my invoice")
    price = price_for(HAIKU, ModelsFile(prices={"claude-haiku-5-5": entry}), NOW)
    assert price is not None
    assert price.label == "my invoice (1 Nov 2026)"
    assert cost_usd(price, Usage(input_tokens=1_000_000, output_tokens=0)) == 3
    assert cost_usd(price, Usage(input_tokens=1, output_tokens=0, cache_read_tokens=5)) is None


def test_a_free_model_costs_nothing_even_when_its_server_counts_no_tokens() -> None:
    free = Price(input=Decimal(0), output=Decimal(0), source="my own machine")
    assert cost_usd(free, None) == 0
    assert cost_usd(free, Usage()) == 0
    assert not free.stale(date(2026, 11, 30))


def test_tokens_the_server_did_not_count_make_the_cost_unknown() -> None:
    assert cost_usd(list_price("claude-haiku-5-5"), Usage(input_tokens=10)) is None
    assert cost_usd(list_price("claude-haiku-5-5"), None) is None


def test_the_installed_table_has_a_known_date_and_says_it() -> None:
    assert version("genai-prices") in TABLE_DATES, "look up the release's date and add it to TABLE_DATES"
    price = list_price("claude-haiku-5-5")
    assert price.label.startswith("genai-prices ")
    assert price.as_of is not None


@pytest.mark.parametrize(
    ("as_of", "stale"), [(date(2026, 11, 1), False), (date(2026, 9, 1), False), (date(2026, 8, 1), True), (None, True)]
)
def test_an_old_price_or_one_of_unknown_age_is_flagged(as_of: date | None, stale: bool) -> None:
    price = Price(input=Decimal(1), output=Decimal(1), as_of=as_of, source="x")
    assert price.stale(date(2026, 11, 30)) is stale


def test_the_worst_case_is_no_less_than_any_bill() -> None:
    price = list_price("claude-haiku-5-5")
    worst = worst_case_usd(price, request("é" * 50, max_tokens=200))
    bill = cost_usd(price, Usage(input_tokens=100 + 100, output_tokens=200))
    assert worst is not None
    assert bill is not None
    assert worst >= bill


def test_a_prompt_that_may_reach_the_dearer_tier_is_set_aside_at_that_tier() -> None:
    price = list_price("claude-haiku-5-5")
    worst = worst_case_usd(price, request("x" * 100_000, max_tokens=1000))
    assert worst is not None
    assert worst >= Decimal("0.0525")


def test_a_price_survives_its_way_through_a_file() -> None:
    price = list_price("claude-haiku-5-5")
    assert Price.model_validate_json(price.model_dump_json()) == price


def call(question: str, setting: Setting = HAIKU, *, priced: bool = True) -> PlannedCall:
    return PlannedCall(question, setting, request("p" * 40), list_price(setting.model) if priced else None)


def past(question: str, output: int, seconds: float) -> PastCall:
    return PastCall(question, HAIKU, Usage(input_tokens=100, output_tokens=output), seconds)


def test_an_estimate_is_a_range_from_the_suites_own_past_replies() -> None:
    found = estimate([call("a"), call("a"), call("b")], [past("a", 10, 1.0), past("a", 30, 3.0), past("b", 20, 2.0)])
    assert found.history
    assert found.low_usd == Decimal("0.00001") * 3 + Decimal("0.0000005") * (10 + 10 + 20)
    assert found.high_usd == Decimal("0.00001") * 3 + Decimal("0.0000005") * (30 + 30 + 20)
    assert (found.low_seconds, found.high_seconds) == (4.0, 8.0)
    minutes = found.minutes(2)
    assert minutes == (4.0 / 2 / 60, 8.0 / 2 / 60)


def test_without_history_the_estimate_says_so_and_ends_at_the_worst_case() -> None:
    found = estimate([call("a"), call("b")], [past("a", 10, 1.0)])
    assert not found.history
    assert found.with_history == 1
    assert found.minutes(10) is None
    alone = estimate([call("b")])
    assert alone.high_usd == alone.worst_usd > alone.low_usd > 0


def test_an_estimate_names_the_models_it_leaves_out() -> None:
    found = estimate([call("a"), call("a", SONNET, priced=False), call("b", SONNET, priced=False)])
    assert found.unpriced == ("claude-sonnet-5-5",)
    assert found.worst_usd == estimate([call("a")]).worst_usd
