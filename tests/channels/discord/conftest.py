"""An emulated Discord, and the real adapter delivering to a list."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any

import pytest
from pydantic import SecretStr

from channels.base import (
    Accepted,
    ButtonPressed,
    ChatKey,
    CommandInvoked,
    InboundEvent,
    Menu,
    MessageReceived,
    NotTakenIn,
)
from channels.commands import CommandSpec
from channels.discord.adapter import DiscordChannel, open_channel
from channels.discord.config import Config
from channels.discord.connection import Connection
from parley.testing.emulators.discord import DiscordEmulator
from parley.testing.emulators.discord_chat import Chat
from tests.emulators.patience import patient

__all__ = ["patient"]

COMMANDS = (
    CommandSpec(name="help", description={"en": "What I can do", "zh": "我能做什么"}, arguments="[TOPIC]"),
    CommandSpec(name="stop", description={"en": "Stop at once"}),
)
STANDARD = Menu(COMMANDS)


class Inbox:
    """Inbox that keeps events in order, refuses as often as told, and returns the outcome it is told."""

    def __init__(self, discord: DiscordEmulator) -> None:
        self.events: list[InboundEvent] = []
        self.refusals = 0
        self.answer = Accepted.NEW
        self.gate: asyncio.Event | None = None
        """Gate that must be set for events to be accepted."""
        self.duplicates = 0
        self._seen: set[str] = set()
        self._discord = discord

    async def __call__(self, event: InboundEvent) -> Accepted:
        if self.gate is not None:
            await self.gate.wait()
        if self.refusals:
            self.refusals -= 1
            raise NotTakenIn("disk full")
        if event.event_id in self._seen:
            self.duplicates += 1
            self._discord.changes.notify()
            return Accepted.DUPLICATE
        self._seen.add(event.event_id)
        self.events.append(event)
        self._discord.changes.notify()
        return self.answer

    async def until(self, condition: Callable[[list[InboundEvent]], bool], seconds: float = 30.0) -> None:
        await self._discord.wait_for(lambda: condition(self.events), seconds)

    async def next(self) -> InboundEvent:
        """Remove and return the oldest event, waiting for it."""
        await self.until(bool)
        return self.events.pop(0)

    async def message(self) -> MessageReceived:
        event = await self.next()
        assert isinstance(event, MessageReceived)
        return event

    async def command(self) -> CommandInvoked:
        event = await self.next()
        assert isinstance(event, CommandInvoked)
        return event

    async def press(self) -> ButtonPressed:
        event = await self.next()
        assert isinstance(event, ButtonPressed)
        return event


@pytest.fixture
async def discord(patient: None) -> AsyncIterator[DiscordEmulator]:
    async with DiscordEmulator() as emulator:
        yield emulator
    assert emulator.violations == []


@pytest.fixture
async def channel(discord: DiscordEmulator) -> AsyncIterator[DiscordChannel]:
    async with opened(config_for(discord)) as made:
        yield made


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The moments at which the bot set out to begin a session, by its own clock: on a busy machine one may come late to
    Discord, and the next in time."""
    moments = list[float]()
    opens = Connection._open  # noqa: SLF001

    async def noting(connection: Connection, client: Any, gateway: Any, session: Any) -> Any:
        if session is None:
            moments.append(time.monotonic())
        return await opens(connection, client, gateway, session)

    monkeypatch.setattr(Connection, "_open", noting)
    return moments


@pytest.fixture
async def inbox(discord: DiscordEmulator, channel: DiscordChannel) -> AsyncIterator[Inbox]:
    """Yield the inbox of the listening channel."""
    async with listening(discord, channel) as heard:
        yield heard


@asynccontextmanager
async def opened(config: Config, *, silence: float | None = None) -> AsyncIterator[DiscordChannel]:
    """Open a channel; `silence` is the time in seconds after which a silent connection counts as dead."""
    channel = open_channel(config) if silence is None else DiscordChannel(config, silence)
    try:
        yield channel
    finally:
        await channel.close()


@asynccontextmanager
async def listening(discord: DiscordEmulator, channel: DiscordChannel, menu: Menu = STANDARD) -> AsyncIterator[Inbox]:
    heard = Inbox(discord)
    running = asyncio.create_task(channel.run(heard, menu))
    running.add_done_callback(lambda _: discord.changes.notify())
    await discord.wait_for(lambda: discord.connected or running.done())
    try:
        yield heard
    finally:
        running.cancel()
        with suppress(asyncio.CancelledError):
            await running


def config_for(discord: DiscordEmulator, *, thread_channels: str = "") -> Config:
    return Config(bot_token=SecretStr(discord.token), base_url=discord.api_url, thread_channels=thread_channels)


def key_of(chat: Chat, thread: str | None = None) -> ChatKey:
    guild = chat.channel.guild
    return ChatKey(platform="discord", account=guild.id if guild else "@me", chat=chat.id, thread=thread)


def intent_of(name: str) -> str:
    """Return Discord's name of an intent, by that of the SDK."""
    return name.upper().replace("DM_", "DIRECT_").replace("_REACTIONS", "_MESSAGE_REACTIONS")
