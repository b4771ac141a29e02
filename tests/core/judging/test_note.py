from __future__ import annotations

import re
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sheet_kit import (
    EDIT,
    FENCE_BREAKER,
    LOW,
    PAGE_ATTACKS,
    QUESTIONS,
    SUITE,
    hostile_replies,
    opened,
    sheet,
    store_round,
)

from resit.core.errors import RoundError
from resit.core.judging.export_html import page
from resit.core.judging.markdown import code, fenced, inline
from resit.core.judging.note import decision, note_faults, note_text, read_kept, read_note, write_note
from resit.core.judging.rule_words import rules_sentence
from resit.core.judging.sheet import Sheet, make_sheet
from resit.core.printable import printable
from resit.core.records import Setting
from resit.core.rounds.shelf import open_round
from resit.core.suite import Question


def test_the_note_holds_models_date_prices_rule_and_later_changes(tmp_path: Path) -> None:
    text = note_text(sheet(tmp_path))
    for wanted in (
        "Date: 30 Nov 2026 09:00 UTC",
        "`claude-haiku-5-5`, `claude-sonnet-5-5`",
        "genai-prices 0.2.3 (10 Nov 2026)",
        "the whole reply equals an accepted answer",
        "1 Dec 2026 09:00 UTC: `capital` accepts 'Paname' as well",
        "after the run `capital__claude-sonnet-5-5-default__r1`: an old name",
        "18 of 20 graded, 2 unsettled",
        "1 of 8 misses were the grader's",
    ):
        assert wanted in text


def test_figures_of_the_note_are_those_worked_out_by_hand(tmp_path: Path) -> None:
    # haiku low, river left out: leap-year 0 (365, 366), minutes 0, capital 1, asks 1 (the cut run has no score).
    # sonnet: 1, 1, 0 (an attack in run 2), asks 2/3. Means 0.5, 0, 1, 1 and 1, 1, 0.5, 2/3.
    lines = note_text(sheet(tmp_path)).split("\n")
    haiku = next(line for line in lines if line.startswith("| `claude-haiku-5-5 low` | 2/4"))
    sonnet = next(line for line in lines if line.startswith("| `claude-sonnet-5-5 default` | 2/4"))
    assert [haiku.split(" | ")[at] for at in (2, 4)] == ["50.0%", "62.5%"]
    assert [sonnet.split(" | ")[at] for at in (2, 4)] == ["66.7%", "79.2%"]
    # Nineteen replies at 0.0002 dollars; the timed out call has no known cost.
    assert "- Cost: at least $0.00380" in lines


def test_every_run_below_full_marks_is_in_the_note_with_reply_and_cause(tmp_path: Path) -> None:
    made = sheet(tmp_path)
    told = {(miss.question.id, miss.setting, row.run) for miss in made.misses for row in miss.runs}
    assert told == {(r.question, r.setting, r.run) for r in made.rows if r.score is None or r.score < 1}
    text = note_text(made)
    for miss in made.misses:
        assert f"- {code(miss.setting)}, {miss.run_numbers}: {miss.said}. Cause: {miss.cause}" in text
        for line in (miss.reply or "").split("\n"):
            assert line in text


def test_what_was_not_tested_is_said(tmp_path: Path) -> None:
    answers = {("leap-year", LOW): ["366"], ("minutes", LOW): ["210"], ("capital", LOW): ["Paname"]}
    store = store_round(tmp_path, answers=answers, verdicts={}, repeats=1)
    said = make_sheet(open_round(store.path, suite=SUITE)).untested
    assert said[:3] == (
        "One run of each question: untested for variance.",
        "arithmetic: the only setting asked has full marks: too easy to separate, enough for this kind of work.",
        "claude-haiku-5-5 low: 2 of 5 runs not asked or left out.",
    )
    assert "1 run below full marks not read yet, or waiting for what the verdict asks for." in said


def test_a_setting_without_an_answer_was_not_reached(tmp_path: Path) -> None:
    never = Setting(model="never")
    store = store_round(tmp_path, answers={("capital", LOW): ["Paris", "Paris"], ("capital", never): []}, verdicts={})
    said = make_sheet(open_round(store.path, suite=SUITE)).untested
    assert "never default was not reached: 0 of 10 runs have a fair answer." in said


def test_an_unknown_price_is_said_and_not_counted_as_nothing(tmp_path: Path) -> None:
    store = store_round(tmp_path, price=None)
    text = note_text(make_sheet(open_round(store.path, suite=SUITE)))
    assert "| `claude-haiku-5-5` | unknown | unknown | nobody says |" in text
    assert "claude-haiku-5-5 has no known price: its cost is unknown, not nothing." in text


