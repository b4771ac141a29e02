"""Text without an end, held in bounds: the beginning, the end, and how much between them was let go."""

from __future__ import annotations

from collections import deque

from resit.core.records import Step

HEAD_CHARS = TAIL_CHARS = 1_000_000
"""How much of the beginning and of the end of a command's output is kept."""
LINE_CHARS = 8_000_000
"""A longer line of JSON is let go: no event is that long but one that carries a whole file."""
STEP_CHARS = 8_000
"""How much of one step of a transcript is kept."""
HEAD_STEPS, TAIL_STEPS = 80, 160
"""How many steps are kept, from the beginning and from the end."""


class HeadTail:
    """Takes text and keeps its beginning and its end."""

    __slots__ = ("_head", "_head_left", "_tail", "_tail_chars", "_tail_limit", "left_out", "taken")

    def __init__(self, head: int = HEAD_CHARS, tail: int = TAIL_CHARS) -> None:
        """Keep so many characters of each."""
        self._head: list[str] = []
        self._head_left = head
        self._tail: deque[str] = deque()
        self._tail_chars = 0
        self._tail_limit = tail
        self.left_out = 0
        """Characters let go between the two."""
        self.taken = 0
        """Characters taken in all."""

    def add(self, text: str) -> None:
        """Take the next piece."""
        self.taken += len(text)
        if self._head_left:
            self._head.append(text[: self._head_left])
            taken = len(self._head[-1])
            self._head_left -= taken
            text = text[taken:]
        if not text:
            return
        self._tail.append(text)
        self._tail_chars += len(text)
        while self._tail_chars - len(self._tail[0]) >= self._tail_limit:
            gone = len(self._tail.popleft())
            self._tail_chars -= gone
            self.left_out += gone

    @property
    def text(self) -> str:
        """What is kept, with a word where something is missing."""
        gap = f"\n[{self.left_out:,} characters left out]\n" if self.left_out else ""
        return "".join(self._head) + gap + "".join(self._tail)


class Lines:
    """Cuts a stream of text into lines; a line that is too long is let go."""

    __slots__ = ("_open", "_open_chars", "lost")

    def __init__(self) -> None:
        """Begin with nothing."""
        self._open: list[str] = []
        self._open_chars = 0
        self.lost = 0
        """Lines that were too long to keep."""

    def cut(self, text: str) -> list[str]:
        """The lines that `text` ends."""
        *ended, rest = text.split("\n")
        found = []
        for line in ended:
            self._add(line)
            found += self.rest()
        self._add(rest)
        return found

    def rest(self) -> list[str]:
        """The line that has begun, as one that ended."""
        whole, lost = "".join(self._open), self._open_chars > LINE_CHARS
        self._open, self._open_chars = [], 0
        self.lost += lost
        return [] if lost or not whole else [whole]

    def _add(self, text: str) -> None:
        self._open_chars += len(text)
        if self._open_chars <= LINE_CHARS:
            self._open.append(text)
        else:
            self._open = []


class Transcript:
    """The steps of an agent, long ones and long rows of them cut in the middle."""

    __slots__ = ("_head", "_left_out", "_tail")

    def __init__(self) -> None:
        """Begin with none."""
        self._head: list[Step] = []
        self._tail: deque[Step] = deque()
        self._left_out = 0

    def add(self, step: Step) -> None:
        """Take the next step."""
        step = step.model_copy(update={"text": shortened(step.text, STEP_CHARS)})
        if len(self._head) < HEAD_STEPS:
            self._head.append(step)
            return
        self._tail.append(step)
        if len(self._tail) > TAIL_STEPS:
            self._tail.popleft()
            self._left_out += 1

    @property
    def steps(self) -> tuple[Step, ...]:
        """What is kept, in order."""
        gap = [Step(kind="note", text=f"{self._left_out:,} steps left out")] if self._left_out else []
        return (*self._head, *gap, *self._tail)


def shortened(text: str, limit: int) -> str:
    """`text`, its middle left out where it is longer than `limit`."""
    if len(text) <= limit:
        return text
    half = limit // 2
    return f"{text[:half]}\n[{len(text) - 2 * half:,} characters left out]\n{text[-half:]}"
