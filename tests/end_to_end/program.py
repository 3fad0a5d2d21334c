"""The program itself, in a process of its own."""

import asyncio
import os
import shutil
import signal
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from tests.process import REPOSITORY

START_SECONDS = 40
"""Far more than a start takes: tests share their processor with others."""


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
            **environ,
        }
        self.module = "gateway.cli"
        """What is run; the program without arguments is `parley run`."""
        self.arguments: tuple[str, ...] = ()
        self._folder = folder
        self._process: asyncio.subprocess.Process | None = None

    def set(self, name: str, value: str) -> None:
        """Another environment for its next life."""
        self._environ[name] = value

    @property
    def console(self) -> str:
        """All that it has written so far, on standard output and standard error."""
        return self._console.read_text() if self._console.exists() else ""

    def twin(self) -> "Program":
        """Another one with the same home and settings, which writes elsewhere."""
        return Program(self._folder, self._environ, console="twin.txt")

    async def launch(self, terminal: int | None = None) -> None:
        """Start it, and do not wait for anything. On a terminal only its log goes to the console's file."""
        with self._console.open("ab") as console:
            self._process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-P", "-m", self.module, *self.arguments),
                cwd=self._folder,
                env=self._environ,
                stdin=asyncio.subprocess.DEVNULL if terminal is None else terminal,
                stdout=console if terminal is None else terminal,
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
