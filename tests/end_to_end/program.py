"""Parley in a process of its own."""

import asyncio
import os
import shutil
import signal
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from pathlib import Path

from tests.end_to_end.forks import CAN_FORK, NURSERY, Forked
from tests.end_to_end.reported import ROUTED
from tests.end_to_end.tables import stored
from tests.end_to_end.zygote import Birth
from tests.process import REPOSITORY

_TICK = os.sysconf("SC_CLK_TCK")
REPORTED = "tests.end_to_end.reported"
_OPEN = "SELECT seq FROM inbox WHERE state = 'new'"
START_SECONDS = 60
"""Time limit for a start, also of several nodes at once, on a busy machine."""


class Program:
    """`parley run` in a home of its own. The output of all its processes is appended to one file."""

    def __init__(self, folder: Path, environ: Mapping[str, str], *, console: str = "console.txt") -> None:
        self.home = folder / "home"
        self._console = folder / console
        self._environ = {
            "PATH": os.environ.get("PATH", ""),
            "PYTHONPATH": str(REPOSITORY),
            "HOME": str(folder),
            "PARLEY_HOME": str(self.home),
            "PARLEY_TIMEZONE": "Europe/Paris",
            "PARLEY_HEARTBEAT": "off",  # its messages would disturb other tests
            "PARLEY_DRAIN_SECONDS": "0",  # tests stop it in the middle of answers
            **environ,
        }
        self.forked = False
        """True if a zygote forks it, which saves the imports of a start; `zygote` lists the differences. Tests of the
        start itself use the command line."""
        self.imports: tuple[str, ...] = ()
        """Modules to import before forking."""
        self.module = "gateway.cli"
        """Module to run; without arguments the default is `parley run`."""
        self.arguments: tuple[str, ...] = ()
        self.reports = False
        """True if it tells which stored events have come to their chat, as `heard` needs to know."""
        self._folder = folder
        self._process: asyncio.subprocess.Process | Forked | None = None

    def set(self, name: str, value: str) -> None:
        """Set an environment variable for the next start."""
        self._environ[name] = value

    def unset(self, name: str) -> None:
        """Remove an environment variable for the next start."""
        self._environ.pop(name, None)

    @property
    def console(self) -> str:
        """All output so far, standard output and standard error."""
        return self._console.read_text() if self._console.exists() else ""

    def twin(self, console: str = "twin.txt", **environ: str) -> "Program":
        """Return another program with the same home and settings, but for these variables, and its own output."""
        twin = Program(self._folder, {**self._environ, **environ}, console=console)
        twin.forked, twin.reports = self.forked, self.reports
        return twin

    async def launch(self, terminal: int | None = None) -> None:
        """Start it without waiting. On a terminal only the log goes to the output file."""
        module, arguments = self.module, self.arguments
        if self.reports:
            module, arguments = REPORTED, (module, *arguments)
        with self._console.open("ab") as console:
            stdout = console.fileno() if terminal is None else terminal
            if self.forked and CAN_FORK:
                birth = Birth(
                    modules=self.imports,
                    module=module,
                    arguments=arguments,
                    environ=self._environ,
                    cwd=str(self._folder),
                    new_session=terminal is not None,
                )
                self._process = await NURSERY.fork(birth, stdin=terminal, stdout=stdout, stderr=console.fileno())
            else:
                self._process = await asyncio.create_subprocess_exec(
                    *(sys.executable, "-P", "-m", module, *arguments),
                    cwd=self._folder,
                    env=self._environ,
                    stdin=asyncio.subprocess.DEVNULL if terminal is None else terminal,
                    stdout=stdout,
                    stderr=console,
                    start_new_session=terminal is not None,
                )

    async def ready(self) -> None:
        """Wait until all of it has started, once it is connected to the platform."""

    async def heard(self) -> None:
        """Wait until all that it has stored has come to the chats, if it reports that."""
        if self.reports:
            async with asyncio.timeout(START_SECONDS):
                while not await asyncio.to_thread(self._has_routed):  # noqa: ASYNC110 - nothing announces it
                    await asyncio.sleep(0.02)

    def _has_routed(self) -> bool:
        """Return True if no stored event is still on its way to its chat."""
        file = self._folder / ROUTED
        routed = {int(line) for line in file.read_text().splitlines()} if file.exists() else set()
        return routed.issuperset(seq for (seq,) in stored(self.home, _OPEN))

    @property
    def is_running(self) -> bool:
        return self._process is not None and self._process.returncode is None

    def forget(self) -> None:
        """Delete its home, once it has ended."""
        shutil.rmtree(self.home, ignore_errors=True)

    async def ended(self) -> int:
        """Wait for its exit code."""
        if self._process is None:
            raise AssertionError("it was never started")
        async with asyncio.timeout(START_SECONDS):
            return await self._process.wait()

    @property
    def pid(self) -> int:
        if self._process is None:
            raise AssertionError("it does not run")
        return self._process.pid

    @property
    def cpu(self) -> float:
        """CPU time so far in seconds, user and system."""
        fields = self._proc("stat").rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / _TICK

    @property
    def rss(self) -> float:
        """Resident memory in MB."""
        line = next(line for line in self._proc("status").splitlines() if line.startswith("VmRSS"))
        return int(line.split()[1]) / 1024

    @property
    def written(self) -> int:
        """Bytes written so far, to files and sockets."""
        return int(self._proc("io").partition("wchar: ")[2].split()[0])

    def _proc(self, name: str) -> str:
        return Path(f"/proc/{self.pid}/{name}").read_text()

    def freeze(self) -> None:
        """Suspend it until it is killed or thawed; its connections stay open."""
        if self._process is None:
            raise AssertionError("it does not run")
        self._process.send_signal(signal.SIGSTOP)

    def thaw(self) -> None:
        """Let it go on after `freeze`."""
        self.send(signal.SIGCONT)

    async def kill(self) -> None:
        """Kill it without any clean-up."""
        await self._end(signal.SIGKILL)

    def send(self, which: signal.Signals) -> None:
        if self._process is None:
            raise AssertionError("it does not run")
        self._process.send_signal(which)

    async def terminate(self) -> int:
        """Terminate it gracefully. Returns the exit code."""
        return await self._end(signal.SIGTERM)

    async def _end(self, how: signal.Signals) -> int:
        if self._process is None:
            return 0
        with suppress(ProcessLookupError):
            self._process.send_signal(how)
        return await self.ended()


@asynccontextmanager
async def forked(folder: Path, environ: Mapping[str, str]) -> AsyncIterator[Program]:
    """Run a program that a zygote forks, and kill it at the end."""
    program = Program(folder, environ)
    program.forked = True
    await program.launch()
    try:
        yield program
    finally:
        await program.kill()
