"""What a run owes waits for messages of that run, and is done once they were sent, whoever sends them."""

import asyncio
from collections.abc import Iterable, Mapping, Sequence

import pytest
from msgspec.structs import replace

from agent_core.origin import CLEAN
from channels.base import ChatKey, OutboundMessage, Posted
from channels.memory import NO_PACE, MemoryChannel
from gateway.runs import owed as owed_work
from gateway.runs.owed import Doer
from gateway.store.connection import Connection
from gateway.store.owed import Owed
from gateway.store.rows import Post, Run, RunEnd
from tests.gateway.bot import Bot
from tests.gateway.conftest import StartBot
from tests.plugins.test_owed import Adds, adds, left

__all__ = ["adds"]
SLOW = "Another."


class Slow(MemoryChannel):
    """A platform that takes one message only once it is let."""

    def __init__(self) -> None:
        super().__init__(limits=NO_PACE)
        self.begun, self.let = asyncio.Event(), asyncio.Event()

    async def send(self, chat: ChatKey, message: OutboundMessage, key: str) -> Posted:
        if message.markdown == SLOW:
            self.begun.set()
            await self.let.wait()
        return await super().send(chat, message, key)


class Others(Adds):
    """Another plugin, whose messages count as those of the run too."""

    name = "others"

    def owed(self) -> Mapping[str, Doer]:
        return {"other line": self.add}

    def ended(self, run: Run, how: RunEnd, tx: Connection) -> Iterable[Owed]:
        return [Owed("other line", run.id, run.chat, {"words": SLOW})]

    async def add(self, item: Owed) -> Sequence[Post]:
        return [replace(post, key=f"{item.run}:other:0") for post in await super().add(item)]


def is_doing(kind: str) -> bool:
    """Return True while something of this kind that is owed is done, or waits for its next attempt."""
    return any(task.get_name().startswith(f"{kind} ") for task in asyncio.all_tasks())


async def at_its_next_attempt(bot: Bot, channel: Slow, adds: type[Adds]) -> None:
    """Let the next attempt come while another message is on its way."""
    await asyncio.wait_for(channel.begun.wait(), 30)
    adds.held.set()
    await channel.until(lambda: adds.fails == 0 and not is_doing("line"))
    channel.let.set()
    await bot.app.settled()


async def test_an_attempt_is_made_again_after_a_message_that_another_plugin_owes(
    start_bot: StartBot, adds: type[Adds], monkeypatch: pytest.MonkeyPatch
) -> None:
    class Other(Others):
        begun, held = asyncio.Semaphore(0), asyncio.Event()

    monkeypatch.setattr(owed_work, "PAUSES", (0.01,))
    channel = Slow()
    bot = await start_bot("Hi.", plugins=(adds, Other), channel=channel)
    adds.held.clear()
    adds.fails = 1
    await channel.hears("hello")
    await asyncio.wait_for(adds.begun.acquire(), 30)
    Other.held.set()

    await at_its_next_attempt(bot, channel, adds)

    assert bot.screen == ["Hi.", SLOW, "That was completed."]
    assert await left(bot) == []


async def test_an_attempt_is_made_again_after_any_message_of_the_run(
    start_bot: StartBot, adds: type[Adds], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(owed_work, "PAUSES", (0.01,))
    channel = Slow()
    bot = await start_bot("Hi.", plugins=(adds,), channel=channel)
    adds.held.clear()
    adds.fails = 1
    await channel.hears("hello")
    await asyncio.wait_for(adds.begun.acquire(), 30)
    ((item, *_),) = [await bot.made.base.store.owed.left()]
    post = Post(f"{item.run}:later:0", item.run, item.chat, OutboundMessage(markdown=SLOW), CLEAN)
    await bot.made.base.store.outbox.add([post])
    bot.made.base.delivery.deliver_soon(item.chat, [post])

    await at_its_next_attempt(bot, channel, adds)

    assert bot.screen == ["Hi.", SLOW, "That was completed."]
    assert await left(bot) == []
