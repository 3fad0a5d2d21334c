"""The real discord.py, unmodified, connected to the emulator; it records all events."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager

import discord
import yarl
from discord.gateway import DiscordWebSocket
from discord.http import Route

from parley.testing.emulators.control import Changes
from parley.testing.emulators.discord import DiscordEmulator


def ordinary_intents() -> discord.Intents:
    intents = discord.Intents.none()
    intents.guilds = intents.guild_messages = intents.dm_messages = intents.message_content = True
    intents.guild_reactions = intents.dm_reactions = True
    return intents


class Ear(discord.Client):
    """A client that only listens."""

    def __init__(self, intents: discord.Intents) -> None:
        super().__init__(
            intents=intents,
            allowed_mentions=discord.AllowedMentions.none(),
            max_messages=None,
            # Time for which the SDK waits for further servers before it is ready.
            guild_ready_timeout=0.01,
        )
        self.heard: list[tuple[str, Sequence[object]]] = []
        self.changes = Changes()

    def dispatch(self, event: str, /, *args: object, **kwargs: object) -> None:
        self.heard.append((event, args))
        super().dispatch(event, *args, **kwargs)
        self.changes.notify()

    def until(self, condition: Callable[[], bool]) -> Awaitable[None]:
        """Wait for a condition, which is checked at each event."""
        return self.changes.until(condition, describe=lambda: f"heard {[name for name, _ in self.heard]}")

    def of(self, event: str) -> list[Sequence[object]]:
        """Return the arguments of each event of this name."""
        return [args for name, args in self.heard if name == event]

    @property
    def messages(self) -> list[discord.Message]:
        """Messages of users."""
        return [each for (each, *_) in self.of("message") if isinstance(each, discord.Message) and not each.author.bot]

    @property
    def interactions(self) -> "list[discord.Interaction[discord.Client]]":
        return [each for (each, *_) in self.of("interaction") if isinstance(each, discord.Interaction)]


def point_at(emulator: DiscordEmulator) -> None:
    """Set the SDK's addresses, which are class attributes."""
    Route.BASE = emulator.api_url
    DiscordWebSocket.DEFAULT_GATEWAY = yarl.URL(emulator.gateway_url)


@asynccontextmanager
async def listening(emulator: DiscordEmulator, intents: discord.Intents | None = None) -> AsyncIterator[Ear]:
    """Yield a client that is logged in, connected and ready."""
    before = Route.BASE, DiscordWebSocket.DEFAULT_GATEWAY
    point_at(emulator)
    ear = Ear(intents or ordinary_intents())
    connection: asyncio.Task[None] | None = None
    try:
        await ear.login(emulator.token)
        connection = asyncio.create_task(ear.connect())
        await ear.wait_until_ready()
        yield ear
    finally:
        await ear.close()
        if connection is not None:
            await asyncio.gather(connection, return_exceptions=True)
        Route.BASE, DiscordWebSocket.DEFAULT_GATEWAY = before
