"""A platform, a model, and Parley between them."""

import asyncio
import re
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from pathlib import Path
from typing import Protocol

from parley.testing.emulators import slack_state
from tests.emulators.model_script import ModelRequest
from tests.emulators.openai import OpenAiEmulator
from tests.end_to_end.clock import FILE, QUICK, SLOW, Hands
from tests.end_to_end.platforms.emulated import Emulated
from tests.end_to_end.platforms.platform import Chat, Message, Person, Platform
from tests.end_to_end.program import START_SECONDS, Program
from tests.end_to_end.script import Script

API_KEY = "sk-canary-4f1d9b7c2a6e"
MODEL = "test-model"
TIMED = "tests.end_to_end.timed"
MakeProgram = Callable[[Path, Mapping[str, str]], Program]


class Stage:
    """Environment of a conversation test, the same on every platform."""

    def __init__(self, folder: Path, platform: Platform, program: MakeProgram = Program) -> None:
        """`program` makes what is to be talked to from a folder and environment variables."""
        self.platform = platform
        self.script = Script()
        self.model = OpenAiEmulator(self.script, models=(MODEL,))
        self.clock = Hands(folder / FILE)
        """Hands of the program's clock, once it is `timed`."""
        self._folder = folder
        self._make = program
        self._read = 0

    def settle_in(self) -> None:
        """Create the program once both servers are running."""
        environ = {"OPENAI_BASE_URL": self.model.base_url, "OPENAI_API_KEY": API_KEY}
        self.program = self._make(self._folder, environ)
        self.program.forked = True
        self.program.reports = True  # a message is stored before it is in its chat; no platform is told of the latter
        self.platform.settle(self.program)

    def set_clock(self, local: str, zone: str = "Europe/Paris") -> None:
        """Let the program and an emulated platform use a clock that is set to this moment."""
        self.program.module = TIMED
        self.clock.move_to(local, zone)
        if isinstance(self.platform, Emulated):
            self.platform.emulator.go_by(lambda: self.clock.now)

    def quicken(self) -> None:
        """Let the program's clock and the platform's rate limits run faster, for tests that mostly wait for both.

        What people and platforms wait for by the system's clock, as for an acknowledgement, keeps its time.
        """
        self.program.module = TIMED
        self.clock.run(QUICK)
        self.net.hurry(QUICK)
        self.net.emulator.go_by(lambda: self.clock.now)

    def slow_down(self) -> None:
        """Let the program's clock run slowly, for tests of what it does within moments, however busy the machine is."""
        self.program.module = TIMED
        self.clock.run(SLOW)

    def twin(self) -> "Stage":
        """Return a copy: another program with the same home, settings and platform."""
        twin = copy(self)
        twin.program = self.program.twin()
        return twin

    @property
    def net(self) -> Emulated:
        """The platform, for tests of emulated ones."""
        if not isinstance(self.platform, Emulated):
            raise TypeError(f"{self.platform.facts.name} is not emulated")
        return self.platform

    def private(self, name: str = "Ann", *, language: str = "en") -> tuple[Person, Chat]:
        """Return a user with permission, and their private chat with Parley."""
        person = self.platform.person(name, language)
        return person, self.platform.private(person)

    async def start(self) -> None:
        """Start the program and wait until it listens."""
        await self.platform.launch()
        ended = asyncio.create_task(self.program.ended())
        listening = asyncio.create_task(self.platform.listening())
        try:
            await asyncio.wait([ended, listening], return_when=asyncio.FIRST_COMPLETED)
            if not listening.done():
                raise AssertionError(f"it ended: {self.program.console}")
            await listening
            await self.program.ready()
        finally:
            ended.cancel()
            listening.cancel()
            await asyncio.gather(ended, listening, return_exceptions=True)

    async def heard(self) -> None:
        """Wait until Parley has received all events."""
        await self.platform.heard()
        await self.program.heard()

    async def asked(self, count: int) -> ModelRequest:
        """Wait for the `count`-th request to the model in this test, and return it."""
        await self.model.wait_for(lambda: len(self.model.requests) >= count, START_SECONDS)
        return self.model.requests[count - 1]

    @property
    def log(self) -> str:
        """Output of the program since the test began."""
        return self.program.console[self._read :]

    @property
    def said(self) -> list[str]:
        """User messages in the newest request to the model, without their context."""
        return [words.rpartition("</context>\n")[2] for words in self.model.requests[-1].texts("user")]

    @property
    def circumstances(self) -> list[str]:
        """Context of each user message: the time, files, text by others."""
        return [words.rpartition("</context>\n")[0] for words in self.model.requests[-1].texts("user")]

    def check(self) -> None:
        """Check what must hold after every test."""
        self.platform.check()
        assert self.model.violations == []
        assert self.script.missed == []
        assert not self.script.answers
        assert self.model.faults.pending == 0
        assert API_KEY not in self.program.console
        assert "Traceback" not in self.log

    async def forget(self) -> None:
        """Kill the program, and delete all that it has stored, unless people on the page are signed in to that."""
        await self.program.kill()
        if self.platform.facts.emulated:
            await asyncio.to_thread(self.program.forget)

    async def clear(self) -> None:
        """Forget what an earlier test on the same stage left."""
        await self.platform.begin()
        self.script.clear()
        self.model.requests.clear()
        self.model.faults.clear()
        self.model.calls.clear()
        self.model.violations.clear()
        self._read = len(self.program.console)


