"""Access to Parley and to other processes of the same user."""

import ctypes
import os
import resource
import signal
import socket
from functools import partial
from pathlib import Path

from tests.agent_core.sandbox.escapes.frame import INHERITED, SECRET, SLEEPER, WORLD, call, in_child, libc, probe, reads


@probe
def own_environment() -> str:
    known = {
        "PATH",
        "HOME",
        "LANG",
        "TMPDIR",
        "GIT_CONFIG_NOSYSTEM",
        "PYTHONPATH",
        "PWD",
        "OLDPWD",
        "SHLVL",
        "LC_CTYPE",
    }
    return f"knows {sorted(set(os.environ) - known)}" if set(os.environ) - known else ""


@probe
def other_environments() -> str:
    for name in {*(path.name for path in Path("/proc").iterdir()), str(SLEEPER), str(os.getppid()), "1"}:
        try:
            if name.isdigit() and SECRET.encode() in Path(f"/proc/{name}/environ").read_bytes():
                return f"read the environment of {name}"
        except OSError:
            continue
    return ""


@probe
def environment_of_the_sleeper() -> str:
    return reads(f"/proc/{SLEEPER}/environ", SECRET)


@probe
def other_processes() -> str:
    return reads(f"/proc/{SLEEPER}/cmdline", WORLD["marker"])


@probe
def inherited_files() -> str:
    return f"inherited {INHERITED}" if INHERITED else ""


@probe
def import_gateway() -> str:
    try:
        __import__("gateway.cli")
    except ImportError:
        return ""
    return "imported the house"


@probe
def read_sources() -> str:
    return reads(Path(WORLD["repository"], "gateway", "cli.py"))


@probe
def send_signal() -> str:
    os.kill(SLEEPER, signal.SIGUSR1)
    return "sent a signal"


@probe
def send_no_signal() -> str:
    """Only ask whether a process exists."""
    return in_child(partial(os.kill, SLEEPER, 0))


@probe
def signal_by_file() -> str:
    """Ask the kernel to signal the owner of a socket when data arrives."""
    ours, theirs = socket.socketpair()
    libc.fcntl(ours.fileno(), 10, int(signal.SIGUSR1))
    libc.fcntl(ours.fileno(), 8, SLEEPER)
    libc.fcntl(ours.fileno(), 4, os.O_ASYNC | os.O_NONBLOCK)
    theirs.send(b"x")
    return ""  # the outside process checks whether the signal came


@probe
def signal_by_pidfd() -> str:
    signal.pidfd_send_signal(os.pidfd_open(SLEEPER), signal.SIGUSR1)
    return "sent a signal"


@probe
def ptrace() -> str:
    call(101, 117, 16, SLEEPER, 0, 0)
    os.waitpid(SLEEPER, 0)
    call(101, 117, 17, SLEEPER, 0, 0)
    return "attached"


@probe
def read_memory() -> str:
    held = ctypes.create_string_buffer(8)
    local = (ctypes.c_void_p * 2)(ctypes.addressof(held), 8)
    call(310, 270, SLEEPER, local, 1, local, 1, 0)
    return "read memory"


@probe
def limit_others() -> str:
    resource.prlimit(SLEEPER, resource.RLIMIT_CORE, (0, 0))
    return "limited a process"


@probe
def slow_others() -> str:
    os.setpriority(os.PRIO_PROCESS, SLEEPER, 19)
    return "slowed a process"


@probe
def shared_memory() -> str:
    """Use System V shared memory, which outlives processes: that of another process, or a new one for others."""
    key = int(WORLD["shared_memory"])
    if key < 0:
        return ""
    call(30, 196, key, None, 0)
    return "attached the memory of somebody else"
