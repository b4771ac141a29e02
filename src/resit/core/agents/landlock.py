"""Landlock: a Linux process gives up, for itself and all it starts, every path that it does not name.

Needs no root and no package, only a kernel from 5.13 on: three system calls through ctypes, as told in the kernel's
`Documentation/userspace-api/landlock.rst`. Part of the launcher, so nothing but the standard library is imported.
It governs opening, making, moving and removing: names can still be looked up and permissions changed.
"""

from __future__ import annotations

import ctypes
import os
import stat
import struct
from contextlib import suppress

CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446
"""Numbers of the system calls, the same on every architecture."""
VERSION_FLAG, PATH_BENEATH = 1, 1
PR_CAPBSET_DROP, PR_SET_NO_NEW_PRIVS = 24, 38
CAPSET = {
    "x86_64": 126, "aarch64": 91, "riscv64": 91, "loongarch64": 91, "ppc64le": 184, "s390x": 185, "i686": 185,
    "armv7l": 185, "armv6l": 185,
}  # fmt: skip
CAPABILITY_VERSION = 0x20080522
CLONE_NEWUSER, CLONE_NEWNET = 0x10000000, 0x40000000

EXECUTE, WRITE_FILE, READ_FILE, READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
REFER, TRUNCATE, IOCTL_DEV = 1 << 13, 1 << 14, 1 << 15
FIRST = (1 << 13) - 1
"""The rights of the first version: the four above, and making and removing entries of every kind."""
OF_FILES = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | IOCTL_DEV
READ = EXECUTE | READ_FILE | READ_DIR
MAKE_DEVICES = 1 << 6 | 1 << 11
"""Character and block devices: nobody needs to make one."""
BIND_TCP, CONNECT_TCP = 1 << 0, 1 << 1
ABSTRACT_SOCKETS, SIGNALS = 1 << 0, 1 << 1


def version() -> int:
    """The version of Landlock that the kernel offers; 0 for none."""
    try:
        found = _call(CREATE_RULESET, None, ctypes.c_size_t(0), ctypes.c_uint32(VERSION_FLAG))
    except (OSError, AttributeError):
        return 0
    return max(0, found)


def restrict(read: list[str], write: list[str], *, network: bool) -> None:
    """Allow this process only what is beneath the named files and folders; there is no way back.

    Args:
        read: May be read and executed; those that are not there are passed over.
        write: May be changed as well.
        network: False allows no TCP, where the kernel can tell (version 4).

    Raises:
        OSError: The kernel refused.
    """
    offered = version()
    if not offered:
        raise OSError("this kernel has no Landlock")
    handled = FIRST | (REFER if offered >= 2 else 0) | (TRUNCATE if offered >= 3 else 0)
    handled |= IOCTL_DEV if offered >= 5 else 0
    handled_net = 0 if network or offered < 4 else BIND_TCP | CONNECT_TCP
    # Signals to processes outside, and sockets without a path, from version 6 on.
    scoped = ABSTRACT_SOCKETS | SIGNALS if offered >= 6 else 0
    ruleset = _ruleset(offered, handled, handled_net, scoped)
    try:
        for path in read:
            _allow(ruleset, path, READ & handled)
        for path in write:
            _allow(ruleset, path, handled & ~MAKE_DEVICES)
        _enforce(ruleset)
    finally:
        os.close(ruleset)


def leave_sockets() -> None:
    """Reach no socket without a path any more, a desktop's above all; where the kernel can tell (version 6)."""
    offered = version()
    if offered < 6:
        return
    ruleset = _ruleset(offered, 0, 0, ABSTRACT_SOCKETS)
    try:
        _enforce(ruleset)
    finally:
        os.close(ruleset)


def give_up_root() -> None:
    """Give up every capability, for this process and all it starts: root could stop the machine, or load modules.

    Raises:
        OSError: The kernel refused.
    """
    if os.geteuid() != 0:
        return
    libc = ctypes.CDLL(None, use_errno=True)
    for number in range(64):
        libc.prctl(PR_CAPBSET_DROP, number, 0, 0, 0)  # fails for numbers that this kernel does not know
    header = struct.pack("=Ii", CAPABILITY_VERSION, 0)
    capset = CAPSET.get(os.uname().machine)
    if capset is None:
        raise OSError(f"it is not known how root gives up its power on {os.uname().machine}")
    _call(capset, ctypes.c_char_p(header), ctypes.c_char_p(bytes(24)))


def leave_network() -> None:
    """Move to a network of its own without any connection, where an ordinary user may do that; else nothing."""
    user, group = os.getuid(), os.getgid()
    with suppress(OSError, AttributeError):
        libc = ctypes.CDLL(None, use_errno=True)
        if libc.unshare(CLONE_NEWUSER | CLONE_NEWNET):
            return
        for name, text in (("setgroups", "deny"), ("uid_map", f"{user} {user} 1"), ("gid_map", f"{group} {group} 1")):
            with open(f"/proc/self/{name}", "w", encoding="ascii") as file:
                file.write(text)


def _ruleset(offered: int, handled: int, handled_net: int, scoped: int) -> int:
    attributes = struct.pack("=QQQ", handled, handled_net, scoped)
    size = 8 if offered < 4 else 16 if offered < 6 else 24
    return _call(CREATE_RULESET, ctypes.c_char_p(attributes), ctypes.c_size_t(size), ctypes.c_uint32(0))


def _enforce(ruleset: int) -> None:
    if ctypes.CDLL(None, use_errno=True).prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0):
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    _call(RESTRICT_SELF, ctypes.c_int(ruleset), ctypes.c_uint32(0))


def _allow(ruleset: int, path: str, rights: int) -> None:
    try:
        place = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return
    try:
        if not stat.S_ISDIR(os.fstat(place).st_mode):
            rights &= OF_FILES
        rule = struct.pack("=Qi", rights, place)
        _call(ADD_RULE, ctypes.c_int(ruleset), ctypes.c_int(PATH_BENEATH), ctypes.c_char_p(rule), ctypes.c_uint32(0))
    finally:
        os.close(place)


def _call(number: int, *arguments: object) -> int:
    libc = ctypes.CDLL(None, use_errno=True)
    libc.syscall.restype = ctypes.c_long
    found = int(libc.syscall(ctypes.c_long(number), *arguments))
    if found < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return found
