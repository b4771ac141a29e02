from __future__ import annotations

from datetime import timedelta

import pytest
from round_kit import ENDPOINT, START, A, B, make_round_plan, make_suite, record, reply, right

from resit.core.records import Fault, Reply, Setting, run_key
from resit.core.rounds.plan import Held, build_request, held, make_plan, since_said
from resit.core.suite import Edit, Question, Suite, Variant


def all_held(suite: Suite, settings: tuple[Setting, ...] = (A,), runs: int = 1) -> dict[str, Held]:
    found = {}
    for question in suite.questions:
        for setting in settings:
            for run in range(1, runs + 1):
                request = build_request(suite, question, setting, ENDPOINT)
                found[run_key(question.id, setting, run)] = held(
                    record(request, right(request), question=question.id, setting=setting, run=run)
                )
    return found


def one_held(suite: Suite, answer: Reply | Fault) -> dict[str, Held]:
    request = build_request(suite, suite.questions[0], A, ENDPOINT)
    return {run_key("q1", A, 1): held(record(request, answer))}


def test_a_new_round_owes_everything_as_new() -> None:
    plan = make_plan(make_suite(3), make_round_plan(make_suite(3), (A, B), repeats=2), {})
    assert (plan.planned, len(plan.jobs), plan.done) == (12, 12, ())
    assert plan.reasons == {"new": 12}
    assert plan.said == "0 of 12 done, 12 to do (12 new)"


def test_the_order_of_asking_takes_the_settings_in_turn_and_finishes_a_repeat_before_the_next() -> None:
    suite = make_suite(2)
    plan = make_plan(suite, make_round_plan(suite, (A, B), repeats=2), {})
    order = [(job.run, job.question.id, job.setting.model) for job in plan.jobs]
    assert order == [
        (1, "q1", "model-a"), (1, "q1", "model-b"), (1, "q2", "model-a"), (1, "q2", "model-b"),
        (2, "q1", "model-a"), (2, "q1", "model-b"), (2, "q2", "model-a"), (2, "q2", "model-b"),
    ]  # fmt: skip
    assert [job.index for job in plan.jobs] == list(range(8))


def test_a_usable_reply_to_the_same_request_is_not_asked_again() -> None:
    suite = make_suite(3)
    plan = make_plan(suite, make_round_plan(suite), all_held(suite))
    assert plan.jobs == ()
    assert len(plan.done) == plan.planned == 3


def test_a_changed_prompt_makes_the_replies_of_that_question_stale_and_no_others() -> None:
    suite = make_suite(3)
    changed = suite.questions[1].replaced(prompt="22+22?")
    later = suite.replaced(questions=(suite.questions[0], changed, suite.questions[2]))
    plan = make_plan(later, make_round_plan(later), all_held(suite))
    assert [(job.question.id, job.reason) for job in plan.jobs] == [("q2", "prompt changed")]


def test_a_changed_instruction_makes_every_reply_stale() -> None:
    later = make_suite(2, instruction="Be brief.")
    assert make_plan(later, make_round_plan(later), all_held(make_suite(2))).reasons == {"prompt changed": 2}


def test_a_changed_limit_or_endpoint_is_a_changed_setting() -> None:
    suite = make_suite(2)
    longer = make_suite(2, max_tokens=51)
    assert make_plan(longer, make_round_plan(longer), all_held(suite)).reasons == {"setting changed": 2}
    moved = make_round_plan(suite)
    elsewhere = moved.settings[0].model_copy(update={"endpoint": "http://127.0.0.1:2"})
    moved = moved.model_copy(update={"settings": (elsewhere,)})
    assert make_plan(suite, moved, all_held(suite)).reasons == {"setting changed": 2}


def test_a_changed_rule_or_accepted_answer_owes_nothing() -> None:
    suite = make_suite(2)
    other = suite.questions[0].replaced(accept=("two",), weight=3.0)
    later = suite.replaced(questions=(other, suite.questions[1]))
    assert make_plan(later, make_round_plan(later), all_held(suite)).jobs == ()


