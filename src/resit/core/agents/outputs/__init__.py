"""Reading what agents print: one module a tool, each of which says what a run came to."""

from __future__ import annotations

from collections.abc import Callable

from resit.core.agents.outputs.agy import AgyReader
from resit.core.agents.outputs.claude import ClaudeReader
from resit.core.agents.outputs.codex import CodexReader
from resit.core.agents.outputs.gemini import GeminiReader
from resit.core.agents.outputs.plain import FileReader, JsonReader, TextReader
from resit.core.agents.outputs.reader import Asking, Reader

_READERS: dict[str, Callable[[Asking], Reader]] = {
    "claude": ClaudeReader,
    "codex": CodexReader,
    "gemini": GeminiReader,
    "agy": AgyReader,
    "text": TextReader,
    "file": FileReader,
    "json": JsonReader,
}


def make_reader(name: str, asking: Asking) -> Reader:
    """The reader called `name`, for one run."""
    return _READERS[name](asking)
