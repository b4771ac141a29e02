"""A miss in words: what is accepted, what was said, where they differ, and why it counts as it does."""

from __future__ import annotations

from difflib import SequenceMatcher
from typing import TYPE_CHECKING

from textual.content import Content

from resit.core.judging.agent_words import agent_facts, agent_texts, tools_said
from resit.core.judging.review_queue import STATES
from resit.core.printable import one_line, printable
from resit.core.records import Attempt, Reply, Row
from resit.tui import figures
from resit.tui.looks import MISS, PASS, mark, mark_style
from resit.tui.widgets.text_view import Part

if TYPE_CHECKING:
    from resit.core.scoring.grade import Grade
    from resit.core.scoring.judged import Judged
    from resit.tui.miss import Miss

_LABEL_WIDTH = 10
_PROMPT_CHARS, _REPLY_CHARS, _OTHER_CHARS = 360, 900, 60
_CHECKS = 20
"""Checks that the pane names; a code question may have hundreds of tests."""
_MARKED_CHARS = 400
"""Longest texts whose difference is marked; beyond that the eye cannot follow, and matching is quadratic."""

REASONS = {
    "trap": "the trap",
    "format": "format: right answer, wrong form",
    "wrong": "wrong",
}
OUTCOMES = {
    "empty": "an empty reply: nothing was answered",
    "cut_off": "cut off at the token limit, so no fair answer",
    "refused": "the model declined",
    "blocked": "held back by a filter",
    "void": "void: the key was seen",
    "limit": "a rate or usage limit",
    "timeout": "no answer in time",
    "error": "an error",
}


def pane_text(miss: Miss, width: int) -> Content:
    """The miss pane at `width` cells, shortened: `enter` opens the whole of it."""
    lines = [_state(miss), *_prompt(miss), *_accepts(miss), *_said(miss), *_why(miss), *_others(miss), *_facts(miss)]
    return Content("\n").join([_headline(miss), Content(""), *(_hung(line, width) for line in lines)])


def _hung(line: Content, width: int) -> Content:
    """`line`, wrapped under its value and not under its label."""
    if line.cell_length <= width or width < 2 * _LABEL_WIDTH:
        return line
    label, value = line.divide([_LABEL_WIDTH])
    return label + Content("\n" + " " * _LABEL_WIDTH).join(value.wrap(width - _LABEL_WIDTH))


def full_parts(miss: Miss) -> list[Part]:
    """Everything about a run, for the full screen: nothing is cut."""
    attempt = counted_attempt(miss)
    reply = attempt.reply if attempt else None
    parts = [Part("Summary", "\n".join(line.plain for line in [_headline(miss), _state(miss), *_why(miss)]))]
    if miss.record is not None:
        parts.append(Part("Prompt, as the model saw it", miss.record.prompt))
    decides = f"decided by {miss.question.verify}" if miss.question.verify else "decided by checks"
    parts.append(Part("Accepted", "\n".join(miss.question.accept) or decides, "good"))
    if reply is not None:
        parts.append(Part(f"Reply, as received ({figures.count(len(reply.text), 'character')})", reply.text))
    elif attempt is not None and attempt.fault is not None:
        parts.append(Part("No reply", attempt.fault.said, "bad"))
    if miss.grade is not None and miss.grade.judged is not None:
        judged = miss.grade.judged
        compared = f"{judged.compared}\n\nwith\n\n" + "\n".join(judged.accepted)
        parts.append(Part("As compared", compared))
    if miss.grade is not None and miss.grade.checks:
        parts.append(Part("Checks", "\n".join(line.plain.strip() for line in _checks(miss.grade))))
    if reply is not None and reply.agent is not None:
        parts += [Part(heading, text) for heading, text in agent_texts(reply.agent)]
    if reply is not None and reply.thinking:
        parts.append(Part(f"Thinking ({figures.count(len(reply.thinking), 'character')})", reply.thinking, "dim"))
    for row in miss.siblings:
        if row is not miss.row and row.reply is not None:
            parts.append(Part(f"{mark(row.score)} {row.setting} · run {row.run}", row.reply, "dim"))
    if miss.record is not None:
        parts.append(Part("Attempts", "\n".join(_attempt(a) for a in miss.record.attempts), "dim"))
    parts.append(Part("Figures", "\n".join(line.plain for line in _facts(miss)), "dim"))
    return parts


