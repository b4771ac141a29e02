"""What logged requests cost: four kinds of token, each at its own rate, and nothing that is unknown is 0."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

from log_kit import codex, counted, reply, scanned, user, write

from resit.core.config import ModelsFile, PriceEntry
from resit.core.logs.rows import TIERS
from resit.core.logs.summary import summarise

MTOK = Decimal(1_000_000)


def cost(tmp_path: Path, *rows: object, **more: Any) -> Decimal | None:
    (request,) = scanned(write(tmp_path / "s.jsonl", rows), **more).requests
    return request.cost_usd


def test_cache_reads_are_never_billed_as_input(tmp_path: Path) -> None:
    rows = (user("Fix it"), reply("m1", "ok", input_tokens=100, cache_read_input_tokens=1_000_000, output_tokens=10))
    assert cost(tmp_path, *rows) == (100 * Decimal(4) + 1_000_000 * Decimal("0.20") + 10 * Decimal(20)) / MTOK


def test_what_is_cached_for_an_hour_costs_twice_the_input(tmp_path: Path) -> None:
    split = {"ephemeral_5m_input_tokens": 1000, "ephemeral_1h_input_tokens": 3000}
    row = reply("m1", "ok", input_tokens=0, output_tokens=0, cache_creation_input_tokens=4000, cache_creation=split)
    assert cost(tmp_path, user("Fix it"), row) == (1000 * Decimal(5) + 3000 * Decimal(8)) / MTOK


def test_each_call_is_priced_by_the_length_of_its_own_prompt(tmp_path: Path) -> None:
    short = reply("m1", "ok", model="claude-haiku-5-5", input_tokens=90_000, output_tokens=100)
    long = reply("m2", "ok", model="claude-haiku-5-5", input_tokens=110_000, output_tokens=100)
    whole = 90_000 * Decimal("0.10") + 100 * Decimal("0.50") + 110_000 * Decimal("0.50") + 100 * Decimal("2.50")
    assert cost(tmp_path, user("Fix it"), short, long) == whole / MTOK


def test_a_price_is_that_of_the_day_of_the_request(tmp_path: Path) -> None:
    row = reply("m1", "ok", model="claude-sonnet-4-6", input_tokens=300_000, output_tokens=0)
    before = cost(tmp_path / "a", user("Fix it", timestamp="2026-03-01T12:00:00Z"), row)
    after = cost(tmp_path / "b", user("Fix it", timestamp="2026-04-01T12:00:00Z"), row)
    # Long prompts of this model cost twice as much until 13 March 2026.
    assert (before, after) == (Decimal("1.8"), Decimal("0.9"))


def test_a_model_without_a_price_is_unknown_never_0_and_named_in_the_total(tmp_path: Path) -> None:
    rows = [user("Fix it"), reply("m1", "ok"), user("Test it", 9), reply("m2", "ok", model="claude-next-9", number=10)]
    index = scanned(write(tmp_path / "s.jsonl", rows))
    known, unknown = index.requests
    assert (unknown.cost_usd, unknown.unpriced) == (None, ("claude-next-9",))
    total = summarise(index, models_file=ModelsFile()).total
    assert (total.cost_usd, total.at_least, total.unpriced) == (known.cost_usd, True, ("claude-next-9",))


def test_a_request_answered_partly_by_a_model_without_a_price_costs_at_least_the_rest(tmp_path: Path) -> None:
    rows = [user("Fix it"), reply("m1", "ok"), reply("m2", "ok", model="claude-next-9")]
    (request,) = scanned(write(tmp_path / "s.jsonl", rows)).requests
    assert (request.cost_usd, request.cost_partial) == ((10 * Decimal(4) + 5 * Decimal(20)) / MTOK, True)


def test_the_persons_own_price_wins(tmp_path: Path) -> None:
    mine = PriceEntry(input=Decimal(1), output=Decimal(2), as_of=date(2026, 11, 1))
    models = ModelsFile(prices={"claude-next-9": mine})
    row = reply("m1", "ok", model="claude-next-9", input_tokens=1_000_000, output_tokens=0)
    assert cost(tmp_path, user("Fix it"), row, models_file=models) == 1


def test_codex_input_counts_what_was_cached_so_that_is_billed_once(tmp_path: Path) -> None:
    rows = [
        codex("session_meta", id="c1", cwd="/p", model_provider="openai"),
        codex("turn_context", model="gpt-6-sol", effort="high"),
        codex("event_msg", 2, type="user_message", message="Fix it"),
        counted(3, 1_000_000, 1_000_000, cached=900_000),
    ]
    (request,) = scanned(write(tmp_path / "rollout-1.jsonl", rows)).requests
    assert (request.usage.input_tokens, request.usage.cache_read_tokens) == (100_000, 900_000)
    models = ModelsFile(
        prices={"gpt-6-sol": PriceEntry(input=Decimal(2), output=Decimal(10), cache_read=Decimal("0.2"))}
    )
    assert cost(tmp_path, *rows, models_file=models) == (100_000 * Decimal(2) + 900_000 * Decimal("0.2") + 70) / MTOK


def test_a_request_whose_log_counts_no_tokens_has_no_cost_and_is_said_to_be_uncounted(tmp_path: Path) -> None:
    index = scanned(write(tmp_path / "s.jsonl", [{"prompt": "Fix it", "reply": "ok", "model": "claude-opus-5-5"}]))
    total = summarise(index, models_file=ModelsFile()).total
    assert (index.requests[0].cost_usd, total.cost_usd, total.uncounted, total.at_least) == (None, None, 1, True)


def test_calls_are_summed_within_every_tier_of_the_bundled_table() -> None:
    from genai_prices.data_snapshot import get_snapshot

    starts = set()
    for provider in get_snapshot().providers:
        if provider.id in ("anthropic", "openai", "google", "aws", "azure"):
            for model in provider.models:
                for each in model.prices if isinstance(model.prices, list) else [model.prices]:
                    price = getattr(each, "prices", each)
                    for kind in ("input_mtok", "output_mtok", "cache_read_mtok", "cache_write_mtok"):
                        starts |= {tier.start for tier in getattr(getattr(price, kind), "tiers", [])}
    assert starts
    assert starts <= set(TIERS)
