"""The queue that shares chats out among nodes, on a real DBOS."""

import asyncio
import threading

import pytest
from dbos import _queue

from channels.base import ChatKey
from gateway.cluster import engine
from gateway.cluster.chat_owners import ChatOwners, Orphan
from gateway.store import postgres
from tests.gateway.cluster.recorded_work import CHATS, Members
from tests.postgres import rows
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


async def test_a_chat_is_offered_again_if_the_node_that_got_it_never_began_and_lives(
    members: Members, monkeypatch: pytest.MonkeyPatch
) -> None:
    taken: list[ChatKey] = []
    lost = threading.Event()

    async def take(chat: ChatKey) -> bool:
        taken.append(chat)
        return True

    def lose(*_: object) -> None:
        lost.set()
        raise ConnectionError("the database went away after the claim")

    def states() -> list[tuple[object, ...]]:
        return rows(members.url, "SELECT status FROM dbos.workflow_status ORDER BY created_at")

    orphan = Orphan(CHATS[0], 0)
    owners = members.stores[0].table(ChatOwners)
    async with engine.launched(members.url, members.nodes[0].id, owners, take) as queue:
        with monkeypatch.context() as patched:
            patched.setattr(_queue, "execute_dequeued_workflow", lose)
            await queue.offer([orphan])
            await until(lost.is_set)
        await queue.offer([orphan])
        assert states() == [("PENDING",)]  # it may be about to begin

        monkeypatch.setattr(engine, "TAKEN_WITHIN", 0.0)
        await queue.offer([orphan])
        await until(lambda: taken == [CHATS[0]])
