"""An agent that will not end: deaf to signals, forked twice, in sessions of its own, each holding a lock."""

import fcntl
import os
import signal
import time

for number in range(1, signal.NSIG):
    if number not in (signal.SIGKILL, signal.SIGSTOP, signal.SIGCHLD):
        try:
            signal.signal(number, signal.SIG_IGN)
        except (OSError, ValueError):
            continue


def hold(name: str) -> None:
    place = os.open(name, os.O_RDWR | os.O_CREAT, 0o600)
    fcntl.flock(place, fcntl.LOCK_EX)


for depth in ("one", "two", "three"):
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            os.setsid()
            hold(f"lock-{depth}")
            os.write(1, b"ready\n")
            for descriptor in range(3):
                os.close(descriptor)
            time.sleep(3600)
        os._exit(0)
    os.wait()
hold("lock-main")
time.sleep(3600)
