"""Chats are claimed, released and passed on at random times: each event is handled once, and none waits."""

import asyncio
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from random import Random

import pytest

from agent_core.background import Background
from channels.base import ChatKey, InboundEvent
from gateway.cluster import dispatcher, ownership
from gateway.cluster.dispatcher import Dispatcher
from gateway.cluster.node import Facts, Node
from gateway.cluster.ownership import Ownership
from gateway.cluster.rows import ChatOwners
from gateway.cluster.signals import NodeSignals
from gateway.store.on_server import Server
from gateway.store.rows import InboxItem, Post
from gateway.store.signals import StoreNode
from gateway.store.store import Store
from tests.agent_core.kit import numbered
from tests.clock import FakeClock
from tests.gateway.test_store import CHAT, message
from tests.postgres import UrlOf, rows
from tests.process import until

CHATS = [CHAT.model_copy(update={"chat": name}) for name in ("x", "y", "z")]


class Desk:
    """Implements ChatWork: notes which node handled which event, and marks it as done a moment later."""

    def __init__(self, name: str, store: Store, log: list[tuple[str, int]], pause: Random) -> None:
        self.name = name
        self.log = log
        self._store = store
        self._pause = pause
        self._open: dict[ChatKey, int] = defaultdict(int)
        self._work = Background("a test's work failed")

    def knows(self, chat: ChatKey) -> bool:
        return True

    def needs_connection(self, chat: ChatKey) -> bool:
        return False

    def heard(self, event: InboundEvent) -> None: ...

    def route(self, item: InboxItem, *, is_live: bool) -> None:
        self.log.append((self.name, item.seq))
        self._open[item.event.chat] += 1
        self._work.start(self._do(item))

    async def _do(self, item: InboxItem) -> None:
        await asyncio.sleep(self._pause.random() / 100)
        await self._store.inbox.settle([item.seq])
        self._open[item.event.chat] -= 1

    async def take_over(self, chat: ChatKey) -> list[InboxItem]:
        return await self._store.inbox.waiting(chat)

    async def taken_over(self, chat: ChatKey) -> None: ...

    async def take_over_all(self) -> None: ...

    async def deliver(self, chat: ChatKey, posts: Sequence[Post]) -> None: ...

    def is_idle(self, chat: ChatKey) -> bool:
        return not self._open[chat]

    def rests(self, chat: ChatKey) -> bool:
        return self.is_idle(chat)

    async def cut_off(self, chat: ChatKey) -> None: ...

    def forget(self, chat: ChatKey) -> None: ...

    async def close(self) -> None:
        await self._work.join()


