"""`resit logs prompt`, `ask` and `audit`: nothing leaves the machine without a yes, and what would leave is shown."""

from __future__ import annotations

import json
import socket
from pathlib import Path

import pytest

from mock_server import MockServer, serve_in_thread
from resit.cli import main
from resit.core.logs.draft_files import DraftBook, load_book, save_book
from resit.core.logs.drafts import Draft
from resit.core.spend.ledger import Ledger

LOGS = Path(__file__).parents[1] / "data" / "logs"
DRAFT = Draft(id="total", kind="reading", prompt="Net 100 for [email 1]. Total?", source="s", said="It is 119.")
GOOD = {"prompt": "Net 100, VAT 19. Total?", "about": "Totals", "rule": "numeric", "trap": "100", "why": "net"}


@pytest.fixture
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    """Any attempt to reach anything fails the test."""

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("the network was used")

    for name in ("socket", "create_connection", "getaddrinfo", "gethostbyname", "getfqdn"):
        monkeypatch.setattr(socket, name, refuse)


@pytest.fixture
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "not-a-real-key-0123456789")


@pytest.fixture
def book() -> str:
    return save_book(DraftBook(title="Bills", drafts=(DRAFT,))).book.name


@pytest.mark.usefixtures("no_network", "key")
@pytest.mark.parametrize(
    "argv",
    [["logs", str(LOGS)], ["logs", "prompt"], ["logs", "audit", str(LOGS)], ["logs", "ask", "bills", "-m", "haiku"]],
    ids=lambda argv: " ".join(argv[:2]),
)
def test_nothing_of_the_logs_touches_the_network_without_a_yes(argv: list[str], book: str) -> None:
    assert book == "bills"
    assert main(argv) == 0


@pytest.mark.usefixtures("key")
def test_what_would_be_sent_is_shown_with_its_cost_and_nothing_is_sent_without_a_yes(
    book: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with serve_in_thread(MockServer()) as server:
        assert main(["logs", "ask", book, "-m", "haiku@low", "--base-url", server.url]) == 0
        assert server.stats.requests == 0
    out, err = capsys.readouterr()
    assert "Net 100 for [email 1]. Total?" in out
    assert "Do not give the right answer" in out
    assert "cost     at most $0.0" in out
    assert f"to       claude-haiku-5-5 low at {server.url} (from --base-url), 1 call" in out
    assert "nothing was sent: --yes sends it" in err


@pytest.mark.usefixtures("key")
def test_with_a_yes_what_comes_back_is_kept_as_proposed(book: str, capsys: pytest.CaptureFixture[str]) -> None:
    prompt = "<request>\nNet 100 for [email 1]. Total?\n</request>\n\n<said_then>\nIt is 119.\n</said_then>"
    with serve_in_thread(MockServer(answers={prompt: json.dumps(GOOD)})) as server:
        assert main(["logs", "ask", book, "-m", "haiku@low", "--base-url", server.url, "--yes"]) == 0
        assert server.stats.requests == 1
    assert "total: proposed prompt, about, rule, trap ($0.0" in capsys.readouterr().err
    (draft,) = load_book(book).drafts
    assert draft.proposed is not None
    assert draft.proposed.trap == "100"
    assert draft.prompt == DRAFT.prompt
    assert len(Ledger().read().entries) == 1
    assert main(["check", f"{draft_path(book)}"]) == 0


def draft_path(name: str) -> Path:
    from resit.core.logs.draft_files import suites_folder

    return suites_folder() / f"{name}.toml"


@pytest.mark.usefixtures("key")
def test_a_reply_in_another_form_is_one_line_and_the_draft_stays(book: str, capsys: pytest.CaptureFixture[str]) -> None:
    with serve_in_thread(MockServer()) as server:
        assert main(["logs", "ask", book, "-m", "haiku", "--base-url", server.url, "--yes"]) == 4
    err = capsys.readouterr().err
    assert "total: the reply of claude-haiku-5-5 default is not the JSON that was asked for" in err
    assert load_book(book).drafts == (DRAFT,)


@pytest.mark.usefixtures("key")
def test_requests_named_by_their_keys_are_drafted_and_shown(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from resit.core.logs.scan import scan

    index = scan([LOGS])
    monkeypatch.setattr("resit.plain.logs_ask.scan", lambda: index)
    assert main(["logs", "ask", index.requests[0].key, index.requests[1].key, "-m", "haiku"]) == 0
    out = capsys.readouterr().out
    assert "2 of 2" in out
    assert main(["logs", "ask", "f" * 16, "-m", "haiku"]) == 2


def test_a_name_without_drafts_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["logs", "ask", "nothing", "-m", "haiku"]) == 2
    assert len(capsys.readouterr().err.splitlines()) == 1


def test_the_prompt_is_printed_alone(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["logs", "prompt"]) == 0
    out, err = capsys.readouterr()
    assert "```toml" in out
    assert err == ""


def test_the_audit_says_what_was_used_and_that_no_exam_covers_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["logs", "audit", str(LOGS)]) == 0
    out = capsys.readouterr().out
    assert "haiku-5-5 at low (1 time); no exam of this kind yet" in out
    assert main(["logs", "audit", str(LOGS), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["rounds"] == []
    assert {"kind", "count", "said", "exam", "use", "saves", "settings"} == set(found["kinds"][0])
