import json
import time
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from resit.core.printable import one_line, printable

CASES = json.loads((Path(__file__).parent.parent / "data" / "hostile_replies.json").read_text(encoding="utf-8"))[
    "cases"
]
ANYTHING = st.text(st.characters(exclude_categories=()))
BIDI = {0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A)}


def text_of(case: dict[str, object]) -> str:
    text = str(case["text"])
    repeat = case.get("repeat")
    return text + repeat[0] * repeat[1] if isinstance(repeat, list) else text


def harmful(text: str, *, allowed: str = "\n") -> list[str]:
    return [
        hex(ord(c))
        for c in text
        if (unicodedata.category(c) in {"Cc", "Cs"} and c not in allowed) or ord(c) in BIDI or c in "\u2028\u2029"
    ]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_a_hostile_reply_can_do_nothing_to_the_screen(case: dict[str, object]) -> None:
    text = text_of(case)
    for shown in (printable(text), printable(text, limit=100), printable(text, invisible=True)):
        assert not harmful(shown)
        shown.encode("utf-8")
    assert not harmful(one_line(text, 80), allowed="")
    assert len(one_line(text, 80)) <= 80


@given(ANYTHING)
def test_nothing_harmful_comes_out_of_any_string(text: str) -> None:
    assert not harmful(printable(text))
    assert not harmful(one_line(text, 20), allowed="")
    assert not harmful(one_line(text), allowed="")


@given(ANYTHING)
def test_showing_twice_changes_nothing_more(text: str) -> None:
    once = printable(text)
    assert printable(once) == once


@pytest.mark.parametrize(
    "text",
    [
        "Plain text, with brackets [red] and [/] and a \\ at the end\\",
        "漢字かな交じり文 ＦＵＬＬ",
        "👩‍👩‍👧‍👦 🏳️‍🌈 ❤️ 1️⃣",
        "الإجابة هي 42 و 17 — התשובה",
        "Tiếng Việt, naïve, שָׁלוֹם",
        "two\nlines\n",
        "",
    ],
)
def test_ordinary_text_is_not_touched(text: str) -> None:
    assert printable(text) == text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[2J", "␛[2J"),
        ("a\x7fb\x00", "a␡b␀"),
        ("WRONG 41\rRIGHT 42", "WRONG 41␍RIGHT 42"),
        ("one\r\ntwo", "one\ntwo"),
        ("x\x9b31m", "x<U+009B>31m"),
        ("a\u202eb", "a<U+202E>b"),
        ("a\u2028b", "a<U+2028>b"),
        ("a\ud800b", "a<U+D800>b"),
        ("a\tb", "a   b"),
        ("Z" + "\u0301" * 300, "Z" + "\u0301" * 8 + "<more marks>"),
    ],
)
def test_what_would_act_is_spelt_out(text: str, shown: str) -> None:
    assert printable(text) == shown


def test_tab_stops_can_be_set() -> None:
    assert printable("a\tb", tabs=8) == "a       b"


def test_hidden_characters_are_named_when_asked_for() -> None:
    text = "pass\u200bword \U000e0068 co\xadop"
    assert printable(text) == text
    assert printable(text, invisible=True) == "pass<U+200B>word <U+E0068> co<U+00AD>op"


def test_a_cut_text_says_how_much_is_missing() -> None:
    assert printable("x" * 5, limit=5) == "xxxxx"
    assert printable("x" * 6, limit=5) == "xxxxx… 1 more character"
    assert printable("x" * 30_005, limit=5) == "xxxxx… 30,000 more characters"


@pytest.mark.parametrize(
    ("text", "limit", "shown"),
    [
        ("210 minutes\n", None, "210 minutes↵"),
        ("a\tb\r\nc", None, "a b↵c"),
        ("abcdef", 6, "abcdef"),
        ("abcdefg", 6, "abcde…"),
        ("\r\n" * 10, 6, "↵↵↵↵↵…"),
        ("a" + "\u0301" * 100, 40, "a" + "\u0301" * 8 + "<more marks>…"),
        ("abc", 1, "…"),
        ("abc", 0, ""),
    ],
)
def test_one_line_never_breaks_and_never_passes_its_limit(text: str, limit: int | None, shown: str) -> None:
    assert one_line(text, limit) == shown


@pytest.mark.parametrize(
    "unit", ["The quick brown fox.\n", "\x1b[31m", "漢字かな", "\ud800", "\u0301", "\t", "\u202ea"]
)
def test_a_megabyte_is_shown_at_once(unit: str) -> None:
    text = unit * (1_000_000 // len(unit))
    fastest = min(_seconds(text) for _ in range(3))
    assert fastest < 0.25  # 5 to 40 ms; room for a slow machine


def _seconds(text: str) -> float:
    # Of the processor: other tests run beside this one.
    start = time.process_time()
    printable(text)
    return time.process_time() - start
