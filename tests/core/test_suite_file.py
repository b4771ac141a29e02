import json
import os
from collections.abc import Mapping
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from resit.core.edits import EditStore
from resit.core.errors import ResitError, SuiteError, SuiteRefused, UsageError
from resit.core.rule import Contains, Exact, NumberInReply, Numeric
from resit.core.suite import Edit, Suite, SuiteFault, Variant
from resit.core.suite_file import (
    build_prompt,
    edit_faults,
    edits_file,
    edits_folder,
    find_suite,
    load_suite,
    read_suite,
    starter_suite,
)

AT = datetime(2026, 11, 30, 7, 30, tzinfo=UTC)


def write(folder: Path, text: str | bytes, name: str = "exam.toml") -> Path:
    path = folder / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def question(**values: str) -> str:
    lines = {"id": "'a'", "prompt": "'1+1?'", "accept": "['2']"} | values
    return "[[questions]]\n" + "".join(f"{key} = {value}\n" for key, value in lines.items() if value)


def faults(path: Path, *, need_prompt: bool = True) -> tuple[SuiteFault, ...]:
    suite, found = read_suite(path, need_prompt=need_prompt)
    assert (suite is None) == bool(found)
    return found


def warnings(path: Path) -> list[tuple[str, str]]:
    return [(warning.code, warning.message) for warning in load_suite(path).warnings]


# -- a sound suite ---------------------------------------------------------------------------------------------------


def test_a_toml_suite_is_read_whole(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        """
title = "My exam"
about = "What I do."
instruction = "Answer only."
rule = "exact"
second_rule = "number_in_reply"
max_tokens = 200
repeats = 3
[variants.criteria]
append = "Count only rows dated this year."
system = "You count."

[[questions]]
id = "leap-year"
kind = "arithmetic"
prompt = "How many days does a leap year have?"
accept = 366
traps = [{ reply = "365", why = "an ordinary year" }, "367"]

[[questions]]
id = "third"
prompt = "1/3?"
accept = [0.33, "1/3"]
rule = { name = "numeric", tolerance = 0.005 }
weight = 2
max_tokens = 50
system = "Be brief."

[[questions]]
id = "note"
prompt = "..."
checks = [{ name = "end", last_line = "Cheers" }]
reference = "Hi\\nCheers"

[[questions]]
id = "idea"
draft = true
""",
    )
    suite = load_suite(path)
    assert (suite.name, suite.title, suite.about, suite.repeats, suite.max_tokens) == (
        "exam",
        "My exam",
        "What I do.",
        3,
        200,
    )
    assert suite.variants == {"criteria": Variant(append="Count only rows dated this year.", system="You count.")}
    leap, third, note, idea = suite.questions
    assert (leap.accept, leap.rule, leap.second_rule, leap.kind) == (("366",), Exact(), NumberInReply(), "arithmetic")
    assert [(trap.reply, trap.why) for trap in leap.traps] == [("365", "an ordinary year"), ("367", "")]
    assert (third.accept, third.rule, third.weight) == (("0.33", "1/3"), Numeric(tolerance=Decimal("0.005")), 2.0)
    assert (third.max_tokens, third.system) == (50, "Be brief.")
    assert (note.checks[0].name, note.checks[0].kind, note.checks[0].value) == ("end", "last_line", "Cheers")
    assert suite.asked == (leap, third, note)
    assert idea.draft
    assert [q.line for q in suite.questions] == [13, 20, 29, 35]
    assert suite.path == path
    assert suite.warnings == ()


def test_the_same_suite_in_json_is_the_same(tmp_path: Path) -> None:
    rows = [
        {"id": "a", "prompt": "1+1?", "accept": ["2"], "rule": {"name": "numeric", "tolerance": 0.5}, "traps": ["3"]}
    ]
    whole = load_suite(
        write(tmp_path, json.dumps({"title": "T", "second_rule": "contains", "questions": rows}), "s.json")
    )
    same = question(rule="{ name = 'numeric', tolerance = 0.5 }", traps="['3']")
    toml = load_suite(write(tmp_path, "title = 'T'\nsecond_rule = 'contains'\n" + same, "s.toml"))
    assert whole == toml.replaced(questions=(toml.questions[0].replaced(line=1),), path=whole.path)
    assert whole.digest == toml.digest


