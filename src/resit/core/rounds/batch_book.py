"""Which batches a round has out: `batches.toml` and, beside it, what each of their requests was.

A batch is written down before it is made, with a mark that its requests carry. Should the process die before the
server's answer is written down as well, the next start finds the batch again by that mark, and pays nothing twice.
"""

from __future__ import annotations

import secrets
import tomllib
from collections.abc import Iterable, Iterator
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import Literal

from pydantic import ValidationError

from resit.core.errors import RoundError
from resit.core.paths import atomic_write
from resit.core.records import Frozen
from resit.core.rounds.store import RoundStore
from resit.core.rounds.written import to_toml

BOOK, FOLDER = "batches.toml", "batches"

NoteState = Literal["prepared", "submitted", "collecting", "collected", "gone", "never made"]
"""About to be made; known to the server; its results are being taken in; all are. `gone`: the server no longer has
them."""
OPEN: frozenset[NoteState] = frozenset({"prepared", "submitted", "collecting"})


class BatchNote(Frozen):
    """One batch of a round."""

    mark: str
    """What the ids of its requests begin with."""
    endpoint: str
    """Base URL of the server that has it."""
    requests: int
    prepared_at: datetime
    state: NoteState = "prepared"
    id: str | None = None
    """The server's name for it."""
    expires_at: datetime | None = None

    @property
    def open(self) -> bool:
        """True while something of it may come back."""
        return self.state in OPEN


class BatchItem(Frozen):
    """One request of a batch."""

    key: str
    """The run it was made for."""
    question: str
    setting: str
    """Label."""
    run: int
    asked: str
    """Fingerprint of the request."""
    number: int
    """Of the attempt."""
    worst_usd: Decimal | None
    """What it may cost at worst. None: the price is not known."""
    prompt: str


class _Book(Frozen):
    batches: tuple[BatchNote, ...] = ()


class BatchBook:
    """The batches of one round. Only the holder of its lock writes."""

    def __init__(self, store: RoundStore) -> None:
        """Read what is there.

        Raises:
            RoundError: It cannot be read: what is out is not known, so nothing may be asked.
        """
        self._store = store
        self._notes = {note.mark: note for note in _read(store.path / BOOK)}

    @property
    def open(self) -> tuple[BatchNote, ...]:
        """The batches of which something may come back, oldest first."""
        return tuple(note for note in self._notes.values() if note.open)

    @property
    def known_ids(self) -> frozenset[str]:
        """The server's names for all batches of the round."""
        return frozenset(note.id for note in self._notes.values() if note.id is not None)

    def results_path(self, note: BatchNote) -> Path:
        """Where the results of a batch are kept until they are taken in."""
        return self._store.path / FOLDER / f"{note.mark}.results"

    def prepare(self, endpoint: str, items: Iterable[BatchItem], now: datetime) -> BatchNote:
        """Write down a batch that is about to be made.

        Raises:
            StoreFull: The disk has no room.
            RoundError: It cannot be written; the batch must not be made.
        """
        mark = f"resit-{secrets.token_hex(8)}"
        lines = [item.model_dump_json() for item in items]
        with self._store.translating(FOLDER):
            atomic_write(self._items_path(mark), "\n".join(lines).encode(errors="surrogatepass"))
        note = BatchNote(mark=mark, endpoint=endpoint, requests=len(lines), prepared_at=now)
        self.put(note)
        return note

    def put(self, note: BatchNote) -> None:
        """Write down where a batch is.

        Raises:
            StoreFull: The disk has no room.
            RoundError: It cannot be written.
        """
        self._notes[note.mark] = note
        book = _Book(batches=tuple(self._notes.values()))
        with self._store.translating(BOOK):
            atomic_write(self._store.path / BOOK, to_toml(book.model_dump(mode="json", exclude_none=True)))
            if not note.open:
                self.results_path(note).unlink(missing_ok=True)
                self._items_path(note.mark).unlink(missing_ok=True)

    def items(self, note: BatchNote) -> Iterator[BatchItem]:
        """The requests of an open batch, in the order of their numbers.

        Raises:
            RoundError: They cannot be read.
        """
        path = self._items_path(note.mark)
        try:
            with path.open("rb") as file:
                for line in file:
                    yield BatchItem.model_validate_json(line)
        except (OSError, ValidationError) as error:
            raise RoundError(
                f"{path} cannot be read ({type(error).__name__}), so the replies of a batch cannot be placed",
                hint="--round new starts another round",
            ) from None

    def _items_path(self, mark: str) -> Path:
        return self._store.path / FOLDER / f"{mark}.requests"


def open_batches(store: RoundStore) -> tuple[BatchNote, ...]:
    """The batches that a round has out.

    Raises:
        RoundError: It cannot be told.
    """
    return tuple(note for note in _read(store.path / BOOK) if note.open)


def request_mark(note: BatchNote, number: int) -> str:
    """The id of a batch's request, by its number from 0."""
    return f"{note.mark}-{number}"


def request_number(note: BatchNote, mark: str) -> int | None:
    """The number of the request with that id; None when it is not of this batch."""
    head, _, tail = mark.rpartition("-")
    if head != note.mark or not tail.isascii() or not tail.isdigit() or len(tail) > 6:
        return None
    return int(tail) if int(tail) < note.requests else None


def _read(path: Path) -> tuple[BatchNote, ...]:
    try:
        return _Book.model_validate(tomllib.loads(path.read_text(encoding="utf-8")), strict=False).batches
    except FileNotFoundError:
        return ()
    except (OSError, ValueError) as error:
        raise RoundError(
            f"{path} cannot be read ({type(error).__name__}), so nobody knows which batches are out",
            hint="mend it, or start another round with --round new",
        ) from None
