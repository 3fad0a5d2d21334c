"""The program itself, in a process of its own."""

import asyncio
import os
import shutil
import signal
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from tests.end_to_end.forks import NURSERY, Forked
from tests.end_to_end.zygote import Birth
from tests.process import REPOSITORY

START_SECONDS = 40
"""Far more than a start takes: tests share their processor with others."""
CAN_FORK = sys.platform == "linux"
"""Elsewhere a system's own libraries may not be forked, and every program is started from the command line."""


class Program:
    """`parley run` in a home of its own. What it writes is appended to one file, whichever life wrote it."""

    def __init__(self, folder: Path, environ: Mapping[str, str], *, console: str = "console.txt") -> None:
        self.home = folder / "home"
        self._console = folder / console
        self._environ = {
            "PATH": os.environ.get("PATH", ""),
            "PYTHONPATH": str(REPOSITORY),
            "HOME": str(folder),
            "PARLEY_HOME": str(self.home),
            "PARLEY_TIMEZONE": "Europe/Paris",
            "PARLEY_HEARTBEAT": "off",  # what it says of itself is no test's business but its own
            **environ,
        }
        self.forked = False
        """Whether a zygote makes it, which saves the second of its imports, rather than the command line. See `zygote`
        for what differs; a program that a test is about from its first line on is started as a person starts it."""
        self.imports: tuple[str, ...] = ()
        """What it is known to import when it is forked."""
        self.module = "gateway.cli"
        """What is run; the program without arguments is `parley run`."""
        self.arguments: tuple[str, ...] = ()
        self._folder = folder
        self._process: asyncio.subprocess.Process | Forked | None = None

    def set(self, name: str, value: str) -> None:
        """Another environment for its next life."""
        self._environ[name] = value

    @property
    def console(self) -> str:
        """All that it has written so far, on standard output and standard error."""
        return self._console.read_text() if self._console.exists() else ""

    def twin(self) -> "Program":
        """Another one with the same home and settings, which writes elsewhere."""
        twin = Program(self._folder, self._environ, console="twin.txt")
        twin.forked = self.forked
        return twin

    async def launch(self, terminal: int | None = None) -> None:
        """Start it, and do not wait for anything. On a terminal only its log goes to the console's file."""
        with self._console.open("ab") as console:
            stdout = console.fileno() if terminal is None else terminal
            if self.forked and CAN_FORK:
                birth = Birth(
                    modules=self.imports,
                    module=self.module,
                    arguments=self.arguments,
                    environ=self._environ,
                    cwd=str(self._folder),
                    new_session=terminal is not None,
                )
                self._process = await NURSERY.fork(birth, stdin=terminal, stdout=stdout, stderr=console.fileno())
            else:
                self._process = await asyncio.create_subprocess_exec(
                    *(sys.executable, "-P", "-m", self.module, *self.arguments),
                    cwd=self._folder,
                    env=self._environ,
                    stdin=asyncio.subprocess.DEVNULL if terminal is None else terminal,
                    stdout=stdout,
                    stderr=console,
                    start_new_session=terminal is not None,
                )

    @property
    def is_running(self) -> bool:
        return self._process is not None and self._process.returncode is None

    def forget(self) -> None:
        """Its home as if it had never been started."""
        shutil.rmtree(self.home, ignore_errors=True)

    async def ended(self) -> int:
        """Its exit code, waited for."""
        if self._process is None:
            raise AssertionError("it was never started")
        async with asyncio.timeout(START_SECONDS):
            return await self._process.wait()

    def freeze(self) -> None:
        """Its connections stay, and it hears nothing more, until it is killed."""
        if self._process is None:
            raise AssertionError("it does not run")
        self._process.send_signal(signal.SIGSTOP)

    async def kill(self) -> None:
        """As a crash or the kernel does it: nothing is tidied up."""
        await self._end(signal.SIGKILL)

    async def terminate(self) -> int:
        """As an operator does it. Returns the exit code."""
        return await self._end(signal.SIGTERM)

    async def _end(self, how: signal.Signals) -> int:
        if self._process is None:
            return 0
        with suppress(ProcessLookupError):
            self._process.send_signal(how)
        return await self.ended()
