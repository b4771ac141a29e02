"""The misses of a round in full, as text: what was accepted, what came, and why it is a miss."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby

from resit.core.judging.agent_words import agent_facts, agent_texts
from resit.core.judging.gates import suspects_said
from resit.core.judging.review_queue import STATES, count_states, grader_said, queue_said, state_of
from resit.core.judging.wording import day
from resit.core.printable import one_line
from resit.core.records import FAIR, Row, RunRecord, run_key
from resit.core.rounds.former import FormerGrade, read_former
from resit.core.rounds.plan import build_request
from resit.core.scoring.grade import Grade, counted, grade
from resit.core.scoring.misses import disagreements, grader_suspects, miss_queue
from resit.core.suite import Question
from resit.plain.opened import Opened
from resit.plain.text import block, plural, score


def misses(found: Opened) -> Iterator[str]:
    """What to look at first, then every run below full marks or without a fair answer, in suite order.

    Equal replies of one setting to one question are told once. Passes that deserve a look come last.
    """
    wanted = miss_queue(found.grid)
    yield "\n".join(_queue_said(found)) if wanted else "no misses"
    yield from map(one_line, suspects_said(grader_suspects(found.graded.rows), 20))
    for row in disagreements(found.graded.rows):
        yield one_line(f"{row.question} · {row.setting} · run {row.run}: verdict {row.verdict}, yet {row.outcome}")
    former = read_former(found.store)
    for rows in _folded(wanted):
        yield from _told(found, rows, former)
    doubtful = [row for row in found.graded.rows if row.doubt and row.score == 1.0]
    if doubtful:
        yield f"{plural(len(doubtful), 'pass', 'passes')} that {'deserves' if len(doubtful) == 1 else 'deserve'} a look"
    for rows in _folded(doubtful):
        yield from _told(found, rows, former)


def _queue_said(found: Opened) -> Iterator[str]:
    """How far the runs have come, what is left to read, and whose fault the misses were."""
    planned = len(found.plan.questions(found.suite)) * len(found.plan.settings) * found.plan.repeats
    states = count_states(found.graded.rows, planned, found.evidence)
    yield queue_said(states)
    left = states.get("result", 0) + states.get("review", 0)
    blamed = grader_said(found.graded.rows)
    yield f"{plural(left, 'miss', 'misses')} left to read" + (f"; {blamed}" if blamed else "")


def _folded(rows: Iterable[Row]) -> Iterator[tuple[Row, ...]]:
    """Runs of one question under one setting that gave the same reply and got the same grade and verdict."""
    for _, runs in groupby(rows, key=lambda row: (row.question, row.setting)):
        alike: dict[tuple[object, ...], list[Row]] = {}
        for row in runs:
            mark = (row.reply, row.outcome, row.score, row.second_score, row.failed, row.verdict)
            # Without a reply there is a fault, which may be another one each time.
            alike.setdefault(mark if row.reply is not None else (row.run,), []).append(row)
        yield from map(tuple, alike.values())


def _told(found: Opened, rows: tuple[Row, ...], former: Mapping[str, tuple[FormerGrade, ...]]) -> Iterator[str]:
    row = rows[0]
    planned = next(planned for planned in found.plan.settings if planned.setting.label == row.setting)
    question = found.suite.by_id[row.question]
    key = run_key(row.question, planned.setting, row.run)
    record = found.store.read(key)
    if record is None:
        return
    asked = build_request(found.suite, question, planned.setting, planned.endpoint, record.prompt).digest()
    lines = [miss_text(rows, question, grade(question, record, asked))]
    lines.append(f"  state     {STATES[state_of(row, found.evidence)]}")
    lines += [f"  before    {grade.said} until {day(grade.until)}, rule {grade.rule}" for grade in former.get(key, ())]
    yield "\n".join([*lines, *_agent_lines(record, asked)])


def miss_text(rows: tuple[Row, ...], question: Question, graded: Grade) -> str:
    """Runs that said the same: what was accepted, what came, what was compared, and why it is a miss."""
    row = rows[0]
    runs = f"run {row.run}" if len(rows) == 1 else f"{len(rows)} alike, runs {', '.join(str(r.run) for r in rows)}"
    lines = [one_line(f"{row.question} · {row.setting} · {runs} · {_verdict_said(row, graded)}")]
    lines.append(one_line(f"  prompt    {question.prompt}", 200))
    if question.accept:
        lines.append(one_line(f"  accepted  {' | '.join(question.accept)}"))
    if graded.reply is not None:
        lines += ["  reply, as received", block(graded.reply)]
    if graded.judged is not None:
        lines.append(one_line(f"  compared  {graded.judged.compared}", 400))
        lines.append(one_line(f"  with      {' | '.join(graded.judged.accepted)}", 400))
    lines += [one_line(f"  failed    {c.name}: {c.why}", 400) for c in graded.checks if not c.passed]
    lines.append(one_line(f"  why       {graded.why}", 400))
    if graded.trap is not None:
        lines.append(one_line(f"  trap      {graded.trap.reply}: {graded.trap.why}", 400))
    if graded.doubtful:
        lines.append(one_line(f"  doubt     {graded.doubtful}", 400))
    if graded.second_score is not None and graded.second is not None:
        lines.append(one_line(f"  second    {score(graded.second_score)}: {graded.second.why}", 400))
    return "\n".join(lines)


def _agent_lines(record: RunRecord, asked: str) -> list[str]:
    """How an agent came to its answer, its steps and what it changed; none for a model asked directly."""
    attempt = counted(record, asked)
    if attempt is None or attempt.reply is None or attempt.reply.agent is None:
        return []
    lines = [one_line(f"  {name:<9} {text}", 400) for name, text in agent_facts(attempt.reply)]
    for heading, text in agent_texts(attempt.reply.agent):
        lines += [f"  {heading.lower()}", block(text)]
    return lines


def _verdict_said(row: Row, graded: Grade) -> str:
    if row.outcome not in FAIR:
        return f"unsettled: {row.outcome}"
    said = row.outcome if row.outcome == "miss" else f"{row.outcome} {score(row.score)}"
    said += f" ({graded.reason})" if graded.reason else ""
    return said + (f" · verdict: {row.verdict}" if row.verdict else "")
