"""Privilege escalation, and system calls that have made it possible before."""

import ctypes
import os
import signal
import struct
from pathlib import Path

from tests.agent_core.sandbox.escapes.frame import call, in_child, libc, probe


@probe
def mount() -> str:
    Path("mount").mkdir()
    if libc.mount(b"none", b"mount", b"tmpfs", 0, None) != 0:
        raise OSError
    libc.umount2(b"mount", 2)
    return "mounted"


@probe
def mount_anew() -> str:
    os.close(call(430, 430, b"tmpfs", 0))
    return "opened a file system"


@probe
def change_root() -> str:
    return in_child(lambda: os.chroot("."))


@probe
def user_namespace() -> str:
    return in_child(lambda: call(272, 97, 0x10000000))


@probe
def user_namespace_by_clone() -> str:
    pid = call(56, 220, ctypes.c_ulong(0x10000000 | signal.SIGCHLD), 0, 0, 0, 0)
    if pid == 0:
        os._exit(0)
    os.waitpid(pid, 0)
    return "made one"


@probe
def user_namespace_by_clone3() -> str:
    arguments = struct.pack("8Q", 0x10000000, 0, 0, 0, signal.SIGCHLD, 0, 0, 0)
    pid = call(435, 435, arguments, ctypes.c_size_t(len(arguments)))
    if pid == 0:
        os._exit(0)
    os.waitpid(pid, 0)
    return "made one"


@probe
def other_namespaces() -> str:
    return in_child(lambda: call(272, 97, 0x00020000)) or in_child(lambda: call(272, 97, 0x40000000))


@probe
def capabilities() -> str:
    held = (ctypes.c_uint32 * 6)()
    libc.capget((ctypes.c_uint32 * 2)(0x20080522, 0), held)
    bounding = [number for number in range(41) if os.geteuid() == 0 and libc.prctl(23, number, 0, 0, 0) == 1]
    return f"holds {list(held)}, may gain {bounding}" if any(held) or bounding else ""


@probe
def new_privileges() -> str:
    return "" if libc.prctl(39, 0, 0, 0, 0) == 1 else "may gain rights"


@probe
def keys() -> str:
    call(248, 217, b"user", b"parley", b"x", ctypes.c_size_t(1), -1)
    return "kept a key"


@probe
def keyring() -> str:
    call(250, 219, 0, -3, 0)
    return "has a keyring"


@probe
def io_uring() -> str:
    os.close(call(425, 425, 1, bytes(120)))
    return "made a ring"


@probe
def bpf() -> str:
    os.close(call(321, 280, 0, struct.pack("IIII", 2, 4, 4, 1) + bytes(104), 120))
    return "made a map"


@probe
def perf() -> str:
    os.close(call(298, 241, struct.pack("IIQ", 1, 112, 0) + bytes(96), 0, -1, -1, 0))
    return "opened a counter"


@probe
def page_faults() -> str:
    os.close(call(323, 282, 1))
    return "handles page faults"


@probe
def terminal() -> str:
    ours, theirs = os.openpty()
    libc.ioctl(theirs, 0x5412, b"x")
    if ctypes.get_errno() == 0:
        return "typed for somebody else"
    os.close(ours)
    return ""
