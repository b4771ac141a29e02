from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from round_kit import ENDPOINT, START, A, B, Full, make_round_plan, make_suite, record, reply, right

from resit.core.errors import RoundBusy, RoundError, StoreFull
from resit.core.records import Request, RunRecord, run_key
from resit.core.rounds.graded import GradedRound
from resit.core.rounds.memory import GRADED
from resit.core.rounds.plan import build_request
from resit.core.rounds.reviews import REVIEWS, read_reviews, set_review, settled_keys
from resit.core.rounds.store import RoundStore, find_rounds, write_whole
from resit.core.rule import Check, Numeric
from resit.core.suite import Question, Suite, Trap, Variant

KEY = run_key("q1", A, 1)


def ask(suite: Suite, question: str = "q1") -> Request:
    return build_request(suite, suite.by_id[question], A, ENDPOINT)


@pytest.fixture
def store(tmp_path: Path) -> RoundStore:
    return RoundStore.create(tmp_path, make_round_plan(make_suite()), make_suite())


def filled(folder: Path, count: int = 3) -> RoundStore:
    suite = make_suite(count)
    store = RoundStore.create(folder, make_round_plan(suite), suite)
    for question in suite.questions:
        request = ask(suite, question.id)
        store.put(record(request, right(request), question=question.id))
    return store


def test_the_folder_is_as_the_design_says(store: RoundStore, tmp_path: Path) -> None:
    store.put(record(ask(make_suite()), reply("2")))
    assert store.path == tmp_path / "sums" / "20261130-090000-sums"
    names = {str(path.relative_to(store.path)) for path in store.path.rglob("*") if path.is_file()}
    assert names == {"round.toml", "suite.toml", "results/q1__model-a-low__r1.json"}


def test_two_rounds_of_one_second_get_names_of_their_own(tmp_path: Path) -> None:
    stores = [RoundStore.create(tmp_path, make_round_plan(make_suite()), make_suite()) for _ in range(3)]
    assert [s.id for s in stores] == [
        "20261130-090000-sums", "20261130-090000-sums-2", "20261130-090000-sums-3",
    ]  # fmt: skip
    assert [s.plan().id for s in stores] == [s.id for s in stores]


def test_what_is_put_is_what_is_read(store: RoundStore) -> None:
    kept = record(ask(make_suite()), reply("a\r\nb\x00\u202e\n", thinking="hm", first_token_s=0.1))
    store.put(kept)
    assert store.read(KEY) == kept
    assert store.keys() == (KEY,)


@given(st.text(st.characters(codec=None, exclude_categories=())))
def test_any_reply_is_kept_untouched_even_half_a_surrogate_pair(text: str) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        store = RoundStore.create(Path(folder), make_round_plan(make_suite()), make_suite())
        kept = record(ask(make_suite()), reply(text))
        store.put(kept)
        assert store.read(KEY) == kept


def test_a_run_that_is_not_there_is_none(store: RoundStore) -> None:
    assert store.read(KEY) is None


def test_plan_and_suite_come_back_as_they_were(tmp_path: Path) -> None:
    questions = (
        Question(
            id="a", prompt="How many?\r\nTwo lines\n\"\"\"''' \\ end", accept=("1.5",),
            rule=Numeric(tolerance=Decimal("0.001"), unit=("kg",)), traps=(Trap(reply="15", why="comma"),), weight=0.5,
        ),
        Question(
            id="b", prompt="?", files=("data.csv",), system="Be exact.", max_tokens=9, reference="x\n",
            checks=(
                Check(name="n", kind="numeric", value="0.5", weight=2.0),
                Check(name="l", kind="no_list", value=True),
            ),
        ),
    )  # fmt: skip
    suite = make_suite(
        questions=questions, variants={"v": Variant(append="Now.")}, attached={"data.csv": "a,b\r\n1,2\n"}
    )
    plan = make_round_plan(suite, (A, B), cap_usd=Decimal("0.50"), only=("a",), versions={"resit": "1"})
    store = RoundStore.create(tmp_path, plan, suite)
    again = RoundStore.open(store.path)
    assert again.plan() == plan
    assert again.suite() == suite
    assert again.suite().rule_digest == suite.rule_digest


