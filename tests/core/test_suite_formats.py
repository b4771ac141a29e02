import json
from decimal import Decimal
from pathlib import Path

import pytest
import tomli_w
from hypothesis import given
from hypothesis import strategies as st

from resit.core.rule import Choice, Contains, Exact, ItemList, LastLine, NumberInReply, Numeric, YesNo
from resit.core.suite_formats.attached import inside, read_attached
from resit.core.suite_formats.csv_form import read_csv
from resit.core.suite_formats.json_form import read_json, read_jsonl
from resit.core.suite_formats.rule_form import read_rule
from resit.core.suite_formats.said import Said, Unreadable, nearest
from resit.core.suite_formats.source import read_source
from resit.core.suite_formats.toml_form import read_toml

TOML = """\
title = "T"
about = '''
[[questions]]
id = "not a question"
'''

[variants.terse]
append = "id = 3"

[[questions]]  # first
id = "a"
prompt = \"\"\"
[[questions]]
say \\\"\"\" { [ #
\"\"\"
accept = [
  "1",
  "]]",
]

[[questions]]
id = "b" # " '
checks = [
  { name = "x", contains = "{" },

  { name = "y", contains = "[" },
]
  [questions.rule]
  name = "exact"
  [[questions.traps]]
  reply = "z"
[[ questions ]]
"id" = 'c'
"""

JSON = """[
  {"id": "a", "question": "[{", "accept": ["1"],
   "weight": 2},

  {
    "id": "b",
    "extra": {"id": "inner", "x": [{"y": 1}]},
    "accept": "2"
  }
]
"""


def test_every_toml_question_and_key_knows_its_line() -> None:
    suite = read_toml(TOML, Said("t.toml"))
    assert [question.table["id"] for question in suite.questions] == ["a", "b", "c"]
    assert [question.line for question in suite.questions] == [10, 21, 32]
    first, second, third = (question.lines for question in suite.questions)
    assert (first.of("id"), first.of("prompt"), first.of("accept")) == (11, 12, 16)
    assert [second.of("checks", number) for number in range(2)] == [24, 26]
    assert (second.of("rule"), second.of("traps", 0), third.of("id")) == (28, 30, 33)
    assert (suite.lines.of("title"), suite.lines.of("about"), suite.lines.of("variants")) == (1, 2, 7)


def test_toml_questions_in_one_array_know_their_lines() -> None:
    suite = read_toml('questions = [\n  {id = "a"},\n  {id = "b"},\n]\n', Said("t"))
    assert [question.line for question in suite.questions] == [2, 3]


def test_every_json_question_and_key_knows_its_line() -> None:
    plain = read_json(JSON, Said("t"))
    assert [question.line for question in plain.questions] == [2, 5]
    assert [question.lines.of(key) for question, key in zip(plain.questions, ("weight", "accept"), strict=True)] == [
        3,
        8,
    ]
    whole = read_json('{"title": "T",\n "x": [{"id": 1}],\n "questions": ' + JSON + "}", Said("t"))
    assert [question.line for question in whole.questions] == [4, 7]
    assert (whole.lines.of("x"), whole.lines.of("id")) == (2, None)


# TOML itself turns a CRLF inside a long string into a LF.
TEXT = st.text(st.characters(exclude_characters="\r", exclude_categories=["Cs"]), max_size=30)


@given(st.lists(st.dictionaries(TEXT.filter(bool), TEXT, max_size=4), max_size=5))
def test_a_scan_for_lines_never_loses_a_question(tables: list[dict[str, str]]) -> None:
    for text in (json.dumps(tables, indent=1), json.dumps({"questions": tables}, ensure_ascii=False)):
        suite = read_json(text, Said("t"))
        assert [question.table for question in suite.questions] == tables
        assert all(question.line is not None for question in suite.questions)
    text = "\n".join("[[questions]]\n" + tomli_w.dumps(table, multiline_strings=True) for table in tables)
    toml = read_toml(text, Said("t"))
    assert [question.table for question in toml.questions] == tables
    lines = text.split("\n")
    for question in toml.questions:
        assert question.line is not None
        assert lines[question.line - 1] == "[[questions]]"


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ("a = 1\nb = \n", 2, "not TOML: Invalid value"),
        ('a = "1', 1, "not TOML"),
        ("a = 1\na = 2\n", 2, "not TOML: Cannot overwrite a value"),
        ("a = " + "[" * 100_000, None, "nested too deeply"),
        ("a = " + "1" * 5000, None, "not TOML"),
    ],
)
def test_what_is_no_toml_is_said_in_one_line(text: str, line: int | None, said: str) -> None:
    with pytest.raises(Unreadable) as caught:
        read_toml(text, Said("t"))
    assert said in caught.value.message
    assert "\n" not in caught.value.message
    assert caught.value.line == line or line is None


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ('[\n{"id": 1,}\n]', 2, "not JSON"),
        ('[{"id": 1, "id": 2}]', None, "the key 'id' stands twice"),
        ("[" * 200_000, None, "nested too deeply"),
        ("[" + "1" * 5000 + "]", None, "not JSON"),
        ('{"title": "no questions"}', None, "no list of questions"),
        ('{"models": {}}', None, "answers, not questions"),
        ("3", None, "no list of questions"),
        ("", 1, "not JSON"),
    ],
)
def test_what_is_no_json_suite_is_said_in_one_line(text: str, line: int | None, said: str) -> None:
    with pytest.raises(Unreadable) as caught:
        read_json(text, Said("t"))
    assert said in caught.value.message
    assert caught.value.line == line