def _label(name: str) -> Content:
    return Content.styled(f"{name:<{_LABEL_WIDTH}}", "$text-muted")


def _line(name: str, text: str | Content, style: str = "") -> Content:
    value = text if isinstance(text, Content) else Content.styled(text, style)
    return _label(name) + value


def _block(name: str, text: str, limit: int, style: str = "") -> list[Content]:
    """A labelled text on as many lines as it has, cut with a word on how much is left."""
    shown = printable(text[:limit])
    lines = shown.split("\n")
    left = len(text) - limit
    if len(lines) > 12:
        left = max(left, 0) + sum(len(line) + 1 for line in lines[12:])
        lines = lines[:12]
    found = [_line(name if not at else "", line, style) for at, line in enumerate(lines)]
    if left > 0:
        found.append(_line("", f"{left:,} more, enter opens", "$text-muted"))
    return found


def _headline(miss: Miss) -> Content:
    row = miss.row
    head = Content.styled(one_line(row.question, 60), "bold")
    rest = f" · {one_line(figures.short_setting(row.setting), 40)} · run {row.run}"
    sign = mark(row.score)
    said = figures.score(row.score) if row.score is not None else row.outcome.replace("_", " ")
    return head + Content(rest) + Content.styled(f"  {sign} {said}", mark_style(sign))


def _state(miss: Miss) -> Content:
    """How far the run has come, with what takes it further."""
    match miss.state:
        case "review" | "result" if miss.row.verdict == "grader":
            return _line(
                "state", "needs review: the grader is blamed, so a rule must change or n say why not", "$warning"
            )
        case "review":
            return _line("state", "needs review: v judges it", "$warning")
        case "result":
            return _line("state", "no fair answer: R asks it again, v settles it", "$warning")
        case state:
            return _line("state", STATES[state], "$text-muted")


def _former(miss: Miss) -> list[Content]:
    """Earlier grades, each with the edit that ended it."""
    lines = []
    for at, grade in enumerate(miss.former):
        edits = [edit for edit in miss.edited_at if edit <= grade.until]
        ended = f"before the edit of {figures.when(edits[-1])}" if edits else f"until {figures.when(grade.until)}"
        sign = mark(grade.score)
        value = Content.styled(f"{sign} ", mark_style(sign)) + Content(f"{ended}: {grade.said}, rule {grade.rule[:8]}")
        lines.append(_line("" if at else "before", value))
    return lines


def _prompt(miss: Miss) -> list[Content]:
    prompt = miss.record.prompt if miss.record else miss.question.prompt
    return [*_block("asked", prompt.strip(), _PROMPT_CHARS), Content("")]


def _accepts(miss: Miss) -> list[Content]:
    accepted = " | ".join(one_line(form, 80) for form in miss.question.accept[:12])
    if len(miss.question.accept) > 12:
        accepted += f" | {len(miss.question.accept) - 12} more"
    lines = [_line("accepts", accepted, "$success")] if accepted else []
    return [*lines, _line("rule", rule_words(miss.question.rule.name), "$text-muted")] if accepted else lines


def _said(miss: Miss) -> list[Content]:
    attempt = counted_attempt(miss)
    if miss.problem:
        return [_line("damaged", one_line(miss.problem, 300), "$error")]
    if attempt is None:
        return [_line("said", "nothing is kept of this run", "$text-muted")]
    if attempt.reply is None:
        return _block("no reply", attempt.fault.said if attempt.fault else "", _REPLY_CHARS, "$warning")
    text = attempt.reply.text
    if not text:
        return [_line("said", "(empty)", "$warning"), *_steps(attempt.reply)]
    return [*_block("said", text, _REPLY_CHARS, "bold"), *_steps(attempt.reply)]


def _steps(reply: Reply) -> list[Content]:
    """What an agent did on its way, on one line."""
    if reply.agent is None or not reply.agent.steps:
        return []
    tools = tools_said(reply.agent)
    return [_line("steps", f"{len(reply.agent.steps):,}, enter opens" + (f": {one_line(tools, 160)}" if tools else ""))]