def test_a_plain_list_with_accept_works_as_it_is(tmp_path: Path) -> None:
    rows = [{"id": 1, "question": "17 * 24?", "accept": ["408"]}, {"id": "b", "question": "3?", "accept": [3, "three"]}]
    suite = load_suite(write(tmp_path, json.dumps(rows), "plain.json"))
    assert [(q.id, q.prompt, q.accept, q.rule) for q in suite.questions] == [
        ("1", "17 * 24?", ("408",), Exact()),
        ("b", "3?", ("3", "three"), Exact()),
    ]
    assert suite.title == "plain"


def test_a_plain_list_with_match_repeats_published_verdicts(tmp_path: Path) -> None:
    rows = [
        {"id": "a", "question": "?", "answer": "Paris", "match": "exact", "tol": None, "weight": 1},
        {"id": "b", "question": "?", "answer": "Paris", "match": "contains", "tol": 0, "weight": 2.5},
        {"id": "c", "question": "?", "answer": 3.14, "match": "numeric", "tol": 0.01, "weight": 1},
        {"id": "d", "question": "?", "answer": "5"},
    ]
    suite = load_suite(write(tmp_path, json.dumps(rows), "plain.json"))
    assert [q.rule for q in suite.questions] == [
        Exact(),
        Contains(whole=False),
        NumberInReply(pick="first", tolerance=Decimal("0.01")),
        Exact(),
    ]
    assert suite.questions[1].weight == 2.5
    assert suite.questions[2].accept == ("3.14",)


@pytest.mark.parametrize(("prompt", "accept"), [("input", "target"), ("prompt", "expected"), ("question", "answer")])
def test_jsonl_and_csv_know_other_peoples_names(tmp_path: Path, prompt: str, accept: str) -> None:
    lines = [{prompt: "1+1?", accept: "2"}, {prompt: "2+2?", accept: ["4", "four"]}]
    jsonl = load_suite(write(tmp_path, "\n".join(map(json.dumps, lines)), "s.jsonl"))
    csv = load_suite(write(tmp_path, f'{prompt},{accept}\r\n1+1?,2\r\n2+2?,"[""4"", ""four""]"\r\n', "s.csv"))
    assert [(q.id, q.prompt, q.accept) for q in jsonl.questions] == [
        ("1", "1+1?", ("2",)),
        ("2", "2+2?", ("4", "four")),
    ]
    assert csv.questions == tuple(q.replaced(line=q.line and q.line + 1) for q in jsonl.questions)


def test_a_csv_row_may_name_a_rule_a_weight_and_a_draft(tmp_path: Path) -> None:
    text = (
        "id;kind;prompt;accept;rule;weight;draft\n"
        'a;sums;1+1?;2;"{""name"": ""numeric"", ""tolerance"": 0.5}";2;\n'
        "b; words;Say hi;hi; contains;0.5;FALSE\n"
        "c;;later;;;;true\n"
    )
    a, b, c = load_suite(write(tmp_path, text, "s.csv")).questions
    assert (a.rule, a.weight, a.kind) == (Numeric(tolerance=Decimal("0.5")), 2.0, "sums")
    assert (b.rule, b.weight, b.draft) == (Contains(), 0.5, False)
    assert (c.draft, c.kind) == (True, "general")


def test_accepted_answers_alone_are_enough_to_grade_saved_answers(tmp_path: Path) -> None:
    plain = write(tmp_path, json.dumps([{"id": "1", "accept": ["408"]}]), "q.json")
    assert [fault.code for fault in faults(plain)] == ["no-prompt"]
    assert load_suite(plain, need_prompt=False).questions[0].accept == ("408",)
    by_id = write(tmp_path, json.dumps({"note": "x", "accept": {"1": ["408"], "2": "613"}, "models": {}}), "p.json")
    assert [(q.id, q.accept) for q in load_suite(by_id).questions] == [("1", ("408",)), ("2", ("613",))]


