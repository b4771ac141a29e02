import os
import tomllib
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from resit.core.edits import ENDING, EditStore, all_edits_paths, apply_edits, edits_path, load_edits
from resit.core.errors import EditError
from resit.core.rule import Choice, Contains, Exact, ItemSet, Json, LastLine, NumberInReply, Numeric, Regex, Rule, YesNo
from resit.core.suite import Edit, Question, Suite, Trap

AT = datetime(2026, 11, 30, 7, 30, 5, tzinfo=UTC)
TEXT = st.text(st.characters(exclude_categories=["Cs"]))
RULES: list[Rule] = [
    Exact(case=True),
    Numeric(tolerance=Decimal("0.010"), unit=("min", "minutes")),
    NumberInReply(pick="last"),
    Contains(all=True),
    Regex(flags=("dotall",)),
    Choice(options={"A": "bat", "B": "owl\n\x1b[31m"}),
    YesNo(words={"yes": ("ja",), "no": ("nein",)}),
    ItemSet(item=Numeric(tolerance=Decimal(1))),
    Json(path="a.b"),
    LastLine(rule=LastLine(rule=Numeric(percent="fraction"))),
]


def accept(text: str, question: str = "minutes", run: str | None = "minutes__m-low__r1") -> Edit:
    return Edit(at=AT, question=question, what="accept", accept=text, run=run)


def suite(*questions: Question) -> Suite:
    listed = questions or (
        Question(id="minutes", prompt="How many?", accept=("210",)),
        Question(id="other", accept=("1",)),
    )
    return Suite(name="s", title="S", questions=listed)


@pytest.fixture
def store(tmp_path: Path) -> EditStore:
    return EditStore(tmp_path / f"s{ENDING}", "s.toml")


def test_an_edit_is_kept_as_a_block_that_a_person_can_read(store: EditStore) -> None:
    store.append(accept("210 minutes"))
    assert store.path.read_text(encoding="utf-8") == (
        "# Changes of what the suite s.toml accepts, made after results were seen; resit lays them over it.\n"
        "# Each block is one change. Delete a block to take it back.\n"
        "\n"
        "[[edits]]\n"
        "at = 2026-11-30 07:30:05+00:00\n"
        'question = "minutes"\n'
        'what = "accept"\n'
        'run = "minutes__m-low__r1"\n'
        'accept = "210 minutes"\n'
    )


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_every_rule_comes_back_as_it_was_kept(store: EditStore, rule: Rule) -> None:
    edits = [
        Edit(at=AT, question="minutes", what="rule", rule=rule, note="why"),
        Edit(at=AT, question="minutes", what="second_rule", rule=rule),
    ]
    kept = [store.append(edit) for edit in edits]
    assert kept == edits
    assert load_edits(store.path) == (tuple(edits), ())
    assert store.undo() == edits[1]
    assert load_edits(store.path) == ((edits[0],), ())


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=30, deadline=None)
@given(st.lists(st.tuples(TEXT, TEXT, TEXT), min_size=1, max_size=4))
def test_hostile_text_comes_back_to_the_letter(tmp_path: Path, texts: list[tuple[str, str, str]]) -> None:
    path = tmp_path / f"h{ENDING}"
    path.unlink(missing_ok=True)
    store = EditStore(path)
    edits = []
    for question, reply, why in texts:
        edits.append(store.append(accept(reply, question, run=why)))
        edits.append(
            store.append(Edit(at=AT, question=question, what="trap", trap=Trap(reply=reply, why=why), note=why))
        )
    assert load_edits(path) == (tuple(edits), ())
    assert EditStore(path).edits == tuple(edits)
    for edit in reversed(edits):
        assert store.undo() == edit
    assert load_edits(path) == ((), ())


def test_half_a_character_is_refused_and_nothing_is_written(store: EditStore) -> None:
    with pytest.raises(EditError, match="half a character"):
        store.append(accept("a\ud800b"))
    assert not store.path.exists()


def test_a_time_is_kept_in_utc_with_its_part_of_a_second(store: EditStore) -> None:
    """An edit made in the second a round began would else look older than the round."""
    local = datetime(2026, 11, 30, 9, 30, 5, 999, tzinfo=timezone(timedelta(hours=2)))
    assert store.append(accept("x").replaced(at=local)).at == AT.replace(microsecond=999)
    assert EditStore(store.path).edits[0].at == local


