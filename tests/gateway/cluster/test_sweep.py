"""What nobody works on is found, and what a node is about to do is left to it."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import suppress

import pytest

from channels.base import ChatKey
from gateway.cluster import sweep
from gateway.cluster.chat_owners import Orphan
from gateway.cluster.node import Node
from gateway.cluster.sweep import Sweep
from gateway.store.rows import InboxItem
from tests.gateway.cluster.recorded_work import CHATS, Members
from tests.gateway.test_store import message
from tests.postgres import rows
from tests.process import until

EVENT = message(1).model_copy(update={"chat": CHATS[0]})


@pytest.fixture
async def looking(members: Members) -> AsyncIterator[Sweep]:
    """The sweep of the second node."""
    other = Sweep(members.nodes[1], members.signals[1], members.dispatchers[1], None)
    yield other
    await other.close()


async def test_an_event_that_has_just_come_is_left_to_its_node(
    members: Members, looking: Sweep, monkeypatch: pytest.MonkeyPatch
) -> None:
    found: list[Orphan] = []
    looks_again, handled, orphans = asyncio.Event(), asyncio.Event(), members.dispatchers[1].orphans
    looks = 0

    async def look() -> list[Orphan]:
        nonlocal looks
        looks += 1
        if found:
            looks_again.set()
            await handled.wait()
        now = await orphans()
        found.extend(now)
        return now

    monkeypatch.setattr(sweep, "SWEEP_EVERY", 0.05)
    monkeypatch.setattr(members.dispatchers[1], "orphans", look)
    await looking.start()
    await members.signals[1].listening.wait()
    await until(lambda: looks > 5)  # the news of a new connection makes it take what it finds at once
    seq = await members.stores[0].inbox.accept(EVENT)
    assert seq is not None
    await asyncio.wait_for(looks_again.wait(), 30)

    members.dispatchers[0].dispatch(InboxItem(seq, EVENT), is_live=True)
    await until(lambda: bool(members.log))
    handled.set()

    assert members.log == [("one", seq)]


async def test_an_event_whose_node_died_before_it_claimed_the_chat_is_found(
    members: Members, looking: Sweep, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sweep, "SWEEP_EVERY", 0.05)
    await looking.start()
    seq = await members.stores[0].inbox.accept(EVENT)

    await until(lambda: members.log == [("two", seq)])


OWED = "owed (kind, key, chat, data, run, at, due, attempts) VALUES ('{}', 'run', '{{}}', '{{{{}}}}', 'run', 0, 0, 0)"


@pytest.mark.parametrize(
    ("left", "found"),
    [
        (OWED.format("speech"), CHATS[:1]),
        (OWED.format("of a plugin that is gone"), []),
    ],
    ids=["speech", "something that nobody does"],
)
async def test_a_chat_that_lost_its_node_is_found_if_something_can_be_done_there(
    members: Members, left: str, found: Sequence[ChatKey]
) -> None:
    rows(members.url, f"INSERT INTO {left.format(CHATS[0])}")

    orphans = await members.dispatchers[1].orphans()

    assert [each.chat for each in orphans] == found


async def test_a_chat_that_has_lost_its_node_is_taken_at_once(
    members: Members, looking: Sweep, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sweep, "SWEEP_EVERY", 600.0)
    await looking.start()
    seq = await members.stores[0].inbox.accept(EVENT)

    await members.dispatchers[0].ownership.announce_orphans()
    await asyncio.wait_for(_said(members), 30)

    assert members.log == [("two", seq)]


async def _said(members: Members) -> None:
    await until(lambda: bool(members.log))


async def test_everything_is_looked_at_also_while_nodes_come_and_go_all_the_time(
    members: Members, looking: Sweep, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sweep, "SWEEP_EVERY", 0.5)
    await members.accept(1, CHATS[0], at=1)
    await until(lambda: len(members.log) == 1)
    await looking.start()
    going = asyncio.create_task(_come_and_go(members))
    seq = await members.stores[0].inbox.accept(message(2).model_copy(update={"chat": CHATS[0]}))

    await until(lambda: len(members.log) == 2)

    assert members.log[1] == ("two", seq)
    going.cancel()
    with suppress(asyncio.CancelledError):
        await going


async def _come_and_go(members: Members) -> None:
    while True:
        await members.dispatchers[0].ownership.announce_orphans()


async def test_a_mistake_in_one_look_for_dead_nodes_does_not_end_the_search(
    looking: Sweep, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks: list[Node] = []

    async def look(node: Node) -> list[str]:
        looks.append(node)
        if len(looks) == 1:
            raise ValueError("a mistake")
        return []

    monkeypatch.setattr(sweep, "LOOK_EVERY", 0.01)
    monkeypatch.setattr(sweep, "reap", look)
    await looking.start()

    await until(lambda: len(looks) > 1)
