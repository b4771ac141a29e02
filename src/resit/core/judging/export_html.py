"""A round as one page for somebody without resit: no outside file, no script, and replies that can do nothing.

Every foreign text is made printable and escaped. A policy in the page forbids scripts, requests and forms as well, so
that a mistake in the escaping would still do nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from html import escape
from typing import Final

from resit import __version__
from resit.core.judging.columns import (
    COST_HEAD,
    KIND_HEAD,
    PRICE_HEAD,
    cell_said,
    cost_cells,
    kind_cells,
    left_out,
    price_cells,
    score_cells,
    score_head,
)
from resit.core.judging.rule_words import edit_sentence, rules_sentence
from resit.core.judging.sheet import Miss, Sheet, moment
from resit.core.judging.svg import Bar, bars, growing
from resit.core.judging.wording import dollars, percent
from resit.core.printable import one_line, printable
from resit.core.scoring.grid import Cell

_REPLY_CHARS, _PROMPT_CHARS = 4_000, 1_000

_POLICY: Final = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"

_STYLE: Final = """
:root { color-scheme: light dark; --ink: #1c1e21; --paper: #fff; --soft: #667; --line: #d8dade; --bar: #3b6ea5;
  --pass: #d9efdc; --part: #faedc8; --miss: #f7d6d3; --none: #ececef; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e6e6; --paper: #16181b; --soft: #9aa; --line: #3a3d42;
  --bar: #6ea3da; --pass: #1d4527; --part: #4d4015; --miss: #5a2421; --none: #2a2c30; } }
body { font: 15px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper); max-width: 70rem;
  margin: 2rem auto; padding: 0 1rem; }
h1 { margin-bottom: 0; } h2 { margin-top: 2.5rem; border-bottom: 1px solid var(--line); }
.soft { color: var(--soft); }
.wide { overflow-x: auto; }
table { border-collapse: collapse; margin: .5rem 0; }
th, td { border: 1px solid var(--line); padding: .2rem .5rem; text-align: right; vertical-align: top; }
th { font-weight: 600; } th.l, td.l { text-align: left; } td.l code, th code { white-space: nowrap; }
h3 { font-weight: 400; margin: 1.8rem 0 .3rem; } h3 code { font-size: 16px; font-weight: 600; }
td.pass { background: var(--pass); } td.part { background: var(--part); } td.miss { background: var(--miss); }
td.none { background: var(--none); } td a { color: inherit; }
code, bdi { unicode-bidi: isolate; } code, pre { font: 13px/1.45 ui-monospace, monospace; }
pre { white-space: pre-wrap; overflow-wrap: anywhere; background: var(--none); padding: .5rem; max-height: 30rem;
  overflow: auto; unicode-bidi: plaintext; margin: .3rem 0 .8rem; }
