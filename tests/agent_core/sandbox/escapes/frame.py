"""What the probes share. They run shut in, from a copy, where nothing else of the house is."""

import ctypes
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path

WORLD: dict[str, str] = json.loads(sys.argv[1])
"""What lies outside and where: see outside.py."""
HOME, OUTSIDE = Path(WORLD["home"]), Path(WORLD["outside"])
SLEEPER = int(WORLD["sleeper"])
SECRET = WORLD["secret"]
MIB = 1024**2

libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
ARM = os.uname().machine == "aarch64"


INHERITED = [number for number in range(3, 256) if libc.fcntl(number, 1) >= 0]
"""Files that were open at the beginning."""

Probe = Callable[[], str]
PROBES: list[Probe] = []


def probe(function: Probe) -> Probe:
    PROBES.append(function)
    return function


def reads(path: Path | str, wanted: str = "") -> str:
    content = Path(path).read_bytes().decode(errors="replace")
    return f"read {path}" if wanted in content else ""


def call(x86: int, arm: int, *arguments: object) -> int:
    """A system call. Raises OSError."""
    result = int(libc.syscall(ctypes.c_long(arm if ARM else x86), *arguments))
    if result < 0:
        raise OSError(ctypes.get_errno(), "refused")
    return result


def in_child(action: Callable[[], object]) -> str:
    """Tries it in a child, so that this process stays what it is."""
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            action()
            code = 0
        finally:
            os._exit(code)
    return "it was allowed" if os.waitpid(pid, 0)[1] == 0 else ""