def test_every_bad_line_of_a_jsonl_file_is_said() -> None:
    said = Said("t")
    suite = read_jsonl('{"input": "1+1?", "target": "2"}\n\nnope\n[1]\r\n{"input": "x"}\n', said)
    assert [fault.line for fault in said.faults] == [3, 4]
    assert [question.line for question in suite.questions] == [1, 5]


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_csv_is_read_with_any_usual_separator(separator: str) -> None:
    rows = ["ID,Prompt,accept,weight", '1,"What, then?\nSay.",366,2', "", '2,Next,"[""3"", ""three""]",0.5']
    text = "\r\n".join(rows).replace(",", separator) if separator != "," else "\r\n".join(rows)
    if separator != ",":
        text = text.replace(f'"3""{separator}', '"3"",')
    suite = read_csv(text, Said("t"))
    assert [question.line for question in suite.questions] == [2, 5]
    assert suite.questions[0].table["accept"] == "366"
    assert suite.questions[1].table["accept"] == ["3", "three"]
    assert [question.table["weight"] for question in suite.questions] == [2, Decimal("0.5")]


def test_csv_faults_name_their_lines() -> None:
    said = Said("t")
    read_csv('id,prompt,id\n1,a\n2,b,c\n3,"open', said)
    assert [(fault.code, fault.line) for fault in said.faults] == [("columns", 1), ("columns", 2), ("syntax", 4)]


def test_csv_without_columns_is_unreadable() -> None:
    with pytest.raises(Unreadable, match="names no columns"):
        read_csv("\n\n", Said("t"))


@pytest.mark.parametrize(
    ("data", "line", "said"),
    [
        (b"ok\ncaf\xe9 is latin-1\n", 2, "byte 0xE9 is not UTF-8"),
        ("title = 'x'".encode("utf-16"), 1, "UTF-16"),
    ],
)
def test_a_file_in_another_encoding_is_one_clear_line(tmp_path: Path, data: bytes, line: int, said: str) -> None:
    (tmp_path / "s.toml").write_bytes(data)
    with pytest.raises(Unreadable, match=said) as caught:
        read_source(tmp_path / "s.toml")
    assert (caught.value.line, caught.value.code) == (line, "encoding")


def test_only_an_ordinary_file_in_bounds_is_read(tmp_path: Path) -> None:
    (tmp_path / "large").write_bytes(b"x" * 101)
    for path, said in ((tmp_path, "a folder"), (tmp_path / "large", "larger"), (tmp_path / "none", "no such file")):
        with pytest.raises(Unreadable, match=said):
            read_source(path, 100)
    with pytest.raises(Unreadable, match="no ordinary file"):
        read_source(Path("/dev/zero"), 100)