# -- faults ----------------------------------------------------------------------------------------------------------


def test_all_faults_are_said_at_once_with_line_question_and_mend(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        """titel = "T"
[[questions]]
id = "a"
prompt = "?"
acept = ["1"]
accept = ["1"]
rule = "exakt"

[[questions]]
id = " A "
prompt = "?"
accept = ["365"]
traps = [{ reply = "365" }]
weight = -1

[[questions]]
id = "c"
prompt = "?"
checks = [
  { name = "x", no_lists = true },
]
files = ["../secret.csv"]
""",
    )
    found = {(fault.code, fault.line, fault.question) for fault in faults(path)}
    assert found >= {
        ("unknown-key", 1, None),
        ("unknown-key", 5, "a"),
        ("unknown-rule", 7, "a"),
        ("same-id", 9, "A"),
        ("weight", 14, "A"),
        ("trap-passes", 13, "A"),
        ("outside-file", 22, "c"),
    }
    check = next(fault for fault in faults(path) if fault.line == 20)
    assert "no_list" in check.mend
    mends = [fault.mend for fault in faults(path)]
    assert "did you mean 'title'?" in mends
    assert "did you mean 'accept'?" in mends
    assert "did you mean 'exact'?" in mends
    assert {fault.path for fault in faults(path)} == {str(path)}
    lines = [fault.line or 0 for fault in faults(path)]
    assert lines == sorted(lines)
    with pytest.raises(SuiteRefused) as caught:
        load_suite(path)
    assert caught.value.faults == faults(path)


FAULTS = [
    (question(accept=""), "accept-missing", "nothing to decide by"),
    (question(accept="[]"), "accept-missing", "nothing to decide by"),
    (question(accept="['']"), "accept-empty", "empty"),
    (question(accept="['2', '\"\"']"), "accept-empty", "empty"),
    (question(accept="[true]"), "type", "accept: true is no text"),
    (question(accept="[['2']]"), "type", "is no text"),
    (question(accept="[nan]"), "type", "is no text"),
    (question(accept="['2']", traps="['2']"), "trap-passes", "passes as a right answer"),
    (question(traps="[{ why = 'x' }]"), "trap", "no reply"),
    (question(traps="[{ reply = 'x', wy = 'x' }]"), "unknown-key", "'wy'"),
    (question(rule="'numeric'", accept="['many']"), "accept-number", "no number"),
    (question(rule="{ name = 'numeric', tolerance = '0.1' }"), "type", "tolerance"),
    (question(rule="{ name = 'numeric', tolerance = true }"), "type", "tolerance"),
    (question(rule="{ name = 'numeric', tolerance = -1 }"), "rule-value", "negative"),
    (question(rule="'regex'", accept="['(']"), "accept-regex", "("),
    (question(rule="'regex'", accept="['^(a+)+$']"), "accept-regex", "(a+)+"),
    (question(weight="'2'"), "weight", "no number from 0 up"),
    (question(weight="true"), "weight", "no number from 0 up"),
    (question(weight="nan"), "weight", "no number from 0 up"),
    (question(weight="inf"), "weight", "no number from 0 up"),
    (question(weight="1e999999"), "weight", "no number from 0 up"),
    (question(weight="0"), "weight", "every question weighs 0"),
    (question(prompt=""), "no-prompt", "no prompt"),
    (question(prompt="' '"), "no-prompt", "no prompt"),
    (question(prompt="3.5") + "x = 1\n", "unknown-key", "'x'"),
    (question(id=""), "id", "question 1 has no id"),
    (question(id="' '"), "id", "is no name"),
    (question(id="true"), "id", "is no name"),
    (question(id='"a\\u001b[2Jb"'), "id", "one line"),
    (question(id=f"'{'x' * 201}'"), "id", "at most 200"),
    (question(max_tokens="0"), "type", "whole number"),
    (question(max_tokens="'5'"), "type", "whole number"),
    (question(max_tokens="1.5"), "type", "whole number"),
    (question(draft="'yes'"), "type", "neither true nor false"),
    (question(no_trap="true", traps="['4']"), "trap-none", "traps names one"),
    (question(no_trap="'yes'"), "type", "neither true nor false"),
    (question(checks="['x']"), "type", "no table"),
    (question(files="['none.csv']"), "missing-file", "none.csv"),
    (question(files="['/etc/passwd']"), "outside-file", "absolute"),
    (question(workspace="'none'"), "missing-file", "no folder"),
    (question(reference="'3'", checks="[{ name = 'two', contains = '2' }]"), "reference", "full marks"),
    ("title = 'x'\n", "no-questions", "no question"),
    ("questions = 3\n", "type", "no list"),
    ("questions = [3]\n", "type", "no table"),
    ("repeats = 0\n" + question(), "type", "repeats = 0"),
    ("max_tokens = 'many'\n" + question(), "type", "max_tokens"),
    ("rule = 'contians'\n" + question(), "unknown-rule", "contians"),
    ("variants = 3\n" + question(), "type", "variants"),
    ("[variants.plain]\nappend = 'x'\n" + question(), "variant", "plain"),
    ("[variants.a]\napend = 'x'\n" + question(), "unknown-key", "apend"),
    ("[variants]\na = 'x'\n" + question(), "type", "variant 'a'"),
    ("title = ['x']\n" + question(), "type", "title"),
    (question() + question(), "same-id", "taken"),
    (question() + question(id="'A '"), "same-id", "taken"),
    (question(id="'Straße'") + question(id="'STRASSE'"), "same-id", "taken"),
    (question(id="'é'") + question(id="'e\u0301'"), "same-id", "taken"),
]


