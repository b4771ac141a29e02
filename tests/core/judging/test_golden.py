from __future__ import annotations

from pathlib import Path

import pytest
from golden import MAKERS
from sheet_kit import GOLDEN


@pytest.mark.parametrize("name", MAKERS)
def test_what_is_written_down_of_a_fixed_round_is_the_golden_file(tmp_path: Path, name: str) -> None:
    assert MAKERS[name](tmp_path) == (GOLDEN / name).read_text(encoding="utf-8")


def test_every_golden_file_is_made_by_something() -> None:
    assert {path.name for path in GOLDEN.iterdir()} == set(MAKERS)
