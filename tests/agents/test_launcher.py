"""What stands above a jailed command: how it ends, what signals do, what is told inside."""

from __future__ import annotations

import os
import signal
import socket
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from jail_kit import REAL, Ground, make_ground, skip_without, without_bubblewrap

from resit.core.agents import jail
from resit.core.agents.areas import Areas, program_roots
from resit.core.agents.jail import best_isolation, inner_home, wrap
from resit.core.records import Isolation


@pytest.fixture
def ground(monkeypatch: pytest.MonkeyPatch) -> Iterator[Ground]:
    yield from make_ground(None, monkeypatch)


@pytest.fixture(params=[*REAL, "none"])
def isolation(request: pytest.FixtureRequest) -> Isolation:
    skip_without(request.param)
    found: Isolation = request.param
    return found


def test_it_ends_as_the_command_ends(ground: Ground, isolation: Isolation) -> None:
    assert ground.run(["sh", "-c", "echo out; exit 7"], isolation).code == 7
    assert ground.run(["sh", "-c", "kill -9 $$"], isolation).code == 128 + signal.SIGKILL
    assert ground.run(["sh", "-c", "echo out; echo err >&2"], isolation).output.split() == ["out", "err"]


def test_a_program_that_is_not_there_is_said(ground: Ground, isolation: Isolation) -> None:
    done = ground.run(["no-such-agent"], isolation)
    assert done.code in (126, 127)
    assert "no-such-agent" in done.output


def test_the_command_starts_in_its_folder_with_a_home_and_a_place_for_files(
    ground: Ground, isolation: Isolation
) -> None:
    done = ground.run(["sh", "-c", 'pwd; echo x > "$HOME/kept"; echo y > "$TMPDIR/t"; echo "$HOME"'], isolation)
    assert done.output.split() == [str(ground.work), str(inner_home(ground.home, isolation))]
    assert (ground.home / "kept").read_text() == "x\n"


def test_an_interrupt_lets_the_command_write_its_last_words(ground: Ground, isolation: Isolation) -> None:
    code = (
        "import os, signal, sys, time\n"
        # Not print: the interrupt may come while `ready` is still being flushed.
        "def last(*_): os.write(1, b'last words\\n'); sys.exit(3)\n"
        "signal.signal(signal.SIGINT, last)\n"
        "print('ready', flush=True)\n"
        "while True: time.sleep(60)"
    )
    process = ground.popen(ground.wrapped(ground.python(code), isolation))
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    process.send_signal(signal.SIGINT)
    assert process.communicate(timeout=30)[0] == "last words\n"
    assert process.returncode == 3


def test_only_the_named_variables_reach_the_command(ground: Ground, isolation: Isolation) -> None:
    done = ground.run(["env"], isolation)
    names = {line.partition("=")[0] for line in done.output.splitlines()}
    assert names <= {"PATH", "HOME", "TMPDIR", "PWD", "OLDPWD", "SHLVL", "_"}


def test_no_list_of_processes_inside_names_what_is_hidden(ground: Ground) -> None:
    skip_without("bubblewrap")
    done = ground.run(["sh", "-c", "cat /proc/[0-9]*/cmdline /proc/[0-9]*/environ | tr '\\0' ' '"], "bubblewrap")
    assert "bwrap" in done.output
    assert str(ground.suite) not in done.output


def test_the_order_is_gone_once_the_command_runs(ground: Ground, isolation: Isolation) -> None:
    wrapped = ground.wrapped(["true"], isolation)
    order = Path(wrapped.argv[-1])
    assert order.is_file()
    with ground.popen(wrapped) as process:
        process.communicate(timeout=60)
    assert not order.exists()


@pytest.mark.parametrize("level", REAL)
def test_without_network_not_even_this_machine_is_reached(ground: Ground, level: Isolation) -> None:
    skip_without(level)
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        code = f"import socket; socket.create_connection(('127.0.0.1', {port}), 5); print('reached')"
        with_network = ground.run(ground.python(code), level)
        without = ground.run(ground.python(code), level, ground.spec(network=False))
    assert with_network.output == "reached\n"
    assert "reached" not in without.output
    assert without.code == 1