@pytest.mark.parametrize(
    "answer",
    [
        reply(""),
        reply("\u200b \n"),
        reply("half", stop="cut_off"),
        reply("I cannot", stop="refused"),
        reply("", stop="blocked"),
        reply("2", stop="context_full"),
        Fault(kind="limit", said="slow down"),
        Fault(kind="timeout", said="too long"),
        Fault(kind="server", said="failed"),
    ],
)
def test_an_outcome_that_is_no_fair_answer_is_owed_again(answer: Reply | Fault) -> None:
    suite = make_suite(1)
    plan = make_plan(suite, make_round_plan(suite), one_held(suite, answer))
    assert plan.reasons == {"last outcome unusable": 1}


def test_a_verdict_settles_a_run_without_a_fair_answer() -> None:
    suite = make_suite(1)
    stored = one_held(suite, reply("", stop="refused"))
    plan = make_plan(suite, make_round_plan(suite), stored, settled=[run_key("q1", A, 1)])
    assert plan.jobs == ()


def test_raising_repeats_from_one_to_three_makes_exactly_two_new_jobs_per_question_and_setting() -> None:
    suite = make_suite(4)
    raised = make_round_plan(suite, (A, B), repeats=3, first_repeats=1)
    plan = make_plan(suite, raised, all_held(suite, (A, B)))
    assert plan.reasons == {"repeat added": 16}
    assert {job.run for job in plan.jobs} == {2, 3}


def test_one_more_setting_asks_only_that_setting() -> None:
    suite = make_suite(4)
    plan = make_plan(suite, make_round_plan(suite, (A, B)), all_held(suite, (A,)))
    assert {job.setting for job in plan.jobs} == {B}
    assert plan.reasons == {"new": 4}


def test_a_damaged_file_is_named_as_the_reason() -> None:
    suite = make_suite(2)
    stored = all_held(suite)
    del stored[run_key("q2", A, 1)]
    plan = make_plan(suite, make_round_plan(suite), stored, damaged=[run_key("q2", A, 1)])
    assert [(job.question.id, job.reason) for job in plan.jobs] == [("q2", "damaged file")]


def test_a_run_can_be_asked_again_by_name_and_good_replies_beside_it_stay() -> None:
    suite = make_suite(3)
    plan = make_plan(suite, make_round_plan(suite), all_held(suite), again=[run_key("q3", A, 1)])
    assert [(job.question.id, job.reason) for job in plan.jobs] == [("q3", "asked again")]


def test_only_names_questions_by_id_or_kind_and_drafts_are_never_asked() -> None:
    questions = (
        Question(id="a", kind="sums", prompt="1+1?", accept=("2",)),
        Question(id="b", kind="words", prompt="?", accept=("x",)),
        Question(id="c", kind="words", prompt="??", accept=("x",), draft=True),
    )
    suite = make_suite(1, questions=questions)
    assert [job.question.id for job in make_plan(suite, make_round_plan(suite, only=("a",)), {}).jobs] == ["a"]
    assert [job.question.id for job in make_plan(suite, make_round_plan(suite, only=("words",)), {}).jobs] == ["b"]
    assert len(make_plan(suite, make_round_plan(suite), {}).jobs) == 2


def test_a_request_holds_nothing_of_what_is_accepted() -> None:
    question = Question(id="q", prompt="Capital of France?", accept=("Paris-secret",), reference="Paris-secret")
    suite = make_suite(1, questions=(question,))
    assert "secret" not in repr(build_request(suite, question, A, ENDPOINT))


def test_limits_and_system_come_from_the_variant_then_the_question_then_the_suite() -> None:
    question = Question(id="q", prompt="?", accept=("x",), system="own", max_tokens=7)
    suite = make_suite(1, questions=(question,), variants={"v": Variant(system="variant")})
    plain = build_request(suite, question, A, ENDPOINT)
    assert (plain.system, plain.max_tokens) == ("own", 7)
    varied = build_request(suite, question, A.model_copy(update={"variant": "v"}), ENDPOINT)
    assert varied.system == "variant"
    assert varied.digest() != plain.digest()


def test_a_rule_changed_after_the_round_wrote_it_down_is_said_with_and_without_edits() -> None:
    suite = make_suite(2)
    plan = make_round_plan(suite)
    assert since_said(plan, suite) == ""
    first, second = suite.questions
    changed = Question(id="q1", prompt=first.prompt, accept=("2", "two"))
    by_hand = make_suite(2, questions=(changed, second))
    assert since_said(plan, by_hand) == "changed in the file since"
    edit = Edit(at=START + timedelta(days=1), question="q1", what="accept", accept="two")
    assert since_said(plan, by_hand.replaced(edits=(edit,))) == "1 edit since"
