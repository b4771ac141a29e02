"""Kinds of work: grouped by words anyone can look up, named by the person, remembered in a file of theirs."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest
from log_kit import reply, scanned, user, write

from resit.core.errors import ConfigError, UsageError
from resit.core.logs.kind_words import asked_for, group_of
from resit.core.logs.kinds import Kinds, kinds_path, load_kinds, merge_kinds, rename_kind, set_kind, with_kinds


@pytest.mark.parametrize(
    ("prompt", "kind"),
    [
        ("Please review this diff", "review"),
        ("Can you fix the failing tests in src/a.py?", "fix"),
        ("Hi! I need to write an email to my landlord", "write text"),
        ("Add up the invoices", "calculate"),
        ("Add the numbers in invoice.txt.", "calculate"),
        ("Add a button", "build"),
        ("Look for the place where it is read", "find"),
        ("Summarize this article: review of the year", "summarise"),
        ("Translate to German: how are you", "translate"),
        ("why is the build broken", "explain"),
        ("In foo.py there is a function that is broken.", "fix"),
        ("/review src", "review"),
        ("See /home/fix/test/review.py", "other"),
        ("What does it say?", "question"),
        ("<task>explain it</task>", "explain"),
        ("continue", "other"),
        ("", "other"),
        ("🚀 ___ 12345", "other"),
    ],
)
def test_the_opening_of_a_prompt_says_what_work_it_is(prompt: str, kind: str) -> None:
    assert group_of(asked_for(prompt), (), None)[0] == kind


@pytest.mark.parametrize(
    ("tools", "kind"),
    [
        (("Read", "Edit"), "change files"),
        (("Bash", "Grep"), "look into files"),
        (("exec_command",), "run commands"),
        (("WebSearch", "Read"), "search the web"),
        (("Telepathy",), "other"),
    ],
)
def test_where_no_word_tells_the_tools_do(tools: tuple[str, ...], kind: str) -> None:
    assert group_of(asked_for("continue"), tools, None)[0] == kind


def test_work_given_to_an_agent_of_a_special_type_is_that_types() -> None:
    assert group_of(("fix",), ("Read",), "Explore") == ("explore", "given to the agent Explore; tools Read")
    assert group_of(("fix",), (), "general-purpose")[0] == "fix"


def test_each_kind_says_why() -> None:
    assert (
        group_of(("review", "tests"), ("Read", "Grep", "Glob", "LS"), None)[1]
        == "asked to review; tools Read, Grep, Glob"
    )
    assert group_of(("bug",), (), None)[1] == "asked with “bug”; no tools"


def test_a_long_prompt_without_spaces_is_looked_at_in_no_time() -> None:
    for text in ("a" * 10**6, "<" * 10**6, "/" * 10**6, "`" * 10**6, "don't " * 10**5):
        assert len(asked_for(text)) <= 3


SESSION = [
    *(user("Fix the bug"), reply("m1", "ok")),
    *(user("Test it", 5), reply("m2", "ok")),
    *(user("Continue", 9), reply("m3", "ok")),
]


def kinds_of(path: Path) -> list[str]:
    return [request.kind for request in scanned(path, kinds=load_kinds()).requests]


def test_a_renamed_kind_keeps_its_name_on_the_next_look(tmp_path: Path) -> None:
    path = write(tmp_path / "s.jsonl", SESSION)
    assert kinds_of(path) == ["fix", "test", "other"]
    rename_kind("fix", "mending")
    assert kinds_of(path) == ["mending", "test", "other"]
    rename_kind("mending", "repairs")
    assert kinds_of(path) == ["repairs", "test", "other"]
    rename_kind("repairs", "fix")
    assert kinds_of(path) == ["fix", "test", "other"]
    assert "fix" not in load_kinds().names


def test_merged_kinds_are_one(tmp_path: Path) -> None:
    path = write(tmp_path / "s.jsonl", SESSION)
    merge_kinds(["fix", "test"], "code")
    assert kinds_of(path) == ["code", "code", "other"]
    merge_kinds(["other"], "code")
    assert kinds_of(path) == ["code", "code", "code"]


def test_a_kind_merged_into_another_group_leaves_that_one_as_it_is(tmp_path: Path) -> None:
    path = write(tmp_path / "s.jsonl", SESSION)
    merge_kinds(["test", "other"], "fix")
    assert kinds_of(path) == ["fix", "fix", "fix"]


def test_one_request_can_be_of_another_kind_whatever_it_says(tmp_path: Path) -> None:
    path = write(tmp_path / "s.jsonl", SESSION)
    last = scanned(path).requests[-1]
    set_kind(last, "billing")
    found = scanned(path, kinds=load_kinds()).requests[-1]
    assert (found.kind, found.kind_set, found.group) == ("billing", True, "other")
    rename_kind("billing", "invoices")
    assert kinds_of(path)[-1] == "invoices"
    set_kind(last.key, None)
    assert kinds_of(path)[-1] == "other"


def test_names_are_laid_over_what_was_found_without_reading_again(tmp_path: Path) -> None:
    index = scanned(write(tmp_path / "s.jsonl", SESSION))
    kinds = set_kind(index.requests[1], "billing")
    named = with_kinds(index, rename_kind("fix", "mending"))
    assert [r.kind for r in named.requests] == ["mending", "billing", "other"]
    assert kinds.requests == {index.requests[1].key: "billing"}
    assert named.requests[2] is index.requests[2]


def test_the_persons_own_lines_and_comments_stay() -> None:
    mine = '# mine\n[names]\nfix = "mending"  # as we call it\n\n# and these\n[requests]\nabc = "billing"\n# the end\n'
    kinds_path().parent.mkdir(parents=True, exist_ok=True)
    kinds_path().write_text(mine)
    rename_kind("test", "tests")
    set_kind("def", "billing")
    set_kind("abc", None)
    text = kinds_path().read_text()
    assert load_kinds() == Kinds({"fix": "mending", "test": "tests"}, {"def": "billing"})
    for line in ("# mine", 'fix = "mending"  # as we call it', "# and these", "# the end"):
        assert line in text.splitlines()


def test_names_survive_a_form_that_only_a_person_would_write() -> None:
    kinds_path().parent.mkdir(parents=True, exist_ok=True)
    kinds_path().write_text('names = { fix = "mending" }\n')
    assert rename_kind("test", "tests").names == {"fix": "mending", "test": "tests"}
    assert load_kinds().names == {"fix": "mending", "test": "tests"}


def test_odd_names_are_kept_to_the_letter() -> None:
    for old, new in (('a "quoted" kind', "x = y # z"), ("[names]", "Übersetzen 📬"), ("a.b", "c\\d"), ("", "nothing")):
        assert rename_kind(old, new).names[old] == new
        assert load_kinds().names[old] == new


def test_the_file_is_for_its_owner_alone_and_says_what_it_is() -> None:
    set_kind("abc", "billing")
    assert stat.S_IMODE(kinds_path().stat().st_mode) == 0o600
    assert kinds_path().read_text().startswith("# Kinds of work")
    assert [path.name for path in kinds_path().parent.iterdir()] == ["kinds.toml"]


@pytest.mark.parametrize("name", ["", "  ", "x" * 61, "\x1b[31m"])
def test_what_is_no_name_is_refused(name: str) -> None:
    with pytest.raises(UsageError, match="no name for a kind"):
        rename_kind("fix", name)


@pytest.mark.parametrize("text", ["not toml at all [", "[names]\nfix = 3\n", "[other]\na = 'b'\n", "names = 3\n"])
def test_a_file_that_says_something_else_is_refused_and_left_alone(text: str) -> None:
    kinds_path().parent.mkdir(parents=True, exist_ok=True)
    kinds_path().write_text(text)
    with pytest.raises(ConfigError, match=r"kinds\.toml"):
        rename_kind("fix", "mending")
    assert kinds_path().read_text() == text
