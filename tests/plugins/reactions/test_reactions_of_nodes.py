"""The reactions of a node that dies are replaced or removed by the one that takes its chats."""

import asyncio
from pathlib import Path

import pytest

from agent_core.models.scripted import Waits
from gateway.plugins.reactions.reactions import DONE, HEARD, STEERED
from tests.gateway.bot import Bot
from tests.gateway.cluster.nodes import Nodes
from tests.gateway.test_steering import asked
from tests.plugins.reactions.reacting import LEFT, ON, Reacting, reacting
from tests.postgres import UrlOf, rows
from tests.process import until
from tests.tunnel import Tunnel


class TwoNodes(Nodes):
    """Nodes on a platform with reactions."""

    def __init__(self, home: Path, url: str) -> None:
        super().__init__(home, url)
        self.platform: Reacting = Reacting()

    async def works(self, url: str) -> Bot:
        """Start a node that is in the middle of a run, which a second message steers."""
        one = await self.start(Waits(asyncio.Event()), url=url, settings=ON)
        await one.channel.hears("a trip to Oslo")
        await until(lambda: reacting(one).on("a trip to Oslo") == {HEARD})
        await asked(one, 1)
        await one.channel.hears("no, to Bergen")
        await until(lambda: reacting(one).on("no, to Bergen") == {STEERED})
        return one


@pytest.fixture
async def nodes(tmp_path: Path, url_of: UrlOf) -> TwoNodes:
    return TwoNodes(tmp_path, url_of(tmp_path))


async def test_the_other_node_answers_and_shows_the_last_ones(nodes: TwoNodes) -> None:
    async with nodes.life, Tunnel.to(nodes.url) as tunnel:
        one = await nodes.works(tunnel.url)
        await nodes.start("Oslo.", "Bergen.", settings=ON)

        tunnel.cut()

        platform = reacting(one)
        await until(lambda: platform.on("a trip to Oslo") == platform.on("no, to Bergen") == {DONE})
        await until(lambda: rows(nodes.url, LEFT) == [])
        tunnel.mend()
        await asyncio.wait_for(one.made.base.peers.wait_fenced(), 30)


async def test_the_other_node_removes_that_of_a_dropped_message_though_nothing_else_is_left_there(
    nodes: TwoNodes,
) -> None:
    async with nodes.life, Tunnel.to(nodes.url) as tunnel:
        one = await nodes.works(tunnel.url)
        await nodes.start(settings=ON)
        platform = reacting(one)
        platform.holds_before = {None}
        await one.channel.hears("/stop")
        await until(lambda: platform.begun.count(None) == 2)
        await until(lambda: rows(nodes.url, "SELECT 1 FROM inbox WHERE state = 'new'") == [])
        rows(nodes.url, "DELETE FROM owed")  # that of the run; the other message was dropped without one

        tunnel.cut()

        await until(lambda: platform.on("a trip to Oslo") | platform.on("no, to Bergen") == set())
        await until(lambda: rows(nodes.url, LEFT) == [])
        tunnel.mend()
        await asyncio.wait_for(one.made.base.peers.wait_fenced(), 30)
