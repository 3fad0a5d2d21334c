"""Time and actions from `git clone` to a first answer on the emulated Telegram, through the guide."""

import asyncio
import contextlib
import os
import shutil
import signal
import tempfile
import time
from pathlib import Path

from bench.figures import Figure
from tests import connecting
from tests.end_to_end.newcomer import Newcomer
from tests.end_to_end.typist import Startable
from tests.process import REPOSITORY, until


class Checkout:
    """`./run` in a clone. Installs like that of a newcomer, with the machine's own settings of pip and uv."""

    def __init__(self, folder: Path, environ: dict[str, str]) -> None:
        self.arguments: tuple[str, ...] = ()
        self.home = folder / "home"
        self._clone = folder / "parley"
        self._environ = environ
        self._process: asyncio.subprocess.Process | None = None

    async def clone(self) -> None:
        command = ("git", "clone", "-q", str(REPOSITORY), str(self._clone))
        assert await (await asyncio.create_subprocess_exec(*command)).wait() == 0

    async def launch(self, terminal: int | None = None) -> None:
        quiet = asyncio.subprocess.DEVNULL
        self._process = await asyncio.create_subprocess_exec(
            str(self._clone / "run"),
            *self.arguments,
            cwd=self._clone,
            env=self._environ,
            stdin=quiet if terminal is None else terminal,
            stdout=quiet if terminal is None else terminal,
            stderr=quiet,  # the installation draws its progress there
            start_new_session=True,
        )

    async def kill(self) -> None:
        if self._process is not None and self._process.returncode is None:
            os.killpg(self._process.pid, signal.SIGTERM)
            await self._process.wait()

    async def ended(self) -> int:
        assert self._process is not None
        return await self._process.wait()


async def figures() -> list[Figure]:
    async with connecting.telegram() as telegram:
        folder = Path(tempfile.mkdtemp(prefix="parley-newcomer-"))
        home = {"HOME": str(folder), "PARLEY_HOME": str(folder / "home"), "PARLEY_WEB_PORT": "0"}
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("PARLEY_", "VIRTUAL_ENV"))}
        checkout = Checkout(folder, {**kept, **telegram.environ, **home, "TERM": "xterm"})

        async def listening(_: Startable) -> None:
            polls = len(telegram.emulator.calls_of("getUpdates"))
            await until(lambda: len(telegram.emulator.calls_of("getUpdates")) > polls)

        newcomer = Newcomer(telegram, lambda _: checkout, listening, ["git clone ... && cd parley"])
        try:
            began = time.monotonic()
            await checkout.clone()
            await newcomer.reaches_the_first_answer()
            seconds = time.monotonic() - began
        finally:
            with contextlib.suppress(OSError):
                shutil.rmtree(folder)
    return [
        Figure("actions from git clone to the first answer", len(newcomer.actions), "", 10),
        Figure("git clone to the first answer, people's own time not counted", seconds, "s", 90),
    ]