def test_undo_takes_the_last_one_back_and_leaves_hand_written_lines_alone(store: EditStore) -> None:
    store.path.write_text(
        "# mine\n\n[[edits]] # kept by hand\nat = 2026-01-01\nquestion='q'\nwhat='weight'\nweight=2\n", "utf-8"
    )
    before = store.path.read_bytes()
    store.reload()
    store.append(accept("a"))
    store.append(accept("b"))
    assert store.undo().accept == "b"
    assert store.undo().accept == "a"
    assert store.path.read_bytes() == before
    assert store.undo().weight == 2
    assert store.path.read_text(encoding="utf-8") == "# mine\n"
    with pytest.raises(EditError, match="no edit to take back"):
        store.undo()


def test_a_file_without_a_line_end_at_its_end_is_added_to_soundly(store: EditStore) -> None:
    store.path.write_text("# mine", "utf-8")
    store.reload()
    store.append(accept("a"))
    assert store.path.read_text(encoding="utf-8").startswith("# mine\n\n[[edits]]\n")


@pytest.mark.parametrize("change", [b"", b"# someone else\n"])
def test_a_file_changed_underneath_is_not_written(store: EditStore, change: bytes) -> None:
    store.append(accept("a"))
    store.path.write_bytes(change)
    with pytest.raises(EditError, match="changed by someone else"):
        store.append(accept("b"))
    with pytest.raises(EditError, match="changed by someone else"):
        store.undo()
    assert store.path.read_bytes() == change
    store.reload()
    store.append(accept("b"))
    assert [edit.accept for edit in load_edits(store.path)[0]] == ["b"]


def test_two_stores_on_one_file_lose_nothing(store: EditStore) -> None:
    other = EditStore(store.path)
    store.append(accept("a"))
    with pytest.raises(EditError, match="read it again"):
        other.append(accept("b"))
    other.reload()
    other.append(accept("b"))
    assert [edit.accept for edit in load_edits(store.path)[0]] == ["a", "b"]


@pytest.mark.skipif(os.getuid() == 0, reason="root may write everywhere")
def test_a_folder_that_cannot_be_written_is_said(store: EditStore) -> None:
    store.path.parent.chmod(0o500)
    try:
        with pytest.raises(EditError, match="cannot be written"):
            store.append(accept("a"))
    finally:
        store.path.parent.chmod(0o700)


def test_a_file_where_a_folder_is_needed_is_said(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("", "utf-8")
    with pytest.raises(EditError):
        EditStore(tmp_path / "f" / f"s{ENDING}").append(accept("a"))


HEAD = "[[edits]]\nat = 2026-11-30T07:30:05Z\nquestion = 'minutes'\n"


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ("[[edits]", None, "cannot be read"),
        ("\xff", None, "edit"),
        ("a = " + "[" * 100_000, None, "nested too deeply"),
        ("title = 'x'\n", None, "holds [[edits]] and nothing else"),
        ("edits = 3\n", None, "nothing else"),
        ("edits = [3]\n", None, "it is no table"),
        (HEAD + "what = 'accept'\n", 1, "needs accept"),
        ("\n\n" + HEAD + "what = 'accept'\naccept = 'x'\nweight = 2\n", 3, "needs accept"),
        (HEAD + "what = 'prompt'\naccept = 'x'\n", 1, "what: Input should be"),
        (HEAD + "what = 'accept'\naccept = 'x'\nprompt = 'y'\n", 1, "prompt: Extra inputs are not permitted"),
        (HEAD + "what = 'weight'\nweight = -1\n", 1, "no number from 0 up"),
        (HEAD + "what = 'weight'\nweight = nan\n", 1, "edit 1"),
        (HEAD + "what = 'rule'\nrule = 'exakt'\n", 1, "rule"),
        (HEAD + "what = 'accept'\naccept = true\n", 1, "accept: Input should be a valid string"),
    ],
)  # fmt: skip
def test_a_broken_file_of_edits_is_a_fault_and_no_crash(
    store: EditStore, text: str, line: int | None, said: str
) -> None:
    store.path.write_bytes(text.encode("latin-1"))
    edits, faults = load_edits(store.path)
    assert edits == ()
    assert said in faults[0].message
    assert (faults[0].line, faults[0].code, faults[0].path) == (line, "edits", str(store.path))
    with pytest.raises(EditError):
        store.reload()


