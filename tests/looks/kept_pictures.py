"""Holding a screen against its kept picture."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

import pytest

from resit.tui import figures
from resit.tui.app import ResitApp

PICTURES = Path(__file__).with_name("pictures")
DRAWN_WITH = PICTURES / "drawn_with.txt"
VERSIONS = f"textual {version('textual')}, rich {version('rich')}\n"
NEW = bool(os.environ.get("RESIT_NEW_LOOKS"))


@pytest.fixture(autouse=True)
def one_time_and_place(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The same zone and year for every picture, in each file that imports this."""
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    monkeypatch.setattr(figures, "this_year", lambda: 2026)
    yield
    monkeypatch.undo()
    time.tzset()


_LEFT_OUT = (
    r"@font-face \{.*?\}",
    r' clip-path="url\(#terminal-line-\d+\)"',
    r'<clipPath id="terminal-line-\d+">\s*<rect [^>]*/>\s*</clipPath>\s*',
    r"<text [^>]*>(?:&#160;|\s)*</text>",
    r"\n\s*(?=\n)",
)
"""Fonts to fetch, clips and blanks: more than half of a picture, and nothing that is seen."""
_BACKGROUND = re.compile(
    r'<rect fill="(?P<fill>#\w+)" x="(?P<x>[\d.]+)" y="(?P<y>[\d.]+)" width="(?P<width>[\d.]+)" (?P<rest>[^>]*)/>'
)


def picture(app: ResitApp, name: str) -> str:
    """The screen as a small SVG, the same each time it is drawn."""
    svg = re.sub(r"terminal-\d+-", "terminal-", app.export_screenshot(title=name))
    for pattern in _LEFT_OUT:
        svg = re.sub(pattern, "", svg, flags=re.DOTALL)
    svg = re.sub(rf"(?:{re.sub(r'P<.*?>', ':', _BACKGROUND.pattern)})+", lambda run: _joined(run[0]), svg)
    return svg.replace("&#160;", "\u00a0")


def _joined(rects: str) -> str:
    """Neighbours of one colour in a line as one rectangle."""
    joined: list[dict[str, str]] = []
    for found in _BACKGROUND.finditer(rects):
        rect = found.groupdict()
        last = joined[-1] if joined else None
        if last is not None and (last["fill"], last["y"], last["rest"]) == (rect["fill"], rect["y"], rect["rest"]):
            last["width"] = f"{float(rect['x']) + float(rect['width']) - float(last['x']):.1f}"
        else:
            joined.append(rect)
    shape = '<rect fill="{fill}" x="{x}" y="{y}" width="{width}" {rest}/>'
    return "\n".join(shape.format_map(rect) for rect in joined)


def assert_looks(app: ResitApp, name: str) -> None:
    """Compare the screen with its picture; a new one is written beside it where they differ."""
    svg = picture(app, name)
    known = PICTURES / f"{name}.svg"
    if NEW:
        PICTURES.mkdir(exist_ok=True)
        known.write_text(svg, encoding="utf-8")
        DRAWN_WITH.write_text(VERSIONS, encoding="utf-8")
        return
    if DRAWN_WITH.read_text(encoding="utf-8") != VERSIONS:
        pytest.skip(f"the pictures were drawn with {DRAWN_WITH.read_text().strip()}")
    if svg != known.read_text(encoding="utf-8"):
        received = known.with_suffix(".received.svg")
        received.write_text(svg, encoding="utf-8")
        pytest.fail(f"{name} looks otherwise: compare {known} with {received}")
