"""One time and place for every picture."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from resit.tui import figures


@pytest.fixture(autouse=True)
def _one_time_and_place(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    monkeypatch.setattr(figures, "this_year", lambda: 2026)
    yield
    monkeypatch.undo()
    time.tzset()