@pytest.mark.parametrize(("text", "code", "said"), FAULTS, ids=[f"{n}-{row[1]}" for n, row in enumerate(FAULTS)])
def test_a_fault_refuses_the_suite(tmp_path: Path, text: str, code: str, said: str) -> None:
    found = faults(write(tmp_path, text))
    assert code in [fault.code for fault in found]
    fault = next(fault for fault in found if fault.code == code)
    assert said in fault.message
    assert "\n" not in fault.message


@pytest.mark.parametrize(
    ("row", "code", "said"),
    [
        ({"accept": [None]}, "type", "null is no text"),
        ({"accept": [False]}, "type", "false is no text"),
        ({"match": "fuzzy"}, "unknown-rule", "unknown match 'fuzzy'"),
        ({"match": "numeric", "tol": "0.1"}, "type", "tol = '0.1'"),
        ({"match": "numeric", "tol": -0.1}, "rule-value", "negative"),
        ({"match": "numeric", "tol": True}, "type", "tol = true"),
        ({"match": "exact", "tol": 1}, "rule-value", "no meaning"),
        ({"match": "exact", "rule": "exact"}, "key-twice", "both rule and match"),
        ({"prompt": "x", "question": "y"}, "key-twice", "'question'"),
        ({"prompt": "a\ud800b"}, "encoding", "half a character"),
    ],
)
def test_a_fault_of_a_plain_list_is_said(tmp_path: Path, row: Mapping[str, object], code: str, said: str) -> None:
    rows = [{"id": "a", "prompt": "?", "accept": ["2"], **row}]
    found = faults(write(tmp_path, json.dumps(rows, indent=0), "s.json"))
    fault = next(fault for fault in found if fault.code == code)
    assert said in fault.message
    assert fault.line is not None


@pytest.mark.parametrize("constant", ["NaN", "Infinity", "-Infinity"])
def test_no_number_is_no_weight_in_json(tmp_path: Path, constant: str) -> None:
    text = '[{"id": "a", "prompt": "?", "accept": ["2"], "weight": ' + constant + "}]"
    assert [fault.code for fault in faults(write(tmp_path, text, "s.json"))] == ["weight"]


