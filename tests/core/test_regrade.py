from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pytest
from round_kit import ENDPOINT, START, A, B, make_round_plan, make_suite, record, reply

from resit.core.edits import apply_edits
from resit.core.records import Row, Setting
from resit.core.rounds.graded import GradedRound
from resit.core.rounds.plan import build_request
from resit.core.rounds.regrade import compare, graded_by, preview, regrade
from resit.core.rounds.store import RoundStore
from resit.core.rule import Check, Numeric
from resit.core.suite import Edit, Question, Suite

QUESTIONS = (
    Question(id="minutes", prompt="Minutes in 3.5 h?", accept=("210",)),
    Question(id="capital", prompt="Capital of France?", accept=("Paris",)),
)
SUITE = make_suite(questions=QUESTIONS)
REPLIES = {"minutes": "210 minutes", "capital": "Paris"}
ACCEPT = Edit(at=START, question="minutes", what="accept", accept="210 minutes")


def filled(folder: Path, suite: Suite = SUITE, settings: tuple[Setting, ...] = (A, B)) -> RoundStore:
    store = RoundStore.create(folder, make_round_plan(suite, settings), suite)
    for question in suite.questions:
        for setting in settings:
            request = build_request(suite, question, setting, ENDPOINT)
            answer = reply(REPLIES.get(question.id, "?"))
            store.put(record(request, answer, question=question.id, setting=setting))
    return store


def outcomes(rows: tuple[Row, ...]) -> list[tuple[str, str]]:
    return [(row.question, row.outcome) for row in rows if row.model == "model-a"]


def test_a_preview_says_what_an_edit_turns_in_every_saved_round_before_it_is_kept(tmp_path: Path) -> None:
    stores = [filled(tmp_path), filled(tmp_path)]
    before = {path: path.read_bytes() for path in tmp_path.rglob("*.*") if path.is_file()}
    found = preview(ACCEPT, SUITE, stores)
    assert (found.regraded, found.rounds, len(found.flips)) == (4, 2, 4)
    assert {(f.before.outcome, f.after.outcome, f.better) for f in found.flips} == {("miss", "pass", True)}
    assert {f.round_id for f in found.flips} == {store.id for store in stores}
    assert found.said == "4 saved replies in 2 rounds graded again, 4 marks change"
    assert {path: path.read_bytes() for path in tmp_path.rglob("*.*") if path.is_file()} == before


def test_an_edit_that_changes_no_mark_says_zero(tmp_path: Path) -> None:
    edit = Edit(at=START, question="capital", what="accept", accept="Paname")
    found = preview(edit, SUITE, [filled(tmp_path)])
    assert (found.regraded, found.flips) == (2, ())
    assert found.said == "2 saved replies in 1 round graded again, 0 marks change"


def test_only_the_runs_of_the_edited_question_are_read(tmp_path: Path) -> None:
    store = filled(tmp_path)
    for path in store.results.glob("capital__*"):
        path.write_bytes(b"garbage")
    assert preview(ACCEPT, SUITE, [store]).regraded == 2


def test_a_damaged_result_does_not_stop_a_preview(tmp_path: Path) -> None:
    store = filled(tmp_path)
    next(store.results.glob("minutes__*")).write_bytes(b"garbage")
    assert preview(ACCEPT, SUITE, [store]).regraded == 1


def test_an_edit_to_no_question_changes_nothing(tmp_path: Path) -> None:
    edit = Edit(at=START, question="nope", what="accept", accept="x")
    assert preview(edit, SUITE, [filled(tmp_path)]).said == "0 saved replies in 0 rounds graded again, 0 marks change"


def test_after_an_accept_only_that_question_is_regraded_and_the_flips_are_those_foretold(tmp_path: Path) -> None:
    store = filled(tmp_path)
    keeper = GradedRound(store)
    before = keeper.grade(SUITE)
    foretold = preview(ACCEPT, SUITE, [store]).flips
    after = keeper.grade(graded_by(SUITE, apply_edits(SUITE, (ACCEPT,))))
    assert after.read == 2
    assert compare(before.rows, after.rows, store.id) == foretold
    assert outcomes(after.rows) == [("minutes", "pass"), ("capital", "pass")]


