"""Agents on a cluster of two worker processes, one of which is killed in mid-round."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from dask_kit import WAITING, DaskCluster, Switchboard

import agent_kit as kit
from resit.cli import main
from resit.core.agents import dask_client
from resit.core.agents.command_client import CommandClient, Ground
from resit.core.agents.dask_client import Cluster, DaskClient
from resit.core.calling.faults import RetryPolicy
from resit.core.config import ModelsFile
from resit.core.paths import config_dir
from resit.core.records import Fault, Reply, Setting
from resit.core.rounds.session import prepare_round
from resit.core.suite_file import load_suite

pytest.importorskip("distributed", reason="Dask is not installed: pip install 'resit[dask]'")

QUESTIONS = 12
SUITE = 'title = "Sums"\nrule = "exact"\n' + "".join(
    f'[[questions]]\nid = "q{n}"\nprompt = "{n}+{n}?"\naccept = ["{n + n}"]\n' for n in range(QUESTIONS)
)
WORDS = {f"{n}+{n}?": str(n + n) for n in range(QUESTIONS)}


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DaskCluster]:
    running = DaskCluster(tmp_path_factory.mktemp("dask"))
    try:
        running.start("scheduler", "--no-dashboard")
        running.start("one")
        running.start("two")
        yield running
    finally:
        running.stop()


def table(program: Path, port: int) -> dict[str, Any]:
    return kit.entry(program, str(port), env=["WHERE"])


def client(cluster: DaskCluster, program: Path, port: int) -> DaskClient:
    models_file = ModelsFile.model_validate({"models": {kit.MODEL: table(program, port)}})
    place = Cluster(cluster.address, unisolated=True)
    return DaskClient(CommandClient(models_file, Ground(), run=place.run), place)


@pytest.fixture
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for programs: what lies beside a suite is hidden from agents."""
    return tmp_path_factory.mktemp("programs")


@pytest.fixture
def program(programs: Path) -> Path:
    return kit.write_program(programs, "agent", WAITING)