@pytest.mark.parametrize(
    ("name", "data", "said"),
    [
        ("s.toml", b"a = \n", "s.toml, line 1: not TOML"),
        ("s.toml", b"# caf\xe9\n", "s.toml, line 1: byte 0xE9 is not UTF-8: save the file as UTF-8"),
        ("s.json", b"[\n{]", "s.json, line 2: not JSON"),
        ("s.json", b'{"models": {}}', "it holds answers, not questions"),
        ("s.csv", b"", "the first row names no columns"),
        ("s.yaml", b"", ".yaml is no kind of suite: use .toml, .json, .jsonl, .csv"),
        ("s.toml", b"#" * 10_000_001, "larger than 10,000 kB"),
    ],
)
def test_a_file_that_is_no_suite_is_one_clear_line(tmp_path: Path, name: str, data: bytes, said: str) -> None:
    path = write(tmp_path, data, name)
    with pytest.raises(SuiteError) as caught:
        load_suite(path)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)
    assert len(faults(path)) == 1


def test_a_suite_that_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(SuiteError, match="no such file"):
        load_suite(tmp_path / "none.toml")
    (tmp_path / "f.toml").mkdir()
    with pytest.raises(SuiteError, match="a folder"):
        load_suite(tmp_path / "f.toml")


def test_a_file_of_another_kind_does_not_give_faults_without_end(tmp_path: Path) -> None:
    assert len(faults(write(tmp_path, "x\n" * 50_000, "s.jsonl"))) == 200


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=150, deadline=None)
@given(
    st.sampled_from(["s.toml", "s.json", "s.jsonl", "s.csv"]),
    st.binary(max_size=200) | st.text(max_size=100).map(str.encode),
)
@example("s.json", b'[{"id": 1e999999999, "prompt": 1e999999999, "accept": -1e-999999999}]')
@example("s.toml", b"[[questions]]\nid = 1979-05-27T07:32:00Z\nprompt = 07:32:00\naccept = 1979-05-27")
def test_no_bytes_whatever_crash_the_reader(tmp_path: Path, name: str, data: bytes) -> None:
    suite, found = read_suite(write(tmp_path, data, name))
    assert (suite is None) == bool(found)


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=6,
)
WORDS = "id prompt question kind accept answer rule second_rule match tol checks traps reference weight system"
QUESTION_KEYS = st.sampled_from([*WORDS.split(" "), "max_tokens", "files", "workspace", "protect", "verify", "draft"])


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=150, deadline=None)
@given(st.lists(st.dictionaries(QUESTION_KEYS, JSON_VALUES, max_size=6), max_size=3))
def test_no_value_under_any_key_crashes_the_reader(tmp_path: Path, rows: list[dict[str, object]]) -> None:
    suite, found = read_suite(write(tmp_path, json.dumps(rows), "s.json"))
    assert (suite is None) == bool(found)


# -- cleaning --------------------------------------------------------------------------------------------------------


def test_what_stands_around_an_accepted_answer_is_cleaned_and_said(tmp_path: Path) -> None:
    path = write(tmp_path, question(accept='[" 366\\r\\n", "\\ufeff367\\u00a0", "368"]'))
    assert load_suite(path).questions[0].accept == ("366", "367", "368")
    assert {code for code, _ in warnings(path)} == {"cleaned"}
    assert any("'366'" in message for _, message in warnings(path))


def test_a_space_in_a_pattern_is_left_alone(tmp_path: Path) -> None:
    path = write(tmp_path, question(rule="'regex'", accept="['no ']"))
    assert load_suite(path).questions[0].accept == ("no ",)


@pytest.mark.parametrize("name", ["s.toml", "s.csv"])
def test_a_windows_file_is_read_as_any_other(tmp_path: Path, name: str) -> None:
    text = question(prompt='"""\n1+1?\n"""') if name == "s.toml" else "id,prompt,accept\na,1+1?,2\n"
    path = write(tmp_path, b"\xef\xbb\xbf" + text.replace("\n", "\r\n").encode(), name)
    suite = load_suite(path)
    assert (suite.questions[0].accept, build_prompt(suite, suite.questions[0])) == (("2",), "1+1?")
    assert [warning.code for warning in suite.warnings] == ["cleaned"]


def test_line_ends_in_a_prompt_are_made_one_kind_and_said(tmp_path: Path) -> None:
    path = write(tmp_path, json.dumps([{"id": "a", "prompt": "x\r\ny\rz", "accept": ["2"]}]), "s.json")
    assert load_suite(path).questions[0].prompt == "x\ny\nz"
    assert [code for code, _ in warnings(path)] == ["cleaned"]


