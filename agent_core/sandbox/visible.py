"""What of the machine a command that is shut in may see and use, whoever shuts it in: programs and libraries, a Python,
no file of the house, and so much of everything as its limits say."""

import errno
import os
import re
import resource
import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path

import agent_core
from agent_core.sandbox.command import Command, Limits

PROGRAMS = tuple(
    Path(path) for path in ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix/store", "/gnu/store")
)
SETTINGS = tuple(Path("/etc") / name for name in ("alternatives", "ld.so.cache", "fonts", "localtime"))
FOR_NETWORK = tuple(
    Path("/etc") / name
    for name in (
        *("ssl/certs", "ssl/cert.pem", "ssl/openssl.cnf", "ca-certificates", "pki/tls/certs", "pki/tls/cert.pem"),
        *("pki/tls/openssl.cnf", "pki/ca-trust/extracted", "resolv.conf", "hosts", "nsswitch.conf", "gai.conf"),
        *("services", "crypto-policies"),
    )
)
"""Certificates, but not the private keys of this machine, which lie beside them and may be the user's, or root's."""
_OF_PYTHON = ("bin", "lib", "lib64", "include", "share/terminfo")
"""Of the folder that its Python was installed into, which may be somebody's home or its .local."""
TEMPORARY_BYTES = 256 * 1024**2
"""Of the temporary folder, where it lies in memory."""

OURS = Path(agent_core.__file__).resolve().parent.parent
"""Where Parley's own packages lie."""

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def python_folder() -> Path:
    """Of the interpreter that Parley runs with, without the packages of its environment."""
    return Path(sys.base_prefix).resolve()


@cache
def system(*, network: bool) -> tuple[Path, ...]:
    """What every command may read."""
    settings = (*SETTINGS, *FOR_NETWORK) if network else SETTINGS
    found = [path for path in (*PROGRAMS, *settings) if path.exists()]
    python = python_folder()
    if not any(python.is_relative_to(path) for path in PROGRAMS):
        found += [python / name for name in _OF_PYTHON if (python / name).exists()]
    return tuple(found)


def hidden_in(folders: Sequence[Path], hidden: Sequence[Path]) -> list[Path]:
    """Which of the files and folders that nobody may see lie in folders that one may read."""
    resolved = [folder.resolve() for folder in folders]
    return [path for path in hidden if any(path.is_relative_to(folder) for folder in resolved)]


def environment(command: Command, temporary: Path) -> dict[str, str]:
    """All that a command is told, but for what it asks for itself. Its `python3` is the one that Parley runs with."""
    python = Path(sys.executable).resolve().parent
    path = dict.fromkeys((str(python), "/usr/local/bin", "/usr/bin", "/bin"))
    return {
        "PATH": ":".join(path),
        "HOME": str(command.workspace),
        "LANG": "C.UTF-8",
        "TMPDIR": str(temporary),
        "GIT_CONFIG_NOSYSTEM": "1",  # git ends where it may not read the machine's settings
    }


def check_program(command: Command, env: Mapping[str, str]) -> None:
    """Raises FileNotFoundError where there is no program of that name."""
    program = command.argv[0]
    path = command.env.get("PATH", env["PATH"])
    place = str(command.workspace / program) if "/" in program else program
    if not shutil.which(place, path=path):
        raise FileNotFoundError(errno.ENOENT, "there is no such program", program)


def asked_for(env: Mapping[str, str]) -> Iterator[str]:
    """`NAME=value` of each. Raises OSError for what is no name: a shell would take some of them for functions."""
    for name, value in env.items():
        if not _NAME.fullmatch(name) or "\0" in value:
            raise OSError(f"{name[:40]!r} cannot be a variable of the environment")
        yield f"{name}={value}"


def limits_of_a_process(limits: Limits) -> dict[int, int]:
    """What setrlimit is told, never more than Parley may have itself. Without the number of processes: that is not a
    matter of one process."""
    asked = {
        resource.RLIMIT_AS: limits.memory_bytes,
        resource.RLIMIT_CPU: limits.cpu_seconds,
        resource.RLIMIT_FSIZE: limits.file_bytes,
        resource.RLIMIT_NOFILE: limits.open_files,
        resource.RLIMIT_CORE: 0,
    }
    return {which: at_most(which, amount) for which, amount in asked.items()}


def at_most(which: int, amount: int) -> int:
    _, hard = resource.getrlimit(which)
    return amount if hard == resource.RLIM_INFINITY else min(amount, hard)


def is_root() -> bool:
    """For whom the kernel counts no processes."""
    return os.geteuid() == 0