async def test_workers_run_agents_with_their_own_variables_and_the_screen_stays_clean(
    cluster: DaskCluster, program: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    async with Switchboard(WORDS) as board:
        agents = client(cluster, program, board.port)
        answers = await asyncio.gather(*(agents.ask(kit.request(prompt)) for prompt in WORDS))
        await agents.close()
    assert [answer.text for answer in answers if isinstance(answer, Reply)] == list(WORDS.values()), answers
    assert all(isinstance(answer, Reply) and answer.agent and answer.agent.isolation == kit.BEST for answer in answers)
    assert {where for where, _ in board.calls} <= {"one", "two"}
    assert capfd.readouterr() == ("", "")


async def test_a_worker_that_is_killed_in_mid_round_loses_nothing_and_its_run_is_an_attempt_of_unknown_cost(
    cluster: DaskCluster, program: Path, tmp_path: Path
) -> None:
    (tmp_path / "sums.toml").write_text(SUITE)
    cluster.start("doomed")
    async with Switchboard(WORDS, held=("doomed",)) as board:
        prepared = prepare_round(
            load_suite(tmp_path / "sums.toml"),
            [Setting(model=kit.MODEL, provider="command")],
            2,
            concurrency=6,
            models_file=ModelsFile.model_validate({"models": {kit.MODEL: table(program, board.port)}}),
            dask=cluster.address,
            unisolated=True,
            policy=RetryPolicy(base_s=0.0),
        )
        runner = prepared.start(lambda event: None)
        running = asyncio.create_task(runner.run())
        lost = await asyncio.wait_for(board.begun.get(), 60)
        cluster.kill("doomed")
        board.held = ()
        ended = await asyncio.wait_for(running, 120)
    assert (ended.reason, ended.owed) == ("done", 0), ended
    stored = runner.store.keys()
    records = [runner.store.read(key) for key in stored]
    first = [record.attempts for record in records if record and len(record.attempts) > 1]
    (tried,) = first
    fault = tried[0].fault
    assert fault is not None
    assert (fault.kind, tried[0].cost_usd) == ("dropped", None)
    assert "its run may have been paid" in fault.said
    assert board.calls.count(("doomed", lost.prompt)) == 1
    assert len(board.calls) == 2 * QUESTIONS + 1


async def test_stopping_ends_the_agent_on_its_worker(cluster: DaskCluster, program: Path) -> None:
    async with Switchboard(held=("one", "two")) as board:
        agents = client(cluster, program, board.port)
        asking = asyncio.create_task(agents.ask(kit.request()))
        begun = await asyncio.wait_for(board.begun.get(), 60)
        asking.cancel()
        await asyncio.gather(asking, return_exceptions=True)
        assert asking.cancelled()
        assert await begun.ended()
        await agents.close()


async def test_leaving_the_cluster_ends_what_still_runs_there(cluster: DaskCluster, program: Path) -> None:
    async with Switchboard(held=("one", "two")) as board:
        agents = client(cluster, program, board.port)
        asking = asyncio.create_task(agents.ask(kit.request()))
        begun = await asyncio.wait_for(board.begun.get(), 60)
        await agents.close()
        assert await begun.ended()
        answer = await asking
    assert isinstance(answer, Fault)
    assert answer.kind == "dropped"


async def test_a_scheduler_that_is_lost_in_mid_round_drops_what_was_out(
    tmp_path_factory: pytest.TempPathFactory, program: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dask_client, "CONNECT_S", 3.0)
    doomed = DaskCluster(tmp_path_factory.mktemp("doomed"))
    try:
        doomed.start("scheduler", "--no-dashboard")
        doomed.start("one")
        async with Switchboard(held=("one",)) as board:
            agents = client(doomed, program, board.port)
            asking = asyncio.create_task(agents.ask(kit.request()))
            begun = await asyncio.wait_for(board.begun.get(), 60)
            doomed.kill("scheduler")
            lost = await asyncio.wait_for(asking, 120)
            after = await asyncio.wait_for(agents.ask(kit.request()), 120)
            assert await begun.ended()
            await agents.close()
    finally:
        doomed.stop()
    assert isinstance(lost, Fault)
    assert (lost.kind, "it may have been run" in lost.said) == ("dropped", True)
    assert isinstance(after, Fault)
    assert (after.kind, "no Dask scheduler answers" in after.said) == ("model", True)


def test_the_command_line_hands_agents_to_the_cluster_and_says_so(
    cluster: DaskCluster, programs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    agent = kit.write_program(programs, "agent", "print(2 * int(prompt.split('+')[0]))")
    config_dir().mkdir(parents=True, exist_ok=True)
    (config_dir() / "models.toml").write_text(f'[models."my-agent"]\nprovider = "command"\ncommand = ["{agent}"]\n')
    (tmp_path / "sums.toml").write_text(SUITE)
    open_here = ["--unisolated"] if kit.BEST == "none" else []
    command = ["run", str(tmp_path / "sums.toml"), "-m", "my-agent", "-n", "1", "--dask", cluster.address, "--json"]
    assert main([*command, *open_here]) == 0
    shown = capsys.readouterr()
    assert {row["outcome"] for row in json.loads(shown.out)["runs"]} == {"pass"}
    assert f"agents run on the Dask cluster at {cluster.address}" in shown.err
    assert "distributed" not in shown.err


async def test_a_scheduler_that_is_not_there_ends_the_setting_with_the_mend(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dask_client, "CONNECT_S", 0.3)
    place = Cluster("tcp://127.0.0.1:9")
    answer = await place.run(kit.client(kit.entry(Path("agent"))).job(kit.request()))
    await place.close()
    assert isinstance(answer, Fault)
    assert answer.kind == "model"
    assert "no Dask scheduler answers at tcp://127.0.0.1:9" in answer.said
    assert "dask scheduler" in answer.said
