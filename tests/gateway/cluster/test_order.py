"""The events of a chat are handled in the order in which they were stored, whichever nodes they came to."""

import asyncio

import pytest

from channels.base import ChatKey
from gateway.cluster import dispatcher, ownership
from gateway.store.rows import InboxItem
from tests.gateway.cluster.recorded_work import CHATS, Members
from tests.postgres import rows
from tests.process import until

CHAT = CHATS[0]


@pytest.fixture
async def met(members: Members, monkeypatch: pytest.MonkeyPatch) -> Members:
    """Nodes that know of each other, the first of which works on the chat, and waits for news as long as it takes."""
    monkeypatch.setattr(dispatcher, "NOTIFIED_WITHIN", 60.0)
    await members.meet()
    await members.accept(1, CHAT, at=0)
    await until(lambda: members.dispatchers[0].is_settled)
    return members


async def test_an_event_waits_for_the_news_of_an_older_one_that_came_to_another_node(met: Members) -> None:
    older = await met.stored(2, CHAT, at=1)
    newer = await met.accept(3, CHAT, at=0)
    assert not met.dispatchers[0].is_settled
    assert [seq for _, seq in met.log] == [1]

    met.dispatchers[1].dispatch(older, is_live=True)
    await until(lambda: met.dispatchers[0].is_settled)

    assert met.log == [("one", 1), ("one", older.seq), ("one", newer)]
    assert met.works[0].live == [1, older.seq, newer]


async def test_it_does_not_wait_for_the_news_of_a_node_that_has_died(
    met: Members, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dispatcher, "NOTIFIED_WITHIN", 0.05)
    older = await met.stored(2, CHAT, at=1)
    newer = await met.accept(3, CHAT, at=0)
    await until(lambda: met.dispatchers[0].is_settled)

    assert met.log == [("one", 1), ("one", older.seq), ("one", newer)]
    assert met.works[0].live == [1, newer]


async def test_a_newer_one_that_is_told_first_waits_too(met: Members) -> None:
    older, newer = await met.stored(2, CHAT, at=1), await met.stored(3, CHAT, at=2)
    met.dispatchers[2].dispatch(newer, is_live=True)
    await until(lambda: not met.dispatchers[0].is_settled)

    met.dispatchers[1].dispatch(older, is_live=True)
    await until(lambda: len(met.log) == 3)

    assert met.log == [("one", 1), ("one", older.seq), ("one", newer.seq)]