def _why(miss: Miss) -> list[Content]:
    row, graded = miss.row, miss.grade
    lines: list[Content] = []
    if graded is not None and graded.judged is not None and not graded.judged.passed:
        lines += _compared(graded.judged)
    if row.outcome in OUTCOMES:
        lines.append(_line("outcome", OUTCOMES[row.outcome], "$warning"))
    elif row.reason is not None:
        lines.append(_line("kind", REASONS[row.reason], mark_style(MISS)))
    if graded is not None:
        if graded.why:
            lines.append(_line("because", one_line(graded.why, 300)))
        if graded.trap is not None:
            lines.append(_line("trap", _trap(graded), "$warning"))
        if graded.second is not None:
            lines.append(_line("second", _second(miss, graded.second)))
        lines += _checks(graded, _CHECKS, folded=miss.question.verify is not None)
        if graded.doubtful:
            lines.append(_line("doubt", one_line(graded.doubtful, 300), "$warning"))
    if miss.suspect:
        lines.append(_line("suspect", one_line(miss.suspect, 300), "bold $warning"))
    lines += _former(miss)
    if miss.review is not None:
        words = " – ".join(
            part for part in (miss.review.verdict or "no verdict", one_line(miss.review.note, 300)) if part
        )
        # What was said of an earlier reply says nothing of the one in front.
        spent = miss.review.verdict is not None and row.verdict is None
        lines.append(_line("verdict", f"on an earlier reply: {words}" if spent else words, "bold $primary"))
    return lines


def _trap(graded: Grade) -> str:
    assert graded.trap is not None
    why = f": {one_line(graded.trap.why, 200)}" if graded.trap.why else ""
    return f"{one_line(graded.trap.reply, 80)}{why}"


def _second(miss: Miss, second: Judged) -> Content:
    rule = miss.question.second_rule
    name = f"{rule_words(rule.name)}: " if rule is not None else ""
    sign = PASS if second.passed else MISS
    return Content.styled(f"{sign} ", mark_style(sign)) + Content(f"{name}{one_line(second.why, 200)}")


def _checks(graded: Grade, most: int | None = None, *, folded: bool = False) -> list[Content]:
    """Checks and tests, each with its mark; those of an agent's work that failed come first.

    Args:
        graded: What holds them.
        most: How many are named.
        folded: Only count those that passed: tests have long names, and many pass.
    """
    named = [check for check in graded.checks if not (folded and check.passed)]
    lines = []
    for at, check in enumerate(named[:most]):
        sign = PASS if check.passed else MISS
        text = one_line(check.name, 120) + ("" if check.passed or not check.why else f": {one_line(check.why, 160)}")
        value = Content.styled(f"{sign} ", mark_style(sign)) + Content(text)
        lines.append(_line("" if at else "checks", value))
    left, passed = len(named) - len(lines), len(graded.checks) - len(named)
    if left:
        lines.append(_line("", f"{left:,} more, enter opens", "$text-muted"))
    if passed:
        value = Content.styled(f"{PASS} ", mark_style(PASS)) + Content(f"{passed:,} passed, enter opens")
        lines.append(_line("" if lines else "checks", value))
    return lines


def _compared(judged: Judged) -> list[Content]:
    if not judged.accepted:
        return []
    compared = judged.compared[:_MARKED_CHARS]
    nearest = max(
        (form[:_MARKED_CHARS] for form in judged.accepted[:20]),
        key=lambda form: _shared(form, compared),
    )
    wanted, got = marked_difference(nearest, compared)
    line = wanted + Content.styled(" ≠ ", mark_style(MISS)) + got
    if len(judged.compared) > _MARKED_CHARS:
        line = line + Content.styled(f" … {len(judged.compared) - _MARKED_CHARS:,} more", "$text-muted")
    return [_line("compared", line)]


def _shared(form: str, compared: str) -> float:
    """How much of an accepted form stands in the reply: the one that was nearly said is the one to compare with."""
    blocks = SequenceMatcher(None, form, compared, autojunk=False).get_matching_blocks()
    return sum(block.size for block in blocks) / max(1, len(form))


