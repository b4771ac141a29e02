"""Drafts on disk: a book that resit keeps, and the suite it writes from it, whole or not at all.

    <data>/drafts/NAME.toml         the book: every draft with what the model said then and what is proposed
    <data>/suites/NAME.toml         the suite
    <data>/suites/NAME-files/       the data that its questions need

The suite is written anew while it is as resit left it. Once a person has changed it, it is theirs: the next save goes
to another name.
"""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import tomli_w
from pydantic import ValidationError

from resit.core.errors import ConfigError, UsageError
from resit.core.logs.drafts import Draft, check_table, rule_value
from resit.core.paths import atomic_write, data_dir
from resit.core.printable import one_line
from resit.core.records import file_part
from resit.core.rule import digest
from resit.core.suite import Frozen
from resit.core.suite_formats.said import Unreadable
from resit.core.suite_formats.toml_form import parse_toml

_SAID_SHOWN = 200


class DraftBook(Frozen):
    """Drafts of one suite."""

    format: Literal[1] = 1
    title: str
    name: str = ""
    """Stem of the suite's file; empty before the first save."""
    written: str = ""
    """Fingerprint of the suite as resit last wrote it."""
    drafts: tuple[Draft, ...]

    @property
    def ready(self) -> tuple[Draft, ...]:
        """Those that can be asked."""
        return tuple(draft for draft in self.drafts if not draft.problems)

    def with_draft(self, at: int, draft: Draft) -> DraftBook:
        """The book with another draft in that place."""
        return self.replaced(drafts=(*self.drafts[:at], draft, *self.drafts[at + 1 :]))

    def without(self, at: int) -> DraftBook:
        """The book without the draft in that place."""
        return self.replaced(drafts=self.drafts[:at] + self.drafts[at + 1 :])


@dataclass(frozen=True, slots=True)
class Saved:
    """What a save made."""

    book: DraftBook
    suite_path: Path
    moved: bool
    """True: the suite went to a new name, for the file of the old one is the person's own by now."""


def suites_folder() -> Path:
    """Where drafted suites go: among the person's own."""
    return data_dir() / "suites"


def books_folder() -> Path:
    """Where books of drafts are kept."""
    return data_dir() / "drafts"


def save_book(book: DraftBook) -> Saved:
    """Write the suite, its files and the book; what is not ready stays a draft in the suite.

    Raises:
        ConfigError: Something cannot be written; what was there before is as it was.
    """
    if not book.drafts:
        raise UsageError("there is no draft left to save", hint="mark requests in the logs first")
    folder = suites_folder()
    own = bool(book.name) and _as_written(folder / f"{book.name}.toml", book.written)
    name = book.name if own else _free_name(folder, book.name or book.title)
    path = folder / f"{name}.toml"
    data = suite_text(book, name).encode()
    made: list[Path] = []
    try:
        _write_files(book, folder / _files_of(name), made)
        atomic_write(path, data)
    except OSError as error:
        _take_back(made, folder / _files_of(name))
        raise ConfigError(f"{path} cannot be written ({error.strerror or error})", hint="nothing was saved") from None
    kept = book.replaced(name=name, written=_print(data))
    _write_book(kept)
    return Saved(kept, path, moved=bool(book.name) and not own)


def _write_book(book: DraftBook) -> None:
    path = books_folder() / f"{book.name}.toml"
    try:
        books_folder().mkdir(mode=0o700, parents=True, exist_ok=True)
        atomic_write(path, tomli_w.dumps(_plain(book), multiline_strings=True).encode())
    except OSError as error:
        why = error.strerror or error
        raise ConfigError(f"{path} cannot be written ({why})", hint="the suite is saved, the drafts are not") from None


def _plain(book: DraftBook) -> dict[str, Any]:
    return book.model_dump(mode="json", exclude_none=True, exclude_defaults=True) | {"format": 1}


def load_book(name: str) -> DraftBook:
    """The book of that name.

    Raises:
        UsageError: There is none.
        ConfigError: It cannot be read.
    """
    path = books_folder() / f"{name}.toml"
    try:
        return DraftBook.model_validate(parse_toml(path.read_text(encoding="utf-8")))
    except (FileNotFoundError, ValueError) as error:
        if isinstance(error, FileNotFoundError) or "\0" in name:
            raise UsageError(f"there are no drafts {name!r}", hint=_known()) from None
        raise ConfigError(f"{path} holds no drafts ({_brief(error)})", hint="mend it or move it away") from None
    except (OSError, Unreadable) as error:
        raise ConfigError(f"{path} cannot be read ({error})", hint="mend it or move it away") from None


