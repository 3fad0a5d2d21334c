"""A platform in memory on which the bot can react, and Parley with reactions on."""

import asyncio
from collections import defaultdict
from collections.abc import Set

from channels.base import ChannelError, ChatKey, MessageReceived, OutboundMessage, Posted
from channels.capabilities import Emoji
from channels.memory import MemoryChannel
from gateway.plugins.reactions.settings import ReactionsSettings
from tests.gateway.bot import Bot

ON = {"plugin": {"reactions": ReactionsSettings(on=True)}}
"""The settings with reactions on."""
LEFT = "SELECT message_id FROM reactions UNION ALL SELECT key FROM owed WHERE kind = 'reaction'"


class Reacting(MemoryChannel):
    """Keeps the bot's reactions, of which a call can be held before or after it has its effect."""

    def __init__(self) -> None:
        super().__init__()
        self.reactions: dict[str, set[Emoji]] = defaultdict(set)
        self.begun: list[Emoji | None] = []
        """The calls that were begun."""
        self.holds_before: set[Emoji | None] = set()
        self.holds_after: set[Emoji | None] = set()
        self.refuses: ChannelError | None = None
        """The error that calls raise which are not held before."""
        self.is_down = False
        """True while messages are neither sent nor edited."""

    async def send(self, chat: ChatKey, message: OutboundMessage, key: str) -> Posted:
        self._raise_if_down()
        return await super().send(chat, message, key)

    async def edit(self, posted: Posted, message: OutboundMessage) -> None:
        self._raise_if_down()
        await super().edit(posted, message)

    def _raise_if_down(self) -> None:
        if self.is_down:
            raise ChannelError("down", retry_after=60.0)

    async def react(self, chat: ChatKey, message_id: str, emoji: Emoji | None, *, instead_of: Set[Emoji]) -> bool:
        self.begun.append(emoji)
        if emoji in self.holds_before:
            await asyncio.Event().wait()
        if self.refuses is not None:
            raise self.refuses
        self.reactions[message_id] -= instead_of
        self.reactions[message_id] |= {emoji} if emoji else set()
        if emoji in self.holds_after:
            await asyncio.Event().wait()
        return True

    def on(self, text: str) -> set[Emoji]:
        """Return the bot's reactions on the message with this text."""
        found = next(each for each in self.heard if isinstance(each, MessageReceived) and each.text == text)
        return self.reactions[found.message_id]


def reacting(bot: Bot) -> Reacting:
    """Return the platform of a bot."""
    assert isinstance(bot.channel, Reacting)
    return bot.channel
