"""The starter prompt: what a person gives to their own agent, so that it writes a suite that `resit check` accepts."""

from __future__ import annotations

from collections.abc import Iterable
from textwrap import fill
from typing import get_args

from resit.core.rule import CheckKind, Rule

EXAMPLE = '''\
title = "My work"
about = "What I give to models in an ordinary week."
instruction = "Give the final answer and nothing else."
rule = "exact"
second_rule = "number_in_reply"
max_tokens = 600
repeats = 2

[[questions]]
id = "invoice-total"
kind = "reading-invoices"
about = "Reading the right total out of an invoice with several sums."
prompt = """
Net 1,200.00
VAT 19 % 228.00
Total 1,428.00
Discount when paid by 5 Dec: 28.00

What is to be paid on 10 December?
"""
accept = ["1428", "1,428.00"]
rule = "numeric"
traps = [
  { reply = "1400", why = "takes the discount although it is too late for it" },
  { reply = "1200", why = "the net sum" },
]

[[questions]]
id = "release-note"
kind = "writing"
about = "Short texts with several demands at once."
prompt = "Write one sentence of at most 20 words that tells users the export is faster now. Do not use the word we."
checks = [
  { name = "short", max_words = 20 },
  { name = "export", contains = "export" },
  { name = "no_we", not_contains = "we" },
  { name = "one_line", exact_lines = 1 },
]
reference = "The export is now much faster."
traps = [{ reply = "We made the export faster.", why = "the usual way to write it" }]

[[questions]]
id = "which-branch"
kind = "code-questions"
about = "Saying what code does without running it."
prompt = "In Python, what does `bool('False')` give? Answer yes for True, no for False."
accept = ["yes"]
rule = "yes_no"
traps = [{ reply = "no", why = "reads the word instead of the rule" }]
'''
"""A suite of every common form; it is sound as it stands."""

_INTRO = """\
You help me to write a private exam for language models out of my own work. Look at what I really ask of models: my
recent requests, this project, its files and its history, as far as I let you see them. Then write 12 to 20 questions
that stand for that work into one file, `my-exam.toml`.

What makes a question worth asking
- It stands for work I give away often, and says so in one line (`about`). `kind` names the kind of work; give each kind
  at least four questions, for models are later chosen kind by kind.
- It can be answered from its prompt alone, in one reply, without tools. Put the data it needs into the prompt, or into
  a text file beside the suite, named in `files`.
- Its answer is certain before any model is asked: compute it, run it, look it up. Never take a model's word for it,
  your own included. Leave out what is a matter of taste.
- It carries a trap: a wrong answer that tempts, with the reason why (`traps`). A question that every model gets right
  tells nothing. If really no wrong answer tempts, write `no_trap = true`.
- It holds nothing private: no names, addresses, keys, account numbers. Change them, and change the answer with them.

The file is TOML, in UTF-8
"""

_KEYS = """\
At the top: `title`, `about`, `instruction` (put after every prompt), `rule` (for questions that name none),
`second_rule` (shown beside the first, decides nothing), `max_tokens`, `repeats`. No other keys.
Then a `[[questions]]` for each question, with
- `id`: short, each one different.
- `kind`, `about`, `prompt`: as above. A prompt of several lines stands between three quotes.
- `accept`: list of every accepted answer, each as the whole answer that a reply gives. Or `checks`, or both.
- `rule`: how a reply is held against `accept`, one of
{rules}.
  A rule may be a table with parameters:
  {{ name = "numeric", tolerance = 0.01 }}, {{ name = "choice", options = ["A", "B", "C"] }},
  {{ name = "contains", all = true }}, {{ name = "number_in_reply", pick = "last" }}.
- `checks`: a list of {{ name = "...", KIND = VALUE }}, each one yes/no test of the reply; KIND is one of
{checks}.
- `reference`: where there are checks, a reply that passes all of them.
- `traps`: list of {{ reply = "the wrong answer", why = "what tempts" }}. A trap must fail the rule.
- optional: `files` (list of paths beside the suite), `max_tokens`, `weight`, `system`.
- `draft = true`: for a question whose answer you could not make certain. It is kept and never asked.
No other keys: an unknown one refuses the whole file.

An example of the whole file
"""

_END = """\
When it is written, run `resit check my-exam.toml` until it finds no fault; it says what is wrong, where, and the mend.
It also grades the suite against itself: every accepted answer must pass, every trap must fail. Then show me
`resit explain my-exam.toml`, and tell me for each question how you made sure of its answer."""


def starter_prompt() -> str:
    """The whole text, as it is printed."""
    names = [kind.model_fields["name"].default for kind in get_args(get_args(Rule)[0])]
    keys = _KEYS.format(rules=_listed(names), checks=_listed(get_args(CheckKind)))
    return f"{_INTRO}\n{keys}\n```toml\n{EXAMPLE}```\n\n{_END}\n"


def _listed(names: Iterable[str]) -> str:
    return fill(", ".join(f"`{name}`" for name in names), 100, initial_indent="  ", subsequent_indent="  ")
