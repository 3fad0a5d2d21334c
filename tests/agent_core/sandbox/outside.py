"""The outside of a sandbox test: a home with valuable things, and the escapes run in a sandbox beside it.

Prints the results of the escapes and then the changes to the home, as lines of JSON: name, and way out or "". Run it
with `python -m tests.agent_core.sandbox.outside LAUNCHER FOLDER`; the launcher `none` means no sandbox. If the launcher
does not work for this user, it prints the reason and exits with 3.
"""

import asyncio
import ctypes
import json
import os
import pwd
import secrets
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path

from agent_core.sandbox.bubblewrap import Bubblewrap, find_program
from agent_core.sandbox.cgroup import control_groups
from agent_core.sandbox.command import Command, Launch, Launcher
from agent_core.sandbox.landlock import Landlock
from agent_core.sandbox.limits import CommandLimits
from agent_core.sandbox.probe import NoLauncher, find_launcher
from tests.agent_core.sandbox.shared_limit import BOMB, counted_with_it
from tests.process import REPOSITORY

KINDS = {"nested": "bubblewrap", "unscoped": "landlock"}
"""Launchers as an older bubblewrap and an older kernel provide them."""
SLEEP = "import sys; sys.stdin.read()"


class Unconfined:
    name = "none"

    @contextmanager
    def launch(self, command: Command) -> Iterator[Launch]:
        env = {**os.environ, "TMPDIR": str(command.workspace), **command.env}
        yield Launch(command.argv, env, command.workspace)


def launcher(name: str) -> Launcher:
    groups = control_groups()
    program = find_program()
    if name == "bubblewrap" and program:
        return Bubblewrap(program, groups=groups)
    if name == "nested" and program:
        return Bubblewrap(program, groups=groups, nested=True)
    if name == "landlock":
        return Landlock(groups=groups)
    if name == "unscoped":
        return Landlock(groups=groups, version=5)
    return Unconfined()


class House:
    """The protected home; it exists until the context is left."""

    def __init__(self, folder: Path, stack: ExitStack) -> None:
        self.secret = secrets.token_hex(16)
        self.home, self.outside, self.readable = folder / "home", folder / "outside", folder / "readable"
        self.workspace = self.home / "workspaces" / "chat"
        for place in (self.workspace, self.outside, self.readable):
            place.mkdir(parents=True)
        (self.home / ".env").write_text(f"TOKEN={self.secret}\n")
        (self.home / "parley.db").write_text("a store")
        (self.workspace / "planted-link").symlink_to(self.home / ".env")
        for name in ("file", "victim"):
            (self.outside / name).write_text(self.secret)
        os.mkfifo(self.outside / "fifo")
        (self.readable / "SKILL.md").write_text("a skill")
        escapes = Path(__file__).with_name("escapes")
        shutil.copytree(escapes, self.readable / escapes.relative_to(REPOSITORY))
        self.marker = f"sleeper-{self.secret[:6]}"
        self.sleeper = stack.enter_context(self._sleeper())
        self.listener = self._listening(stack, socket.AF_INET, ("127.0.0.1", 0))
        self.datagrams = stack.enter_context(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
        self.datagrams.bind(("127.0.0.1", 0))
        self.datagrams.settimeout(0)
        self.mailbox = stack.enter_context(socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM))
        self.mailbox.bind(str(self.outside / "mailbox"))
        self.mailbox.settimeout(0)
        self._listening(stack, socket.AF_UNIX, f"\0{self.marker}")
        self._listening(stack, socket.AF_UNIX, str(self.outside / "socket"))
        self.shared_memory = _shared_memory(stack)

    def _sleeper(self) -> "AbstractContextManager[subprocess.Popen[bytes]]":
        argv = [sys.executable, "-I", "-S", "-c", SLEEP, self.marker]
        return subprocess.Popen(argv, stdin=subprocess.PIPE, env={"TOKEN": self.secret})  # noqa: S603

    def _wakes(self) -> int | None:
        """Return the exit code of the sleeper, after all signals that it got; None if it does not wake up."""
        try:
            self.sleeper.communicate(timeout=30)
        except subprocess.TimeoutExpired:
            return None
        return self.sleeper.returncode

    @staticmethod
    def _listening(stack: ExitStack, family: int, address: str | tuple[str, int]) -> socket.socket:
        listener = stack.enter_context(socket.socket(family))
        listener.bind(address)
        listener.listen()
        return listener

    def world(self) -> str:
        """Return the JSON that tells the escapes about the home."""
        return json.dumps(
            {
                "home": str(self.home),
                "outside": str(self.outside),
                "readable": str(self.readable),
                "repository": str(REPOSITORY),
                "root": pwd.getpwuid(0).pw_dir,
                "sleeper": str(self.sleeper.pid),
                "marker": self.marker,
                "secret": self.secret,
                "tcp": str(self.listener.getsockname()[1]),
                "udp": str(self.datagrams.getsockname()[1]),
                "abstract": self.marker,
                "shared_memory": str(self.shared_memory),
                "most_processes": str(BOMB + 6 + counted_with_it()),
            }
        )

    def found(self) -> Iterator[tuple[str, str]]:
        """Yield the changes that happened to the home."""
        for name, waiting in (("datagram", self.datagrams), ("mailbox", self.mailbox)):
            try:
                waiting.recv(100)
                yield f"outside.{name}", "a datagram has arrived"
            except BlockingIOError:
                yield f"outside.{name}", ""
        yield "outside.sleeper", "was signalled" if self._wakes() != 0 else ""
        file = self.outside / "file"
        yield "outside.file", "" if file.read_text() == self.secret else "was changed"
        changed = file.stat().st_mode & 0o777 == 0o777 or file.stat().st_mtime == 1
        yield "outside.mode", "mode or time were changed" if changed else ""
        names = sorted(path.name for path in self.outside.iterdir())
        yield "outside.folder", "" if names == ["fifo", "file", "mailbox", "socket", "victim"] else f"holds {names}"
        yield "outside.skill", "" if (self.readable / "SKILL.md").read_text() == "a skill" else "was changed"


def _shared_memory(stack: ExitStack) -> int:
    libc = ctypes.CDLL(None)
    segment = int(libc.shmget(0, 4096, 0o600))
    stack.callback(libc.shmctl, segment, 0, None)
    return segment


def main(name: str, folder: Path) -> int:
    os.umask(0o077)
    found = Unconfined() if name == "none" else asyncio.run(find_launcher(folder, only=KINDS.get(name, name)))
    if isinstance(found, NoLauncher):
        sys.stderr.write(found.reason)
        return 3
    with ExitStack() as stack:
        house = House(folder, stack)
        os.environ["TOKEN"] = house.secret
        command = Command(
            ("python3", "-m", "tests.agent_core.sandbox.escapes", house.world()),
            house.workspace,
            readable=(house.readable,),
            env={"PYTHONPATH": str(house.readable)},
            limits=CommandLimits(processes=BOMB),
        )
        with launcher(name).launch(command) as launch:
            done = subprocess.run(  # noqa: S603
                launch.argv,
                env=launch.env,
                cwd=launch.cwd,
                pass_fds=launch.pass_fds,
                stdin=launch.stdin,
                stdout=subprocess.PIPE,
                check=False,
                timeout=50,
            )
        sys.stdout.write(done.stdout.decode())
        for line in house.found():
            sys.stdout.write(json.dumps(line) + "\n")
        sys.stdout.write(
            json.dumps(("outside.ended", "" if done.returncode == 0 else f"with {done.returncode}")) + "\n"
        )
        house.sleeper.kill()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], Path(sys.argv[2])))
