"""Names of settings that stand beside each other."""

from __future__ import annotations

from collections.abc import Sequence

from resit.tui.figures import short_setting


def short_names(labels: Sequence[str]) -> list[str]:
    """Settings beside each other: short, without the words that all of them end on."""
    names = [short_setting(label).split(" ") for label in labels]
    if len(set(map(tuple, names))) < len(names):
        return list(labels)
    while len(names) > 1 and all(len(name) > 1 for name in names) and len({name[-1] for name in names}) == 1:
        names = [name[:-1] for name in names]
        if len(set(map(tuple, names))) < len(names):
            return [short_setting(label) for label in labels]
    return [" ".join(name) for name in names]
