"""Work of agents verified again by the tests that hold now, made again from its diff: no agent is asked."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from resit.core.agents.jail import best_isolation, hidden_areas
from resit.core.agents.verify import code_key, verify_again
from resit.core.errors import ResitError, RoundError
from resit.core.records import RunRecord, Verified
from resit.core.rounds.plan import COMMAND, RoundPlan, build_request
from resit.core.rounds.store import RoundStore
from resit.core.scoring.grade import counted
from resit.core.scoring.work import verified_work, verify_rules
from resit.core.suite import Suite


@dataclass(frozen=True, slots=True)
class Reverified:
    """What became of the runs whose work waited for a verdict by the present tests."""

    done: int = 0
    lost: int = 0
    """Runs whose work cannot be made again; only asking again helps."""
    why: str = ""
    """Why one of them could not be verified; empty when all were."""

    @property
    def said(self) -> str:
        """One sentence; empty when nothing waited."""
        parts = [f"{_runs(self.done)} verified again"] if self.done else []
        parts += [f"{_runs(self.lost)} cannot be: the next start asks again ({self.why})"] if self.lost else []
        return ", ".join(parts)


def reverify(store: RoundStore, suite: Suite, *, cwd: Path | None = None) -> Reverified:
    """Verify again what was verified by other tests than those of `suite`, or could not be verified.

    Args:
        store: The round; it is locked meanwhile.
        suite: The suite as its file is now.
        cwd: Folder from which keys are looked for, which are hidden.

    Raises:
        RoundError: The round cannot be read or written, or another process runs it.
    """
    waiting = list(_waiting(store, store.plan(), suite))
    if not waiting:
        return Reverified()
    hidden, isolation = hidden_areas(suite, cwd=cwd), best_isolation()
    done, lost, why = 0, 0, ""
    store.lock()
    try:
        for record, number, former in waiting:
            question = suite.by_id[record.question]
            key = code_key(suite, question)
            if key is None:
                continue
            request = build_request(suite, question, record.setting, "")
            try:
                found = verify_again(former, request, key, isolation, hidden)
                said = found.stopped if found is not None else "its diff does not tell all that was changed"
            except ResitError as error:
                found, said = None, str(error)
            if found is None or found.stopped:
                lost, why = lost + 1, said
            else:
                store.put(_with(record, number, former, found))
                done += 1
    finally:
        store.unlock()
    return Reverified(done, lost, why)


def _waiting(store: RoundStore, plan: RoundPlan, suite: Suite) -> Iterator[tuple[RunRecord, int, Verified]]:
    """Runs with usable work that has no verdict by the present tests, with the number of the attempt."""
    settings = {planned.setting.label: planned for planned in plan.settings if planned.setting.provider == COMMAND}
    for key, _ in store.marks():
        try:
            record = store.read(key)
        except RoundError:
            continue
        planned = settings.get(record.setting.label) if record is not None else None
        question = suite.by_id.get(record.question) if record is not None else None
        if record is None or planned is None or question is None or not question.verify_digest:
            continue
        attempt = counted(record, build_request(suite, question, planned.setting, planned.endpoint).digest())
        former = verified_work(attempt.reply) if attempt is not None and attempt.reply is not None else None
        if attempt is None or attempt.reply is None or former is None:
            continue
        if question.verify_digest not in verify_rules(attempt.reply):
            yield record, attempt.number, former


def _with(record: RunRecord, number: int, former: Verified, found: Verified) -> RunRecord:
    """The record with one more verdict on an attempt's work; those before are kept, without their diff."""
    attempts = []
    for attempt in record.attempts:
        if attempt.number == number and attempt.reply is not None and attempt.reply.agent is not None:
            before = (former.model_copy(update={"diff": ""}), *attempt.reply.agent.verified_before)
            kept = tuple(work for work in before if not work.stopped and work.rule != found.rule)
            agent = attempt.reply.agent.model_copy(update={"verified": found, "verified_before": kept})
            reply = attempt.reply.model_copy(update={"agent": agent})
            attempt = attempt.model_copy(update={"reply": reply})
        attempts.append(attempt)
    return record.model_copy(update={"attempts": tuple(attempts)})


def _runs(count: int) -> str:
    return f"{count:,} run{'' if count == 1 else 's'}"
