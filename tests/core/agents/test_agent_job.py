"""One run of an agent: what it gets, what comes back, and that nothing of it is left."""

from __future__ import annotations

import asyncio
import json
import os
import pickle
import resource
import sys
import tempfile
import textwrap
import uuid
from pathlib import Path
from typing import Any

import pytest

import agent_kit as kit
from resit.core.agents import process
from resit.core.agents.command_client import CommandClient, Ground
from resit.core.config import HIDDEN, ModelsFile
from resit.core.records import Fault, Isolation, Reply
from resit.core.scoring.grade import unfair

KEY = "sk-planted-9f8e7d6c5b4a39281706"
LINUX = pytest.mark.skipif(sys.platform != "linux", reason="processes are looked for in /proc")

# What an agent that will not die does: leaves its session twice over, ignores signals, and forgets its environment.
STUBBORN = """
    for name in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(name, signal.SIG_IGN)
    for _ in range(2):
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                os.execve(sys.executable, [sys.executable, "-IS", "-c", LOOP, sys.argv[1]], {})
            os._exit(0)
    print("begun", flush=True)
    exec(LOOP)
"""
LOOP = "import signal,time\nfor n in (2, 15, 1): signal.signal(n, signal.SIG_IGN)\nwhile True: time.sleep(60)"


@pytest.fixture
def program(tmp_path: Path) -> Any:
    """Writes a program."""
    return lambda code, name="agent": kit.write_program(tmp_path, name, code)


@pytest.mark.parametrize("isolation", kit.LEVELS)
async def test_an_agent_answers_what_it_is_asked(program: Any, isolation: Isolation) -> None:
    heard, listen = kit.heard()
    agent = program("print('said', prompt)")
    answer = await kit.ask(kit.entry(agent), kit.request("1+1?"), isolation=isolation, listen=listen)
    assert isinstance(answer, Reply)
    assert answer.text == "said 1+1?"
    assert "".join(delta.text for delta in heard).strip() == answer.text
    assert answer.agent is not None
    assert (answer.agent.isolation, answer.agent.exit_code) == (isolation, 0)
    assert answer.seconds is not None
    assert 0 < answer.seconds < 60


@pytest.mark.parametrize("isolation", kit.LEVELS)
async def test_a_prompt_comes_as_an_argument_or_a_file_and_is_never_read_by_a_shell(
    program: Any, isolation: Isolation
) -> None:
    hostile = "$(touch /tmp/pwned) `id` ; rm -rf {folder} {model} 'quoted' \"double\" \\ \n--help"
    by_argument = kit.entry(program("print(sys.argv[1])"), "{prompt}", prompt="argument")
    by_file = kit.entry(program("print(open(sys.argv[1]).read())", "other"), "{prompt_file}", prompt="file")
    for table in (by_argument, by_file):
        answer = await kit.ask(table, kit.request(hostile), isolation=isolation)
        assert isinstance(answer, Reply)
        assert answer.text.rstrip("\n") == hostile


@pytest.mark.parametrize("isolation", kit.LEVELS)
async def test_an_answer_is_read_from_the_file_it_was_to_write(program: Any, isolation: Isolation) -> None:
    agent = program("print('chatter'); open(sys.argv[1], 'w').write('408')")
    answer = await kit.ask(kit.entry(agent, "{answer_file}", answer="file"), isolation=isolation)
    assert isinstance(answer, Reply)
    assert answer.text == "408"


async def test_a_prompt_that_is_too_long_for_an_argument_is_said_to_be(program: Any) -> None:
    table = kit.entry(program("print(1)"), "{prompt}", prompt="argument")
    answer = await kit.ask(table, kit.request("x" * 200_000))
    assert isinstance(answer, Fault)
    assert (answer.kind, "too long" in answer.said) == ("request", True)


async def test_a_long_prompt_comes_whole_on_standard_input(program: Any) -> None:
    answer = await kit.ask(kit.entry(program("print(len(prompt))")), kit.request("x" * 300_000))
    assert isinstance(answer, Reply)
    assert answer.text == "300000"


async def test_model_and_effort_stand_where_their_placeholders_stood(program: Any) -> None:
    table = kit.entry(program("print(sys.argv[1:])"), "-m", "{model}", "--effort={effort}", model="big-1")
    answer = await kit.ask(table, kit.request(effort="low"))
    assert isinstance(answer, Reply)
    assert answer.text == "['-m', 'big-1', '--effort=low']"


@pytest.mark.parametrize("isolation", kit.LEVELS)
async def test_an_agent_finds_its_files_and_nothing_else_in_its_folder(program: Any, isolation: Isolation) -> None:
    agent = program("print(sorted(os.listdir('.')), open('data/a.csv').read())")
    answer = await kit.ask(kit.entry(agent), kit.request(files=(("data/a.csv", "1,2"),)), isolation=isolation)
    assert isinstance(answer, Reply)
    assert answer.text == "['data'] 1,2"


