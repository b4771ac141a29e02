"""When a room is free."""

Span = tuple[int, int]
"""Begin and end, in minutes after midnight."""


def free_gaps(meetings: list[Span], opens: int, closes: int) -> list[Span]:
    """The spans between `opens` and `closes` in which no meeting is held, in order."""
    gaps = []
    at = opens
    for begin, end in meetings:
        if begin > at:
            gaps.append((at, begin))
        at = end
    if at < closes:
        gaps.append((at, closes))
    return gaps
