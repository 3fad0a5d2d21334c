"""A bot in a process of its own, with the kernel's figures about it."""

import asyncio
import signal
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from tests.end_to_end.program import Program

PARLEY = (sys.executable, "-P", "-m", "gateway.cli", "run")
_STOP_S = 5.0


class Bot(Program):
    """Parley, or a bare bot that finds its platform in the same environment. Its output goes to `log.txt`."""

    def __init__(self, folder: Path, command: Sequence[str]) -> None:
        super().__init__(folder, {"PARLEY_MODEL": "test-model", "PARLEY_TIMEZONE": "UTC"}, console="log.txt")
        self._command = command
        self.started = 0.0
        """Time of the process start, in seconds of the monotonic clock."""
        self.listened = 0.0
        """Time from which it receives messages."""

    async def launch(self, terminal: int | None = None) -> None:
        with self._console.open("ab") as log:
            self.started = time.monotonic()
            self._process = await asyncio.create_subprocess_exec(
                *self._command,
                cwd=self._folder,
                env=self._environ,
                stdin=asyncio.subprocess.DEVNULL if terminal is None else terminal,
                stdout=log,
                stderr=log,
            )

    async def stop(self) -> None:
        """Send SIGTERM, then kill the process if it does not end in time."""
        if self._process is None or self._process.returncode is not None:
            return
        self._process.send_signal(signal.SIGTERM)
        try:
            async with asyncio.timeout(_STOP_S):
                await self._process.wait()
        except TimeoutError:
            await self.kill()
