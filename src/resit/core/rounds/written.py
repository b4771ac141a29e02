"""How what a round holds is written down and read again: result files as JSON, all else as TOML."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import tomli_w
from pydantic import ValidationError
from pydantic_core import PydanticSerializationError

from resit.core.errors import RoundError
from resit.core.records import RunRecord


def to_toml(table: dict[str, Any]) -> bytes:
    """`table` as TOML, long texts as they are read."""
    # A multi-line string of TOML would turn CR LF into LF.
    escapes = "\\r" in json.dumps(table, default=str)
    return tomli_w.dumps(table, multiline_strings=not escapes).encode()


def serialised(record: RunRecord) -> bytes:
    """A run as its file holds it."""
    try:
        return record.model_dump_json(exclude_none=True).encode()
    except PydanticSerializationError:
        # Half of a surrogate pair is no UTF-8, but a reply may hold one; JSON can, as an escape.
        return json.dumps(record.model_dump(exclude_none=True), default=str).encode()


def parsed(path: Path, data: bytes) -> RunRecord:
    """The run in `data`, which is the content of `path`.

    Raises:
        RoundError: It is damaged, or of another run than the file's name says.
    """
    try:
        record = _record(data)
    except ValidationError as error:
        raise RoundError(f"{path.name} is damaged: {_damage(data, error)}") from error
    if record.key != path.name[:-5]:
        raise RoundError(f"{path.name} is damaged: it holds another run, {record.key}")
    return record


def _record(data: bytes) -> RunRecord:
    try:
        return RunRecord.model_validate_json(data)
    except ValidationError:
        if b"\\ud" not in data.lower():
            raise
        with suppress(ValueError):
            return RunRecord.model_validate(json.loads(data))
        raise


def _damage(data: bytes, error: ValidationError) -> str:
    if not data:
        return "it is empty"
    return "it is no JSON, or cut short" if error.errors()[0]["type"] == "json_invalid" else brief(error)


def brief(error: Exception) -> str:
    """The first line of what went wrong, without the data that caused it."""
    if isinstance(error, ValidationError):
        first = error.errors(include_input=False, include_url=False)[0]
        return f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
    if isinstance(error, OSError):
        return error.strerror or type(error).__name__
    return str(error).partition("\n")[0]
