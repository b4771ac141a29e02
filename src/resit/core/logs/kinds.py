"""The person's own names for kinds of work, remembered in `kinds.toml` in resit's data folder.

    [names]                     # a kind as resit groups it = what you call it; two with one name are one kind
    fix = "mending"
    test = "mending"

    [requests]                  # one request = its kind, whatever resit makes of it
    "5f0c9a1b2c3d4e5f" = "billing"

The file is yours to edit: comments and other lines stay when resit writes in it. Only its owner may read it.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

import tomli_w

from resit.core.errors import ConfigError, UsageError
from resit.core.logs.records import LogIndex, Request
from resit.core.paths import data_dir

_LONGEST = 60
_HEADER = """# Kinds of work as you name them. [names]: a kind as resit groups it = your name for it; two with one name
# are one kind. [requests]: a single request = its kind. Delete a line to take it back.
"""


@dataclass(frozen=True, slots=True)
class Kinds:
    """What `kinds.toml` says."""

    names: Mapping[str, str] = field(default_factory=dict)
    """Name by the group that resit makes."""
    requests: Mapping[str, str] = field(default_factory=dict)
    """Kind by the key of a request."""

    def of(self, key: str, group: str) -> tuple[str, bool]:
        """The kind of a request, and whether the person gave it to this very request."""
        own = self.requests.get(key)
        return (own, True) if own is not None else (self.names.get(group, group), False)


def kinds_path() -> Path:
    """Where the names are kept."""
    return data_dir() / "kinds.toml"


def load_kinds(path: Path | None = None) -> Kinds:
    """Read the names; a file that is not there holds none.

    Args:
        path: The file; None is `kinds_path()`.

    Raises:
        ConfigError: It cannot be read or holds something else.
    """
    return _parsed(_text(path or kinds_path()), path or kinds_path())


def rename_kind(old: str, new: str, path: Path | None = None) -> Kinds:
    """Call the kind `old` by the name `new` from now on; where `new` is a kind already, the two become one.

    Raises:
        UsageError: `new` is no name.
        ConfigError: The file cannot be read or written.
    """
    return merge_kinds([old], new, path)


def merge_kinds(olds: Iterable[str], into: str, path: Path | None = None) -> Kinds:
    """Make one kind, called `into`, of several.

    Raises:
        UsageError: `into` is no name.
        ConfigError: The file cannot be read or written.
    """
    name, olds, path = _name(into), set(olds), path or kinds_path()
    before = load_kinds(path)
    names = {group: name if called in olds else called for group, called in before.names.items()}
    names |= {old: name for old in olds if old not in names}
    if name not in before.names:
        names.pop(name, None)
    requests = {key: name if called in olds else called for key, called in before.requests.items()}
    return _save(before, Kinds({k: v for k, v in names.items() if k != v}, requests), path)


def set_kind(request: Request | str, kind: str | None, path: Path | None = None) -> Kinds:
    """Say of one request (or its key) which kind it is; None takes that back.

    Raises:
        UsageError: `kind` is no name.
        ConfigError: The file cannot be read or written.
    """
    key, path = request if isinstance(request, str) else request.key, path or kinds_path()
    before = load_kinds(path)
    requests = {name: value for name, value in before.requests.items() if name != key}
    if kind is not None:
        requests[key] = _name(kind)
    return _save(before, replace(before, requests=requests), path)


def with_kinds(index: LogIndex, kinds: Kinds) -> LogIndex:
    """`index` with its requests named anew, without reading any log."""
    return replace(index, requests=tuple(_named(request, kinds) for request in index.requests))


def _named(request: Request, kinds: Kinds) -> Request:
    kind, own = kinds.of(request.key, request.group)
    if (kind, own) == (request.kind, request.kind_set):
        return request
    return replace(request, kind=kind, kind_set=own)


def _name(text: str) -> str:
    name = " ".join(text.split())
    if not name or len(name) > _LONGEST or not name.isprintable():
        raise UsageError(f"{text[:_LONGEST]!r} is no name for a kind of work", hint=f"1 to {_LONGEST} characters")
    return name


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        return ""
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path} cannot be read ({type(error).__name__})", hint="mend it or move it away") from None


def _parsed(text: str, path: Path) -> Kinds:
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{path} is not TOML: {error}", hint="mend it or move it away") from None
    for section, values in table.items():
        lines = values if isinstance(values, dict) and section in ("names", "requests") else None
        if lines is None or not all(isinstance(value, str) for value in lines.values()):
            hint = '[names] and [requests] hold lines like "fix" = "mending"'
            raise ConfigError(f"{path}: [{section}] is not understood", hint=hint)
    return Kinds(table.get("names", {}), table.get("requests", {}))


def _save(before: Kinds, after: Kinds, path: Path) -> Kinds:
    text = _text(path) or _HEADER
    for section in ("names", "requests"):
        old, new = getattr(before, section), getattr(after, section)
        for key in [*old, *(key for key in new if key not in old)]:
            if old.get(key) != new.get(key):
                text = _with_line(text, section, key, new.get(key))
    try:
        if _parsed(text, path) != after:
            raise ConfigError("written otherwise")
    except ConfigError:
        # A form that is not one line a name, which only a person can have written: then the values count.
        text = _HEADER + tomli_w.dumps({"names": dict(after.names), "requests": dict(after.requests)})
    try:
        _write_private(path, text.encode())
    except OSError as error:
        raise ConfigError(f"{path} cannot be written ({error.strerror})", hint="the names are not kept") from None
    return after


def _with_line(text: str, section: str, key: str, value: str | None) -> str:
    """`text` with one line set, added or, for None, taken away; every other line as it was."""
    made = [] if value is None else [tomli_w.dumps({key: value}).rstrip("\n")]
    lines = text.splitlines()
    start = next((at for at, line in enumerate(lines) if line.strip().startswith(f"[{section}]")), None)
    if start is None:
        return "\n".join([*lines, "", f"[{section}]", *made]) + "\n" if made else text
    end = next((at for at in range(start + 1, len(lines)) if lines[at].lstrip().startswith("[")), len(lines))
    here = next((at for at in range(start + 1, end) if _key_of(lines[at]) == key), None)
    if here is not None:
        lines[here : here + 1] = made
    else:
        while end > start + 1 and not lines[end - 1].strip():
            end -= 1
        lines[end:end] = made
    return "\n".join(lines) + "\n"


def _key_of(line: str) -> str | None:
    try:
        table = tomllib.loads(line)
    except tomllib.TOMLDecodeError:
        return None
    return next(iter(table), None)


def _write_private(path: Path, data: bytes) -> None:
    """Write whole or not at all, into a file that nobody else could read even for a moment."""
    target = Path(os.path.realpath(path))
    target.parent.mkdir(parents=True, exist_ok=True)
    temporary = target.parent / f".tmp-{os.getpid()}-kinds"
    with suppress(FileNotFoundError):
        temporary.unlink()
    try:
        with open(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, target)
    except BaseException:
        with suppress(OSError):
            temporary.unlink()
        raise