@pytest.mark.parametrize("isolation", kit.LEVELS)
async def test_only_named_variables_reach_an_agent(program: Any, isolation: Isolation) -> None:
    environ = {**os.environ, "MY_KEY": "for-the-agent", "OTHER_KEY": KEY, "ANTHROPIC_API_KEY": KEY}
    agent = program("print(json.dumps(dict(os.environ)))")
    answer = await kit.ask(kit.entry(agent, env=["MY_VARIABLE"]), isolation=isolation, environ=environ)
    assert isinstance(answer, Reply)
    assert "OTHER_KEY" not in answer.text
    assert "ANTHROPIC_API_KEY" not in answer.text
    assert "MY_KEY" not in answer.text
    named = await kit.ask(kit.entry(agent, env=["MY_KEY"]), isolation=isolation, environ=environ)
    assert isinstance(named, Reply)
    assert "MY_KEY" in named.text


@pytest.mark.parametrize("isolation", kit.LEVELS)
async def test_a_key_that_an_agent_prints_is_kept_nowhere(program: Any, isolation: Isolation) -> None:
    secret = "planted-key-0123456789-abcdefghij"
    environ = {**os.environ, "MY_KEY": secret}
    events = [
        {"type": "assistant", "message": {"content": [{"type": "thinking", "thinking": secret}]}},
        {"type": "assistant", "message": {"content": [{"type": "tool_use", "name": secret, "input": {"a": secret}}]}},
        {"type": "assistant", "message": {"content": [{"type": "text", "text": f"key: {secret}"}]}},
        {"type": "result", "result": f"key: {secret}", "modelUsage": {secret: {}},
         "permission_denials": [{"tool_name": secret}]},
    ]  # fmt: skip
    printed = "\n".join(map(json.dumps, events))
    agent = program(f"print({printed!r})", "claude")
    path = f"{agent.parent}{os.pathsep}{os.environ['PATH']}"
    heard, listen = kit.heard()
    table = {"provider": "command", "preset": "claude-code", "model": "m", "env": ["MY_KEY"]}
    answer = await kit.ask(table, isolation=isolation, environ={**environ, "PATH": path}, listen=listen)
    assert isinstance(answer, Reply)
    assert answer.text == f"key: {HIDDEN}"
    assert answer.agent is not None
    assert len(answer.agent.steps) == 3
    assert "planted-key" not in answer.model_dump_json()
    assert "planted-key" not in repr(heard)
    failing = program("print(os.environ['MY_KEY'], file=sys.stderr); sys.exit(3)", "failing")
    fault = await kit.ask(kit.entry(failing, env=["MY_KEY"]), isolation=isolation, environ=environ)
    assert isinstance(fault, Fault)
    assert HIDDEN in fault.said
    assert "planted-key" not in fault.model_dump_json()


