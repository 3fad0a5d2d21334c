"""Opens the store, alone or as a node of a cluster, and gives access to the other nodes."""

import asyncio
import importlib
import os
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from msgspec import Struct

from agent_core.clock import Clock, NewId
from channels.connected import Connected
from gateway.app.local_dispatcher import LocalDispatcher
from gateway.cluster.leases import Leases, LocalLeases
from gateway.cluster.protocols import ChatWork, Dispatcher, Peers
from gateway.delivery.sending import Sending, SendsAlways
from gateway.security.packages import version
from gateway.security.secrets import Secrets
from gateway.store.server import PostgresServer
from gateway.store.signals import NoSignals, Signals, StoreNode
from gateway.store.store import NOTHING_ELSE, Extras, Store


class NoPeers:
    """Implements `Peers` for a process with a store of its own."""

    def __init__(self) -> None:
        self.signals: Signals = NoSignals()
        self.leases: Leases = LocalLeases()
        self._sending = SendsAlways()
        self.sending: Sending = self._sending

    def dispatcher(self, work: ChatWork, _: Connected) -> Dispatcher:
        """See `Peers`."""
        return LocalDispatcher(work, self._sending)

    async def note_settings(self, digests: str) -> None:
        """Do nothing: there is no other process."""

    async def wait_fenced(self) -> None:
        """Wait for ever: there is no other process."""
        await asyncio.Event().wait()


class SharedDatabase(Struct, frozen=True):
    """Options of a node on a shared database."""

    url: str
    name: str = ""
    """The node's display name; empty for the host name."""
    settings: str = ""
    """Digests of the settings that must be the same on all nodes."""
    skills: str = ""
    """Digest of the shared skills."""
    takes_chats: bool = True
    """False for a process that serves only its own terminal."""
    agrees_on_time: bool = True
    """Use the database's clock if this machine's is wrong."""
    has_engine: bool = True
    """Distribute orphaned chats by a queue; without it the first node that finds them claims them."""


@asynccontextmanager
async def opened(
    home: Path,
    clock: Clock,
    new_id: NewId,
    secrets: Secrets | None,
    *,
    extras: Extras = NOTHING_ELSE,
    shared: SharedDatabase | None,
) -> AsyncIterator[tuple[Store, Peers, Clock]]:
    """Open the store, as a node on the database in `shared` unless that is None. Raises ParleyError.

    Yields it with the other processes and the clock to use.
    """
    if shared is None:
        async with Store.open(home, clock, new_id, secrets, extras=extras) as store:
            yield store, NoPeers(), clock
        return
    await PostgresServer(shared.url).migrate(extras.plugins)
    unfinished = [each.unfinished for each in extras.plugins if each.unfinished]
    cluster = importlib.import_module("gateway.cluster.cluster")  # it needs an extra
    host = socket.gethostname()
    about = cluster.NodeInfo(
        name=shared.name or host,
        host=host,
        pid=os.getpid(),
        version=version(),
        started=clock.time(),
        home=str(home),
        settings=shared.settings,
        skills=shared.skills,
        takes_chats=shared.takes_chats,
    )
    async with cluster.Cluster.joined(shared.url, about) as joined:
        if shared.agrees_on_time:
            clock = joined.clock(clock)
        node = StoreNode(joined.node, joined.signals)
        async with Store.open(home, clock, new_id, secrets, extras=extras, url=shared.url, node=node) as store:
            try:
                engine = shared.has_engine and shared.takes_chats
                yield store, joined.peers(store, engine=engine, unfinished=unfinished), clock
            finally:
                await joined.signals.close()
