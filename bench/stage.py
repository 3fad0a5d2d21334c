"""The stage of a bench: Telegram and a model on loopback in this process, the bot in a process of its own."""

import asyncio
import compileall
import os
import signal
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from aiohttp import web

from tests.emulators.control import Call
from tests.emulators.model_script import Script
from tests.emulators.openai import OpenAiEmulator
from tests.emulators.telegram import TelegramEmulator
from tests.emulators.telegram_chat import Chat
from tests.emulators.telegram_state import Person
from tests.process import REPOSITORY

PARLEY = ("-P", "-m", "gateway.cli", "run")
BARE = ("-P", "-m", "bench.bare")
_TICK = os.sysconf("SC_CLK_TCK")


class TimedModel(OpenAiEmulator):
    """A model that knows how long it had each request."""

    def __init__(self, script: Script) -> None:
        super().__init__(script)
        self.busy = 0.0
        """Seconds in all."""

    async def complete(self, request: web.Request, route: str) -> web.StreamResponse:
        began = time.monotonic()
        try:
            return await super().complete(request, route)
        finally:
            self.busy += time.monotonic() - began


@dataclass
class Seat:
    """A person, and their private chat with the bot."""

    person: Person
    chat: Chat

    async def says(self, text: str) -> float:
        """When it was said, in seconds of the monotonic clock."""
        at = time.monotonic()
        await self.chat.says(self.person, text)
        return at

    async def answered(self, count: int, within: float) -> None:
        """Until the bot has written so many messages here."""
        await self.chat.until(lambda chat: len(chat.bot_messages) >= count, within)


@dataclass
class Bot:
    """A bot in a process of its own."""

    process: asyncio.subprocess.Process
    started: float
    """When it was spawned, in seconds of the monotonic clock."""

    @property
    def cpu(self) -> float:
        """Seconds of CPU, user and system, so far."""
        fields = self._proc("stat").rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / _TICK

    @property
    def rss(self) -> float:
        """MB in memory."""
        line = next(line for line in self._proc("status").splitlines() if line.startswith("VmRSS"))
        return int(line.split()[1]) / 1024

    async def kill(self) -> None:
        """As a power cut does."""
        if self.process.returncode is None:
            self.process.kill()
        await self.process.wait()

    async def stop(self) -> None:
        if self.process.returncode is None:
            self.process.send_signal(signal.SIGTERM)
        try:
            async with asyncio.timeout(5):
                await self.process.wait()
        except TimeoutError:
            await self.kill()

    def _proc(self, name: str) -> str:
        return Path(f"/proc/{self.process.pid}/{name}").read_text()


@dataclass
class Stage:
    """Where a bot is looked at."""

    telegram: TelegramEmulator
    model: TimedModel
    home: Path
    seats: list[Seat] = field(default_factory=list)

    def seat(self, count: int) -> list[Seat]:
        """Strangers, each in a private chat."""
        people = [self.telegram.person(f"Person {number}") for number in range(count)]
        self.seats += [Seat(person, self.telegram.private(person)) for person in people]
        return self.seats[-count:]

    @asynccontextmanager
    async def bot(
        self,
        command: Sequence[str] = PARLEY,
        *,
        environ: Mapping[str, str] | None = None,
        program: str = sys.executable,
    ) -> AsyncIterator[Bot]:
        """Start one; everybody seated may speak to it. It polls when this is entered, and is stopped on leaving."""
        bot = await self.spawn(command, environ=environ, program=program)
        try:
            await self.telegram.wait_for(lambda: self.telegram.polling, 30)
            yield bot
        finally:
            await bot.stop()

    async def spawn(
        self,
        command: Sequence[str] = PARLEY,
        *,
        environ: Mapping[str, str] | None = None,
        program: str = sys.executable,
    ) -> Bot:
        """Start one, and go on at once."""
        with (self.home / "log.txt").open("ab") as log:
            started = time.monotonic()
            process = await asyncio.create_subprocess_exec(
                program, *command, cwd=self.home, env=self._environ(environ or {}), stdout=log, stderr=log
            )
        return Bot(process, started)

    async def first_call(self, method: str, after: float, within: float = 30.0) -> Call:
        """The first call of that method since then."""

        def found() -> list[Call]:
            return [call for call in self.telegram.calls_of(method) if call.at >= after]

        await self.telegram.wait_for(lambda: bool(found()), within)
        return found()[0]

    def _environ(self, more: Mapping[str, str]) -> dict[str, str]:
        """What a bot is told; nothing of ours, so that no setting of this machine speeds it up or slows it down."""
        return {
            "PATH": os.environ.get("PATH", ""),
            "HOME": str(self.home),
            "PYTHONPATH": str(REPOSITORY),
            "PARLEY_HOME": str(self.home / "parley"),
            "PARLEY_MODEL": "test-model",
            "PARLEY_WEB": "off",
            "PARLEY_ALLOW": ",".join(f"telegram:{seat.person.id}" for seat in self.seats),
            "OPENAI_BASE_URL": self.model.base_url,
            "TELEGRAM_BOT_TOKEN": self.telegram.token,
            "TELEGRAM_BASE_URL": self.telegram.url,
            **more,
        }


@asynccontextmanager
async def stage(script: Script, *, flood: bool = True, seats: int = 0) -> AsyncIterator[Stage]:
    """`flood=False` lifts Telegram's limits. The home is on the disk that temporary files are on."""
    compile_sources()
    with tempfile.TemporaryDirectory(prefix="parley-bench-") as folder:
        async with TelegramEmulator(flood=flood) as telegram, TimedModel(script) as model:
            made = Stage(telegram, model, Path(folder))
            made.seat(seats)
            yield made
            trouble = [*telegram.violations, *model.violations]
            if trouble:
                raise AssertionError(f"not a fair run: {trouble[:3]}")


def compile_sources() -> None:
    """As an installation has them; otherwise the first start would pay for it."""
    for package in ("agent_core", "channels", "gateway", "bench"):
        compileall.compile_dir(REPOSITORY / package, quiet=2)
