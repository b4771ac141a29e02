"""Stands above a jailed command: sets its bounds, watches them, and leaves none of its processes behind.

Started as a script, `python -I -S launcher.py ORDER`, with nothing but the standard library; ORDER is a JSON file that
`jail.wrap` wrote, removed once it is read, so that no list of hidden folders stands on any command line. It ends as
the command ends, with 128 + N for signal N.

SIGINT goes to the command alone, so that it may still write its result. SIGTERM ends all that it started, and comes by
itself when resit dies.
"""

from __future__ import annotations

import ctypes
import importlib
import json
import os
import resource
import select
import signal
import stat
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from typing import Any, NoReturn

TICK_S = 0.1
SCAN_SHARE = 10
"""A scan of the disk may take one part in this many of the time."""
MB = 1024 * 1024
PAGE = resource.getpagesize()
PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36
CANNOT_START = 127
ULIMIT = 'ulimit -u "$0" 2>/dev/null || ulimit -p "$0" 2>/dev/null; exec "$@"'
"""Bounds the processes from within the jail, where they are counted apart from the person's own."""
SIGNALS = (signal.SIGCHLD, signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

Order = dict[str, Any]


def main() -> int:
    """Run the order named on the command line."""
    with open(sys.argv[1], encoding="utf-8") as file:
        order: Order = json.load(file)
    os.unlink(sys.argv[1])
    heard = _listen()
    parent = os.getppid()
    _prctl(PR_SET_CHILD_SUBREAPER, 1)
    _prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
    if os.getppid() != parent:
        return 128 + signal.SIGTERM
    child = os.fork()
    if child == 0:
        _become(order)
    return Watch(order, child, heard).wait()


def _listen() -> int:
    """A pipe from which the numbers of signals can be read as they come."""
    reads, writes = os.pipe()
    os.set_blocking(writes, False)
    signal.set_wakeup_fd(writes, warn_on_full_buffer=False)
    for number in SIGNALS:
        signal.signal(number, lambda *_: None)
    return reads


def _prctl(option: int, value: int) -> None:
    """A wish to the Linux kernel; elsewhere nothing."""
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(option, value, 0, 0, 0)


def _become(order: Order) -> NoReturn:
    """In the child: bounds, jail, command."""
    try:
        # Python adds LC_CTYPE by itself where no language is set.
        for name in set(os.environ) - set(order["variables"]):
            del os.environ[name]
        os.setpgid(0, 0)
        _prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        for number in (*SIGNALS, signal.SIGPIPE, signal.SIGXFSZ):
            signal.signal(number, signal.SIG_DFL)  # Python ignores the last two, and what is ignored stays so
        _bound(order["limits"], order["kind"])
        argv = order["argv"]
        if order["kind"] == "bwrap":
            argv = _bubblewrap(order)
        elif order["kind"] == "landlock":
            _landlock(order)
        if order["kind"] != "bwrap":
            os.chdir(order["cwd"])
        os.execvp(argv[0], argv)
    except Exception as error:
        os.write(2, f"{order['argv'][0]} cannot be started: {error}\n".encode(errors="replace"))
    os._exit(CANNOT_START)


def _bound(limits: Order, kind: str) -> None:
    _limit(resource.RLIMIT_CORE, 0)
    if limits["file_mb"] is not None:
        _limit(resource.RLIMIT_FSIZE, limits["file_mb"] * MB)
    if limits["address_mb"] is not None:
        _limit(resource.RLIMIT_AS, limits["address_mb"] * MB)
    if limits["processes"] is not None and kind != "bwrap":
        # All processes of this user count here, so this only ends a flood that the watch is too late for.
        _limit(resource.RLIMIT_NPROC, _threads_of_user() + 4 * limits["processes"])


def _limit(what: int, value: int) -> None:
    hard = resource.getrlimit(what)[1]
    value = value if hard == resource.RLIM_INFINITY else min(value, hard)
    with suppress(OSError, ValueError):
        resource.setrlimit(what, (value, value))


def _threads_of_user() -> int:
    user, count = os.getuid(), 0
    for name in _numbers("/proc"):
        with suppress(OSError):
            if os.stat(f"/proc/{name}").st_uid == user:
                count += int(_stat_of(name)[17])
    return count


def _bubblewrap(order: Order) -> list[str]:
    """The command under bubblewrap. Its options go in by a file descriptor: `ps` inside would show them."""
    # A bubblewrap that runs as root for everybody would lose that.
    if not os.stat(order["bwrap"]).st_mode & stat.S_ISUID:
        _beside("landlock").leave_sockets()
    memory = os.memfd_create("options", 0)
    os.write(memory, "".join(f"{arg}\0" for arg in order["options"]).encode(errors="surrogateescape"))
    os.lseek(memory, 0, os.SEEK_SET)
    argv = [order["bwrap"], "--args", str(memory), "--"]
    if order["limits"]["processes"] is not None:
        argv += ["/bin/sh", "-c", ULIMIT, str(order["limits"]["processes"])]
    return [*argv, *order["argv"]]


def _beside(name: str) -> Any:
    """A module that lies beside this script; nothing else of resit can be imported here."""
    sys.path.append(os.path.dirname(os.path.abspath(__file__)))
    return importlib.import_module(name)


def _landlock(order: Order) -> None:
    landlock = _beside("landlock")
    if not order["network"]:
        landlock.leave_network()
    landlock.give_up_root()
    landlock.restrict(order["read"], order["write"], network=order["network"])


class Watch:
    """What the launcher does while the command runs."""

    def __init__(self, order: Order, child: int, heard: int) -> None:
        """Watch over `child` and all that it starts; `heard` tells of signals."""
        self._order = order
        self._heard = heard
        self._limits: Order = order["limits"]
        self._child = child
        self._code: int | None = None
        self._started = time.monotonic()
        self._next_scan = 0.0

    def wait(self) -> int:
        """Wait for the end of the command; its exit code."""
        while self._code is None:
            ready = select.select([self._heard], [], [], TICK_S)[0]
            signals = os.read(self._heard, 64) if ready else b""
            if signal.SIGTERM in signals or signal.SIGHUP in signals:
                self._end_all()
                return 128 + signal.SIGTERM
            if signal.SIGINT in signals:
                self._interrupt()
            self._reap()
            if self._code is None and not ready:
                self._look()
        self._end_all()
        return self._code

    def _reap(self) -> None:
        """Take note of all that ended. An orphan of the command's comes to this process too."""
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            if pid == self._child and self._code is None:
                code = os.waitstatus_to_exitcode(status)
                self._code = code if code >= 0 else 128 - code

    def _interrupt(self) -> None:
        """Ask the command itself to finish: bubblewrap would only die, and all with it."""
        pid = self._child
        if self._order["kind"] == "bwrap":
            # bwrap, its reaper, the command
            for _ in range(2):
                pid = next(iter(_children(pid)), pid)
        with suppress(OSError):
            os.kill(pid, signal.SIGINT)

    def _look(self) -> None:
        said = self._passed()
        if said:
            self._say(said)
            self._end_all()
            if self._code is None:
                self._code = 128 + signal.SIGKILL

    def _passed(self) -> str:
        """Which bound is passed, in words; empty when none is."""
        limits, now = self._limits, time.monotonic()
        if limits["seconds"] is not None and now - self._started > limits["seconds"]:
            return f"it took longer than {limits['seconds']:g} s"
        threads, resident = _use(self._child)
        if limits["processes"] is not None and threads > limits["processes"]:
            return f"it started more than {limits['processes']:,} processes"
        if limits["memory_mb"] is not None and resident > limits["memory_mb"] * MB:
            return f"it took more than {limits['memory_mb']:,} MB of memory"
        if now < self._next_scan:
            return ""
        size, files = _lies_in(self._order["watched"], limits["disk_mb"] * MB, limits["files"])
        self._next_scan = time.monotonic() + SCAN_SHARE * (time.monotonic() - now)
        if size > limits["disk_mb"] * MB:
            return f"it wrote more than {limits['disk_mb']:,} MB"
        return f"it made more than {limits['files']:,} files" if files > limits["files"] else ""

    def _say(self, said: str) -> None:
        with suppress(OSError), open(self._order["stopped"], "x", encoding="utf-8") as file:
            file.write(said)

    def _end_all(self) -> None:
        """End everything the command started: first held still, so that nothing can outrun its end."""
        with suppress(OSError):
            os.killpg(self._child, signal.SIGKILL)
        held: set[int] = set()
        while new := [pid for pid in _descendants(os.getpid()) if pid not in held]:
            held.update(new)
            for pid in new:
                _signal(pid, signal.SIGSTOP)
        for pid in held:
            _signal(pid, signal.SIGKILL)
        deadline = time.monotonic() + 5
        while time.monotonic() < deadline:
            self._reap()
            left = list(_descendants(os.getpid()))
            if not left:
                return
            for pid in left:
                _signal(pid, signal.SIGKILL)
            time.sleep(0.005)


def _signal(pid: int, number: int) -> None:
    with suppress(OSError):
        os.kill(pid, number)


def _numbers(folder: str) -> list[str]:
    try:
        return [name for name in os.listdir(folder) if name.isdigit()]
    except OSError:
        return []


def _stat_of(pid: object) -> list[str]:
    """The fields of /proc/PID/stat after the name, which may hold anything: [0] is the state, [17] the threads."""
    with open(f"/proc/{pid}/stat", "rb") as file:
        return file.read().rpartition(b")")[2].decode().split()


def _children(pid: int) -> list[int]:
    found: list[int] = []
    for task in _numbers(f"/proc/{pid}/task"):
        with suppress(OSError), open(f"/proc/{pid}/task/{task}/children", encoding="ascii") as file:
            found += map(int, file.read().split())
    return found


def _descendants(pid: int) -> Iterator[int]:
    """All processes below `pid`, those that ended and wait to be reaped left out."""
    waiting = _children(pid)
    while waiting:
        below = waiting.pop()
        waiting += _children(below)
        with suppress(OSError, IndexError):
            if _stat_of(below)[0] not in "ZX":
                yield below


def _use(child: int) -> tuple[int, int]:
    """Threads and bytes of memory, not counting shared pages, of `child` and all below it."""
    threads = resident = 0
    for pid in (child, *_descendants(child)):
        with suppress(OSError, IndexError, ValueError):
            threads += int(_stat_of(pid)[17])
            with open(f"/proc/{pid}/statm", encoding="ascii") as file:
                _, pages, shared = file.read().split()[:3]
            resident += (int(pages) - int(shared)) * PAGE
    return threads, resident


def _lies_in(folders: list[str], most_bytes: int, most_files: int) -> tuple[int, int]:
    """Bytes on disk and number of entries in `folders`; no further than needed to know that it is too much."""
    size = count = 0
    waiting = list(folders)
    while waiting and size <= most_bytes and count <= most_files:
        with suppress(OSError), os.scandir(waiting.pop()) as entries:
            for entry in entries:
                count += 1
                with suppress(OSError):
                    found = entry.stat(follow_symlinks=False)
                    size += found.st_blocks * 512
                    if stat.S_ISDIR(found.st_mode):
                        waiting.append(entry.path)
                if count > most_files:
                    break
    return size, count


if __name__ == "__main__":
    sys.exit(main())
