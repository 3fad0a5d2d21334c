"""Nodes whose work on chats is recorded instead of done."""

import asyncio
from collections import defaultdict
from collections.abc import Sequence
from functools import partial
from random import Random

from agent_core.background import Background
from channels.base import ChatKey, InboundEvent
from gateway.cluster.dispatcher import NodeDispatcher
from gateway.cluster.node import Node
from gateway.cluster.signals import NodeSignals
from gateway.store.rows import InboxItem, Post
from gateway.store.store import Store
from gateway.store.topics import Topic
from tests.gateway.test_store import CHAT, message

CHATS = [CHAT.model_copy(update={"chat": name}) for name in ("x", "y", "z")]


class RecordedWork:
    """Implements `ChatWork`: records which node handled which event, and marks it as done a moment later."""

    def __init__(self, name: str, store: Store, log: list[tuple[str, int]], pause: Random) -> None:
        self.name = name
        self.log = log
        self._store = store
        self._pause = pause
        self.live: list[int] = []
        """Live events."""
        self.delivered: list[str] = []
        """Keys of posts to deliver."""
        self._open: dict[ChatKey, int] = defaultdict(int)
        self._work = Background("a test's work failed")

    @property
    def owed_kinds(self) -> frozenset[str]:
        return frozenset({"speech"})

    def can_reach(self, chat: ChatKey) -> bool:
        return True

    def needs_connection(self, chat: ChatKey) -> bool:
        return False

    def note_remote(self, event: InboundEvent) -> None: ...

    def route(self, item: InboxItem, *, is_live: bool) -> None:
        self.log.append((self.name, item.seq))
        self.live += [item.seq] if is_live else []
        self._open[item.event.chat] += 1
        self._work.start(self._do(item))

    async def _do(self, item: InboxItem) -> None:
        await asyncio.sleep(self._pause.random() / 100)
        await self._store.inbox.settle([item.seq])
        self._open[item.event.chat] -= 1

    async def take_over(self, chat: ChatKey) -> list[InboxItem]:
        return await self._store.inbox.waiting(chat)

    async def recheck_rights(self, chat: ChatKey) -> None: ...

    async def take_over_all(self) -> None: ...

    async def resume(self, platform: str) -> None: ...

    async def deliver(self, chat: ChatKey, posts: Sequence[Post]) -> None:
        self.delivered += [post.key for post in posts]

    def is_idle(self, chat: ChatKey) -> bool:
        return not self._open[chat]

    def is_at_safe_point(self, chat: ChatKey) -> bool:
        return self.is_idle(chat)

    def drain(self, chat: ChatKey) -> None: ...

    async def cancel(self, chat: ChatKey) -> None: ...

    def unload(self, chat: ChatKey) -> None: ...

    async def close(self) -> None:
        await self._work.join()


class Members:
    """Nodes that share a database, each with its own store and work."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.log: list[tuple[str, int]] = []
        self.nodes: list[Node] = []
        self.signals: list[NodeSignals] = []
        self.stores: list[Store] = []
        self.works: list[RecordedWork] = []
        self.dispatchers: list[NodeDispatcher] = []

    async def all_hear(self) -> None:
        """Wait until each node hears the others, and has looked for what came before that."""
        for signals in self.signals:
            looked = asyncio.Event()
            signals.subscribe(Topic.GAPS, partial(_set, looked))  # of which it is told after it was told of events
            await asyncio.wait_for(looked.wait(), 30)

    async def meet(self) -> None:
        """Let the nodes know of each other."""
        for each in self.dispatchers:
            await each.ownership.count_others()

    async def stored(self, number: int, chat: ChatKey, at: int) -> InboxItem:
        """Store an event at a node without dispatching it."""
        event = message(number).model_copy(update={"chat": chat})
        seq = await self.stores[at].inbox.accept(event)
        assert seq is not None
        return InboxItem(seq, event)

    async def accept(self, number: int, chat: ChatKey, at: int) -> int:
        """Store and dispatch an event at a node. Returns its number in the inbox."""
        item = await self.stored(number, chat, at)
        self.dispatchers[at].dispatch(item, is_live=True)
        return item.seq


async def _set(event: asyncio.Event, _: str) -> None:
    event.set()
