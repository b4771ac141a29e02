"""The planted marker: found where nothing hides it, not found where the jail holds, and void wherever it shows up."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from code_kit import code_suite
from jail_kit import REAL, skip_without

from resit.core.agents.areas import hidden_areas
from resit.core.agents.canary import Canary, Lookout, plant, readable_from
from resit.core.errors import ResitError
from resit.core.folders import digest_tree
from resit.core.paths import data_dir
from resit.core.records import AgentRun, Isolation, Reply, Step, Verified
from resit.core.suite import Suite


@pytest.fixture
def suite(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Suite:
    return code_suite(tmp_path / "suite", monkeypatch)


@pytest.fixture
def canary(suite: Suite) -> Iterator[Canary]:
    found = plant(suite)
    yield found
    found.remove()


@pytest.fixture(params=REAL)
def isolation(request: pytest.FixtureRequest) -> Isolation:
    skip_without(request.param)
    found: Isolation = request.param
    return found


def test_it_lies_beside_the_suite_and_in_resits_own_folder_and_is_new_each_time(suite: Suite, canary: Canary) -> None:
    assert suite.path is not None
    assert {file.parent for file in canary.files} == {suite.path.parent.resolve(), (data_dir() / "canary").resolve()}
    assert all(canary.marker in file.read_text() for file in canary.files)
    other = plant(suite)
    assert other.marker != canary.marker
    other.remove()


def test_nothing_of_it_is_left(suite: Suite) -> None:
    assert suite.path is not None
    before = sorted(suite.path.parent.rglob("*"))
    plant(suite).remove()
    assert sorted(suite.path.parent.rglob("*")) == before


def test_it_changes_no_fingerprint(suite: Suite) -> None:
    assert suite.path is not None
    before = digest_tree(suite.path.parent)
    canary = plant(suite)
    assert digest_tree(suite.path.parent) == before
    canary.remove()


def test_it_cannot_be_read_from_a_jail_that_hides_the_suite(suite: Suite, canary: Canary, isolation: Isolation) -> None:
    assert readable_from(canary, isolation, hidden_areas(suite)) == ""


def test_it_is_read_from_a_jail_that_forgot_to_hide_the_suite(suite: Suite, canary: Canary) -> None:
    skip_without("bubblewrap")
    # The suite lies among temporary files here, which are always hidden: a file that is always seen stands for it.
    seen = Canary(canary.marker, (Path("/etc/passwd"),), ())
    assert readable_from(seen, "bubblewrap", hidden_areas(suite)) == ""
    told = Canary(Path("/etc/passwd").read_text().splitlines()[0], seen.files, ())
    assert "could be read from inside the jail (bubblewrap)" in readable_from(told, "bubblewrap", hidden_areas(suite))


@pytest.mark.parametrize("level", ["none", "command's own rules"])
def test_without_a_jail_it_counts_as_read(suite: Suite, canary: Canary, level: Isolation) -> None:
    assert "nothing that keeps a command from reading" in readable_from(canary, level, hidden_areas(suite))


def test_a_jail_that_does_not_start_proves_nothing(
    suite: Suite, canary: Canary, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("resit.core.agents.bubblewrap.BASE", ("--no-such-option",))
    assert "could not be tried" in readable_from(canary, "bubblewrap", hidden_areas(suite))


def test_a_marker_that_can_be_planted_nowhere_is_an_error(suite: Suite, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object, **__: object) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_text", full)
    with pytest.raises(ResitError, match="no marker could be written"):
        plant(suite)


def reply(text: str = "", *, thinking: str = "", steps: tuple[Step, ...] = (), diff: str = "") -> Reply:
    agent = AgentRun(isolation="none", steps=steps, verified=Verified(diff=diff))
    return Reply(text=text, thinking=thinking, seconds=1.0, agent=agent)


def test_wherever_marker_or_path_show_up_the_key_was_seen(suite: Suite, canary: Canary) -> None:
    marker, path = canary.marker, str(suite.path)
    kept = str(Path(path).parent / "kept")
    seen = {
        "its reply": reply(f"the answer is {marker}"),
        "its thinking": reply("408", thinking=f"I found {path}"),
        "step 2": reply("408", steps=(Step(kind="text", text="hm"), Step(kind="result", text=f"x\n{kept}/tests\n"))),
        "its changes": reply("408", diff=f"+# {marker}"),
    }
    for where, found in seen.items():
        assert canary.seen_in(found).endswith(f", in {where}")
    assert canary.seen_in(reply("408", steps=(Step(kind="result", text="calc.py tests"),))) == ""
    assert canary.seen_in(Reply(text=f"see {path}", seconds=1.0)) == f"the path {path}, in its reply"


@pytest.mark.parametrize("size", [1, 7, 1000])
def test_it_is_noticed_in_what_is_printed_however_it_is_cut(suite: Suite, canary: Canary, size: int) -> None:
    for found in (canary.marker, str(suite.path)):
        text = "x" * 500 + found + "y" * 500
        lookout = Lookout(canary)
        for at in range(0, len(text), size):
            lookout.hear(text[at : at + size])
        assert lookout.seen.endswith("in what it printed")
    quiet = Lookout(canary)
    quiet.hear("calc.py tests")
    assert quiet.seen == ""
    Lookout(None).hear(canary.marker)
