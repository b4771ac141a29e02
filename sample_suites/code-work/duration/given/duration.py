"""How long something takes, as people write it."""


def minutes(text: str) -> int:
    """Minutes in a duration such as `90`, `90m`, `1h`, `1h30`, `1h 30m` or `1:30`.

    Letters may be capitals, and spaces may stand around the parts. Anything else is a ValueError.
    """
    raise NotImplementedError
