"""What leaves a log holds no secret: a corpus of our own with none missed, and texts that need nothing taken out."""

from __future__ import annotations

import base64
import json
import random
import string
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from resit.core.logs.personal import Identity, this_machine
from resit.core.logs.redact import Redactor

DATA = Path(__file__).parents[2] / "data"
SOMEBODY = Identity(
    names=("mboehme", "Martin Böhme"),
    machines=("kestrel-07", "kestrel-07.lab.example"),
    homes=("/home/mboehme",),
    folders=("/srv/clients/acme-tax",),
)
NOBODY = Identity()
LETTERS = string.ascii_letters + string.digits


def lines(name: str) -> list[dict[str, object]]:
    return [json.loads(line) for line in (DATA / name).read_text(encoding="utf-8").splitlines()]


def redacted(text: str, identity: Identity = NOBODY) -> str:
    return Redactor(identity).redact(text).text()


PLANTED = lines("redaction.jsonl")
HARMLESS = lines("harmless.jsonl")


@pytest.mark.parametrize("case", PLANTED, ids=lambda case: case["id"])
def test_no_planted_secret_is_missed(case: dict[str, object]) -> None:
    text, secrets = str(case["text"]), case["secrets"]
    assert isinstance(secrets, list)
    assert all(secret in text for secret in secrets)
    shown = redacted(text, SOMEBODY)
    assert [secret for secret in secrets if secret in shown] == []


def test_the_corpus_is_large_enough_to_mean_something() -> None:
    kinds = {str(case["kind"]) for case in PLANTED}
    assert sum(len(case["secrets"]) for case in PLANTED if isinstance(case["secrets"], list)) >= 350
    assert kinds == {"key", "password", "email", "phone", "number", "ip", "name", "mixed"}


def test_harmless_text_stays_as_it_is_but_for_one_in_fifty() -> None:
    alarms = [case["id"] for case in HARMLESS if redacted(str(case["text"]), SOMEBODY) != case["text"]]
    assert len(HARMLESS) >= 150
    assert len(alarms) <= len(HARMLESS) // 50, alarms


def made(chance: random.Random, length: int, letters: str = LETTERS) -> str:
    return "".join(chance.choice(letters) for _ in range(length))


SHAPES: dict[str, Callable[[random.Random], str]] = {
    "anthropic": lambda c: f"sk-ant-api03-{made(c, 80, LETTERS + '_-')}AA",
    "openai": lambda c: f"sk-proj-{made(c, 48)}",
    "github": lambda c: f"ghp_{made(c, 36)}",
    "github-fine": lambda c: f"github_pat_{made(c, 22)}_{made(c, 59)}",
    "aws-id": lambda c: f"AKIA{made(c, 16, string.ascii_uppercase + '234567')}",
    "aws-secret": lambda c: base64.b64encode(c.randbytes(30)).decode(),
    "google": lambda c: f"AIza{made(c, 35, LETTERS + '_-')}",
    "slack": lambda c: f"xoxb-{made(c, 12, string.digits)}-{made(c, 13, string.digits)}-{made(c, 24)}",
    "jwt": lambda c: f"eyJhbGciOiJIUzI1NiJ9.{made(c, 60, LETTERS + '_-')}.{made(c, 43, LETTERS + '_-')}",
    "hex": lambda c: f"a1{made(c, 38, '0123456789abcdef')}",
    "base64": lambda c: base64.b64encode(c.randbytes(33)).decode(),
    "base62": lambda c: made(c, 32),
}
FRAMES = (
    "{}", "it says {} is wrong", "KEY={}\n", '{{"key": "{}", "n": 1}}', "f('{}')", "https://x.example/?token={}&n=1",
    "https://{}@git.example.org/x", "-H \"X-Api-Key: {}\"", "ключ: {}。", '\\"token\\":\\"{}\\"', "see {}\nand more",
)  # fmt: skip


@pytest.mark.parametrize("shape", SHAPES)
def test_a_fresh_key_of_every_shape_is_found_in_every_surrounding(shape: str) -> None:
    chance = random.Random(f"fresh {shape}")
    for _ in range(30):
        for frame in FRAMES:
            key = SHAPES[shape](chance)
            shown = redacted(frame.format(key))
            left = [key[at : at + 10] for at in range(len(key) - 9) if key[at : at + 10] in shown]
            assert left == [], (frame, key, shown)


