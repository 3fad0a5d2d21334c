"""A message waits for the commands before it, and for none that comes later, however many there are."""

import asyncio

import pytest

from channels.base import ChatKey, OutboundMessage, Posted
from channels.memory import MemoryChannel
from tests.gateway.conftest import StartBot


class OneByOne(MemoryChannel):
    """Takes replies to /whoami only when it is let, one each time."""

    def __init__(self) -> None:
        super().__init__()
        self.may = asyncio.Semaphore(0)
        self.offered = 0

    async def send(self, chat: ChatKey, message: OutboundMessage, key: str) -> Posted:
        if "bob" in message.markdown:
            self.offered += 1
            await self.may.acquire()
        return await super().send(chat, message, key)


@pytest.mark.parametrize("group", ["team", None])
async def test_a_message_begins_its_run_while_later_commands_are_in_progress(
    start_bot: StartBot, group: str | None
) -> None:
    channel = OneByOne()
    bot = await start_bot("Hello.", channel=channel)
    for number in range(2):
        await channel.hears("/whoami", sender="bob", group=group)
        if number == 0:
            await channel.until(lambda: channel.offered == 1)
            await channel.hears("hi", sender="ann" if group else "bob", group=group)

    channel.may.release()
    await channel.until(lambda: channel.offered == 2)
    await channel.until(lambda: len(bot.llm.requests) == 1)

    channel.may.release()
    await bot.app.settled()
    assert bot.screen[-1] == "Hello."
    assert len(bot.screen) == 3
