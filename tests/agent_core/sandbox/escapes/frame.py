"""Common parts of the probes. They run in a sandbox from a copy, without the rest of the code base."""

import ctypes
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path

WORLD: dict[str, str] = json.loads(sys.argv[1])
"""Locations of the protected things; see outside.py."""
HOME, OUTSIDE = Path(WORLD["home"]), Path(WORLD["outside"])
SLEEPER = int(WORLD["sleeper"])
SECRET = WORLD["secret"]
MIB = 1024**2

libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
ARM = os.uname().machine == "aarch64"


INHERITED = [number for number in range(3, 256) if libc.fcntl(number, 1) >= 0]
"""File descriptors that were open at the start."""

Probe = Callable[[], str]
PROBES: list[Probe] = []


def probe(function: Probe) -> Probe:
    PROBES.append(function)
    return function


def reads(path: Path | str, wanted: str = "") -> str:
    content = Path(path).read_bytes().decode(errors="replace")
    return f"read {path}" if wanted in content else ""


def call(x86: int, arm: int, *arguments: object) -> int:
    """Make a system call. Raises OSError."""
    result = int(libc.syscall(ctypes.c_long(arm if ARM else x86), *arguments))
    if result < 0:
        raise OSError(ctypes.get_errno(), "refused")
    return result


def in_child(action: Callable[[], object]) -> str:
    """Run an action in a child process, so that its effects do not change this one."""
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            action()
            code = 0
        finally:
            os._exit(code)
    return "it was allowed" if os.waitpid(pid, 0)[1] == 0 else ""
