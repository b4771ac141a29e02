"""Hostile agents: each test first shows that the attack works without a jail, or that the jail lets honest work be."""

from __future__ import annotations

import fcntl
import signal
import socket
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from jail_kit import REAL, SECRET, Ground, make_ground, skip_without, users

from resit.core.agents import landlock
from resit.core.agents.limits import Limits
from resit.core.folders import read_tree
from resit.core.records import Isolation


@pytest.fixture(params=users(), ids=lambda user: "ordinary user" if user else "as we are")
def ground(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Ground]:
    yield from make_ground(request.param, monkeypatch)


@pytest.fixture(params=REAL)
def isolation(request: pytest.FixtureRequest) -> Isolation:
    skip_without(request.param)
    found: Isolation = request.param
    return found


def test_without_a_jail_the_key_is_read(ground: Ground) -> None:
    done = ground.run(ground.script("hostile_reader.py", ground.key, ground.person / ".claude"), "none")
    assert "tried everything" in done.output
    assert SECRET in done.output


def test_no_way_leads_to_the_key_or_to_the_persons_history_or_environment(ground: Ground, isolation: Isolation) -> None:
    done = ground.run(ground.script("hostile_reader.py", ground.key, ground.person / ".claude"), isolation)
    assert "tried everything" in done.output
    assert SECRET not in done.output


def test_root_is_left_without_power(ground: Ground, isolation: Isolation) -> None:
    code = (
        "import glob, os\n"
        "print([l.split()[1] for l in open('/proc/self/status') if l.startswith('Cap')])\n"
        "for place in ['/proc/sysrq-trigger', *glob.glob('/proc/sys/kernel/*'), *glob.glob('/sys/kernel/*')]:\n"
        "  try: os.close(os.open(place, os.O_WRONLY)); print('can write', place)\n"
        "  except OSError: pass\n"
    )
    done = ground.run(ground.python(code), isolation)
    assert done.output == f"{['0' * 16] * 5}\n" or (ground.user and "can write" not in done.output)


def test_no_socket_of_the_desktop_is_reached(ground: Ground, isolation: Isolation) -> None:
    if landlock.version() < 6:
        pytest.skip("this kernel cannot keep sockets without a path apart")
    name = f"@resit-test-{ground.root.name}"
    code = (
        "import socket, sys\nwith socket.socket(socket.AF_UNIX) as one:\n"
        "  one.connect(sys.argv[1].replace('@', chr(0)))\nprint('reached')"
    )
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(name.replace("@", "\0"))
        server.listen()
        assert ground.run(ground.python(code, name), "none").output == "reached\n"
        assert "PermissionError" in ground.run(ground.python(code, name), isolation).output


def test_nothing_is_written_outside_its_own_folders(ground: Ground, isolation: Isolation) -> None:
    before = {folder: _contents(folder, isolation) for folder in (ground.suite, ground.person)}
    places = (ground.key, ground.suite, ground.person, ground.root, "/etc", "/usr/bin", Path(__file__).parent)
    done = ground.run(ground.script("hostile_writer.py", *places), isolation)
    assert "tried everything" in done.output
    assert (ground.work / "own-work.txt").read_text() == "written by an agent"
    assert {folder: _contents(folder, isolation) for folder in before} == before
    for place in (ground.root, ground.root.parent, ground.work.parent, Path("/"), Path("/etc"), Path("/usr/bin")):
        assert not (place / "planted").exists(), place


def test_without_a_workspace_not_even_its_own_folder_is_written(ground: Ground, isolation: Isolation) -> None:
    done = ground.run(ground.script("hostile_writer.py", ground.key), isolation, ground.spec(writable=False))
    assert "tried everything" in done.output
    assert list(ground.work.iterdir()) == []