async def test_an_event_stored_while_others_are_looked_for_keeps_its_place(
    met: Members, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked, go_on, waiting = asyncio.Event(), asyncio.Event(), met.stores[0].inbox.waiting

    async def look(chat: ChatKey | None = None) -> list[InboxItem]:
        found = await waiting(chat)
        looked.set()
        await go_on.wait()
        return found

    monkeypatch.setattr(met.stores[0].inbox, "waiting", look)
    first = await met.accept(2, CHAT, at=0)
    await looked.wait()
    second = await met.stored(3, CHAT, at=1)
    third = await met.accept(4, CHAT, at=0)
    go_on.set()
    await until(lambda: len(met.log) == 2)
    met.dispatchers[1].dispatch(second, is_live=True)
    await until(lambda: len(met.log) == 4)

    assert [seq for _, seq in met.log] == [1, first, second.seq, third]


async def test_an_older_event_that_is_committed_after_the_look_for_it_is_handled_too(
    met: Members, monkeypatch: pytest.MonkeyPatch
) -> None:
    older, waiting = await met.stored(2, CHAT, at=1), met.stores[0].inbox.waiting

    async def look(chat: ChatKey | None = None) -> list[InboxItem]:
        monkeypatch.undo()
        found = [item for item in await waiting(chat) if item.seq != older.seq]
        met.dispatchers[0].dispatch(older, is_live=True)
        return found

    monkeypatch.setattr(met.stores[0].inbox, "waiting", look)
    newer = await met.accept(3, CHAT, at=0)
    await until(lambda: met.dispatchers[0].is_settled)

    assert [seq for _, seq in met.log] == [1, newer, older.seq]


async def test_an_event_that_was_dealt_with_elsewhere_is_not_handled(
    met: Members, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dispatcher, "NOTIFIED_WITHIN", 0.05)
    looked, settled, waiting = asyncio.Event(), asyncio.Event(), met.stores[0].inbox.waiting

    async def look(chat: ChatKey | None = None) -> list[InboxItem]:
        if looked.is_set():
            await settled.wait()
        found = await waiting(chat)
        looked.set()
        return found

    monkeypatch.setattr(met.stores[0].inbox, "waiting", look)
    older = await met.stored(2, CHAT, at=1)
    newer = await met.accept(3, CHAT, at=0)
    await looked.wait()
    await met.stores[1].inbox.settle([older.seq])  # its sender has just lost the right to speak
    settled.set()
    last = await met.accept(4, CHAT, at=0)
    await until(lambda: met.dispatchers[0].is_settled)

    assert met.log == [("one", 1), ("one", newer), ("one", last)]


async def test_events_that_wait_go_with_a_chat_that_is_given_up(met: Members) -> None:
    """The node that ends passes them to the one with the fewest chats, and both others have none."""
    older = await met.stored(2, CHAT, at=1)
    newer = await met.accept(3, CHAT, at=0)
    met.dispatchers[0].ownership.is_draining = True
    await met.dispatchers[0].hand_over()
    await until(lambda: len(met.log) == 3)
    await until(lambda: all(each.is_settled for each in met.dispatchers))

    (first, *moved) = met.log
    assert first == ("one", 1)
    assert moved in ([(other, older.seq), (other, newer)] for other in ("two", "three"))


async def test_a_node_that_is_alone_looks_for_nothing(members: Members, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ownership, "FOUND_WITHIN", 0.0)
    rows(members.url, "UPDATE nodes SET fenced = TRUE WHERE name <> 'one'")
    await members.meet()
    await members.accept(1, CHAT, at=0)
    await until(lambda: members.dispatchers[0].is_settled)
    item = await members.stored(2, CHAT, at=0)

    members.dispatchers[0].dispatch(item, is_live=True)

    assert members.log == [("one", 1), ("one", 2)]


async def test_events_that_wait_for_a_chat_are_taken_in_their_order(members: Members) -> None:
    first, second = [await members.stored(number, CHAT, at=0) for number in (1, 2)]
    members.dispatchers[0].dispatch(second, is_live=True)
    members.dispatchers[0].dispatch(first, is_live=True)
    await until(lambda: len(members.log) == 2)

    assert members.log == [("one", first.seq), ("one", second.seq)]


class Taking:
    """Holds the first node while it takes over the chat, in which an event was left."""

    def __init__(self, members: Members, monkeypatch: pytest.MonkeyPatch) -> None:
        self.begun, self.go_on = asyncio.Event(), asyncio.Event()
        self._take_over = members.works[0].take_over
        monkeypatch.setattr(members.works[0], "take_over", self)

    async def __call__(self, chat: ChatKey) -> list[InboxItem]:
        found = await self._take_over(chat)
        self.begun.set()
        await self.go_on.wait()
        return found


async def test_events_that_come_while_a_chat_is_taken_over_keep_their_order(
    members: Members, monkeypatch: pytest.MonkeyPatch
) -> None:
    taking = Taking(members, monkeypatch)
    left = await members.stored(1, CHAT, at=0)
    first = await members.accept(2, CHAT, at=0)
    await taking.begun.wait()
    second = await members.stored(3, CHAT, at=1)
    third = await members.accept(4, CHAT, at=0)
    taking.go_on.set()
    await until(lambda: len(members.log) == 2)
    members.dispatchers[1].dispatch(second, is_live=True)
    await until(lambda: len(members.log) == 4)

    assert [seq for _, seq in members.log] == [left.seq, first, second.seq, third]


async def test_a_gap_that_is_closed_waits_for_no_news(met: Members) -> None:
    """It would come after that of the gap."""
    older = await met.stored(2, CHAT, at=1)
    newer = await met.accept(3, CHAT, at=0)
    await asyncio.sleep(0)

    await asyncio.wait_for(met.dispatchers[0].route_pending([CHAT]), 30)

    assert met.log == [("one", 1), ("one", older.seq), ("one", newer)]


async def test_what_was_stored_before_a_gap_is_closed_is_in_the_chat_also_if_that_is_being_taken_over(
    members: Members, monkeypatch: pytest.MonkeyPatch
) -> None:
    taking = Taking(members, monkeypatch)
    left = await members.stored(1, CHAT, at=0)
    first = await members.accept(2, CHAT, at=0)
    await taking.begun.wait()
    read = await members.stored(3, CHAT, at=1)  # from the history, by another node

    looking = asyncio.create_task(members.dispatchers[0].route_pending([CHAT]))
    await asyncio.sleep(0)
    taking.go_on.set()
    await looking

    assert [seq for _, seq in members.log] == [left.seq, first, read.seq]


async def test_an_event_is_in_its_chat_once_that_is_said(members: Members) -> None:
    item = await members.stored(1, CHAT, at=0)
    members.dispatchers[0].dispatch(item, is_live=False)
    await members.dispatchers[0].wait_routed(CHAT)

    assert members.log == [("one", item.seq)]
