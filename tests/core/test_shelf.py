"""Two suite files of one name in two folders are two suites, whatever looks for their rounds."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from resit.core.judging.naming import round_before
from resit.core.paths import rounds_dir
from resit.core.rounds.past import past_calls
from resit.core.rounds.shelf import open_round, rounds_of
from resit.core.suite import Edit, Suite
from resit.core.suite_file import load_suite
from resit.tui.history import past_rounds
from resit.tui.round_view import RoundView
from saved_round import ANSWERS, BEGAN, SUITE, keep_round


def suite_in(folder: Path) -> Suite:
    folder.mkdir()
    path = folder / "short-answers.toml"
    path.write_text(SUITE, encoding="utf-8")
    return load_suite(path)


@pytest.fixture
def mine(tmp_path: Path) -> Suite:
    return suite_in(tmp_path / "mine")


@pytest.fixture
def other(tmp_path: Path) -> Suite:
    return suite_in(tmp_path / "other")


def test_an_edit_shows_and_turns_rounds_of_its_own_file_only(mine: Suite, other: Suite) -> None:
    first = keep_round(mine, ANSWERS, name="20261128-1")
    keep_round(other, ANSWERS, name="20261128-2")
    second = keep_round(mine, ANSWERS, name="20261128-3")
    view = RoundView.at(second)
    edit = Edit(at=BEGAN, question="minutes", what="accept", accept="210 minutes")
    found = view.preview(edit)
    assert {flip.round_id for flip in found.flips} == {first.name, second.name}
    assert found.rounds == 2


def test_what_looks_for_rounds_of_a_suite_finds_those_of_its_file(mine: Suite, other: Suite) -> None:
    first = keep_round(mine, ANSWERS, name="20261128-1")
    last = keep_round(mine, ANSWERS, name="20261130-1", at=BEGAN + timedelta(days=2))
    foreign = keep_round(other, ANSWERS, name="20261129-1", at=BEGAN + timedelta(days=1))
    for path in (first, last, foreign):
        open_round(path)
    assert rounds_of(mine) == [last, first]
    assert [past.path for past in past_rounds(mine)] == [last, first]
    assert round_before(open_round(last)) == first
    assert round_before(open_round(foreign)) is None
    assert len(past_calls(rounds_dir(), other)) * 2 == len(past_calls(rounds_dir(), mine))


def test_a_round_whose_plan_cannot_be_read_is_not_passed_over(mine: Suite) -> None:
    path = keep_round(mine, ANSWERS)
    (path / "round.toml").write_text("not toml", encoding="utf-8")
    assert rounds_of(mine) == [path]
    assert past_rounds(mine)[0].problem


def test_a_suite_that_was_moved_keeps_its_rounds(mine: Suite, tmp_path: Path) -> None:
    path = keep_round(mine, ANSWERS)
    assert mine.path is not None
    moved = mine.path.rename(tmp_path / "short-answers.toml")
    assert rounds_of(load_suite(moved)) == [path]
