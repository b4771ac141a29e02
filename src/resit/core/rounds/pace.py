"""How fast models take our calls: when a failed one is tried again, and when a whole model is left alone."""

from __future__ import annotations

import random
from dataclasses import dataclass

from resit.core.calling.faults import RetryPolicy
from resit.core.records import ENDS_SETTING, Fault


@dataclass(slots=True)
class _Model:
    limits_in_a_row: int = 0
    held_until_s: float = 0.0


class Pace:
    """What the answers so far say about each model's limits."""

    def __init__(self, policy: RetryPolicy, rng: random.Random) -> None:
        """Decide by `policy`, with jitter from `rng`."""
        self._policy = policy
        self._rng = rng
        self._models: dict[str, _Model] = {}

    def may_start(self, model: str, now_s: float) -> bool:
        """False while a model is left alone."""
        found = self._models.get(model)
        return found is None or found.held_until_s <= now_s

    def answered(self, model: str) -> None:
        """A reply came."""
        if model in self._models:
            self._models[model].limits_in_a_row = 0

    def failed(self, model: str, fault: Fault, attempt: int, now_s: float) -> float | None:
        """Seconds until the run is tried again after attempt number `attempt`; None gives it up."""
        wait_s = self._policy.delay_s(fault, attempt, self._rng)
        if fault.kind == "limit" and wait_s is not None:
            found = self._models.setdefault(model, _Model())
            # One limit holds back its own run; a second with no answer in between holds the model, or every
            # owed run would use up its attempts against the same wall.
            found.limits_in_a_row += 1
            if found.limits_in_a_row > 1:
                found.held_until_s = max(found.held_until_s, now_s + wait_s)
        return wait_s

    def ends_setting(self, fault: Fault) -> bool:
        """True when every other run of the setting would meet this fault as well."""
        return fault.kind in ENDS_SETTING or (
            fault.kind == "limit" and (fault.retry_after_s or 0.0) > self._policy.max_wait_s
        )

    def holds_end_s(self, now_s: float) -> list[float]:
        """When the models that are left alone now may be asked again."""
        return [found.held_until_s for found in self._models.values() if found.held_until_s > now_s]
