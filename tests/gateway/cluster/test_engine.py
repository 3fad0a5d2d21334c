"""The queue that shares chats out among nodes, on a real DBOS."""

import asyncio

import pytest

from channels.base import ChatKey
from gateway.cluster import engine
from gateway.cluster.rows import ChatOwners, Orphan
from gateway.store import postgres
from tests.gateway.cluster.desks import CHATS, Members
from tests.process import until
from tests.tunnel import Tunnel


async def test_chats_are_taken_also_after_nothing_passed_on_its_connections(
    members: Members, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (engine, postgres):
        monkeypatch.setattr(module, "LOOK_EVERY", 0.1)
    taken: list[ChatKey] = []

    async def take(chat: ChatKey) -> bool:
        taken.append(chat)
        return True

    owners = members.stores[0].table(ChatOwners)
    async with (
        Tunnel.to(members.url) as tunnel,
        engine.launched(tunnel.url, members.nodes[0].id, owners, take) as queue,
    ):
        await queue.offer([Orphan(CHATS[0], 1)])
        await until(lambda: taken == [CHATS[0]])
        tunnel.stall()
        await asyncio.wait_for(queue.offer([Orphan(CHATS[1], 1)]), 30)

        await until(lambda: taken == [CHATS[0], CHATS[1]])