def rows_of(message: Message) -> str:
    """Return the tool calls that a message shows, a line each: its text, or the plan above that."""
    return message.plan.rows if isinstance(message, slack_state.Message) and message.plan is not None else message.shown


def newest(chat: Chat) -> Message:
    """Return the bot's newest message, with its buttons and history."""
    return chat.bot_messages[-1]


def is_answered(chat: Chat) -> bool:
    """Return True if the bot's newest message is a finished answer, not a progress message."""
    return newest(chat).button("Stop") is None


_OF_A_LONG_RUN = re.compile(r"\d+ tools?, \d\d+ s")


def lasting(chat: Chat) -> list[Message]:
    """Return the bot's messages but the line about tools that stays of a run of ten seconds, as on a busy machine."""
    return [message for message in chat.bot_messages if not _OF_A_LONG_RUN.fullmatch(message.shown)]


class _Shown(Protocol):
    """A message, perhaps with a button."""

    @property
    def shown(self) -> str: ...
    def button(self, text: str) -> object | None: ...


class _Read(Protocol):
    """A chat of any platform, as far as these conditions read it."""

    @property
    def screen(self) -> list[str]: ...
    @property
    def bot_messages(self) -> Sequence[_Shown]: ...


def is_finished(chat: _Read) -> bool:
    """Return True if none of the bot's messages in a chat is still written.

    Of an answer that is still written all words may be there already, for a moment or as long as the platform is slow.
    """
    return all(each.button("Stop") is None for each in chat.bot_messages)


def shows(*texts: str) -> Callable[[_Read], bool]:
    """Return a condition: the bot's `lasting` messages in a chat are exactly these, and all of them are finished."""

    def is_shown(chat: _Read) -> bool:
        stays = [text for text in chat.screen if not _OF_A_LONG_RUN.fullmatch(text)]
        return stays == [*texts] and is_finished(chat)

    return is_shown


def has(words: str) -> Callable[[_Read], bool]:
    """Return a condition: one of the bot's messages in a chat has these words, and it is finished."""
    return lambda chat: any(words in each.shown and each.button("Stop") is None for each in chat.bot_messages)


def says_last(words: str) -> Callable[[_Read], bool]:
    """Return a condition: the bot's newest message in a chat ends with these words, and it is finished."""
    return lambda chat: chat.screen[-1].endswith(words) and chat.bot_messages[-1].button("Stop") is None


def ends_with(text: str) -> Callable[[_Read], bool]:
    """Return a condition: the bot's newest message in a chat is this, and it is finished."""
    return lambda chat: chat.screen[-1] == text and chat.bot_messages[-1].button("Stop") is None