def test_the_same_secret_gets_the_same_placeholder_in_every_text() -> None:
    redactor = Redactor(NOBODY)
    first = redactor.redact("ask ida@example.org, not bo@example.org")
    second = redactor.redact("BO@example.org and ida@example.org")
    assert first.text() == "ask [email 1], not [email 2]"
    assert second.text() == "[email 2] and [email 1]"


def test_a_redaction_says_where_it_stood_and_what_it_was() -> None:
    found = Redactor(NOBODY).redact("call +49 30 1234567 now").redactions
    assert [(r.kind, r.original, r.replacement, r.start, r.end) for r in found] == [
        ("phone", "+49 30 1234567", "[phone 1]", 5, 19)
    ]


def test_each_redaction_can_be_given_back_by_itself() -> None:
    text = "from ida@example.org to bo@example.org, password: hunter2"
    found = Redactor(NOBODY).redact(text)
    assert found.text({"bo@example.org"}) == "from [email 1] to bo@example.org, password: [password 1]"
    assert found.text({each.original for each in found.redactions}) == text


def test_a_home_folder_becomes_a_path_that_still_reads_like_one() -> None:
    shown = redacted("open /home/mboehme/proj/x.py or /Users/ida/x.py", SOMEBODY)
    assert shown == "open /home/user/proj/x.py or /home/user/x.py"


def test_a_folder_of_work_hides_whose_work_it_is_and_keeps_what_is_below_it() -> None:
    assert redacted("/srv/clients/acme-tax/src/a.py", SOMEBODY) == "[folder 1]/src/a.py"
    assert redacted("/home/mboehme/acme/a.py", SOMEBODY.within(["/home/mboehme/acme"])) == "[folder 1]/a.py"


def test_a_key_broken_over_lines_is_one_key_and_the_next_word_is_none_of_it() -> None:
    key = "sk-ant-api03-" + "aB3dE6gH9" * 6
    assert redacted(f"use {key[:40]}\n    {key[40:]} please") == "use [key 1] please"
    assert redacted(f"use {key}\nplease") == "use [key 1]\nplease"


def test_this_machine_is_asked_for_its_names_and_no_network_is(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home" / "zoe-q"))
    monkeypatch.setenv("LOGNAME", "zoe-q")
    monkeypatch.setattr("socket.gethostname", lambda: "heron-3.lab.example")
    monkeypatch.setattr("socket.getfqdn", lambda *_: pytest.fail("a name server was asked"))
    found = this_machine()
    assert "zoe-q" in found.names
    assert found.machines == ("heron-3.lab.example", "heron-3")
    assert redacted("zoe-q on heron-3", found) == "[name 1] on [machine 1]"


@given(st.text(max_size=400))
def test_any_text_comes_back_whole_when_everything_is_given_back(text: str) -> None:
    found = Redactor(SOMEBODY).redact(text)
    assert found.text({each.original for each in found.redactions}) == text
    assert all(a.end <= b.start for a, b in zip(found.redactions, found.redactions[1:], strict=False))


HOSTILE = {
    "one letter": "a", "spaces": " ", "key starts": "sk-", "token starts": "eyJ-", "at signs": "@a.",
    "pem": "-----BEGIN A-----",
    "assignments": "password=", "digits": "1", "digit groups": "1 ", "urls": "://a:", "lines": "a\n", "random": "Ab1_",
    "colons": "0a:", "options": "--token ", "homes": "/home/a", "words": "password a ", "wide": "ü@é.", "quotes": '"',
}  # fmt: skip


@pytest.mark.parametrize("piece", HOSTILE.values(), ids=HOSTILE)
def test_time_grows_with_the_length_of_a_hostile_text_and_no_faster(piece: str) -> None:
    def spent_s(characters: int) -> float:
        text = piece * (characters // len(piece))
        begun = time.process_time()
        Redactor(SOMEBODY).redact(text)
        return time.process_time() - begun

    spent_s(1_000)
    short = min(spent_s(60_000) for _ in range(2))
    # Eight times the text: eight times the time when it is linear, sixty-four when it is not.
    assert spent_s(480_000) < 24 * short + 0.2