def test_a_killed_writer_leaves_the_old_file_or_the_new_one(store: RoundStore) -> None:
    script = (
        "import sys, os; from pathlib import Path; from resit.core.rounds import store\n"
        "replace = os.replace\n"
        "os.replace = lambda *names: os.kill(os.getpid(), 9)\n"
        "store.write_whole(Path(sys.argv[1]), b'new and longer')\n"
    )
    target = store.results / f"{KEY}.json"
    target.write_bytes(b"old")
    done = subprocess.run([sys.executable, "-c", script, str(target)], check=False)
    assert done.returncode == -9
    assert target.read_bytes() == b"old"
    assert store.keys() == (KEY,)
    assert len(list(store.results.iterdir())) == 2
    store.lock()
    store.unlock()
    assert [path.name for path in store.results.iterdir()] == [target.name]


def test_a_full_disk_is_said_and_leaves_what_was_there(tmp_path: Path) -> None:
    suite = make_suite()
    store = RoundStore.create(tmp_path, make_round_plan(suite), suite, write=Full(write_whole, 1))
    first = record(ask(suite), reply("2"))
    store.put(first)
    with pytest.raises(StoreFull, match="no room"):
        store.put(record(ask(suite), reply("another")))
    assert store.read(KEY) == first


def test_a_write_that_fails_leaves_no_part_behind(tmp_path: Path) -> None:
    taken = tmp_path / "x.json"
    (taken / "in the way").mkdir(parents=True)
    with pytest.raises(OSError, match="directory"):
        write_whole(taken, b"new")
    assert list(tmp_path.iterdir()) == [taken]


@pytest.mark.parametrize(
    "garbage",
    [
        b"", b"\x00" * 500, b"{", b'{"format":1,"question":"q1"', b"null", b"[]", b"{}", b"\xff\xfe\x00", b'"x"',
        b'{"format":2}', b"[" * 100_000, b'{"format":1,"question":"q1","\\ud800":1}',
    ],
)  # fmt: skip
def test_a_damaged_file_is_named_and_set_aside_unchanged(store: RoundStore, garbage: bytes) -> None:
    (store.results / f"{KEY}.json").write_bytes(garbage)
    with pytest.raises(RoundError, match=KEY):
        store.read(KEY)
    graded = GradedRound(store).grade(make_suite())
    assert [result.key for result in graded.damaged] == [KEY]
    assert graded.rows == ()
    assert store.set_aside(KEY).read_bytes() == garbage
    assert store.keys() == ()
    assert store.set_aside_keys() == {KEY}


def test_a_file_cut_short_anywhere_is_damaged(tmp_path: Path) -> None:
    store = filled(tmp_path, 1)
    path = store.results / f"{KEY}.json"
    whole = path.read_bytes()
    for length in range(0, len(whole), 7):
        path.write_bytes(whole[:length])
        with pytest.raises(RoundError, match="damaged"):
            store.read(KEY)


@pytest.mark.parametrize(
    ("name", "figure"),
    [
        ("cost_usd", '"1e999999999"'),
        ("cost_usd", "-1"),
        ("seconds", "1e400"),
        ("seconds", "NaN"),
        ("input_tokens", "-5"),
    ],
)  # fmt: skip
def test_a_figure_that_no_sum_can_hold_is_damage(store: RoundStore, name: str, figure: str) -> None:
    store.put(record(ask(make_suite()), reply("2")))
    path = store.results / f"{KEY}.json"
    path.write_text(re.sub(rf'"{name}":("[^"]*"|[0-9.e+-]+)', f'"{name}":{figure}', path.read_text()))
    with pytest.raises(RoundError, match="damaged"):
        store.read(KEY)


def test_a_result_under_another_runs_name_is_damaged(store: RoundStore) -> None:
    store.put(record(ask(make_suite()), reply("2")))
    os.rename(store.results / f"{KEY}.json", store.results / f"{run_key('q2', A, 1)}.json")
    with pytest.raises(RoundError, match="holds another run"):
        store.read(run_key("q2", A, 1))


def test_two_damaged_files_of_one_run_are_both_kept(store: RoundStore) -> None:
    for garbage in (b"one", b"two"):
        (store.results / f"{KEY}.json").write_bytes(garbage)
        store.set_aside(KEY)
    assert sorted(path.read_bytes() for path in (store.path / "damaged").iterdir()) == [b"one", b"two"]
    assert store.set_aside_keys() == {KEY}


# --- one runner at a time


