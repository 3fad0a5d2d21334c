"""A platform that shows a message at once and acknowledges the call later."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from channels.base import ChatKey, OutboundMessage, Posted
from channels.memory import NO_PACE, MemoryChannel
from tests.gateway.bot import Bot

TURNS = 50
"""Reads of the store that give the program time to do what needs no acknowledgement."""

WITHIN = 30.0
"""Seconds."""


class LateChannel(MemoryChannel):
    """A memory channel whose calls can be acknowledged late."""

    def __init__(self, *, keeps_keys: bool = True) -> None:
        super().__init__(limits=NO_PACE, keeps_keys=keeps_keys)
        self._words = ""
        self._answered = asyncio.Event()

    def answers_late(self, words: str) -> asyncio.Event:
        """Delay the answer to calls with these words, or a button with this label, until the event is set."""
        self._words, self._answered = words, asyncio.Event()
        return self._answered

    async def send(self, chat: ChatKey, message: OutboundMessage, key: str) -> Posted:
        posted = await super().send(chat, message, key)
        await self._answer(message)
        return posted

    async def edit(self, posted: Posted, message: OutboundMessage) -> None:
        await super().edit(posted, message)
        await self._answer(message)

    def shows(self, words: str) -> bool:
        """Return True if a message has these words, or a button with this label."""
        return any(_has(message, words) for _, message in self.posts)

    async def _answer(self, message: OutboundMessage) -> None:
        if self._words and _has(message, self._words):
            await self._answered.wait()


def _has(message: OutboundMessage, words: str) -> bool:
    return words in message.markdown or any(words == button.label for row in message.buttons for button in row)


def channel_of(bot: Bot) -> LateChannel:
    assert isinstance(bot.channel, LateChannel)
    return bot.channel


@asynccontextmanager
async def unanswered(bot: Bot, words: str) -> AsyncIterator[None]:
    """Acknowledge calls with these words, or a button with this label, only when the context is left."""
    answered = channel_of(bot).answers_late(words)
    yield
    await come_of_it(bot, answered)


async def turns(bot: Bot) -> None:
    """Let the program do what needs no acknowledgement."""
    for _ in range(TURNS):
        await bot.made.base.store.sequence()


async def come_of_it(bot: Bot, answered: asyncio.Event) -> None:
    """Let the program do what needs no acknowledgement, set the event, and wait until all is done."""
    await turns(bot)
    answered.set()
    async with asyncio.timeout(WITHIN):
        await bot.app.settled()


async def seen(bot: Bot, words: str) -> None:
    """Wait for a message with these words, or a button with this label."""
    await bot.channel.until(lambda: channel_of(bot).shows(words))


def buttons(bot: Bot) -> list[str]:
    """Return the labels of all buttons on the screen, oldest first."""
    return [button.label for _, message in bot.channel.posts for row in message.buttons for button in row]