def test_no_other_run_is_seen_wherever_runs_have_their_folders(
    ground: Ground, isolation: Isolation, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = ground.root / "resit-run-1-other" / "work"
    other.mkdir(parents=True)
    (other / "solution.py").write_text(SECRET)
    ground.own()
    show = ["sh", "-c", f"cat {other}/solution.py; echo looked"]
    assert ground.run(show, "none").output == f"{SECRET}looked\n"
    monkeypatch.setattr(tempfile, "tempdir", str(ground.root))
    done = ground.run(show, isolation)
    assert SECRET not in done.output
    assert done.output.endswith("looked\n")


def test_nothing_outlives_its_end_however_often_it_forks(ground: Ground, isolation: Isolation) -> None:
    process = ground.popen(ground.wrapped(ground.script("hostile_lingerer.py"), isolation))
    assert process.stdout is not None
    assert [process.stdout.readline() for _ in range(3)] == ["ready\n"] * 3
    locks = [ground.work / f"lock-{name}" for name in ("one", "two", "three")]
    assert not any(_free(lock) for lock in locks)
    process.send_signal(signal.SIGINT)  # which it does not hear
    process.send_signal(signal.SIGTERM)
    assert process.wait(30) == 128 + signal.SIGTERM
    process.stdout.close()
    assert all(_free(lock) for lock in locks)


def test_what_it_leaves_running_ends_with_it(ground: Ground, isolation: Isolation) -> None:
    code = (
        "import os, runpy, sys, time\n"
        "if os.fork() == 0: runpy.run_path(sys.argv[1])\n"
        "while not all(os.path.exists(f'lock-{n}') for n in ('one', 'two', 'three')): time.sleep(0.01)"
    )
    argv = ground.python(code, ground.script("hostile_lingerer.py")[2])
    done = ground.run(argv, isolation)
    assert (done.code, done.stopped) == (0, "")
    assert all(_free(ground.work / f"lock-{name}") for name in ("one", "two", "three"))


def test_a_kill_of_what_stands_above_it_ends_it_under_bubblewrap(ground: Ground) -> None:
    skip_without("bubblewrap")
    process = ground.popen(ground.wrapped(ground.script("hostile_lingerer.py"), "bubblewrap"))
    assert process.stdout is not None
    assert [process.stdout.readline() for _ in range(3)] == ["ready\n"] * 3
    process.kill()
    process.wait(30)
    assert process.stdout.read() == ""  # until the last of them let go of it
    process.stdout.close()
    # They end in the order the kernel likes; a lock is waited for, and has a holder no more.
    for name in ("one", "two", "three", "main"):
        with open(ground.work / f"lock-{name}") as file:
            fcntl.flock(file, fcntl.LOCK_EX)


def test_a_flood_of_processes_is_stopped(ground: Ground, isolation: Isolation) -> None:
    spec = ground.spec(limits=Limits(seconds=60, processes=40))
    done = ground.run(ground.script("hostile_forker.py", 150), isolation, spec)
    refused = "made " in done.output and int(done.output.split()[1]) <= 40
    assert refused or done.stopped == "it started more than 40 processes"


def test_an_ordinary_user_cannot_even_start_the_flood_under_bubblewrap(monkeypatch: pytest.MonkeyPatch) -> None:
    skip_without("bubblewrap")
    for ground in make_ground(users()[-1], monkeypatch):
        spec = ground.spec(limits=Limits(seconds=60, processes=40))
        done = ground.run(ground.script("hostile_forker.py", 150), "bubblewrap", spec)
        assert done.stopped == ""
        assert 30 <= int(done.output.split()[1]) <= 40


def test_a_full_disk_is_prevented(ground: Ground, isolation: Isolation) -> None:
    code = "import itertools\nfor n in itertools.count(): open(f'f{n}', 'wb').write(b'x' * 1_000_000)"
    spec = ground.spec(limits=Limits(seconds=60, disk_mb=30))
    done = ground.run(ground.python(code), isolation, spec)
    assert done.stopped == "it wrote more than 30 MB"
    assert done.code == 128 + signal.SIGKILL


def test_a_flood_of_small_files_is_prevented(ground: Ground, isolation: Isolation) -> None:
    code = "import itertools\nfor n in itertools.count(): open(f'f{n}', 'wb').close()"
    spec = ground.spec(limits=Limits(seconds=60, files=500))
    assert ground.run(ground.python(code), isolation, spec).stopped == "it made more than 500 files"


def test_one_file_has_a_largest_size(ground: Ground, isolation: Isolation) -> None:
    code = "open('big', 'wb').write(b'x' * 6_000_000)"
    spec = ground.spec(limits=Limits(seconds=60, file_mb=5))
    done = ground.run(ground.python(code), isolation, spec)
    assert "File too large" in done.output
    assert (ground.work / "big").stat().st_size == 5 * 1024 * 1024


def test_memory_has_a_bound(ground: Ground, isolation: Isolation) -> None:
    code = "import time\nkept = [b'x' * 1_000_000 * n for n in range(1, 25)]\ntime.sleep(3600)"
    spec = ground.spec(limits=Limits(seconds=60, memory_mb=150))
    assert ground.run(ground.python(code), isolation, spec).stopped == ("it took more than 150 MB of memory")


def test_time_has_a_bound(ground: Ground, isolation: Isolation) -> None:
    done = ground.run(["sleep", "3600"], isolation, ground.spec(limits=Limits(seconds=0.3)))
    assert (done.code, done.stopped) == (128 + signal.SIGKILL, "it took longer than 0.3 s")


def _contents(folder: Path, isolation: Isolation) -> list[object]:
    """What a folder holds. Landlock cannot keep anybody from changing permissions."""
    found = read_tree(folder, pry=True).items()
    return [(name, e.digest, e.mode if isolation == "bubblewrap" else None) for name, e in found]


def _free(lock: Path) -> bool:
    with open(lock) as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
    return True
