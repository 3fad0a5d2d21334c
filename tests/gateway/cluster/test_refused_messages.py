"""While the database is away no message can be stored: later ones of the chat wait until it was read in the history."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from channels.base import MessageReceived, NotTakenIn
from tests.gateway.bot import Bot
from tests.gateway.cluster.nodes import READING, Remembering
from tests.gateway.test_catch_up import heard
from tests.postgres import UrlOf
from tests.process import until
from tests.tunnel import Tunnel


@pytest.fixture
async def nodes(tmp_path: Path, url_of: UrlOf) -> AsyncIterator[Remembering]:
    found = Remembering(tmp_path, url_of(tmp_path))
    async with found.life:
        yield found


async def delivered(bot: Bot, event: MessageReceived) -> None:
    """Deliver a message as soon as the node takes it."""
    async with asyncio.timeout(30):
        while True:
            try:
                await bot.channel.deliver(event)
            except NotTakenIn:
                await asyncio.sleep(0.01)
            else:
                return


@pytest.mark.parametrize("at", [0, 1])
async def test_after_an_outage_for_all_nodes(nodes: Remembering, at: int) -> None:
    tunnel = await nodes.life.enter_async_context(Tunnel.to(nodes.url))
    bots = [await nodes.start(*["Yes."] * 4, url=tunnel.url) for _ in range(2)]
    await bots[at].channel.deliver(nodes.platform.writes("hello"))
    await nodes.settled()

    tunnel.cut()
    with pytest.raises(NotTakenIn):
        await bots[at].channel.deliver(nodes.platform.writes("first"))
    await until(lambda: not bots[0].made.base.leases.holds(READING))
    tunnel.mend()
    await delivered(bots[at], nodes.platform.writes("second"))
    await until(lambda: {"first", "second"} <= {*heard(bots[at])})

    assert heard(bots[at]) == ["hello", "first", "second"]


async def test_after_an_outage_for_a_node_that_reads_no_history(nodes: Remembering) -> None:
    tunnel = await nodes.life.enter_async_context(Tunnel.to(nodes.url))
    reader = await nodes.start(*["Yes."] * 4)
    other = await nodes.start(url=tunnel.url)
    await reader.channel.deliver(nodes.platform.writes("hello"))
    await nodes.settled()

    tunnel.cut()
    with pytest.raises(NotTakenIn):
        await other.channel.deliver(nodes.platform.writes("first"))
    tunnel.mend()
    await delivered(other, nodes.platform.writes("second"))
    await until(lambda: {"first", "second"} <= {*heard(reader)})

    assert heard(reader) == ["hello", "first", "second"]
