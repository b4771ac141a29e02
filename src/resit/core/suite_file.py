"""Is this suite sound? Reads suite files, says everything that is wrong with one, and lays the edits over it.

A suite with a fault is refused whole, before any money. The forms a file may have are in `suite_formats`.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import TypeVar

import resit
from resit.core.edits import ENDING, all_edits_paths, apply_edits, edits_path, load_edits
from resit.core.errors import SuiteError, SuiteRefused, UsageError
from resit.core.paths import data_dir
from resit.core.records import file_part
from resit.core.rule import Exact, Rule
from resit.core.scoring.guard import question_faults, question_warnings
from resit.core.suite import DEFAULT_MAX_TOKENS, PLAIN, Edit, Question, Suite, SuiteFault, Variant
from resit.core.suite_formats.attached import check_apart, folder_digest, read_attached
from resit.core.suite_formats.csv_form import read_csv
from resit.core.suite_formats.json_form import read_json, read_jsonl
from resit.core.suite_formats.questions import Defaults, Found, placed, read_questions
from resit.core.suite_formats.raw import Lines, RawSuite
from resit.core.suite_formats.rule_form import read_rule
from resit.core.suite_formats.said import Said, Unreadable
from resit.core.suite_formats.source import BOM, read_source
from resit.core.suite_formats.toml_form import read_toml
from resit.core.suite_formats.values import TableReader, shown, tidied

FORMS: dict[str, Callable[[str, Said], RawSuite]] = {
    ".toml": read_toml,
    ".json": read_json,
    ".jsonl": read_jsonl,
    ".csv": read_csv,
}
"""How each kind of file is read, by the ending of its name."""
KEYS = ("title", "about", "instruction", "rule", "second_rule", "max_tokens", "repeats", "variants")
T = TypeVar("T")
SAMPLE = "sample:"
_FIRST_SAMPLES = ("short-answers", "several-asks", "ledger", "easy-questions", "code-work", "every-rule")


def load_suite(path: Path, *, edits: bool = True, need_prompt: bool = True) -> Suite:
    """The suite in a file, sound, with the person's edits laid over it.

    Args:
        path: A file ending in `.toml`, `.json`, `.jsonl` or `.csv`.
        edits: Whether to lay the edits over it.
        need_prompt: Whether a question without a prompt is a fault; it is none when saved answers are graded.

    Raises:
        SuiteError: The file cannot be read at all.
        SuiteRefused: It has faults; the error carries all of them.
    """
    suite, faults = read_suite(path, edits=edits, need_prompt=need_prompt)
    if suite is not None:
        return suite
    if len(faults) == 1 and faults[0].code in {"syntax", "encoding", "unreadable", "missing-file", "no-questions"}:
        fault = faults[0]
        where = f"{path}, line {fault.line}" if fault.line else str(path)
        who = f"question {fault.question!r}: " if fault.question else ""
        raise SuiteError(f"{where}: {who}{fault.message}", hint=fault.mend)
    raise SuiteRefused(str(path), faults)


def read_suite(
    path: Path, *, edits: bool = True, need_prompt: bool = True
) -> tuple[Suite | None, tuple[SuiteFault, ...]]:
    """The suite in a file, or None and everything that is wrong with it; arguments as for `load_suite`."""
    said = Said(str(path))
    try:
        raw = _raw(path, said)
    except Unreadable as error:
        said.fault(error.code, error.message, error.mend, line=error.line)
        return None, tuple(said.faults)
    suite = _built(raw, path, said, need_prompt=need_prompt)
    if said.faults or suite is None:
        return None, tuple(sorted(said.faults, key=lambda fault: fault.line or 0))
    suite = suite.replaced(warnings=tuple(said.warnings))
    return _with_edits(suite, path) if edits else (suite, ())


def _raw(path: Path, said: Said) -> RawSuite:
    form = FORMS.get(path.suffix.lower())
    if form is None:
        raise Unreadable(f"{path.suffix or 'a name without an ending'} is no kind of suite", f"use {', '.join(FORMS)}")
    text = read_source(path)
    if text.startswith(BOM):
        text = text[1:]
        said.warn("cleaned", "the byte-order mark at the start of the file is passed over", line=1)
    return form(text, said)


def _built(raw: RawSuite, path: Path, said: Said, *, need_prompt: bool) -> Suite | None:
    reader = TableReader(raw.table, raw.lines, said, None, None)
    if not raw.bare:
        reader.only(KEYS)
    defaults = Defaults(_default_rule(reader, "rule") or Exact(), _default_rule(reader, "second_rule"))
    found = read_questions(raw, defaults, said, need_prompt=need_prompt and not raw.bare)
    if not found and not said.faults:
        said.fault("no-questions", "there is no question in it", "add one: resit's sample suites show how")
    questions = tuple(_with_folders(_guarded(each, said), each, path, said) for each in found)
    asked = [question for question in questions if not question.draft]
    if questions and not asked:
        said.warn("all-drafts", "every question is a draft, and a draft is never asked")
    elif asked and not any(question.weight for question in asked):
        said.fault("weight", "every question weighs 0", "give at least one a weight above 0")
    fields = {
        "title": tidied(reader.text("title")) or path.stem,
        "about": reader.text("about").strip(),
        "instruction": reader.text("instruction"),
        "max_tokens": reader.whole("max_tokens") or DEFAULT_MAX_TOKENS,
        "repeats": reader.whole("repeats") or 2,
        "variants": _variants(reader, said),
        "attached": _attached(found, path.parent, said),
    }
    if said.faults:
        return None
    return Suite(
        name=file_part(path.stem), rule=defaults.rule, second_rule=defaults.second_rule, questions=questions,
        path=path, **fields,
    )  # fmt: skip


def _default_rule(reader: TableReader, key: str) -> Rule | None:
    def say(code: str, message: str, mend: str) -> None:
        reader.fault(code, message, mend, key)

    return read_rule(reader.table[key], say, of=key) if key in reader.table else None


def _variants(reader: TableReader, said: Said) -> dict[str, Variant]:
    value = reader.table.get("variants", {})
    if not isinstance(value, Mapping):
        reader.fault("type", f"variants = {shown(value)} is no table", "write [variants.NAME]", "variants")
        return {}
    variants = {}
    for name, table in value.items():
        if name == PLAIN or not tidied(name) or not name.isprintable():
            reader.fault("variant", f"a variant cannot be named {name!r}", "name it apart from plain", "variants")
        elif not isinstance(table, Mapping):
            reader.fault("type", f"variant {name!r} is no table", 'write append = "..." under it', "variants")
        else:
            inner = TableReader(table, Lines(), said, None, reader.lines.of("variants"))
            inner.only(("prepend", "append", "system"))
            variants[name] = Variant(
                prepend=inner.text("prepend"), append=inner.text("append"), system=inner.optional_text("system")
            )
    return variants


def _guarded(found: Found, said: Said) -> Question:
    """The question, once the guard has looked at how it is decided and graded it against itself."""
    question = found.question
    if question.draft or not found.sound:
        return question
    place = partial(placed, found=found, path=said.path)
    said.faults.extend(map(place, question_faults(question)))
    said.warnings.extend(map(place, question_warnings(question)))
    return question


def _attached(found: list[Found], folder: Path, said: Said) -> dict[str, str]:
    texts: dict[str, str] = {}
    for each in found:
        question = each.question
        for name in question.files:
            _try(partial(_attach, texts, folder, name), each, "files", said)
    return texts


def _attach(texts: dict[str, str], folder: Path, name: str) -> None:
    if name not in texts:
        texts[name] = read_attached(folder, name)


def _with_folders(question: Question, found: Found, path: Path, said: Said) -> Question:
    """The question with the fingerprints of its workspace and its hidden tests."""
    if question.workspace is None:
        return question
    digests = {}
    for key in ("workspace", "hidden"):
        name = getattr(question, key)
        if name is not None:
            digests[f"{key}_digest"] = _try(partial(folder_digest, path.parent, name), found, key, said) or ""
    if all(digests.values()):
        step = partial(check_apart, path, question.workspace, question.hidden)
        _try(step, found, "hidden" if question.hidden else "workspace", said)
    return question.replaced(**digests)


def _try(step: Callable[[], T], found: Found, key: str, said: Said) -> T | None:
    try:
        return step()
    except Unreadable as error:
        line = found.lines.of(key) or found.question.line
        said.fault(error.code, error.message, error.mend, q=found.question.id, line=line)
        return None


def _with_edits(suite: Suite, path: Path) -> tuple[Suite | None, tuple[SuiteFault, ...]]:
    """The suite with the edits that are kept of it, or what is wrong with those."""
    edits: list[Edit] = []
    faults: list[SuiteFault] = []
    sources = all_edits_paths(path, edits_folder())
    for source in sources:
        found, broken = load_edits(source)
        edits += found
        faults += broken
    if faults or not edits:
        return (None, tuple(faults)) if faults else (suite, ())
    changed = apply_edits(suite, edits)
    for name in {edit.question for edit in edits if edit.question in changed.by_id}:
        faults += [
            fault.replaced(
                path=str(sources[-1]), line=None, message=f"after your edits: {fault.message}",
                mend=f"take the edit back, or delete its block; {fault.mend}".removesuffix("; "),
            )
            for fault in question_faults(changed.by_id[name])
        ]  # fmt: skip
    return (None, tuple(faults)) if faults else (changed, ())


def edits_folder() -> Path:
    """Where edits are kept of suites whose own folder cannot be written."""
    return data_dir() / "edits"


def edits_file(suite: Suite) -> Path:
    """The file that new edits of a suite go to.

    Raises:
        SuiteError: The suite was not read from a file.
    """
    if suite.path is None:
        raise SuiteError(f"the suite {suite.name} was not read from a file", hint="open the file itself")
    return edits_path(suite.path, edits_folder())


def edit_faults(suite: Suite, edit: Edit) -> tuple[SuiteFault, ...]:
    """What would be wrong with the suite once `edit` is laid over it; to be asked before the edit is kept."""
    if edit.question not in suite.by_id:
        message = f"there is no question {edit.question!r} in {suite.title}"
        return (SuiteFault(code="edit-unused", message=message, question=edit.question),)
    return tuple(question_faults(apply_edits(suite, [edit]).by_id[edit.question]))


def build_prompt(suite: Suite, question: Question, variant: str = PLAIN, *, inlined: bool = True) -> str:
    """What the model sees of a question: its prompt and files, the suite's instruction, the variant's words around.

    Args:
        suite: Where instruction, variants and the texts of files come from.
        question: The question.
        variant: The wording around it.
        inlined: Whether files stand in the prompt; an agent finds them in its folder, and is told so.

    Raises:
        SuiteError: The suite has no such variant, or a file was not read with it.
    """
    wording = Variant() if variant == PLAIN else suite.variants.get(variant)
    if wording is None:
        known = ", ".join([PLAIN, *suite.variants])
        raise SuiteError(f"{suite.title} has no variant {variant!r}", hint=f"known: {known}")
    parts = [wording.prepend, question.prompt]
    files = attached_files(suite, question)
    if inlined:
        parts += [f'<file name="{name}">\n{text.strip()}\n</file>' for name, text in files]
    elif files:
        parts.append(f"In the current folder: {', '.join(name for name, _ in files)}")
    parts += [suite.instruction, wording.append]
    return "\n\n".join(text for part in parts if (text := part.strip()))


def attached_files(suite: Suite, question: Question) -> tuple[tuple[str, str], ...]:
    """Name and text of each file that a question names.

    Raises:
        SuiteError: A file was not read with the suite.
    """
    for name in question.files:
        if name not in suite.attached:
            raise SuiteError(f"question {question.id!r}: {name} was not read", hint="open the suite's own file")
    return tuple((name, suite.attached[name]) for name in question.files)


def sample_suites() -> list[Path]:
    """The suites that come with resit, the ones to begin with first."""
    home = Path(resit.__file__).resolve().parent
    for folder in (home / "sample_suites", home.parent.parent / "sample_suites"):
        if folder.is_dir():
            files = [path for path in sorted(folder.iterdir()) if path.suffix in FORMS and not _is_edits(path)]
            order = {name: number for number, name in enumerate(_FIRST_SAMPLES)}
            return sorted(files, key=lambda path: order.get(path.stem, len(order)))
    return []


def _is_edits(path: Path) -> bool:
    return path.name.endswith(ENDING)


def find_suite(text: str) -> Path:
    """The file that `text` names: a path, or `sample:NAME`.

    Raises:
        UsageError: There is no such file.
    """
    if text.startswith(SAMPLE):
        samples = {path.stem: path for path in sample_suites()}
        name = text.removeprefix(SAMPLE).removesuffix(".toml")
        if name not in samples:
            raise UsageError(f"there is no sample suite {name!r}", hint=_near(name, list(samples)))
        return samples[name]
    path = Path(text).expanduser()
    try:
        there = path.is_file()
        near = [other.name for other in path.parent.iterdir() if other.suffix in FORMS and not _is_edits(other)]
    except (OSError, ValueError):
        there, near = False, []
    if not there:
        why = "is a folder" if "\0" not in text and path.is_dir() else "is not there"
        raise UsageError(f"the suite {text!r} {why}", hint=_near(path.name, near))
    return path


def _near(name: str, known: list[str]) -> str:
    close = difflib.get_close_matches(name, known, n=1)
    if close:
        return f"did you mean {close[0]!r}?"
    return f"there are: {', '.join(sorted(known)[:8])}" if known else "name a .toml, .json, .jsonl or .csv file"


def starter_suite() -> str:
    """A commented suite to begin one's own with; it is sound as it is."""
    return STARTER