# -- prompts ---------------------------------------------------------------------------------------------------------


def suite_with_a_file(folder: Path) -> Suite:
    (folder / "data").mkdir()
    (folder / "data" / "a.csv").write_bytes(b"x,y\r\n1,2\r\n")
    text = (
        "instruction = 'Answer only.'\n[variants.wide]\nprepend = 'Listen.'\nappend = 'Thanks.'\n"
        + question(prompt='"""\nSum?\n"""', files="['data/a.csv']")
        + question(id="'b'")
    )
    return load_suite(write(folder, text))


def test_a_prompt_holds_files_instruction_and_variant(tmp_path: Path) -> None:
    suite = suite_with_a_file(tmp_path)
    first, second = suite.questions
    plain = 'Sum?\n\n<file name="data/a.csv">\nx,y\n1,2\n</file>\n\nAnswer only.'
    assert build_prompt(suite, first) == plain
    assert build_prompt(suite, first, "wide") == f"Listen.\n\n{plain}\n\nThanks."
    assert build_prompt(suite, second) == "1+1?\n\nAnswer only."
    with pytest.raises(SuiteError, match="no variant 'broad': known: plain, wide"):
        build_prompt(suite, first, "broad")


def test_files_are_read_once_when_the_suite_is_loaded(tmp_path: Path) -> None:
    suite = suite_with_a_file(tmp_path)
    before = suite.digest
    (tmp_path / "data" / "a.csv").write_text("changed", "utf-8")
    assert "1,2" in build_prompt(suite, suite.questions[0])
    assert load_suite(tmp_path / "exam.toml").digest != before
    again = Suite.model_validate_json(suite.model_dump_json())
    assert build_prompt(again, again.questions[0]) == build_prompt(suite, suite.questions[0])
    with pytest.raises(SuiteError, match="was not read"):
        build_prompt(suite.replaced(attached={}), suite.questions[0])


def test_what_is_accepted_never_reaches_a_prompt(tmp_path: Path) -> None:
    text = question(accept="['ACC']", traps="[{ reply = 'TRAP', why = 'WHY' }]", reference="'ACC'")
    suite = load_suite(write(tmp_path, text))
    assert build_prompt(suite, suite.questions[0]) == "1+1?"


# -- edits -----------------------------------------------------------------------------------------------------------


def accept(text: str, name: str = "a") -> Edit:
    return Edit(at=AT, question=name, what="accept", accept=text)


def test_edits_beside_the_suite_are_laid_over_it(tmp_path: Path) -> None:
    path = write(tmp_path, question())
    before = path.read_bytes()
    suite = load_suite(path)
    store = EditStore(edits_file(suite), path.name)
    assert store.path == tmp_path / "exam.edits.toml"
    store.append(accept("two"))
    assert load_suite(path).questions[0].accept == ("2", "two")
    assert load_suite(path).edits == store.edits
    assert load_suite(path, edits=False).questions[0].accept == ("2",)
    store.undo()
    assert load_suite(path) == suite
    assert path.read_bytes() == before


def test_edits_of_a_suite_that_cannot_be_written_beside_are_kept_in_the_data_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(tmp_path, question())
    monkeypatch.setattr(os, "access", lambda *_: False)
    where = edits_file(load_suite(path))
    assert where.parent == edits_folder()
    EditStore(where).append(accept("two"))
    assert load_suite(path).questions[0].accept == ("2", "two")


def test_a_broken_file_of_edits_is_a_fault_with_its_own_path(tmp_path: Path) -> None:
    path = write(tmp_path, question())
    other = write(tmp_path, "[[edits]]\nat = 1\n", "exam.edits.toml")
    assert [(fault.code, fault.path, fault.line) for fault in faults(path)] == [("edits", str(other), 1)]


