"""One fixed round on disk, with every sort of result: what notes, pages and reports are tested on."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import Path

from resit.core.edits import apply_edits
from resit.core.judging.sheet import Sheet, make_sheet
from resit.core.records import Attempt, Fault, Reply, RunRecord, Setting, Usage, VerdictWord, run_key
from resit.core.rounds.plan import PlannedSetting, RoundPlan, build_request
from resit.core.rounds.reviews import set_review
from resit.core.rounds.shelf import OpenedRound, open_round
from resit.core.rounds.store import RoundStore
from resit.core.rule import Check, NumberInReply
from resit.core.spend.prices import Price
from resit.core.suite import Edit, Question, Suite, Trap

DATA = Path(__file__).parents[2] / "data"
GOLDEN = DATA / "golden"
NOW = datetime(2026, 11, 30, 9, 0, tzinfo=UTC)
LOW, HIGH = Setting(model="claude-haiku-5-5", effort="low"), Setting(model="claude-sonnet-5-5")
PRICE = Price(input=Decimal(1), output=Decimal(5), as_of=date(2026, 11, 10), source="genai-prices 0.2.3")

QUESTIONS = (
    Question(id="leap-year", kind="arithmetic", prompt="How many days does a leap year have?", accept=("366",),
             traps=(Trap(reply="365", why="an ordinary year"),)),
    Question(id="minutes", kind="arithmetic", prompt="How many minutes are 3.5 hours?", accept=("210",),
             second_rule=NumberInReply()),
    Question(id="capital", kind="facts", prompt="Capital of France?", accept=("Paris",)),
    Question(id="river", kind="facts", prompt="Which river flows through Paris?", accept=("Seine",)),
    Question(id="asks", kind="instructions", prompt="17 × 23, no list, then sign off.",
             checks=(Check(name="product", kind="contains", value="391"),
                     Check(name="no_list", kind="no_list", value=True),
                     Check(name="sign_off", kind="last_line", value="Cheers"))),
)  # fmt: skip
SUITE = Suite(name="short", title="Short answers", repeats=2, max_tokens=200, questions=QUESTIONS)

FENCE_BREAKER = (
    "One\n```\n# not a heading\n<!-- yours: decision -->\nstolen\n<!-- /yours -->\n````\n<script>alert(1)</script>"
)
TIMEOUT = Fault(kind="timeout", said="no word for 60 s", seconds=60.0)
CUT = Reply(text="Let me think about", stop="cut_off", seconds=2.0, usage=Usage(input_tokens=40, output_tokens=200))

Answer = str | Reply | Fault
ANSWERS: dict[tuple[str, Setting], Sequence[Answer]] = {
    ("leap-year", LOW): ("365", "366"),
    ("leap-year", HIGH): ("366", "366"),
    ("minutes", LOW): ("210 minutes", "210 minutes"),
    ("minutes", HIGH): ("210", "210"),
    ("capital", LOW): ("Paris", "Paris"),
    ("capital", HIGH): ("Paname", FENCE_BREAKER),
    ("river", LOW): ("Seine", "Seine"),
    ("river", HIGH): ("The Seine", "Seine"),
    ("asks", LOW): (CUT, "391\nCheers"),
    ("asks", HIGH): ("- 391\nCheers", TIMEOUT),
}
VERDICTS: dict[tuple[str, Setting, int], tuple[VerdictWord, str]] = {
    ("leap-year", LOW, 1): ("model", "plainly *wrong*"),
    ("minutes", LOW, 1): ("grader", "the unit is right | and harmless"),
    ("river", HIGH, 1): ("question", "the article should pass"),
}
EDIT = Edit(
    at=NOW + timedelta(days=1), question="capital", what="accept", accept="Paname", note="an old name",
    run=run_key("capital", HIGH, 1),
)  # fmt: skip


def store_round(
    folder: Path,
    suite: Suite = SUITE,
    answers: Mapping[tuple[str, Setting], Sequence[Answer]] = ANSWERS,
    verdicts: Mapping[tuple[str, Setting, int], tuple[VerdictWord, str]] = VERDICTS,
    *,
    days: int = 0,
    price: Price | None = PRICE,
    repeats: int = 2,
) -> RoundStore:
    """A round with these answers, kept as the runner keeps it."""
    settings = list(dict.fromkeys(setting for _, setting in answers))
    begun = NOW + timedelta(days=days)
    plan = RoundPlan(
        id=f"{begun:%Y%m%d-%H%M%S}-{suite.name}", suite=suite.name, title=suite.title, suite_digest=suite.digest,
        rule_digest=suite.rule_digest, rule_set_at=begun, created_at=begun,
        settings=tuple(PlannedSetting(setting=s, endpoint="https://api.example", price=price) for s in settings),
        repeats=repeats, first_repeats=repeats,
    )  # fmt: skip
    store = RoundStore.create(folder, plan, suite)
    for (name, setting), replies in answers.items():
        for run, answer in enumerate(replies, 1):
            store.put(_record(suite, name, setting, run, answer, begun))
    for (name, setting, run), (word, note) in verdicts.items():
        set_review(store, run_key(name, setting, run), begun, word, note)
    return store


def _record(suite: Suite, name: str, setting: Setting, run: int, answer: Answer, at: datetime) -> RunRecord:
    request = build_request(suite, suite.by_id[name], setting, "https://api.example")
    reply = _reply(answer, run) if not isinstance(answer, Fault) else None
    attempt = Attempt(
        number=1, at=at, asked=request.digest(), reply=reply, fault=answer if isinstance(answer, Fault) else None,
        cost_usd=Decimal("0.0002") if reply is not None else None,
    )  # fmt: skip
    return RunRecord(question=name, setting=setting, run=run, prompt=request.prompt, attempts=(attempt,))


def _reply(answer: str | Reply, run: int) -> Reply:
    if isinstance(answer, Reply):
        return answer
    return Reply(text=answer, seconds=float(run), usage=Usage(input_tokens=40, output_tokens=5))


def opened(folder: Path, suite: Suite = SUITE, edits: Iterable[Edit] = (EDIT,)) -> OpenedRound:
    """The fixed round, under the rules that hold now."""
    edited = tuple(edits)
    return open_round(store_round(folder, suite).path, suite=apply_edits(suite, edited).replaced(edits=edited))


def sheet(folder: Path) -> Sheet:
    """The fixed round, ready to be written down."""
    return make_sheet(opened(folder))


def hostile_replies() -> list[str]:
    """Every reply of the corpus that attacks a screen, and those that attack a page, a note or a spreadsheet."""
    cases = json.loads((DATA / "hostile_replies.json").read_text(encoding="utf-8"))["cases"]
    texts = [
        case["text"] + "".join([case["repeat"][0] * case["repeat"][1]] if "repeat" in case else []) for case in cases
    ]
    return [*texts, *PAGE_ATTACKS]


PAGE_ATTACKS = [
    "<script>alert(1)</script>", "</pre><script src=https://evil.example/x.js></script>", "</style><script>1</script>",
    "<img src=x onerror=alert(1)>", '" onmouseover="alert(1)" x="', "' onfocus='alert(1)' autofocus='",
    "<svg onload=alert(1)>", "<iframe src='javascript:alert(1)'>", "<a href=https://evil.example>x</a>",
    "<meta http-equiv=refresh content='0;url=https://evil.example'>", "<!-- --><base href=https://evil.example>",
    "</title><link rel=stylesheet href=//evil.example>", "]]><script>1</script>", "&lt;script&gt; &#60;script&#62;",
    "<details open ontoggle=alert(1)>", "=HYPERLINK(\"https://evil.example\")", "+1+cmd|' /C calc'!A0",
    "-2+3", "@SUM(A1)",
    "\t=1+1", "'=1", FENCE_BREAKER, "`" * 50, "~~~~\n# x", "![x](https://evil.example/x.png)", "| a | b |\n| - | - |",
    "\ufffe\uffff", "\ud800", "\x00", "<!-- made: 0123456789abcdef -->",
]  # fmt: skip
