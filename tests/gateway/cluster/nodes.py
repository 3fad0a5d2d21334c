"""Several whole Parleys in one process that share a database, a home and a platform, as several machines do."""

import asyncio
from contextlib import AsyncExitStack
from copy import copy
from pathlib import Path

from agent_core.models.scripted import Turn
from channels.base import ChatKey
from channels.memory import MemoryChannel
from tests.gateway.bot import Bot, BotOptions
from tests.gateway.remembering import RememberingChannel
from tests.postgres import rows
from tests.process import until

READING = "catch up memory"
"""The lease of the node that reads the history."""


class Nodes:
    """The nodes that a test has started, and their database."""

    def __init__(self, home: Path, url: str) -> None:
        self.home = home
        self.url = url
        self.bots: list[Bot] = []
        self.life = AsyncExitStack()
        self.platform = MemoryChannel()
        """Never connected itself: each node has its own connection to the same messages."""

    async def start(self, *turns: Turn, url: str | None = None, **how: object) -> Bot:
        """Start one more node, which reaches the database by `url`."""
        options = BotOptions(**how, channel=copy(self.platform), database=url or self.url)  # type: ignore[arg-type]
        bot = Bot(self.home, turns, options)
        await bot.start()
        self.life.push_async_callback(_stopped, bot)
        self.bots.append(bot)
        return bot

    async def settled(self) -> None:
        """Wait until all nodes are idle and no event waits."""
        async with asyncio.timeout(30):
            while True:
                for bot in self.bots:
                    await bot.app.settled()
                if rows(self.url, "SELECT count(*) FROM inbox WHERE state = 'new'") == [(0,)]:
                    break
                await asyncio.sleep(0.02)
            for bot in self.bots:  # also with what came to it while others were asked
                await bot.app.settled()

    def node_of(self, bot: Bot) -> str:
        """Return the id of a node."""
        started = [str(node) for (node,) in rows(self.url, "SELECT id FROM nodes ORDER BY started, id")]
        return started[self.bots.index(bot)]

    def owner(self, chat: ChatKey) -> str | None:
        """Return the id of the node that owns a chat."""
        found = rows(self.url, f"SELECT node FROM chat_owners WHERE chat = '{chat}'")  # noqa: S608
        return None if not found or found[0][0] is None else str(found[0][0])

    def sent(self) -> list[str]:
        """Return the texts of all calls that sent something, by all nodes."""
        return [call.markdown for call in self.platform.calls if call.kind == "send"]


async def _stopped(bot: Bot) -> None:
    """Stop a node and its channels, without waiting for the database of one that is cut off as its test failed."""
    async with asyncio.timeout(30):
        await bot.stop()
    await bot.made.base.channels.close()


class Remembering(Nodes):
    """Nodes on a platform with a history, which the first node reads."""

    def __init__(self, home: Path, url: str) -> None:
        super().__init__(home, url)
        self.platform: RememberingChannel = RememberingChannel()

    async def start(self, *turns: Turn, url: str | None = None, **how: object) -> Bot:
        """Start one more node. The first one has read the empty history when this returns."""
        bot = await super().start(*turns, url=url, **how)
        if len(self.bots) == 1:
            await until(
                lambda: bot.made.base.leases.holds(READING) and not bot.made.chats.gaps.is_open(self.platform.chat())
            )
        return bot

    async def outage(self, reader: Bot) -> None:
        """Let a message be missed; the reader knows of the gap, and cannot read it yet."""
        self.platform.open.clear()
        self.platform.read.clear()
        self.platform.writes("first")
        self.platform.reconnect()
        await until(lambda: bool(self.platform.read))
        assert reader.made.chats.gaps.holds(self.platform.chat())

    async def heard_of_it(self, bot: Bot) -> None:
        await until(lambda: bot.made.chats.gaps.of("memory") == [self.platform.chat()])
