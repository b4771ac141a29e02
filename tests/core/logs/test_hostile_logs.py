"""Any bytes and any JSON as a log: nothing raises, and what is found can be summed up and read."""

from __future__ import annotations

import json
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from log_kit import FIXTURES, scanned

from resit.core.config import ModelsFile
from resit.core.errors import ResitError
from resit.core.logs.summary import summarise
from resit.core.logs.texts import read_texts

SAMPLES = [line for file in sorted(FIXTURES.rglob("*.jsonl")) for line in file.read_bytes().splitlines()]
ROWS: list[Any] = [json.loads(line) for line in SAMPLES]
EXPORTED: list[Any] = [
    {"chat_messages": [{"sender": "human", "uuid": "1", "text": "a", "created_at": "2026-01-01"}], "uuid": "x"},
    {"mapping": {"a": {"message": {"author": {"role": "user"}, "content": {"parts": ["b"]}, "create_time": 5},
                       "children": ["a", "b"]}}, "conversation_id": "y"},
    {"prompt": "a", "reply": "b", "usage": {"input_tokens": 5}, "model": "m", "timestamp": 5},
    {"messages": [{"role": "user", "content": "c"}], "model": "m"},
]  # fmt: skip
ODD = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(10**20), 10**20),
    st.sampled_from([1e308, -1.0, 10**400, "\ud83d", "", "\x00\x1b[31m", "9999-99-99", "a" * 5000]),
    st.sampled_from(["[]", "{}", "[[]]", "[{}]"]).map(json.loads),
    st.text(max_size=20),
    st.lists(
        st.dictionaries(st.sampled_from(["type", "id", "text", "name", "input"]), st.text(max_size=5)), max_size=3
    ),
)


@st.composite
def changed(draw: st.DrawFn, rows: list[Any]) -> Any:
    """A real row in which some values are anything else."""
    row = json.loads(json.dumps(draw(st.sampled_from(rows))))
    for _ in range(draw(st.integers(0, 4))):
        place = row
        while isinstance(place, dict | list) and place:
            key = draw(st.sampled_from(sorted(place) if isinstance(place, dict) else list(range(len(place)))))
            if not isinstance(place[key], dict | list) or not place[key] or draw(st.booleans()):
                place[key] = draw(ODD)
                break
            place = place[key]
    return row


def look(data: bytes, name: str) -> None:
    """Do all that is ever done with a log."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_bytes(data)
        for _ in range(2):
            index = scanned(path, cache=Path(folder) / "cache.sqlite3")
        summarise(index, models_file=ModelsFile())
        for request in index.requests:
            assert request.key
            request.first_line.encode()
            with suppress(ResitError):
                read_texts(request)


NAMES = st.sampled_from(
    ["s.jsonl", "rollout-1.jsonl", "agent-a.jsonl", "conversations.json", "x.zip", "session-1.json"]
)


@given(data=st.binary(max_size=2000), name=NAMES)
@settings(max_examples=60, deadline=None)
def test_any_bytes_as_a_log_raise_nothing(data: bytes, name: str) -> None:
    look(data, name)


@given(data=st.data(), name=NAMES)
@settings(max_examples=60, deadline=None)
def test_lines_cut_and_joined_anywhere_raise_nothing(data: st.DataObject, name: str) -> None:
    pieces = []
    for _ in range(data.draw(st.integers(1, 6))):
        line = data.draw(st.sampled_from(SAMPLES))
        start, end = sorted((data.draw(st.integers(0, len(line))), data.draw(st.integers(0, len(line)))))
        pieces.append(line[start:] if data.draw(st.booleans()) else line[:end])
    look(data.draw(st.sampled_from([b"\n", b"", b"\r\n", b"\x00\n"])).join(pieces), name)


@given(rows=st.lists(changed(ROWS), min_size=1, max_size=12), name=NAMES)
@settings(max_examples=120, deadline=None)
def test_rows_that_hold_anything_raise_nothing(rows: list[Any], name: str) -> None:
    look("\n".join(json.dumps(row) for row in rows).encode(), name)


@given(rows=st.lists(changed(EXPORTED), min_size=1, max_size=5), whole=st.booleans(), name=NAMES)
@settings(max_examples=120, deadline=None)
def test_exports_that_hold_anything_raise_nothing(rows: list[Any], whole: bool, name: str) -> None:
    look(json.dumps(rows).encode() if whole else "\n".join(json.dumps(row) for row in rows).encode(), name)


@pytest.mark.parametrize("data", [b"[" * 200_000, b'{"a":' * 100_000 + b"\n", b'"' + b"\\" * 100_001, b"9" * 50_000])
def test_json_that_is_nested_or_long_without_sense_raises_nothing(data: bytes) -> None:
    for name in ("s.jsonl", "conversations.json"):
        look(data, name)


def test_counts_that_no_call_has_are_no_counts() -> None:
    row = {
        "prompt": "a",
        "reply": "b",
        "model": "claude-opus-5-5",
        "usage": {"input_tokens": 10**18, "output_tokens": -1},
    }
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "s.jsonl"
        path.write_text(json.dumps(row))
        (request,) = scanned(path).requests
    assert (request.usage.input_tokens, request.usage.output_tokens, request.cost_usd) == (None, None, None)