def test_an_edit_that_makes_the_suite_unsound_is_said_before_and_after(tmp_path: Path) -> None:
    path = write(tmp_path, question(traps="['3']"))
    suite = load_suite(path)
    assert edit_faults(suite, accept("two")) == ()
    assert [fault.code for fault in edit_faults(suite, accept("3"))] == ["trap-passes"]
    assert [fault.code for fault in edit_faults(suite, accept("x", "gone"))] == ["edit-unused"]
    EditStore(edits_file(suite)).append(accept("3"))
    fault = faults(path)[0]
    assert fault.message.startswith("after your edits: ")
    assert fault.mend.startswith("take the edit back")
    assert fault.path.endswith("exam.edits.toml")


def test_an_edit_of_a_question_that_is_gone_stops_nothing(tmp_path: Path) -> None:
    path = write(tmp_path, question())
    EditStore(tmp_path / "exam.edits.toml").append(accept("x", "gone"))
    suite = load_suite(path)
    assert [warning.code for warning in suite.warnings] == ["edit-unused"]


def test_a_suite_without_a_file_has_no_place_for_edits() -> None:
    with pytest.raises(SuiteError, match="was not read from a file"):
        edits_file(Suite(name="s", title="S", questions=()))


# -- finding ---------------------------------------------------------------------------------------------------------


def test_a_suite_is_found_by_path_or_among_the_samples(tmp_path: Path) -> None:
    path = write(tmp_path, question())
    assert find_suite(str(path)) == path
    assert find_suite("exam.toml") == Path("exam.toml")
    assert find_suite("sample:ledger").name == "ledger.toml"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("exma.toml", "is not there: did you mean 'exam.toml'?"),
        ("sample:legder", "no sample suite 'legder': did you mean 'ledger'?"),
        ("sample:zzz", "there are: code-work, easy-questions, every-rule"),
        ("sample:../exam", "no sample suite"),
        (".", "is a folder"),
        ("a\0b", "is not there"),
        ("no/where.toml", "is not there: name a .toml"),
    ],
)
def test_a_suite_that_is_not_found_is_said_with_the_nearest_name(tmp_path: Path, text: str, said: str) -> None:
    write(tmp_path, question())
    with pytest.raises(UsageError) as caught:
        find_suite(text)
    assert said in str(caught.value)


def test_the_starter_suite_is_sound_with_and_without_its_comments(tmp_path: Path) -> None:
    suite = load_suite(write(tmp_path, starter_suite()))
    assert [q.id for q in suite.questions] == ["leap-year"]
    (tmp_path / "data.csv").write_text("amount\n1250\n", "utf-8")
    head, tail = starter_suite().split("# A number with a tolerance:")
    shown = [
        line.removeprefix("# ")
        for line in tail.splitlines()
        if "=" in line or line.startswith(("# [[", "# ]", "#   {", '# "', "# D", "# C"))
    ]
    assert len(load_suite(write(tmp_path, head + "\n".join(shown), "all.toml")).questions) == 4


def test_every_error_is_one_of_ours(tmp_path: Path) -> None:
    for name, data in (("a.toml", b"\xff"), ("b.toml", question(accept="").encode())):
        with pytest.raises(ResitError):
            load_suite(write(tmp_path, data, name))


def test_a_suite_of_drafts_alone_is_read_and_says_so(tmp_path: Path) -> None:
    path = tmp_path / "s.toml"
    path.write_text('[[questions]]\nid = "a"\nprompt = "?"\ndraft = true\n')
    suite = load_suite(path)
    assert suite.asked == ()
    assert [warning.code for warning in suite.warnings] == ["all-drafts"]


def test_a_question_may_say_what_work_it_stands_for_and_that_no_wrong_answer_tempts(tmp_path: Path) -> None:
    path = tmp_path / "s.toml"
    path.write_text(
        '[[questions]]\nid = "a"\nprompt = "?"\naccept = ["x"]\nno_trap = true\nabout = """\nReading\n  bills"""\n'
    )
    before = '[[questions]]\nid = "a"\nprompt = "?"\naccept = ["x"]\n'
    (question,) = load_suite(path).questions
    assert (question.about, question.no_trap) == ("Reading bills", True)
    path.write_text(before)
    assert load_suite(path).questions[0].rule_digest == question.rule_digest
