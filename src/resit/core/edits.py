"""Changes of what is accepted, made after results were seen: kept in a file beside the suite, laid over it when read.

The person's own file is never rewritten. The overlay is theirs to read and to change as well: what they write in it
stays as it is, an edit is added at its end, and undo takes the last block away.
"""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC
from decimal import Decimal
from pathlib import Path

import tomli_w
from pydantic import BaseModel, ValidationError

from resit.core.errors import EditError
from resit.core.paths import atomic_write
from resit.core.records import file_part
from resit.core.rule import RuleModel, digest
from resit.core.suite import Edit, Question, Suite, SuiteFault, Trap

ENDING = ".edits.toml"
MAX_BYTES = 5_000_000
_VALUE = {"accept": "accept", "rule": "rule", "second_rule": "rule", "trap": "trap", "weight": "weight"}
"""Which field of an edit holds the new value, by what it changes."""
_BLOCK = re.compile(rb"^[ \t]*\[\[[ \t]*edits[ \t]*\]\]", re.MULTILINE)


def edits_path(suite_path: Path, fallback: Path | None = None) -> Path:
    """Where new edits of a suite are kept: beside it, or in `fallback` where that cannot be written.

    Args:
        suite_path: The suite's file.
        fallback: Folder for the edits of suites whose own folder is read-only.
    """
    beside, elsewhere = _places(suite_path, fallback)
    if elsewhere is None or elsewhere.exists() or not _writable(beside):
        return beside if elsewhere is None else elsewhere
    return beside


def all_edits_paths(suite_path: Path, fallback: Path | None = None) -> tuple[Path, ...]:
    """Every file that may hold edits of a suite; those that are there, the one beside it first."""
    return tuple(path for path in _places(suite_path, fallback) if path is not None and path.exists())


def _places(suite_path: Path, fallback: Path | None) -> tuple[Path, Path | None]:
    beside = suite_path.with_name(suite_path.stem + ENDING)
    if fallback is None:
        return beside, None
    # Suites of the same name in two folders must not share their edits.
    folder = digest(os.path.realpath(suite_path.parent))[:8]
    return beside, fallback / f"{file_part(suite_path.stem)}-{folder}{ENDING}"


def _writable(path: Path) -> bool:
    return os.access(path if path.exists() else path.parent, os.W_OK) and os.access(path.parent, os.W_OK)


def load_edits(path: Path) -> tuple[tuple[Edit, ...], tuple[SuiteFault, ...]]:
    """The edits in a file, oldest first, and what is wrong with it; no file holds no edits."""
    try:
        data = _read(path)
    except EditError as error:
        return (), (SuiteFault(code="edits", message=error.message, mend=error.hint, path=str(path)),)
    return _parsed(data, path)


