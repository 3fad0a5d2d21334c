"""Use of more resources than a command may have."""

import mmap
import os
import resource
import signal
from pathlib import Path

from tests.agent_core.sandbox.escapes.frame import MIB, WORLD, probe


@probe
def memory() -> str:
    mmap.mmap(-1, 3 * 1024 * MIB).close()
    return "got 3 GiB"


@probe
def temporary_memory() -> str:
    """Fill file systems in memory, which must be limited or absent."""
    for folder in ("/dev/shm", "/tmp", "/dev", "/"):  # noqa: S108 - those that exist
        big = Path(folder, "big")
        try:
            with big.open("wb") as file:
                for _ in range(4):
                    file.write(bytes(90 * MIB))
                    file.flush()
            big.unlink()
        except OSError:
            continue
        return f"wrote 360 MiB to {folder}"
    return ""


@probe
def forks() -> str:
    reading, writing = os.pipe()
    children = []
    try:
        for _ in range(200):
            pid = os.fork()
            if pid == 0:
                os.close(writing)
                os.read(reading, 1)
                os._exit(0)
            children.append(pid)
    except OSError:
        return "" if len(children) <= int(WORLD["most_processes"]) else f"made {len(children)} processes"
    finally:
        os.close(writing)
        for pid in children:
            os.waitpid(pid, 0)
    return "made 200 processes"


@probe
def large_file() -> str:
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    with Path("large").open("wb") as file:
        file.seek(300 * MIB)
        file.write(b"x")
    return "wrote a file of 300 MiB"


@probe
def core_file() -> str:
    return "" if resource.getrlimit(resource.RLIMIT_CORE) == (0, 0) else "may write a core"


@probe
def raise_limits() -> str:
    raised = []
    for which in (resource.RLIMIT_AS, resource.RLIMIT_CPU, resource.RLIMIT_FSIZE, resource.RLIMIT_NOFILE):
        _, hard = resource.getrlimit(which)
        try:
            resource.setrlimit(which, (hard, resource.RLIM_INFINITY if hard < 0 else hard + 1))
            raised.append(which)
        except (OSError, ValueError):
            continue
    return f"raised {raised}" if raised else ""