def test_a_second_process_is_told_who_runs_the_round(store: RoundStore) -> None:
    store.lock()
    script = "import sys; from pathlib import Path; from resit.core.rounds.store import RoundStore\n"
    script += (
        "try:\n    RoundStore(Path(sys.argv[1])).lock()\nexcept Exception as error:\n    print(repr(error), error)\n"
    )
    done = subprocess.run([sys.executable, "-c", script, str(store.path)], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("RoundBusy")
    assert f"process {os.getpid()}" in done.stdout
    assert f"resit watch {store.id}" in done.stdout
    store.unlock()


def test_the_same_process_cannot_run_a_round_twice(store: RoundStore) -> None:
    store.lock()
    with pytest.raises(RoundBusy):
        RoundStore.open(store.path).lock()
    assert store.runner_pid() == os.getpid()
    store.unlock()
    assert store.runner_pid() is None


def test_a_dead_process_holds_no_lock(store: RoundStore) -> None:
    script = "import os, sys; from pathlib import Path; from resit.core.rounds.store import RoundStore\n"
    script += "RoundStore(Path(sys.argv[1])).lock(); os.kill(os.getpid(), 9)\n"
    assert subprocess.run([sys.executable, "-c", script, str(store.path)], check=False).returncode == -9
    assert store.runner_pid() is None
    store.lock()
    store.unlock()


# --- finding


def test_rounds_are_found_by_id_its_beginning_path_or_as_the_last(tmp_path: Path) -> None:
    old = RoundStore.create(tmp_path, make_round_plan(make_suite(), id="20261129-090000-sums"), make_suite())
    new = RoundStore.create(tmp_path, make_round_plan(make_suite(), id="20261130-090000-sums"), make_suite())
    assert find_rounds(tmp_path) == [new.path, old.path]
    for ref, found in (("last", new), ("20261129", old), (old.id, old), (str(old.path), old)):
        assert RoundStore.find(tmp_path, ref).path == found.path
    with pytest.raises(RoundError, match="names 2 rounds"):
        RoundStore.find(tmp_path, "202611")
    with pytest.raises(RoundError, match="there is no round"):
        RoundStore.find(tmp_path, "2025")
    with pytest.raises(RoundError, match="no round yet"):
        RoundStore.find(tmp_path / "none", "last")


def test_a_reference_cannot_lead_out_of_the_rounds_by_patterns(tmp_path: Path) -> None:
    filled(tmp_path)
    with pytest.raises(RoundError):
        RoundStore.find(tmp_path, "*")


@pytest.mark.parametrize("text", ["", "format = 2", "id = 1\n[", "\x00"])
def test_a_damaged_plan_is_an_error_with_its_file(store: RoundStore, text: str) -> None:
    (store.path / "round.toml").write_text(text)
    with pytest.raises(RoundError, match=r"round\.toml"):
        store.plan()


# --- rows


def test_rows_stand_in_suite_order_whatever_order_they_were_kept_in(tmp_path: Path) -> None:
    suite = make_suite(12)
    store = RoundStore.create(tmp_path, make_round_plan(suite, (A, B), repeats=2), suite)
    for question in reversed(suite.questions):
        for run in (2, 1):
            for setting in (B, A):
                request = build_request(suite, question, setting, ENDPOINT)
                store.put(record(request, right(request), question=question.id, setting=setting, run=run))
    rows = GradedRound(store).grade(suite).rows
    assert [(r.question, r.model, r.run) for r in rows] == [
        (f"q{n}", model, run) for n in range(1, 13) for model in ("model-a", "model-b") for run in (1, 2)
    ]


def test_remembered_rows_are_used_and_equal_those_graded_anew(tmp_path: Path) -> None:
    store = filled(tmp_path, 20)
    first = GradedRound(store).grade(make_suite(20))
    second = GradedRound(store).grade(make_suite(20))
    assert (first.read, second.read) == (20, 0)
    assert second.rows == first.rows
    assert second.held == first.held


def test_a_changed_accept_list_makes_the_grades_of_that_question_stale_and_no_others(tmp_path: Path) -> None:
    store = filled(tmp_path, 20)
    suite = make_suite(20)
    keeper = GradedRound(store)
    keeper.grade(suite)
    changed = suite.questions[4].replaced(accept=("11",))
    later = suite.replaced(questions=(*suite.questions[:4], changed, *suite.questions[5:]))
    graded = keeper.grade(later)
    assert graded.read == 1
    assert [row.question for row in graded.rows if row.outcome == "miss"] == ["q5"]


@pytest.mark.parametrize("text", [b"", b"{}", b"null", b'{"format":1}', b"\x00", b"[1]"])
def test_a_damaged_memory_is_ignored_and_made_anew(tmp_path: Path, text: bytes) -> None:
    store = filled(tmp_path, 3)
    GradedRound(store).grade(make_suite())
    (store.path / GRADED).write_bytes(text)
    graded = GradedRound(store).grade(make_suite())
    assert (graded.read, len(graded.rows)) == (3, 3)


def test_a_memory_with_a_row_missing_or_changed_in_kind_is_ignored(tmp_path: Path) -> None:
    store = filled(tmp_path, 3)
    GradedRound(store).grade(make_suite())
    table = json.loads((store.path / GRADED).read_bytes())
    rows, files = table["rows"], table["files"]
    unscored = [{name: value for name, value in row.items() if name != "score"} for row in rows]
    for spoilt in ({"rows": rows[1:]}, {"files": [file[1:] for file in files]}, {"rows": unscored}):
        (store.path / GRADED).write_text(json.dumps(table | spoilt))
        assert GradedRound(store).grade(make_suite()).read == 3


def test_a_result_that_changed_on_disk_is_read_again(tmp_path: Path) -> None:
    store = filled(tmp_path, 3)
    keeper = GradedRound(store)
    keeper.grade(make_suite())
    store.put(record(ask(make_suite()), reply("wrong, and longer")))
    graded = keeper.grade(make_suite())
    assert graded.read == 1
    assert graded.rows[0].outcome == "miss"


def test_a_stale_reply_gives_no_score_to_the_changed_question(tmp_path: Path) -> None:
    store = filled(tmp_path, 2)
    suite = make_suite(2)
    changed = suite.questions[0].replaced(prompt="3+3?", accept=("6",))
    later = suite.replaced(questions=(changed, suite.questions[1]))
    rows = GradedRound(store).grade(later).rows
    assert [row.score for row in rows] == [None, 1.0]


def test_runs_of_a_question_or_setting_that_left_the_round_are_kept_and_not_shown(tmp_path: Path) -> None:
    store = filled(tmp_path, 3)
    assert len(GradedRound(store).grade(make_suite(2)).rows) == 2
    assert len(store.keys()) == 3


# --- reviews


def test_a_verdict_is_on_disk_when_it_is_said_and_survives_a_regrade(tmp_path: Path) -> None:
    store = filled(tmp_path, 2)
    set_review(store, KEY, START, "grader", 'says "two"\n[red]')
    again = RoundStore.open(store.path)
    assert read_reviews(again)[KEY].note == 'says "two"\n[red]'
    rows = GradedRound(again).grade(make_suite(2), afresh=True).rows
    assert [row.verdict for row in rows] == ["grader", None]


def test_a_new_verdict_shows_in_remembered_rows(tmp_path: Path) -> None:
    store = filled(tmp_path, 20)
    keeper = GradedRound(store)
    keeper.grade(make_suite(20))
    set_review(store, KEY, START, "model")
    graded = keeper.grade(make_suite(20))
    assert (graded.read, graded.rows[0].verdict) == (1, "model")


def test_a_verdict_and_note_can_be_taken_back(store: RoundStore) -> None:
    set_review(store, KEY, START, "model", "x")
    assert set_review(store, KEY, START) == {}
    assert read_reviews(store) == {}


def test_setup_as_a_verdict_leaves_the_run_owed_and_the_others_settle_it(store: RoundStore) -> None:
    set_review(store, "one", START, "setup")
    set_review(store, "two", START, "model")
    set_review(store, "three", START, None, "only a note")
    assert settled_keys(read_reviews(store)) == {"two"}


def test_a_persons_words_are_never_overwritten_when_their_file_cannot_be_read(store: RoundStore) -> None:
    (store.path / REVIEWS).write_text("not toml [")
    with pytest.raises(RoundError, match=REVIEWS):
        set_review(store, KEY, START, "model")
    assert (store.path / REVIEWS).read_text() == "not toml ["


def test_a_record_says_its_own_format(store: RoundStore) -> None:
    store.put(record(ask(make_suite()), reply("2")))
    table = json.loads((store.results / f"{KEY}.json").read_bytes())
    assert table["format"] == 1
    assert RunRecord.model_validate(table).key == KEY
