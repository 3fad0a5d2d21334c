"""People who are reached only by the node to which they are connected: that one works on their chat."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from agent_core.models.scripted import Waits
from channels.memory import MemoryChannel
from channels.terminal.chat import LIMITS
from tests.gateway.cluster.nodes import Nodes
from tests.postgres import UrlOf
from tests.process import until


@pytest.fixture
async def nodes(tmp_path: Path, url_of: UrlOf) -> AsyncIterator[Nodes]:
    """Nodes on a platform like the page's."""
    found = Nodes(tmp_path, url_of(tmp_path))
    limits = found.platform.limits.model_copy(update={"bound_to_process": LIMITS.bound_to_process})
    found.platform = MemoryChannel(limits=limits)
    async with found.life:
        yield found


async def test_their_chat_moves_to_the_node_to_which_they_have_connected_since(nodes: Nodes) -> None:
    one, other = await nodes.start("First."), await nodes.start("Second.")

    for text, bot in (("a", one), ("b", other)):
        await bot.channel.hears(text)
        await nodes.settled()
        assert nodes.owner(nodes.platform.chat()) == nodes.node_of(bot)

    assert nodes.platform.screen == ["First.", "Second."]
    assert len(other.llm.requests) == 1


async def test_it_does_not_move_in_the_middle_of_an_answer(nodes: Nodes) -> None:
    done = asyncio.Event()
    one, other = await nodes.start(Waits(done, "First.")), await nodes.start("Second.")
    chat = nodes.platform.chat()
    await one.channel.hears("a")
    await until(lambda: len(one.llm.requests) == 1)

    wanted = asyncio.create_task(other.made.events.dispatcher.request(chat))
    await asyncio.sleep(0)
    assert nodes.owner(chat) == nodes.node_of(one)
    done.set()
    await asyncio.wait_for(wanted, 30)

    assert nodes.owner(chat) == nodes.node_of(other)
    assert nodes.platform.screen == ["First."]
