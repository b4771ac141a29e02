"""From requests in a log to a suite of drafts: redacted, whole or not at all, and nobody's file overwritten."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from log_kit import reply, scanned, user, write

from resit.core.errors import ConfigError, ResitError, UsageError
from resit.core.logs import draft_files
from resit.core.logs.draft_files import DraftBook, book_names, books_folder, load_book, save_book, suite_text
from resit.core.logs.drafts import (
    ANSWER_MISSING,
    TRAP_MISSING,
    Draft,
    DraftFile,
    Proposal,
    make_drafts,
    read_check_text,
    read_rule_text,
    swapped,
)
from resit.core.logs.personal import Identity
from resit.core.logs.records import Attached, Request, Texts
from resit.core.logs.redact import Redactor
from resit.core.suite import Suite
from resit.core.suite_file import load_suite, read_suite

MakeRequest = Callable[[str], Request]
KEY = "sk-ant-api03-" + "aB3dE6gH9k" * 5


@pytest.fixture
def request_of(tmp_path: Path) -> MakeRequest:
    def make(prompt: str) -> Request:
        rows = [user(prompt), reply("m1", "The total is 119.", input_tokens=10, output_tokens=5)]
        index = scanned(write(tmp_path / "projects" / "p" / "s1.jsonl", rows))
        return index.requests[0]

    return make


def draft(**values: object) -> Draft:
    start = Draft(id="total", kind="reading", prompt="Net 100, VAT 19. Total?", source="Claude Code, 2026-11-29")
    return start.replaced(**values)


DONE = draft(accept=("119",), rule="numeric", trap="100", why="the net sum", about="Reading a total.")


def saved_suite(book: DraftBook) -> Suite:
    return load_suite(save_book(book).suite_path)


def test_a_request_becomes_a_draft_with_kind_text_source_and_what_was_said(
    request_of: Callable[[str], Request],
) -> None:
    request = request_of("Net 100, VAT 19. What is the total?")
    (fresh,), refused = make_drafts([request], Redactor(Identity()))
    assert refused == ()
    assert fresh.draft.prompt == "Net 100, VAT 19. What is the total?"
    assert fresh.draft.id == "net-100-vat-19-what"
    assert fresh.draft.kind == request.kind
    assert fresh.draft.said == "The total is 119."
    assert fresh.draft.source.startswith("Claude Code, 2026-11-29 12:00 UTC, claude-opus-5-5, no level set, session s1")
    assert fresh.draft.missing == (ANSWER_MISSING, TRAP_MISSING)


def test_no_secret_of_a_request_is_in_its_draft_or_on_disk(request_of: MakeRequest) -> None:
    request = request_of(f"Use {KEY} and write to ida@example.org about /home/zoe-q/acme/x.py. Total?")
    texts = Texts(
        "", f"I wrote to ida@example.org with {KEY}", (Attached("ida@example.org.txt", f"key={KEY}", False),), 0
    )
    texts = replace(texts, prompt=f"Use {KEY} and write to ida@example.org. Total?")
    (fresh,), _ = make_drafts([request], Redactor(Identity()), read=lambda _: texts)
    assert fresh.draft.prompt == "Use [key 1] and write to [email 1]. Total?"
    assert fresh.draft.said == "I wrote to [email 1] with [key 1]"
    assert {(swap.original, swap.placeholder, swap.times) for swap in fresh.swaps} == {
        (KEY, "[key 1]", 3),
        ("ida@example.org", "[email 1]", 2),
        ("ida@example.org.txt", "[email 2]", 1),
    }
    save_book(DraftBook(title="t", drafts=(fresh.draft,)))
    for path in Path(os.environ["RESIT_HOME"]).rglob("*"):
        if path.is_file() and "cache" not in path.parts:
            assert KEY.encode() not in path.read_bytes(), path
            assert b"ida@example" not in path.read_bytes(), path


def test_a_redaction_given_back_is_given_back_everywhere_and_can_be_taken_again() -> None:
    before = draft(prompt="ask [email 1]", said="[email 1] said", files=(DraftFile(name="a.txt", text="x [email 1]"),))
    after = swapped(before, "[email 1]", "ida@example.org")
    assert (after.prompt, after.said, after.files[0].text) == (
        "ask ida@example.org", "ida@example.org said", "x ida@example.org",
    )  # fmt: skip
    assert swapped(after, "ida@example.org", "[email 1]") == before


def test_attached_data_become_files_beside_the_suite_that_the_prompt_is_read_with() -> None:
    texts = Texts("Sum the column.", "119", (Attached("Read data/bill 1.csv", "a,b\n100,19\n", True),), 0)
    request = replace(scanned_request(), kind="sums")
    (fresh,), _ = make_drafts([request], Redactor(Identity()), read=lambda _: texts)
    suite = saved_suite(DraftBook(title="Bills", drafts=(fresh.draft.replaced(accept=("119",), no_trap=True),)))
    (question,) = suite.asked
    assert question.files == ("bills-files/sum-the-column-bill-1.csv",)
    assert suite.attached[question.files[0]] == "a,b\n100,19\n"


def scanned_request() -> Request:
    folder = Path("made")
    return scanned(write(folder / "projects" / "p" / "s.jsonl", [user("x y z"), reply("m", "ok")])).requests[0]


def test_a_request_too_long_for_a_question_is_refused_with_the_mend() -> None:
    texts = Texts("x " * 300_000, "", (), 0)
    made, refused = make_drafts([scanned_request()], Redactor(Identity()), read=lambda _: texts)
    assert made == ()
    assert "too long" in refused[0].why


def test_a_log_that_is_gone_refuses_its_request_alone() -> None:
    def read(request: Request) -> Texts:
        raise ResitError("the log is gone", hint="look again")

    made, refused = make_drafts([scanned_request()], Redactor(Identity()), read=read)
    assert (made, refused[0].why) == ((), "the log is gone: look again")


@pytest.mark.parametrize(
    ("changes", "missing"),
    [
        ({}, (ANSWER_MISSING, TRAP_MISSING)),
        ({"accept": ("119",)}, (TRAP_MISSING,)),
        ({"trap": "100"}, (ANSWER_MISSING,)),
        ({"accept": ("119",), "trap": "100"}, ()),
        ({"accept": ("119",), "no_trap": True}, ()),
        ({"checks": ('contains = "119"',), "no_trap": True}, ()),
    ],
)
def test_a_draft_is_asked_once_it_has_an_answer_and_a_trap_or_the_word_that_it_has_none(
    changes: dict[str, object], missing: tuple[str, ...]
) -> None:
    made = draft(**changes)
    assert made.missing == missing
    suite = saved_suite(DraftBook(title="t", drafts=(made, DONE.replaced(id="done"))))
    assert [question.id for question in suite.asked] == (["total", "done"] if not missing else ["done"])


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"trap": "119.0"}, "passes as a right answer"),
        ({"rule": "numeric", "accept": ("many",)}, "no number"),
        ({"rule": "nummeric"}, "did you mean 'numeric'?"),
        ({"rule": "{ name = "}, "cannot be read"),
        ({"checks": ("max_words = many",)}, "cannot be read"),
        ({"checks": ("max_word = 3",)}, "did you mean 'max_words'?"),
    ],
)
def test_what_the_guard_would_refuse_stays_a_draft_and_says_why(changes: dict[str, object], said: str) -> None:
    made = DONE.replaced(**changes)
    assert said in made.problems[0]
    suite = saved_suite(DraftBook(title="t", drafts=(made,)))
    assert suite.asked == ()
    assert suite.questions[0].draft


def test_the_suite_holds_what_the_person_said_and_where_each_question_came_from() -> None:
    made = DONE.replaced(rule='{ name = "numeric", tolerance = 0.5 }', checks=('contains = "119"',), said="It is\n119.")
    saved = save_book(DraftBook(title="My bills", drafts=(made,)))
    text = saved.suite_path.read_text()
    assert "# from Claude Code, 2026-11-29\n" in text
    assert "# it said then: It is↵119.\n" in text
    (question,) = load_suite(saved.suite_path).asked
    assert question == load_suite(saved.suite_path).by_id["total"]
    assert question.about == "Reading a total."
    assert str(getattr(question.rule, "tolerance", "")) == "0.5"
    assert (question.traps[0].reply, question.traps[0].why) == ("100", "the net sum")
    assert question.checks[0].kind == "contains"


def test_the_book_is_read_again_as_it_was_saved() -> None:
    proposed = Proposal(model="m low", prompt="Net 100. Total?", trap="100", why="net")
    book = DraftBook(title="T", drafts=(DONE, draft(id="b", proposed=proposed, said='a """ \\ b\n')))
    saved = save_book(book)
    assert load_book(saved.book.name) == saved.book
    assert saved.book.drafts == book.drafts
    assert book_names() == (saved.book.name,)


