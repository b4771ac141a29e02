from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path

import pytest
from round_kit import ENDPOINT, START, A, make_round_plan, make_suite, record, reply

from resit.core.edits import apply_edits
from resit.core.records import RunRecord, run_key
from resit.core.rounds import memory
from resit.core.rounds.former import FORMER, note_former, read_former
from resit.core.rounds.graded import GradedRound
from resit.core.rounds.plan import build_request
from resit.core.rounds.regrade import regrade
from resit.core.rounds.store import RoundStore
from resit.core.suite import Edit, Question, Suite

SUITE = make_suite(
    questions=(
        Question(id="minutes", prompt="Minutes in 3.5 h?", accept=("210",)),
        Question(id="capital", prompt="Capital of France?", accept=("Paris",)),
    )
)
LOOSER = apply_edits(SUITE, (Edit(at=START, question="minutes", what="accept", accept="210 minutes"),))
KEY = run_key("minutes", A, 1)


def kept(suite: Suite, question: str, said: str) -> RunRecord:
    return record(build_request(suite, suite.by_id[question], A, ENDPOINT), reply(said), question=question)


@pytest.fixture
def store(tmp_path: Path) -> RoundStore:
    store = RoundStore.create(tmp_path, make_round_plan(SUITE), SUITE)
    store.put(kept(SUITE, "minutes", "210 minutes"))
    store.put(kept(SUITE, "capital", "Paris"))
    return store


def test_a_regrade_keeps_the_grade_it_turns_with_the_rule_it_came_from(store: RoundStore) -> None:
    GradedRound(store).grade(SUITE)
    regrade(store, LOOSER)
    (former,) = read_former(store)[KEY]
    assert (former.said, former.score, former.rule) == ("miss (wrong)", 0.0, SUITE.by_id["minutes"].rule_digest)
    assert set(read_former(store)) == {KEY}


def test_every_row_names_the_rule_that_graded_it(store: RoundStore) -> None:
    rows = GradedRound(store).grade(LOOSER).rows
    assert {row.question: row.rule for row in rows} == {q.id: q.rule_digest for q in LOOSER.questions}
    assert rows[0].rule != SUITE.by_id["minutes"].rule_digest


def test_what_was_noticed_once_is_not_written_down_again(store: RoundStore) -> None:
    GradedRound(store).grade(SUITE)
    remembered = (store.path / memory.GRADED).read_bytes()
    for _ in range(3):
        # The memory is of before the edit, as when too few rows turned for it to be written again.
        store.write_file(memory.GRADED, remembered)
        GradedRound(store).grade(LOOSER)
    assert len(read_former(store)[KEY]) == 1


def test_there_and_back_again_leaves_every_grade_readable(store: RoundStore) -> None:
    keeper = GradedRound(store)
    for suite in (SUITE, LOOSER, SUITE, LOOSER):
        keeper.grade(suite)
    assert [former.outcome for former in read_former(store)[KEY]] == ["miss", "pass", "miss"]


def test_another_reply_is_another_run_and_not_a_turned_grade(store: RoundStore) -> None:
    keeper = GradedRound(store)
    keeper.grade(SUITE)
    store.put(kept(SUITE, "minutes", "no idea at all"))
    keeper.grade(LOOSER)
    assert read_former(store) == {}


def test_grades_of_another_version_of_resit_are_kept_as_former_ones(
    store: RoundStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(memory, "__version__", "0.0.0")
    GradedRound(store).grade(SUITE)
    monkeypatch.undo()
    graded = GradedRound(store).grade(LOOSER)
    assert graded.read == 2
    assert [former.outcome for former in read_former(store)[KEY]] == ["miss"]


def test_a_spoilt_line_hides_no_other(store: RoundStore) -> None:
    row = GradedRound(store).grade(SUITE).rows[0]
    note_former(store, [(KEY, row)], START)
    with (store.path / FORMER).open("a", encoding="utf-8") as file:
        file.write('{"key": "cut sho\n[1]\n')
    turned = GradedRound(store).grade(LOOSER).rows[0]
    note_former(store, [(KEY, turned)], START + timedelta(days=1))
    assert [former.said for former in read_former(store)[KEY]] == ["miss (wrong)", "pass"]
    lines = (store.path / FORMER).read_text(encoding="utf-8").splitlines()
    assert json.loads(lines[0])["key"] == KEY


def test_a_folder_that_takes_no_more_costs_the_line_and_not_the_round(store: RoundStore) -> None:
    GradedRound(store).grade(SUITE)
    (store.path / FORMER).mkdir()
    assert [row.outcome for row in GradedRound(store).grade(LOOSER).rows] == ["pass", "pass"]