def _brief(error: ValueError) -> str:
    if isinstance(error, ValidationError):
        first = error.errors(include_url=False, include_input=False)[0]
        return f"{'.'.join(str(part) for part in first['loc'])}: {first['msg']}"
    return str(error)[:200]


def _known() -> str:
    names = book_names()
    return f"there are: {', '.join(names[:8])}" if names else "mark requests in the app's logs, d drafts a suite"


def book_names() -> tuple[str, ...]:
    """Books that are kept, the newest first."""
    with suppress(OSError):
        files = [path for path in books_folder().iterdir() if path.suffix == ".toml"]
        return tuple(path.stem for path in sorted(files, key=lambda path: -path.stat().st_mtime))
    return ()


# -- the suite ---------------------------------------------------------------------------------------------------------


def suite_text(book: DraftBook, name: str) -> str:
    """The suite as a file."""
    head = {"title": book.title, "about": "Questions out of real requests.", "rule": "exact", "repeats": 2}
    parts = [
        "# Drafted out of chat logs. resit writes this file anew as long as nobody else has changed it.\n",
        tomli_w.dumps(head),
    ]
    for draft in book.drafts:
        parts.append(f"\n# from {one_line(draft.source, 300)}\n")
        if draft.said.strip():
            parts.append(f"# it said then: {one_line(draft.said.strip(), _SAID_SHOWN)}\n")
        if draft.problems:
            parts += [f"# a draft until it has: {one_line(problem, 300)}\n" for problem in draft.problems]
        parts.append("[[questions]]\n")
        parts += [_line(key, value) for key, value in _table(draft, name).items()]
    return "".join(parts)


def _line(key: str, value: Any) -> str:
    """One key as a person would write it: tables in braces, a list of them a line each."""
    if isinstance(value, dict):
        return f"{key} = {_braces(value)}\n"
    if isinstance(value, list) and value and isinstance(value[0], dict):
        return f"{key} = [\n" + "".join(f"  {_braces(each)},\n" for each in value) + "]\n"
    return tomli_w.dumps({key: value}, multiline_strings=True)


def _braces(table: dict[str, Any]) -> str:
    return f"{{ {', '.join(_flat(key, value) for key, value in table.items())} }}"


def _flat(key: str, value: Any) -> str:
    if isinstance(value, dict):
        return f"{key} = {_braces(value)}"
    return " ".join(tomli_w.dumps({key: value}).split("\n")).strip()


def _table(draft: Draft, name: str) -> dict[str, Any]:
    """One question, without what is at its default."""
    sound = not draft.problems
    table: dict[str, Any] = {"id": draft.id, "kind": draft.kind, "about": draft.about, "prompt": draft.prompt}
    table["files"] = [f"{_files_of(name)}/{draft.id}-{file.name}" for file in draft.files if file.keep]
    table["accept"] = list(draft.accept)
    table["rule"] = rule_value(draft.rule) if sound and draft.rule != "exact" else ""
    table["checks"] = [check_table(text) for text in draft.checks] if sound else []
    table["traps"] = [{"reply": draft.trap, "why": draft.why}] if draft.trap and not draft.no_trap else []
    table |= {"no_trap": True} if draft.no_trap else {}
    table |= {} if sound else {"draft": True}
    return {key: value for key, value in table.items() if value not in ("", [])}


def _files_of(name: str) -> str:
    return f"{name}-files"


def _write_files(book: DraftBook, folder: Path, made: list[Path]) -> None:
    """The data files; those made now, and not before, go to `made`."""
    wanted = {f"{draft.id}-{file.name}": file.text for draft in book.drafts for file in draft.files if file.keep}
    for name, text in wanted.items():
        path = folder / name
        if not path.exists():
            made.append(path)
        atomic_write(path, text.encode())


def _take_back(made: list[Path], folder: Path) -> None:
    for path in made:
        with suppress(OSError):
            path.unlink()
    with suppress(OSError):
        folder.rmdir()


def _as_written(path: Path, written: str) -> bool:
    try:
        return _print(path.read_bytes()) == written
    except OSError:
        return False


def _print(data: bytes) -> str:
    return digest(data.decode(errors="replace"))


def _free_name(folder: Path, wanted: str) -> str:
    """A name that no suite, no folder of files and no book has."""
    stem = file_part(wanted.strip().lower().replace(" ", "-"))[:60] or "drafts"
    number, name = 1, stem
    while any(os.path.lexists(p) for p in (folder / f"{name}.toml", folder / _files_of(name))) or _has_book(name):
        number += 1
        name = f"{stem}-{number}"
    return name


def _has_book(name: str) -> bool:
    return os.path.lexists(books_folder() / f"{name}.toml")