def test_a_suite_that_resit_wrote_is_written_anew_and_one_that_a_person_changed_is_left_alone() -> None:
    first = save_book(DraftBook(title="T", drafts=(draft(),)))
    second = save_book(first.book.replaced(drafts=(DONE,)))
    assert (second.suite_path, second.moved) == (first.suite_path, False)
    own = second.suite_path.read_text() + "# mine\n"
    second.suite_path.write_text(own)
    third = save_book(second.book)
    assert third.moved
    assert third.suite_path.name == "t-2.toml"
    assert second.suite_path.read_text() == own


def test_a_file_of_that_name_is_never_overwritten() -> None:
    folder = draft_files.suites_folder()
    folder.mkdir(parents=True)
    (folder / "t.toml").write_text("mine")
    (folder / "t-2-files").mkdir()
    (folder / "t-3.toml").symlink_to(folder / "nowhere")
    assert save_book(DraftBook(title="T", drafts=(draft(),))).suite_path.name == "t-4.toml"
    assert (folder / "t.toml").read_text() == "mine"


def test_a_save_that_fails_leaves_nothing_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(path: Path, data: bytes) -> None:
        if path.suffix == ".toml":
            raise OSError(28, "No space left on device")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)

    monkeypatch.setattr(draft_files, "atomic_write", full)
    made = draft(files=(DraftFile(name="a.txt", text="x"),))
    with pytest.raises(ConfigError, match="nothing was saved"):
        save_book(DraftBook(title="T", drafts=(made,)))
    assert list(draft_files.suites_folder().rglob("*")) == []
    assert not books_folder().exists()


