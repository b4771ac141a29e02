"""The README's pictures, made from the app itself: `python tests/looks/readme_pictures.py`."""

from __future__ import annotations

import asyncio
import contextlib
import io
import os
import tempfile
from pathlib import Path

PICTURES = Path(__file__).resolve().parents[2] / ".github"
SIZE = (140, 33)


async def draw(home: Path) -> None:
    """Play the demo into `home` and take a picture of its results."""
    from resit.tui.app import ResitApp
    from resit.tui.round_view import RoundView
    from resit.tui.screens.results import ResultsScreen

    round_path = next((home / "rounds" / "easy-questions").iterdir())
    app = ResitApp(first=ResultsScreen(RoundView.at(round_path)))
    async with app.run_test(size=SIZE) as pilot:
        app.theme = "resit-dark"
        await pilot.pause(0.5)
        await pilot.press("right_square_bracket", "right_square_bracket")
        await pilot.pause(0.5)
        svg = app.export_screenshot(title="resit")
    # Without it a viewer may fold the spaces between two colours.
    svg = svg.replace("<svg ", '<svg xml:space="preserve" ', 1)
    (PICTURES / "results.svg").write_text(svg, encoding="utf-8")


def main() -> None:
    """Draw them anew."""
    from resit.cli import main as resit

    with tempfile.TemporaryDirectory() as folder:
        os.environ["RESIT_HOME"] = folder
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            resit(["demo"])
        asyncio.run(draw(Path(folder)))


if __name__ == "__main__":
    main()
