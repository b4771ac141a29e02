"""An agent that forks as fast as it can, up to a number; says how far it came."""

import os
import sys
import time

made = 0
for _ in range(int(sys.argv[1])):
    try:
        if os.fork() == 0:
            time.sleep(3600)
    except OSError:
        break
    made += 1
sys.stdout.write(f"made {made}\n")
sys.stdout.flush()
time.sleep(3600 if made == int(sys.argv[1]) else 0)
