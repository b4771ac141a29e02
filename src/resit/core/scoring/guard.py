"""What is wrong with how a question is decided: said before any money is spent.

The guard looks at what is accepted under the rule that decides, then grades the question against itself: each
accepted answer and the reference must pass, each trap must fail.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from resit.core.rule import (
    Choice,
    Contains,
    Date,
    Exact,
    ItemList,
    ItemSet,
    Json,
    LastLine,
    NumberInReply,
    Numeric,
    Regex,
    Rule,
    Time,
    YesNo,
)
from resit.core.scoring.choice import read_options, side_of, side_words
from resit.core.scoring.dates import one_date, one_time
from resit.core.scoring.json_rule import NoJson, parse_json, path_steps
from resit.core.scoring.judged import listed, quoted
from resit.core.scoring.normalise import bare, clean, visible
from resit.core.scoring.number_rules import accepted_numbers
from resit.core.scoring.numbers import Reading, find_numbers, prepare
from resit.core.scoring.regexes import pattern_fault
from resit.core.scoring.rules import judge
from resit.core.suite import Question, SuiteFault

Said = tuple[str, str, str]
"""A code, what is wrong, and the mend."""

_ONE_SPELLING: Final = "leave one of them out"


def question_faults(question: Question) -> list[SuiteFault]:
    """All that is wrong with how one question is decided; empty when it is sound."""
    said = list(_deciding(question))
    if question.accept:
        said += _rule_faults(question.rule, question.accept)
        if question.second_rule is not None:
            said += _second_rule_faults(question.second_rule, question.accept)
    said += (
        ("trap-empty", "a trap has no text", "write the wrong answer") for t in question.traps if not visible(t.reply)
    )
    faults = [_fault(question, *each) for each in said]
    if question.checks:
        # checks stand on this module's rules and are looked at by their own module
        from resit.core.scoring.checks import check_faults

        faults += check_faults(question.checks, question=question.id, line=question.line)
    return faults or [_fault(question, *each) for each in _self_test(question)]


def question_warnings(question: Question) -> list[SuiteFault]:
    """What is doubtful about how one question is decided, but stops nothing."""
    said: list[Said] = []
    rule = _inner(question.rule)
    if isinstance(rule, Contains) and question.accept:
        named = ", ".join(quoted(trap.reply) for trap in question.traps[:3])
        if named:
            mend = "a check not_contains would refuse it"
            said.append(("trap-doubtful", f"a reply that names an accepted answer beside {named} passes", mend))
    if not isinstance(rule, ItemSet | ItemList | Regex | Json):
        said += _twice(question.accept, "accept-twice")
    return [_fault(question, *each) for each in said]


def _fault(question: Question, code: str, message: str, mend: str) -> SuiteFault:
    return SuiteFault(code=code, message=message, mend=mend, question=question.id, line=question.line)


def _inner(rule: Rule) -> Rule:
    while isinstance(rule, LastLine):
        rule = rule.rule
    return rule


def _deciding(question: Question) -> Iterator[Said]:
    if not (question.accept or question.checks or question.verify):
        yield "accept-missing", "there is nothing to decide by", 'write accept = ["..."], or checks'
    if question.verify is not None and not question.verify.strip():
        yield "verify-empty", "verify is empty", 'write the command: verify = "python3 -m unittest -v"'
    if question.workspace is None:
        for key in ("verify", "hidden", "protect"):
            if getattr(question, key):
                mend = 'name the folder the agent works in: workspace = "..."'
                yield f"{key}-workspace", f"{key} has no meaning without a workspace", mend
    elif question.hidden is not None and question.verify is None:
        yield "hidden-verify", "nothing runs the hidden tests", 'write the command: verify = "python3 -m unittest -v"'
    if any(not path.strip() or path.startswith("/") or ".." in path.split("/") for path in question.protect):
        yield "protect-path", "a protected path is empty or leads out of the workspace", 'write protect = ["tests/**"]'


def _rule_faults(rule: Rule, accept: tuple[str, ...]) -> list[Said]:
    """What is wrong with the accepted forms under one rule, each kind of rule by its own."""
    match rule:
        case Exact() | Contains():
            return _empty(accept, rule.plain)
        case Numeric() | NumberInReply():
            return _empty(accept, rule.plain) or _number_faults(rule, accept)
        case Regex():
            mend = "write a pattern without a repeat inside a repeat, that takes at least one character"
            return [
                ("accept-regex", f"{quoted(form)}: {fault}", mend)
                for form in accept
                if (fault := pattern_fault(form, rule))
            ]
        case Choice():
            return _empty(accept, False) or _choice_faults(rule, accept)
        case YesNo():
            return _empty(accept, False) or _yes_no_faults(rule, accept)
        case Date() | Time():
            return _empty(accept, False) or _moment_faults(rule, accept)
        case ItemSet() | ItemList():
            return _empty(accept, False) or _item_faults(rule, accept)
        case Json():
            return _json_faults(rule, accept)
        case LastLine():
            return _rule_faults(rule.rule, accept)


def _second_rule_faults(rule: Rule, accept: tuple[str, ...]) -> list[Said]:
    """Only what would make the second rule itself unsound: that it cannot help a question is no fault."""
    rule = _inner(rule)
    if isinstance(rule, Regex):
        return [("second_rule", message, mend) for _, message, mend in _rule_faults(rule, accept)]
    return _option_faults(rule) if isinstance(rule, Choice) else []


def _empty(accept: tuple[str, ...], plain: bool) -> list[Said]:
    message = "the accepted answer {} is empty once it is cleaned"
    return [
        ("accept-empty", message.format(quoted(form)), "write an answer that can be seen, or leave it out")
        for form in accept
        if not clean(form, plain=plain) or not visible(form)
    ]


def _twice(accept: tuple[str, ...], code: str) -> list[Said]:
    seen: dict[str, str] = {}
    said: list[Said] = []
    for form in accept:
        first = seen.setdefault(clean(form), form)
        if first is not form or list(accept).count(form) > 1:
            said.append((code, f"{quoted(first)} and {quoted(form)} are the same once cleaned", _ONE_SPELLING))
    return said[:1] if said else []


def _number_faults(rule: Numeric | NumberInReply, accept: tuple[str, ...]) -> list[Said]:
    loose = isinstance(rule, NumberInReply)
    if any(not clean(unit) for unit in rule.unit):
        return [("rule-unit", "a unit is empty", "write the unit as a reply would, or leave it out")]
    if rule.plain:
        return []
    said: list[Said] = []
    reading = Reading(rule.decimal, rule.unit)
    for form in accept:
        read = accepted_numbers((form,), rule.decimal, rule.unit, loose)
        if not read.numbers and len(list(find_numbers(prepare(bare(form)), reading, 3))) > 1:
            mend = "list them apart, or accept one with a tolerance"
            said.append(("accept-numbers", f"{quoted(form)} holds more than one number", mend))
    if not said and not accepted_numbers(accept, rule.decimal, rule.unit, loose).numbers:
        mend = "accept a number, name its unit, or use another rule"
        said.append(("accept-number", f"{listed(accept)} is no number that rule {rule.name!r} can read", mend))
    return said


def _option_faults(rule: Choice) -> list[Said]:
    options, said = read_options(rule), list[Said]()
    folded = [clean(label) for label in options.labels]
    texts = [text for text in options.texts if text]
    if len(options.labels) < 2:
        said.append(("rule-options", "fewer than two options are offered", 'write options = ["A", "B"]'))
    if not all(folded):
        said.append(("rule-options", "an option has an empty label", "give each option a letter"))
    if len(set(folded)) < len(folded):
        said.append(("rule-options", "an option is given twice", "give each option its own letter"))
    if len(set(texts)) < len(texts):
        said.append(("rule-options", "two options have the same text", "give each option its own text"))
    return said


def _choice_faults(rule: Choice, accept: tuple[str, ...]) -> list[Said]:
    options = read_options(rule)
    mend = f"offered: {', '.join(options.labels[:12])}"
    return _option_faults(rule) + [
        ("accept-option", f"{quoted(form)} is none of the options", mend)
        for form in accept
        if options.named(bare(form)) is None
    ]


def _yes_no_faults(rule: YesNo, accept: tuple[str, ...]) -> list[Said]:
    words = side_words(rule)
    if len(words) < 2 or not all(forms and all(forms) for forms in words.values()):
        return [
            ("rule-words", "words for yes and for no are both needed", 'write words = { yes = ["oui"], no = ["non"] }')
        ]
    if set(words["yes"]) & set(words["no"]):
        return [("rule-words", "one word stands for yes and for no", "keep it on one side")]
    sides = {form: side_of(words, clean(form)) for form in accept}
    said = [
        ("accept-word", f"{quoted(form)} is neither yes nor no", 'accept ["yes"] or ["no"]')
        for form, side in sides.items()
        if side is None
    ]
    if not said and len(set(sides.values())) > 1:
        said.append(("accept-word", "yes and no are both accepted", "accept one of them"))
    return said


def _moment_faults(rule: Date | Time, accept: tuple[str, ...]) -> list[Said]:
    said: list[Said] = []
    for form in accept:
        found = one_date(prepare(form), rule.order) if isinstance(rule, Date) else one_time(prepare(form))
        if isinstance(found, str):
            mend = 'write it like "2026-11-29"' if isinstance(rule, Date) else 'write it like "17:20"'
            why = found.replace("the reply", "it")
            said.append((f"accept-{rule.name}", f"{quoted(form)} is no {rule.name} to compare with: {why}", mend))
    return said


def _item_faults(rule: ItemSet | ItemList, accept: tuple[str, ...]) -> list[Said]:
    if rule.separator is not None and not rule.separator:
        return [("rule-separator", "the separator is empty", "name the text between two items, or leave it out")]
    said = _twice(accept, "accept-twice") if isinstance(rule, ItemSet) and not rule.duplicates else []
    if isinstance(rule.item, Numeric):
        for form in accept:
            said += _number_faults(rule.item, (form,))
    return said


def _json_faults(rule: Json, accept: tuple[str, ...]) -> list[Said]:
    said: list[Said] = []
    if rule.path is not None and path_steps(rule.path) is None:
        said.append(("rule-path", f"{quoted(rule.path)} is no path", 'write it like "person.names[0]"'))
    for form in accept:
        try:
            parse_json(form)
        except NoJson as error:
            mend = "a text in JSON stands in quotes of its own: accept = ['\"Paris\"']"
            said.append(("accept-json", f"{quoted(form)} is not strict JSON: {error}", mend))
    return said


def _self_test(question: Question) -> Iterator[Said]:
    """The question graded against itself."""
    if question.accept:
        yield from _accept_test(question.rule, question.accept)
    yield from _trap_test(question)
    if question.reference is not None:
        failed = _failed(question, question.reference)
        if failed:
            mend = "mend the reference, or what is asked of it"
            yield "reference", f"the reference does not get full marks: {failed}", mend


def _accept_test(rule: Rule, accept: tuple[str, ...]) -> Iterator[Said]:
    for form, reply in _own_replies(rule, accept):
        judged = judge(rule, accept, reply)
        if not judged.passed:
            mend = "accept a form that the rule can read"
            yield "accept-fails", f"the accepted {quoted(form)} fails its own rule: {judged.why}", mend


def _own_replies(rule: Rule, accept: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    """Each accepted form, and the reply that a model would give with it."""
    inner = _inner(rule)
    if isinstance(inner, Regex) or (isinstance(inner, Json) and inner.path is not None):
        return
    if isinstance(inner, ItemSet | ItemList):
        items = accept
        joined = (inner.separator or "\n").join(items)
        if not isinstance(rule, LastLine):
            yield joined, joined
    elif isinstance(inner, Contains) and inner.all:
        yield "; ".join(accept), "; ".join(accept)
    else:
        yield from ((form, _as_reply(inner, form)) for form in accept)


def _as_reply(rule: Rule, form: str) -> str:
    """An answer as a model would have to give it: behind a marker where the rule looks for one."""
    return f"answer: {form}" if isinstance(rule, NumberInReply) and rule.pick == "marked" else form


def _trap_test(question: Question) -> Iterator[Said]:
    for trap in question.traps:
        if visible(trap.reply) and not _failed(question, _as_reply(_inner(question.rule), trap.reply)):
            yield (
                "trap-passes",
                f"the trap {quoted(trap.reply)} passes as a right answer",
                "mend the trap, or what is accepted",
            )


def _failed(question: Question, reply: str) -> str:
    """Why a reply falls short of full marks; empty when it does not."""
    said: list[str] = []
    if question.accept and not (judged := judge(question.rule, question.accept, reply)).passed:
        said.append(judged.why)
    if question.checks:
        from resit.core.scoring.checks import run_checks

        failed = [result for result in run_checks(question.checks, reply) if not result.passed and result.weight]
        said += [f"{result.name}: {result.why}" for result in failed]
    if not (question.accept or question.checks):
        return "nothing decides here"
    return "; ".join(said[:3])
