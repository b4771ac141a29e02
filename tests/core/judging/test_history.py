from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from pathlib import Path

from sheet_kit import HIGH, LOW, QUESTIONS, SUITE, store_round

from resit.core.judging.history import Break, History, make_history
from resit.core.records import Setting
from resit.core.rounds.shelf import OpenedRound, open_round
from resit.core.suite import Suite

RIGHT = {"leap-year": "366", "minutes": "210", "capital": "Paris", "river": "Seine"}
THREE = SUITE.replaced(questions=QUESTIONS[:4])
Marks = Mapping[str, Mapping[Setting, str]]
"""By question and setting, a letter a run: `1` right, `0` wrong."""


def asked(folder: Path, marks: Marks, *, days: int = 0, suite: Suite = THREE) -> OpenedRound:
    answers: dict[tuple[str, Setting], Sequence[str]] = {
        (name, setting): [RIGHT[name] if run == "1" else "no" for run in runs]
        for name, cells in marks.items()
        for setting, runs in cells.items()
    }
    only = suite.replaced(questions=tuple(q for q in suite.questions if q.id in marks))
    store = store_round(folder, only, answers, {}, days=days)
    return open_round(store.path, suite=only)


def history(folder: Path, *rounds: Marks) -> History:
    return make_history([asked(folder, marks, days=at) for at, marks in enumerate(rounds)])


def test_a_setting_over_time_is_told_oldest_first_with_score_and_cost(tmp_path: Path) -> None:
    first = {"leap-year": {LOW: "11"}, "capital": {LOW: "10"}}
    second = {"leap-year": {LOW: "11"}, "capital": {LOW: "11"}}
    rounds = [asked(tmp_path, second, days=1), asked(tmp_path, first)]
    found = make_history(rounds)
    assert found.rounds == ("20261130-090000-short", "20261201-090000-short")
    told = [(s.share, s.full, s.of, s.graded, s.planned) for s in found.of_setting(LOW.label)]
    assert told == [(0.5, 1, 2, 4, 4), (1.0, 2, 2, 4, 4)]
    assert {(s.cost_usd, s.cost_each_usd) for s in found.standings} == {(Decimal("0.0008"), Decimal("0.0004"))}
    assert found.settings == (LOW.label,)


def test_a_question_lost_in_every_run_after_a_round_that_had_it_broke(tmp_path: Path) -> None:
    found = history(
        tmp_path,
        {"leap-year": {LOW: "11"}, "capital": {LOW: "11"}},
        {"leap-year": {LOW: "00"}, "capital": {LOW: "10"}},
        {"leap-year": {LOW: "00"}, "capital": {LOW: "00"}},
    )
    assert found.breaks == (Break("leap-year", LOW.label, "20261130-090000-short", "20261201-090000-short"),)


def test_a_round_without_the_setting_hides_no_break(tmp_path: Path) -> None:
    found = history(tmp_path, {"capital": {LOW: "11"}}, {"capital": {HIGH: "11"}}, {"capital": {LOW: "00"}})
    assert [(b.before[:8], b.after[:8]) for b in found.breaks] == [("20261130", "20261202")]


def test_a_question_with_another_prompt_is_another_question(tmp_path: Path) -> None:
    reworded = THREE.replaced(questions=(QUESTIONS[2].replaced(prompt="France's capital?"),))
    rounds = [
        asked(tmp_path, {"capital": {LOW: "11", HIGH: "11"}}),
        asked(tmp_path, {"capital": {LOW: "00", HIGH: "00"}}, days=1, suite=reworded),
    ]
    found = make_history(rounds)
    assert found.breaks == ()
    assert (found.always_full, found.never_full) == ((), ("capital",))


def test_what_never_separates_anybody_is_too_easy_or_too_hard(tmp_path: Path) -> None:
    found = history(
        tmp_path,
        {
            "leap-year": {LOW: "11", HIGH: "11"},
            "minutes": {LOW: "00", HIGH: "00"},
            "capital": {LOW: "00", HIGH: "11"},
            "river": {LOW: "01", HIGH: "11"},
        },
    )
    assert found.always_full == ("leap-year",)
    assert found.never_full == ("minutes",)
    assert found.flapping == ("river",)


def test_one_setting_alone_separates_nobody_from_nobody(tmp_path: Path) -> None:
    found = history(tmp_path, {"leap-year": {LOW: "11"}})
    assert (found.always_full, found.never_full) == ((), ())


def test_a_later_miss_takes_a_question_off_the_easy_ones(tmp_path: Path) -> None:
    found = history(tmp_path, {"leap-year": {LOW: "11", HIGH: "11"}}, {"leap-year": {LOW: "11", HIGH: "01"}})
    assert found.always_full == ()
    assert found.flapping == ("leap-year",)


def test_no_round_is_no_history() -> None:
    found = make_history([])
    assert (found.rounds, found.standings, found.fates, found.stated) == ((), (), (), ())


def test_each_question_is_told_once_with_all_that_became_of_it(tmp_path: Path) -> None:
    found = history(
        tmp_path,
        {"leap-year": {LOW: "11", HIGH: "11"}, "minutes": {LOW: "00", HIGH: "00"}, "capital": {LOW: "11", HIGH: "11"}},
        {"leap-year": {LOW: "11", HIGH: "11"}, "minutes": {LOW: "00", HIGH: "00"}, "capital": {LOW: "00", HIGH: "01"}},
    )
    assert [(fate.question, fate.said) for fate in found.fates] == [
        ("capital", "broke once, flaps"),
        ("minutes", "too hard"),
        ("leap-year", "too easy"),
    ]
    assert found.stated == ()


def test_rounds_graded_by_two_rules_are_marked_mixed(tmp_path: Path) -> None:
    reworded = THREE.replaced(
        questions=(QUESTIONS[2].replaced(prompt="France's capital?", accept=("Paris", "Paname")),)
    )
    marks = {"capital": {LOW: "11"}}
    same = make_history([asked(tmp_path, marks), asked(tmp_path, marks, days=1)])
    assert (same.mixed, len({standing.rule for standing in same.standings})) == ((), 1)
    found = make_history([asked(tmp_path, marks, days=2), asked(tmp_path, marks, days=3, suite=reworded)])
    assert found.mixed == ("capital",)
    assert len({standing.rule for standing in found.standings}) == 2
    assert found.stated == ("mixed rules: 1 question graded in more than one way over the rounds (capital)",)


def test_rounds_of_other_questions_are_said_to_be_unequal(tmp_path: Path) -> None:
    found = history(tmp_path, {"capital": {LOW: "11"}}, {"capital": {LOW: "11"}, "leap-year": {LOW: "11"}})
    assert found.unequal
    assert "not every round counts the same questions" in found.stated[0]
