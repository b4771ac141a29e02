"""A job as it travels to another machine, and what a worker does before and while it runs it."""

from __future__ import annotations

import asyncio
import pickle
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

import agent_kit as kit
from resit.core.agents import dask_client, parcel
from resit.core.agents.canary import Canary
from resit.core.agents.dask_client import CLOSED, Cluster, _refused, _while_wanted
from resit.core.agents.job import AgentJob, run_agent
from resit.core.agents.parcel import pack, unpack
from resit.core.agents.verify import CodeKey
from resit.core.errors import ResitError
from resit.core.folders import read_tree, tree_digest
from resit.core.records import Fault, Isolation, Reply


def job(program: Path, **more: Any) -> AgentJob:
    ground = kit.client(kit.entry(program))
    return ground.job(kit.request(**more))


async def test_a_job_of_a_workspace_is_done_where_its_folders_never_were(tmp_path: Path) -> None:
    suite, elsewhere = tmp_path / "suite", tmp_path / "elsewhere"
    (suite / "work" / "empty").mkdir(parents=True)
    (suite / "work" / "sum.py").write_text("def add(a, b): return a - b\n")
    (suite / "work" / "run.sh").write_text("true\n")
    (suite / "work" / "run.sh").chmod(0o755)
    (suite / "hidden").mkdir()
    (suite / "hidden" / "check.py").write_text("import sum; assert sum.add(1, 2) == 3\n")
    agent = kit.write_program(
        tmp_path, "agent", "open('sum.py', 'w').write('def add(a, b): return a + b\\n')\nprint(1)"
    )
    asked = job(agent, workspace=suite / "work", workspace_digest=tree_digest(read_tree(suite / "work")))
    key = CodeKey(protect=("run.sh",), hidden=suite / "hidden", verify=f"{sys.executable} -I -c 'pass'")
    sent = pickle.dumps(pack(AgentJob(asked.request, asked.command, key=key), "t", "p", unisolated=False))
    shutil.rmtree(suite)
    elsewhere.mkdir()
    found = unpack(pickle.loads(sent), elsewhere)
    assert found.request.digest() == asked.request.digest()
    assert elsewhere in found.hidden
    assert found.key is not None
    assert found.key.hidden is not None
    assert (found.key.hidden / "check.py").read_text().startswith("import sum")
    answer = await run_agent(AgentJob(found.request, found.command, key=found.key, isolation="none"))
    assert isinstance(answer, Reply), answer
    assert answer.agent is not None
    assert answer.agent.verified is not None
    assert "+def add(a, b): return a + b" in answer.agent.verified.diff


def test_a_folder_that_is_too_large_to_travel_is_refused_with_the_mend(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parcel, "MOST_BYTES", 3 << 20)
    for name in ("a", "b"):
        (tmp_path / name).write_bytes(b"x" * (2 << 20))
    with pytest.raises(ResitError, match=r"is larger than 3 MB: .*without --dask"):
        pack(job(Path("agent"), workspace=tmp_path), "t", "p", unisolated=False)


def test_a_link_that_leads_out_of_a_workspace_is_not_unpacked(tmp_path: Path) -> None:
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "link").symlink_to("/etc/passwd")
    sent = pack(job(Path("agent"), workspace=tmp_path / "work"), "t", "p", unisolated=False)
    with pytest.raises(ResitError, match="cannot be unpacked"):
        unpack(sent, tmp_path)


@pytest.mark.parametrize(
    ("isolation", "unisolated", "refused"), [("none", False, True), ("none", True, False), (kit.BEST, False, False)]
)
def test_a_worker_that_could_not_hide_the_answers_starts_no_agent_unless_a_person_says_so(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, isolation: Isolation, unisolated: bool, refused: bool
) -> None:
    if isolation == kit.BEST == "none":
        pytest.skip("this system has no isolation to compare with")
    monkeypatch.setattr(dask_client, "best_isolation", lambda: isolation)
    marker = tmp_path / ".resit-canary-0123"
    marker.write_text("resit-canary-planted\n")
    seen = AgentJob(
        kit.request(),
        job(Path("agent")).command,
        hidden=(tmp_path,),
        canary=Canary("resit-canary-planted", (marker,), ()),
    )
    said = _refused(pack(seen, "t", "p", unisolated=unisolated))
    assert bool(said) is refused, said
    assert ("an agent could read the answers" in said) is refused


class Pulse:
    """What a worker hears of the round."""

    def __init__(self, *words: Any) -> None:
        self.words = list(words)

    def get(self, timeout: float) -> Any:
        word = self.words.pop(0) if len(self.words) > 1 else self.words[0]
        if isinstance(word, Exception):
            raise word
        return word


@pytest.mark.parametrize(
    "pulse",
    [
        Pulse(["beat"], ["beat"], [CLOSED]),
        Pulse(["beat"], ["beat", "another"], ["beat", "another", "this"]),
        Pulse(["beat"], TimeoutError()),
        Pulse(["beat"], OSError()),
        Pulse(["always the same"]),
    ],
    ids=["the round has ended", "the call was given up", "no answer", "no scheduler", "nobody is there any more"],
)
async def test_an_agent_that_nobody_waits_for_is_ended(
    pulse: Pulse, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dask_client, "LOOK_S", 0.01)
    monkeypatch.setattr(dask_client, "ORPHAN_S", 0.2)
    endless = kit.write_program(tmp_path, "agent", "while True: time.sleep(60)")
    answer = await asyncio.wait_for(_while_wanted(job(endless), "this", pulse), 60)
    assert isinstance(answer, Fault)
    assert (answer.kind, answer.said) == ("dropped", "stopped before its reply ended")


async def test_an_agent_that_somebody_waits_for_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dask_client, "LOOK_S", 0.01)
    monkeypatch.setattr(dask_client, "ORPHAN_S", 30.0)
    agent = kit.write_program(tmp_path, "agent", "time.sleep(0.3); print('done')")
    beats = Pulse(*([number] for number in range(10_000)))
    answer = await _while_wanted(job(agent), "this", beats)
    assert isinstance(answer, Reply)
    assert answer.text == "done"
    assert len(beats.words) < 10_000


async def test_without_dask_the_mend_is_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    answer = await Cluster("tcp://127.0.0.1:9").run(job(Path("agent")))
    assert isinstance(answer, Fault)
    assert answer.said == "Dask is not installed here: pip install 'resit[dask]'"