def test_starting_and_ending_a_jail_takes_little_time(ground: Ground, isolation: Isolation) -> None:
    times = []
    for _ in range(5):
        wrapped = ground.wrapped(["true"], isolation)
        began = time.perf_counter()
        with ground.popen(wrapped) as process:
            process.communicate(timeout=60)
        times.append(time.perf_counter() - began)
    assert min(times) < 0.3


def test_a_program_in_the_persons_home_can_still_be_started(ground: Ground, isolation: Isolation) -> None:
    tool = ground.person / "tool" / "versions" / "1"
    (ground.person / "bin").mkdir()
    (tool / "lib").mkdir(parents=True)
    (tool / "lib" / "words").write_text("it runs\n")
    (tool / "agent").write_text(f'#!/bin/sh\ncat "{tool}/lib/words"; cat "$HOME/.claude/history.jsonl"\n')
    (tool / "agent").chmod(0o755)
    (ground.person / "bin" / "agent").symlink_to(tool / "agent")
    path = f"{ground.person / 'bin'}:{os.environ['PATH']}"
    roots = program_roots("agent", path)
    spec = ground.spec()
    spec = jail.JailSpec(spec.scratch, True, spec.home, spec.hidden, (*roots, tool), {"PATH": path})
    done = ground.run(["agent"], isolation, spec)
    assert done.output.startswith("it runs\n")


def test_what_is_hidden_stays_so_whatever_is_said_to_be_readable(tmp_path: Path) -> None:
    (tmp_path / "suite" / "bin").mkdir(parents=True)
    areas = Areas.of([tmp_path / "suite"], [tmp_path / "suite", tmp_path, tmp_path / "suite" / "bin"])
    places = [place for place in areas.ordered if tmp_path / "suite" in (place[0], *place[0].parents)]
    assert places == [(tmp_path / "suite", True), (tmp_path / "suite" / "bin", False)]


def test_an_allow_list_leaves_out_what_is_hidden_within_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("a/kept", "a/suite", "b"):
        (tmp_path / name).mkdir(parents=True)
    monkeypatch.setattr("resit.core.agents.areas.SYSTEM", (tmp_path,))
    read, write = Areas.of([tmp_path / "a" / "suite"], []).allowed(Path("/scratch"), [Path("/home-of-run")])
    assert {str(tmp_path / "a" / "kept"), str(tmp_path / "b"), "/scratch"} <= set(read)
    assert not {str(tmp_path), str(tmp_path / "a"), str(tmp_path / "a" / "suite")} & set(read)
    assert "/home-of-run" in write


def test_without_bubblewrap_the_next_best_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    skip_without("landlock")
    without_bubblewrap(monkeypatch)
    assert best_isolation() == "landlock"
    best_isolation.cache_clear()
    monkeypatch.setattr("resit.core.agents.landlock.version", lambda: 0)
    assert best_isolation() == "none"
    best_isolation.cache_clear()


def test_a_bubblewrap_that_is_forbidden_what_it_needs_is_not_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    useless = tmp_path / "bwrap"
    useless.write_text("#!/bin/sh\necho 'bwrap: setting up uid map: Permission denied' >&2\nexit 1\n")
    useless.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    best_isolation.cache_clear()
    assert best_isolation() != "bubblewrap"
    best_isolation.cache_clear()


def test_sandbox_exec_is_told_to_deny_what_is_hidden_and_allow_its_own_folders(ground: Ground) -> None:
    wrapped = wrap(["agent"], ground.spec(writable=False, network=False), "sandbox-exec")
    order = Path(wrapped.argv[-1]).read_text()
    assert f'(deny file-read* file-write* (subpath \\"{ground.suite.resolve()}\\"))' in order.replace('\\\\"', '\\"')
    assert "(deny network*)" in order
    assert order.index("deny file-write*") < order.index("allow file-write*")
