"""Rows of results for tests that need many of them."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from resit.core.records import Row, Setting

LOW = Setting(model="haiku", effort="low")
HIGH = Setting(model="sonnet", effort="high")


def row(question: str, score: float | None = 1.0, run: int = 1, setting: Setting = LOW, **fields: Any) -> Row:
    """One run with that score; None is a reply that was cut off."""
    outcome = "cut_off" if score is None else "pass" if score == 1.0 else "part" if score else "miss"
    values: dict[str, Any] = {
        "question": question,
        "kind": "general",
        "setting": setting.label,
        "model": setting.model,
        "effort": setting.effort,
        "variant": setting.variant,
        "run": run,
        "outcome": outcome,
        "score": score,
        "second_score": None,
        "reason": None if score in (None, 1.0) else "wrong",
        "failed": (),
        "reply": "x",
        "seconds": 1.0,
        "attempts": 1,
        "input_tokens": 10,
        "cache_write_tokens": None,
        "cache_read_tokens": 0,
        "output_tokens": 5,
        "thinking_tokens": None,
        "cost_usd": Decimal("0.01"),
        "turns": 1,
        "verdict": None,
    }
    return Row(**{**values, **fields})