def _read(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except FileNotFoundError:
        return b""
    except OSError as error:
        raise EditError(f"{path} cannot be read: {error.strerror}", hint="make it readable, or delete it") from error
    if len(data) > MAX_BYTES:
        raise EditError(f"{path} is too large for a file of edits", hint="delete it, or mend it by hand")
    return data


def _parsed(data: bytes, path: Path) -> tuple[tuple[Edit, ...], tuple[SuiteFault, ...]]:
    mend = "mend the line, or delete the file to drop all edits"
    try:
        table = tomllib.loads(data.decode("utf-8-sig"), parse_float=Decimal)
    except (ValueError, RecursionError) as error:
        message = "it is nested too deeply" if isinstance(error, RecursionError) else str(error)[:200]
        return (), (
            SuiteFault(code="edits", message=f"these edits cannot be read: {message}", mend=mend, path=str(path)),
        )
    blocks = table.pop("edits", [])
    if table or not isinstance(blocks, list):
        message = f"a file of edits holds [[edits]] and nothing else; here is {', '.join(table) or 'something else'}"
        return (), (SuiteFault(code="edits", message=message, mend=mend, path=str(path)),)
    lines = [data.count(b"\n", 0, found.start()) + 1 for found in _BLOCK.finditer(data)]
    edits, faults = [], []
    for number, block in enumerate(blocks):
        try:
            edits.append(_edit(block))
        except ValueError as error:
            line = lines[number] if len(lines) == len(blocks) else None
            message = f"edit {number + 1}: {_brief(error)}"
            faults.append(SuiteFault(code="edits", message=message, mend=mend, line=line, path=str(path)))
    return tuple(edits), tuple(faults)


def _edit(block: object) -> Edit:
    """The edit in one block.

    Raises:
        ValueError: It is none.
    """
    if not isinstance(block, Mapping):
        raise ValueError("it is no table")
    table = dict(block)
    if isinstance(table.get("rule"), str):
        table["rule"] = {"name": table["rule"]}
    if isinstance(table.get("weight"), bool):
        raise ValueError("weight is no number")
    edit = Edit.model_validate(table)
    _check_value(edit)
    return edit if edit.at.tzinfo else edit.replaced(at=edit.at.replace(tzinfo=UTC))


def _check_value(edit: Edit) -> None:
    """An edit holds the value of what it changes, and no other."""
    wanted = _VALUE[edit.what]
    given = {name for name in set(_VALUE.values()) if getattr(edit, name) is not None}
    if given != {wanted}:
        raise ValueError(f"what = {edit.what!r} needs {wanted}, and no other value beside it")
    if edit.weight is not None and not 0 <= edit.weight < float("inf"):
        raise ValueError(f"weight = {edit.weight} is no number from 0 up")


def _brief(error: ValueError) -> str:
    if isinstance(error, ValidationError):
        first = error.errors(include_url=False)[0]
        return f"{'.'.join(map(str, first['loc'])) or 'edit'}: {first['msg']}"
    return str(error)


def apply_edits(suite: Suite, edits: Sequence[Edit]) -> Suite:
    """`suite` with `edits` laid over it, oldest first. Prompts never change.

    An edit for a question that is gone changes nothing and is a warning.
    """
    questions = {question.id: question for question in suite.questions}
    warnings = list(suite.warnings)
    for edit in edits:
        if edit.question in questions:
            questions[edit.question] = edited(questions[edit.question], edit)
        else:
            message = f"an edit of {edit.at:%d %b %Y} is for a question that is not in the suite"
            mend = "delete its block from the file of edits"
            warnings.append(SuiteFault(code="edit-unused", message=message, mend=mend, question=edit.question))
    return suite.replaced(questions=tuple(questions.values()), edits=(*suite.edits, *edits), warnings=tuple(warnings))


def edited(question: Question, edit: Edit) -> Question:
    """`question` as one edit changes it."""
    match edit.what:
        case "accept":
            if edit.accept is None or edit.accept in question.accept:
                return question
            return question.replaced(accept=(*question.accept, edit.accept))
        case "rule":
            return question if edit.rule is None else question.replaced(rule=edit.rule)
        case "second_rule":
            return question if edit.rule is None else question.replaced(second_rule=edit.rule)
        case "trap":
            return question if edit.trap is None else question.replaced(traps=_with_trap(question.traps, edit.trap))
        case "weight":
            return question if edit.weight is None else question.replaced(weight=edit.weight)


def _with_trap(traps: tuple[Trap, ...], trap: Trap) -> tuple[Trap, ...]:
    """`traps` with one more, in the place of a former one with the same reply."""
    return (*(other for other in traps if other.reply != trap.reply), trap)


class EditStore:
    """One suite's file of edits, as it was when read; it is only written while it is still the same."""

    def __init__(self, path: Path, suite_name: str = "") -> None:
        """Read the file at `path`, which need not be there yet.

        Args:
            path: From `edits_path`.
            suite_name: The suite's file name, for the comment at the top of a new file.

        Raises:
            EditError: It cannot be read, or is no file of edits.
        """
        self.path = path
        self._suite_name = suite_name or path.name.removesuffix(ENDING)
        self._data = b""
        self._edits: tuple[Edit, ...] = ()
        self.reload()

    @property
    def edits(self) -> tuple[Edit, ...]:
        """All edits in the file, oldest first."""
        return self._edits

    def reload(self) -> None:
        """Read the file again, after it was changed elsewhere.

        Raises:
            EditError: It cannot be read, or is no file of edits.
        """
        data = _read(self.path)
        edits, faults = _parsed(data, self.path)
        if faults:
            raise EditError(f"{self.path}: {faults[0].message}", hint=faults[0].mend)
        self._data, self._edits = data, edits

    def append(self, edit: Edit) -> Edit:
        """Keep one more edit, and return it as it was kept: its time in UTC.

        Raises:
            EditError: The file changed underneath, the edit cannot be written in it, or the disk refuses.
        """
        kept = edit.replaced(at=edit.at.astimezone(UTC))
        try:
            _check_value(kept)
            block = self.text_of(kept).encode()
        except UnicodeEncodeError as error:
            hint = "accept a cleaned form of it"
            raise EditError("half a character (a lone surrogate) cannot be kept in a file", hint=hint) from error
        except ValueError as error:
            raise EditError(str(error)) from error
        start = self._data or self._heading().encode()
        gap = b"\n" if start.endswith(b"\n") else b"\n\n"
        self._write(start + gap + block, (*self._edits, kept))
        return kept

    def undo(self) -> Edit:
        """Take the last edit back, and return it.

        Raises:
            EditError: There is none, the file changed underneath, or the disk refuses.
        """
        if not self._edits:
            raise EditError(f"{self.path.name} holds no edit to take back")
        blocks = list(_BLOCK.finditer(self._data))
        if len(blocks) != len(self._edits):
            raise EditError(f"{self.path} was written by hand in another way", hint="take the edit out by hand")
        last = self._edits[-1]
        self._write(self._data[: blocks[-1].start()].rstrip() + b"\n", self._edits[:-1])
        return last

    @staticmethod
    def text_of(edit: Edit) -> str:
        """The lines that `append` adds to the file, to show before it is done."""
        table = _table(edit)
        inner = {key: value for key, value in table.items() if isinstance(value, dict)}
        text = "[[edits]]\n" + tomli_w.dumps({key: value for key, value in table.items() if key not in inner})
        return text + ("\n" + tomli_w.dumps({"edits": inner}) if inner else "")

    def _heading(self) -> str:
        name = re.sub(r"[^ -~]", "_", self._suite_name)
        return (
            f"# Changes of what the suite {name} accepts, made after results were seen; resit lays them over it.\n"
            "# Each block is one change. Delete a block to take it back.\n"
        )

    def _write(self, data: bytes, edits: tuple[Edit, ...]) -> None:
        if _parsed(data, self.path) != (edits, ()):
            raise EditError(f"{self.path.name} would not read back as it was meant", hint="write the edit by hand")
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with _alone_in(self.path.parent):
                if _read(self.path) != self._data:
                    hint = "read it again, then repeat the change"
                    raise EditError(f"{self.path} was changed by someone else; nothing was written", hint=hint)
                atomic_write(self.path, data)
        except OSError as error:
            hint = "nothing was changed; make room or choose another folder"
            raise EditError(f"{self.path} cannot be written: {error.strerror}", hint=hint) from error
        self._data, self._edits = data, edits


@contextmanager
def _alone_in(folder: Path) -> Iterator[None]:
    """Keep other resit processes from writing edits in `folder` meanwhile, where the system can."""
    try:
        import fcntl
    except ImportError:  # Windows
        yield
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        # A network file system may have no locks; the check of the content still stands.
        with suppress(OSError):
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def _table(edit: Edit) -> dict[str, object]:
    """An edit as a person reads it: what is not set is left out."""
    table: dict[str, object] = {"at": edit.at, "question": edit.question, "what": edit.what}
    if edit.run is not None:
        table["run"] = edit.run
    if edit.note:
        table["note"] = edit.note
    value = getattr(edit, _VALUE[edit.what])
    table[_VALUE[edit.what]] = _plain(value) if isinstance(value, BaseModel) else value
    return table


def _plain(model: BaseModel) -> dict[str, object]:
    """A rule or trap as a table: its name, and whatever is not as usual."""
    table: dict[str, object] = {"name": model.name} if isinstance(model, RuleModel) and hasattr(model, "name") else {}
    for name, field in type(model).model_fields.items():
        value = getattr(model, name)
        if name != "name" and value != field.default:
            table[name] = _plain(value) if isinstance(value, BaseModel) else value
    return table
