"""Messages are answered as they were sent, also where a command is in progress while a gap is read."""

import asyncio

from channels.base import ChatKey, OutboundMessage, Posted
from tests.gateway.conftest import StartBot
from tests.gateway.remembering import RememberingChannel
from tests.gateway.test_catch_up import heard, talked


class SlowToPost(RememberingChannel):
    """Takes a message once its gate is open."""

    def __init__(self) -> None:
        super().__init__()
        self.takes = asyncio.Event()
        self.takes.set()
        self.offered: list[str] = []
        """Texts of the messages that were to be posted."""

    async def send(self, chat: ChatKey, message: OutboundMessage, key: str) -> Posted:
        self.offered.append(message.markdown)
        await self.takes.wait()
        return await super().send(chat, message, key)

    async def is_busy_with_a_command(self) -> None:
        """Let a command begin whose reply the platform does not take yet."""
        self.takes.clear()
        before = len(self.offered)
        await self.hears("/status")
        await self.until(lambda: len(self.offered) > before)


async def test_what_is_read_during_a_command_comes_before_what_was_said_after_it(start_bot: StartBot) -> None:
    channel = SlowToPost()
    bot = await start_bot("One.", "All.", channel=channel)
    await talked(bot, channel)

    channel.open.clear()
    channel.writes("first")
    channel.reconnect()
    await channel.until(lambda: len(channel.read) == 1)
    await channel.brings(channel.writes("second"))
    await channel.is_busy_with_a_command()
    await channel.brings(channel.writes("third"))
    channel.open.set()
    await channel.until(lambda: not bot.made.chats.gaps.of(channel.name))
    channel.takes.set()
    await channel.until(lambda: bot.screen[-1] == "All.")

    assert heard(bot) == ["hello", "first", "second", "third"]


async def test_what_is_said_during_a_command_comes_after_what_is_read_during_it(start_bot: StartBot) -> None:
    channel = SlowToPost()
    bot = await start_bot("One.", "All.", channel=channel)
    await talked(bot, channel)

    channel.open.clear()
    channel.writes("first")
    channel.reconnect()
    await channel.until(lambda: len(channel.read) == 1)
    await channel.is_busy_with_a_command()
    await channel.brings(channel.writes("second"))
    channel.open.set()
    await channel.until(lambda: not bot.made.chats.gaps.of(channel.name))
    channel.takes.set()
    await channel.until(lambda: bot.screen[-1] == "All.")

    assert heard(bot) == ["hello", "first", "second"]


async def test_what_waited_for_a_gap_is_answered_after_a_command_that_held_nothing(start_bot: StartBot) -> None:
    channel = SlowToPost()
    bot = await start_bot("One.", "All.", channel=channel)
    await talked(bot, channel)

    channel.open.clear()
    channel.reconnect()
    await channel.until(lambda: len(channel.read) == 1)
    await channel.brings(channel.writes("first"))
    await channel.is_busy_with_a_command()
    channel.open.set()
    await channel.until(lambda: not bot.made.chats.gaps.of(channel.name))
    channel.takes.set()
    await channel.until(lambda: bot.screen[-1] == "All.")

    assert heard(bot) == ["hello", "first"]