def test_an_unedited_rule_is_said_to_be_unchanged(tmp_path: Path) -> None:
    assert "and not changed since." in note_text(make_sheet(opened(tmp_path, edits=())))


def test_a_rule_changed_in_the_file_itself_is_said_to_be_changed(tmp_path: Path) -> None:
    looser = SUITE.replaced(questions=(QUESTIONS[0].replaced(accept=("366", "365")), *QUESTIONS[1:]))
    made = make_sheet(open_round(store_round(tmp_path).path, suite=looser))
    assert made.rule_said == "rule of 30 Nov 2026, changed in the file since"
    text = note_text(made)
    now = f"Changed since; these grades are by fingerprint {looser.rule_digest}:"
    assert f"{now}\n\n- In the suite's file itself, so that nothing says when or why: `leap-year`" in text
    assert "In the suite's file itself" in page(made)


def test_each_rule_is_named_with_its_number_of_questions() -> None:
    assert rules_sentence(QUESTIONS[2:4]) == (
        "A reply passes when the whole reply equals an accepted answer (case does not matter)."
    )
    assert "(1 question)" in rules_sentence(QUESTIONS)
    assert rules_sentence([Question(id="x")]) == "Nothing decides."


# --- what a person writes is kept


def test_what_a_person_wrote_between_the_marks_is_kept_to_the_letter(tmp_path: Path) -> None:
    found = opened(tmp_path)
    made = make_sheet(found)
    assert write_note(found.store, made) == ""
    path = found.store.path / "note.md"
    words = "We *move*\n\n```\nunbalanced fence\n  # heading  \n"
    before = path.read_text(encoding="utf-8")
    default = "*What is decided, and why. These lines are kept when the note is written again.*"
    path.write_text(before.replace(default, words), encoding="utf-8")
    assert write_note(found.store, made) == ""
    assert path.read_text(encoding="utf-8") == before.replace(default, words)
    assert not list(found.store.path.glob("note-before-*"))


def test_a_decision_is_what_a_person_wrote_and_nothing_before(tmp_path: Path) -> None:
    found = opened(tmp_path)
    assert decision(found.store) == ""
    write_note(found.store, make_sheet(found))
    assert decision(found.store) == ""
    text = note_text(make_sheet(found), {"decision": "Facts move to haiku."})
    found.store.write_file("note.md", text.encode())
    assert decision(found.store) == "Facts move to haiku."


@settings(max_examples=100, deadline=None)
@given(words=st.text(st.characters(exclude_categories=["Cs"])))
def test_any_words_between_the_marks_come_back(words: str) -> None:
    assume("<!-- /yours -->" not in words)
    kept = read_kept(note_text(fixed(), {"decision": words}))
    assert kept.words["decision"] == words
    assert not kept.touched


@lru_cache
def fixed() -> Sheet:
    with TemporaryDirectory() as folder:
        return sheet(Path(folder))


def test_a_place_of_the_persons_own_is_kept_as_well(tmp_path: Path) -> None:
    found = opened(tmp_path)
    made = make_sheet(found)
    text = note_text(made)
    found.store.write_file("note.md", f"{text}<!-- yours: to do -->\nask Eva\n<!-- /yours -->\n".encode())
    write_note(found.store, made)
    written = read_note(found.store) or ""
    assert "## To do\n\n<!-- yours: to do -->\nask Eva\n<!-- /yours -->" in written
    assert note_faults(written, made) == ()


def test_words_outside_of_the_marks_are_not_lost(tmp_path: Path) -> None:
    found = opened(tmp_path)
    made = make_sheet(found)
    write_note(found.store, made)
    path = found.store.path / "note.md"
    changed = path.read_text(encoding="utf-8").replace("# Short answers", "# My own title")
    path.write_text(changed, encoding="utf-8")
    assert "note-before-1.md" in write_note(found.store, made)
    assert (found.store.path / "note-before-1.md").read_text(encoding="utf-8") == changed
    assert write_note(found.store, made) == ""


def test_a_mark_that_is_never_closed_stops_the_writing(tmp_path: Path) -> None:
    found = opened(tmp_path)
    text = "<!-- yours: decision -->\nall my words\n"
    found.store.write_file("note.md", text.encode())
    with pytest.raises(RoundError, match="never closed"):
        write_note(found.store, make_sheet(found))
    assert read_note(found.store) == text


def test_a_note_that_is_no_text_stops_the_writing(tmp_path: Path) -> None:
    found = opened(tmp_path)
    found.store.write_file("note.md", b"\xff\xfe")
    with pytest.raises(RoundError, match="cannot be read"):
        write_note(found.store, make_sheet(found))


def test_line_ends_of_another_editor_are_no_change(tmp_path: Path) -> None:
    made = sheet(tmp_path)
    text = note_text(made).replace("\n", "\r\n")
    assert not read_kept(text).touched
    assert note_faults(text, made) == ()