class Members:
    """Nodes that share a database, each with its own store and desk."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.log: list[tuple[str, int]] = []
        self.stores: list[Store] = []
        self.desks: list[Desk] = []
        self.dispatchers: list[Dispatcher] = []

    async def accept(self, number: int, chat: ChatKey, at: int) -> None:
        """Let an event come in at a node."""
        event = message(number).model_copy(update={"chat": chat})
        seq = await self.stores[at].inbox.accept(event)
        assert seq is not None
        self.dispatchers[at].dispatch(InboxItem(seq, event), is_live=True)


@pytest.fixture
async def members(tmp_path: Path, url_of: UrlOf, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Members]:
    monkeypatch.setattr(dispatcher, "IDLE_FOR", 0.0)
    url = url_of(tmp_path)
    await Server(url).migrate()
    found = Members(url)
    async with AsyncExitStack() as life:
        for name in ("one", "two", "three"):
            facts = Facts(name=name, host="here", pid=1, version="0", started=1.0)
            node = await life.enter_async_context(Node.joined(url, facts))
            signals = await life.enter_async_context(NodeSignals.opened(url, node.id))
            opening = Store.open(tmp_path, FakeClock(), numbered(), url=url, node=StoreNode(node, signals))
            store = await life.enter_async_context(opening)
            desk = Desk(name, store, found.log, Random(name))  # noqa: S311
            owners = Ownership(node, signals, store.table(ChatOwners))
            sharing = Dispatcher(owners, signals, store, desk)
            sharing.begin()
            life.push_async_callback(sharing.close)
            life.push_async_callback(desk.close)
            found.stores.append(store)
            found.desks.append(desk)
            found.dispatchers.append(sharing)
        yield found


@pytest.mark.parametrize("seed", range(3))
async def test_each_event_is_handled_once_while_chats_go_to_and_fro(members: Members, seed: int) -> None:
    random, coming = Random(seed), []  # noqa: S311
    for number in range(200):
        if random.random() < 0.4:
            coming.append(asyncio.create_task(random.choice(members.dispatchers).release_idle()))
        await asyncio.sleep(random.random() / 200)
        coming.append(asyncio.create_task(members.accept(number, random.choice(CHATS), random.randrange(3))))
    await asyncio.gather(*coming)
    await until(lambda: len(members.log) == 200)
    await asyncio.gather(*(desk.close() for desk in members.desks))
    await until(lambda: all(each.is_settled for each in members.dispatchers))

    assert sorted(seq for _, seq in members.log) == sorted({seq for _, seq in members.log})
    assert await members.stores[0].inbox.waiting() == []
    assert len({name for name, _ in members.log}) > 1
    owned = [chat for each in members.dispatchers for chat in each.ownership.owned]
    assert len(owned) == len(set(owned))
    [(claims,)] = rows(members.url, "SELECT CAST(sum(number) AS int) FROM chat_owners")
    assert isinstance(claims, int)
    assert claims > len(CHATS)


async def test_an_event_whose_news_was_lost_is_found(members: Members) -> None:
    await members.accept(1, CHATS[0], at=0)
    await until(lambda: len(members.log) == 1)
    await members.stores[1].inbox.accept(message(2).model_copy(update={"chat": CHATS[0]}))

    await members.dispatchers[0].look_for_missing()
    assert len(members.log) == 1  # it may still be on its way
    await members.dispatchers[0].look_for_missing()

    assert members.log == [("one", 1), ("one", 2)]


async def test_a_chat_with_something_to_do_is_not_released(members: Members) -> None:
    await members.accept(1, CHATS[0], at=0)
    await until(lambda: members.dispatchers[0].ownership.owns(CHATS[0]))
    await members.desks[0].close()
    await members.stores[1].inbox.accept(message(2).model_copy(update={"chat": CHATS[0]}))

    await members.dispatchers[0].release_idle()
    assert members.dispatchers[0].ownership.owns(CHATS[0])
    await members.stores[1].inbox.settle([2])
    await members.dispatchers[0].release_idle()

    assert not members.dispatchers[0].ownership.owns(CHATS[0])


async def test_what_has_been_dealt_with_is_forgotten(members: Members) -> None:
    await members.accept(1, CHATS[0], at=0)
    await until(lambda: len(members.log) == 1)
    await members.desks[0].close()
    held = members.dispatchers[0].ownership.of(CHATS[0])
    assert held is not None
    assert held.in_hand == {1}

    await members.dispatchers[0].look_for_missing()

    assert held.in_hand == set()


async def test_a_node_with_many_chats_passes_further_ones_on(members: Members, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ownership, "FEW", 4)
    await members.dispatchers[0].ownership.count_others()
    chats = [CHAT.model_copy(update={"chat": f"chat {number}"}) for number in range(30)]
    for number, chat in enumerate(chats):
        await members.accept(number, chat, at=0)
        await until(lambda: members.dispatchers[0].is_settled)
    await until(lambda: len(members.log) == 30)

    shares = Counter(name for name, _ in members.log)
    assert sorted(seq for _, seq in members.log) == list(range(1, 31))
    assert min(shares.values()) >= 8
    assert max(shares.values()) <= 13
