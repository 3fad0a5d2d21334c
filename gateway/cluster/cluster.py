"""Joins this process to the cluster, and composes its parts."""

import asyncio
import importlib
from collections.abc import AsyncIterator, Collection, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Self

import psycopg

from agent_core.background import Background
from agent_core.clock import Clock
from channels.base import ChatKey
from channels.connected import Connected
from gateway.cluster.chat_owners import ChatOwners
from gateway.cluster.clock import SharedClock
from gateway.cluster.database_leases import DatabaseLeases
from gateway.cluster.dispatcher import NodeDispatcher
from gateway.cluster.node import Node, NodeInfo
from gateway.cluster.ownership import Ownership
from gateway.cluster.protocols import Change, Chats, ChatWork
from gateway.cluster.reach_monitor import ReachMonitor
from gateway.cluster.signals import NodeSignals
from gateway.cluster.sweep import Sweep
from gateway.store.postgres_opening import DatabaseAway
from gateway.store.rows import InboxItem
from gateway.store.store import Store


class Cluster:
    """A node and its notifications, before the store is open."""

    def __init__(self, url: str, node: Node, signals: NodeSignals) -> None:
        self.node = node
        self.signals = signals
        self._url = url

    @classmethod
    @asynccontextmanager
    async def joined(cls, url: str, facts: NodeInfo) -> AsyncIterator[Self]:
        """Join the nodes on a database, whose schema is up to date, while the context is open.

        Raises ParleyError.
        """
        async with AsyncExitStack() as life:
            try:
                node = await life.enter_async_context(Node.joined(url, facts))
            except psycopg.Error as error:
                raise DatabaseAway(
                    f"Parley cannot join the others on its database ({error}). Start it again."
                ) from error
            signals = await life.enter_async_context(NodeSignals.opened(url, node.id))
            yield cls(url, node, signals)

    def clock(self, own: Clock) -> SharedClock:
        """Return the clock on which all nodes agree; `own` is the clock of this machine."""
        return SharedClock(own, self.node)

    def peers(self, store: Store, *, engine: bool, unfinished: Sequence[str]) -> "ClusterPeers":
        """Return the interface to the other nodes.

        Without `engine` each claims all orphaned chats that it finds. `unfinished` are the tables of plugins that name
        chats with something to finish.
        """
        return ClusterPeers(self._url, self, store, engine=engine, unfinished=unfinished)


class ClusterPeers:
    """Implements `Peers`."""

    def __init__(self, url: str, cluster: Cluster, store: Store, *, engine: bool, unfinished: Sequence[str]) -> None:
        self._url = url
        self._node = cluster.node
        self._store = store
        self._has_engine = engine
        self.signals = cluster.signals
        self._rows = store.table(ChatOwners)
        is_standby = not cluster.node.facts.takes_chats
        self.leases = DatabaseLeases(store.leases, cluster.node, cluster.signals, is_standby=is_standby)
        self.sending = Ownership(cluster.node, cluster.signals, self._rows, unfinished)

    def dispatcher(self, work: ChatWork, channels: Connected) -> "ClusterDispatcher":
        """See `Peers`."""
        dispatcher = NodeDispatcher(self.sending, self.signals, self._store, work)
        monitor = ReachMonitor(self._node.id, self._store.nodes, dispatcher, self.leases, channels)
        engine_url = self._url if self._has_engine else None
        return ClusterDispatcher(self._node, self.signals, dispatcher, self._rows, monitor, engine_url)

    async def note_settings(self, digests: str) -> None:
        """See `Peers`."""
        await self._store.nodes.note_settings(self._node.id, digests)

    async def wait_fenced(self) -> None:
        """See `Peers`."""
        await self._node.fenced.wait()


class ClusterDispatcher:
    """Implements `Dispatcher`."""

    def __init__(
        self,
        node: Node,
        signals: NodeSignals,
        dispatcher: NodeDispatcher,
        rows: ChatOwners,
        monitor: ReachMonitor,
        engine_url: str | None,
    ) -> None:
        """`engine_url` is the address of the engine's database; None disables the engine."""
        self._node = node
        self._signals = signals
        self._dispatcher = dispatcher
        self._rows = rows
        self._engine_url = engine_url
        self._monitor = monitor
        self._watching = Background("watching the reach of platforms failed")
        self._life = AsyncExitStack()
        self._sweep: Sweep | None = None

    def dispatch(self, item: InboxItem, *, is_live: bool) -> None:
        """See `Dispatcher`."""
        self._dispatcher.dispatch(item, is_live=is_live)

    async def wait_routed(self, chat: ChatKey) -> None:
        """See `Dispatcher`."""
        await self._dispatcher.wait_routed(chat)

    async def route_pending(self, chats: Collection[ChatKey]) -> None:
        """See `Dispatcher`."""
        await self._dispatcher.route_pending(chats)

    async def request(self, chat: ChatKey) -> None:
        """See `Dispatcher`."""
        await self._dispatcher.ownership.claim(chat, is_requested=True)

    async def at_rest(self, chats: Chats, change: Change) -> bool:
        """See `Dispatcher`."""
        return await self._dispatcher.at_rest(chats, change)

    async def start(self) -> None:
        """See `Dispatcher`."""
        self._dispatcher.start()
        engine = None
        if self._engine_url is not None:
            dbos = importlib.import_module("gateway.cluster.engine")  # its import takes a second, and runs a program
            launching = dbos.launched(self._engine_url, self._node.id, self._rows, self._dispatcher.claim)
            engine = await self._life.enter_async_context(launching)
        self._sweep = Sweep(self._node, self._signals, self._dispatcher, engine)
        self._life.push_async_callback(self._sweep.close)
        await self._sweep.start()
        self._life.push_async_callback(self._watching.stop)
        self._watching.start(self._monitor.run(), "reach")

    async def resume(self, platform: str) -> None:
        """See `Dispatcher`."""
        if self._sweep is not None:
            self._sweep.wake()

    @property
    def is_settled(self) -> bool:
        """See `Dispatcher`."""
        return self._dispatcher.is_settled

    async def drain(self) -> None:
        """See `Dispatcher`."""
        self._dispatcher.ownership.is_draining = True
        await self._node.drain()
        await asyncio.gather(self._dispatcher.hand_over(), self._life.aclose())  # the engine takes a moment to end

    async def close(self) -> None:
        """See `Dispatcher`."""
        await self._life.aclose()
        await self._dispatcher.close()
