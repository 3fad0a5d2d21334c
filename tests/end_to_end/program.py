"""The program itself, in a process of its own, between an emulated Telegram and an emulated model."""

import asyncio
import os
import signal
import sys
from collections import deque
from collections.abc import Mapping
from contextlib import suppress
from copy import copy
from pathlib import Path

from tests.emulators.model_script import Answer, Failure, ModelRequest, Respond
from tests.emulators.openai import OpenAiEmulator
from tests.emulators.telegram import TelegramEmulator
from tests.emulators.telegram_chat import Chat
from tests.emulators.telegram_state import Message, Person
from tests.process import REPOSITORY

START_SECONDS = 40
"""Far more than a start takes: tests share their processor with others."""
API_KEY = "sk-canary-4f1d9b7c2a6e"
MODEL = "test-model"


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

    async def launch(self) -> None:
        """Start it, and do not wait for anything."""
        with self._console.open("ab") as console:
            self._process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-P", "-m", self.module),
                cwd=self._folder,
                env=self._environ,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=console,
                stderr=console,
            )

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


class Script:
    """What the model says next: answers in order, or `respond` for every request."""

    def __init__(self) -> None:
        self.answers: deque[Answer] = deque()
        self.respond: Respond | None = None
        self.missed: list[str] = []
        """Requests that nobody had an answer for."""

    async def __call__(self, asked: ModelRequest) -> Answer:
        if self.respond is not None:
            answer = self.respond(asked)
            return answer if isinstance(answer, Answer) else await answer
        if not self.answers:
            self.missed.append(asked.last_text)
            return Failure("bad_request", message="the script has run out")
        return self.answers.popleft()

    def then(self, *answers: Answer) -> None:
        self.answers.extend(answers)

    def clear(self) -> None:
        self.answers.clear()
        self.missed.clear()
        self.respond = None


class Stage:
    """Telegram, a model, and Parley between them."""

    def __init__(self, folder: Path, environ: Mapping[str, str] | None = None) -> None:
        self.telegram = TelegramEmulator()
        self.script = Script()
        self.model = OpenAiEmulator(self.script, models=(MODEL,))
        self._folder = folder
        self._given = dict(environ or {})
        self._read = 0

    def settle_in(self) -> None:
        """Once both servers stand."""
        known = ",".join(f"telegram:{7_000_000_000 + number}" for number in range(1, 500))
        self.program = Program(
            self._folder,
            {
                "TELEGRAM_BOT_TOKEN": self.telegram.token,
                "TELEGRAM_BASE_URL": self.telegram.url,
                "OPENAI_BASE_URL": self.model.base_url,
                "OPENAI_API_KEY": API_KEY,
                "PARLEY_ALLOW": known,
                "PARLEY_WEB": "off",
                **self._given,
            },
        )

    def twin(self) -> "Stage":
        """The same once more: another program with the same home, settings and platform."""
        twin = copy(self)
        twin.program = self.program.twin()
        return twin

    def private(self, name: str = "Ann", *, language: str = "en") -> tuple[Person, Chat]:
        """Somebody who may speak, and their chat with Parley."""
        person = self.telegram.person(name, language=language)
        return person, self.telegram.private(person)

    def stranger(self, name: str) -> Person:
        """Somebody who may not speak."""
        return Person(6_000_000_000 + len(name), name, language="en")

    async def start(self) -> None:
        """Start the program and wait until it polls."""
        polls = len(self.telegram.calls_of("getUpdates"))
        await self.program.launch()
        ended = asyncio.create_task(self.program.ended())
        polling = asyncio.ensure_future(
            self.telegram.wait_for(
                lambda: len(self.telegram.calls_of("getUpdates")) > polls and self.telegram.polling, START_SECONDS
            )
        )
        try:
            await asyncio.wait([ended, polling], return_when=asyncio.FIRST_COMPLETED)
            if not polling.done():
                raise AssertionError(f"it ended: {self.program.console}")
            await polling
        finally:
            ended.cancel()
            polling.cancel()
            await asyncio.gather(ended, polling, return_exceptions=True)

    async def heard(self) -> None:
        """Until Parley has taken in all that people did."""
        await self.telegram.wait_for(lambda: self.telegram.updates.unconfirmed == 0, START_SECONDS)

    async def asked(self, count: int) -> ModelRequest:
        """Until the model was asked so often since the test began; the last of these requests."""
        await self.model.wait_for(lambda: len(self.model.requests) >= count, START_SECONDS)
        return self.model.requests[count - 1]

    @property
    def log(self) -> str:
        """What the program has written since the test began."""
        return self.program.console[self._read :]

    @property
    def said(self) -> list[str]:
        """What people said in the newest request to the model, without the circumstances that go with it."""
        return [words.rpartition("</context>\n")[2] for words in self.model.requests[-1].texts("user")]

    def check(self) -> None:
        """What must be true after every test."""
        assert self.telegram.violations == []
        assert self.telegram.calls_in_window == 0
        assert self.model.violations == []
        assert self.script.missed == []
        assert not self.script.answers
        assert self.telegram.faults.pending == 0
        assert self.model.faults.pending == 0
        assert self.telegram.token not in self.program.console
        assert API_KEY not in self.program.console
        assert "Traceback" not in self.log

    def clear(self) -> None:
        """Forget what an earlier test on the same stage left."""
        self.script.clear()
        self.model.requests.clear()
        for emulator in (self.telegram, self.model):
            emulator.faults.clear()
            emulator.calls.clear()
            emulator.violations.clear()
        self.telegram.flood.calls_in_window = 0
        self._read = len(self.program.console)


def newest(chat: Chat) -> Message:
    """The bot's newest message, with its buttons, entities and history."""
    return chat.bot_messages[-1]
