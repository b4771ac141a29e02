"""`resit demo` off a terminal: recorded replies of real models through the real runner."""

from __future__ import annotations

import re

import pytest

from resit.cli import main
from resit.core.calling.recorded_client import prompt_sha
from resit.core.rounds.plan import build_request
from resit.core.spend.ledger import Ledger
from resit.core.suite_file import load_suite
from resit.demo import demo_client, demo_label, demo_recording, demo_settings, demo_suite_path


def test_the_demo_needs_no_key_makes_no_call_and_spends_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["demo"]) == 0
    out = capsys.readouterr().out
    assert "recorded:demo" in out
    assert Ledger().read().entries == ()


def test_the_replies_are_labelled_as_recorded_with_model_date_and_settings() -> None:
    label = demo_label()
    assert label.startswith("recorded replies of ")
    for setting in demo_settings():
        assert setting.model in label
    assert re.search(r"\d+ \w{3} 20\d\d", label)
    assert "max_tokens 96" in label


def test_strict_and_second_rule_stand_side_by_side_with_misses_to_read(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["demo"]) == 0
    out = capsys.readouterr().out
    assert "second rule" in out
    assert re.search(r"^japan .* 0 \| 1", out, re.MULTILINE)
    assert "failed on wording alone" in out
    assert "fell into a trap" in out
    assert main(["show", "last", "--misses"]) == 0
    assert "reply, as received" in capsys.readouterr().out


def test_the_demo_plays_the_same_round_every_time(capsys: pytest.CaptureFixture[str]) -> None:
    tables = []
    for _ in range(2):
        assert main(["demo"]) == 0
        out = capsys.readouterr().out
        tables.append(out[out.index("question ") : out.index("every miss")])
    assert tables[0] == tables[1]


def test_every_question_of_the_suite_has_a_recorded_reply_of_every_setting() -> None:
    suite, recording, client = load_suite(demo_suite_path()), demo_recording(), demo_client()
    assert len(recording.settings) == 2
    known = {(reply.model, reply.prompt_sha) for reply in recording.replies}
    for question in suite.asked:
        for setting in recording.settings:
            request = build_request(suite, question, setting, client.endpoint)
            assert (setting.model, prompt_sha(request)) in known