STARTER = '''\
# A suite of your own: questions whose accepted answers are fixed before any model is asked.
# `resit check FILE` says what is wrong with it; resit reads it again whenever you save it.
title = "My exam"
about = "What these questions stand for in my work."
instruction = "Give the final answer and nothing else."   # put after every prompt
rule = "exact"                      # for questions that name no rule of their own
second_rule = "number_in_reply"     # optional: shown beside the first, tells wording from a wrong answer
max_tokens = 400
repeats = 2                         # one run proves nothing about variance

# [variants.criteria]               # optional: another wording around every prompt, compared with the plain one
# append = "Count only rows dated this year."

[[questions]]
id = "leap-year"
kind = "arithmetic"                 # the kind of work it stands for: models are chosen kind by kind
prompt = "How many days does a leap year have?"
accept = ["366"]
traps = [{ reply = "365", why = "an ordinary year" }]

# A number with a tolerance:
# [[questions]]
# id = "third"
# kind = "arithmetic"
# prompt = "What is one third, to two decimals?"
# accept = ["0.33"]
# rule = { name = "numeric", tolerance = 0.005 }

# Several asks at once, each checked by name:
# [[questions]]
# id = "note"
# kind = "instructions"
# prompt = "Thank Ida for the cake in at most 20 words. Do not use a list. End with the line: Cheers"
# checks = [
#   { name = "ida", contains = "Ida" },
#   { name = "short", max_words = 20 },
#   { name = "no_list", no_list = true },
#   { name = "sign_off", last_line = "Cheers" },
# ]
# reference = """
# Dear Ida, thank you for the cake.
# Cheers
# """

# A file of data in the suite's folder, read into the prompt:
# [[questions]]
# id = "total"
# kind = "ledger"
# prompt = "What is the sum of the column amount?"
# files = ["data.csv"]
# accept = ["1250"]
# draft = true                      # a draft is never asked
'''