def test_only_the_person_may_look_into_the_books() -> None:
    save_book(DraftBook(title="T", drafts=(draft(),)))
    assert books_folder().stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("text", ["", "x = ", "[[drafts]]\nid = 3\n", "format = 2\n"])
def test_a_damaged_book_is_one_clear_line(text: str) -> None:
    books_folder().mkdir(parents=True)
    (books_folder() / "b.toml").write_text(text)
    with pytest.raises(ConfigError):
        load_book("b")


@pytest.mark.parametrize("name", ["none", "../x", "a\0b", "x" * 300])
def test_a_book_that_is_not_there_is_one_clear_line(name: str) -> None:
    with pytest.raises((UsageError, ConfigError)):
        load_book(name)


def test_rules_and_checks_are_read_as_a_suite_writes_them() -> None:
    assert read_rule_text("yes_no").name == "yes_no"
    assert read_check_text("max_words = 20").name == "max_words"
    check = read_check_text('name = "ida", contains = "Ida"')
    assert (check.name, check.kind, check.value) == ("ida", "contains", "Ida")


HOSTILE = st.text(alphabet=st.characters(codec=None, exclude_categories=()), max_size=60)


@given(prompt=HOSTILE, said=HOSTILE, source=HOSTILE, name=HOSTILE, data=HOSTILE, kind=HOSTILE)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=150)
def test_whatever_a_log_holds_the_suite_can_be_read(
    prompt: str, said: str, source: str, name: str, data: str, kind: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    texts = Texts(prompt or "x", said, (Attached(name, data, True),), 0)
    folder = tmp_path_factory.mktemp("any")
    rows = [user("x y z"), reply("m", "ok")]
    request = replace(scanned(write(folder / "s.jsonl", rows)).requests[0], session=source, kind=kind)
    (fresh,), _ = make_drafts([request], Redactor(Identity()), read=lambda _: texts)
    made = fresh.draft.replaced(accept=("119",), no_trap=True, files=())
    path = folder / "s.toml"
    path.write_text(suite_text(DraftBook(title="T", drafts=(made, fresh.draft.replaced(id="other", files=()))), "s"))
    suite, faults = read_suite(path)
    assert suite is not None, faults
    if made.prompt.strip():
        assert suite.questions[1].draft
