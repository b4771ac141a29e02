"""What a suite's calls took in its last rounds: the ground of every estimate."""

from __future__ import annotations

from pathlib import Path

from resit.core.errors import RoundError
from resit.core.records import Row, Setting, Usage
from resit.core.rounds.memory import load_entries
from resit.core.rounds.shelf import rounds_of
from resit.core.rounds.store import RoundStore
from resit.core.spend.prices import PastCall
from resit.core.suite import Suite

_ROUNDS = 10
"""How many of a suite's last rounds are looked at."""


def past_calls(folder: Path, suite: Suite) -> tuple[PastCall, ...]:
    """What the answered calls of `suite` took in its last rounds below `folder`, as far as they were graded."""
    found = []
    for path in rounds_of(suite, rounds_dir=folder)[:_ROUNDS]:
        try:
            store = RoundStore.open(path)
            settings = {planned.setting.label: planned.setting for planned in store.plan().settings}
        except RoundError:
            continue
        for entry in load_entries(store).values():
            if entry.row.setting in settings and entry.row.seconds is not None:
                found.append(_past_call(entry.row, settings[entry.row.setting]))
    return tuple(found)


def _past_call(row: Row, setting: Setting) -> PastCall:
    usage = Usage(
        input_tokens=row.input_tokens,
        cache_write_tokens=row.cache_write_tokens,
        cache_read_tokens=row.cache_read_tokens,
        output_tokens=row.output_tokens,
        thinking_tokens=row.thinking_tokens,
    )
    return PastCall(row.question, setting, usage, row.seconds or 0.0)
