"""Time and actions of a newcomer to a first answer on the emulated Telegram: from `git clone`, and on the page."""

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
from tests.emulators.model_script import says
from tests.emulators.openai import OpenAiEmulator
from tests.end_to_end.browser import chromium
from tests.end_to_end.newcomer import Newcomer
from tests.end_to_end.opened_page import link_of
from tests.end_to_end.page_newcomer import PageNewcomer
from tests.end_to_end.program import Program
from tests.end_to_end.typist import Startable
from tests.process import REPOSITORY, until

RIGHT, WRONG = "sk-or-v1-0123456789abcdef", "sk-or-v1-fedcba9876543210"
"""Keys of a provider."""


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
    return [*await _in_the_terminal(), *await _on_the_page()]


async def _in_the_terminal() -> list[Figure]:
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
        Figure("actions from git clone to the first answer", len(newcomer.actions), "", 9),
        Figure("git clone to the first answer, people's own time not counted", seconds, "s", 90),
    ]


async def _on_the_page() -> list[Figure]:
    """Measure a newcomer with a browser, from the link that Parley prints to an answer, and on to one of a model."""
    answering = OpenAiEmulator(lambda _: says("It is 391."), api_key=RIGHT, models=("anthropic/claude-sonnet-5",))
    async with connecting.telegram() as telegram, answering as model, chromium() as browser:
        folder = Path(tempfile.mkdtemp(prefix="parley-newcomer-"))
        environ = {"PARLEY_WEB_PORT": "0", "OPENROUTER_API_BASE": model.base_url, **telegram.environ}
        program = Program(folder, environ)
        await program.launch()
        try:
            context = await browser.new_context(locale="en-GB")
            newcomer, began = PageNewcomer(telegram, await context.new_page()), time.monotonic()
            await newcomer.reaches_the_first_answer(await link_of(program))
            seconds, actions = time.monotonic() - began, len(newcomer.actions)
            await newcomer.connects_a_model(WRONG, RIGHT)
        finally:
            await program.kill()
            with contextlib.suppress(OSError):
                shutil.rmtree(folder)
    return [
        Figure("actions from the link to the page to the first answer", actions, "", 8),
        Figure("link to the page to the first answer, people's own time not counted", seconds, "s", 60),
        Figure("more actions to a model, of which one is a wrong key", len(newcomer.actions) - actions, "", 3),
    ]
