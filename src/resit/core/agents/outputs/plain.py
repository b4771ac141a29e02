"""What a command of the person's own prints: the answer as text, in a file, or at a place in JSON."""

from __future__ import annotations

import json
from typing import Any

from resit.core.agents.bounded import HEAD_CHARS, HeadTail
from resit.core.agents.outputs.reader import (
    Asking,
    Ended,
    Place,
    from_words,
    is_limit_message,
    not_ended_well,
    reply,
    without_result,
)
from resit.core.calling.client import Delta
from resit.core.records import AgentRun, Fault, Reply


class TextReader:
    """The answer is what the command prints."""

    def __init__(self, asking: Asking) -> None:
        """Begin."""
        self.asking = asking
        self.printed = HeadTail()

    def feed(self, text: str) -> list[Delta]:
        """Take the next piece."""
        self.printed.add(text)
        return [Delta("text", text)] if text and not self.printed.left_out else []

    def finish(self, ended: Ended, place: Place) -> Reply | Fault:
        """What the run came to. A command that fails has not answered, whatever it printed."""
        early = not_ended_well(self.asking, ended)
        if early is not None:
            return early
        if ended.exit_code:
            return without_result(self.asking, ended)
        return self.answer(ended, place)

    def answer(self, ended: Ended, place: Place) -> Reply | Fault:
        """The answer of a command that ended well."""
        return self.as_reply(self.printed, ended)

    def as_reply(self, text: HeadTail, ended: Ended) -> Reply | Fault:
        """`text` as the answer."""
        if is_limit_message(text.text):
            return from_words(self.asking, text.text.strip(), ended)
        agent = AgentRun(isolation="none", exit_code=ended.exit_code)
        if text.left_out:
            detail = f"it wrote {text.taken:,} characters; its beginning and end are kept"
            return reply(text.text, ended, stop="cut_off", detail=detail, agent=agent)
        # The line end that closes a command's output is the terminal's, not the answer's.
        return reply(text.text.removesuffix("\n").removesuffix("\r"), ended, agent=agent)


class FileReader(TextReader):
    """The answer is in a file that the command was told to write."""

    def answer(self, ended: Ended, place: Place) -> Reply | Fault:
        """The file's text; a file that is not there is an empty answer, as is an empty one."""
        text = HeadTail()
        path = place.answer_file
        # Nothing that the command left is followed: a link there could lead to anything.
        if path.is_file() and not path.is_symlink():
            with open(path, encoding="utf-8", errors="replace") as file:
                while piece := file.read(HEAD_CHARS):
                    text.add(piece)
        return self.as_reply(text, ended)


class JsonReader(TextReader):
    """The answer stands at a place in the JSON that the command prints: one value, or the last line that has it."""

    def feed(self, text: str) -> list[Delta]:
        """Take the next piece; JSON is not the model's words."""
        self.printed.add(text)
        return []

    def answer(self, ended: Ended, place: Place) -> Reply | Fault:
        """What stands at the place."""
        printed = self.printed.text.strip()
        for text in (printed, *reversed(printed.splitlines())):
            try:
                found = at_path(json.loads(text), self.asking.answer_path)
            except (ValueError, RecursionError, LookupError):
                continue
            answer = HeadTail()
            answer.add(found if isinstance(found, str) else json.dumps(found, ensure_ascii=False))
            return self.as_reply(answer, ended)
        said = f"{self.asking.command} printed no JSON with {self.asking.answer_path!r} in it"
        return self.asking.asked.fault("internal", said, seconds=ended.seconds)


def at_path(value: Any, path: str) -> Any:
    """What stands at a dotted path such as `choices.0.text`.

    Raises:
        LookupError: Nothing stands there.
    """
    for part in path.split("."):
        if isinstance(value, list):
            value = value[int(part)] if part.lstrip("-").isdigit() else _missing(part)
        elif isinstance(value, dict):
            value = value[part]
        else:
            _missing(part)
    return value


def _missing(part: str) -> Any:
    raise LookupError(part)