async def test_a_sign_in_file_is_lent_its_tokens_are_hidden_and_a_renewed_one_is_kept(
    program: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "person"
    login = home / ".tool/auth.json"
    login.parent.mkdir(parents=True)
    login.write_text('{"token": "first-token-0123456789", "n": 1}')
    monkeypatch.setenv("HOME", str(home))
    agent = program("""
        path = os.path.expanduser("~/.tool/auth.json")
        print(open(path).read())
        open(path, "w").write('{"token": "second-token-9876543210", "n": 2}')
        print(open(path).read())
    """)
    for isolation in kit.LEVELS:
        login.write_text('{"token": "first-token-0123456789", "n": 1}')
        answer = await kit.ask(kit.entry(agent, sign_in=[".tool/auth.json"]), isolation=isolation)
        assert isinstance(answer, Reply)
        assert answer.text.count(HIDDEN) == 2
        assert "token-" not in answer.text
        assert login.read_text() == '{"token": "second-token-9876543210", "n": 2}'


async def test_the_password_of_a_proxy_is_kept_nowhere(program: Any) -> None:
    environ = {**os.environ, "HTTPS_PROXY": "http://me:proxy-password-42@proxy.example:3128"}
    answer = await kit.ask(kit.entry(program("print(os.environ['HTTPS_PROXY'])")), environ=environ)
    assert isinstance(answer, Reply)
    assert answer.text == f"http://me:{HIDDEN}@proxy.example:3128"


async def test_plain_settings_beside_a_key_take_no_words_out_of_an_answer(
    program: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "person"
    home.mkdir()
    login = {
        "accessToken": "secret-token-0123456789", "scopes": ["user:sessions:claude_code"], "server": "https://a.example/x",
        "plan": "professional",
    }  # fmt: skip
    (home / ".auth.json").write_text(json.dumps(login))
    monkeypatch.setenv("HOME", str(home))
    environ = {**os.environ, "GOOGLE_CLOUD_PROJECT": "production", "MY_MODE": "test", "MY_KEY": "key-9876543210-zyx"}
    said = "claude_code in production: test of a professional at https://a.example/x"
    agent = program(f"print({said!r}, os.environ['MY_KEY'], {login['accessToken']!r})")
    table = kit.entry(agent, env=["GOOGLE_CLOUD_PROJECT", "MY_MODE", "MY_KEY"], sign_in=[".auth.json"])
    answer = await kit.ask(table, environ=environ)
    assert isinstance(answer, Reply)
    assert answer.text == f"{said} {HIDDEN} {HIDDEN}"


async def test_a_token_that_another_run_renewed_meanwhile_is_not_overwritten_and_its_refusal_is_no_wrong_key(
    program: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    login = tmp_path / "person/.claude/.credentials.json"
    login.parent.mkdir(parents=True)
    login.write_text('{"token": "first-token-0123456789"}')
    monkeypatch.setenv("HOME", str(tmp_path / "person"))
    renewed = '{"token": "second-token-9876543210"}'
    refusal = json.dumps({"type": "result", "is_error": True, "api_error_status": 401, "result": "Not logged in"})
    # It runs without a jail, and so stands in for the other run as well.
    claude = program(f"open({str(login)!r}, 'w').write({renewed!r}); print({refusal!r})", "claude")
    environ = {**os.environ, "PATH": f"{claude.parent}{os.pathsep}{os.environ['PATH']}"}
    table = {"provider": "command", "preset": "claude-code", "model": "m"}
    answer = await kit.ask(table, environ=environ)
    assert isinstance(answer, Fault)
    assert (answer.kind, login.read_text()) == ("dropped", renewed)
    program(f"print({refusal!r})", "claude")
    again = await kit.ask(table, environ=environ)
    assert isinstance(again, Fault)
    assert again.kind == "key"


@pytest.mark.parametrize("left", ['"{}"', '\'{"token": 1, "n": 2}\'', "'nonsense'", "''"])
async def test_a_sign_in_file_that_lost_its_shape_is_not_kept(
    program: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, left: str
) -> None:
    login = tmp_path / "person" / ".auth.json"
    login.parent.mkdir()
    login.write_text('{"token": "first-token-0123456789", "n": 1}')
    monkeypatch.setenv("HOME", str(login.parent))
    agent = program(f"open(os.path.expanduser('~/.auth.json'), 'w').write({left}); print(1)")
    assert isinstance(await kit.ask(kit.entry(agent, sign_in=[".auth.json"])), Reply)
    assert "first-token" in login.read_text()


@LINUX
@pytest.mark.parametrize("isolation", kit.LEVELS)
async def test_all_that_a_run_started_has_ended_at_its_time_limit(
    program: Any, isolation: Isolation, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process, "FINISH_S", 0.3)
    monkeypatch.setattr(process, "END_S", 5.0)
    token = f"token-{uuid.uuid4().hex}"
    agent = program(f"LOOP = {LOOP!r}\n" + textwrap.dedent(STUBBORN))
    answer = await kit.ask(kit.entry(agent, token, timeout_s=2), isolation=isolation)
    assert isinstance(answer, Fault)
    assert answer.kind == "timeout"
    assert kit.processes_with(token) == []


@LINUX
@pytest.mark.parametrize("isolation", kit.LEVELS)
async def test_all_that_a_run_started_has_ended_when_it_is_stopped(program: Any, isolation: Isolation) -> None:
    token = f"token-{uuid.uuid4().hex}"
    agent = program(f"LOOP = {LOOP!r}\n" + textwrap.dedent(STUBBORN))
    begun = asyncio.Event()
    task = asyncio.create_task(kit.ask(kit.entry(agent, token), isolation=isolation, listen=lambda delta: begun.set()))
    await asyncio.wait_for(begun.wait(), 30)
    assert kit.processes_with(token)
    task.cancel()
    for _ in range(3):
        # A second and third stop, while the first still ends what there is, changes nothing.
        await asyncio.sleep(0)
        task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert kit.processes_with(token) == []


@LINUX
@pytest.mark.parametrize("isolation", kit.LEVELS)
async def test_what_an_agent_leaves_running_has_ended_with_it(program: Any, isolation: Isolation) -> None:
    token = f"token-{uuid.uuid4().hex}"
    code = f"""
        LOOP = {LOOP!r}
        if os.fork() == 0:
            os.setsid()
            os.execve(sys.executable, [sys.executable, "-IS", "-c", LOOP, sys.argv[1]], {{}})
        print("408")
    """
    answer = await kit.ask(kit.entry(program(code), token), isolation=isolation)
    assert isinstance(answer, Reply)
    assert answer.text == "408"
    assert kit.processes_with(token) == []


async def test_an_agent_that_is_asked_to_finish_gives_its_last_words(program: Any) -> None:
    agent = program(
        """
        def last(*_):
            print('{"type": "result", "is_error": true, "terminal_reason": "aborted_streaming",'
                  ' "modelUsage": {"m": {"inputTokens": 900, "outputTokens": 70}}}', flush=True)
            sys.exit(0)
        signal.signal(signal.SIGINT, last)
        while True:
            time.sleep(60)
    """,
        "claude",
    )
    path = f"{agent.parent}{os.pathsep}{os.environ['PATH']}"
    table = {"provider": "command", "preset": "claude-code", "model": "m", "timeout_s": 4}
    for isolation in kit.LEVELS:
        answer = await kit.ask(table, isolation=isolation, environ={**os.environ, "PATH": path})
        assert isinstance(answer, Fault)
        assert answer.kind == "timeout"
        # What was billed is known, though nothing usable came.
        assert answer.usage is not None
        assert answer.usage.output_tokens == 70


async def test_a_hundred_megabytes_do_not_fill_memory(program: Any) -> None:
    agent = program("""
        piece = "x" * 1_000_000
        for _ in range(100):
            sys.stdout.write(piece)
        print("end")
    """)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    answer = await kit.ask(kit.entry(agent))
    grown_mb = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    assert isinstance(answer, Reply)
    assert unfair(answer) == "cut_off"
    assert "100,000,004" in answer.stop_detail
    assert answer.text.endswith("end\n")
    assert grown_mb < 60


@pytest.mark.parametrize("isolation", kit.LEVELS)
async def test_nothing_is_left_of_a_run_on_disk(program: Any, isolation: Isolation, tmp_path: Path) -> None:
    place = tmp_path / "place"
    place.mkdir()
    tempfile.tempdir = str(place)
    try:
        agent = program("open(os.path.expanduser('~/left'), 'w').write('x'); print(os.getcwd())")
        answer = await kit.ask(kit.entry(agent), isolation=isolation)
    finally:
        tempfile.tempdir = None
    assert isinstance(answer, Reply)
    assert answer.text.startswith(str(place))
    assert list(place.iterdir()) == []


async def test_a_variable_that_models_toml_names_is_found_in_the_env_file(program: Any, tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("MY_KEY=from-the-file-0123456789\nANTHROPIC_API_KEY=not-for-a-plan-0123456789\n")
    table = kit.entry(program("print(len(os.environ.get('MY_KEY', '')))"), env=["MY_KEY"])
    file = ModelsFile.model_validate({"models": {kit.MODEL: table, "claude-code/m": {}}})
    asking = CommandClient(file, Ground(isolation="none"), cwd=tmp_path)
    answer = await asking.ask(kit.request())
    assert isinstance(answer, Reply)
    assert answer.text == str(len("from-the-file-0123456789"))
    events = "import json; print(json.dumps({'type': 'result', 'result': str('ANTHROPIC_API_KEY' in os.environ)}))"
    claude = program(events, "claude")
    environ = {"PATH": f"{claude.parent}{os.pathsep}{os.environ['PATH']}"}
    plan = CommandClient(file, Ground(isolation="none"), cwd=tmp_path, environ=environ)
    answer = await plan.ask(kit.request(model="claude-code/m"))
    assert isinstance(answer, Reply)
    assert answer.text == "False"


async def test_a_command_that_is_not_there_is_named_with_its_mend(tmp_path: Path) -> None:
    answer = await kit.ask({"provider": "command", "command": ["no-such-agent"]})
    assert isinstance(answer, Fault)
    assert "no-such-agent is not on PATH" in answer.said


async def test_a_job_can_be_sent_to_another_process_and_holds_no_key(program: Any) -> None:
    environ = {**os.environ, "MY_KEY": KEY}
    asking = kit.client(kit.entry(program("print(1)"), env=["MY_KEY"]), environ=environ, ground=Ground())
    job = asking.job(kit.request(files=(("a.txt", "x"),)))
    sent = pickle.dumps(job)
    assert pickle.loads(sent) == job
    assert KEY.encode() not in sent


async def test_many_agents_at_once_do_not_mix_their_answers(program: Any) -> None:
    agent = program("print(prompt * 3)")
    asking = kit.client(kit.entry(agent))
    answers = await asyncio.gather(*(asking.ask(kit.request(str(number))) for number in range(8)))
    assert [answer.text for answer in answers if isinstance(answer, Reply)] == [str(n) * 3 for n in range(8)]