def rule(value: object) -> object:
    said: list[str] = []
    read = read_rule(value, lambda code, message, mend: said.append(f"{code}: {message}: {mend}"))
    assert (read is None) == bool(said)
    return read if read is not None else said


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("exact", Exact()),
        ({"name": "numeric", "tolerance": Decimal("0.01")}, Numeric(tolerance=Decimal("0.01"))),
        ({"name": "numeric", "tolerance": 1, "unit": "min"}, Numeric(tolerance=Decimal(1), unit=("min",))),
        (
            {"name": "number_in_reply", "pick": "last", "unit": ["m", "min"]},
            NumberInReply(pick="last", unit=("m", "min")),
        ),
        ({"name": "contains", "whole": False}, Contains(whole=False)),
        ({"name": "choice", "options": ["A", "B"]}, Choice(options=("A", "B"))),
        ({"name": "choice", "options": {"A": "x", "B": 2}}, Choice(options={"A": "x", "B": "2"})),
        (
            {"name": "yes_no", "words": {"yes": "ja", "no": ["nein", "nö"]}},
            YesNo(words={"yes": ("ja",), "no": ("nein", "nö")}),
        ),
        ({"name": "list", "item": "numeric"}, ItemList(item=Numeric())),
        ({"name": "last_line", "rule": {"name": "exact", "case": True}}, LastLine(rule=Exact(case=True))),
        ({"name": "exact", "case": None}, Exact()),
    ],
)
def test_a_rule_is_a_name_or_a_table(value: object, expected: object) -> None:
    assert rule(value) == expected


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("contians", "unknown-rule: unknown rule 'contians': did you mean 'contains'?"),
        ({"case": True}, "unknown-rule: rule has no name: known: exact, "),
        ({"name": True}, "unknown-rule: unknown rule true"),
        (3, "type: rule = 3 is no rule"),
        (["exact"], "type: rule = ['exact'] is no rule"),
        ({"name": "numeric", "tolerence": 1}, "unknown-key: rule 'numeric' has no 'tolerence': did you mean"),
        ({"name": "exact", "ignorecase": True}, "unknown-key: rule 'exact' has no 'ignorecase'"),
        ({"name": "numeric", "tolerance": "0.1"}, "type: rule 'numeric': tolerance = '0.1' is not a number"),
        ({"name": "numeric", "tolerance": True}, "type: rule 'numeric': tolerance = true is not a number"),
        ({"name": "numeric", "tolerance": Decimal("-0.1")}, "rule-value: rule 'numeric': tolerance = -0.1 is negative"),
        ({"name": "numeric", "tolerance": Decimal("Infinity")}, "rule-value: rule 'numeric': tolerance is no finite"),
        ({"name": "numeric", "tolerance": Decimal("NaN")}, "rule-value: rule 'numeric': tolerance is no finite"),
        ({"name": "number_in_reply", "pick": "lst"}, "rule-value: rule 'number_in_reply': pick = 'lst' is"),
        ({"name": "date", "order": "ymd-ish"}, "rule-value: rule 'date': order = 'ymd-ish' is not possible"),
        ({"name": "exact", "case": "yes"}, "rule-value: rule 'exact': case = 'yes' is not possible"),
        ({"name": "regex", "flags": ["quick"]}, "rule-value: rule 'regex': flags = 'quick' is not possible"),
        ({"name": "choice", "options": [True]}, "type: rule 'choice': options = [True] is not a list"),
        ({"name": "last_line", "rule": "exakt"}, "unknown-rule: unknown rule 'last_line': rule 'exakt': did"),
    ],
)  # fmt: skip
def test_a_wrong_rule_is_said_with_its_mend(value: object, said: str) -> None:
    found = rule(value)
    assert isinstance(found, list)
    assert found[0].startswith(said)


def test_a_wrong_word_is_mended_by_the_nearest_one() -> None:
    found = rule({"name": "number_in_reply", "pick": "lst"})
    assert found == ["rule-value: rule 'number_in_reply': pick = 'lst' is not possible: did you mean 'last'?"]


def test_a_rule_within_a_rule_without_end_is_refused() -> None:
    value: object = "exact"
    for _ in range(500):
        value = {"name": "last_line", "rule": value}
    assert isinstance(rule(value), list)


def test_the_nearest_known_word_is_offered() -> None:
    assert nearest("acept", ("accept", "prompt")) == "did you mean 'accept'?"
    assert nearest("zzz", ("accept", "prompt")) == "known: accept, prompt"


@pytest.mark.parametrize("name", ["../x.csv", "/etc/passwd", "a/../../x.csv", "link.csv", "C:\\x.csv", "dir/out/x.csv"])
def test_a_file_outside_of_the_folder_is_never_read(tmp_path: Path, name: str) -> None:
    home = tmp_path / "suite"
    (home / "dir").mkdir(parents=True)
    (tmp_path / "x.csv").write_text("secret", encoding="utf-8")
    (home / "link.csv").symlink_to(tmp_path / "x.csv")
    (home / "dir" / "out").symlink_to(tmp_path)
    with pytest.raises(Unreadable) as caught:
        read_attached(home, name)
    assert caught.value.code == "outside-file"


def test_a_link_that_stays_inside_is_followed(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_bytes(b"\xef\xbb\xbfa\r\nb")
    (tmp_path / "y.csv").symlink_to("x.csv")
    assert inside(tmp_path, "y.csv") == (tmp_path / "x.csv").resolve()
    assert read_attached(tmp_path, "y.csv") == "a\nb"


@pytest.mark.parametrize(
    ("name", "code"), [("", "missing-file"), ("a\0b", "missing-file"), ("no.csv", "missing-file"), (".", "unreadable")]
)
def test_a_file_that_is_not_there_is_a_fault(tmp_path: Path, name: str, code: str) -> None:
    with pytest.raises(Unreadable) as caught:
        read_attached(tmp_path, name)
    assert caught.value.code == code


def test_a_picture_is_no_text_to_attach(tmp_path: Path) -> None:
    (tmp_path / "p.png").write_bytes(b"PNG\0\0")
    with pytest.raises(Unreadable, match="is no text"):
        read_attached(tmp_path, "p.png")