def marked_difference(wanted: str, got: str) -> tuple[Content, Content]:
    """Both texts on one line, with what the other lacks underlined."""
    left, right = Content(""), Content("")
    for tag, i1, i2, j1, j2 in SequenceMatcher(None, wanted, got, autojunk=False).get_opcodes():
        same = tag == "equal"
        left = left + Content.styled(one_line(wanted[i1:i2]), "" if same else "underline $success")
        right = right + Content.styled(one_line(got[j1:j2]), "" if same else "underline $error")
    return left, right


def _others(miss: Miss) -> list[Content]:
    """The other runs side by side; equal replies of a setting are folded, and counted."""
    folded: dict[tuple[str, str, float | None], list[Row]] = {}
    for row in miss.siblings:
        if row is not miss.row:
            said = row.reply if row.reply is not None else row.outcome.replace("_", " ")
            folded.setdefault((row.setting, said, row.score), []).append(row)
    lines = [Content("")] if folded else []
    for at, ((setting, said, score), rows) in enumerate(list(folded.items())[:12]):
        sign = mark(score)
        runs = ",".join(str(row.run) for row in rows[:6]) + ("…" if len(rows) > 6 else "")
        times = f" ×{len(rows)}" if len(rows) > 1 else ""
        value = Content.assemble(
            (f"{sign} ", mark_style(sign)),
            (f"{one_line(figures.short_setting(setting), 28)} r{runs}{times}  ", "$text-muted"),
            one_line(said, _OTHER_CHARS),
        )
        lines.append(_line("others" if not at else "", value))
    if len(folded) > 12:
        lines.append(_line("", f"{len(folded) - 12} more, enter opens", "$text-muted"))
    return lines


def _facts(miss: Miss) -> list[Content]:
    row = miss.row
    attempt = counted_attempt(miss)
    reply = attempt.reply if attempt else None
    tokens = f"{_n(row.input_tokens)} in · {_n(row.output_tokens)} out"
    if row.cache_read_tokens or row.cache_write_tokens:
        tokens += f" · cache {_n(row.cache_read_tokens)} read, {_n(row.cache_write_tokens)} written"
    if row.thinking_tokens:
        tokens += f" · {_n(row.thinking_tokens)} of them thinking"
    time = figures.seconds(row.seconds)
    if reply is not None and reply.first_token_s is not None:
        time += f" · first token {reply.first_token_s:.2f} s"
    tries = f" · {row.attempts} attempts" if row.attempts > 1 else ""
    lines = [
        Content(""),
        _line("tokens", tokens, "$text-muted"),
        _line("time", f"{time} · {figures.money(row.cost_usd)}{tries}", "$text-muted"),
    ]
    if reply is not None:
        detail = f" ({one_line(reply.stop_detail, 80)})" if reply.stop_detail else ""
        lines.append(_line("stop", f"{reply.stop.replace('_', ' ')}{detail}", "$text-muted"))
        if reply.model:
            lines.append(_line("model", one_line(reply.model, 80), "$text-muted"))
        lines += [_line(name, one_line(text, 200), "$text-muted") for name, text in agent_facts(reply)]
    request = reply.request_id if reply else attempt.fault.request_id if attempt and attempt.fault else None
    if request:
        lines.append(_line("request", one_line(request, 80), "$text-muted"))
    return lines


def _n(value: int | None) -> str:
    return figures.UNKNOWN if value is None else f"{value:,}"


def _attempt(attempt: Attempt) -> str:
    head = f"{attempt.number}. {figures.when(attempt.at)}"
    if attempt.reply is not None:
        how = "in a batch" if attempt.batch else f"in {figures.seconds(attempt.reply.seconds)}"
        return f"{head} · answered {how}, {attempt.reply.stop.replace('_', ' ')}"
    return f"{head} · {attempt.fault.kind}: {one_line(attempt.fault.said, 300)}" if attempt.fault else head


def counted_attempt(miss: Miss) -> Attempt | None:
    """The attempt that counts."""
    if miss.record is None:
        return None
    from resit.core.scoring.grade import counted

    return counted(miss.record, miss.grade.asked if miss.grade else None)


def reply_text(miss: Miss) -> str | None:
    """The raw reply that counts; None when there is none."""
    attempt = counted_attempt(miss)
    return attempt.reply.text if attempt is not None and attempt.reply is not None else None


def rule_words(name: str) -> str:
    """A rule's name in words."""
    return name.replace("_", " ")