def test_a_regrade_says_how_many_runs_and_how_many_marks(tmp_path: Path) -> None:
    store = filled(tmp_path)
    GradedRound(store).grade(SUITE)
    done = regrade(store, apply_edits(SUITE, (ACCEPT,)))
    assert done.said == "4 runs regraded, 2 marks changed"
    assert regrade(store, apply_edits(SUITE, (ACCEPT,))).said == "4 runs regraded, 0 marks changed"


def test_a_regrade_without_a_memory_is_held_against_the_rules_the_round_was_asked_with(tmp_path: Path) -> None:
    assert regrade(filled(tmp_path), apply_edits(SUITE, (ACCEPT,))).said == "4 runs regraded, 2 marks changed"


def test_an_undone_edit_brings_the_former_grades_back(tmp_path: Path) -> None:
    store = filled(tmp_path)
    keeper = GradedRound(store)
    before = keeper.grade(SUITE).rows
    keeper.grade(graded_by(SUITE, apply_edits(SUITE, (ACCEPT,))))
    assert keeper.grade(graded_by(SUITE, SUITE)).rows == before


def test_the_grades_as_first_given_can_always_be_read_again(tmp_path: Path) -> None:
    store = filled(tmp_path)
    regrade(store, apply_edits(SUITE, (ACCEPT,)))
    rows = GradedRound(store).grade(store.suite()).rows
    assert outcomes(rows) == [("minutes", "miss"), ("capital", "pass")]


def test_a_new_check_shows_for_every_stored_reply_of_an_older_round(tmp_path: Path) -> None:
    store = filled(tmp_path)
    check = Check(name="short", kind="max_words", value=1)
    later = SUITE.replaced(questions=tuple(q.replaced(checks=(check,)) for q in QUESTIONS))
    rows = regrade(store, later).graded.rows
    assert {row.question: "short" in row.failed for row in rows} == {"minutes": True, "capital": False}


def test_another_rule_regrades_without_a_call(tmp_path: Path) -> None:
    store = filled(tmp_path)
    looser = QUESTIONS[0].replaced(rule=Numeric(unit=("minutes",), tolerance=Decimal(0)))
    rows = regrade(store, SUITE.replaced(questions=(looser, QUESTIONS[1]))).graded.rows
    assert outcomes(rows) == [("minutes", "pass"), ("capital", "pass")]


def test_a_question_whose_prompt_changed_keeps_the_rules_it_was_asked_with(tmp_path: Path) -> None:
    store = filled(tmp_path)
    other = QUESTIONS[1].replaced(prompt="Capital of Italy?", accept=("Rome",))
    rows = regrade(store, SUITE.replaced(questions=(QUESTIONS[0], other))).graded.rows
    assert outcomes(rows) == [("minutes", "miss"), ("capital", "pass")]


@pytest.mark.parametrize("change", ["instruction", "attached", "gone"])
def test_what_the_model_saw_decides_whether_present_rules_hold(tmp_path: Path, change: str) -> None:
    question = QUESTIONS[1].replaced(files=("a.txt",))
    asked = SUITE.replaced(questions=(question,), attached={"a.txt": "one"})
    now = asked.replaced(questions=(question.replaced(accept=("Rome",)),))
    assert graded_by(asked, now).questions[0].accept == ("Rome",)
    changed = {
        "instruction": now.replaced(instruction="Be brief."),
        "attached": now.replaced(attached={"a.txt": "two"}),
        "gone": now.replaced(questions=()),
    }[change]
    assert graded_by(asked, changed).questions == (question,)


def test_another_token_limit_does_not_make_the_rules_another_questions(tmp_path: Path) -> None:
    now = SUITE.replaced(questions=(QUESTIONS[0].replaced(max_tokens=999, accept=("210 minutes",)), QUESTIONS[1]))
    graded = graded_by(SUITE, now).questions[0]
    assert (graded.accept, graded.max_tokens) == (("210 minutes",), None)
