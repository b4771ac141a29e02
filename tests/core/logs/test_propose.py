"""Help from a model: what is sent is the redacted draft, and what comes back counts only once it is accepted."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from datetime import UTC, datetime
from decimal import Decimal

import pytest

from resit.core.calling.client import Listener
from resit.core.config import ModelsFile
from resit.core.errors import ResitError
from resit.core.logs.drafts import Draft, DraftFile, Proposal
from resit.core.logs.propose import Answered, accepted, ask_each, prepare_ask, read_proposal, turned_down
from resit.core.records import Fault, Reply, Request, Setting, Usage
from resit.core.spend.ledger import Ledger

NOW = datetime(2026, 11, 29, 12, tzinfo=UTC)
HAIKU = Setting(model="claude-haiku-5-5", effort="low")
GOOD = {"prompt": "Net 100, VAT 19. Total? A number.", "about": "Reading a\ntotal", "rule": "numeric", "trap": "100",
        "why": "the net sum"}  # fmt: skip
DRAFT = Draft(
    id="total", kind="reading", prompt="Net 100 for [email 1], total?", source="s", said="It is 119.",
    files=(DraftFile(name="a.txt", text="a,b"), DraftFile(name="b.txt", text="left", keep=False)),
)  # fmt: skip


@dataclass
class Scripted:
    """Answers in turn, and keeps what it was asked."""

    answers: list[Reply | Fault]
    asked: list[Request] = field(default_factory=list)

    async def ask(self, request: Request, listen: Listener | None = None) -> Reply | Fault:
        self.asked.append(request)
        return self.answers[len(self.asked) - 1]

    async def close(self) -> None: ...


def said(text: str) -> Reply:
    return Reply(text=text, seconds=1.0, usage=Usage(input_tokens=1000, output_tokens=100))


async def answered(drafts: list[Draft], *answers: Reply | Fault) -> tuple[list[Answered], Scripted]:
    client = Scripted(list(answers))
    prepared = prepare_ask(drafts, HAIKU, ModelsFile(), now=NOW)
    return [each async for each in ask_each(prepared, drafts, client, now=lambda: NOW)], client


def test_what_is_sent_is_known_before_and_holds_the_redacted_draft_and_nothing_else() -> None:
    prepared = prepare_ask([DRAFT], HAIKU, ModelsFile(), now=NOW)
    (call,) = prepared.calls
    assert "Net 100 for [email 1], total?" in call.prompt
    assert '<data name="a.txt">\na,b' in call.prompt
    assert "It is 119." in call.prompt
    assert "left" not in call.prompt
    assert "Do not give the right answer" in (call.system or "")
    assert prepared.endpoint.url == "https://api.anthropic.com"


def test_the_cost_is_known_before_at_its_worst_and_unknown_where_there_is_no_price() -> None:
    worst = prepare_ask([DRAFT, DRAFT], HAIKU, ModelsFile(), now=NOW).worst_usd
    assert worst is not None
    assert Decimal("0.003") < worst < Decimal("0.02")
    stranger = Setting(model="nobody/knows")
    assert prepare_ask([DRAFT], stranger, ModelsFile(), now=NOW).worst_usd is None


async def test_each_call_is_kept_in_the_ledger_with_its_cost() -> None:
    await answered([DRAFT], said(json.dumps(GOOD)))
    (entry,) = Ledger().read().entries
    assert (entry.suite, entry.question, entry.ended) == ("drafts", "total", "end")
    assert entry.cost_usd is not None
    assert entry.cost_usd > 0


async def test_what_comes_back_is_proposed_and_changes_nothing_of_the_draft() -> None:
    (answer,), _ = await answered([DRAFT], said(f"```json\n{json.dumps(GOOD)}\n```"))
    assert answer.problem == ""
    assert answer.draft.proposed is not None
    assert answer.draft.proposed.about == "Reading a total"
    assert answer.draft.proposed.parts == ("prompt", "about", "rule", "trap")
    assert answer.draft.replaced(proposed=None) == DRAFT
    assert not answer.draft.accept


async def test_a_fault_of_one_call_leaves_its_draft_and_the_rest_are_asked() -> None:
    answers, client = await answered(
        [DRAFT, DRAFT.replaced(id="b")],
        Fault(kind="overloaded", said="the server is overloaded"),
        said(json.dumps(GOOD)),
    )
    assert [each.problem for each in answers] == ["the server is overloaded", ""]
    assert answers[0].draft == DRAFT
    assert len(client.asked) == 2


@pytest.mark.parametrize(
    "text",
    [
        "", "Sure! Here it is:\n" + json.dumps(GOOD), json.dumps([GOOD]), json.dumps({**GOOD, "answer": "119"}),
        json.dumps({key: GOOD[key] for key in ("prompt", "rule")}), json.dumps({**GOOD, "rule": "magic"}),
        json.dumps({**GOOD, "trap": 100}), json.dumps({**GOOD, "why": None}), json.dumps(dict.fromkeys(GOOD, "")),
        json.dumps({**GOOD, "prompt": "x" * 40_001}), json.dumps(GOOD)[:-3], '{"prompt": NaN}', "[" * 100_000,
        json.dumps(GOOD)[:-1] + ', "why": "twice"}', "\x1b[2J" + json.dumps(GOOD),
    ],
)  # fmt: skip
async def test_a_reply_in_any_other_form_is_one_clear_line_and_proposes_nothing(text: str) -> None:
    (answer,), _ = await answered([DRAFT], said(text))
    assert answer.draft == DRAFT
    assert answer.problem
    assert "\n" not in answer.problem
    assert len(answer.problem) < 400
    with pytest.raises(ResitError):
        read_proposal(text, "m")


def test_each_part_is_accepted_or_turned_down_by_itself() -> None:
    proposal = Proposal(model="m", prompt="P", about="A", rule="numeric", trap="100", why="net")
    one = accepted(DRAFT.replaced(proposed=proposal, no_trap=True), "trap")
    assert (one.trap, one.why, one.no_trap) == ("100", "net", False)
    assert one.prompt == DRAFT.prompt
    assert one.proposed is not None
    assert one.proposed.parts == ("prompt", "about", "rule")
    two = turned_down(one, "prompt")
    assert two.prompt == DRAFT.prompt
    assert two.proposed is not None
    last = accepted(turned_down(two, "rule"), "about")
    assert (last.about, last.rule, last.proposed) == ("A", "exact", None)
    assert accepted(last, "prompt") == last
