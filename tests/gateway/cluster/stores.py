"""Stores of several nodes on one database."""

import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from agent_core.clock import Clock, SystemClock, new_id
from gateway.cluster.node import Node, NodeInfo
from gateway.cluster.signals import NodeSignals
from gateway.security.secrets import Secrets
from gateway.store.connection import Connection
from gateway.store.signals import StoreNode
from gateway.store.store import Store


@dataclass(frozen=True)
class Opened:
    """A node with its store and its notifications."""

    node: Node
    signals: NodeSignals
    store: Store


@asynccontextmanager
async def opened_node(home: Path, url: str, clock: Clock | None = None) -> AsyncIterator[Opened]:
    """Open the store as a new node of this process."""
    facts = NodeInfo(name="a", host="here", pid=1, version="0", started=1.0)
    async with (
        Node.joined(url, facts) as node,
        NodeSignals.opened(url, node.id) as signals,
        Store.open(home, clock or SystemClock(), new_id, Secrets(), url=url, node=StoreNode(node, signals)) as store,
    ):
        yield Opened(node, signals, store)


def keep_open(connection: Connection, over: threading.Event) -> None:
    """Keep a transaction open until it may be over, half a minute at most; the server would end one that rests."""
    for _ in range(300):
        if over.wait(0.1):
            return
        connection.execute("SELECT 1")
