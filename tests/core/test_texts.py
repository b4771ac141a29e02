"""Where an accepted form stands in a reply."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from resit.core.rule import Exact
from resit.core.scoring.texts import _bordered, _stands_alone, find_form, judge_exact

SIGNS = st.sampled_from("ab1 .,%'_-+#)é是")


def the_long_way(form: str, reply: str) -> int | None:
    """Every occurrence with no letter beside it, looked at closely."""
    starts = (found.start() for found in _bordered(form).finditer(reply))
    return next((start for start in starts if _stands_alone(form, reply, start, start + len(form))), None)


@given(st.text(SIGNS, min_size=1, max_size=3), st.text(SIGNS, max_size=16))
def test_a_form_with_plain_borders_is_found_where_the_long_way_finds_it(form: str, reply: str) -> None:
    assert find_form(form, reply) == the_long_way(form, reply)


@given(st.text(SIGNS, min_size=1, max_size=3), st.text(SIGNS, max_size=8), st.text(SIGNS, max_size=8))
def test_a_form_between_spaces_is_found_where_the_long_way_finds_it(form: str, before: str, after: str) -> None:
    reply = f"{before} {form} {after}"
    assert find_form(form, reply) == the_long_way(form, reply)


def test_a_reply_far_longer_than_what_is_accepted_is_no_such_form_but_one_in_unseen_signs_is() -> None:
    assert "far too long" in judge_exact(Exact(), ("Mars",), "Mars " * 100_000).why
    assert judge_exact(Exact(), ("Mars",), "\u200b" * 300_000 + "Mars" + " " * 300_000).passed
    assert judge_exact(Exact(), ("Mars " * 100_000,), "Mars " * 100_000).passed