def test_a_reply_cannot_pose_as_what_a_person_wrote(tmp_path: Path) -> None:
    text = note_text(sheet(tmp_path))
    assert FENCE_BREAKER.split("\n")[3] in text
    kept = read_kept(text)
    assert "stolen" not in "".join(kept.words.values())
    assert set(kept.words) == {"decision", "remarks"}


# --- every figure can be worked out again


def test_a_fresh_note_follows_from_the_replies(tmp_path: Path) -> None:
    found = opened(tmp_path)
    afresh = found.keeper.grade(found.suite, found.plan, afresh=True)
    assert note_faults(note_text(make_sheet(found)), make_sheet(replace(found, graded=afresh))) == ()


@pytest.mark.parametrize(("true", "false"), [("66.7%", "76.7%"), ("$0.00160", "$0.00060"), ("18 of 20", "20 of 20")])
def test_a_changed_figure_is_found(tmp_path: Path, true: str, false: str) -> None:
    made = sheet(tmp_path)
    text = note_text(made)
    assert true in text
    faults = note_faults(text.replace(true, false, 1), made)
    assert len(faults) == 1
    assert false in faults[0]


def test_a_left_out_line_is_found(tmp_path: Path) -> None:
    made = sheet(tmp_path)
    lines = note_text(made).split("\n")
    left = [line for line in lines if not line.startswith("- Round: ")]
    assert len(left) == len(lines) - 1
    assert note_faults("\n".join(left), made)


def test_another_reply_on_disk_is_found(tmp_path: Path) -> None:
    found = opened(tmp_path)
    text = note_text(make_sheet(found))
    file = next(found.store.results.glob("leap-year__*haiku*__r2.json"))
    file.write_text(file.read_text().replace('"text":"366"', '"text":"364"'))
    changed = open_round(found.store.path, suite=found.suite)
    assert note_faults(text, make_sheet(changed))


# --- foreign text


@pytest.mark.parametrize("text", PAGE_ATTACKS)
def test_a_fence_is_longer_than_any_run_of_backticks_within(text: str) -> None:
    lines = fenced(text, "  ", 2_000)
    fence = lines[0].removeprefix("  ").removesuffix("text")
    assert set(fence) == {"`"}
    assert all(fence not in line for line in lines[1:-1])
    assert lines[-1] == f"  {fence}"
    assert "\n".join(line.removeprefix("  ") for line in lines[1:-1]) == printable(text, invisible=True)
    assert not any(line and not line.startswith("  ") for line in lines)


@pytest.mark.parametrize("text", PAGE_ATTACKS)
def test_code_ends_where_it_should(text: str) -> None:
    shown = code(text)
    if shown in ("(empty)", "(blank)"):
        return
    ticks = re.match("`+", shown)
    assert ticks is not None
    assert "\n" not in shown
    assert ticks[0] not in shown[len(ticks[0]) : -len(ticks[0])].replace("`" * (len(ticks[0]) + 1), "")


def test_signs_of_markdown_among_our_words_are_read_as_letters() -> None:
    assert inline("<b> *x* [a](http://e) `c` | #") == r"\<b\> \*x\* \[a\](http\://e) \`c\` | \#"
    assert inline("www.evil.example a@b") == r"www\.evil.example a\@b"
    assert inline("two\nlines") == "two↵lines"


def test_no_hostile_reply_starts_a_line_of_its_own(tmp_path: Path) -> None:
    replies = hostile_replies()
    suite = SUITE.replaced(
        # A suite file holds no half surrogates, a reply may.
        questions=tuple(
            Question(id=f"q{at}", prompt=text.encode(errors="replace").decode(), accept=("no",))
            for at, text in enumerate(replies)
        ),
        title="<script> *x* |",
    )
    answers = {(f"q{at}", LOW): [text] for at, text in enumerate(replies)}
    store = store_round(tmp_path, suite, answers, {}, repeats=1)
    text = note_text(make_sheet(open_round(store.path, suite=suite)))
    ours = re.compile(
        r"(#{1,3} |[-|] |<!-- |Accepted: |Asked|Full marks|Cost and|What may|US doll|\*|The rule|A reply|\d+ runs)"
    )
    for line in text.split("\n"):
        assert not line or line.startswith(" ") or ours.match(line), line
    assert set(read_kept(text).words) == {"decision", "remarks"}
    assert not read_kept(text).touched
    assert text.isprintable() or all(c == "\n" or c.isprintable() for c in text if ord(c) < 0xA0)


def test_the_edit_of_the_fixed_round_is_after_its_rule(tmp_path: Path) -> None:
    assert sheet(tmp_path).edits == (EDIT,)