def test_a_rule_written_by_name_alone_is_read(store: EditStore) -> None:
    store.path.write_text(HEAD + "what = 'rule'\nrule = 'contains'\n", "utf-8")
    assert load_edits(store.path)[0][0].rule == Contains()


def test_edits_change_what_is_accepted_and_never_a_prompt() -> None:
    before = suite()
    assert before.by_id and before.digest and before.questions[0].rule_digest  # noqa: PT018 - fills the caches
    edits = [
        accept("210 minutes"),
        accept("210 minutes"),
        Edit(at=AT, question="minutes", what="rule", rule=Contains()),
        Edit(at=AT, question="minutes", what="second_rule", rule=Numeric()),
        Edit(at=AT, question="minutes", what="trap", trap=Trap(reply="230")),
        Edit(at=AT, question="minutes", what="trap", trap=Trap(reply="230", why="50 minutes")),
        Edit(at=AT, question="minutes", what="weight", weight=2),
    ]
    after = apply_edits(before, edits)
    question = after.by_id["minutes"]
    assert question.accept == ("210", "210 minutes")
    assert (question.rule, question.second_rule, question.weight) == (Contains(), Numeric(), 2)
    assert question.traps == (Trap(reply="230", why="50 minutes"),)
    assert question.prompt == before.by_id["minutes"].prompt
    assert after.edits == tuple(edits)
    assert before.by_id["minutes"].accept == ("210",)
    assert question.rule_digest != before.questions[0].rule_digest
    assert after.digest != before.digest
    assert after.questions[1] == before.questions[1]


def test_an_edit_for_a_question_that_is_gone_is_a_warning() -> None:
    after = apply_edits(suite(), [accept("x", "gone")])
    assert after.questions == suite().questions
    assert [(warning.code, warning.question) for warning in after.warnings] == [("edit-unused", "gone")]


def test_edits_are_kept_beside_the_suite_else_in_the_folder_given(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home, spare = tmp_path / "exam", tmp_path / "data"
    home.mkdir()
    path = home / "my exam.v2.toml"
    beside = home / "my exam.v2.edits.toml"
    assert edits_path(path) == edits_path(path, spare) == beside
    monkeypatch.setattr(os, "access", lambda where, mode: not str(where).startswith(str(home)))
    elsewhere = edits_path(path, spare)
    assert elsewhere.parent == spare
    assert edits_path(tmp_path / "two" / path.name, spare) != elsewhere
    EditStore(elsewhere).append(accept("a"))
    monkeypatch.undo()
    assert edits_path(path, spare) == elsewhere
    EditStore(beside).append(accept("b"))
    assert all_edits_paths(path, spare) == (beside, elsewhere)


def test_what_will_be_written_can_be_shown_before(store: EditStore) -> None:
    text = store.text_of(accept("210 minutes"))
    store.append(accept("210 minutes"))
    assert store.path.read_text(encoding="utf-8").endswith(text)
    assert tomllib.loads(text)["edits"][0]["accept"] == "210 minutes"


def test_a_full_disk_leaves_the_edits_as_they_were(store: EditStore, monkeypatch: pytest.MonkeyPatch) -> None:
    store.append(accept("a"))

    def full(path: Path, data: bytes) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr("resit.core.edits.atomic_write", full)
        with pytest.raises(EditError, match="cannot be written: No space left on device"):
            store.append(accept("b"))
    assert [edit.accept for edit in store.edits] == ["a"]
    store.append(accept("c"))
    assert [edit.accept for edit in load_edits(store.path)[0]] == ["a", "c"]


def test_many_writers_at_once_lose_no_edit(store: EditStore) -> None:
    def write(name: str) -> None:
        mine = EditStore(store.path)
        for number in range(3):
            while True:
                try:
                    mine.append(accept(f"{name}{number}"))
                    break
                except EditError:
                    mine.reload()

    with ThreadPoolExecutor(3) as pool:
        list(pool.map(write, "abc"))
    kept = [edit.accept for edit in load_edits(store.path)[0]]
    assert sorted(filter(None, kept)) == sorted(f"{name}{number}" for name in "abc" for number in range(3))
