"""The stage of a bench: an emulated platform and model in this process, and the bot in a process of its own."""

import asyncio
import compileall
import tempfile
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

from aiohttp import web

from bench.bot import PARLEY, Bot
from bench.place import PLACES, Place, is_listening, lift_limits, seen
from parley.testing.emulators import slack_state
from parley.testing.emulators.control import Call
from parley.testing.emulators.slack import SlackEmulator
from tests.emulators.model_script import Script
from tests.emulators.openai import OpenAiEmulator
from tests.end_to_end.platforms.emulated import Emulated
from tests.end_to_end.platforms.platform import Chat, Emulator, Message, Person, Platform
from tests.end_to_end.program import START_SECONDS
from tests.process import REPOSITORY


class TimedModel(OpenAiEmulator):
    """Model that measures how long it works on requests."""

    def __init__(self, script: Script) -> None:
        super().__init__(script)
        self.busy = 0.0
        """Total time in seconds."""

    async def complete(self, request: web.Request, route: str) -> web.StreamResponse:
        began = time.monotonic()
        try:
            return await super().complete(request, route)
        finally:
            self.busy += time.monotonic() - began


@dataclass
class Seat:
    """A user and their private chat with the bot."""

    person: Person
    chat: Chat

    async def says(self, text: str) -> float:
        """Send a message and return its time in seconds of the monotonic clock."""
        at = time.monotonic()
        await self.chat.says(self.person, text)
        return at

    async def answered(self, words: str, count: int, within: float) -> None:
        """Wait until `count` of the bot's messages in this chat contain these words."""
        await self.chat.until(lambda _: len(self.answers(words)) >= count, within)

    def answers(self, words: str) -> list[float]:
        """Return the times at which the bot's messages came to contain these words; a progress message may become an
        answer."""
        return [at for message in self.chat.bot_messages if (at := _came_to_say(message, words)) is not None]

    def signs(self, since: float) -> list[float]:
        """Return the times of everything visible that the bot did, in order: typing indicators, reactions, messages,
        edits, previews."""
        moments = [*(action.at for action in self.chat.actions), *self.changes]
        return sorted(at for at in moments if at >= since)

    @property
    def changes(self) -> list[float]:
        """The times at which messages and previews came or changed, also of messages that were deleted."""
        return [at for at, _ in seen(self.chat, self.person)]

    def first_words(self, words: str) -> float | None:
        """Return the time at which these words were first to be seen, in a message or a preview; None before that."""
        return min((at for at, text in seen(self.chat, self.person) if words in text), default=None)


@dataclass
class Stage:
    """Environment in which a bot is measured."""

    place: Place
    platform: Platform
    model: TimedModel
    folder: Path
    seats: list[Seat] = field(default_factory=list)
    _openings: int = 0

    @property
    def net(self) -> Emulated:
        """The platform with its means to disturb it."""
        if not isinstance(self.platform, Emulated):
            raise TypeError(f"{self.platform.facts.name} is not emulated")
        return self.platform

    @property
    def emulator(self) -> Emulator:
        return self.net.emulator

    def seat(self, count: int) -> None:
        """Add users, each with a private chat."""
        people = [self.emulator.person(f"Person {number}") for number in range(count)]
        self.seats += [Seat(person, self.emulator.private(person)) for person in people]

    @asynccontextmanager
    async def bot(
        self, command: Sequence[str] = PARLEY, environ: Mapping[str, str] | None = None
    ) -> AsyncIterator[Bot]:
        """Start a bot to which all seated users may write; it listens on entry and is stopped on exit."""
        bot = await self.spawn(command, environ)
        try:
            await self.listening(bot)
            yield bot
        finally:
            await bot.stop()

    async def spawn(self, command: Sequence[str] = PARLEY, environ: Mapping[str, str] | None = None) -> Bot:
        """Start a bot without waiting for it."""
        bot = Bot(self.folder, command)
        self.platform.settle(bot)
        bot.set("OPENAI_BASE_URL", self.model.base_url)
        bot.set("PARLEY_ALLOW", ",".join(f"{self.place.platform}:{seat.person.id}" for seat in self.seats))
        for name, value in (environ or {}).items():
            bot.set(name, value)
        self._openings = len(self.emulator.calls_of(self.place.opening))
        await bot.launch()
        return bot

    async def listening(self, bot: Bot) -> None:
        """Wait until the bot receives messages."""
        listens = asyncio.ensure_future(self.emulator.wait_for(self._is_listening, START_SECONDS))
        ended = asyncio.ensure_future(bot.ended())
        try:
            await asyncio.wait([listens, ended], return_when=asyncio.FIRST_COMPLETED)
            if not listens.done():
                raise AssertionError(f"it ended with {ended.result()}: {bot.console}")
            await listens
            bot.listened = time.monotonic()
        finally:
            listens.cancel()
            ended.cancel()
            await asyncio.gather(listens, ended, return_exceptions=True)

    def _is_listening(self) -> bool:
        return len(self.emulator.calls_of(self.place.opening)) > self._openings and is_listening(self.emulator)

    def answers(self, words: str) -> list[float]:
        """Return the times for all chats, as `Seat.answers` does."""
        return [at for seat in self.seats for at in seat.answers(words)]

    def refused(self) -> list[Call]:
        """Return the calls that the platform answered with an error status."""
        return [call for call in self.emulator.calls if call.status is not None and call.status >= 400]


def _came_to_say(message: Message, words: str) -> float | None:
    if words not in message.text:
        return None
    moments = [message.at, *(edit.at for edit in message.edits)]
    return next(at for text, at in zip(message.history, moments, strict=True) if words in text)


@asynccontextmanager
async def stage(script: Script, on: str, *, pace: bool = True, seats: int = 0) -> AsyncIterator[Stage]:
    """Set up a stage. `on` names the platform; `pace=False` lifts its limits. The home is on the disk of the temporary
    files."""
    compile_sources()
    with tempfile.TemporaryDirectory(prefix="parley-bench-") as folder:
        async with PLACES[on].build() as platform, TimedModel(script) as model:
            made = Stage(PLACES[on], platform, model, Path(folder))
            if not pace:
                lift_limits(made.emulator)
            made.seat(seats)
            await _open_panes(made)
            yield made
            trouble = [*made.emulator.violations, *model.violations]
            if trouble:
                raise AssertionError(f"not a fair run: {trouble[:3]}")


async def _open_panes(scene: Stage) -> None:
    """Let the users of Slack write in the assistant's pane, where the private chats are of an app that has one."""
    if isinstance(scene.emulator, SlackEmulator):
        for seat in scene.seats:
            person = cast("slack_state.Person", seat.person)
            seat.chat = cast("Chat", await scene.emulator.private(person).opens_assistant(person))


def compile_sources() -> None:
    """Compile the sources as an installation would, so that the first start does not pay for it."""
    for package in ("agent_core", "channels", "gateway", "bench"):
        compileall.compile_dir(REPOSITORY / package, quiet=2)
