"""An agent that writes wherever it can: over the key, into its parents, the home, the system."""

import contextlib
import glob
import os
import sys

TEXT = "written by an agent"


def write(path: str) -> None:
    with contextlib.suppress(OSError), open(path, "a", encoding="utf-8") as file:
        file.write(TEXT)


for place in sys.argv[1:]:
    write(place)
    write(f"{place}/planted")
    with contextlib.suppress(OSError):
        os.symlink(place, f"link-{os.path.basename(place)}")
    write(f"link-{os.path.basename(place)}/planted")
    with contextlib.suppress(OSError):
        os.chmod(place, 0o777)
    with contextlib.suppress(OSError):
        os.rename(place, f"{place}-moved")
    with contextlib.suppress(OSError):
        os.unlink(place)
folder = os.getcwd()
while folder != "/":
    folder = os.path.dirname(folder)
    write(f"{folder}/planted")
for pid in glob.glob("/proc/[0-9]*"):
    write(f"{pid}/comm")
    write(f"{pid}/cwd/planted")
    write(f"{pid}/oom_score_adj")
write("own-work.txt")
sys.stdout.write("tried everything\n")
