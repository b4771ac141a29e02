"""How a reply is cleaned before it is compared."""

from __future__ import annotations

import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from resit.core.scoring.normalise import (
    DROPPED,
    QUOTES,
    answer_part,
    bare,
    clean,
    drop_grouping,
    fold,
    fold_case,
    unwrap,
    visible,
)

PLAIN_TEXT = st.text(st.characters(exclude_characters=".。．｡\"'`*_~«»‹›「」『』“”„‟‘’‚‛ʼ＂＇＊＿｀～"), max_size=40)


@pytest.mark.parametrize(
    ("text", "cleaned"),
    [
        ("**72**.", "72"),
        ("“maerts”", "maerts"),
        ('"Canberra".', "canberra"),
        ("```python\n45\n```", "45"),
        ("Canberra..", "canberra."),
        ("2*3*", "2*3*"),
        ("*a* and *b*", "*a* and *b*"),
        ("1,234,567", "1234567"),
        ("1,2345", "1,2345"),
        ("1,234, 5", "1,234, 5"),
        ("İstanbul", "istanbul"),
        ("4\x002", "42"),
        ("well\u2011known", "well-known"),
        ("ＡＢ１", "ab1"),
        ("a\u2028b", "a b"),
    ],
)
def test_cleaning_follows_its_seven_steps(text: str, cleaned: str) -> None:
    assert clean(text) == cleaned


def test_plain_cleaning_repeats_published_results_to_the_letter() -> None:
    assert clean('  "Canberra.." ', plain=True) == "canberra"
    assert clean("“Canberra”", plain=True) == "“canberra”"
    assert clean("New  York", plain=True) == "new  york"
    assert clean("12,345", plain=True) == "12345"


def test_case_is_kept_where_it_is_asked_for() -> None:
    assert clean("RIVER.", case=True) == "RIVER"


@given(PLAIN_TEXT)
def test_cleaning_a_clean_text_changes_nothing(text: str) -> None:
    assert clean(clean(text)) == clean(text)


@given(st.text(max_size=60))
def test_the_two_ways_to_compose_an_accent_clean_alike(text: str) -> None:
    assert clean(unicodedata.normalize("NFD", text)) == clean(unicodedata.normalize("NFC", text))


@given(st.text(max_size=60))
def test_folding_keeps_the_place_of_all_it_keeps(text: str) -> None:
    assert len(fold(text)) == len(DROPPED.sub("", text))


@given(st.text(max_size=30))
def test_a_text_that_cannot_be_seen_cleans_to_nothing(text: str) -> None:
    if not visible(text):
        assert clean(text).strip("\u2800") == ""


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("<think>a</think>b", "b"),
        ("\n<Thinking>a</Thinking>b", "b"),
        ("a</think>b", "b"),
        ("<think>a</think><think>b</think>c", "c"),
        ("<think>never closed", None),
        ("Use <think> tags", "Use <think> tags"),
        ("<think> and </think> are tags, as in a < b", " are tags, as in a < b"),
        ("no tag", "no tag"),
    ],
)
def test_a_thinking_block_is_dropped_only_where_it_starts_the_reply(text: str, answer: str | None) -> None:
    assert answer_part(text) == answer


@given(st.text(max_size=60))
def test_the_answer_is_always_a_tail_of_the_reply(text: str) -> None:
    answer = answer_part(text)
    assert answer is None or text.endswith(answer)


ORDINARY = st.text(st.sampled_from("abIZ019 .,*_`~\"'()\t\n"), max_size=24)
LONG_WAY = re.compile(r"[\t\n][ \t\n]*| [ \t\n]+")


@given(ORDINARY, st.booleans())
def test_the_short_way_to_clean_a_plain_text_gives_what_the_long_way_gives(text: str, case: bool) -> None:
    long_way = bare(text)
    assert clean(text, case=case) == drop_grouping(long_way if case else fold_case(long_way))


@given(st.text(st.sampled_from("ab \t\n"), max_size=200), st.integers(0, 300))
def test_each_run_of_spaces_tabs_and_line_ends_becomes_one_space(text: str, run: int) -> None:
    text = f"{text}{' ' * run}{text}"
    assert bare(text) == LONG_WAY.sub(" ", text).strip()


@given(ORDINARY)
def test_a_text_that_begins_with_no_wrapper_loses_only_its_final_stop(text: str) -> None:
    trimmed = text.strip()
    if trimmed[:1] not in tuple("*_`~" + QUOTES):
        assert unwrap(text) == trimmed.removesuffix(".").rstrip()