details { border-left: 3px solid var(--line); padding-left: .8rem; margin: .6rem 0; } summary { cursor: pointer; }
svg { width: 100%; max-width: 44rem; height: auto; } svg text { font: 12px system-ui, sans-serif; fill: var(--ink); }
.rail { fill: var(--none); } .bar { fill: var(--bar); } .whisker { stroke: var(--ink); fill: none; }
.rail-line { stroke: var(--line); fill: none; }
.c0 { fill: #3b6ea566; } .c1 { fill: #c8553d66; } .c2 { fill: #4f9d6966; } .c3 { fill: #8a5fb066; }
.c4 { fill: #b8860b66; } .c5 { fill: #00808066; }
"""


def page(sheet: Sheet, decision: str = "") -> str:
    """The page of a round.

    Args:
        sheet: The round.
        decision: What a person decided, in their own words.
    """
    title = _line(sheet.plan.title)
    body = "\n".join(
        [
            *_head(sheet),
            *_decision(decision),
            *_settings(sheet),
            *_kinds(sheet),
            *_grid(sheet),
            *_misses(sheet),
            *_rest(sheet),
        ]
    )
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        '<meta name="referrer" content="no-referrer">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{title}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n{body}\n</body>\n</html>\n"
    )


def _line(text: str, limit: int | None = 300) -> str:
    """A foreign text on one line, among our words."""
    return escape(one_line(text, limit))


def _code(text: str, limit: int | None = 300) -> str:
    return f"<code>{_line(text, limit)}</code>"


def _block(text: str, limit: int) -> str:
    # A line end right after <pre> is dropped by the parser, one of the reply's own would be lost.
    return f"<pre>\n{escape(printable(text, limit, invisible=True))}</pre>"


def _table(head: Sequence[str], rows: Iterable[Sequence[str]], *, left: int = 1) -> str:
    """A table of cells that are HTML already; the first `left` columns hold words."""
    heads = "".join(f'<th class="l">{name}</th>' if at < left else f"<th>{name}</th>" for at, name in enumerate(head))
    lines = "".join(f"<tr>{''.join(_cell(cell, at < left) for at, cell in enumerate(row))}</tr>\n" for row in rows)
    return f'<div class="wide"><table>\n<tr>{heads}</tr>\n{lines}</table></div>'


def _cell(cell: str, words: bool) -> str:
    if cell.startswith("<td"):
        return cell
    return f'<td class="l">{cell}</td>' if words else f"<td>{cell}</td>"


def _head(sheet: Sheet) -> Iterator[str]:
    plan = sheet.plan
    cost = dollars(sheet.cost_usd, at_least=sheet.cost_at_least)
    yield f"<h1><bdi>{_line(plan.title)}</bdi></h1>"
    suite = f"suite {_code(plan.suite)} (fingerprint {_code(plan.suite_digest)})"
    yield f'<p class="soft">{moment(plan.created_at)} · round {_code(sheet.id)} of {suite} · {sheet.rule_said}</p>'
    yield f"<p>{sheet.asked_said}. Cost: {cost}.</p>"
    yield f"<p>{_line(rules_sentence(sheet.questions), None)} Rule fingerprint {_code(plan.rule_digest)}, "
    yield f"set on {moment(plan.rule_set_at)}, before the first call.</p>"
    if sheet.edits or sheet.changed_in_file:
        yield f"<p>Changed since; these grades are by fingerprint {_code(sheet.rule_now)}:</p>\n<ul>"
        if sheet.changed_in_file:
            named = ", ".join(_code(name) for name in sheet.changed_in_file)
            yield f"<li>In the suite's file itself, so that nothing says when or why: {named}</li>"
        for edit in sheet.edits:
            cause = f", after the run {_code(edit.run)}" if edit.run else ""
            yield f"<li>{moment(edit.at)}: {_code(edit.question)} <bdi>{_line(edit_sentence(edit))}</bdi>{cause}</li>"
        yield "</ul>"


def _decision(words: str) -> Iterator[str]:
    if words.strip():
        yield f"<h2>Decision</h2>\n{_block(words.strip(), _REPLY_CHARS)}"


def _settings(sheet: Sheet) -> Iterator[str]:
    yield "<h2>Settings</h2>"
    plotted = [Bar(f.label, f.lowest.share, f.interval, percent(f.lowest.share)) for f in sheet.figures]
    yield bars("Lowest score of each setting, with its 95 % interval", plotted)
    yield '<p class="soft">Lowest score: the mean of the questions\' worst runs; the line is its 95% interval.</p>'
    second = sheet.has_second
    yield _table(["setting", *score_head(second)], ([_code(f.label), *score_cells(f, second)] for f in sheet.figures))
    prices = {item.setting.label: item.price for item in sheet.settings}
    rows = ([_code(f.label), *cost_cells(f), *map(_line, price_cells(prices[f.label]))] for f in sheet.figures)
    yield _table(["setting", *COST_HEAD, *PRICE_HEAD], rows)
    yield '<p class="soft">Prices are US dollars per million tokens, as in force when the round began.</p>'


def _kinds(sheet: Sheet) -> Iterator[str]:
    yield "<h2>Kinds of work</h2>"
    rows = [
        [f"<bdi>{_line(kind)}</bdi>", _code(gated.label), *figures, f'<td class="l">{_line(said, None)}</td>']
        for kind, judged in sheet.by_kind.items()
        for gated in judged
        for *figures, said in [kind_cells(gated)]
    ]
    yield _table(["kind", "setting", *KIND_HEAD], rows, left=2)


def _grid(sheet: Sheet) -> Iterator[str]:
    labels = [item.setting.label for item in sheet.settings]
    places = _places(sheet.misses)
    out = frozenset(sheet.evidence.questions_out)
    yield "<h2>Grid</h2>"
    struck = " Questions struck through are left out by a verdict." if out else ""
    yield f'<p class="soft">Each cell: the lowest of its runs, and how many of them have full marks.{struck}</p>'
    rows = []
    for question in sheet.questions:
        name = _code(question.id)
        cells = [
            _mark(sheet.grid.cells.get((question.id, label)), places.get((question.id, label))) for label in labels
        ]
        rows.append(
            [f"<s>{name}</s>" if question.id in out else name, f"<bdi>{_line(question.kind, 40)}</bdi>", *cells]
        )
    yield _table(["question", "kind", *(_code(label) for label in labels)], rows, left=2)


def _places(misses: Sequence[Miss]) -> dict[tuple[str, str], int]:
    """Where the first miss of each cell stands."""
    found: dict[tuple[str, str], int] = {}
    for number, miss in enumerate(misses, 1):
        found.setdefault((miss.question.id, miss.setting), number)
    return found


def _mark(cell: Cell | None, miss: int | None) -> str:
    lowest = cell.lowest if cell is not None else None
    if lowest is None or cell is None or (lowest == 1.0 and cell.unsettled):
        look = "none"
    else:
        look = "pass" if lowest == 1.0 else "part" if lowest > 0 else "miss"
    text = cell_said(cell)
    return f'<td class="{look}">' + (f'<a href="#m{miss}">{text}</a>' if miss else text) + "</td>"


def _misses(sheet: Sheet) -> Iterator[str]:
    yield f"<h2>Misses</h2>\n<p>{sheet.misses_said}</p>"
    if sheet.look_first:
        yield f"<ul>{''.join(f'<li>{_line(said, None)}</li>' for said in sheet.look_first)}</ul>"
    question = ""
    for number, miss in enumerate(sheet.misses, 1):
        if miss.question.id != question:
            question = miss.question.id
            yield f"<h3>{_code(question)}</h3>\n{_block(miss.question.prompt, _PROMPT_CHARS)}"
            if miss.question.accept:
                yield f"<p>Accepted: {', '.join(_code(form) for form in miss.question.accept)}</p>"
        yield _miss(miss, number, left_out(miss.runs[0], sheet.evidence))


def _miss(miss: Miss, number: int, out: str) -> str:
    head = f"{_code(miss.setting)}, {miss.run_numbers}: {miss.said}. Cause: {miss.cause}{out}."
    notes = "".join(f"<p><bdi>{_line(note, 1_000)}</bdi></p>" for note in miss.notes)
    reply = "" if miss.reply is None else _block(miss.reply, _REPLY_CHARS)
    why = f"<p>{_line(miss.why, 400)}</p>"
    return f'<details open id="m{number}"><summary>{head}</summary>{notes}{why}{reply}</details>'


def _rest(sheet: Sheet) -> Iterator[str]:
    yield "<h2>What was not tested</h2>\n<ul>"
    for sentence in sheet.untested:
        yield f"<li>{_line(sentence, None)}</li>"
    yield "</ul>\n<h2>More questions</h2>"
    yield f"<p>{_line(sheet.growth.said, None)}</p>"
    if sheet.growth.points:
        yield growing("Where scores would lie with other numbers of questions", sheet.growth)
        yield '<p class="soft">A band holds the scores of 90 of 100 exams drawn from these questions.</p>'
    places = dict.fromkeys(item.endpoint for item in sheet.settings)
    asked_at = ", ".join(map(_code, places))
    yield f'<p class="soft">Asked at {asked_at}. Written by resit {__version__}, without a call.</p>'
