"""The view of the machine for sandboxed commands: programs, libraries, a Python, environment and process limits."""

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
from agent_core.sandbox.command import Command
from agent_core.sandbox.limits import CommandLimits

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
"""Certificates without the private keys beside them."""
_OF_PYTHON = ("bin", "lib", "lib64", "include", "share/terminfo")
"""Parts of the folder of Python's installation, which may be a home folder or its .local."""
TEMPORARY_BYTES = 256 * 1024**2
"""Size of the temporary folder if it is in memory."""

OURS = Path(agent_core.__file__).resolve().parent.parent
"""The folder of Parley's own packages."""

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def python_folder() -> Path:
    """Return the installation of the running interpreter, without its environment's packages."""
    return Path(sys.base_prefix).resolve()


@cache
def system(*, network: bool) -> tuple[Path, ...]:
    """Return the paths that every command may read."""
    settings = (*SETTINGS, *FOR_NETWORK) if network else SETTINGS
    found = [path for path in (*PROGRAMS, *settings) if path.exists()]
    python = python_folder()
    if not any(python.is_relative_to(path) for path in PROGRAMS):
        found += [python / name for name in _OF_PYTHON if (python / name).exists()]
    return tuple(found)


def hidden_in(folders: Sequence[Path], hidden: Sequence[Path]) -> list[Path]:
    """Return the hidden paths that are inside readable folders."""
    resolved = [folder.resolve() for folder in folders]
    return [path for path in hidden if any(path.is_relative_to(folder) for folder in resolved)]


def environment(command: Command, temporary: Path) -> dict[str, str]:
    """Return the base environment of a command. Its `python3` is the interpreter that runs Parley."""
    python = Path(sys.executable).resolve().parent
    path = dict.fromkeys((str(python), "/usr/local/bin", "/usr/bin", "/bin"))
    return {
        "PATH": ":".join(path),
        "HOME": str(command.workspace),
        "LANG": "C.UTF-8",
        "TMPDIR": str(temporary),
        "GIT_CONFIG_NOSYSTEM": "1",  # git fails if it may not read the machine's settings
    }


def check_program(command: Command, env: Mapping[str, str]) -> None:
    """Raise FileNotFoundError if there is no program of that name."""
    program = command.argv[0]
    path = command.env.get("PATH", env["PATH"])
    place = str(command.workspace / program) if "/" in program else program
    if not shutil.which(place, path=path):
        raise FileNotFoundError(errno.ENOENT, "there is no such program", program)


def asked_for(env: Mapping[str, str]) -> Iterator[str]:
    """Yield `NAME=value`. Raises OSError for an invalid name, because shells import some as functions."""
    for name, value in env.items():
        if not _NAME.fullmatch(name) or "\0" in value:
            raise OSError(f"{name[:40]!r} cannot be a variable of the environment")
        yield f"{name}={value}"


def limits_of_a_process(limits: CommandLimits) -> dict[int, int]:
    """Return the limits for setrlimit, at most Parley's own. The number of processes is missing, because it is not per
    process."""
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
    """Return True for root, whose processes the kernel does not count."""
    return os.geteuid() == 0
